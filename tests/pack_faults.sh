#!/bin/sh
# vt-pack killed or failed by the system at any call: an output name never holds
# half of anything, and the same command finishes the job with the same
# bytes.  strace does the killing.  VT_FAULTS=all tries every call;
# otherwise a subset, the same each time.
# tests/run: weight 20
cd "${0%/*}/.." || exit 2
. tests/lib.sh
make_stream=$BUILD/tests/stream
cd "$T" || exit 2
# The leak checker cannot work while it is traced.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
strace -o /dev/null true 2>/dev/null || skip_all "strace cannot trace here"

"$make_stream" 0 21 12 5000 3 1 >a.tar
pack="vt-pack -o set --shard-size=1M"
$pack a.tar >names || exit 1
mv set control
check "the control has several shards" test "$(wc -l <names)" -ge 3

same() {
	diff -r -x .vt-pack.lock control set
}
# No name holds anything but what belongs there.
sound() {
	for f in set/shard-*.tar set/manifest.json set/classes.txt; do
		[ ! -e "$f" ] || cmp -s "$f" "control/${f#set/}" || return 1
	done
}
# calls SYSCALL [OPTION]: how often the pack makes it
calls() {
	[ -n "${2-}" ] || rm -rf set
	strace -f -o trace -e trace="$1" $pack ${2-} a.tar >/dev/null 2>&1
	grep -c "^[0-9]* *$1(" trace
}
# places N: which of N calls to try
places() {
	if [ "${VT_FAULTS-}" = all ] || [ "$1" -le "$2" ]; then
		seq 1 "$1"
	else
		awk -v n="$1" -v k="$2" 'BEGIN { srand(7); for (i = 0; i < k; i++) print 1 + int((i + rand()) * n / k) }'
	fi
}

tried=0 bad=0
trouble() {
	bad=$((bad + 1))
	diag "$*"
}
resume() {	# WHAT: finish the job and compare
	$pack a.tar >again 2>err || trouble "$1: resume failed: $(cat err)"
	same >/dev/null || trouble "$1: other bytes after the resume"
	cmp -s names again || trouble "$1: other names after the resume"
	[ -z "$(find set -name '*.tmp.*')" ] || trouble "$1: work files are left"
}

# ---- killed ----

for call in write openat fsync fdatasync rename close unlink mkdir flock ftruncate; do
	for n in $(places "$(calls $call)" 12); do
		rm -rf set
		strace -f -o /dev/null -e trace=none -e inject=$call:signal=KILL:when="$n" \
			$pack a.tar >/dev/null 2>&1
		tried=$((tried + 1))
		[ ! -d set ] || sound || trouble "killed at $call $n: half an output"
		resume "killed at $call $n"
	done
done
check_same "killed at $tried places: nothing lost, and the same command gives the same bytes" 0 $bad

# Killed, and killed again while it resumes.
tried=0 bad=0
for n in $(places "$(calls write)" 6); do
	rm -rf set
	strace -f -o /dev/null -e trace=none -e inject=write:signal=KILL:when="$n" $pack a.tar >/dev/null 2>&1
	for again in fsync rename unlink; do
		strace -f -o /dev/null -e trace=none -e inject=$again:signal=KILL:when=1 \
			$pack a.tar >/dev/null 2>&1
		tried=$((tried + 1))
		[ ! -d set ] || sound || trouble "killed at write $n, then $again: half an output"
	done
	resume "killed at write $n, and in the resumes"
done
check_same "killed $tried times while resuming: the same" 0 $bad

