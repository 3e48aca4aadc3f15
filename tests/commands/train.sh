#!/bin/sh
# vt-train gives the same weights for every number of ranks and threads and
# after every kill and stop. Refused runs make nothing, and each kind of failure
# has its exit status.
# tests/run: weight 25
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"

# A network of a stem and two blocks, small enough for the reference loops.
cat >"$T/net.net" <<'NET'
def block
shift  $name.shift  in=$in fold=4
conv   $name.conv1  in=$name.shift out=8 k=3,3
bn     $name.bn1    in=$name.conv1
relu   $name.relu1  in=$name.bn1
conv   $name.conv2  in=$name.relu1 out=8 k=3,3
bn     $name.bn2    in=$name.conv2
add    $name.sum    in=$name.bn2,$in
relu   $name        in=$name.sum
end
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=8 k=3,3 s=2,2
bn       bn1      in=conv1
relu     relu     in=bn1
block    layer1.0 in=relu
block    layer1.1 in=layer1.0
avgpool  avgpool  in=layer1.1 over=hw
dropout  dropout  in=avgpool rate=0.3
linear   fc       in=dropout out=classes std=0.1
avgpool  scores   in=fc over=t
NET
# Every cell of a small multigrid run, for a step or a few each, in batches of 6,
# 4, 5 and 4 microbatches. The first stage is a short cycle, and batches cross
# the ends of epochs of 40 clips.
{
	printf '#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n'
	printf '0\t0\t3\t0\t24\t2\t8\t4\t0.001@0..0.03@2,0.03\t0\t0\n'
	printf '0\t0\t3\t1\t16\t2\t12\t4\t0.001@0..0.03@2,0.03\t0\t0\n'
	printf '1\t3\t5\t0\t20\t4\t12\t4\t0.02\t0\t0\n'
	printf '2\t5\t6\t0\t16\t4\t16\t4\t0.002\t0\t0\n'
} >"$T/s.tsv"

# train DIR [OPTION]...: make a run with the common options.
train() {
	dir=$1
	shift
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --clip-grad 5 --seed 7 -q "$@"
}


check "a run on ref" train ref --device ref
check "the run writes final.safetensors" test -s "$T/ref/final.safetensors"
check "the log has every step, in order" sh -c "
	jq -r 'select(.type == \"step\").step' '$T/ref/log.jsonl' | sort -nc"
check "the log has the seconds of steps" jq -se '[.[] | select(.type == "step")] | .[0] |
	.seconds > 0 and (.clips / .seconds / .clips_per_s | . > 0.999 and . < 1.001)' "$T/ref/log.jsonl"
check_exit "--status of a finished run" 0 vt-train --status "$T/ref"
check_same "--status says finished" finished "$(jq -r .state "$T/out")"

awk 'NR == 1 { print; next } { OFS = FS = "\t"; if ($1 == 2) $3 = 8; print }' "$T/s.tsv" >"$T/s8.tsv"
if unshare -rm mount -t tmpfs x "$T" 2>/dev/null; then
	check_exit "a finished run on a read-only disk ends with 0" 0 unshare -rm sh -c "
		mount --bind '$T/ref' '$T/ref' && mount -o remount,bind,ro '$T/ref' &&
			vt-train -i '$T/train' -m '$T/net.net' --schedule '$T/s.tsv' -o '$T/ref' --clip-grad 5 --seed 7 --device ref"
	check_says "a finished run on a read-only disk: a message says so" \
		'ref is done; vt-eval -k .*ref -i DATA scores it'
	check "a second finished run is copied" cp -r "$T/ref" "$T/second"
	check_exit "--resume from another run on a read-only disk ends with 1" 1 unshare -rm sh -c "
		mount --bind '$T/ref' '$T/ref' && mount -o remount,bind,ro '$T/ref' &&
			vt-train -i '$T/train' -m '$T/net.net' --schedule '$T/s.tsv' -o '$T/ref' --clip-grad 5 --seed 7 \\
				--device ref --resume='$(ls "$T"/second/ckpt-* | tail -n 1)'"
	check "the message does not say that the run is done" sh -c "! grep 'is done' '$T/err'"
	check_says "--resume from another run on a read-only disk: the message says that the file system is read-only" \
		'ref/?.*: Read-only file system'
