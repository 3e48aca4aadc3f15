#!/bin/sh
# vt-eval --rescore makes all outputs of an evaluation again from its scores,
# byte for byte, for one class each and for sets of classes. Several files are
# fused as another program does it, and files that do not match are refused.
# tests/run: weight 13
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
cairo=no
! built cairo || cairo=yes

"$MAKESET" "$T/train" 24 8 40 32 5 classes=6 && "$MAKESET" "$T/val" 18 8 40 32 6 classes=6 blank=5 &&
	"$MAKESET" "$T/other" 18 8 40 32 7 classes=6 && "$MAKESET" "$T/sets" 18 8 40 32 6 sets=1 classes=6 ||
	skip_all "no test set"
small_net 4 >"$T/rgb.net"
small_net 6 >"$T/flow.net"
stages "0 0 3 0 8 4 24 4 0.1 0 0" >"$T/s.tsv"
train() {
	name=$1 set=$2
	shift 2
	vt-train -qq -i "$T/$set" --schedule="$T/s.tsv" --device=ref -o "$T/$name" "$@" >/dev/null
}
train rgb train -m "$T/rgb.net" && train flow train -m "$T/flow.net" --seed=9 &&
	train actions sets -m "$T/rgb.net" --loss=sigmoid || skip_all "nothing was trained"

# ---- one file ----

# outputs DIR KIND OPTION...: write all outputs to DIR. KIND is "classes", or
# "sets", which have no matrix.
outputs() {
	dir=$1 kind=$2
	shift 2
	mkdir -p "$dir"
	[ $cairo = no ] || set -- "$@" --sheet="$dir/sheet.png" --sheet-samples=5
	[ $kind = sets ] || set -- "$@" --matrix="$dir/matrix.tsv"
	[ $kind = sets ] || [ $cairo = no ] || set -- "$@" --matrix="$dir/matrix.png"
	vt-eval -q "$@" --scores="$dir/scores" --per-class="$dir/classes" >"$dir/out" 2>"$dir/err"
	vt-eval -q "$@" --json >"$dir/json" 2>>"$dir/err"
}
# same RUN SET KIND [OPTION]...: score a set, and make the outputs again from
# the scores.
same() {
	run=$1 data=$T/$2 kind=$3
	shift 3
	rm -rf "$T/a" "$T/b"
	outputs "$T/a" "$kind" -k "$T/$run" --data="$data" --device=ref "$@"
	if [ $cairo = yes ]; then
		outputs "$T/b" "$kind" --rescore="$T/a/scores" --data="$data"
	else
		outputs "$T/b" "$kind" --rescore="$T/a/scores"
	fi
	check_same "$run, ${data##*/} $*: the outputs are the same bytes" "$(ls "$T/a") " \
		"$(ls "$T/b") $(diff -rq "$T/a" "$T/b"; cat "$T/a/err")"
}
same rgb val classes
check_same "line 1 is the protocol as JSON, with the hashes of checkpoint, data and list" "4 tsm 32 32 32" "$(python3 -c '
import json, sys
p = json.loads(open(sys.argv[1]).readline()[2:])
print(p["frames"], p["sampler"], *(len(p[n + "-hash"]) for n in ("checkpoint", "data", "list")))' "$T/a/scores")"
# pandas.read_csv(f, sep="\t", skiprows=1), and the module csv where pandas is absent.
check_same "line 2 is the header, as pandas wants it" "18 key label a b c d e f path begin end" "$(python3 -c '
import csv, sys
try:
    from pandas import read_csv
    t = read_csv(sys.argv[1], sep="\t", skiprows=1)
    print(len(t), *t.columns)
except ImportError:
    head, *rows = list(csv.reader(open(sys.argv[1]), delimiter="\t"))[1:]
    print(len(rows), *head)' "$T/a/scores")"
same rgb val classes --clips=2 --crops=3 --full-short-side
same flow val classes --clips=2 --ensemble=probabilities
same rgb other classes --device=ref64
same actions sets sets
same actions sets sets --clips=2 --ensemble=max

