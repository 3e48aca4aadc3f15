#!/bin/sh
# vt-train under faults: failed system calls, kills, NaN, signals and full
# disks. The test checks saved and best checkpoints, --status, and the files
# left.
# tests/run: weight 18
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
# LeakSanitizer does not work under strace, and our preloaded library comes before
# that of a sanitizer.
ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
export ASAN_OPTIONS
mpi=no
! have_mpi || mpi=yes
trace=yes
strace -o /dev/null true 2>/dev/null || trace=no

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 >"$T/net.net"
vt-schedule --batch=20 --frames=2 --crop=16 --bn-size=4 --lr=0.1 --epochs=6 -o "$T/s.tsv" || skip_all "no schedule"

# train DIR [OPTION]...: 12 steps of 20 clips, validated every two. Steps 2, 6
# and 8 are the best so far.
train() {
	dir=$1
	shift
	${RUN:-} "$BUILD/vt-train" -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 -q --save-steps 1 --keep 2 --precise-bn off "$@"
}
meta() {
	header "$1" | jq -r ".__metadata__[\"$2\"]"
}
# poison FILE TENSOR BYTES: set the tensor's first value to BYTES (an argument
# of printf) and correct the footer.
poison() {
	at=$(($(od -An -tu8 -N8 "$1") + 8 + $(header "$1" | jq ".\"$2\".data_offsets[0]")))
	printf "$3" | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
	size=$(wc -c <"$1")
	sum=$(head -c -64 "$1" | xxh128sum | cut -c 1-32 | sed 's/../\\x&/g')
	env printf "$sum" | dd of="$1" bs=1 seek=$((size - 48)) conv=notrunc 2>/dev/null
}
NAN='\000\000\300\177'
# state DIR: print the state of --status and its exit status.
state() {
	vt-train --status "$T/$1" >"$T/said" 2>"$T/err"
	echo "$(jq -r .state "$T/said") $?"
}
# faulty CALL WHAT [STRACE OPTION]...: set $RUN so that "train" runs with CALL
# failing as WHAT says.
faulty() {
	call=$1 what=$2
	shift 2
	RUN="strace -f -o /dev/null -e trace=$call -e inject=$call:$what $*"
}

# ---- the undisturbed run ----

check "the undisturbed run" train ref
final=$(meta "$T/ref/final.safetensors" vt.tensors)

# ---- locks ----

if [ $trace = yes ]; then
	for call in openat flock ftruncate write; do
		faulty $call error=EINTR:when=1 -P "$T/lock/.vt-train.lock"
		check "lock file: an interrupted $call is repeated" train lock
		RUN=''
		rm -rf "$T/lock"
	done
	faulty write error=ENOSPC -P "$T/lock/.vt-train.lock"
	check_exit "a full disk for the lock file ends with 1" 1 train lock
	RUN=''
	check_says "a full disk for the lock file: the message names the lock and the reason" \
		'lock: cannot write: No space left'
	rm -rf "$T/lock"
else
	skip "an interrupted lock" "no strace"
fi

# ---- the best checkpoint ----

# at NAME WHAT: set $RUN so that "train" runs with the rename to NAME failing as
# WHAT says: "once", "ever" or "kill".
cat >"$T/fault.c" <<'SHIM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int rename(const char *from, const char *to)
{
	static int seen;
	const char *what = getenv("FAULT_WHAT"), *at = strrchr(to, '/');

	if (what != NULL && at != NULL && strcmp(at + 1, getenv("FAULT_AT")) == 0) {
		if (*what == 'k')
			raise(SIGKILL);
		if (*what == 'e' || seen++ == 0)
			return errno = EIO, -1;
	}
	return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
static int seen_reads;
/* Only FAULT_FROM reads of files whose path contains FAULT_READ succeed.  While the file
 * FAULT_HOLD exists, reads at an offset wait, and create FAULT_HOLD.held. */
ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	const char *hold = getenv("FAULT_HOLD"), *bad = getenv("FAULT_READ");
	char link[64], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (bad != NULL && readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, bad) != NULL &&
	    seen_reads++ >= atoi(getenv("FAULT_FROM")))
		return errno = EIO, -1;
	while (hold != NULL && access(hold, F_OK) == 0) {
		snprintf(path, sizeof(path), "%s.held", hold);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		usleep(10000);
	}
	return ((ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread"))(fd, to, n, at);
}
ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
	return pread(fd, to, n, at);
}
SHIM
shim=yes
${CC:-cc} -shared -fPIC -o "$T/fault.so" "$T/fault.c" -ldl 2>/dev/null || shim=no
at() {
	RUN="env LD_PRELOAD=$T/fault.so FAULT_AT=$1 FAULT_WHAT=$2"
}