else
	skip "a finished run on a disk that cannot be written" "no mount namespaces here"
fi
check_exit "a finished run that is started again ends with 0" 0 \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/ref" --clip-grad 5 --seed 7 --device ref
check_says "a finished run that is started again: a message says so" 'note: .*ref is done; vt-eval -k .*ref -i DATA scores it'
check "a finished run is copied" cp -r "$T/ref" "$T/more"
check_exit "a finished run continues with a longer schedule" 75 \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s8.tsv" \
	-o "$T/more" --clip-grad 5 --seed 7 -q --device ref --stop-after 0.001s
check_exit "with a longer schedule, --status says unfinished" 75 vt-train --status "$T/more"
check "with a longer schedule, final.safetensors is removed" test ! -e "$T/more/final.safetensors"

# Checkpoints contain only the settings that decide the weights.
check "another directory and other logging change no byte" sh -c "
	vt-train -i '$T/train' -m '$T/net.net' --schedule - -o '$T/other' --clip-grad 5 --seed 7 -qq --device ref \
	    --log-every 1 --save-steps 3 --keep 2 --loader-threads 3 --loader-memory 1M <'$T/s.tsv' &&
	cmp '$T/ref/final.safetensors' '$T/other/final.safetensors'"
check_same "--keep keeps 2 checkpoints" 2 "$(ls "$T/other" | grep -c '^ckpt-')"
check "another seed gives other weights" sh -c "
	vt-train -i '$T/train' -m '$T/net.net' --schedule '$T/s.tsv' -o '$T/seed' --clip-grad 5 --seed 8 -q --device ref &&
	! cmp -s '$T/ref/final.safetensors' '$T/seed/final.safetensors'"

for device in ref cpu; do
	if [ $device = cpu ] && ! built oneDNN; then
		skip "cpu: the same weights" "built without oneDNN"
		continue
	fi
	train $device-1 --device $device -j 1 >"$T/log1" 2>&1
	train $device-j3 --device $device -j 3 >/dev/null 2>&1
	check "$device: 1 and 3 threads, the same weights" same $device-1 $device-j3
	for np in 2 3 4; do
		if [ $mpi = no ]; then
			skip "$device: $np ranks" "no mpirun, or built without MPI"
			continue
		fi
		mpirun -np $np "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
			-o "$T/$device-$np" --clip-grad 5 --seed 7 -q --device $device -j 1 --bucket 4K \
			--trace-samples "$T/trace-$np" >"$T/log$np" 2>"$T/err" || diag "$(tail -3 "$T/err")"
		check "$device: 1 and $np ranks, the same weights bit for bit" same $device-1 $device-$np
	done
done
# The logs of the last device's runs must have equal losses, too.
if [ $mpi = yes ] && [ -s "$T/log4" ]; then
	check_same "1 and 4 ranks log the same losses" "$(cut -f1,8,9 "$T/log1")" "$(cut -f1,8,9 "$T/log4")"
	train trace --device ref --trace-samples "$T/trace-1" >/dev/null
	for np in 2 3; do
		cat "$T/trace-$np".* | grep -v '^#' | sort >"$T/merged"
		check_same "1 and $np ranks see the same clips" "$(grep -v '^#' "$T/trace-1" | sort | cksum)" "$(cksum <"$T/merged")"
	done
fi

# ---- stopping and resuming ----

train stop --device ref --stop-after 0.001s >/dev/null 2>"$T/err"
check_same "--stop-after saves and exits 75" 75 $?
check_exit "--status of an unfinished run exits 75" 75 vt-train --status "$T/stop"
mkdir "$T/begun" && cp "$T/stop/config" "$T/begun"
check_exit "--status of a run that has not saved yet" 75 vt-train --status "$T/begun"
check_same "says that it goes on" unfinished "$(jq -r .state "$T/out")"
check_message "--status of no run" 2 'not the directory of a run' vt-train --status "$T/nowhere"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	train stop --device ref --stop-after 0.001s >/dev/null 2>&1
	[ $? = 75 ] || break
