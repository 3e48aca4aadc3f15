#!/bin/sh
# The fuzz targets of tests/fuzz read every input that ever broke a reader, and
# similar ones. None ends in a signal, a failed assertion or, in a build with
# sanitizers, a report. "make fuzz" searches for new inputs.
# tests/run: weight 2
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

check "tests/fuzz/seeds makes seeds" tests/fuzz/seeds "$T/seeds"
for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	# shellcheck disable=SC2046
	if got=$("$BUILD/tests/fuzz/$target" $(find tests/fuzz/corpus/"$target" "$T/seeds/$target" -type f 2>/dev/null) 2>"$T/err") &&
	    [ "$got" -gt 0 ]; then
		ok "$target: reads $got inputs"
	else
		not_ok "$target"
		diag "$(tail -20 "$T/err")"
	fi
done
check "a missing input makes a target fail" sh -c "! '$BUILD/tests/fuzz/info' '$T/nothing'"
plan
