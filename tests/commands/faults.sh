#!/bin/sh
# A fixed part of the system call failures of "make torture"
# (tests/torture/faults): every command leaves nothing, the old whole file or
# the new one.
# tests/run: weight 25
COUNT=${COUNT:-8} exec "${0%/*}/../torture/faults"
