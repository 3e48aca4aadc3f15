#!/bin/sh
# Modes of vt-train in pairs, by the table in lib/train/modes.c: every allowed
# pair trains with the effects of both modes, and every refused pair ends with 2
# and its message. Pairs train three steps on ref. The plan shows fallbacks.
# tests/run: weight 23
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# Eight microbatches a step, or one that two ranks share.
"$MAKESET" "$T/whole" 24 8 24 16 1 && "$MAKESET" "$T/val" 8 8 24 16 2 || skip_all "no test set"
small_net 4 4 >"$T/net.net"
stages '0 0 1 0 8 2 16 2 0.02 0 0' >"$T/groups.tsv"
stages '0 0 1 0 8 2 16 8 0.02 0 0' >"$T/shared.tsv"
printf '#class\tmirrored\na\tb\n' >"$T/flips.tsv"
printf '#ranks\thosts\texchange\tbytes\talgorithm\tus\n2\t1\tfp32\t1024\tring\t9\n' >"$T/table.tsv"
# Damage each frame of one sample.
cp -r "$T/whole" "$T/damaged"
damage_frames "$T/damaged"

# ---- the options of a mode ----

options_of() {
	case $1 in
	FAST) echo --deterministic=fast ;;
	ALLREDUCE) echo --allreduce=ring ;;
	ALLREDUCE_TABLE) echo "--allreduce-table=$T/table.tsv" ;;
	COMM_16) echo --comm-dtype=bf16 ;;
	SHARDED) echo --shard-optimizer ;;
	FP64) echo --device=ref64 ;;
	# Average after each step, so that each step can be saved.
	LEARNERS) echo --learners=2 --average-every=1 ;;
	ONE_LEARNER) echo --learners=1 ;;
	LEARNER_SETTING) echo --average-state=reset ;;
	NOISE) echo --noise-scale ;;
	GROWTH) echo --batch-growth-max=2 ;;
	GROWTH_SETTING) echo --batch-growth-patience=1 ;;
	NESTEROV) echo --nesterov ;;
	TRUST_RATIO) echo --optimizer=lamb ;;
	TRUST_CLIP) echo --trust-clip ;;
	CLIP_GRAD) echo --clip-grad=0.5 ;;
	CLIP_VALUE) echo --clip-value=0.01 ;;
	DYNAMIC_SCALE) echo --loss-scale=dynamic ;;
	EMA) echo --ema=0.9 ;;
	USE_EMA) echo --use-ema ;;
	AGGREGATED_BN) echo --bn-running=aggregate ;;
	PRECISE_BN) echo --precise-bn=16 ;;
	MIXING) echo --mixup=0.4 ;;
	BALANCE) echo --balance=0.5 ;;
	CLASS_WEIGHT) echo --class-weight=inverse:0.5 ;;
	FOCAL) echo --loss=focal ;;
	FOCAL_GAMMA) echo --focal-gamma=3 ;;
	FLIP_SWAP) echo "--flip-swap=$T/flips.tsv" ;;
	NO_FLIP) echo --no-flip ;;
	AUDIT) echo --audit=1 ;;
	ON_NAN) echo --on-nan=skip:3 ;;
	ON_CORRUPT) echo --on-corrupt=skip:0.5 ;;
	AUTOTUNE) echo --autotune=fastest ;;
	INIT) echo "--init=$T/first/final.safetensors" ;;
	INIT_PARTIAL) echo --init-partial ;;
	RESUME) echo "--resume=$T/first/ckpt-0000000001.safetensors" ;;
	REPLAY) echo "--replay=$T/first" ;;
	REPLAY_STEPS) echo --replay-steps=:3 ;;
	OUTPUT) echo "--output=$T/no" ;;
	DRY_RUN) echo --dry-run ;;
	TIME) echo --time ;;
	PARITY) echo --parity ;;
	esac
}
modes="FAST ALLREDUCE ALLREDUCE_TABLE COMM_16 SHARDED FP64 LEARNERS ONE_LEARNER LEARNER_SETTING
	NOISE GROWTH GROWTH_SETTING NESTEROV TRUST_RATIO TRUST_CLIP CLIP_GRAD CLIP_VALUE DYNAMIC_SCALE EMA
	USE_EMA AGGREGATED_BN PRECISE_BN MIXING BALANCE CLASS_WEIGHT FOCAL FOCAL_GAMMA FLIP_SWAP NO_FLIP AUDIT ON_NAN ON_CORRUPT AUTOTUNE INIT INIT_PARTIAL
	RESUME REPLAY REPLAY_STEPS OUTPUT DRY_RUN TIME PARITY"
