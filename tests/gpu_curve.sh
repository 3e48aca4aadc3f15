#!/bin/sh
# The loss of a training run on the cuda back end is that of the cpu back end, step
# by step at first, and in the mean of each tenth of the run until its end.  Without
# a GPU a short run of a small network; with one (STANDIN=no, make check-gpu) 200
# steps of tsm_tiny.
# tests/run: weight 3
cd "${0%/*}/.." || exit 2
. tests/lib.sh

# steps, the network, threads for the other; where a GPU is, more of each
steps=40 key=cpu
built oneDNN || key=ref
"$MAKESET" "$T/train" 64 8 80 64 1 || skip_all "no test set"
if [ "${STANDIN-}" = no ]; then
	steps=200 net=tsm_tiny frames=8 crop=48
else
	net=$T/net.net frames=2 crop=16
	small_net 8 8 >"$net"
fi
stages "0 0 $((steps / 4)) 0 16 $frames $crop 8 0.02 0 0" >"$T/s.tsv"
# train WHERE PRECISION PROGRAM DEVICE: the loss of each step to $T/WHERE.loss
train() {
	"$3" -i "$T/train" -m "$net" --schedule "$T/s.tsv" --device "$4" --precision "$2" -j 4 --seed 7 -q --save-every 0 \
		--no-flip --log-every 1 -o "$T/$1" >"$T/out" 2>"$T/err" || { diag "$(head -5 "$T/err")"; return 1; }
	awk -F'\t' '/^#step/ { for (i = 1; i <= NF; i++) if ($i == "loss") at = i } /^[0-9]/ { print $at }' "$T/out" >"$T/$1.loss"
}
check "a run on $key" train key fp32 vt-train $key
check_same "of $steps steps" "$steps" "$(wc -l <"$T/key.loss")"
check "learns something" awk -v n="$steps" 'NR <= n / 10 { a += $1 } NR > n * 9 / 10 { b += $1 } END { exit !(b < 0.95 * a) }' \
	"$T/key.loss"
# alike NAME FIRST MOST: the first five losses differ by FIRST at most, as a part of
# them, and the means of tenths by MOST
alike() {
	paste "$T/$1.loss" "$T/key.loss" | awk -v n="$steps" -v first="$2" -v most="$3" '
		function far(a, b) { return a > b ? (a - b) / b : (b - a) / b }
		NF != 2 { bad = 1 }
		NR <= 5 && far($1, $2) > first { print "# step " NR ": " $1 ", not " $2; bad = 1 }
		{ a += $1; b += $2 }
		NR % (n / 10) == 0 { w = far(a, b) > w ? far(a, b) : w; a = b = 0 }
		END {
			print "# means of tenths differ by " w
			exit bad || NR != n || w > most
		}' || return 1
}
for precision in fp32 bf16 fp16; do
	case $precision in fp32) first=1e-3 ;; bf16) first=5e-2 ;; *) first=2e-2 ;; esac
	if train $precision $precision "$BUILD/gpu/vt-train" ref && alike $precision $first 0.1 >"$T/said"; then
		ok "in $precision on the cuda back end the losses are those of $key"
	else
		not_ok "in $precision on the cuda back end the losses are those of $key"
	fi
	cat "$T/said"
done
plan
