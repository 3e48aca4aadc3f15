#!/bin/sh
# Statistics of batch normalisation in a run, aggregated over groups and measured
# over a population: the same for every number of ranks and threads and after a
# kill; in what is validated and saved.
# tests/run: weight 40
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
stages '0 0 1 0 24 2 16 4 0.02 0 0' '1 1 3 0 16 4 20 4 0.02 0 0' >"$T/s.tsv"
train() {
	dir=$1
	shift
	"$@" vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --seed 7 -q \
		--mixup 0.4 $options
}
same() {
	cmp -s "$T/$1/final.safetensors" "$T/$2/final.safetensors"
}
# hashes FILE PREFIX: of the tensors whose name begins so
hashes() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" |
		jq -r --arg p "$2" '.__metadata__["vt.tensors"] | fromjson | to_entries[] | select(.key | startswith($p))'
}

# alike WHAT DIR: two threads, two and three ranks, and a run that was killed after
# steps 2 and 5, end like the run DIR, with the same $options
alike() {
	check "$1: a run of two threads" train "$2-2t" env VT_THREADS=2
	check "$1: is the same" same "$2" "$2-2t"
	for n in 2 3; do
		if have_mpi; then
			check "$1: $n ranks" train "$2-$n" mpirun -np $n
			check "$1: are the same" same "$2" "$2-$n"
		else
			skip "$1: $n ranks" "no MPI"
		fi
	done
	check "$1: a run that keeps every step" train "$2-all" env VT_SAVE_STEPS=1 VT_KEEP=20
	for step in 2 5; do
		mkdir "$T/$2-from$step"
		for k in $(seq $step); do cp "$T/$2-all/ckpt-000000000$k.safetensors" "$T/$2-from$step"; done
		check "$1: resumed after step $step" train "$2-from$step"
		check "$1: it is the same" same "$2" "$2-from$step"
	done
}

for device in ref cpu; do
	options="--device $device --precise-bn off"
	check "$device: a run without" train "$device-plain"
	options="--device $device --precise-bn 22"
	check "$device: a run" train "$device"
	check_same "has the same weights" "$(hashes "$T/$device-plain/final.safetensors" model)" \
		"$(hashes "$T/$device/final.safetensors" model)"
	check "and other statistics" [ "$(hashes "$T/$device-plain/final.safetensors" bn)" != \
		"$(hashes "$T/$device/final.safetensors" bn)" ]
	check "which --val-every does not change" train "$device-once" env VT_VAL_EVERY=0
	check_same "at the end" "$(hashes "$T/$device/final.safetensors" bn)" \
		"$(hashes "$T/$device-once/final.safetensors" bn)"
	alike "$device, precise" "$device"

	options="--device $device --precise-bn off --bn-running aggregate"
	check "$device: aggregated" train "$device-agg"
	check_same "the same weights" "$(hashes "$T/$device-plain/final.safetensors" model)" \
		"$(hashes "$T/$device-agg/final.safetensors" model)"
	check_same "the same means" "$(hashes "$T/$device-plain/final.safetensors" bn | grep -A1 -B1 mean)" \
		"$(hashes "$T/$device-agg/final.safetensors" bn | grep -A1 -B1 mean)"
	alike "$device, aggregated" "$device-agg"
done

# variances FILE: the running variances, with what lies between groups
check "what lies between groups is in the checkpoint" [ "$(tail -c +9 "$T/ref-agg/final.safetensors" |
	head -c "$(od -An -tu8 -N8 "$T/ref-agg/final.safetensors" | tr -d ' ')" |
	jq -r 'keys[] | select(endswith(".running_between"))' | wc -l)" = 2 ]
check "vt-eval reads it" vt-eval -k "$T/ref-agg/final.safetensors" -i "$T/val" --device ref -q
options="--device ref --precise-bn off --bn-running aggregate"
cp -r "$T/ref-plain" "$T/later"
rm "$T/later/ckpt-0000000007.safetensors" "$T/later/final.safetensors"
check_exit "a run that was not aggregated is refused" 2 train later
check_says "with a way out" 'bn-running was mean and is aggregate now \(--override=bn-running'

check "the log says what measuring took" jq -se '[.[] | select(.type == "validation") | .precise_bn] |
	length == 3 and all(. > 0)' "$T/ref/log.jsonl"
best=$(jq -rs '[.[] | select(.type == "validation" and .best)] | last | .top1' "$T/ref/log.jsonl")
check_same "best.safetensors has the statistics that it was the best with" "$best" \
	"$(vt-eval -k "$T/ref/best.safetensors" -i "$T/val" --device ref -q --json | jq '.top1 // empty')"