vt-eval -q -k "$T/rgb" -i "$T/val" --device=ref --scores="$T/rgb.tsv" >"$T/want"
vt-eval -q -k "$T/flow" -i "$T/val" --device=ref --clips=2 --scores="$T/flow.tsv" >"$T/flow.out"
vt-eval -q -k "$T/actions" -i "$T/sets" --device=ref --scores="$T/actions.tsv" >"$T/actions.out"
sed 1d "$T/rgb.tsv" >"$T/bare.tsv"
check_exit "a score file without protocol is refused" 4 vt-eval -q --rescore="$T/bare.tsv"
check_says "a score file without protocol: the message names the loss" "bare.tsv: no loss in its protocol"

# ---- fusion ----

# fused HOW WEIGHTS FILE FILE: print top-1, top-5 and the loss, or mAP and the
# loss of sets, of the fused scores.
cat >"$T/fused.py" <<'P'
import json, math, sys
how, weights, *files = sys.argv[1:]
weights = [float(w) for w in weights.split(":")]

def read(path):
    lines = [l.rstrip("\n").split("\t") for l in open(path)]
    sigmoid = json.loads(lines[0][0][2:])["loss"] == "sigmoid"
    return sigmoid, {l[0]: (l[1], [float(x) for x in l[2:-3]]) for l in lines[2:]}

def probabilities(sigmoid, s):
    if sigmoid:
        return [1 / (1 + math.exp(-x)) for x in s]
    e = [math.exp(x - max(s)) for x in s]
    return [x / sum(e) for x in e]

both = [read(f) for f in files]
sigmoid = both[0][0]
right, scores, p = [], [], []
for key, (label, _) in both[0][1].items():
    if label == "-1":
        continue
    rows = [b[1][key][1] for b in both]
    if how == "probabilities":
        rows = [probabilities(sigmoid, r) for r in rows]
    row = [sum(w * x for w, x in zip(weights, c)) / sum(weights) for c in zip(*rows)]
    right.append({int(c) for c in label.split("|") if c != ""})
    scores.append(row)
    p.append(row if how == "probabilities" else probabilities(sigmoid, row))
n = len(right)
above = [min([sum(x >= s[c] for x in s) for c in r], default=99) for r, s in zip(right, scores)]
if sigmoid:
    loss = sum(-math.log(x if c in r else 1 - x) for r, q in zip(right, p) for c, x in enumerate(q)) / n / len(p[0])
    ap = []
    for c in range(len(p[0])):
        s = [(x[c], c in r) for x, r in zip(scores, right)]
        at = [x for x, y in s if y]
        if at:
            ap.append(sum(sum(y for x, y in s if x >= t) / sum(x >= t for x, y in s) for t in at) / len(at))
    print("mAP %.6f loss %.6f" % (sum(ap) / len(ap), loss))
else:
    loss = sum(-math.log(q[c]) for r, q in zip(right, p) for c in r) / n
    print("top1 %.6f top5 %.6f loss %.6f" % (sum(a == 1 for a in above) / n, sum(a <= 5 for a in above) / n, loss))
P
# figures NAME...: print figures of the summary in $T/out.
figures() {
	for name; do
		sed -n "s/^#summary.*	$name \([^	]*\).*/$name \1/p" "$T/out"
	done | paste -sd ' '
}
vt-eval -q -k "$T/actions" -i "$T/sets" --device=ref --clips=2 --crops=3 --full-short-side --scores="$T/actions2.tsv" >/dev/null
# The samples of the second file are in another order.
{ head -2 "$T/flow.tsv"; tail -n +3 "$T/flow.tsv" | sort -r; } >"$T/turned.tsv"
for how in probabilities logits; do
	for weights in 1:1 1:1.5 0:2; do
		check_exit "$how are fused by $weights" 0 \
			vt-eval -q --rescore="$T/rgb.tsv" "$T/flow.tsv" --fusion=$how --fusion-weights=$weights
		check_same "$how by $weights: the figures are those of another program" \
			"$(python3 "$T/fused.py" $how $weights "$T/rgb.tsv" "$T/flow.tsv")" "$(figures top1 top5 loss)"
		cp "$T/out" "$T/in-order"
		vt-eval -q --rescore="$T/rgb.tsv" --rescore="$T/turned.tsv" --fusion=$how --fusion-weights=$weights >"$T/out" 2>&1
		check_same "$how by $weights: the order of samples is that of the first file" \
			"$(cat "$T/in-order")" "$(grep -v 'were changed' "$T/out")"
	done
	check_exit "$how of sets are fused" 0 vt-eval -q --rescore="$T/actions.tsv" "$T/actions2.tsv" --fusion=$how --fusion-weights=1:3
	check_same "$how of sets: the figures are those of another program" \
		"$(python3 "$T/fused.py" $how 1:3 "$T/actions.tsv" "$T/actions2.tsv")" "$(figures mAP loss)"
