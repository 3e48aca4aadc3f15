#!/bin/sh
# tests/run counts passed, failed and skipped checks, and recognizes tests that
# stop early or fail outside a check.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mkdir -p "$T/tests/commands"
cp tests/run tests/sanitizers "$T/tests"

# test_is NAME LINE...: write a test that prints these lines and exits with 0.
test_is() {
	name=$1
	shift
	printf "echo '%s'\n" "$@" >"$T/tests/commands/$name.sh"
}
# run_says WHAT STATUS LAST SETTING...: check the status and the last line of
# tests/run.
run_says() {
	what=$1 status=$2 last=$3
	shift 3
	check_exit "$what" "$status" env -u CI "$@" BUILD="$T/build" "$T/tests/run"
	check_same "$what: the last line is right" "$last" "$(tail -1 "$T/out")"
}

run_says "without tests it fails" 1 "0 passed, 0 failed, 0 skipped" X=
test_is good 'ok 1 - a' 'ok 2 - b' '1..2'
run_says "a test that passes" 0 "2 passed, 0 failed, 0 skipped" CI=true
check_same "the line before shows the slowest test and its seconds" "good S s, P s of processors" \
	"$(tail -2 "$T/out" | sed -nE 's/^(good) +[0-9.]+ s, +[0-9.]+ s/\1 S s, P s/p')"
test_is bad 'ok 1 - a' 'not ok 2 - b' '1..2'
run_says "a test that fails" 1 "3 passed, 1 failed, 0 skipped" X=
test_is bad 'ok 1 - a' '1..2'
run_says "a test that stops early" 1 "3 passed, 1 failed, 0 skipped" X=
test_is bad 'ok 1 - a' '1..1' && echo 'exit 3' >>"$T/tests/commands/bad.sh"
run_says "a test that fails outside a check" 1 "3 passed, 1 failed, 0 skipped" X=
rm "$T/tests/commands/bad.sh"
test_is part 'ok 1 - a # SKIP no fish' 'ok 2 - b # SKIP this processor lacks it' '1..2'
run_says "a test with skipped checks" 0 "2 passed, 0 failed, 2 skipped" X=
run_says "in CI, a skip fails unless may_skip has its reason" 1 "2 passed, 1 failed, 2 skipped" CI=true
check "a message counts the skips that CI does not allow" grep -q 'part: 1 skipped that CI must run' "$T/out"
test_is part 'ok 1 - b # SKIP this processor lacks it' '1..1'
run_says "in CI, a skip passes if may_skip has its reason" 0 "2 passed, 0 failed, 1 skipped" CI=true
test_is part '1..0 # SKIP no fish'
run_says "a test that is skipped as a whole" 0 "2 passed, 0 failed, 1 skipped" X=
run_says "in CI, a test that is skipped as a whole fails" 1 "2 passed, 1 failed, 1 skipped" CI=true
test_is part '1..0 # SKIP no /a b/MANIFEST.tsv'
mkdir "$T/shared"
run_says "in CI, a skip for lack of reference data fails if they exist" 1 \
	"2 passed, 1 failed, 1 skipped" CI=true VT_SHARED="$T/shared"
run_says "in CI, a skip for lack of reference data passes if there are none" 0 \
	"2 passed, 0 failed, 1 skipped" CI=true VT_SHARED="$T/none"
test_is part 'ok 1 - b' '1..1'
mkdir "$T/tests/ranks" && cp "$T/tests/commands/part.sh" "$T/tests/ranks/"
run_says "two tests of one name are refused" 2 "two tests have the name part" X=
plan