best=$(meta "$T/ref/best.safetensors" vt.step)
check_same "the last checkpoint names the step of the best" \
	"$best" "$(meta "$T/ref/final.safetensors" vt.best_step)"
# whole DIR: succeed if every checkpoint equals that of the undisturbed run.
whole() {
	for f in "$T"/ref/*.safetensors; do
		cmp -s "$f" "$T/$1/${f##*/}" || { diag "$1: ${f##*/} differs"; return 1; }
	done
}
if [ $shim = yes ]; then
	# Kill between a checkpoint and its second name, and at other renames.
	for f in best.safetensors latest final.safetensors ckpt-0000000008.safetensors; do
		at $f kill
		rm -rf "$T/kill"
		train kill >/dev/null 2>&1
		RUN=''
		check_same "killed before $f has its name: unfinished" "unfinished 75" "$(state kill)"
		check "killed before $f has its name: the same command resumes" train kill
		check "killed before $f has its name: best and final are the same" whole kill
	done
	rm "$T/kill/best.safetensors"
	cp "$T/kill/ckpt-0000000012.safetensors" "$T/kill/ckpt-0000000008.safetensors"
	check_exit "another checkpoint under the best one's name is refused" 1 train kill
	cp "$T/ref/best.safetensors" "$T/kill/ckpt-0000000008.safetensors"
	check "the right checkpoint under that name is accepted, in a finished run" train kill
	check "best.safetensors is made again from it" whole kill
	# Every rename that can fail, once and for ever: the messages are true.
	for f in best.safetensors latest ckpt-0000000006.safetensors ckpt-0000000008.safetensors \
		ckpt-0000000012.safetensors final.safetensors; do
		rm -rf "$T/eio"
		at $f once
		check_exit "the rename to $f fails once" \
			"$([ $f = final.safetensors ] && echo 1 || echo 0)" train eio
		RUN=''
		[ $f = final.safetensors ] || check "after a failed rename to $f, all files are right" whole eio
	done
	rm -rf "$T/eio"
	at best.safetensors ever
	check_exit "a best that cannot be named is exit 1" 1 train eio
	check_says "and said" 'the last step is not saved; the last safe step is 1, from which the same command resumes: .*best'
	RUN=''
	check_same "--status says that it failed" "failed 1" "$(state eio)"
	check "the same command resumes after the failure" train eio
	check "after resuming, the best is right" whole eio
	rm -rf "$T/eio"
	at latest ever
	check_exit "three saves in a row that fail end the run" 1 train eio
	check_says "it says why" 'step [3-5]: the run ends, because 3 saves in a row have failed'
	check "it ends before its last step" test "$(jq 'select(.type == "end").step' "$T/eio/log.jsonl")" -lt 12
	RUN=''
else
	skip "kills and failed saves" "no compiler"
fi
cp -r "$T/ref" "$T/lost" && rm "$T/lost/best.safetensors"
check_message "a best that is lost is exit 1" 1 "best.safetensors: missing, or not of step 8" train lost
check_exit "each time" 1 train lost
check_exit "unless none is wanted" 0 train lost --keep-best none
if [ $shim = yes ]; then
	i=0
	for from in 10 30 50 70 90; do
		RUN="env LD_PRELOAD=$T/fault.so FAULT_READ=$T/val/ FAULT_FROM=$from"
		rm -rf "$T/blind"
		train blind >/dev/null 2>"$T/err"
		got=$?
		RUN=''
		[ $got = 1 ] && train blind && whole blind && [ "$(jq -c 'select(.type=="validation") | [.step, .best]' "$T/blind/log.jsonl")" = \
			"$(jq -c 'select(.type=="validation") | [.step, .best]' "$T/ref/log.jsonl")" ] && i=$((i + 1))
	done >/dev/null 2>&1
	check_same "a failed validation is repeated first when the run resumes" 5 $i
