#!/bin/sh
# Resizing is within 1 of Pillow and PyTorch, as far as they are installed, with
# every instruction set.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
# find_modules MODULES: find a Python with these modules
find_modules() {
	for python in "${PYTHON:-python3}" python3 /usr/bin/python3; do
		! "$python" -c "import $1" 2>/dev/null || return 0
	done
	return 1
}
find_modules PIL,numpy,torch || find_modules PIL,numpy || skip_all "no Pillow (Debian: python3-pil)"
for isa in base avx2 avx512; do
	VT_ISA=$isa "$python" tests/parity/resize.py compare "$BUILD/tests/tools/resize" >"$T/$isa" 2>"$T/err" ||
		diag "$(tail -3 "$T/err")"
	check_same "$isa gives the same bytes as base" "$(cat "$T/base")" "$(cat "$T/$isa")"
done
# within PROGRAM: check that no byte differs by more than 1
within() {
	awk -v p="$1" '$1 == p { n = $2; off = $4 } END { exit !(n > 100 && off <= 1) }' "$T/base"
}
check "antialiased resizing is within 1 of Pillow" within pillow
if grep -q torch "$T/base"; then
	check "bilinear resizing is within 1 of PyTorch" within torch
else
	skip "bilinear resizing is within 1 of PyTorch" "no PyTorch (Debian: python3-torch)"
fi
diag "$(cat "$T/base")"
plan
