#!/bin/sh
# Cross-entropies with weights of classes, smoothing and soft labels agree with
# PyTorch's, and focal losses with the formula in PyTorch.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"

"$BUILD/tests/tools/lossdump" >"$T/cases" || not_ok "lossdump prints the cases"
PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/losses.py <"$T/cases" >"$T/out" 2>"$T/err" || diag "$(tail -3 "$T/err")"
check_same "PyTorch repeated every case" 24 "$(wc -l <"$T/out")"
while IFS="$(printf '\t')" read -r case loss gradient; do
	check "loss and gradient agree with PyTorch: $case ($loss, $gradient)" \
		awk -v a="$loss" -v b="$gradient" 'BEGIN { exit !(a < 2e-6 && b < 2e-6) }'
done <"$T/out"
# Without the weights of classes, the values of weighted cases must differ.
sed 's/^\(case .*\) 1$/\1 0/' "$T/cases" | PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/losses.py >"$T/out" 2>"$T/err"
check_same "without weights, the weighted cases differ" 12 "$(awk -F '\t' '$2 > 1e-3 && $3 > 1e-3' "$T/out" | wc -l)"
plan