fi
check_same "--keep-best=loss chooses the best again, by loss" \
	"" "$(train loss --stop-after 0.001s >/dev/null 2>&1
	train loss --keep-best loss >/dev/null 2>"$T/err" || cat "$T/err"
	for i in "$T/loss/best.safetensors"; do [ "$(meta "$i" vt.best_metric)" = loss ] || echo "not by loss"; done)"

# ---- NaN and infinity ----

cp -r "$T/ref" "$T/nan"
for f in "$T"/nan/ckpt-*; do rm -f "$f"; done
rm "$T/nan/final.safetensors"
train early --stop-after 0.001s >/dev/null 2>&1	# one step
check_same "a run that stopped after one step is unfinished" "unfinished 75" "$(state early)"
first=$T/early/ckpt-0000000001.safetensors
cp "$first" "$T/nan/" && cp "$first" "$T/nan/ckpt-0000000003.safetensors"
poison "$T/nan/ckpt-0000000003.safetensors" bn/bn1.running_mean "$NAN"
cp "$T/nan/ckpt-0000000003.safetensors" "$T/poison.safetensors"
check_message "vt-eval of a checkpoint with NaN ends with 5" 5 'tensor bn/bn1.running_mean holds NaN' \
	vt-eval -k "$T/poison.safetensors" -i "$T/val" --device ref
check "vt-train resumes from the newest finite checkpoint" train nan
check "the checkpoint with NaN is renamed to .bad" test -f "$T/nan/ckpt-0000000003.safetensors.bad"
check_same "the run ends with the same weights" "$final" "$(meta "$T/nan/final.safetensors" vt.tensors)"
mkdir "$T/nans" && cp "$T/poison.safetensors" "$T/nans/ckpt-0000000003.safetensors"
check_exit "if no checkpoint is finite, vt-train ends with 5" 5 train nans
check_same "if no checkpoint is finite, --status says diverged" "diverged 5" "$(state nans)"
HUGE='\171\226\230\176'		# 1e38
cp "$first" "$T/huge.safetensors"
poison "$T/huge.safetensors" model/fc.weight "$HUGE"
poison "$T/huge.safetensors" model/conv1.weight "$HUGE"
check_message "vt-eval with scores that are not finite ends with 5" 5 'sample s[0-9]+: the score of class [0-9] is' \
	vt-eval -k "$T/huge.safetensors" -i "$T/val" --device ref
# A variance that overflows leaves the loss finite, so only the check of
# statistics finds it.
mkdir "$T/variance" && cp "$first" "$T/variance/"
poison "$T/variance/ckpt-0000000001.safetensors" model/conv1.weight '\354\170\055\142'	# 8e20
check_message "running statistics that overflow end with 5" 5 'step 1: .*normalizations' train variance
check_same "the checkpoint before the overflow stays the only one" \
	"ckpt-0000000001.safetensors" "$(cd "$T/variance" && ls | grep ckpt)"

# ---- checkpoints before a failure ----

check_same "a run that stopped has an end in its log" 75 "$(jq -r 'select(.type=="end").status' "$T/early/log.jsonl")"
sed 's/\t0\.1\t/\t1e9\t/' "$T/s.tsv" >"$T/hot.tsv"
hot() {
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/hot.tsv" -o "$T/hot" --seed 7 --device ref -q "$@"
}
check_exit "divergence ends with 5" 5 hot
check_same "after divergence, --status says diverged" "diverged 5" "$(state hot)"
step=$(jq -r .step "$T/said")
check "a finite checkpoint is saved before divergence" test "$step" -ge 1
check_same "the saved checkpoint has no NaN" 0 \
	"$(vt-eval -k "$T/hot/ckpt-$(printf %010d "$step").safetensors" -i "$T/train" --device ref >/dev/null 2>"$T/err"
	grep -c 'holds NaN' "$T/err")"
check_exit "the same command diverges again with 5" 5 hot
check_same "a loop that repeats the command while it ends with 75 stops" \
	"5 1" "$(n=0; until hot; do n=$((n + 1)); vt-train --status "$T/hot" >/dev/null; s=$?
	[ $s = 75 ] || break; done 2>/dev/null; echo "$s $n")"

