#!/bin/sh
# The table of planted faults fits this tree: each row changes exactly one line
# of one file, and every folder of lib has a fault. tests/tools/planted-faults
# plants them.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

planted=tests/tools/planted-faults
table=$planted.tsv
check_exit "each fault changes exactly one line" 0 $planted -c .
check "there are at least twenty faults" test "$(grep -c '^[^#]' $table)" -ge 20
files=$(awk -F '\t+' '/^[^#]/ { sub(".*/", "", $2); print $2 }' $table | sort -u)
# has_fault DIR: succeed if DIR contains a file with a fault.
has_fault() {
	find "$1" -type f | sed 's|.*/||' | grep -qxF "$files"
}
for dir in lib/* lib/backend/ref lib/backend/cpu lib/backend/cuda cmd; do
	[ ! -d "$dir" ] || check "$dir has a fault" has_fault "$dir"
done

# refused REGEX ROW: check that a table with only this row is refused.
refused() {
	printf '%b\n' "$2" >"$T/table"
	check_message "a wrong row is refused: $1" 2 "$1" $planted -c -t "$T/table" .
}
refused 'a: lib/base/commit.c: 0 lines changed' 'a\tcommit.c\ts/no such text/x/\tbase'
refused 'a: lib/base/commit.c: [0-9]* lines changed' 'a\tcommit.c\ts/return/exit/\tbase'
refused 'a: 0 files nowhere.c' 'a\tnowhere.c\ts/a/b/\tbase'
refused 'a: no test nobody' 'a\tcommit.c\ts/^#define Q .*//\tnobody'
refused 'line 2: a is listed twice' 'a\trng.c\ts/ 10;/ 9;/\tbase\na\trng.c\ts/ 10;/ 9;/\tbase'
refused 'line 1: 3 fields' 'a\tcommit.c\tbase'
plan
