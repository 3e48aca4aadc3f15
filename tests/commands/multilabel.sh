#!/bin/sh
# tests/run: weight 8
# Samples with sets of classes are trained by binary cross-entropy, with the
# same bits for all numbers of ranks and threads. Mean average precision equals
# another program's. Steps, validations and vt-eval count top-1 over the same samples.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 24 8 40 32 5 sets=1 classes=5
"$MAKESET" "$T/val" 18 8 40 32 6 sets=1 classes=5
"$MAKESET" "$T/plain" 10 8 40 32 6 classes=5
small_net 4 >"$T/net.net"
{ cat "$T/net.net"; echo "loss l in=scores kind=sigmoid"; } >"$T/own.net"
stages "0 0 2 0 8 4 24 4 0.1 0 0" >"$T/s.tsv"
train() {
	vt-train -q -i "$T/train" --val="$T/val" --schedule="$T/s.tsv" --device=ref "$@"
}

check_exit "a loss of one class for sets of classes ends with 2" 2 train -m "$T/net.net" -o "$T/no"
check_says "a loss of one class for sets of classes: the message shows set, loss and the way out" \
	'its samples have sets of classes, and net has a loss of one class a clip .*--loss=sigmoid'
check_message "--loss with a network that has a loss ends with 2" 2 'own.net: has a loss of its own' \
	train -m "$T/own.net" --loss=sigmoid -o "$T/no"
check "a refused run makes no folder" test ! -e "$T/no"
check_exit "--loss=sigmoid trains" 0 train -m "$T/net.net" --loss=sigmoid -o "$T/run"
check_same "--loss=sigmoid is a line in the run's network" \
	"loss loss in=scores kind=sigmoid" "$(tail -1 "$T/run/network.net")"
check_exit "a network with a sigmoid loss trains" 0 train -m "$T/own.net" -o "$T/own"
weights() {
	python3 - "$1/final.safetensors" <<-'P'
	import hashlib, json, struct, sys
	b = open(sys.argv[1], "rb").read()
	n = struct.unpack("<Q", b[:8])[0]
	h = json.loads(b[8:8 + n])
	for k in sorted(h):
	    if not k.startswith("__") and not k.startswith("~"):
	        x, y = h[k]["data_offsets"]
	        print(k, hashlib.md5(b[8 + n + x:8 + n + y]).hexdigest())
	P
}
weights "$T/run" >"$T/want"
check "the digest has weights" test -s "$T/want"
weights "$T/own" >"$T/got"
check "both ways give the same weights" cmp "$T/want" "$T/got"
check_same "validations have mean average precision, which chooses the best checkpoint" "2 map" \
	"$(grep -c '"map":' "$T/run/log.jsonl") $(strings "$T/run/final.safetensors" | head -1 | grep -o '"vt.best_metric":"[a-z]*"' | cut -d'"' -f4)"
check_exit "other numbers of threads train" 0 \
	train -m "$T/net.net" --loss=sigmoid -o "$T/threads" -j2 --loader-threads=3
weights "$T/threads" >"$T/got"
check "other numbers of threads give the same weights" cmp "$T/want" "$T/got"
check_same "other numbers of threads give the same validations" \
	"$(grep '"map":' "$T/run/log.jsonl" | jq -c '[.map,.top1,.loss]')" \
	"$(grep '"map":' "$T/threads/log.jsonl" | jq -c '[.map,.top1,.loss]')"
if have_mpi; then
	check_exit "two ranks train" 0 \
		mpirun -np 2 vt-train -q -i "$T/train" --val="$T/val" --schedule="$T/s.tsv" --device=ref -m "$T/net.net" --loss=sigmoid -o "$T/two"
	weights "$T/two" >"$T/got"
	check "two ranks give the same weights" cmp "$T/want" "$T/got"
	check_same "two ranks give the same mean average precision" \
		"$(grep '"map":' "$T/run/log.jsonl" | jq -c .map)" \
		"$(grep '"map":' "$T/two/log.jsonl" | jq -c .map)"
else
	skip "ranks" "no mpirun"
fi
if built oneDNN; then
	check_exit "the cpu back end trains" 0 train -m "$T/net.net" --loss=sigmoid --device=cpu -o "$T/cpu"
	check_same "the cpu back end gives the loss of ref, within 0.001" \
		"same" "$(jq -s '[.[]|select(.type=="validation").loss]|last' "$T/run/log.jsonl" "$T/cpu/log.jsonl" >"$T/l1"
	jq -s '[.[]|select(.type=="validation").loss]|last' "$T/cpu/log.jsonl" >>"$T/l1"; jq -s -r 'if (.[0]-.[1]|fabs) < 1e-3 then "same" else tostring end' "$T/l1")"
fi

check_exit "vt-eval with --json" 0 \
	vt-eval -k "$T/run" -i "$T/val" --device=ref --scores="$T/scores" --per-class="$T/classes" --json
