#!/bin/sh
# The files of version 0.2.0 are still read, with the same result: dataset,
# stream, schedules, scores, and stopped runs, which end with the same tensors.
# tests/tools/makefixtures made tests/golden/v0.2.0 with commit 72104f0.
#
# With VT_ISA=base, ref computes the same bits on all processors, so its tensors
# are compared by hashes. The bits of cpu depend on the processor and on oneDNN,
# so its weights are compared within a tolerance.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
tree=$PWD
cp -r tests/golden/v0.2.0 "$T/kept" && cd "$T/kept" || exit 2

# ---- data ----

for set in set packed; do
	check "$set: its shards are intact" vt-pack --verify=full -i $set
done
check_exit "the stream of 0.2.0 is packed" 0 vt-pack -q -o again stream.tar
check_same "the packed stream has the same shards" "$(cat packed/SHARDS.xxh128)" "$(cat again/SHARDS.xxh128)"
check_same "the packed stream has the same classes" "$(cat packed/classes.txt)" "$(cat again/classes.txt)"
check_same "the packed stream lists the same 2 samples" "2 $(vt-pack --list -i again)" \
	"$(vt-pack --list -i packed | grep -vc '^#') $(vt-pack --list -i packed)"

# ---- schedules ----

while read -r name options; do
	check_same "$name: its schedule is read" "$(grep -v '^# ' "$name.tsv")" "$(vt-schedule "$name.tsv")"
	# shellcheck disable=SC2086
	check_same "$name: the same rule makes the same schedule" "$(cat "$name.tsv")" "$(vt-schedule $options)"
done <schedules.txt

# ---- runs ----

VT_ISA=base
export VT_ISA
# tensors FILE: print name and hash of each tensor, from the header's metadata.
tensors() {
	header "$1" | jq -r '.__metadata__["vt.tensors"] | fromjson | to_entries[] | "\(.key)\t\(.value)"'
}
# resume NAME OPTION...: resume the run NAME from its checkpoint to its end.
resume() {
	name=$1
	step=$(sed 's/ckpt-0*//; s/\..*//' "$1/latest")
	shift
	check_exit "$name: its run is resumed" 0 vt-train -c "$name.conf" "$@"
	check_same "$name: it resumes at the step where it was stopped" "$step" \
		"$(jq 'select(.type == "start") | .step' "$name/log.jsonl" | tail -1)"
}
for name in adamw lars learners bf16 fp16 multigrid; do
	resume $name
	check_same "$name: it ends with the tensors of the run that was not stopped" "$(cat "$name.tensors")" \
		"$(tensors "$name/final.safetensors")"
done
check_same "fp16: the loss scale was lowered before the stop" "16384 16384" \
	"$(jq -r 'select(.type == "step") | .loss_scale' fp16/log.jsonl | sed -n '2p;$p' | xargs)"

# ---- removed options ----

# The settings of all runs above have these options, with their defaults.
# reseal FILE: correct the footer of a checkpoint that was changed
reseal() {
	at=$(($(wc -c <"$1") - 48))
	sum=$(head -c -64 "$1" | xxh128sum | cut -c 1-32 | sed 's/../\\x&/g')
	# shellcheck disable=SC2059
	env printf "$sum" | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
}
# An option without a default is a comment; checkpoints do not have those below.
while read -r option default; do
	is="$option = $default" value=2 wanted=$default
	[ -n "$default" ] || is="# $option = " value=/d wanted='""'
	rm -rf removed
	cp -r "$tree/tests/golden/v0.2.0/lars" removed
	sed -i "s|^$is\$|$option = $value|" removed/config
	check_exit "$option: a replay of a run with another value ends with 2" 2 vt-train --replay=removed
	check_says "$option: the message of the replay names it" \
		"removed/config:[0-9]*: $option = $value: this version does not have the option .wanted $wanted, its default"
	[ -n "$default" ] || continue
	if ! command -v xxh128sum >/dev/null; then
		skip "$option: a run with another value is not resumed" "no xxh128sum"
		continue
	fi
	for checkpoint in removed/ckpt-*; do
		LC_ALL=C sed -i "s/\\\\n$option = $default\\\\n/\\\\n$option = 2\\\\n/" "$checkpoint"
		reseal "$checkpoint"
	done
	check_exit "$option: a run with another value is not resumed" 2 vt-train -c lars.conf --output=removed
	check_says "$option: the message names it" \
		"ckpt-.*: $option was 2, and this version does not have the option .wanted $default, its default"
done <<'OPTIONS'
learner-groups 0
group-every 1
outer-momentum 0
outer-lr 1
stage
stage-command
OPTIONS
rm -rf removed
cp -r "$tree/tests/golden/v0.2.0/lars" removed
check_exit "a run with the defaults of removed options is replayed" 0 vt-train --replay=removed
mv set copied
check_exit "a replay takes the place of a copy of its dataset" 0 vt-train --replay=removed -i copied
mv copied set

# ---- cpu ----

# weights FILE: print the parameters and BN statistics, without the footer and
# the optimizer state.
weights() {
	"$BUILD/tests/tools/weightdump" "$1" "$T/values" | awk -F '\t' '{
		n = split($3, dim, "x"); count = 1
		for (i = 1; i <= n; i++) count *= dim[i]
		for (i = 0; i < count; i++) print $1 }' >"$T/names"
	od -An -v -tf4 -w4 "$T/values" | paste "$T/names" - | grep -E '^(model|bn)/'
}
# distance FILE FILE: print the relative L2 distance of their weights.
distance() {
	weights "$1" >"$T/first"
	weights "$2" | paste "$T/first" - | awk '{ d += ($2 - $4) ^ 2; n += $2 ^ 2 } END { printf "%.3g\n", sqrt(d / n) }'
}
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'
}
# On the processor that made the run, the distance is 0.
if VT_ISA=avx2 vt-train --version -v | grep -q '^processor: avx2' && built oneDNN; then
	VT_ISA=avx2
	resume cpu --override=library
	check "cpu: the weights differ by less than 0.0015 from those of the run that was not stopped" \
		less "$(distance cpu.safetensors cpu/final.safetensors)" 0.0015
	rm -rf cpu
	cp -r "$tree/tests/golden/v0.2.0/cpu" .
	resume cpu --override=library --momentum=0.8 --override=momentum
	check "cpu: with another momentum, the weights differ by more than 0.0015" \
		less 0.0015 "$(distance cpu.safetensors cpu/final.safetensors)"
else
	skip "cpu: its run is resumed" "no AVX2 here"
fi

# ---- scores ----

VT_ISA=base
check_exit "the checkpoint of 0.2.0 scores the dataset" 0 \
	vt-eval -q -k final.safetensors -i set --device=ref --scores=scores.new -o results.new
check_same "vt-eval prints the results of 0.2.0" "$(cat scores.tsv)" "$(sed '/^#summary/!s/\(	[^	]*\)\{3\}$//' results.new)"
check_same "vt-eval writes the scores of 0.2.0" "$(grep -v '^# ' scores.all)" "$(sed '1d; 2s/^/#/; s/\(	[^	]*\)\{3\}$//' scores.new)"
check_exit "vt-eval reads the scores of 0.2.0" 0 vt-eval --rescore=scores.all -o rescored
check_same "they give the results of 0.2.0" "$(cat scores.tsv)" "$(sed '/^#summary/!s/\(	[^	]*\)\{3\}$//' rescored)"
plan