if have_mpi; then modes="$modes RANKS SYNC_BN"; else skip "pairs with several ranks" "no MPI"; fi

# has MODE: succeed if the set $set contains MODE.
has() {
	case ,$set, in *,$1,*) ;; *) return 1 ;; esac
}
# options BUT...: print the options of the modes in $set, except BUT.
options() {
	for mode in $(echo "$set" | tr , ' '); do
		case " $* " in *" $mode "*) ;; *) options_of "$mode" ;; esac
	done
}
# train [OPTION]...: train with the ranks, the schedule and the data that $set
# needs.
train() {
	np=1 data=whole schedule=groups
	! has RANKS || np=2
	! has SYNC_BN || schedule=shared
	! has ON_CORRUPT || data=damaged
	on_ranks vt-train -i "$T/$data" --val "$T/val" -m "$T/net.net" --schedule "$T/$schedule.tsv" --device ref -j 1 \
		--loader-threads 1 --log-every 1 --save-steps 1 --keep 9 --precise-bn off "$@"
}
log() {
	jq -c "select(.type == \"$2\")" "$1/log.jsonl"
}

# shellcheck disable=SC2086
"$BUILD/tests/tools/modes" $modes >"$T/cases" || not_ok "tests/tools/modes prints the cases"
set=
check "a run without any mode trains" train -o "$T/first"

# ---- refused sets ----

# The rules, each with a set that no other rule refuses.
cat >"$T/refused" <<-'END'
	INIT,RESUME	--init and --resume=@: a run begins from weights or continues a checkpoint (wanted one of them)
	INIT_PARTIAL	--init-partial without --init=FILE
	NESTEROV,TRUST_RATIO	--nesterov and --optimizer=@ (it is for sgd)
	TRUST_CLIP	--trust-clip and --optimizer=@ (it is for lars, lars-outside and lamb)
	CLIP_GRAD,CLIP_VALUE	--clip-grad and --clip-value (wanted one of them)
	USE_EMA	--use-ema without --ema=DECAY: there is no average
	FOCAL_GAMMA	--focal-gamma without --loss=focal (a loss line of the network has gamma=)
	FLIP_SWAP,NO_FLIP	--flip-swap and --no-flip (wanted one of them)
	ALLREDUCE	--allreduce=@ is for --deterministic=fast (it is exact)
	ALLREDUCE_TABLE	--allreduce-table=@ is for --deterministic=fast (it is exact)
	COMM_16	--comm-dtype=@ is for --deterministic=fast (it is exact)
	FAST,COMM_16,FP64	--comm-dtype=@ is for gradients in fp32
	LEARNER_SETTING	--@ without --learners=N
	LEARNER_SETTING,NOISE	--@ without --learners=N
	LEARNERS,ONE_LEARNER,LEARNER_SETTING,NOISE	--noise-scale of one learner: it compares learners (wanted --learners=2 or more)
	GROWTH_SETTING	--@ without --batch-growth-max=M
	LEARNERS,ONE_LEARNER,LEARNER_SETTING,GROWTH	--batch-growth-max of one learner: it compares learners (wanted --learners=2 or more)
	GROWTH,ON_NAN	--batch-growth-max cannot be with --on-nan=skip or --on-corrupt=skip: steps count only in whole batches
	GROWTH,ON_CORRUPT	--batch-growth-max cannot be with --on-nan=skip or --on-corrupt=skip: steps count only in whole batches
	FAST,GROWTH	--batch-growth-max decides by norms in a fixed order (wanted --deterministic=exact)
	TIME	--time without --dry-run
	DRY_RUN,PARITY	--parity and --dry-run (wanted one of them)
	FAST,AUDIT	--audit is for --deterministic=exact (it is fast)
	FAST,REPLAY	--replay is for --deterministic=exact (it is fast)
	LEARNERS,LEARNER_SETTING,AUDIT	--learners cannot be with --audit, --on-nan=skip or --on-corrupt=skip
	LEARNERS,LEARNER_SETTING,ON_NAN	--learners cannot be with --audit, --on-nan=skip or --on-corrupt=skip
	LEARNERS,LEARNER_SETTING,ON_CORRUPT	--learners cannot be with --audit, --on-nan=skip or --on-corrupt=skip
	FAST,LEARNERS,LEARNER_SETTING	--learners: their mean is a sum in a fixed order (wanted --deterministic=exact)
	LEARNERS,LEARNER_SETTING,DYNAMIC_SCALE	--learners: each would have its own dynamic loss scale (wanted a number for --loss-scale)
	REPLAY_STEPS	--replay-steps without --replay=RUN
	REPLAY,OUTPUT	--replay only compares (wanted no --output, --dry-run or --parity)
	REPLAY,DRY_RUN	--replay only compares (wanted no --output, --dry-run or --parity)
	REPLAY,PARITY	--replay only compares (wanted no --output, --dry-run or --parity)
