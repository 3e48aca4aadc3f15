#!/bin/sh
# tests/tools/inventory lists the descriptions of checks, and names those that a
# later list lacks.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

inventory=tests/tools/inventory
mkdir "$T/log" "$T/later"
printf 'ok 1 - reads\nok 2 - near: 1.5e-07\nnot ok 3 - reads\nok 4 - writes # SKIP no disk\n1..4\n' >"$T/log/old.tap"
printf 'ok 1 - near: 0.25\nok 2 - reads\nok 3 - stores\n1..3\n' >"$T/later/new.tap"
$inventory "$T/log" >"$T/before"
$inventory "$T/later" >"$T/after"
check_same "descriptions are listed without figures" "old	near: N|old	reads|old	reads|old	writes" \
	"$(paste -sd '|' "$T/before")"
check_exit "a list is equal to itself" 0 $inventory -c "$T/before" "$T/before"
check_exit "missing descriptions are found" 1 $inventory -c "$T/before" "$T/after"
printf 'test\told\tnew\nrenamed\told\twrites\tnew\tstores\n' >"$T/changes"
check_exit "one missing description of two equal ones is found" 1 \
	$inventory -c "$T/before" "$T/after" "$T/changes"
check_same "the missing description is named" "missing (1 of 2): new	reads" "$(head -1 "$T/out")"
printf 'removed\told\treads\tboth are in new\n' >>"$T/changes"
check_exit "moved, renamed and removed descriptions are allowed" 0 \
	$inventory -c "$T/before" "$T/after" "$T/changes"
printf 'removed\told\tnear: N\t\n' >>"$T/changes"
check_exit "a removal without a reason is refused" 1 $inventory -c "$T/before" "$T/after" "$T/changes"
plan
