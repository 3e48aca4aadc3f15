#!/bin/sh
# The benchmark programs for PyTorch run: tests/bench/torch_step.py trains the
# networks of share/models, and tests/bench/step-vs-torch prints vt and PyTorch
# side by side.  The test does not check speeds.
# tests/run: weight 80
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
bench=tests/bench
check_exit "step-vs-torch refuses an unknown network" 2 python3 $bench/step-vs-torch -m tsm_huge
check_exit "step-vs-torch refuses a shape without frames" 1 python3 $bench/step-vs-torch -s 2x8
check_says "step-vs-torch describes a shape as vt-bench does" 'wanted clips x frames x side'
if ! find_torch; then
	skip "the networks of torch_step.py agree with vt" "no PyTorch (Debian: python3-torch)"
	plan
	exit 0
fi

# In double, from the same weights and pixels, compare names and shapes of
# parameters, scores, losses, and the gradient that passed through every layer.
# agree FRAMES SIDE NET...: compare networks.
agree() {
	frames=$1 side=$2
	shift 2
	for net; do
		sed 's/rate=[0-9.]*/rate=0/' "share/models/$net.net" >"$T/$net.net"
		"$BUILD/tests/tools/netdump" "$T/$net.net" 5 ref64 1 "$frames" "$side" "$T/$net" 2>"$T/err" || diag "$(cat "$T/err")"
		set -- "$@" "$T/$net"
		shift
	done
	check_exit "torch_step.py's networks of $frames frames agree with vt" 0 "$python" $bench/torch_step.py --classes=5 \
		--shape="1x${frames}x$side" --verify "$@"
	check_same "torch_step.py compares $# networks of $frames frames" $# "$(grep -c 'scores: relative difference' "$T/out")"
}
agree 4 33 i3d_r50 slowfast_r50_8x8 x3d_m r2plus1d_18
agree 3 40 tsm_mobilenet_v2 tsm_tiny tsm_r18 tsm_r50 tsm_r50_nl tsn_r50
check_message "torch_step.py detects that tsn_r50 is not tsm_r50" 1 'other scores' \
	"$python" $bench/torch_step.py --net=tsm_r50 --classes=5 --shape=1x3x40 --verify="$T/tsn_r50"
check_message "torch_step.py detects another number of classes" 1 'other parameters: fc.bias' \
	"$python" $bench/torch_step.py --net=tsn_r50 --classes=6 --shape=1x3x40 --verify="$T/tsn_r50"

if ! built oneDNN; then
	skip "step-vs-torch runs" "no oneDNN"
	plan
	exit 0
fi
check_exit "step-vs-torch runs" 0 python3 $bench/step-vs-torch -n 1 -r 1 -j 1 -m tsm_tiny -s 1x2x32 -p fp32 --no-compile "$python"
at=vs/tsm_tiny/1x2x32/1/fp32
# value NAME: print the median of a row
value() {
	awk -F'\t' -v name="$at/$1" '$1 == name { print $5 }' "$T/out"
}
check_same "step-vs-torch prints vt, PyTorch, their ratio and their memory" \
    "peak/ratio-torch peak/ratio-torch-plain peak/torch peak/torch-plain peak/vt ratio torch vt" \
    "$(grep -v '^#' "$T/out" | cut -f1 | sed "s|^$at/||" | grep -v '^mode/' | sort | tr '\n' ' ' | sed 's/ $//')"
check "step-vs-torch lists every mode" test "$(grep -c "^$at/mode/" "$T/out")" -ge 2
check "the ratio is that of vt to PyTorch" awk -v a="$(value vt)" -v b="$(value torch)" -v r="$(value ratio)" \
    'BEGIN { exit !(r > 0.999 * a / b && r < 1.001 * a / b) }'
check "the memory figures are plausible" awk -v a="$(value peak/vt)" -v b="$(value peak/torch)" \
    'BEGIN { exit !(a > 1e5 && b > 1e6 && a < 4e9 && b < 4e9) }'
check "step-vs-torch prints how busy the machine was" grep -q '^# load average [0-9.]* when it began, .* other processes took [0-9.]* %' "$T/out"
plan
