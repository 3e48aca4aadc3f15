#!/bin/sh
# Networks, tables of names and exports equal the state dicts that state_dicts.py
# writes from the code of other programs alone: 87 pairs of a network and a
# program, 60 of which are also exported.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_python json || skip_all "no Python"

check_exit "the state dicts are written" 0 "$python" -B tests/parity/state_dicts.py "$T"
check_same "the tables of tests/golden are the same" "" "$(cat "$T/out")"
check_same "there are 87 pairs, and 60 exports" "87 60" "$(wc -l <"$T/list") $(grep -c 'export$' "$T/list")"
"$BUILD/tests/naming" "$T" >"$T/tap"
retell naming "$T/tap"
check_same "both were checked" 147 "$(grep -c '^ok' "$T/tap")"
plan
