#!/bin/sh
# tests/run: weight 8
# Samples with sets of classes: trained by binary cross-entropy, the same for all
# ranks and threads; mean average precision against another program's.
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

check_exit "a loss of one class" 2 train -m "$T/net.net" -o "$T/no"
check_says "is refused, with the way out" 'its samples have sets of classes, and net has a loss of one class a clip .*--loss=sigmoid'
check_exit "a network that has a loss, and another asked for" 2 train -m "$T/own.net" --loss=sigmoid -o "$T/no"
check_says "is refused" 'own.net: has a loss of its own'
check "nothing is left of them" test ! -e "$T/no"
check_exit "binary cross-entropy" 0 train -m "$T/net.net" --loss=sigmoid -o "$T/run"
check_same "is in the network that is kept" "loss loss in=scores kind=sigmoid" "$(tail -1 "$T/run/network.net")"
check_exit "or in the file" 0 train -m "$T/own.net" -o "$T/own"
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
check "there are weights" test -s "$T/want"
weights "$T/own" >"$T/got"
check "which is the same" cmp "$T/want" "$T/got"
check_same "validation has a mean average precision, and keeps the best by it" "2 map" \
	"$(grep -c '"map":' "$T/run/log.jsonl") $(strings "$T/run/final.safetensors" | head -1 | grep -o '"vt.best_metric":"[a-z]*"' | cut -d'"' -f4)"
check_exit "threads" 0 train -m "$T/net.net" --loss=sigmoid -o "$T/threads" -j2 --loader-threads=3
weights "$T/threads" >"$T/got"
check "give the same weights" cmp "$T/want" "$T/got"
check_same "and the same log of validations" "$(grep '"map":' "$T/run/log.jsonl" | jq -c '[.map,.top1,.loss]')" \
	"$(grep '"map":' "$T/threads/log.jsonl" | jq -c '[.map,.top1,.loss]')"
if have_mpi; then
	check_exit "two ranks" 0 mpirun -np 2 vt-train -q -i "$T/train" --val="$T/val" --schedule="$T/s.tsv" --device=ref -m "$T/net.net" --loss=sigmoid -o "$T/two"
	weights "$T/two" >"$T/got"
	check "give the same weights" cmp "$T/want" "$T/got"
	check_same "and the same mean average precision" "$(grep '"map":' "$T/run/log.jsonl" | jq -c .map)" \
		"$(grep '"map":' "$T/two/log.jsonl" | jq -c .map)"
else
	skip "ranks" "no mpirun"
fi
if built oneDNN; then
	check_exit "oneDNN" 0 train -m "$T/net.net" --loss=sigmoid --device=cpu -o "$T/cpu"
	check_same "comes to nearly the same loss" "same" "$(jq -s '[.[]|select(.type=="validation").loss]|last' "$T/run/log.jsonl" "$T/cpu/log.jsonl" >"$T/l1"
	jq -s '[.[]|select(.type=="validation").loss]|last' "$T/cpu/log.jsonl" >>"$T/l1"; jq -s -r 'if (.[0]-.[1]|fabs) < 1e-3 then "same" else tostring end' "$T/l1")"
fi

check_exit "vt-eval" 0 vt-eval -k "$T/run" -i "$T/val" --device=ref --scores="$T/scores" --per-class="$T/classes" --json
cp "$T/out" "$T/json"
check_exit "as a table" 0 vt-eval -k "$T/run" -i "$T/val" --device=ref
cp "$T/out" "$T/table"
python3 - "$T/scores" "$T/classes" "$T/json" "$T/table" >"$T/py" <<'P'
# Average precision by its definition: over the positives, the precision among
# all that score no less.
import json, sys, math
rows = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])]
names = rows[0][2:]
labels = [set(r[1].split("|")) if r[1] != "-1" else set() for r in rows[1:]]
scores = [[float(x) for x in r[2:]] for r in rows[1:]]
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
	check_same "$what as another program has it" "$what True" "$(grep "^$what" "$T/py")"
done
check_exit "a confusion matrix" 2 vt-eval -k "$T/run" -i "$T/val" --device=ref --matrix="$T/m.tsv"
check_says "is of one class each" 'its samples have sets of classes .--matrix is for one class each'
check_exit "a set of one class each" 0 vt-eval -k "$T/run" -i "$T/plain" --device=ref
check_same "has no mean average precision" 0 "$(grep -c mAP "$T/out")"
plan
