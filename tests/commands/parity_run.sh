#!/bin/sh
# vt-train --parity: the operators of a run beside those of ref.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 12 8 64 48 1 || skip_all "no test set"
device=cpu
built oneDNN || device=ref64
vt-schedule --policy=long+short --batch=4 --frames=4 --crop=32 --bn-size=2 --epochs=3 --milestones=1 >"$T/s.tsv"
# parity [OPTION]...: in an empty folder, which must stay so
mkdir "$T/empty"
parity() {
	(cd "$T/empty" && vt-train --parity -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" --device=$device "$@")
}
check_exit "every operator is ref's" 0 parity
cp "$T/out" "$T/table"
check_same "and nothing is written" "" "$(ls -A "$T/empty")"
check_same "at each microbatch of the schedule" "$(grep -v '^#' "$T/s.tsv" | awk '{ print $8 "x" $6 "x" $7 }' | sort -u)" \
    "$(sed -n "s/^# $device compared with ref at \([0-9]*x[0-9]*x[0-9]*\)x.*, 2 of 2 clips$/\1/p" "$T/table" | sort -u)"
check_same "of all 14 convolutions, and the stem's" "15" \
    "$(awk -F'\t' '/^# .* 2x4x32x32x3/ { here = 1 } /^# .* beside/ && !/2x4x32x32x3/ { here = 0 }
	here && $2 == "conv" { n += $3 } END { print n }' "$T/table")"
check "with differences that are small, and not all 0" awk -F'\t' '!/^#/ {
	for (i = 6; i <= 8; i++) { if ($i > $9 || $i < 0) bad = 1; sum += $i }
	if ($9 > $10 || NF != 10) bad = 1; rows++ } END { exit !(rows > 20 && sum > 0 && !bad) }' "$T/table"
[ $device = ref64 ] || check "what is fused is a row" grep -q '	bn+relu	' "$T/table"
# Numbers grow until they overflow: what is not finite is not equal.
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
check_exit "numbers that are not finite are a difference" 1 parity -m "$T/vast.net"
check_says "which is named" 'vast at 2x.*: differs from ref by inf \(wanted at most 0.0001\)'
check_exit "either of them" 2 parity --dry-run
if have_mpi; then
	check_exit "on two ranks" 0 mpirun -n 2 vt-train --parity -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" --device=$device
	check_same "the table is printed once" "$(grep -v '^#' "$T/table" | cut -f1-5)" "$(grep -v '^#' "$T/out" | cut -f1-5)"
else
	skip "on two ranks" "no Open MPI"
fi
plan
