#!/bin/sh
# The programs that lease runs on a GPU pass on the stand-in when they take it for a
# real GPU (STANDIN=gpu), so that their branches for a GPU run without one.
# tests/run: weight 40
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

programs=$(awk -F'\t' '$1 == "cuda" && sub("^test ", "", $5) { print $5 }' tests/gpu/contact/parts.tsv)
check "parts.tsv names the programs" test -n "$programs"
for name in $programs; do
	# The other back ends need no second test.
	case $name in ops) only=standin ;; *) only= ;; esac
	# shellcheck disable=SC2086
	check_exit "$name passes on the stand-in as on a GPU" 0 env STANDIN=gpu "$BUILD/tests/$name" $only
	grep '^not ok' "$T/out" | sed 's/^/# /'
done
plan