# Damage all frames of a sample that the second step is the first to load.
train trace --trace-samples "$T/trace.tsv" >/dev/null
key=$(awk -F'\t' '$1 == 1 { print $3; exit }' "$T/trace.tsv")
step=$(awk -F'\t' -v k="$key" '$3 == k { print $1; exit }' "$T/trace.tsv")
cp -r "$T/train" "$T/sound"
set -- $(vt-pack --list -i "$T/train" | awk -F'\t' -v k="$key" '$1 == k { print $10, $11 }')
at=$1
while [ $at -lt $(($1 + $2)) ]; do	# all its frames
	printf '\377\377\377\377' | dd of="$T/train/t-000000.tar" bs=1 seek=$((at + 600)) conv=notrunc 2>/dev/null
	at=$((at + 1024))
done
check_exit "a damaged frame ends with 4" 4 train damaged
check_same "the steps before the damaged frame are saved" \
	"failed 4 $step" "$(state damaged) $(jq -r .step "$T/said")"
if [ $mpi = yes ]; then
	RUN="mpirun -np 2" train damaged2 >/dev/null 2>"$T/err"
	got=$?
	check_same "on two ranks, the steps before the damaged frame are saved" \
		"4 failed 4 $step" "$got $(state damaged2) $(jq -r .step "$T/said")"
fi
rm -r "$T/train" && mv "$T/sound" "$T/train"
check "with the frame repaired, the same command resumes" train damaged
check_same "with the frame repaired, the weights are the same" \
	"$final" "$(meta "$T/damaged/final.safetensors" vt.tensors)"

# ---- signals, and an output that cannot be written ----

{
	train pipe --log-every 1 2>"$T/err"
	echo $? >"$T/status"
} | head -1 >/dev/null
check_same "a closed pipe as standard output does not stop a run" 0 "$(cat "$T/status")"
check "with a closed pipe, the checkpoints are right" whole pipe
check_same "with a closed pipe, the log has all steps" 12 \
	"$(jq -r 'select(.type=="step").step' "$T/pipe/log.jsonl" | wc -l)"
train closed >&- 2>"$T/err"
check_same "standard output that was never open does not stop a run" 0 $?
if [ -e /dev/full ]; then
	train full >/dev/full 2>"$T/err"
	check_same "full standard output does not stop a run" 0 $?
fi
vt-train --status "$T/pipe" >/dev/full 2>"$T/err"
check_same "--status on full standard output ends with 1" 1 $?

if [ $shim = yes ]; then
	vt-schedule --batch=20 --frames=2 --crop=16 --bn-size=4 --lr=0.1 --epochs=20000 -o "$T/long.tsv"
	# run_long DIR: start a run in the background that waits within a step.
	# Set $pid.
	run_long() {
		rm -f "$T/hold" "$T/hold.held"
		env LD_PRELOAD="$T/fault.so" FAULT_HOLD="$T/hold" "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" \
			--schedule "$T/long.tsv" -o "$T/$1" --seed 7 --device ref -j 1 --loader-memory 1 --log-every 1 \
			>/dev/null 2>"$T/err" &
		pid=$!
		await grep -q '"type":"step"' "$T/$1/log.jsonl"
		: >"$T/hold"
		await test -e "$T/hold.held"
	}
	# heard: wait until the run prints that it received the signal.
	heard() {
		await grep -q 'the step is finished and saved first' "$T/err"
	}
	(
		run_long int
		trap - INT
		kill -INT $pid
		heard
		rm "$T/hold"
		wait $pid
		echo $? >"$T/status"
	)
	check_same "an interrupt saves, exit 75" 75 "$(cat "$T/status")"
	check_says "says at once what it does" 'the step is finished and saved first'
	check_says "and then what is saved, and where" "stopped after step [0-9]+, which is saved in $T/int: the same command resumes"
	check_same "--status" "unfinished 75" "$(state int)"
	(
		run_long int2
		kill -INT $pid
		heard
		sleep 0.3	# two within 0.2 s are one (base/stop.c)
		kill -INT $pid
		wait $pid
		echo $? >"$T/status"
	)
	check_same "a second SIGINT ends the run within the step, with 130" 130 "$(cat "$T/status")"
	check_same "after a second SIGINT, --status says unfinished" "unfinished 75" "$(state int2)"
	(
		run_long usr1
		kill -USR1 $pid
		await grep -q '^ShdPnd:.0*$' /proc/$pid/status
		kill -USR1 $pid
		check_same "--status of a run that trains says running" "running 75" "$(state usr1)" >&3
		rm "$T/hold"
		wait $pid
		echo $? >"$T/status"
	) 3>&1
	n_tests=$((n_tests + 1))
	check_same "SIGUSR1 may arrive twice, and the run ends with 75" 75 "$(cat "$T/status")"