done
check_exit "the default is probabilities with equal weights" 0 vt-eval --rescore="$T/rgb.tsv" "$T/flow.tsv" -o "$T/default"
check_same "the default is in the summary" "fusion probabilities	fusion-weights 1:1" "$(sed -n 's/^#summary.*	fusion /fusion /p' "$T/default")"
check_says "a note names what differs between the protocols" 'flow.tsv was scored with clips 2, validation no, and .*rgb.tsv with clips 1, validation yes: their scores are combined as they are'
outputs "$T/fused" classes --rescore="$T/rgb.tsv" "$T/flow.tsv" --fusion-weights=1:1.5 --data="$T/val"
outputs "$T/again" classes --rescore="$T/fused/scores" --data="$T/val"
if [ $cairo = yes ]; then
	check_same "fused scores give the outputs of the fusion" "$(ls "$T/fused") " "$(ls "$T/again") $(diff -rq "$T/fused" "$T/again")"
else
	skip "fused scores give the outputs of the fusion" "built without cairo"
fi
check "fused scores say where they are from" grep -q "^# {.*\"2.scores\":\"$T/flow.tsv\"" "$T/fused/scores"

check_exit "the best weights" 0 vt-eval --rescore="$T/rgb.tsv" "$T/flow.tsv" --fusion=logits --fusion-fit
fit=$(cat "$T/out")
best=$(for w in $(seq 0 20); do
	weights=$(awk "BEGIN { print $w / 20 \":\" 1 - $w / 20 }")
	echo "$(python3 "$T/fused.py" logits "$weights" "$T/rgb.tsv" "$T/flow.tsv") $weights"
done | sort -k2,2gr -k6,6g | head -1)
check_same "they have the highest top-1 and the lowest loss of all on the grid" \
	"--fusion=logits --fusion-weights=${best##* }" "${fit%@*}"
check_says "a note says what they are fitted to" 'fitted to these samples: use them for others'
# shellcheck disable=SC2086
check_exit "they can be pasted" 0 vt-eval --rescore="$T/rgb.tsv" "$T/flow.tsv" $fit
check_same "they give these figures" "${best% *}" "$(figures top1 top5 loss)"
check_says "for the same samples, a warning says so" 'the weights were fitted to these samples'
check_same "for the same samples, the summary is marked" yes "$(sed -n 's/^#summary.*	fusion-fitted //p' "$T/out")"
for f in rgb flow; do sed '$d' "$T/$f.tsv" >"$T/$f-others.tsv"; done
# shellcheck disable=SC2086
vt-eval --rescore="$T/rgb-others.tsv" "$T/flow-others.tsv" $fit >"$T/out" 2>"$T/err"
check "for other samples there is no mark" sh -c "! cat '$T/out' '$T/err' | grep fitted"
check_exit "the best weights of three files of sets" 0 \
	vt-eval -q --rescore="$T/actions.tsv" "$T/actions2.tsv" "$T/actions.tsv" --fusion-fit
check "their sum is 1" awk -F '[=:@]' '{ exit !(NF == 5 && ($2 + $3 + $4 - 1) ^ 2 < 1e-20) }' "$T/out"

# ---- what is refused ----

