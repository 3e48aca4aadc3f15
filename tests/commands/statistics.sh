#!/bin/sh
# BN statistics in a run, aggregated over groups (--bn-running) or measured over
# many clips (--precise-bn): the same for every number of ranks and threads and
# after a kill, in validations and in checkpoints.
# tests/run: weight 22
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
# hashes FILE PREFIX: print the hashes of the tensors whose names begin with
# PREFIX.
hashes() {
	header "$1" |
		jq -r --arg p "$2" '.__metadata__["vt.tensors"] | fromjson | to_entries[] | select(.key | startswith($p))'
}

# alike WHAT DIR: check that two threads, two and three ranks, and resuming
# after steps 2 and 5 end like the run DIR, with the same $options.
alike() {
	check "$1: a run of two threads" train "$2-2t" env PATH="$(wrapper vt-train --threads=2)"
	check "$1: two threads give the same file" same "$2" "$2-2t"
	for n in 2 3; do
		if have_mpi; then
			check "$1: $n ranks" train "$2-$n" mpirun -np $n
			check "$1: $n ranks give the same file" same "$2" "$2-$n"
		else
			skip "$1: $n ranks" "no MPI"
		fi
	done
	check "$1: a run that keeps every checkpoint" train "$2-all" env PATH="$(wrapper vt-train --save-steps=1 --keep=20)"
	for step in 2 5; do
		mkdir "$T/$2-from$step"
		for k in $(seq $step); do cp "$T/$2-all/ckpt-000000000$k.safetensors" "$T/$2-from$step"; done
		check "$1: resumed after step $step" train "$2-from$step"
		check "$1: resuming after step $step gives the same file" same "$2" "$2-from$step"
	done
}

for device in ref cpu; do
	options="--device $device --precise-bn off"
	check "$device: a run without precise BN" train "$device-plain"
	options="--device $device --precise-bn 22"
	check "$device: a run with precise BN" train "$device"
	check_same "$device: precise BN changes no weight" \
		"$(hashes "$T/$device-plain/final.safetensors" model)" \
		"$(hashes "$T/$device/final.safetensors" model)"
	check "$device: precise BN changes the statistics" \
		[ "$(hashes "$T/$device-plain/final.safetensors" bn)" != \
		"$(hashes "$T/$device/final.safetensors" bn)" ]
	check "$device: a run with precise BN and one validation" train "$device-once" env PATH="$(wrapper vt-train --val-every=0)"
	check_same "$device: --val-every does not change the final statistics" \
		"$(hashes "$T/$device/final.safetensors" bn)" \
		"$(hashes "$T/$device-once/final.safetensors" bn)"
	alike "$device, precise" "$device"

	options="--device $device --precise-bn off --bn-running aggregate"
	check "$device: a run with aggregated statistics" train "$device-agg"
	check_same "$device: aggregation changes no weight" \
		"$(hashes "$T/$device-plain/final.safetensors" model)" \
		"$(hashes "$T/$device-agg/final.safetensors" model)"
	check_same "$device: aggregation changes no running mean" \
		"$(hashes "$T/$device-plain/final.safetensors" bn | grep -A1 -B1 mean)" \
		"$(hashes "$T/$device-agg/final.safetensors" bn | grep -A1 -B1 mean)"
	alike "$device, aggregated" "$device-agg"
done

# The checkpoint has the variance between groups of each of the 2 norms.
check "the between-group variances are in the checkpoint" [ "$(tail -c +9 "$T/ref-agg/final.safetensors" |
	head -c "$(od -An -tu8 -N8 "$T/ref-agg/final.safetensors" | tr -d ' ')" |
	jq -r 'keys[] | select(endswith(".running_between"))' | wc -l)" = 2 ]
check "vt-eval reads a checkpoint with between-group variances" \
	vt-eval -k "$T/ref-agg/final.safetensors" -i "$T/val" --device ref -q
options="--device ref --precise-bn off --bn-running aggregate"
cp -r "$T/ref-plain" "$T/later"
rm "$T/later/ckpt-0000000007.safetensors" "$T/later/final.safetensors"
check_exit "resuming with another --bn-running ends with 2" 2 train later
check_says "resuming with another --bn-running: the message shows both values and the way out" \
	'bn-running was mean and is aggregate now \(--override=bn-running'

check "the log has the seconds that precise BN took" \
	jq -se '[.[] | select(.type == "validation") | .precise_bn] |
	length == 3 and all(. > 0)' "$T/ref/log.jsonl"
