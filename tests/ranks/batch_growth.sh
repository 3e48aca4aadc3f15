#!/bin/sh
# The batch of training without learners grows with the noise between its
# microbatches, and trains like a schedule with the same batches. The log shows
# estimate and growth. The bits are the same for every number of ranks and of
# threads, and after every stop.
# tests/run: weight 30
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/more" 96 8 40 32 1 &&
	"$MAKESET" "$T/two" 96 8 40 32 1 classes=2 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 4 steps of 6 microbatches an epoch.
stages '0 0 9 0 12 2 16 2 0.02 0 0' >"$T/s.tsv"
stages '0 0 8 0 48 2 16 8 0.1 0 0' >"$T/more.tsv"
stages '0 0 1 0 24 2 16 2 0.02 0 0' '1 1 9 0 48 2 16 2 0.02 0 0' >"$T/table.tsv"
stages '0 0 9 0 24 2 16 2 0.02 0 0' >"$T/half.tsv"
stages '0 0 1 0 12 2 16 12 0.02 0 0' >"$T/whole.tsv"
# Weights that stay the same to rounding, in batches of 6 microbatches and of 1.
stages '0 0 1 0 12 2 16 2 1e-30 0 0' >"$T/rest.tsv"
stages '0 0 1 0 2 2 16 2 1e-30 0 0' >"$T/single.tsv"

# train DIR [OPTION]...: train on $np ranks, on set $set by schedule $schedule.
set=train schedule=s device=ref
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/$set" -m "$T/net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --device $device --seed 7 -j 1 \
		--precise-bn off --log-every 1 "$@"
}
# steps DIR: print step, factor and noise scale (-: unknown) of each step that
# made an update.
steps() {
	jq -r 'select(.type == "step" and .grad_norm > 0) | [.step, .batch_growth, .noise_scale // "-"] | @tsv' "$T/$1/log.jsonl"
}
# meta DIR NAME: print a value of its last checkpoint.
meta() {
	head -c 20000 "$T/$1/final.safetensors" | tr -d '\0' | grep -ao "\"$2\": *\"[^\"]*\"" | cut -d'"' -f4
}

# ---- the grown batch ----

# With threshold 0 the batch doubles after 2 updates, then after 2 of that batch.
always="--batch-growth-max 4 --batch-growth-threshold 0 --batch-growth-patience 2"
# shellcheck disable=SC2086
check_message "a batch that grows with any noise" 0 "step 2: the batch is 2 times that of the schedule" train any $always
check_says "a message announces the second growth" "step 6: the batch is 4 times that of the schedule"
check_same "the batch grows no further than --batch-growth-max" "1 1
2 1
4 2
6 2
10 4
14 4
18 4
22 4
26 4
30 4
34 4
36 4" "$(steps any | cut -f1,2 | tr '\t' ' ')"
check_same "the checkpoint has the factor" 4 "$(meta any vt.grown)"
check "the checkpoint has the estimates" test -n "$(meta any vt.noise_trace)" -a -n "$(meta any vt.noise_gradient)"
schedule=half
check "a batch that doubles after the first epoch" train twice --batch-growth-max 2 --batch-growth-threshold 0 --batch-growth-patience 2
check "plain training with a constant batch" train still
schedule=table
check "plain training by a schedule with the same batches" train table
schedule=s
check_same "it has a step of each batch" "1 1,2 1,4 2,6 2" "$(steps twice | cut -f1,2 | tr '\t' ' ' | head -4 | paste -sd,)"
near=$(weights_apart twice table)
far=$(weights_apart twice still)
check "a grown batch trains as a schedule with the same batches, to rounding: $near" is_below "$near" 3e-5
check "a grown batch trains other weights than a constant batch: $far" is_below 1e-3 "$far"
check "a batch that grows by a factor of 3, up to 5 times" \
	train threes --batch-growth-max 5 --batch-growth-factor 3 --batch-growth-threshold 0 --batch-growth-patience 1
check_same "the batch grows to 3 times, then 5, and the last update takes the rest" \
	"1 4 9 14 19 24 29 34 36" "$(steps threes | cut -f1 | xargs)"