done
check "stopped after every step and resumed: the same weights" same ref stop
check_same "the log of the run stopped after every step has every step once" \
	"$(jq -r 'select(.type == "step").step' "$T/ref/log.jsonl" | tail -1)" \
	"$(jq -r 'select(.type == "step").step' "$T/stop/log.jsonl" | tail -1)"

# A longer run, so that signals arrive while it trains. It takes two seconds and
# saves two checkpoints within the first half.
awk 'NR == 1 { print; next } { OFS = FS = "\t"; if ($1 == 2) $3 = 24; print }' "$T/s.tsv" >"$T/long.tsv"
long() {
	dir=$1
	shift
	"$@" "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/long.tsv" -o "$T/$dir" --seed 7 \
		-qq --device ref --save-steps 5 -j 1 >/dev/null 2>"$T/err"
}
# wait_for DIR N: wait until the run has saved N checkpoints.
wait_for() {
	for i in $(seq 1000); do
		[ "$(cat "$T/$1"/ckpt-*.safetensors 2>/dev/null | wc -c)" -gt 0 ] &&
			[ "$(ls "$T/$1" | grep -c '^ckpt')" -ge "$2" ] && return
		sleep 0.01
	done
}
long whole env
for signal in TERM USR1 INT; do
	long sig-$signal env &
	pid=$!
	wait_for sig-$signal 2
	kill -$signal "$(run_pid $pid)"
	wait $pid
	check_same "SIG$signal saves and exits 75" 75 $?
	long sig-$signal env
	check "SIG$signal, then resumed: the same weights" same whole sig-$signal
done

if [ $mpi = yes ]; then
	long mpi-whole mpirun -np 2
	check "the longer run on 2 ranks has the same weights" same whole mpi-whole
	# kill -9 of one rank: mpirun ends the others, and the same command
	# resumes.
	long mpi-kill mpirun -np 2 &
	pid=$!
	wait_for mpi-kill 2
	kill -9 "$(rank_pid $pid 1)" || diag "nothing to kill"
	wait $pid
	got=$?
	check "kill -9 of a rank ends the run" test $got -ne 0 -a $got -ne 75
	vt-train --status "$T/mpi-kill" >/dev/null 2>&1
	check_same "after kill -9 the checkpoints are intact" 75 $?
	long mpi-kill mpirun -np 2
	check "after kill -9 the same command ends with the same weights" same whole mpi-kill
	long mpi-kill3 mpirun -np 2 &
	pid=$!
	wait_for mpi-kill3 2
	kill -9 "$(rank_pid $pid 0)" || diag "nothing to kill"
	wait $pid
	long mpi-kill3 mpirun -np 3
	check "after kill -9 on 2 ranks, 3 ranks end with the same weights" same whole mpi-kill3
	long mpi-usr1 mpirun -np 2 &
	pid=$!
	wait_for mpi-usr1 2
	kill -USR1 "$(run_pid $pid)"
	wait $pid
	check_same "SIGUSR1 to mpirun saves and exits 75" 75 $?
	long mpi-usr1 mpirun -np 2
	check "after SIGUSR1 the same command ends with the same weights" same whole mpi-usr1
else
	skip "kill -9 of a rank" "no mpirun, or built without MPI"
fi

# ---- damaged checkpoints ----

train bad --device ref --save-steps 5 --keep 10 >/dev/null 2>&1
rm "$T/bad/final.safetensors"
newest=$(ls "$T"/bad/ckpt-* | tail -1)
printf x | dd of="$newest" bs=1 seek=5000 conv=notrunc 2>/dev/null
check "if the newest checkpoint is damaged, an older one is used" train bad --device ref
check "the damaged checkpoint is renamed to .bad" test -f "$newest.bad"
check "after a damaged checkpoint the weights are the same" same ref bad
for f in "$T"/bad/ckpt-*.safetensors; do head -c 3000 "$f" >"$f.cut" && mv "$f.cut" "$f"; done
rm -f "$T/bad/final.safetensors"
check_exit "if all checkpoints are damaged, vt-train exits 4" 4 train bad --device ref
check_exit "if all checkpoints are damaged, it exits 4 again" 4 train bad --device ref
check_exit "if all checkpoints are damaged, --status exits 4" 4 vt-train --status "$T/bad"
check_same "if all checkpoints are damaged, --status says failed" failed "$(jq -r .state "$T/out")"