# Without a validation they are measured at the end.
check "a run without --val" vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/noval" --seed 7 -q \
	--mixup 0.4 --device ref --precise-bn 22
check_same "has those of the end, too" "$(hashes "$T/ref/final.safetensors" bn)" \
	"$(hashes "$T/noval/final.safetensors" bn)"
check_exit "-n" 0 vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --precise-bn 22
check "says what is measured: 22 clips are 6 groups" grep -q '^# precise BN *6 groups of 4 clips, 4x20$' "$T/out"
loader() {
	vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref "$@" | grep '^# loader, validation'
}
check_same "its clips take the same memory before a validation of smaller ones" \
	"$(loader)" "$(loader --val "$T/val" --val-frames 1 --val-crop 8)"
if have_mpi; then
	options="--device ref --precise-bn 8"
	check_exit "groups that are too few for the ranks" 2 train few mpirun -np 3
	check_says "are refused" 'precise-bn=8 makes 2 groups of 4 clips, too few for 3 ranks'
fi
options="--device ref --precise-bn 8"
check_exit "another number of clips is another run" 2 train ref
check_says "and the message says so" 'precise-bn was 22 and is 8'

# ---- the default measurement ----

# The default measures 32 clips of a set of 40 samples, in 8 groups of 4, like
# --precise-bn=32.
options="--device ref"
check "a run with the default value" train auto
options="--device ref --precise-bn 32"
check "and with as many clips by number" train by-number
check_same "have the same statistics" "$(hashes "$T/by-number/final.safetensors" bn)" \
	"$(hashes "$T/auto/final.safetensors" bn)"
options="--device ref"
alike "by default" auto
options="--device ref --bn-running aggregate"
check "aggregated, by default" train auto-agg
check_same "measured variances include the between-group part" "$(hashes "$T/auto/final.safetensors" bn)" \
	"$(hashes "$T/auto-agg/final.safetensors" bn | jq 'select(.key | endswith("between") | not)')"

# Weights that change fast: validate every other step, over 16 clips.  The reference
# has the statistics of all training clips, twice each.
small_net 8 8 >"$T/fast.net"
stages '0 0 2 0 8 2 16 4 0.3 0 0' >"$T/fast.tsv"
for rule in off auto 80; do
	check "a large learning rate, --precise-bn=$rule" vt-train -i "$T/train" --val "$T/val" -m "$T/fast.net" \
		--schedule "$T/fast.tsv" -o "$T/fast-$rule" --seed 7 -q --device ref --optimizer adamw --val-every 0.2 \
		--precise-bn $rule
	jq -r 'select(.type == "validation") | .loss' "$T/fast-$rule/log.jsonl" >"$T/fast-$rule.loss"
done
# worst RULE: print the largest ratio of its losses to those of the reference
worst() {
	paste "$T/fast-$1.loss" "$T/fast-80.loss" | awk '$1 / $2 > worst { worst = $1 / $2 } END { print worst }'
}
off=$(worst off) auto=$(worst auto)
diag "losses against those of the reference: $off times without, $auto times by default"
check "running averages lag behind: some loss is five times too large" test "${off%.*}" -ge 5
check "measured statistics do not: no loss is twice as large" test "${auto%.*}" -lt 2

# Frozen norms are not measured; if all are frozen, no measurement is planned.
dry="vt-train -n -i $T/train -m $T/net.net --schedule $T/s.tsv --device ref"
check "-n prints the default measurement" sh -c "$dry | grep '^# precise BN *8 groups of 4 clips, 4x20$'"
check "and nothing with all normalizations frozen" sh -c "! $dry --freeze backbone | grep 'precise BN'"
options="--device ref --freeze partial-bn"
check "a run that measures only the first normalization" train partial
options="--device ref --freeze partial-bn --precise-bn off"
check "and not measured" train partial-off
check_same "leaves the frozen ones as they began" "$(hashes "$T/partial-off/final.safetensors" bn/bn2)" \
	"$(hashes "$T/partial/final.safetensors" bn/bn2)"
check "and measures the first" [ "$(hashes "$T/partial-off/final.safetensors" bn/bn1)" != \
	"$(hashes "$T/partial/final.safetensors" bn/bn1)" ]

