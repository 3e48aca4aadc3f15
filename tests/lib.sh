# Functions for the shell tests. Results go to standard output as TAP. A test
# sources this file from the root of the tree and ends with "plan".
BUILD=${BUILD:-build}
SHARED=${VT_SHARED:-../shared}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
case $SHARED in /*) ;; *) SHARED=$PWD/$SHARED ;; esac
PATH="$BUILD:$PATH"
VT_SHARE_DIR=$PWD/share
export PATH VT_SHARE_DIR
. tests/sanitizers
# Allow Open MPI to run as root, with more ranks than processors, none of them
# bound.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
# makeset DIR CLIPS FRAMES WIDTH HEIGHT SEED [NAME=N]...: make a packed set of
# synthetic clips. tests/tools/makeset.c documents the arguments.
MAKESET=$BUILD/tests/tools/makeset
n_tests=0

# built PART: succeed if this build contains PART.
built() {
	vt-train --version | grep -q "^Built with:.*$1"
}
# wrapper COMMAND ARGUMENT...: print a PATH in which COMMAND gets the ARGUMENTs before
# its own.
wrapper() {
	wrapper_dir=$(mktemp -d "$T/wrapper.XXXXXX") wrapped=$1
	{
		echo '#!/bin/sh'
		echo "PATH=\${PATH#*'$wrapper_dir:'} && export PATH"
		printf "exec %s" "$1"
		shift
		printf " '%s'" "$@"
		echo ' "$@"'
	} >"$wrapper_dir/$wrapped"
	chmod +x "$wrapper_dir/$wrapped"
	echo "$wrapper_dir:$PATH"
}
# options_in_help COMMAND [=all]: print the options that --help lists, as --name or -n,
# one a line.
options_in_help() {
	"$1" --help"${2:-}" | sed -n 's/^  \(-., \|    \)--\([a-z0-9[-]\)/\1--\2/p' | awk '
		/^-/ { print substr($0, 1, 2) }
		{
			match($0, /--[][a-z0-9-]*/)
			name = substr($0, RSTART, RLENGTH)
			sub(/\[$/, "", name)		# of --verify[=DEPTH]
			if (sub(/\[no-\]/, "", name))
				print "--no-" substr(name, 3)
			print name
		}' | sort
}
# examples: print the displays of a formatted page that a reader would paste.
# Their lines are indented by 11. A blank line follows each. Displays with "$ "
# show output, and are left out.
examples() {
	col -bx | awk '
		/^[A-Z]/ { inside = /^EXAMPLES/ }
		inside && /^           / { print; shown = 1; next }
		shown { print ""; shown = 0 }' | awk -v RS= -v ORS='\n\n' '!/^ *\$ /'
}
# examples_of PAGE: print them as mandoc formats them.
examples_of() {
	mandoc -Tutf8 -O width=80 "$1" 2>/dev/null | examples
}
# settings_of BUILD: print the compiler and all its flags and libraries in this build,
# quoted for eval.
settings_of() {
	cat "$1/flags" "$1/parts" | paste -s -d ' ' -
}
have() {
	command -v "$1" >/dev/null
}
# header FILE: print the header of a checkpoint, as JSON.
header() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')"
}
# tensors RUN: print the hash of each tensor of a run, whose path may begin in $T.
tensors() {
	(cd "$T" && header "$1/final.safetensors") | jq -r '.__metadata__["vt.tensors"]'
}
# digest RUN: print a checksum of all values in the last checkpoint of a run in $T,
# without the 64 values of the footer, which come last.
digest() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null 2>&1 || { echo "none of $1"; return; }
	head -c -256 "$T/all" | cksum
}
# same RUN RUN: succeed if two runs in $T end with equal files.
same() {
	cmp -s "$T/$1/final.safetensors" "$T/$2/final.safetensors"
}
# log RUN TYPE: print the lines of this type in the log of a run in $T.
log() {
	jq -c "select(.type == \"$2\")" "$T/$1/log.jsonl"
}
# find_python MODULE...: set $python to a Python that has all MODULEs. Try PYTHON
# first. Fail if none is found.
find_python() {
	for python in "${PYTHON:-python3}" python3 /usr/bin/python3; do
		if "$python" -c 'import importlib.util as u, sys; exit(None in map(u.find_spec, sys.argv[1:]))' "$@" 2>/dev/null; then
			return 0
		fi
	done
	return 1
}
# find_torch: set $python to a Python that has PyTorch.
find_torch() {
	find_python torch
}
# narrower [FILE]: print a network with an eighth of its channels. Layers whose
# channels are not a multiple of 64 keep them.
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
# damage_frames DIR [N]: overwrite bytes in each frame of the first N samples (1) of
# the first shard in DIR. The shard's own structure stays intact.
damage_frames() {
	damaged=$(find "$1" -name '*-000000.tar')
	tar tRf "$damaged" | tr -d : | awk -v n="${2:-1}" '
		{ key = $3; sub(/\..*/, "", key); samples += !(key in seen); seen[key] }
		samples <= n && $3 ~ /\.(jpg|raw|png)$/ { print ($2 + 1) * 512 + 100 }' |
		while read -r at; do
			printf 'no picture' | dd of="$damaged" bs=1 seek="$at" conv=notrunc 2>/dev/null
		done
}
# sample_info ARGUMENT...: run vt-extract and print the .json of each sample,
# one per line.
# frame_sums ARGUMENT...: run vt-extract and print the hash of each frame, one
# per line.
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
# skip WHAT WHY: report one check that cannot run here.
skip() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}
# retell PROGRAM FILE: report the TAP results in FILE, written by PROGRAM, as
# results of this test.
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
# skip_all WHY: report that the whole file cannot run here, and exit.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
plan() {
	echo "1..$n_tests"
}
# check WHAT COMMAND...: pass if COMMAND succeeds.
check() {
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then ok "$what"; else
		not_ok "$what"
		diag "failed: $*"
	fi
}
# check_same WHAT WANTED GOT: pass if the two strings are equal.
check_same() {
	if [ "$2" = "$3" ]; then ok "$1"; else
		not_ok "$1"
		diag "wanted: $2"
		diag "got:    $3"
	fi
}
# check_exit WHAT STATUS COMMAND...: pass if COMMAND exits with STATUS. A
# sanitizer report always fails the check. Its output stays in $T/out and
# $T/err.
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
# check_says WHAT REGEX: pass if the last check_exit wrote a matching line to
# stderr.
check_says() {
	if grep -qE -- "$2" "$T/err"; then ok "$1"; else
		not_ok "$1"
		diag "no line matches: $2"
		diag "$(head -5 "$T/err")"
	fi
}
# check_message WHAT STATUS REGEX COMMAND...: check_exit, then check_says.
check_message() {
	message_of=$1 status_of=$2 regex=$3
	shift 3
	check_exit "$message_of" "$status_of" "$@"
	check_says "$message_of: the message" "$regex"
}
# damaged_set SET PLACE: copy SET to $T/broken-PLACE and change one byte there.
# PLACE is index or footer (of the first shard) or manifest.
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
# descendants PID: print all descendant processes of PID.
descendants() {
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}
# run_pid PID: print the first of PID and its descendants that runs vt or
# mpirun, not a shell.
run_pid() {
	for p in $1 $(descendants "$1"); do
		case $(readlink "/proc/$p/exe") in */vt-* | *mpirun* | *orterun*) echo "$p"; return ;; esac
	done
}
# await COMMAND...: retry COMMAND until it succeeds, for about a minute.
await() {
	for waited in $(seq 1200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	diag "gave up after $waited attempts: $*"
	return 1
}
# on_ranks COMMAND...: run COMMAND on $np ranks.
np=1
on_ranks() {
	if [ $np = 1 ]; then "$@"; else mpirun -np $np "$@"; fi
}
# killed_often N COMMAND...: start COMMAND N times and kill it, a little later
# each time. With MPI it alternates between 1 and 2 ranks ($np). Ranks of a killed
# mpirun hold the lock of the run until they end: wait for them up to 10 s.
killed_often() {
	times=$1 again=0
	shift
	while [ $again -lt "$times" ]; do
		np=1
		! have_mpi || np=$((again % 2 + 1))
		"$@" >/dev/null 2>&1 &
		pid=$!
		sleep 0.$((again * 2 + 2))
		ranks=$(descendants $pid)
		kill -KILL "$(run_pid $pid)" 2>/dev/null
		wait $pid
		for p in $ranks; do
			i=0
			while [ -e "/proc/$p/exe" ] && [ $((i += 1)) -lt 100 ]; do sleep 0.1; done
		done
		again=$((again + 1))
	done
	np=1
}
# rank_pid PID RANK: print the process of RANK below the mpirun of PID. Wait up
# to 10 s for it to start.
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
# videos_begin: skip the test without ffmpeg and its libraries. Set $V to a
# folder for videos.
videos_begin() {
	command -v ffmpeg >/dev/null || skip_all "no ffmpeg command"
	built FFmpeg || skip_all "no FFmpeg in this build"
	V=$T/v
	mkdir -p "$V"
}
# small_net OUT [OUT2 [RATE]]: print a network small enough for the reference
# loops. It has a convolution to OUT channels and a head. OUT2 adds a temporal
# shift and a second convolution. RATE adds dropout.
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
# each_cell BATCH: print a schedule that visits each cell of --policy=long+short
# for one epoch, in microbatches of two clips.
each_cell() {
	vt-schedule --policy=long+short --batch=4 --frames=8 --crop=48 --bn-size=2 --epochs=4 --milestones=1,2 |
		awk -v batch="$1" 'BEGIN { FS = OFS = "\t" }
			/^#/ { print; next }
			seen[$6, $7]++ { next }
			{ $1 = n + 0; $2 = $1; $3 = $1 + 1; $4 = 0; $5 = batch; $9 = 0.01; n++; print }'
}
# stages ROW...: print a schedule of these rows, whose cells are separated by
# spaces.
stages() {
	echo "#stage epoch_begin epoch_end cycle batch frames crop bn lr stride_min stride_max" | tr ' ' '\t'
	printf '%s\n' "$@" | tr ' ' '\t'
}
# weights_apart RUN RUN: print the largest difference of the weights or BN
# statistics of two runs in $T.
weights_apart() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/all" >"$T/names"
		od -An -v -w4 -tf4 "$T/all" | awk -F'\t' '
			NR == FNR { n = split($3, dim, "x"); c = 1; for (i = 1; i <= n; i++) c *= dim[i]
				has = $1 ~ /^(model|bn)\//; while (c-- > 0) in_it[at++] = has; next }
			in_it[FNR - 1] { print $1 + 0 }' "$T/names" - >"$T/$run.numbers"
	done
	paste "$T/$1.numbers" "$T/$2.numbers" |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d } END { print (NR > 20 ? most + 0 : "none") }'
}
# is_below A B: succeed if the number A is below B.
is_below() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9]/ && b ~ /^[0-9]/ && a + 0 < b + 0) }'
}
# The test's own temporary folder, removed at the end.
T=$(mktemp -d "${TMPDIR:-/tmp}/vt-test.XXXXXX")
trap 'rm -rf "$T"' EXIT
trap 'exit 143' TERM INT