END
# More pairs are refused, because one mode of them needs a third that the other
# excludes.
grep '^refused' "$T/cases" | cut -f2,3 | sort -u >"$T/found"
check_same "the table has all listed rules" "" "$(grep -vxFf "$T/found" "$T/refused")"
refused=
while IFS=$(printf '\t') read -r set message; do
	got=0
	# Options are checked before the ranks connect, so one rank is enough.
	out="-o $T/no" data=whole
	! has REPLAY || out=
	# shellcheck disable=SC2046,SC2086
	vt-train -i "$T/$data" -m "$T/net.net" --schedule "$T/groups.tsv" --device ref $out $(options) 2>"$T/err" || got=$?
	pattern=$(echo "vt-train: error: $message" | sed 's/[][\.*^$+?(){}|]/\\&/g; s/@/.*/')
	[ $got = 2 ] && grep -qE "^$pattern\$" "$T/err" || refused="$refused$set: $got $(head -1 "$T/err")
"
done <"$T/found"
check_same "$(wc -l <"$T/found") single modes and pairs end with 2 and their message" "" "$refused"
check "a refused set makes no folder" test ! -e "$T/no"

# ---- allowed sets ----

# trace_of MODE: succeed if log and checkpoint of the run in $dir show the
# effect of MODE.
trace_of() {
	case $1 in
	AUDIT) test "$(log "$dir" audit | jq -c .differ | sort -u)" = 0 ;;
	ON_NAN) log "$from" skip | grep -q . ;;
	# A damaged video is refused before the first step.
	ON_CORRUPT) has UNPACKED || log "$from" corrupt | grep -q . ;;
	EMA) grep -qa '"ema/' "$dir/final.safetensors" ;;
	DYNAMIC_SCALE) test "$(log "$dir" step | jq -r .loss_scale | tail -1)" = 65536 ;;
	PRECISE_BN) log "$dir" validation | grep -q precise_bn ;;
	AGGREGATED_BN) grep -qa '"bn/bn1[.]running_between' "$dir/final.safetensors" ;;
	NOISE) log "$dir" average | grep -q . ;;
	UNPACKED) test -s "$dir/data.tsv" ;;
	GROWTH) log "$dir" step | grep -q batch_growth || has LEARNERS ;;
	esac
}
# try: train three steps with the modes of $set. Resume and replay if the set
# says so.
try() {
	from=$T/run dir=$T/run want=0
	rm -rf "$T/run" "$T/resumed" "$T/probe"
	! has ON_CORRUPT || has UNPACKED || want=3
	more="RESUME REPLAY REPLAY_STEPS OUTPUT"
	limit=
	if has ON_NAN; then	# the largest loss is skipped
		# shellcheck disable=SC2046,SC2086
		check_exit "$set: measures losses" $want train $(options $more ON_NAN) -o "$T/probe"
		limit=--max-loss=$(log "$T/probe" step | jq -s '[.[].loss] | max - 1e-7')
	fi
	# shellcheck disable=SC2046,SC2086
	check_exit "$set: trains" $want train $(options $more) $limit -o "$T/run"
	check_same "$set: makes three steps" 3 "$(vt-train --status "$T/run" | jq .step)"
	if has RESUME; then
		dir=$T/resumed
		# shellcheck disable=SC2046,SC2086
		check_exit "$set: resumes" $want train $(options $more) $limit -o "$dir" \
			--resume "$T/run/ckpt-0000000001.safetensors"
		has FAST || check "$set: the resumed run has the same bits" cmp "$T/run/final.safetensors" "$dir/final.safetensors"
	fi
	for mode in $(echo "$set" | tr , ' '); do
		trace_of "$mode" || not_ok "$set: $mode does its work"
	done
	if has REPLAY; then
		steps=
		! has REPLAY_STEPS || steps=--replay-steps=:3
		audit=
		! has AUDIT || audit=--audit=1
		# shellcheck disable=SC2086
		check_exit "$set: replays" 0 on_ranks vt-train --replay "$dir" -j 1 -v $steps $audit
		check_same "$set: every replayed step is the same" \
			same "$(grep -v '^#' "$T/out" | cut -f2 | sort -u)"
		! has AUTOTUNE || check_says "$set: the replay shows the fallback of autotuning" \
			"autotuning falls back: the algorithms of the run"
	fi
}
# look MODES: print the plan, or compare with ref.
look() {
	rm -rf "$T/run"
	again=
	if has RESUME; then
		# shellcheck disable=SC2046
		check_exit "$set: trains" 0 train $(options RESUME OUTPUT DRY_RUN TIME PARITY) -o "$T/run"
		again="--resume=$T/run/ckpt-0000000001.safetensors -o $T/resumed"
	fi
	# shellcheck disable=SC2046,SC2086
	check_exit "$set: plan or comparison with ref" 0 train $(options RESUME OUTPUT) -v $again
	has PARITY || check_same "$set: the plan names modes and fallbacks" "$1" "$(grep -E '^# (modes|falls back) ' "$T/out")"
	! has AUTOTUNE || check_says "$set: the plan shows the fallback of autotuning" "autotuning falls back: algorithms by rule"
}