# The average of the weights is validated and saved with its own statistics.
options="--device ref --ema 0.9 --use-ema"
check "an average of the weights" train ema
options="--device ref --ema 0.9 --use-ema --precise-bn off"
check "the same with running averages" train ema-off
check_same "has the same weights" "$(hashes "$T/ema-off/final.safetensors" ema/conv)" \
	"$(hashes "$T/ema/final.safetensors" ema/conv)"
check "and statistics that were measured" [ "$(hashes "$T/ema-off/final.safetensors" ema/bn1.running_mean)" != \
	"$(hashes "$T/ema/final.safetensors" ema/bn1.running_mean)" ]

check_exit "a value that is not a number of clips is refused" 2 vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
	--precise-bn some
check_says "with what is wanted" 'precise-bn=some \(wanted auto, off, or a number of clips'

# A run that began without measuring resumes without it; its checkpoint has 0.
options="--device ref --precise-bn off"
check "a run that keeps every step" train before env VT_SAVE_STEPS=1 VT_KEEP=20
options="--device ref"
rm "$T/before/final.safetensors" "$T"/before/ckpt-000000000[5-9].safetensors
check "a run with --precise-bn=off resumes without the option" train before
check "ends as it would have" same before ref-plain
check "and its settings say so" grep -qx 'precise-bn = 0' "$T/before/config"
rm "$T/before/final.safetensors" "$T"/before/ckpt-000000000[6-9].safetensors
options="--device ref --precise-bn auto"
check_exit "but not with another rule" 2 train before
check_says "which is printed" 'precise-bn was 0 and is auto now \(--override=precise-bn'
if have_mpi; then
	options="--device ref"
	check "on two ranks" train before mpirun -np 2
	check "it ends as it would have" same before ref-plain
fi

# The shape of a validation may change when a run is resumed: no statistic depends on it.
for rule in 'auto auto' '32 by-number'; do
	set -- $rule
	options="--device ref --precise-bn $1 --val-frames 2 --val-crop 16"
	check "--precise-bn=$1: a finished run takes another shape of validation" train "$2"
	check "one that begins with it" train "$2-shape"
	check_same "has the same statistics" "$(hashes "$T/$2/final.safetensors" bn)" \
		"$(hashes "$T/$2-shape/final.safetensors" bn)"
done
options="--device ref --val-frames 2 --val-crop 16 --precise-bn off"
check "and where nothing is measured" train ref-plain

# ---- groups that interleave, and parameters that do not decay, in every stage ----

stages '0 0 1 0 16 2 16 4/8 0.02 0 0' '0 0 1 1 8 2 16 2/4 0.02 0 0' '1 1 2 0 24 4 20 3/12 0.02 0 0' >"$T/mixed.tsv"
mixed() {
	dir=$1
	shift
	"$@" vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/mixed.tsv" -o "$T/$dir" --seed 7 -q --device ref -j 1 \
		--trace-samples "$T/$dir.trace"
}
check "groups that interleave" mixed mixed
# Groups of a step: clip i of each run of m is in group i mod (m / n).
check_same "are of the clips they should be" "0 2 4 6 1 3 5 7 8 10 12 14 9 11 13 15 0 2 1 3 4 6 5 7" \
	"$(awk -F '\t' '$1 == 0 { print $2 } $1 == 1 { print $2 - 16 }' "$T/mixed.trace" | xargs)"
for n in 2 3; do
	if have_mpi; then
		check "on $n ranks" mixed "mixed-$n" mpirun -np $n
		check "they are the same" same mixed "mixed-$n"
	else
		skip "on $n ranks" "no MPI"
	fi
done

# A step from the same checkpoint with a weight decay moves convolutions, not
# gamma and beta: in the first stage and in the second.
options="--device ref --save-steps 1 --keep 20 --weight-decay 0"
check "a run without weight decay" train light
options="--device ref --save-steps 1 --keep 20 --weight-decay 0.5 --override weight-decay"
for step in 1 4; do
	mkdir "$T/heavy$step"
	for k in $(seq $step); do cp "$T/light/ckpt-000000000$k.safetensors" "$T/heavy$step"; done
	train "heavy$step" >/dev/null 2>&1
	for name in model/bn model/conv; do
		one=$(hashes "$T/light/ckpt-000000000$((step + 1)).safetensors" $name)
		two=$(hashes "$T/heavy$step/ckpt-000000000$((step + 1)).safetensors" $name)
		if [ $name = model/bn ]; then
			check_same "step $step: gamma and beta do not decay" "$one" "$two"
		else
			check "step $step: weights do" [ "$one" != "$two" ]
		fi
	done
done

plan