# ---- settings that may not change ----

check_message "resuming with another momentum is refused" 2 'momentum was 0.9 and is 0.8' \
	train stop --device ref --momentum 0.8
check "--override=momentum allows another momentum" train stop --device ref --momentum 0.8 --override momentum
check_exit "resuming with another network is refused" 2 \
	vt-train -i "$T/train" -m tsn_tiny --schedule "$T/s.tsv" -o "$T/stop" --clip-grad 5 --seed 7 --device ref
check_exit "resuming with other data is refused" 2 \
	vt-train -i "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/stop" --clip-grad 5 --seed 7 --device ref
sed 's/0.02/0.03/' "$T/s.tsv" >"$T/s2.tsv"
check_exit "resuming with another schedule for past steps is refused" 2 \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s2.tsv" -o "$T/stop" --clip-grad 5 --seed 7 --device ref
check_exit "--resume=never in a used directory is refused" 2 train ref --device ref --resume never
check_exit "a second run in one directory exits 1" 1 \
	sh -c "flock '$T/ref/.vt-train.lock' '$BUILD/vt-train' -i '$T/train' -m '$T/net.net' --schedule '$T/s.tsv' -o '$T/ref' --device ref"
check_says "a second run in one directory: the message says that the directory is in use" 'in use'

# ---- refusals before the first step ----

sed 's/\t16\t4\t16\t4/\t16\t4\t16\t16/' "$T/s.tsv" >"$T/one.tsv"
if [ $mpi = yes ]; then
	if [ "$(nproc)" -gt 1 ]; then
		OMPI_MCA_hwloc_base_binding_policy=core check_exit "-n on one rank that mpirun has bound to a core" 0 \
			mpirun -np 1 vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref
		check_says "a note says that the rank is bound" 'bound its ranks here to 1 of'
		OMPI_MCA_hwloc_base_binding_policy=none check_exit "-n on one rank that is not bound" 0 \
			mpirun -np 1 vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref
		check_same "a rank that is not bound gets no note" "" "$(cat "$T/err")"
	fi
	check_exit "fewer microbatches than ranks exit 2" 2 \
		mpirun -np 2 "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/one.tsv" -o "$T/no" --device ref
	check_says "fewer microbatches than ranks: the message states the rule for microbatches" \
		'batch of 16 clips in BN groups of 16 makes 1 microbatches'
else
	skip "fewer microbatches than ranks exit 2" "no mpirun"
fi
check_exit "no --data exits 2" 2 vt-train --schedule "$T/s.tsv" -o "$T/no"
"$MAKESET" "$T/blank" 8 4 40 32 1 blank=1 && "$MAKESET" "$T/part" 8 4 40 32 1 blank=3
check_message "a set without labels exits 2" 2 'blank: none of its 8 samples has a label \(vt-extract --label-from' \
	vt-train -i "$T/blank" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/no" --device ref
check_message "a set with some unlabelled samples exits 2" 2 'part: 3 of 8 samples have no label, s00000 first' \
	vt-train -i "$T/part" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/no" --device ref
check_message "a validation set without labels exits 2" 2 'blank: none of its 8 samples has a label' \
	vt-train -i "$T/train" --val "$T/blank" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/no" --device ref
"$MAKESET" "$T/other" 8 4 40 32 1 classes=3
check_message "a validation set with other classes exits 2" 2 \
	'other: 3 classes \(.*/train has [0-9]+, the next is d\): extract it with --classes=.*/train/classes.txt' \
	vt-train -i "$T/train" --val "$T/other" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/no" --device ref
mkdir -p "$T/folder.tsv"
printf 'a\tb\n1\t2\n' >"$T/foreign.tsv"
for file in missing folder foreign; do
	check_exit "a $file schedule exits 2" 2 vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/$file.tsv" -o "$T/no"
	check_says "the message names the $file schedule" "$file.tsv: (cannot open|cannot read|no column stage)"
	check_exit "a $file --config exits 2" 2 vt-train -c "$T/$file.tsv"
