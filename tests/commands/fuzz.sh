#!/bin/sh
# Every input that ever broke a reader, and others like it, through the fuzz
# targets of tests/fuzz: none ends in a signal, a broken promise or, in a build
# with sanitizers, a report.  "make fuzz" looks for new ones.
# tests/run: weight 2
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

check "seeds are made" tests/fuzz/seeds "$T/seeds"
for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	# shellcheck disable=SC2046
	if got=$("$BUILD/tests/fuzz/$target" $(find tests/fuzz/corpus/"$target" "$T/seeds/$target" -type f 2>/dev/null) 2>"$T/err") &&
	    [ "$got" -gt 0 ]; then
		ok "$target: $got inputs"
	else
		not_ok "$target"
		diag "$(tail -20 "$T/err")"
	fi
done
check "an input that cannot be read is no success" sh -c "! '$BUILD/tests/fuzz/info' '$T/nothing'"
plan
