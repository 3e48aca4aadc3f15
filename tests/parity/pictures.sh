#!/bin/sh
# Changes of pictures for augmentation agree with formulas in NumPy, and with torchvision if
# it is installed.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
python=
for needs in 'import numpy, torchvision' 'import numpy'; do
	for p in "${PYTHON:-python3}" python3 /usr/bin/python3; do
		"$p" -c "$needs" 2>/dev/null && python=$p && break 2
	done
done
[ -n "$python" ] || skip_all "no NumPy (Debian: python3-numpy)"
"$python" tests/parity/pictures.py "$BUILD/tests/tools/color" >"$T/said" 2>"$T/err" || diag "$(tail -3 "$T/err")"
# as_formula OPERATION LEVELS PART: check that no byte differs by more than
# LEVELS, except PART of them
as_formula() {
	check "$1 agrees with the formula in NumPy" awk -v op="$1" -v most="$2" -v part="$3" \
		'$1 == "numpy" && $2 == op && $3 >= 5 && ($5 <= most || ($7 > 0 && $7 <= part)) { found = 1 } END { exit !found }' "$T/said"
}
for op in identity shear_x shear_y translate_x translate_y brightness contrast sharpness posterize solarize autocontrast \
	equalize hue; do
	as_formula $op 0.51 0
done
# A rotated position may lie halfway between two pixels, and a gray value
# between two levels.
as_formula rotate 0 0.001
as_formula color 0.51 0.001
if grep -q '^torchvision' "$T/said"; then
	# torchvision truncates fractions, and a few pixels of a rotated picture
	# lie on an edge.
	check_same "all operations are within 1 of torchvision" "" "$(awk '$1 == "torchvision" && $7 > 0.01' "$T/said")"
else
	skip "all operations are within 1 of torchvision" "no torchvision (Debian: python3-torchvision)"
fi
diag "$(cat "$T/said")"
plan
