#!/bin/sh
# A fixed part of the kills of "make torture" (tests/torture/kills), with every
# kind of optimizer state: a run that was killed resumes to the files of an
# undisturbed run.
# tests/run: weight 18
OPTIONS="${OPTIONS---optimizer=lamb --ema=0.9 --loss-scale=dynamic}"
export OPTIONS
COUNT=${COUNT:-6} exec "${0%/*}/../torture/kills"
