#!/bin/sh
# Some of the kills of "make torture", always the same, with all that an
# optimiser can keep.
# tests/run: weight 18
OPTIONS="${OPTIONS---optimizer=lamb --ema=0.9 --loss-scale=dynamic}"
export OPTIONS
COUNT=${COUNT:-6} exec "${0%/*}/../torture/kills"
