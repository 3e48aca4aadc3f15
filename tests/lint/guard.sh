#!/bin/sh
# compare-commits finds a command that writes other bytes or exits with another
# status.
# tests/run: weight 25
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD

# tree NAME: make a tree of symbolic links to this one, whose commands can be
# replaced.
tree() {
	mkdir -p "$T/$1/build" && ln -s "$root/lib" "$root/share" "$root/tests" "$T/$1" &&
		ln -s "$BUILD"/* "$T/$1/build"
}
# replace NAME COMMAND: replace a command of the tree by the script on standard
# input, in which $real is the command.
replace() {
	rm "$T/$1/build/$2"
	{ printf '#!/bin/sh\nreal=%s\n' "$BUILD/$2"; cat; } >"$T/$1/build/$2"
	chmod +x "$T/$1/build/$2"
}
# differ: print the rows of the last comparison that differ.
differ() {
	awk '$3 == "different" { print $1, $2 }' "$T/out" | xargs
}

# ---- compare-commits ----

compare=tests/tools/compare-commits
for name in same table status; do tree $name; done
check_exit "a tree compares equal to itself" 0 $compare -p bytes,refusals "$T/same" "$T/same"
check_same "no row of the comparison differs" "" "$(differ)"
check "the comparison has at least 5 schedules" test "$(grep -c '^bytes  *schedule-.* equal ' "$T/out")" -gt 4
check "both trees refuse all wrong command lines" grep -q '^refusals  *\([0-9]*\) of \1 ' "$T/out"

replace table vt-schedule <<'SH'
"$real" "$@" | sed s/cosine/power2/
SH
check_exit "another learning rate in a schedule is found" 1 $compare -p bytes "$T/same" "$T/table"
check_same "only the schedule with the other rate differs" "bytes schedule-cosine" "$(differ)"

replace status vt-eval <<'SH'
"$real" "$@"
status=$?
[ $status != 2 ] || exit 1
exit $status
SH
check_exit "another exit status of a wrong command line is found" 1 $compare -p refusals "$T/same" "$T/status"
check "the row shows status 2 of the first tree" grep -q '^refusals .* different .*< exit 2$' "$T/out"
plan