best=$(jq -rs '[.[] | select(.type == "validation" and .best)] | last | .top1' "$T/ref/log.jsonl")
check_same "best.safetensors has the statistics of its validation" "$best" \
	"$(vt-eval -k "$T/ref/best.safetensors" -i "$T/val" --device ref -q --json | jq '.top1 // empty')"

# Without validations, statistics are measured at the end only.
check "a run without --val" vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/noval" --seed 7 -q \
	--mixup 0.4 --device ref --precise-bn 22
check_same "a run without --val has the statistics of the end" "$(hashes "$T/ref/final.safetensors" bn)" \
	"$(hashes "$T/noval/final.safetensors" bn)"
check_exit "-n with --precise-bn" 0 \
	vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --precise-bn 22
check "-n shows that 22 clips are 6 groups" grep -q '^# precise BN *6 groups of 4 clips, 4x20$' "$T/out"
loader() {
	vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref "$@" | grep '^# loader, validation'
}
check_same "the loader's memory covers precise BN if validation clips are smaller" \
	"$(loader)" "$(loader --val "$T/val" --val-frames 1 --val-crop 8)"
if have_mpi; then
	options="--device ref --precise-bn 8"
	check_exit "--precise-bn with fewer groups than ranks ends with 2" 2 train few mpirun -np 3
	check_says "--precise-bn with fewer groups than ranks: the message shows groups and ranks" \
		'precise-bn=8 makes 2 groups of 4 clips, too few for 3 ranks'
fi
options="--device ref --precise-bn 8"
check_message "resuming with another --precise-bn ends with 2" 2 'precise-bn was 22 and is 8' train ref

# ---- the default measurement ----

# --precise-bn=auto, the default, measures 32 clips of a set of 40 samples, in 8
# groups of 4, like --precise-bn=32.
options="--device ref"
check "a run with the default of --precise-bn" train auto
options="--device ref --precise-bn 32"
check "a run with --precise-bn=32" train by-number
check_same "the default and --precise-bn=32 give the same statistics" \
	"$(hashes "$T/by-number/final.safetensors" bn)" \
	"$(hashes "$T/auto/final.safetensors" bn)"
options="--device ref"
alike "by default" auto
options="--device ref --bn-running aggregate"
check "a run with aggregated statistics and the default of --precise-bn" train auto-agg
check_same "measured variances include the between-group part" "$(hashes "$T/auto/final.safetensors" bn)" \
	"$(hashes "$T/auto-agg/final.safetensors" bn | jq 'select(.key | endswith("between") | not)')"

# With weights that change fast, validate every other step, over 16 clips. The
# reference measures all training clips, twice each.
small_net 8 8 >"$T/fast.net"
stages '0 0 2 0 8 2 16 4 0.3 0 0' >"$T/fast.tsv"
for rule in off auto 80; do
	check "a large learning rate, --precise-bn=$rule" vt-train -i "$T/train" --val "$T/val" -m "$T/fast.net" \
		--schedule "$T/fast.tsv" -o "$T/fast-$rule" --seed 7 -q --device ref --optimizer adamw --val-every 0.2 \
		--precise-bn $rule
	jq -r 'select(.type == "validation") | .loss' "$T/fast-$rule/log.jsonl" >"$T/fast-$rule.loss"
done
# worst RULE: print the largest ratio of its losses to those of the reference.
worst() {
	paste "$T/fast-$1.loss" "$T/fast-80.loss" | awk '$1 / $2 > worst { worst = $1 / $2 } END { print worst }'
}
off=$(worst off) auto=$(worst auto)
diag "losses against those of the reference: $off times without, $auto times by default"
check "running averages lag behind: a loss is at least five times too large" test "${off%.*}" -ge 5
check "measured statistics do not lag: no loss is twice as large" test "${auto%.*}" -lt 2

# Frozen norms are not measured. If all are frozen, -n shows no measurement.
dry="vt-train -n -i $T/train -m $T/net.net --schedule $T/s.tsv --device ref"
check "-n prints the default measurement" sh -c "$dry | grep '^# precise BN *8 groups of 4 clips, 4x20$'"
check "-n shows no measurement if all norms are frozen" sh -c "! $dry --freeze backbone | grep 'precise BN'"
options="--device ref --freeze partial-bn"
check "a run with partial-bn and precise BN" train partial
options="--device ref --freeze partial-bn --precise-bn off"
check "a run with partial-bn without precise BN" train partial-off
check_same "precise BN does not change frozen norms" "$(hashes "$T/partial-off/final.safetensors" bn/bn2)" \
	"$(hashes "$T/partial/final.safetensors" bn/bn2)"
