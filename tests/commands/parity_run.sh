#!/bin/sh
# vt-train --parity compares the operators of a run with those of ref.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 12 8 64 48 1 || skip_all "no test set"
device=cpu
built oneDNN || device=ref64
vt-schedule --policy=long+short --batch=4 --frames=4 --crop=32 --bn-size=2 --epochs=3 --milestones=1 >"$T/s.tsv"
# parity [OPTION]...: run it in an empty folder, which must stay empty.
mkdir "$T/empty"
parity() {
	(cd "$T/empty" && vt-train --parity -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" --device=$device "$@")
}
check_exit "every operator agrees with ref" 0 parity
cp "$T/out" "$T/table"
check_same "and nothing is written" "" "$(ls -A "$T/empty")"
check_same "at each microbatch of the schedule" "$(grep -v '^#' "$T/s.tsv" | awk '{ print $8 "x" $6 "x" $7 }' | sort -u)" \
    "$(sed -n "s/^# $device compared with ref at \([0-9]*x[0-9]*x[0-9]*\)x.*/\1/p" "$T/table" | sort -u)"
check_same "of all 14 convolutions, and the stem's" "15" \
    "$(awk -F'\t' '/^# .* 2x4x32x32x3/ { here = 1 } /^# .* beside/ && !/2x4x32x32x3/ { here = 0 }
	here && $2 == "conv" { n += $3 } END { print n }' "$T/table")"
check "differences are small, and not all 0" awk -F'\t' '!/^#/ {
	for (i = 6; i <= 8; i++) { if ($i > $9 || $i < 0) bad = 1; sum += $i }
	if ($9 > $10 || NF != 10) bad = 1; rows++ } END { exit !(rows > 20 && sum > 0 && !bad) }' "$T/table"
[ $device = ref64 ] || check "fused operators have a row" grep -q '	bn+relu	' "$T/table"
# Values grow until they overflow. A value that is not finite never agrees.
cat >"$T/vast.net" <<'NET'
input    x       out=3 mean=0.4,0.4,0.4 std=1e-6,1e-6,1e-6
scale    large   in=x by=1e6
conv     conv    in=large out=16 k=3,3
scale    larger  in=conv by=1e6
conv     fewer   in=larger out=8 k=1,1
mul      square  in=fewer,fewer
scale    vast    in=square by=1e6
avgpool  avgpool in=vast over=hw
linear   fc      in=avgpool out=classes std=0.2
avgpool  scores  in=fc over=t
NET
check_exit "values that are not finite end with 1" 1 parity -m "$T/vast.net"
check_says "values that are not finite: the message names network, difference and limit" \
	'vast at 2x.*: differs from ref by inf \(wanted at most 0.0001\)'
# It takes most of a minute.
vt-schedule --batch=2 --frames=8 --crop=112 --bn-size=2 --epochs=1 >"$T/long.tsv"
(cd "$T/empty" && exec vt-train --parity -i "$T/train" -m r2plus1d_18 --schedule="$T/long.tsv" --device=$device -j1) \
    >/dev/null 2>"$T/note" &
pid=$!
i=0
says_time() { grep -q 'GMACs by the loops of ref, at least [0-9.]*[: ]' "$T/note" 2>/dev/null; }
until says_time || [ $((i += 1)) -gt 600 ]; do sleep 0.1; done
check "a note states how long ref takes" says_time
kill "$pid"
wait "$pid" 2>/dev/null
check_same "SIGTERM ends it at once" 143 $?
check_exit "--parity with --dry-run ends with 2" 2 parity --dry-run
if have_mpi; then
	check_exit "two ranks compare operators" 0 \
		mpirun -n 2 vt-train --parity -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" --device=$device
	check_same "two ranks print the table once" \
		"$(grep -v '^#' "$T/table" | cut -f1-5)" "$(grep -v '^#' "$T/out" | cut -f1-5)"
else
	skip "two ranks compare operators" "no Open MPI"
fi
plan