else
	skip "signals within a step" "no compiler"
fi

# ---- a full disk ----

# A file system of 160 KiB for the run, if a private mount is allowed.
each=$(wc -c <"$first")
small() {
	mkdir -p "$T/disk"
	unshare -rm sh -c 'mount -t tmpfs -o size=160k none "$0" && cp -r "$0-was/." "$0/" 2>/dev/null; "$@"; s=$?
		rm -rf "$0-was"; cp -r "$0" "$0-was"; exit $s' "$T/disk" "$@"
}
if unshare -rm mount -t tmpfs none "$T" 2>/dev/null; then
	big() {	# like train, with a network whose checkpoints have 36 KiB
		sed 's/out=8/out=96/' "$T/net.net" >"$T/big.net"
		small "$BUILD/vt-train" -i "$T/train" --val "$T/val" -m "$T/big.net" --schedule "$T/s.tsv" -o "$T/disk/run" \
			--seed 7 --device ref -j 1 --save-steps 1 "$@"
	}
	check_message "-n on a disk that is too small" 0 'checkpoints may take .* and the disk has .* free' \
		big --keep 20 -n
	check_exit "-n on a disk with enough space" 0 train none -n
	check_same "-n does not warn on a disk with enough space" "" "$(grep 'checkpoints may' "$T/err")"
	big --keep 20 >/dev/null 2>"$T/err"
	check_same "a full disk makes room, exit 0" 0 $?
	check_says "at the expense of older checkpoints" 'ckpt-0000000001.safetensors: removed because the disk is full'
	check_same "and nothing is missing" "best.safetensors final.safetensors" \
		"$(cd "$T/disk-was/run" && ls | grep -E '^(best|final)' | tr '\n' ' ' | sed 's/ $//')"
else
	skip "a full disk" "cannot mount"
fi

# ---- refused runs change nothing ----

snapshot() {
	(cd "$T/$1" && find . -type f -exec cksum {} + | sort) | cksum
}
was=$(snapshot ref)
check_exit "resuming with another momentum is refused" 2 train ref --momentum 0.8
check_exit "resuming with another learning rate for past steps is refused" 2 sh -c "
	sed 's/\t0\.1\t/\t0.2\t/' '$T/s.tsv' | '$BUILD/vt-train' -i '$T/train' --val '$T/val' -m '$T/net.net' --schedule - -o '$T/ref' --seed 7 --device ref"
check_exit "--resume=never with an existing run is refused" 2 train ref --resume never
check_same "refused runs change no file" "$was" "$(snapshot ref)"
check_exit "--resume from a checkpoint with another setting, in a new directory, is refused" 2 \
	train new --resume "$T/ref/final.safetensors" --momentum 0.8
check "the refused run makes no directory" test ! -e "$T/new"
mkdir "$T/empty"
check_exit "--resume from a checkpoint with another setting, in an empty directory, is refused" 2 \
	train empty --resume "$T/ref/final.safetensors" --momentum 0.8
check_same "the refused run leaves no lock" "" "$(ls -A "$T/empty")"
check_exit "--resume from a checkpoint with the same settings starts a new run" 0 \
	train other --resume "$T/ref/final.safetensors" --keep-best none
check "the new run writes into its own directory" test -s "$T/other/final.safetensors"
cp -r "$T/ref" "$T/cut" && head -c 3000 "$T/ref/final.safetensors" >"$T/cut/ckpt-0000000013.safetensors"
was=$(snapshot cut)
check_same "--status of a finished run with a damaged checkpoint" "finished 0" "$(state cut)"
check_same "--status changes no file" "$was" "$(snapshot cut)"

# ---- the log, and the files of a run ----

check_same "the log's start has host, arguments and version" \
	"$(uname -n) $T/ref $(vt-train --version | sed -n 's/^vt-train (vt) //p')" \
	"$(jq -r 'select(.type=="start") | [.host, .arguments[(.arguments | index("-o")) + 1], .versions.vt] | join(" ")' "$T/ref/log.jsonl")"
check "every line of the log has its time" jq -se 'all(.[]; (.time | fromdate) > 1700000000)' "$T/ref/log.jsonl"
check "a step in the log has memory and clips a second" \
	jq -se 'all(.[] | select(.type=="step"); .peak_memory > 1000000 and .clips_per_s > 0)' "$T/ref/log.jsonl"
