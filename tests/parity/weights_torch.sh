#!/bin/sh
# Weight files that PyTorch itself wrote, in every form, with metadata as in
# MMAction2: vt reads the same names, shapes and values.  Damaged copies do not
# break the reader.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"
dump=$BUILD/tests/tools/weightdump

"$python" tests/parity/weights_torch.py "$T" 2>"$T/err" || diag "$(tail -3 "$T/err")"
for names in "$T"/*.names; do
	file=${names%.names} name=$(basename "$names" .names)
	check_exit "$name is read" 0 "$dump" "$file" "$T/values"
	check_same "$name: all names and shapes are right" "$(cat "$names")" "$(cut -f1,3 "$T/out")"
	check "$name: all values are right" cmp "$file.values" "$T/values"
	case $name in
	*.pkl)
		check_says "what is no weight is reported" 'skipped objects of .*numpy.ndarray of <U1.*numpy.ndarray of >f4'
		;;
	mmaction2*)
		check_says "what is no weight is reported" 'skipped objects of .*HistoryBuffer'
		;;
	esac
done
check "PyTorch wrote the files" test -s "$T/mmaction2.pth.legacy.values"
for bad in "$T"/*.bad; do
	check_exit "$(basename "$bad" .bad) is refused" 2 "$dump" "$bad"
done
check_says "the message names the refused file" 'error: .*script.bad: '
check_same "a refused file gets one message" 1 "$(grep -c error "$T/err")"

# Damage each file in some ways; tests/torture/weights does it thousands of
# times.
check_exit "damaged files do not break the reader" 0 env COUNT=40 "$BUILD/tests/weights_mutated" "$T"/*.zip "$T"/*.legacy "$T"/*.pkl
grep -v '^ok' "$T/out" | diag "$(cat)"
plan