# Killed while it replaces an old set.
bad=0 tried=0
"$make_stream" 50 4 12 5000 3 1 >old.tar
vt-pack -o old old.tar >/dev/null
for call in rename unlink fsync; do
	rm -rf set
	cp -r old set
	for n in $(places "$(calls $call -f)" 6); do
		rm -rf set
		cp -r old set
		strace -f -o /dev/null -e trace=none -e inject=$call:signal=KILL:when="$n" $pack -f a.tar >/dev/null 2>&1
		tried=$((tried + 1))
		# A manifest never lists shards that are not there.
		[ ! -e set/manifest.json ] || vt-pack -q --verify -i set >/dev/null 2>&1 ||
			trouble "-f killed at $call $n: a manifest without its shards"
		$pack -f a.tar >/dev/null 2>err || trouble "-f killed at $call $n: -f again: $(cat err)"
		same >/dev/null || trouble "-f killed at $call $n: other bytes"
	done
done
check_same "-f killed at $tried places: the old set, the new one, or none" 0 $bad

# ---- errors ----

tried=0 bad=0
for fault in write:ENOSPC write:EIO fsync:EIO fsync:ENOSPC fdatasync:EIO rename:EIO rename:EDQUOT \
	openat:EMFILE openat:EACCES close:EIO mkdir:ENOSPC flock:ENOLCK; do
	call=${fault%:*} error=${fault#*:}
	total=$(calls "$call")
	# Before the lock is opened the program is only being loaded.
	skip=0
	[ "$call" != openat ] || skip=$(grep -n 'vt-pack.lock' trace | head -1 | cut -d: -f1)
	[ "$call" != close ] || skip=$((total / 3))
	for n in $(places $((total - skip)) 3); do
		for ever in '' +; do
			rm -rf set
			strace -f -o /dev/null -e trace=none -e inject="$call:error=$error:when=$((n + skip))$ever" \
				$pack a.tar >/dev/null 2>err
			status=$?
			what="$error at $call $((n + skip))$ever"
			tried=$((tried + 1))
			case $status in
			0) same >/dev/null || trouble "$what: exit 0, other bytes" ;;
			1) [ -s err ] || [ "$call$ever" = write+ ] || trouble "$what: no message" ;;
			*) trouble "$what: exit $status" ;;
			esac
			[ ! -d set ] || sound || trouble "$what: half an output"
			[ ! -d set ] || [ -z "$(find set -name '*.tmp.*')" ] || [ "$call" = unlink ] ||
				trouble "$what: work files are left"
			resume "$what"
		done
	done
done
check_same "$tried errors of the system: a message, and nothing lost" 0 $bad

# Interrupted and short calls change nothing.
bad=0
for call in write read; do
	for how in error=EINTR:when=1+2 error=EINTR:when=30; do
		rm -rf set
		strace -f -o /dev/null -e trace=none -e inject=$call:$how $pack a.tar >/dev/null 2>err ||
			[ $call:$how = read:error=EINTR:when=1+2 ] || trouble "$call:$how: $(cat err)"
		rm -rf set
	done
done
check_same "interrupted calls are taken up again" 0 $bad

# ---- the order of things ----

# Nothing is renamed before it is synced; the manifest comes after all else.
rm -rf set
strace -f -y -o trace -e trace=fsync,fdatasync,rename,write $pack a.tar >/dev/null 2>&1
check "everything is durable before it is named, and named before it counts" awk '
	/fsync\(/ { match($0, /<[^>]*>/); synced[substr($0, RSTART + 1, RLENGTH - 2)] = ++step
		if ($0 ~ /\/set>/) { dir = step } }
	/rename\(/ { split($0, q, "\""); n = q[2]; sub(".*/", "", n); found = 0
		for (s in synced) { t = s; sub(".*/", "", t); if (t == n) found = 1 }
		if (!found) { print "renamed before sync: " $0; bad = 1 }
		if (last != "" && dir < last) { print "named before the directory was synced: " $0; bad = 1 }
		last = ++step
		if (q[4] ~ /manifest.json/) manifest = step
		else if (manifest) { print "after the manifest: " $0; bad = 1 } }
	/write\(1</ { if (last > dir) { print "printed before durable: " $0; bad = 1 } }
	END { exit bad || !manifest || dir < manifest }' trace
[ "$n_tests" -ge 6 ] && plan