# ---- the estimate ----

# The learning rate is so small that weights do not change. Batches of one
# microbatch log the norm of each; the formulas and the moving average of
# grown_batch.h then give what larger batches of the same clips log.
set=two schedule=rest
check "batches of six microbatches, then of twelve" train rest --batch-growth-max 2 --batch-growth-threshold 0 --batch-growth-patience 3
schedule=single
check "batches of one microbatch" train single
set=train schedule=s
jq -r 'select(.type == "step") | .grad_norm' "$T/single/log.jsonl" >"$T/norms"
jq -r 'select(.type == "step" and .grad_norm > 0) | [.step, .grad_norm, .noise_scale // "-"] | @tsv' "$T/rest/log.jsonl" |
	awk 'NR == FNR { square[FNR] = $1 * $1; next }
		{ sum = 0; n = 6 * ($1 - last); for (i = 6 * last + 1; i <= 6 * $1; i++) sum += square[i]; last = $1
		mean = $2 * $2; apart = (sum - n * mean) / (n - 1); now = mean - apart / n; keep = FNR > 1 ? 0.95 : 0
		trace = keep * trace + (1 - keep) * 2 * apart; gradient = keep * gradient + (1 - keep) * now
		d = gradient > 0 && $3 != "-" ? trace / gradient / $3 - 1 : gradient > 0 || $3 != "-"
		if (d < 0) d = -d; if (d > most) most = d; known += $3 != "-" }
		END { print known, FNR, most + 0 }' "$T/norms" - >"$T/formula"
read -r known updates most <"$T/formula"
check_same "the run has 3 updates of a step, 2 of two and the rest" "6" "$updates"
check "an update logs a noise scale ($known of 6)" test "$known" -ge 1
check "the noise scale is that of the formulas: $most apart" is_below "$most" 1e-3

# wanted X N MOST: read STEPS on standard input and print the factors that
# threshold X and patience N ask for, up to MOST.
wanted() {
	awk -v x="$1" -v after="$2" -v most="$3" '
		BEGIN { grown = 1 }
		{ print grown; n = $3 == "-" || $3 / (48 * grown) > x ? n + 1 : 0 }
		n >= after && grown < most { n = 0; grown = grown * 2 < most ? grown * 2 : most }'
}
# The gradient is large at first, so the noise scale rises.
set=more schedule=more
check "a batch that grows when the noise scale exceeds 1.5 batches twice in a row" \
	train noisy --batch-growth-max 16 --batch-growth-threshold 1.5 --batch-growth-patience 2 -q
set=train schedule=s
# The last update ends with the schedule, in the middle of a batch.
check_same "the batch grows when the logged noise asks for it" \
	"$(steps noisy | wanted 1.5 2 16 | sed '$d' | xargs)" "$(steps noisy | cut -f2 | sed '$d' | xargs)"
check "the batch grows in this run" test "$(steps noisy | cut -f2 | sort -u | wc -l)" -ge 2
check "the log has each noise scale" test "$(steps noisy | grep -c -- -)" = 0
check "the batch does not grow at once" test "$(steps noisy | cut -f2 | grep -c '^1$')" -ge 3

check "patience that exceeds the number of updates" train never --batch-growth-max 16 --batch-growth-patience 100
check "training without batch growth" train none
"$BUILD/tests/tools/weightdump" "$T/none/final.safetensors" "$T/none.all" >"$T/none.names"
"$BUILD/tests/tools/weightdump" "$T/never/final.safetensors" "$T/never.all" >"$T/never.names"
head -c -256 "$T/none.all" >"$T/none.numbers"
head -c -256 "$T/never.all" >"$T/never.numbers"
check "patience that is never reached gives the weights of no growth" cmp "$T/none.numbers" "$T/never.numbers"

# ---- the same bits ----

