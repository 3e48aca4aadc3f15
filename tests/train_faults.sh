#!/bin/sh
# vt-train when things go wrong: what is saved, what is the best, what --status
# says, and what is left on the disk.
# tests/run: weight 60
cd "${0%/*}/.." || exit 2
. tests/lib.sh
MAKESET=$BUILD/tests/tools/makeset
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
mpi=yes
command -v mpirun >/dev/null || mpi=no
vt-train --version | grep -q '^Built with:.*Open MPI' || mpi=no
trace=yes
strace -o /dev/null true 2>/dev/null || trace=no

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
cat >"$T/net.net" <<'NET'
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=8 k=3,3 s=2,2
bn       bn1      in=conv1
relu     relu     in=bn1
avgpool  avgpool  in=relu over=hw
linear   fc       in=avgpool out=classes std=0.1
avgpool  scores   in=fc over=t
NET
vt-schedule --batch=20 --frames=2 --crop=16 --bn-size=4 --lr=0.1 --epochs=6 -o "$T/s.tsv" || skip_all "no schedule"

# train DIR [OPTION]...: 12 steps of 20 clips, validated every two; 2, 6 and 8 are the best so far
train() {
	dir=$1
	shift
	${RUN:-} "$BUILD/vt-train" -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 -q --save-steps 1 --keep 2 "$@"
}
# header FILE: the header of a checkpoint, as JSON
header() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')"
}
meta() {
	header "$1" | jq -r ".__metadata__[\"$2\"]"
}
# poison FILE TENSOR BYTES: its first value becomes these bytes (of printf), and the footer fits again
poison() {
	at=$(($(od -An -tu8 -N8 "$1") + 8 + $(header "$1" | jq ".\"$2\".data_offsets[0]")))
	printf "$3" | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
	size=$(wc -c <"$1")
	sum=$(head -c -64 "$1" | xxh128sum | cut -c 1-32 | sed 's/../\\x&/g')
	env printf "$sum" | dd of="$1" bs=1 seek=$((size - 48)) conv=notrunc 2>/dev/null
}
NAN='\000\000\300\177'
# state DIR: in a word, and the exit status
state() {
	vt-train --status "$T/$1" >"$T/said" 2>"$T/err"
	echo "$(jq -r .state "$T/said") $?"
}
# faulty CALL WHAT [STRACE OPTION]...: what runs "train" so that CALL fails as WHAT says
faulty() {
	call=$1 what=$2
	shift 2
	RUN="strace -f -o /dev/null -e trace=$call -e inject=$call:$what $*"
}

# ---- the undisturbed run ----

check "the run that all others are held against" train ref
final=$(meta "$T/ref/final.safetensors" vt.tensors)

# ---- locks ----

if [ $trace = yes ]; then
	for call in openat flock ftruncate write; do
		faulty $call error=EINTR:when=1 -P "$T/lock/.vt-train.lock"
		check "the lock file: $call interrupted once is made again" train lock
		RUN=''
		rm -rf "$T/lock"
	done
	faulty write error=ENOSPC -P "$T/lock/.vt-train.lock"
	check_exit "no room for the lock file" 1 train lock
	RUN=''
	check_says "is said as it is" 'lock: cannot write: No space left'
	rm -rf "$T/lock"
else
	skip "an interrupted lock" "no strace"
fi

# ---- the best checkpoint ----

# at NAME WHAT: what runs "train" so that the rename to NAME fails as WHAT says:
# "once", "ever", or "kill"
cat >"$T/fault.c" <<'SHIM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
SHIM
shim=yes
${CC:-cc} -shared -fPIC -o "$T/fault.so" "$T/fault.c" -ldl 2>/dev/null || shim=no
at() {
	RUN="env LD_PRELOAD=$T/fault.so FAULT_AT=$1 FAULT_WHAT=$2"
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
}

best=$(meta "$T/ref/best.safetensors" vt.step)
check_same "the last state names the best" "$best" "$(meta "$T/ref/final.safetensors" vt.best_step)"
# whole DIR: every checkpoint of the run is that of the undisturbed one
whole() {
	for f in "$T"/ref/*.safetensors; do
		cmp -s "$f" "$T/$1/${f##*/}" || { diag "$1: ${f##*/} differs"; return 1; }
	done
}
if [ $shim = yes ]; then
	# Killed between a checkpoint and its second name, and in other places.
	for f in best.safetensors latest final.safetensors ckpt-0000000008.safetensors; do
		at $f kill
		rm -rf "$T/kill"
		train kill >/dev/null 2>&1
		RUN=''
		check_same "killed before $f has its name: unfinished" "unfinished 75" "$(state kill)"
		check "and the same command goes on" train kill
		check "to the same best and final" whole kill
	done
	rm "$T/kill/best.safetensors"
	cp "$T/kill/ckpt-0000000012.safetensors" "$T/kill/ckpt-0000000008.safetensors"
	check_exit "another checkpoint is not taken for the best" 1 train kill
	cp "$T/ref/best.safetensors" "$T/kill/ckpt-0000000008.safetensors"
	check "its own is, even when the run is finished" train kill
	check "and is named so again" whole kill
	# Every save that can fail, once and for ever: what the run says is true.
	for f in best.safetensors latest ckpt-0000000006.safetensors ckpt-0000000008.safetensors \
		ckpt-0000000012.safetensors final.safetensors; do
		rm -rf "$T/eio"
		at $f once
		check_exit "$f that fails once" "$([ $f = final.safetensors ] && echo 1 || echo 0)" train eio
		RUN=''
		[ $f = final.safetensors ] || check "is written after all" whole eio
	done
	rm -rf "$T/eio"
	at best.safetensors ever
	check_exit "a best that cannot be named is exit 1" 1 train eio
	check_says "and said" 'the end is not saved; the last safe step is 1: .*best'
	RUN=''
	check_same "which --status says, too" "failed 1" "$(state eio)"
	check "and the same command mends it" train eio
	check "with the best" whole eio
else
	skip "kills and failed saves" "no compiler"
fi
cp -r "$T/ref" "$T/lost" && rm "$T/lost/best.safetensors"
check_exit "a best that is lost is exit 1" 1 train lost
check_says "which says so" "best.safetensors: is not there, or not of step 8"
check_exit "each time" 1 train lost
check_exit "unless none is wanted" 0 train lost --keep-best none
check_same "by loss, the best is counted anew" "" "$(train loss --stop-after 0.001s >/dev/null 2>&1
	train loss --keep-best loss >/dev/null 2>"$T/err" || cat "$T/err"
	for i in "$T/loss/best.safetensors"; do [ "$(meta "$i" vt.best_metric)" = loss ] || echo "not by loss"; done)"
plan
