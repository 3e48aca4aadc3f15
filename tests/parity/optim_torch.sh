#!/bin/sh
# Ten steps of SGD and AdamW, with clipping and weight averages, agree with
# PyTorch's optimizers.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"

while read -r case; do
	n=$((${n:-0} + 1))
	# shellcheck disable=SC2086
	"$BUILD/tests/tools/optimdump" "$T/$n" $case 2>"$T/err" || diag "$(cat "$T/err")"
	echo "same $T/$n $case"
done >"$T/cases" <<-CASES
	sgd
	sgd nesterov
	sgd clip=2
	sgd value=0.05
	sgd ema=0.9
	adamw
	adamw clip=2
	adamw value=0.05
	adamw ema=0.5
CASES
cases=$(wc -l <"$T/cases")
# Compare wrong settings, too, to show that a difference is detected.
echo "other $T/1 sgd clip=2" >>"$T/cases"
echo "other $T/6 adamw clip=2" >>"$T/cases"
PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/optim_torch.py <"$T/cases" >"$T/out" 2>"$T/err" || diag "$(tail -3 "$T/err")"
check_same "PyTorch repeated every case" $((cases + 2)) "$(wc -l <"$T/out")"
while read -r got wanted case; do
	if [ "$wanted" = same ]; then what="ten steps agree with PyTorch"; else what="ten steps with another setting differ from PyTorch"; fi
	if [ "$got" = ok ]; then ok "$what: $case"; else not_ok "$what: $case"; fi
done <"$T/out"
plan
