#!/bin/sh
# Weight files that Python's pickle wrote by each protocol from 2 to 5, as zip
# archives, in the legacy format and as arrays: vt reads the same names, shapes
# and values.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_python pickle || skip_all "no Python"
check "Python writes the files" "$python" tests/parity/pickles.py "$T"
for names in "$T"/*.names; do
	file=${names%.names} name=$(basename "$names" .names)
	check_exit "$name is read" 0 "$BUILD/tests/tools/weightdump" "$file" "$T/values"
	check_same "$name: all names and shapes are right" "$(cksum <"$names")" "$(cut -f1,3 "$T/out" | cksum)"
	check "$name: all values are right" cmp "$file.values" "$T/values"
	check_says "$name: a note names the unknown class" 'skipped objects of .*mmcv.Config'
done
check "there are 12 files" test -e "$T/zip.5" -a -e "$T/legacy.2" -a -e "$T/arrays.3"
plan