np=1
# A line for each set, with the fallbacks that follow it.
grep -v '^refused' "$T/cases" | awk '/^run/ { if (n++) printf "\n"; printf "%s", $0; next } { printf "|%s", $0 }
	END { print "" }' >"$T/sets"
while IFS=$(printf '\t') read -r _ set shown <&3; do
	shown=$(echo "$shown" | tr '|' '\n')
	if has DRY_RUN || has PARITY; then look "$shown"; else try; fi
done 3<"$T/sets"

# ---- fallbacks by device ----

# falls PROGRAM RANKS WANTED [OPTION]...: check the plan's modes and fallbacks
# on one of the test devices.
falls() {
	program=$1 np=$2 wanted=$3
	shift 3
	check_exit "$program on $np ranks $*" 0 on_ranks "$BUILD/$program/vt-train" -n -v -i "$T/whole" -m "$T/net.net" \
		--schedule "$T/groups.tsv" --device ref -j 1 --precise-bn off "$@"
	check_same "$program on $np ranks $*: modes and fallbacks" \
		"$wanted" "$(sed -nE 's/^# (modes|falls back) +//p' "$T/out")"
}
falls gpu 1 "sharded optimizer, device check, early update"
if have_mpi; then
	late="early update: an update when the losses of all ranks are known"
	falls gpu 2 "sharded optimizer, several ranks
device check: a check on the host, as each rank has a part of the gradient
$late"
	falls gpu 2 "fast sums, several ranks, device check, autotuning
$late" --deterministic=fast
	DISCRETE_FABRIC=discrete
	export DISCRETE_FABRIC
	falls discrete 2 "fast sums, several ranks, device sums, autotuning" --deterministic=fast
	falls discrete 2 "sharded optimizer, several ranks, device sums"
	falls discrete 2 "fast sums, chosen all-reduce, several ranks, autotuning
device sums: sums on the host, by the algorithm of --allreduce" --deterministic=fast --allreduce=ring
	falls discrete 2 "fast sums, several ranks, fp64, autotuning
device sums: sums on the host, as devices sum only fp32" --deterministic=fast --device=ref64
fi
plan
