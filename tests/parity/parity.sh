#!/bin/sh
# Whole networks agree with PyTorch built from the same weights: scores, losses,
# batch statistics and every gradient, at the three shapes of a multigrid run.
# tests/run: weight 25
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"
"$python" -c 'import numpy' 2>/dev/null || skip_all "no NumPy (Debian: python3-numpy)"

# narrow NET: copy the network with an eighth of the channels and without
# dropout
narrow() {
	sed -e 's/rate=[0-9.]*/rate=0/' "share/models/$1.net" | narrower >"$T/$1.net"
}
full() {
	sed -e 's/rate=[0-9.]*/rate=0/' "share/models/$1.net" >"$T/$1.net"
}
# fold NET: print FOLD if 1/FOLD of the channels are shifted in each direction,
# or 0 without a shift
fold() {
	awk '$1 == "shift" { fold = 8; for (i = 3; i <= NF; i++) if (sub(/^fold=/, "", $i)) fold = $i }
	     END { print fold + 0 }' "$T/$1.net"
}
# One Python process compares all, since importing PyTorch takes a second.
mkfifo "$T/asked" "$T/said"
PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/parity.py <"$T/asked" >"$T/said" 2>"$T/python.err" &
exec 3>"$T/asked" 4<"$T/said"
trap '' PIPE
# compare NET CLASSES BACKEND N T SIDE f64|f32: compare one network with PyTorch
compare() {
	rm -rf "$T/dump"
	if ! "$BUILD/tests/tools/netdump" "$T/$1.net" "$2" "$3" "$4" "$5" "$6" "$T/dump" 2>"$T/err"; then
		not_ok "$1 on $3: netdump runs"
		diag "$(cat "$T/err")"
		return
	fi
	module=parity
	[ ! -f "tests/parity/$1.py" ] || module=$1
	echo "$module $T/dump $4 $5 $6 $(fold "$1") $7" >&3
	before=$n_tests
	while read -r line <&4 && [ "$line" != end ]; do
		case $line in
		ok*) ok "$1 on $3: ${line#*- }" ;;
		not*) not_ok "$1 on $3: ${line#*- }" ;;
		*) echo "$line" ;;
		esac
	done
	[ "$n_tests" != "$before" ] || not_ok "$1 on $3: parity.py ran: $(tail -3 "$T/python.err")"
}

# In double: few clips and narrow networks, so that plain loops end in seconds.
full tsm_tiny
narrow tsm_r50
narrow tsm_r18
narrow tsn_r50
narrow tsn_r18_flow
narrow tsm_r18_flow
compare tsm_tiny 8 ref64 2 2 64 f64
compare tsm_tiny 8 ref64 2 4 79 f64
for shape in '8 112' '4 79' '2 56'; do
	# shellcheck disable=SC2086
	compare tsm_r50 11 ref64 2 $shape f64
done
compare tsm_r18 5 ref64 3 4 64 f64
compare tsn_r50 7 ref64 2 2 64 f64
compare tsn_r18_flow 5 ref64 3 3 64 f64
compare tsm_r18_flow 5 ref64 2 4 64 f64
# Two pathways, attention, gates and pools over time.
cp tests/parity/joins.net "$T"
compare joins 9 ref64 2 16 33 f64
compare joins 9 ref64 3 12 20 f64

# In float at full width.  Single gradients differ where a ReLU flips, so the
# test compares their direction (tests/unit/ops.c tests the operators).
full tsm_r50
full tsn_r50
full tsm_r18
if [ -x "$BUILD/vt-train" ] && "$BUILD/vt-train" --version | grep -q '^Built without.*oneDNN'; then
	skip "whole networks in float agree with PyTorch" "built without oneDNN"
else
	for shape in '8 112' '4 79' '2 56'; do
		# shellcheck disable=SC2086
		compare tsm_r50 400 cpu 2 $shape f32
	done
	compare tsn_r50 400 cpu 2 2 56 f32
	compare tsm_r18 101 cpu 2 4 64 f32
	compare tsm_tiny 8 cpu 4 8 48 f32
	compare joins 9 cpu 2 16 33 f32
fi
exec 3>&-
wait
plan
