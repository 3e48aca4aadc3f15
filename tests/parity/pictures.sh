#!/bin/sh
# What is done to pictures beside formulas in NumPy, and beside torchvision where
# that is here.
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
"$python" tests/parity/pictures.py "$BUILD/tests/tools/colour" >"$T/said" 2>"$T/err" || diag "$(tail -3 "$T/err")"
# as_formula OPERATION LEVELS PART: no byte is further off, but for that part
as_formula() {
	check "$1: the formula" awk -v op="$1" -v most="$2" -v part="$3" \
		'$1 == "numpy" && $2 == op && $3 >= 5 && ($5 <= most || ($7 > 0 && $7 <= part)) { found = 1 } END { exit !found }' "$T/said"
}
for op in identity shear_x shear_y translate_x translate_y brightness contrast sharpness posterize solarize autocontrast \
	equalize hue; do
	as_formula $op 0.51 0
done
# A turned pixel may lie between two, and a grey between two levels.
as_formula rotate 0 0.001
as_formula color 0.51 0.001
if grep -q '^torchvision' "$T/said"; then
	# It drops fractions, and a few places of a turned picture lie on an edge.
	check_same "torchvision: within 1 of all" "" "$(awk '$1 == "torchvision" && $7 > 0.01' "$T/said")"
else
	skip "torchvision: within 1 of all" "no torchvision (Debian: python3-torchvision)"
fi
diag "$(cat "$T/said")"
plan
