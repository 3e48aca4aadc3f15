#!/bin/sh
# Some of the kills of "make torture", always the same.
# tests/run: weight 20
COUNT=${COUNT:-6} exec "${0%/*}/torture/kills"
