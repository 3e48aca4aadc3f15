#!/bin/sh
# tests/run: what it counts, and what it takes for a failure.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mkdir -p "$T/tests/commands"
cp tests/run tests/sanitizers "$T/tests"

# test_is NAME LINE...: a test that prints these lines and ends well
test_is() {
	name=$1
	shift
	printf "echo '%s'\n" "$@" >"$T/tests/commands/$name.sh"
}
# run_says WHAT STATUS LAST SETTING...: the status, and the last line
run_says() {
	what=$1 status=$2 last=$3
	shift 3
	check_exit "$what" "$status" env -u CI "$@" BUILD="$T/build" "$T/tests/run"
	check_same "$what: it says" "$last" "$(tail -1 "$T/out")"
}

run_says "no test" 1 "0 passed, 0 failed, 0 skipped" X=
test_is good 'ok 1 - a' 'ok 2 - b' '1..2'
run_says "a good one" 0 "2 passed, 0 failed, 0 skipped" CI=true
check_same "before that, the slowest and its seconds" "good S s, P s of processors" \
	"$(tail -2 "$T/out" | sed -nE 's/^(good) +[0-9.]+ s, +[0-9.]+ s/\1 S s, P s/p')"
test_is bad 'ok 1 - a' 'not ok 2 - b' '1..2'
run_says "a bad one" 1 "3 passed, 1 failed, 0 skipped" X=
test_is bad 'ok 1 - a' '1..2'
run_says "one that stopped early" 1 "3 passed, 1 failed, 0 skipped" X=
test_is bad 'ok 1 - a' '1..1' && echo 'exit 3' >>"$T/tests/commands/bad.sh"
run_says "one that failed outside a check" 1 "3 passed, 1 failed, 0 skipped" X=
rm "$T/tests/commands/bad.sh"
test_is part 'ok 1 - a # SKIP no fish' 'ok 2 - b # SKIP this processor lacks it' '1..2'
run_says "a part is skipped" 0 "2 passed, 0 failed, 2 skipped" X=
run_says "in CI, only where it must be" 1 "2 passed, 1 failed, 2 skipped" CI=true
check "which it names" grep -q 'part: 1 skipped that CI must run' "$T/out"
test_is part 'ok 1 - b # SKIP this processor lacks it' '1..1'
run_says "in CI, where it must be" 0 "2 passed, 0 failed, 1 skipped" CI=true
test_is part '1..0 # SKIP no fish'
run_says "all is skipped" 0 "2 passed, 0 failed, 1 skipped" X=
run_says "in CI it has failed" 1 "2 passed, 1 failed, 1 skipped" CI=true
test_is part '1..0 # SKIP no /a b/MANIFEST.tsv'
mkdir "$T/shared"
run_says "reference data that are there must be found" 1 "2 passed, 1 failed, 1 skipped" CI=true VT_SHARED="$T/shared"
run_says "unless there are none" 0 "2 passed, 0 failed, 1 skipped" CI=true VT_SHARED="$T/none"
test_is part 'ok 1 - b' '1..1'
mkdir "$T/tests/ranks" && cp "$T/tests/commands/part.sh" "$T/tests/ranks/"
run_says "two tests of one name" 2 "two tests have the name part" X=
plan
