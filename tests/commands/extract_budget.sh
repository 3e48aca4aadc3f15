#!/bin/sh
# tests/run: weight 50
# vt-extract --budget: a decoder that crashes, loops, sleeps or grows costs one
# video, the other bytes are those without a budget, and no worker survives.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
HANG=$BUILD/tests/hang/vt-extract
BUDGET=cpu:60s,wall:5m,memory:2G
! grep -q -e -fsanitize "$BUILD/flags" || BUDGET=cpu:10m,wall:1h

for k in 1 2 3 4 5 6; do
	ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=192x144:r=25:d=$k" -c:v mpeg4 -q:v 3 "$V/a$k.avi" </dev/null
done
head -c 40000 "$V/a6.avi" >"$V/cut.avi"
ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=1 -vf "setpts='if(lt(N,9),N,N+N)'" -vsync vfr -c:v libx264 "$V/vfr.mkv" </dev/null
mkdir "$V/frames"
ffmpeg -v error -y -nostdin -i "$V/a1.avi" -frames:v 5 -q:v 2 "$V/frames/img_%05d.jpg" </dev/null

# ---- the same bytes ----

# both WHAT ARGUMENT...: check stream, messages and report with and without a
# budget, for several numbers of threads.
both() {
	what=$1
	shift
	vt-extract -q --report="$T/want.jsonl" "$@" >"$T/want.tar" 2>"$T/want.err"
	check "$what: there are samples" [ -s "$T/want.tar" ]
	for j in 1 5; do
		vt-extract -q -j$j --budget=$BUDGET --report="$T/got.jsonl" "$@" >"$T/got.tar" 2>"$T/got.err"
		check "$what: -j$j gives the same bytes with a budget" cmp "$T/want.tar" "$T/got.tar"
	done
	check_same "$what: the same messages with a budget" "$(cat "$T/want.err")" "$(cat "$T/got.err")"
	for f in want got; do jq -cS 'del(.spent, .cpu, .seconds)' "$T/$f.jsonl" >"$T/$f"; done
	check "$what: the same report with a budget" cmp "$T/want" "$T/got"
}
both "videos" --root="$V" "$V"/a*.avi "$V/vfr.mkv"
both "truncated and missing videos" --root="$V" --on-error=skip "$V"/*.avi "$V/gone.avi"
both "kept truncated videos" --root="$V" --allow-truncated --max-damage=99 "$V/cut.avi" "$V/a1.avi"
both "repeated frames" --root="$V" --fps=60 "$V"/a[123].avi
both "levels" --root="$V" --levels=128,64,32 "$V"/a[123].avi
both "sizes and limits" --root="$V" --on-error=skip --size=48x64 --quality=50 --max-frames=60 --strict-rate "$V"/a[123].avi "$V/vfr.mkv"
both "enlarged frames" --root="$V" --on-error=skip --short-side=300 --enlarge --max-pixels=10000 "$V/a1.avi" "$V/vfr.mkv"
both "flow" --root="$V" --flow=tvl1 --rgb --short-side=64 "$V/vfr.mkv"
printf 'path,label,time_start,time_end\na3.avi,x,0.5,1.9\na6.avi,y,2,\n' >"$T/times.csv"
printf 'path,label,frame_start,frame_end\na4.avi,x,7,20\nframes,y,1,3\n' >"$T/frames.csv"
both "parts of videos" --root="$V" --annotations="$T/times.csv" --annotations="$T/frames.csv"
both "a folder of frames" --root="$V" --short-side=100 "$V/frames" "$V/a1.avi"
both "frames in the spool's file" --root="$V" --spool-memory=1M --format=png "$V"/a[12].avi
C=$SHARED/data/clips
if [ -r "$C/MANIFEST.tsv" ]; then
	find "$C/derived" "$C/nasty" -type f ! -size +300k | LC_ALL=C sort | awk -F/ '{ k = $0; sub(/\.[^.\/]*$/, "", k) } !seen[k]++' >"$T/clips"
	both "damaged and odd real videos" --short-side=64 --on-error=skip --root="$C" -T "$T/clips"
else
	skip "damaged and odd real videos" "no $C/MANIFEST.tsv"
fi

# ---- failures ----

for f in crash loop sleep grow reserve; do cp "$V/a2.avi" "$V/$f.avi"; done
# costs NAME LIMITS REGEX: check that the failure NAME costs one video of five.
costs() {
	for j in 1 3; do
		check_exit "$1, -j$j: the other videos are stored" 3 "$HANG" -j$j --on-error=skip --budget="$2" \
			--root="$V" "$V/a1.avi" "$V/$1.avi" "$V/a2.avi" "$V/a3.avi" "$V/a4.avi" -o "$T/$1.tar" -f --report="$T/$1.jsonl"
		check_says "$1, -j$j: the message says why" "warning: skipped: .*/$1.avi: $3"
		check_same "$1, -j$j: the report has the status" "ok failed ok ok ok" \
			"$(jq -r 'select(.type == "video").status' "$T/$1.jsonl" | tr '\n' ' ' | sed 's/ $//')"
	done
	vt-extract -q --root="$V" "$V/a1.avi" "$V/a2.avi" "$V/a3.avi" "$V/a4.avi" | tar tf - | grep -v __vt__ >"$T/want"
	tar tf "$T/$1.tar" | grep -v __vt__ >"$T/got"
	check "$1: the stream has the other videos" cmp "$T/want" "$T/got"
}
costs loop cpu:1.5s 'cpu budget 1.5s exhausted \(--budget\)'
costs sleep wall:5s,cpu:60s 'wall budget 5s exhausted'
check_message "a parent ignores SIGCHLD: a loop is refused" 1 'loop.avi: cpu budget 0.5s exhausted' \
	env --ignore-signal=CHLD "$HANG" --budget=cpu:0.5s --root="$V" "$V/loop.avi" -o "$T/one.tar"
