#!/bin/sh
# What version 0.2.0 wrote is still read, and gives the same result: its dataset,
# stream, schedules and scores, and its runs that were stopped half-way, which end with
# the same tensors.  tests/tools/makefixtures made tests/golden/v0.2.0.
#
# ref has the same bits on all processors with VT_ISA=base, so its tensors are compared
# by their hashes.  The bits of cpu depend on the processor and on oneDNN, so its weights
# are compared within a tolerance.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
tree=$PWD
cp -r tests/golden/v0.2.0 "$T/kept" && cd "$T/kept" || exit 2

# ---- data ----

for set in set packed; do
	check "$set: its shards are intact" vt-pack --verify=full -i $set
done
check_exit "its stream is packed" 0 vt-pack -q -o again stream.tar
check_same "into the same samples" "$(cat packed/SHARDS.xxh128)" "$(cat again/SHARDS.xxh128)"
check_same "of the same classes" "$(cat packed/classes.txt)" "$(cat again/classes.txt)"
check_same "its samples are listed" "2 $(vt-pack --list -i again)" \
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
# tensors FILE: name and hash of each tensor, from the header's metadata
tensors() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" |
		jq -r '.__metadata__["vt.tensors"] | fromjson | to_entries[] | "\(.key)\t\(.value)"'
}
# resume NAME OPTION...: from its checkpoint to its end
resume() {
	name=$1
	step=$(sed 's/ckpt-0*//; s/\..*//' "$1/latest")
	shift
	check_exit "$name: its run is resumed" 0 vt-train -c "$name.conf" "$@"
	check_same "at the step where it was stopped" "$step" \
		"$(jq 'select(.type == "start") | .step' "$name/log.jsonl" | tail -1)"
}
for name in adamw lars learners bf16 fp16 multigrid; do
	resume $name
	check_same "and ends with the tensors of the run that was not stopped" "$(cat "$name.tensors")" \
		"$(tensors "$name/final.safetensors")"
done
check_same "fp16: the loss scale was lowered before the stop" "16384 16384" \
	"$(jq -r 'select(.type == "step") | .loss_scale' fp16/log.jsonl | sed -n '2p;$p' | xargs)"

# ---- cpu ----

# weights FILE: the parameters and statistics, less the footer and optimizer state
weights() {
	"$BUILD/tests/tools/weightdump" "$1" "$T/values" | awk -F '\t' '{
		n = split($3, dim, "x"); count = 1
		for (i = 1; i <= n; i++) count *= dim[i]
		for (i = 0; i < count; i++) print $1 }' >"$T/names"
	od -An -v -tf4 -w4 "$T/values" | paste "$T/names" - | grep -E '^(model|bn)/'
}
# distance FILE FILE: of their weights, relative to the norm of the first
distance() {
	weights "$1" >"$T/first"
	weights "$2" | paste "$T/first" - | awk '{ d += ($2 - $4) ^ 2; n += $2 ^ 2 } END { printf "%.3g\n", sqrt(d / n) }'
}
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'
}
# Rounding as fp32 does, with AVX2, instead of bf16 changes them by 0.0008.
if VT_ISA=avx512 vt-train --version -v | grep -q '^processor: avx512' && built oneDNN; then
	VT_ISA=avx512
	resume cpu --override=isa --override=library --override=precision
	check "its weights differ by less than 0.0015 from those of the run that was not stopped" \
		less "$(distance cpu.safetensors cpu/final.safetensors)" 0.0015
	rm -rf cpu
	cp -r "$tree/tests/golden/v0.2.0/cpu" .
	resume cpu --override=isa --override=library --override=precision --momentum=0.8 --override=momentum
	check "with another momentum, they differ by more" \
		less 0.0015 "$(distance cpu.safetensors cpu/final.safetensors)"
else
	skip "cpu: its run is resumed" "no AVX-512 here"
fi

# ---- scores ----

VT_ISA=base
check_exit "its checkpoint scores the dataset" 0 \
	vt-eval -q -k final.safetensors -i set --device=ref --scores=scores.new -o results.new
check_same "with the same results" "$(cat scores.tsv)" "$(cat results.new)"
check_same "and the same scores of all classes" "$(cat scores.all)" "$(cat scores.new)"
plan
