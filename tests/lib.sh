# Functions for the shell tests: TAP on standard output.
# A test sources this file from the root of the tree and ends with "plan".
BUILD=${BUILD:-build}
SHARED=${VT_SHARED:-../shared}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
case $SHARED in /*) ;; *) SHARED=$PWD/$SHARED ;; esac
PATH="$BUILD:$PATH"
VT_SHARE_DIR=$PWD/share
export PATH VT_SHARE_DIR
. tests/sanitizers
# Open MPI as root, with more ranks than processors, and none of them bound.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
# Makes packed sets of made-up clips, as its source says.
MAKESET=$BUILD/tests/tools/makeset
n_tests=0

# built PART: this build has it
built() {
	vt-train --version | grep -q "^Built with:.*$1"
}
# find_torch: a Python that has PyTorch, into $python; PYTHON names one first
find_torch() {
	for python in "${PYTHON:-python3}" python3 /usr/bin/python3; do
		if "$python" -c 'import importlib.util as u; exit(u.find_spec("torch") is None)' 2>/dev/null; then return 0; fi
	done
	return 1
}
# narrower [FILE]: a network with an eighth of its channels where that is whole
narrower() {
	awk 'function less(v) { return v % 64 == 0 ? v / 8 : v }
		/^(def|end|#)/ { print; next }
		{
			for (i = 1; i <= NF; i++)
				if (split($i, a, "=") == 2 && (a[1] == "mid" || a[1] == "out") && a[2] ~ /^[0-9]+$/)
					$i = a[1] "=" less(a[2])
			print
		}' "$@"
}
# sample_info, frame_sums ARGUMENT...: what vt-extract makes of them, a line for
# the .json of each sample, or for the hash of each frame
sample_info() {
	vt-extract -q "$@" | tar xOf - --wildcards '*.json' | sed 's/}{/}\n{/g'
}
frame_sums() {
	rm -rf "$T/x" && mkdir "$T/x"
	vt-extract -q "$@" | tar xf - -C "$T/x"
	(cd "$T/x" && find . -name '*.[0-9]*.*' | LC_ALL=C sort | xargs md5sum | cut -d' ' -f1)
}
have_mpi() {
	built 'Open MPI' && command -v mpirun >/dev/null
}
ok() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $*"
}
not_ok() {
	n_tests=$((n_tests + 1))
	echo "not ok $n_tests - $*"
}
diag() {
	echo "$*" | sed 's/^/# /'
}
# skip WHAT WHY: one test that cannot run here
skip() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}
# retell PROGRAM FILE: the results that PROGRAM wrote there, as ours
retell() {
	grep -q '^1\.\.' "$2" || not_ok "$1 ran to its end"
	while read -r line; do
		case $line in
		ok*) ok "${line#*- }" ;;
		not*) not_ok "${line#*- }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$2"
}
# skip_all WHY: the whole file cannot run here
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
plan() {
	echo "1..$n_tests"
}
# check WHAT COMMAND...: passes if the command succeeds
check() {
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then ok "$what"; else
		not_ok "$what"
		diag "failed: $*"
	fi
}
# check_same WHAT WANTED GOT
check_same() {
	if [ "$2" = "$3" ]; then ok "$1"; else
		not_ok "$1"
		diag "wanted: $2"
		diag "got:    $3"
	fi
}
# check_exit WHAT STATUS COMMAND...: the exit status; death by a signal and a
# sanitizer's report are never what was wanted
check_exit() {
	what=$1 want=$2
	shift 2
	got=0
	"$@" >"$T/out" 2>"$T/err" || got=$?
	if [ "$got" = "$want" ] && ! grep -qE 'runtime error|Sanitizer' "$T/err"; then
		ok "$what"
	else
		not_ok "$what"
		diag "exit $got (wanted $want): $*"
		diag "$(head -5 "$T/err")"
	fi
}
# check_says WHAT REGEX: the last check_exit wrote a matching line to stderr
check_says() {
	if grep -qE -- "$2" "$T/err"; then ok "$1"; else
		not_ok "$1"
		diag "no line matches: $2"
		diag "$(head -5 "$T/err")"
	fi
}
# damaged_set SET PLACE: $T/broken-PLACE, the same with one byte changed in the
# index or the footer of its first shard, or in its manifest
damaged_set() {
	rm -rf "$T/broken-$2"
	cp -r "$1" "$T/broken-$2"
	file=$(find "$T/broken-$2" -name '*-000000.tar')
	size=$(wc -c <"$file")
	case $2 in
	index) at=$((size - 2048 - 64)) ;;
	footer) at=$((size - 1300)) ;;
	manifest) file=$T/broken-$2/manifest.json at=60 ;;
	esac
	byte=$(od -An -tu1 -j "$at" -N1 "$file")
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $((byte ^ 2)))" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
}
# descendants PID: its children, and theirs
descendants() {
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}
# run_pid PID: the first of PID and those below it that is no shell
run_pid() {
	for p in $1 $(descendants "$1"); do
		case $(readlink "/proc/$p/exe") in */vt-* | *mpirun* | *orterun*) echo "$p"; return ;; esac
	done
}
# await COMMAND...: wait until it succeeds, for a minute at most
await() {
	for waited in $(seq 1200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	diag "after $waited looks in vain: $*"
	return 1
}
# on_ranks COMMAND...: on $np of them
np=1
on_ranks() {
	if [ $np = 1 ]; then "$@"; else mpirun -np $np "$@"; fi
}
# killed_often N COMMAND...: start it N times, on $np ranks, 1 and 2 in turn with MPI,
# and kill it, a little later each time
killed_often() {
	times=$1 again=0
	shift
	while [ $again -lt "$times" ]; do
		np=1
		! have_mpi || np=$((again % 2 + 1))
		"$@" >/dev/null 2>&1 &
		pid=$!
		sleep 0.$((again * 2 + 2))
		kill -KILL "$(run_pid $pid)" 2>/dev/null
		wait $pid
		again=$((again + 1))
	done
	np=1
}
# rank_pid PID RANK: the process of a rank that mpirun, itself below PID, has
# started; waits for it to be there
rank_pid() {
	for i in $(seq 200); do
		for p in $(descendants "$1"); do
			case $(readlink "/proc/$p/exe") in */vt-*) ;; *) continue ;; esac
			tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$2" || continue
			echo "$p"
			return
		done
		sleep 0.05
	done
}
# videos_begin: skip the test without ffmpeg and its libraries; $V is a folder for
# videos
videos_begin() {
	command -v ffmpeg >/dev/null || skip_all "no ffmpeg command"
	built FFmpeg || skip_all "no FFmpeg in this build"
	V=$T/v
	mkdir -p "$V"
}
# small_net OUT [OUT2 [RATE]]: a network that plain loops are fast enough for: a
# convolution to OUT channels and a head; with OUT2 a temporal shift and a second
# convolution, too, and with RATE dropout
small_net() {
	cat <<-NET
	input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
	conv     conv1    in=x out=$1 k=3,3 s=2,2
	bn       bn1      in=conv1
	relu     relu1    in=bn1
	NET
	[ -z "${2:-}" ] || cat <<-NET
	shift    shift1   in=relu1 fold=4
	conv     conv2    in=shift1 out=$2 k=3,3
	bn       bn2      in=conv2
	relu     relu2    in=bn2
	NET
	echo "avgpool  avgpool  in=relu$((1 + (${2:-0} > 0))) over=hw"
	[ -z "${3:-}" ] || echo "dropout  dropout  in=avgpool rate=$3"
	last=avgpool
	[ -z "${3:-}" ] || last=dropout
	echo "linear   fc       in=$last out=classes std=0.1"
	echo "avgpool  scores   in=fc over=t"
}
# each_cell BATCH: a schedule with each cell of --policy=long+short for an epoch, of
# microbatches of two clips
each_cell() {
	vt-schedule --policy=long+short --batch=4 --frames=8 --crop=48 --bn-size=2 --epochs=4 --milestones=1,2 |
		awk -v batch="$1" 'BEGIN { FS = OFS = "\t" }
			/^#/ { print; next }
			seen[$6, $7]++ { next }
			{ $1 = n + 0; $2 = $1; $3 = $1 + 1; $4 = 0; $5 = batch; $9 = 0.01; n++; print }'
}
# stages ROW...: a schedule of these rows, between blanks
stages() {
	echo "#stage epoch_begin epoch_end cycle batch frames crop bn lr stride_min stride_max" | tr ' ' '\t'
	printf '%s\n' "$@" | tr ' ' '\t'
}
# A folder of the test's own, removed at the end.
T=$(mktemp -d "${TMPDIR:-/tmp}/vt-test.XXXXXX")
trap 'rm -rf "$T"' EXIT
trap 'exit 143' TERM INT