check "precise BN measures the norm that is not frozen" \
	[ "$(hashes "$T/partial-off/final.safetensors" bn/bn1)" != \
	"$(hashes "$T/partial/final.safetensors" bn/bn1)" ]

# The moving average of the weights is validated and saved with its own
# statistics.
options="--device ref --ema 0.9 --use-ema"
check "a run with a moving average and precise BN" train ema
options="--device ref --ema 0.9 --use-ema --precise-bn off"
check "a run with a moving average without precise BN" train ema-off
check_same "precise BN does not change the moving average" "$(hashes "$T/ema-off/final.safetensors" ema/conv)" \
	"$(hashes "$T/ema/final.safetensors" ema/conv)"
check "the moving average has measured statistics" \
	[ "$(hashes "$T/ema-off/final.safetensors" ema/bn1.running_mean)" != \
	"$(hashes "$T/ema/final.safetensors" ema/bn1.running_mean)" ]

check_message "--precise-bn with a word that is not a choice ends with 2" 2 \
	'precise-bn=some \(wanted auto, off, or a number of clips' \
	vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --precise-bn some

# A run with --precise-bn=off has 0 in its checkpoint.
options="--device ref --precise-bn off"
check "a run with --precise-bn=off that keeps every checkpoint" train before env PATH="$(wrapper vt-train --save-steps=1 --keep=20)"
rm "$T/before/final.safetensors" "$T"/before/ckpt-000000000[5-9].safetensors
check "a run with --precise-bn=off resumes" train before
check "a resumed run with --precise-bn=off ends with the file of an undisturbed one" same before ref-plain
check "the config of a run with --precise-bn=off has precise-bn = 0" \
	grep -qx 'precise-bn = 0' "$T/before/config"
rm "$T/before/final.safetensors" "$T"/before/ckpt-000000000[6-9].safetensors
options="--device ref"
check_exit "a run with --precise-bn=off does not resume without the option" 2 train before
check_says "the message shows both values of precise-bn and --override" \
	'precise-bn was 0 and is auto now \(--override=precise-bn'
if have_mpi; then
	options="--device ref --precise-bn off"
	check "a run with --precise-bn=off resumes on two ranks" train before mpirun -np 2
	check "a run with --precise-bn=off ends with the same file on two ranks" same before ref-plain
fi

# The shape of validations may change when a run is resumed, because no
# statistic depends on it.
for rule in 'auto auto' '32 by-number'; do
	set -- $rule
	options="--device ref --precise-bn $1 --val-frames 2 --val-crop 16"
	check "--precise-bn=$1: a finished run accepts another shape of validation" train "$2"
	check "--precise-bn=$1: a run with that shape from the start" train "$2-shape"
	check_same "--precise-bn=$1: the shape of validations does not change the statistics" \
		"$(hashes "$T/$2/final.safetensors" bn)" \
		"$(hashes "$T/$2-shape/final.safetensors" bn)"
done
options="--device ref --val-frames 2 --val-crop 16 --precise-bn off"
check "--precise-bn=off: a finished run accepts another shape of validation" train ref-plain

# ---- interleaved groups, and parameters that do not decay, in every stage ----

stages '0 0 1 0 16 2 16 4/8 0.02 0 0' '0 0 1 1 8 2 16 2/4 0.02 0 0' '1 1 2 0 24 4 20 3/12 0.02 0 0' >"$T/mixed.tsv"
mixed() {
	dir=$1
	shift
	"$@" vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/mixed.tsv" -o "$T/$dir" --seed 7 -q --device ref -j 1 \
		--trace-samples "$T/$dir.trace"
}
check "a run with interleaved groups" mixed mixed
# Clip i of each run of m clips is in group i mod (m / n).
check_same "interleaved groups contain the clips of their rule" \
	"0 2 4 6 1 3 5 7 8 10 12 14 9 11 13 15 0 2 1 3 4 6 5 7" \
	"$(awk -F '\t' '$1 == 0 { print $2 } $1 == 1 { print $2 - 16 }' "$T/mixed.trace" | xargs)"
for n in 2 3; do
	if have_mpi; then
		check "interleaved groups on $n ranks" mixed "mixed-$n" mpirun -np $n
		check "interleaved groups on $n ranks give the same file" same mixed "mixed-$n"
	else
		skip "interleaved groups on $n ranks" "no MPI"
	fi
done

# Resume from the same checkpoint with weight decay: convolutions change, gamma
# and beta do not, in the first stage and in the second.
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
			check "step $step: convolutions decay" [ "$one" != "$two" ]
		fi
	done
done

plan