cp "$T/out" "$T/json"
check_exit "vt-eval as a table" 0 vt-eval -k "$T/run" -i "$T/val" --device=ref
cp "$T/out" "$T/table"
python3 - "$T/scores" "$T/classes" "$T/json" "$T/table" >"$T/py" <<'P'
# Average precision by its definition: the mean over the positives of the precision
# among all samples that score at least as high.
import json, sys, math
rows = [l.rstrip("\n").split("\t") for l in list(open(sys.argv[1]))[1:]]
names = rows[0][2:-3]
labels = [{c for c in r[1].split("|") if c not in ("", "-1")} for r in rows[1:]]
scores = [[float(x) for x in r[2:-3]] for r in rows[1:]]
aps, lines = [], []
for c in range(len(names)):
    s = [x[c] for x in scores]
    y = [str(c) in l for l in labels]
    p = [sum(1 for t, v in zip(s, y) if t >= x and v) / sum(1 for t in s if t >= x)
         for x, v in zip(s, y) if v]
    aps.append(math.fsum(p) / len(p) if p else None)
    lines.append((sum(y), aps[-1]))
got = [l.rstrip("\n").split("\t") for l in open(sys.argv[2])][1:]
ok = len(got) == len(lines) and all(
    int(g[2]) == n and (g[3] == "" if a is None else abs(float(g[3]) - a) < 1e-8)
    for g, (n, a) in zip(got, lines))
print("classes", ok)
want = [a for a in aps if a is not None]
mean = math.fsum(want) / len(want)
out = [json.loads(l) for l in open(sys.argv[3])]
print("summary", abs(out[-1]["map"] - mean) < 1e-8 and out[-1]["classes"] == len(want))
print("labels", [o.get("labels", [o["label"]] if "label" in o else None) for o in out[:-1]] ==
      [sorted(names[int(c)] for c in l) for l in labels])
last = open(sys.argv[4]).read().splitlines()[-1]
print("table", "mAP %.6f\tclasses %d" % (mean, len(want)) in last)
loss = []
for l, s in zip(labels, scores):
    loss.append(math.fsum(max(x, 0) - x * (str(c) in l) + math.log1p(math.exp(-abs(x)))
                for c, x in enumerate(s)) / len(s))
print("loss", abs(out[-1]["loss"] - math.fsum(loss) / len(loss)) < 1e-7)
P
for what in classes summary labels table loss; do
	check_same "$what: as another program computes it" "$what True" "$(grep "^$what" "$T/py")"
done
# ---- one top-1 for the log, validations and vt-eval ----

# Only biases are trained, so the scores of all clips are equal, and their order stays after
# the first step. A step has all samples; every fifth has an empty set.
cat >"$T/bias.net" <<'NET'
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=4 k=1,1 s=8,8 std=0
avgpool  avgpool  in=conv1 over=hw
linear   fc       in=avgpool out=classes std=0
avgpool  scores   in=fc over=t
NET
"$MAKESET" "$T/empty" 32 8 40 32 5 sets=1 classes=5
"$MAKESET" "$T/blank" 32 8 40 32 5 sets=1 classes=5 blank=4
stages "0 0 2 0 32 4 24 16 0.1 0 0" >"$T/all.tsv"
# top1 NAME=VALUE FILE: print the last top1 of the lines of JSON in FILE that have this value.
top1() {
	jq -r "select(.${1%=*} == \"${1#*=}\").top1" "$2" | tail -1 | xargs printf '%.6f'
}
# hits: print the share of correct samples among those that have a class, by $T/scores.
hits() {
	awk -F'\t' 'NR < 3 { next }
		$2 != "-1" && $2 != "" {
			n += split($2, right, "|") > 0; best = 3
			for (c = 4; c < NF - 2; c++) if ($c + 0 > $best + 0) best = c
			for (i in right) correct += right[i] == best - 3
		} END { printf "%.6f", correct / n }' "$T/scores"
}
check_exit "biases alone train" 0 vt-train -q -i "$T/empty" --val="$T/empty" -m "$T/bias.net" --loss=sigmoid \
	--schedule="$T/all.tsv" --device=ref --log-every=1 --val-every=1 -o "$T/bias"
for of in empty blank; do
	check_exit "vt-eval with $of labels" 0 vt-eval -k "$T/bias" -i "$T/$of" --device=ref --scores="$T/scores" --json
	check "vt-eval with $of labels: some samples are correct, $(hits) of those with a class" \
		awk -v x="$(hits)" 'BEGIN { exit !(x > 0.1 && x < 0.9) }'
	check_same "vt-eval with $of labels: top-1 is that of the scores" "$(hits)" "$(top1 type=summary "$T/out")"
	[ $of = empty ] || continue
	check_same "top-1 of a validation is that of the scores" "$(hits)" "$(top1 type=validation "$T/bias/log.jsonl")"
	check_same "top-1 of a step is that of the scores" "$(hits)" "$(top1 type=step "$T/bias/log.jsonl")"
done

check_message "--matrix with sets of classes ends with 2" 2 \
	'its samples have sets of classes .--matrix is for one class each' \
	vt-eval -k "$T/run" -i "$T/val" --device=ref --matrix="$T/m.tsv"
check_exit "a set with one class each is scored" 0 vt-eval -k "$T/run" -i "$T/plain" --device=ref
check_same "with one class each there is no mean average precision" 0 "$(grep -c mAP "$T/out")"
plan
