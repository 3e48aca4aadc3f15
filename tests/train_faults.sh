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
vt-schedule --batch=20 --frames=2 --crop=16 --bn-size=4 --lr=0.03 --epochs=6 -o "$T/s.tsv" || skip_all "no schedule"

# train DIR [OPTION]...: 12 steps of 20 clips, validated every two
train() {
	dir=$1
	shift
	${RUN:-} "$BUILD/vt-train" -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 -q "$@"
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
plan