awk -F'\t' -v OFS='\t' 'NR > 1 { $8 = "4/20" } 1' "$T/s.tsv" >"$T/between.tsv"
check "a run with interleaved BN groups" \
	sh -c "'$BUILD/vt-train' -i '$T/train' -m '$T/net.net' --schedule '$T/between.tsv' -o '$T/between' --device ref -q --log-every 1"
check_same "the log has the interleaved groups" \
	"4 20" "$(jq -r 'select(.type=="step") | "\(.bn) \(.bn_run)"' "$T/between/log.jsonl" | sort -u)"
(cd "$T" && "$BUILD/vt-train" -i train --val val -m ./net.net --schedule - -o typed --seed 7 --device ref -q --precise-bn off <s.tsv >/dev/null)
rm "$T/typed/ckpt-"* "$T/typed/final.safetensors" "$T/typed/best.safetensors"
check_exit "the config of a run works from another directory" 0 sh -c "cd / && '$BUILD/vt-train' -c '$T/typed/config'"
check_same "the config gives the same run" "$final" "$(meta "$T/typed/final.safetensors" vt.tensors)"
check_message "a run's folder as --model ends with 2" 2 \
	"--model=$T/ref/network.net is the network of that run, --output=$T/ref resumes it" \
	vt-train -i "$T/train" -m "$T/ref" --schedule "$T/s.tsv" -o "$T/no" --device ref
mkdir "$T/tsm_tiny"
check_exit "a directory with the name of a network does not hide it" 0 \
	sh -c "cd '$T' && vt-train -n -i train -m tsm_tiny --schedule s.tsv --device ref"
train full --resume never --trace-samples "$T/trace.tsv" >/dev/null 2>&1
if [ $mpi = yes ]; then
	RUN="mpirun -np 2" train ranks --trace-samples "$T/ranks.tsv" >/dev/null 2>&1
	check_same "the trace of each rank has a header" 2 "$(cat "$T"/ranks.tsv.? | grep -c '^#step	clip	key')"
fi
if [ $trace = yes ]; then
	mkdir "$T/log"
	faulty write error=ENOSPC:when=3..6 -P "$T/log/log.jsonl"
	check_exit "a log that cannot be written for a while" 0 train log --log-every 1
	RUN=''
	check_same "no line of the log is lost" "$(jq -r '[.type, .step] | @tsv' "$T/pipe/log.jsonl" | cksum)" \
		"$(jq -r '[.type, .step] | @tsv' "$T/log/log.jsonl" | cksum)"
	faulty write error=ENOSPC:when=3+ -P "$T/log2/log.jsonl"
	check_exit "a log that can never be written ends with 1" 1 train log2
	RUN=''
	check_says "a log that can never be written: the message counts the bytes that were not written" \
		'log.jsonl: its last [0-9]+ bytes could not be written'
fi
if [ -e "$BUILD/tests/fault.so" ]; then
	twice=
	for k in $(seq 20 34); do
		RUN="env LD_PRELOAD=$BUILD/tests/fault.so FAULT=open:$k+:EMFILE"
		rm -rf "$T/files"
		train files >/dev/null 2>"$T/err" && diag "open:$k+:EMFILE did not fail"
		[ -z "$(sort "$T/err" | uniq -d)" ] || twice="$twice $k"
	done
	RUN=''
	check_same "without free file descriptors, each failure is reported once" '' "$twice"
else
	skip "without free file descriptors, each failure is reported once" "this processor's system calls are not caught"
fi
if command -v script >/dev/null; then
	TERM=xterm script -qec "'$BUILD/vt-train' -i '$T/train' --val '$T/val' -m '$T/net.net' --schedule '$T/s.tsv' -o '$T/tty' \
		--seed 7 --device ref --log-every 1" /dev/null </dev/null >"$T/out"
	sed 's/\r$//; s/.*\r\x1b\[K//' "$T/out" >"$T/rows"
	check_same "on a terminal, each step has a line of columns" 12 \
		"$(grep -cE '^ +[0-9]+ +[0-9.]+ +20x2x16 ' "$T/rows")"
	check_same "on a terminal, lines have at most 80 columns" 0 \
		"$(awk 'length > 80' "$T/rows" | grep -vc 'note:')"
else
	skip "columns on a terminal" "no script(1)"
fi
plan
