#!/bin/sh
# Some of the faults of "make torture", always the same.
# tests/run: weight 25
COUNT=${COUNT:-8} exec "${0%/*}/../torture/faults"
