#!/bin/sh
# Some of the kills of "make torture", always the same.
# tests/run: weight 15
COUNT=${COUNT:-5} exec "${0%/*}/torture/kills"
