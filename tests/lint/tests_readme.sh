#!/bin/sh
# tests/README.md is what tests/tools/readme prints, and has a line for each
# test.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
tests/tools/readme >"$T/made"
check "tests/README.md is up to date (tests/tools/readme makes it)" cmp tests/README.md "$T/made"
# unnamed FOLDER FILE...: print the files for which the folder's section has no
# line.
unnamed() {
	sed -n "/^## $1:/,/^## /s/^- \([^:]*\): ..*/\1/p" "$T/made" >"$T/names"
	shift
	for f; do
		name=${f##*/}
		grep -qxF "${name%.*}" "$T/names" || echo "$f"
	done
}
for folder in unit commands ranks gpu parity lint; do
	# shellcheck disable=SC2046
	check_same "$folder: each test has a line" "" "$(unnamed $folder $(find tests/$folder -maxdepth 1 -name '*.[cs]*'))"
done

# Plant a test without a line.
check_same "a planted test without a line is found" tests/unit/none.c "$(unnamed unit tests/unit/none.c)"
plan