done
check_exit "a missing network file exits 2" 2 vt-train -i "$T/train" -m "$T/missing.net" --schedule "$T/s.tsv" -o "$T/no"
check_exit "a missing file of weights exits 1" 1 \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --init "$T/missing.safetensors" -o "$T/no"
check_exit "a missing dataset exits 1" 1 vt-train -i "$T/nowhere" --schedule "$T/s.tsv" -o "$T/no"
check_message "an unknown network exits 2" 2 "no nonesuch in models \(.*/models has all [0-9]+" \
	vt-train -i "$T/train" -m nonesuch --schedule "$T/s.tsv" -o "$T/no"
check_exit "an unknown back end exits 2" 2 vt-train -i "$T/train" --device tpu --schedule "$T/s.tsv" -o "$T/no"
check_message "--device=cuda without a GPU exits 2" 2 'CUDA' \
	vt-train -i "$T/train" --device cuda --schedule "$T/s.tsv" -o "$T/no"
# cuDNN plans for a GPU that is described.
if built CUDA && vt-schedule --check "$T/s.tsv" -m "$T/net.net" -i "$T/train" --device cuda >"$T/plan.tsv" 2>"$T/err"; then
	check_says "vt-schedule --check --device=cuda without a GPU names the GPU that it plans for" \
		'note: --device=cuda: no CUDA device is here, so this is the plan for an H100'
	check "vt-schedule --check --device=cuda without a GPU states the memory of each shape" \
		awk -F '\t' '/^[0-9]/ { n++; bad += $NF < 1e6 } END { exit !n || bad }' "$T/plan.tsv"
	check_exit "vt-train -n --device=cuda without a GPU exits 0" 0 \
		vt-train -n -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device cuda --precision bf16
	check "vt-train -n --device=cuda without a GPU states its memory" grep -q '^# of its device ' "$T/out"
	check_exit "vt-train -n --time --device=cuda without a GPU exits 2" 2 \
		vt-train -n --time -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device cuda
else
	skip "plans for a GPU that is absent" "no CUDA in this build"
fi
check_exit "an unknown option exits 2" 2 vt-train --sched x
check_exit "an abbreviated option exits 2" 2 vt-train --schedul x
check_exit "a crop too small for the network exits 2" 2 sh -c "
	sed 's/\t16\t4\t16/\t16\t4\t0/' '$T/s.tsv' | vt-train -i '$T/train' -m '$T/net.net' --schedule - -o '$T/no' --device ref"
check "refused runs make no folder" test ! -e "$T/no"
check_exit "a dry run prints the plan" 0 vt-train -i "$T/train" -m tsm_r50 --schedule "$T/s.tsv" -n
check "the plan has parameters or steps" grep -Eq 'parameters|steps' "$T/out"
check "a dry run makes no folder" test ! -e "$T/no"

# ---- divergence and damage ----

sed 's/\t0.02\t/\t1000000\t/' "$T/s.tsv" >"$T/hot.tsv"
check_message "divergence exits 5" 5 'step [0-9]+: .*diverged' \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/hot.tsv" -o "$T/hot" --device ref --seed 7
cp -r "$T/train" "$T/broken"
offset=$(vt-pack --list -i "$T/train" | awk -F'\t' '$1 == "s00003" { print $10 + 600 }')
printf '\377\377' | dd of="$T/broken/t-000000.tar" bs=1 seek="$offset" conv=notrunc 2>/dev/null
check_message "a damaged frame exits 4" 4 't-000000.tar.*s00003' \
	vt-train -i "$T/broken" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/b" --device ref
for place in index footer manifest; do
	damaged_set "$T/train" $place
	check_exit "a damaged $place exits 4" 4 \
		vt-train -i "$T/broken-$place" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/b4" --device ref
	check_exit "a damaged $place of the validation set exits 4" 4 \
		vt-train -i "$T/train" --val "$T/broken-$place" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/b4" --device ref
done

# ---- validation ----

check_exit "a run with validations" 0 train with-val --device ref --val "$T/val" --val-every 2
check "the log has validations" grep -q '"type":"validation"' "$T/with-val/log.jsonl"
check "the best checkpoint is kept" test -s "$T/with-val/best.safetensors"
check_same "validations change no weight" \
	"$(tensors ref)" "$(tensors with-val)"
plan