scaled="--clip-grad 0.5 --ema 0.9 --loss-scale dynamic"
# shellcheck disable=SC2086
for case in "sgd $always" "adamw $always $scaled"; do
	name=${case%% *}
	options="--optimizer $name ${case#* } --val $T/val -q"
	np=1
	check "$name: a batch that grows" train "$name" $options
	for np in 2 3 4; do
		[ $mpi = yes ] || continue
		check "$name: a batch that grows, on $np ranks" train "$name$np" $options
		check "$name: $np ranks give the same file" cmp "$T/$name/final.safetensors" "$T/$name$np/final.safetensors"
		check_same "$name: $np ranks log the same noise" "$(steps "$name")" "$(steps "$name$np")"
	done
	# Stopped at every update. The checkpoint carries the estimates and how
	# often they exceeded the threshold.
	np=1 again=0
	while [ $again -lt 20 ] && ! [ -s "$T/stops-$name/final.safetensors" ]; do
		[ $mpi = no ] || np=$((again * 3 % 4 + 1))
		train "stops-$name" $options --stop-after 0.000001s >"$T/stop.out" 2>&1
		again=$((again + 1))
	done
	np=1
	# The last start only measures the statistics that were due after the last step.
	check_same "$name: a run that is stopped stops at each update" $(($(steps "$name" | wc -l) + 1)) $again
	check "$name: a run that is stopped gives the same file" \
		cmp "$T/$name/final.safetensors" "$T/stops-$name/final.safetensors"
done
# shellcheck disable=SC2086
{
	killed_often 3 train kills $always --val "$T/val" -q --save-steps 1
	check "a run that was killed resumes" train kills $always --val "$T/val" -q --save-steps 1
	check "a run that was killed gives the same file" cmp "$T/sgd/final.safetensors" "$T/kills/final.safetensors"
	check_exit "--replay of the killed run" 0 \
		vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --seed 7 -j 1 $always --replay "$T/kills"
	check_same "every replayed step is the same" "same" "$(sed -n '/^[0-9]/p' "$T/out" | cut -f2 | sort -u)"
	device=cpu
	check "a batch that grows, on one thread" train one $always
	check "a batch that grows, on two threads" train two $always -j 2
	device=ref
	check "threads give the same file" cmp "$T/one/final.safetensors" "$T/two/final.safetensors"
}

# ---- a failure inside a batch ----

# After the first update, batches have four steps. A damaged sample ends the run
# inside one; the state of the last update remains.
four="--batch-growth-max 4 --batch-growth-factor 4 --batch-growth-threshold 0 --batch-growth-patience 1"
cp -r "$T/train" "$T/hurt"
damage_frames "$T/hurt"
# shellcheck disable=SC2086
{
	check "four: a batch that grows to four steps" train four $four
	set=hurt
	check_exit "a damaged sample inside a batch: 4" 4 train mended $four
	set=train
	check_same "the state of the last update is saved" 1 "$(vt-train --status "$T/mended" | jq .step)"
	check "the run resumes once the sample is repaired" train mended $four
	check "it gives the same file" cmp "$T/four/final.safetensors" "$T/mended/final.safetensors"
}

# ---- refusals and messages ----

schedule=whole
check_exit "one microbatch a step: 2" 2 train no --batch-growth-max 4
check_says "says why" "makes 1 microbatch: --batch-growth-max compares microbatches"
schedule=s
check_exit "a growth setting without growth: 2" 2 train no --batch-growth-patience 2
check_says "says what is missing" "--batch-growth-patience without --batch-growth-max"
check_exit "sums in any order: 2" 2 train no --batch-growth-max 4 --deterministic fast
check_says "says why" "decides by norms in a fixed order"
check_message "skipped steps: 2" 2 "steps count only in whole batches" train no --batch-growth-max 4 --on-nan skip:1
check_message "resuming with another growth threshold ends with 2" 2 "batch-growth-threshold was 0 and is 1 now" \
	train sgd --batch-growth-max 4 --batch-growth-patience 2 --val "$T/val"
check_exit "a dry run with batch growth" 0 train no --batch-growth-max 4 -n
check_same "the dry run shows that the batch grows, and its limit" 1 \
	"$(grep -c '^# the batch grows .*up to 4 times' "$T/out")"
check "a refused run and a dry run make no folder" test ! -e "$T/no"
plan
