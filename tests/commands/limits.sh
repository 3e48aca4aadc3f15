#!/bin/sh
# vt-train states once what limits its speed, 100 steps after each start: in a
# message and in log.jsonl.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
cat >"$T/one.net" <<-'NET'
	input  x out=3
	conv   conv1 in=x out=8 k=3,3 s=2,2
	relu   relu1 in=conv1
	avgpool pool in=relu1 over=hw
	linear fc in=pool out=classes std=0.1
	avgpool scores in=fc over=t
NET
stages '0 0 21 0 4 2 16 4 0.01 0 0' >"$T/s.tsv"
# train: train by s.tsv.
train() {
	vt-train -i "$T/train" -m "$T/one.net" --schedule "$T/s.tsv" -o "$T/run" -j 1 --save-steps=30 \
		--precise-bn=off >"$T/out" 2>"$T/err"
}
limits() {
	grep -c '"type": *"limit"' "$T/run/log.jsonl"
}
said='limits 4x2x16: '
check "a run of 210 steps" train
check_same "one line of log.jsonl has the limit" 1 "$(limits)"
check_same "one line says it" 1 "$(grep -c "$said" "$T/err")"
check "it follows step 100" grep -q '"step": *100,.*"type": *"limit"' "$T/run/log.jsonl"
rm -r "$T/run"
stages '0 0 9 0 4 2 16 4 0.01 0 0' >"$T/s.tsv"
check "a run of 90 steps" train
check_same "a run of 90 steps says nothing" 0 "$(limits)"
plan