# refused STATUS MESSAGE OPTION...: check status and message.
refused() {
	status=$1 message=$2
	shift 2
	check_message "$message: ends with $status" "$status" "$message" vt-eval "$@"
	check_same "$message: nothing is printed" "" "$(cat "$T/out")"
}
grep -v '^s00003	' "$T/flow.tsv" >"$T/less.tsv"
sed 's/^\(key.*\)	c	/\1	x	/' "$T/flow.tsv" >"$T/classes.tsv"
sed 's/^s00002	2	/s00002	4	/' "$T/flow.tsv" >"$T/label.tsv"
head -c -30 "$T/flow.tsv" >"$T/cut.tsv"
refused 2 'rgb.tsv:[0-9]*: sample s00003 is not in .*less.tsv' --rescore "$T/rgb.tsv" "$T/less.tsv"
refused 2 'rgb.tsv:[0-9]*: sample s00003 is not in .*less.tsv' --rescore "$T/less.tsv" "$T/rgb.tsv"
refused 2 'classes.tsv: class 2 is x .*rgb.tsv has c' --rescore "$T/rgb.tsv" "$T/classes.tsv"
refused 2 'label.tsv:[0-9]*: sample s00002 has another label than in .*rgb.tsv:[0-9]*' --rescore "$T/rgb.tsv" "$T/label.tsv"
check_says "changed labels get a warning" 'label.tsv: samples or labels were changed since the file was written'
refused 2 'actions.tsv: scores of a sigmoid loss' --rescore "$T/rgb.tsv" "$T/actions.tsv"
refused 4 'cut.tsv:[0-9]*: the last line has no end: the file is cut off' --rescore "$T/cut.tsv"
refused 1 'nothing.tsv' --rescore "$T/nothing.tsv"
refused 4 'want:2: score of class top1: [a-f] is not a finite number' --rescore "$T/want"
refused 4 'classes:1: no table of scores' --rescore "$T/a/classes"
for weights in 1 1:2:3 0:0 1:-1 1:x 1: 1:1@ 1:1@1234567; do
	refused 2 "fusion-weights=$weights: not weights of the 2 score files" \
		--rescore "$T/rgb.tsv" "$T/flow.tsv" --fusion-weights=$weights
done
refused 2 '--fusion does not apply to one score file \(wanted several score files, --fusion-fit\)' --rescore "$T/rgb.tsv" --fusion=logits
refused 2 '--fusion does not apply to a packed dataset \(wanted several score files, --fusion-fit\)' -k "$T/rgb" -i "$T/val" --fusion=logits
refused 2 '--fusion-weights does not apply to a packed dataset \(wanted several score files\)' -k "$T/rgb" -i "$T/val" --fusion-weights=1:1
refused 2 '--fusion-weights does not apply to --fusion-fit \(wanted several score files\)' --rescore "$T/rgb.tsv" "$T/flow.tsv" --fusion-fit --fusion-weights=1:1
refused 2 '--checkpoint does not apply to one score file \(wanted videos and streams, a packed dataset, --curve\)' --rescore "$T/rgb.tsv" -k "$T/rgb"
refused 2 '--clips does not apply to one score file' --rescore "$T/rgb.tsv" --clips=2
refused 2 '--precision does not apply to one score file' --rescore "$T/rgb.tsv" --precision=bf16
refused 2 'data with --rescore is for --sheet' --rescore "$T/rgb.tsv" --data="$T/val"
refused 2 'actions.tsv: its samples have sets of classes .--matrix is for one class each' --rescore "$T/actions.tsv" --matrix="$T/m.tsv"
if [ $cairo = yes ]; then
	refused 2 'sheet needs the frames of the samples' --rescore "$T/rgb.tsv" --sheet="$T/no.png"
	"$MAKESET" "$T/few" 9 8 40 32 6 classes=6
	refused 2 'rgb.tsv:[0-9]*: sample s00009 is not in .*few' --rescore "$T/rgb.tsv" --sheet="$T/no.png" --data="$T/few"
else
	skip "a sheet" "built without cairo"
fi
plan