if grep -q -e -fsanitize "$BUILD/flags"; then
	skip "crash, grow, reserve" "a sanitizer has its own handler and memory"
else
	costs crash wall:5m 'the decoder crashed: signal 11 \(Segmentation fault\)'
	check_message "without --on-error=skip, a crash ends with 1" 1 'error: .*/crash.avi: the decoder crashed' \
		"$HANG" --budget=cpu:60s --root="$V" "$V/crash.avi" -o "$T/one.tar"
	costs grow memory:200M 'memory budget 200.00 MiB exhausted'
	costs reserve memory:200M 'memory budget 200.00 MiB exhausted'
fi
check_exit "--budget with -n ends with 2" 2 vt-extract -n --budget=cpu:60s "$V/a1.avi"
check_says "--budget with -n: the message" '--budget with -n, which decodes nothing'
while read -r b says; do
	check_message "--budget=$b ends with 2" 2 "error: --budget: $says" vt-extract --budget="${b#=}" "$V/a1.avi"
done <<'BUDGETS'
cpu cpu:"" \(wanted a time of at least 0.01s, whose unit is s, m, h or d, such as cpu:60s\)$
cpu:0 cpu:0 \(wanted a time of at least 0.01s
cpu:10ms cpu:10ms \(wanted a time of at least 0.01s, whose unit is s, m, h or d
wall:60x wall:60x \(wanted a time .* such as wall:60s
cpu:60s,memory:1M memory:1M \(wanted at least 64M, such as memory:2G\)$
disk:1G disk \(wanted cpu:TIME, wall:TIME or memory:BYTES, such as cpu:60s,wall:5m,memory:2G\)$
cpu:1s,cpu:2s cpu:2s is a second limit of cpu
cpu:60s, "" \(wanted cpu:TIME
= "" \(wanted cpu:TIME
BUDGETS

# ---- no worker survives ----

# alive: print the processes that run $T/run/vt-extract, but not zombies.
mkdir "$T/run"
cp "$HANG" "$T/run/vt-extract"
alive() {
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/exe" 2>/dev/null)" != "$T/run/vt-extract" ] || echo "${p#/proc/}"
	done
}
# gone WHAT: check that all of them end within five seconds.
gone() {
	k=0
	while [ -n "$(alive)" ] && [ $k -lt 50 ]; do
		sleep 0.1
		k=$((k + 1))
	done
	check_same "$1" "" "$(alive)"
}
for s in TERM KILL INT HUP; do
	# A background job of a shell ignores SIGINT; env restores it.
	env --default-signal=INT "$T/run/vt-extract" -q -j3 --budget=cpu:60s --root="$V" "$V/loop.avi" "$V/sleep.avi" "$V/a1.avi" >"$T/null" &
	pid=$!
	k=0
	while [ "$(alive | wc -l)" -lt 3 ] && [ $k -lt 100 ]; do
		sleep 0.1
		k=$((k + 1))
	done
	check_same "before SIG$s there are the program and its workers" yes \
		"$([ "$(alive | wc -l)" -ge 3 ] && echo yes || alive)"
	kill -s $s $pid
	got=0
	wait $pid 2>/dev/null || got=$?
	check_same "SIG$s ends the program by this signal" "$(kill -l $got)" "$s"
	gone "SIG$s leaves no worker"
done
# A killed worker costs its video.
"$T/run/vt-extract" -j1 --on-error=skip --budget=cpu:60s --root="$V" "$V/sleep.avi" "$V/a1.avi" "$V/a2.avi" -o "$T/lost.tar" 2>"$T/err" &
pid=$!
k=0
while [ "$(alive | wc -l)" -lt 2 ] && [ $k -lt 100 ]; do
	sleep 0.1
	k=$((k + 1))
done
for p in $(alive); do
	[ "$(cut -d' ' -f4 "/proc/$p/stat")" != $pid ] || kill -s KILL "$p"
done
got=0
wait $pid || got=$?
check_same "a killed worker costs one video of three" "3 75" "$got $(tar tf "$T/lost.tar" | grep -c '\.jpg$')"
check_says "a killed worker: the message" 'warning: skipped: .*sleep.avi: the decoder crashed: signal 9 \(Killed\)'
check_exit "without a process, the run ends and skips no intact video" 1 \
	sh -c "exec >'$T/null'; ulimit -n 5; exec vt-extract -j1 --on-error=skip --budget=cpu:60s '$V/a1.avi' '$V/a2.avi'"
check_says "without a process: the message" 'error: cannot start a process: Too many open files'
check_exit "a whole run" 0 "$T/run/vt-extract" -j3 --budget=cpu:60s --root="$V" "$V"/a*.avi -o "$T/whole.tar"
check_same "a whole run leaves no worker" "" "$(alive)"
plan
