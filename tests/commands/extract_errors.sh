#!/bin/sh
# tests/run: weight 12
# vt-extract: the files and options it refuses, its messages, and what it leaves
# behind.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

F="ffmpeg -v error -y -nostdin"
L="-f lavfi -i testsrc2=s=96x64:r=25"
# shellcheck disable=SC2086
{
	$F $L -t 0.4 -c:v libx264 -pix_fmt yuv420p "$V/a.mp4"
	$F $L -t 2 -c:v libx264 -pix_fmt yuv420p -movflags +faststart "$V/long.mp4"
	$F -f lavfi -i sine=d=0.3 -c:a aac "$V/sound.m4a"
	$F $L -frames:v 1 "$V/still.png"
	$F $L -frames:v 1 -f mjpeg "$V/jpeg.mp4"
	$F -f lavfi -i sine=d=0.3 -i "$V/still.png" -map 0 -map 1 -c:a aac -c:v png -disposition:v:0 attached_pic "$V/cover.mp4"
}
size=$(stat -c%s "$V/a.mp4")

# refused NAME REGEX: check exit 1, one line with the file's name and the
# reason, and no output.
refused() {
	check_exit "$1 is refused" 1 vt-extract -- "$1"
	if [ "$(wc -l <"$T/err")" = 1 ] && grep -qE "^vt-extract: error: .*$2" "$T/err"; then
		ok "$1: the message says why"
	else
		not_ok "$1: the message says why"
		diag "wanted one line with: $2"
		diag "$(head -3 "$T/err")"
	fi
}
there=$PWD
cd "$V" || exit 2

# ---- FFmpeg is loaded when it is needed ----

mkdir "$T/damaged"
: >"$T/damaged/libavformat.so.$(vt-extract --version -v | sed -n 's/^libavformat \([0-9]*\).*/\1/p')"
check_message "without FFmpeg, videos end with 1" 1 \
	'reading videos needs (libavformat[.]so[.][0-9]+): .*\1.*; install this version of FFmpeg, or build vt again' \
	env LD_LIBRARY_PATH="$T/damaged" vt-extract a.mp4
check_exit "without FFmpeg, vt-extract starts" 0 env LD_LIBRARY_PATH="$T/damaged" vt-extract --version

# ---- ranks ----

# A running writer holds a lock on its temporary file.  rank FILE: run vt-extract as
# rank 0 of 2 while another process writes x.tar.
rank() {
	rm -f x.tar y.tar
	flock .x.tar.tmp.1 env OMPI_COMM_WORLD_SIZE="${ranks:-2}" OMPI_COMM_WORLD_RANK=0 vt-extract -q a.mp4 -o "$1"
}
check_exit "two ranks that write one file are refused" 2 rank x.tar
check_says "the message has the file, the ranks and the way out" \
	'--output=x.tar: 2 ranks write this file \(wanted one vt-extract, without mpirun or srun\)'
check_same "a refused rank leaves no file" ".x.tar.tmp.1" "$(ls -A | grep -F .tar)"
check_exit "two ranks with an output each are not" 0 rank y.tar
ranks=1 check_exit "two processes that are no ranks are not" 0 rank x.tar
rm -f x.tar y.tar .x.tar.tmp.1

: >empty.mp4
echo 'no video' >text.mp4
head -c 5000 /dev/zero >zeros.avi
seq 1 3000 | md5sum | awk '{srand(7); for (i = 0; i < 4096; i++) printf "%c", int(rand() * 255) + 1}' >random.mkv
mkdir folder.mp4
mkfifo pipe.mp4
head -c $((size / 2)) a.mp4 >noindex.mp4
head -c 20 a.mp4 >stub.mp4
printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n' "$V/a.mp4" >hls.mp4
printf 'ffconcat version 1.0\nfile %s\n' "$V/a.mp4" >concat.mp4
printf '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet><Representation><BaseURL>a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>\n' >dash.mp4
refused missing.mp4 'missing.mp4: cannot open: No such file'
refused empty.mp4 'empty.mp4: is empty'
refused text.mp4 'text.mp4: not a video file'
refused zeros.avi 'zeros.avi: not a video file'
refused random.mkv 'random.mkv: '
refused folder.mp4 'folder.mp4: a folder without frames'
refused pipe.mp4 'pipe.mp4: is not a regular file'
refused /dev/null '/dev/null: is not a regular file'
refused noindex.mp4 'moov atom not found, as if cut before its index'
refused stub.mp4 'stub.mp4: cannot read as mov'
refused sound.m4a 'sound.m4a: no video stream, only sound'
refused cover.mp4 'cover.mp4: no video stream, only sound and a cover picture'
refused still.png 'still.png: not a video file but png'
refused jpeg.mp4 'jpeg.mp4: not a video file but a JPEG picture \(raw MJPEG has at least two of one size\)'
refused hls.mp4 'hls.mp4: not a video file but hls'
refused concat.mp4 'concat.mp4: not a video file but concat'
refused dash.mp4 'dash.mp4: not a video file'
refused "file:a.mp4" 'file:a.mp4: cannot open: No such file'
refused "http://localhost/a.mp4" 'cannot open: No such file'
if [ "$(id -u)" != 0 ]; then
	cp a.mp4 locked.mp4
	chmod 0 locked.mp4
	refused locked.mp4 'locked.mp4: cannot open: Permission denied'
fi
cd "$there" || exit 2

# The header declares a frame of 60000 x 60000, which no memory could hold.
python3 - "$V/a.mp4" "$V/huge.mp4" <<'P'
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
i = b.find(b"avc1", b.find(b"stsd")) + 28
b[i:i + 4] = struct.pack(">2H", 60000, 60000)
open(sys.argv[2], "wb").write(b)
P
bounded="prlimit --as=700000000"
$bounded "$(command -v vt-extract)" --version >/dev/null 2>&1 || bounded=	# a sanitizer needs more
# shellcheck disable=SC2086
check_exit "a video with a huge frame ends with 1" 1 $bounded "$(command -v vt-extract)" "$V/huge.mp4"
check_says "a huge frame is refused by its header" \
	'huge.mp4: 60000x60000 is 3600000000 pixels \(wanted at most 67108864: --max-pixels\)'
check_exit "--max-pixels below the frame ends with 1" 1 vt-extract --max-pixels=6143 "$V/a.mp4"
check_exit "--max-pixels of the frame lets it pass" 0 vt-extract --max-pixels=6K "$V/a.mp4" -o "$T/p.tar"
check_message "--max-frames below the video's frames ends with 1" 1 'a.mp4: more than 9 frames \(--max-frames\)' \
	vt-extract --max-frames=9 "$V/a.mp4"
check_exit "--max-frames of the video's frames lets it pass" 0 \
	vt-extract -f --max-frames=10 "$V/a.mp4" -o "$T/p.tar"
check_exit "--max-frames counts the frames that --fps makes" 1 vt-extract --max-frames=380 --fps=1000 "$V/a.mp4"

# ---- one bad video among good ones ----

cp "$V/a.mp4" "$V/b.mp4"
cp "$V/a.mp4" "$V/c.mp4"
check_exit "a bad video ends the run with 1" 1 \
	vt-extract --root "$V" "$V/a.mp4" "$V/empty.mp4" "$V/b.mp4" -o "$T/stop.tar" --report="$T/r.jsonl"
check "with a bad video, no file is left" test ! -e "$T/stop.tar"
check_same "the report says that the run stopped at the bad video" \
	"ok failed stopped" "$(jq -r .status "$T/r.jsonl" | tr '\n' ' ' | sed 's/ $//')"
vt-extract -q "$V/a.mp4" "$V/empty.mp4" >"$T/out.tar" 2>"$T/err"
check_says "a bad video among others: the message names --on-error=skip" 'empty.mp4: is empty.*; --on-error=skip leaves it out$'
check_same "on standard output, the end-of-stream marker has status failed" \
	failed "$(tar xOf "$T/out.tar" __vt__/.end | jq -r .status)"
check_exit "vt-pack ends with 1 after a vt-extract that failed" 1 vt-pack -o "$T/failed" "$T/out.tar"
check_same "vt-pack prints one line after a vt-extract that failed" \
	"vt-pack: error: $T/out.tar: vt-extract failed after 1 samples" "$(cat "$T/err")"
# A killed writer leaves no marker, a failed one may end within a sample.
head -c 30000 "$T/out.tar" >"$T/cut.tar"
check_exit "a stream without a marker is truncated" 1 vt-pack -o "$T/failed" "$T/cut.tar"
check_says "a stream without a marker: the message says so" 'the input ended after [0-9]* samples'
check_message "--on-error=skip continues and ends with 3" 3 'warning: skipped: .*empty.mp4: is empty' \
	vt-extract --root "$V" --on-error=skip "$V/a.mp4" "$V/empty.mp4" "$V/noindex.mp4" "$V/c.mp4" -o "$T/skip.tar" \
	--report="$T/r.jsonl"
check_says "--on-error=skip: a warning counts the skipped videos" 'warning: 2 of 4 videos were skipped'
check_same "the good videos are in the stream" \
	"a.json c.json" "$(tar tf "$T/skip.tar" | grep json | tr '\n' ' ' | sed 's/ $//')"
check_same "the end-of-stream marker has status skipped" \
	skipped "$(tar xOf "$T/skip.tar" __vt__/.end | jq -r .status)"
check_same "the report names the skipped videos" "$V/empty.mp4 $V/noindex.mp4" \
	"$(jq -r 'select(.status!="ok").path' "$T/r.jsonl" | tr '\n' ' ' | sed 's/ $//')"
check_same "the report names the version of vt" "vt $(vt-extract -V | sed -n '1s/.* //p')" \
	"$(jq -r 'select(.type=="summary").build' "$T/r.jsonl")"
check_same "the report has a summary" \
	"4 2 2 20" "$(jq -r 'select(.type=="summary")|"\(.videos) \(.stored) \(.skipped) \(.frames)"' "$T/r.jsonl")"
check_exit "-q with skipped videos ends with 3" 3 \
	vt-extract -q --on-error=skip "$V/a.mp4" "$V/empty.mp4" -f -o "$T/skip.tar"
check_same "-q prints no warning" "" "$(cat "$T/err")"
check_exit "-qq with a bad video ends with 1" 1 vt-extract -qq "$V/empty.mp4"
check_same "-qq prints no error" "" "$(cat "$T/err")"

# ---- damage ----

cp "$V/long.mp4" "$V/hurt.mp4"
n=$(stat -c%s "$V/hurt.mp4")
for p in 40 60 80; do
	printf 'vt was here, and this is no video' | dd of="$V/hurt.mp4" bs=1 seek=$((n * p / 100)) conv=notrunc 2>/dev/null
done
check_message "a damaged video ends with 1" 1 'hurt.mp4: damaged in [0-9]+ places? \(.*\); --max-damage allows some' \
	vt-extract "$V/hurt.mp4" --report="$T/r.jsonl"
d=$(jq -r 'select(.type=="video").damage.places' "$T/r.jsonl")
check_message "--max-damage=$d keeps a video with $d damaged places" 0 'warning: .*hurt.mp4: damaged' \
	vt-extract --root "$V" --max-damage="$d" "$V/hurt.mp4" -o "$T/hurt.tar"
check_exit "--max-damage=$((d - 1)) refuses it" 1 vt-extract --max-damage=$((d - 1)) "$V/hurt.mp4"
check_same "a kept damaged video has flag and status" \
	"2 damaged" "$(tar xOf "$T/hurt.tar" hurt.json | jq -r '"\(.flags) \(.status)"' )"

# ---- the output ----

check_message "-o with an existing file ends with 1" 1 'skip.tar: exists \(-f replaces it\)' \
	vt-extract "$V/a.mp4" -o "$T/skip.tar"
echo old >"$T/link.to"
ln -s link.to "$T/link"
check_exit "-f -o with an existing file" 0 vt-extract -f "$V/a.mp4" -o "$T/link"
check "-f replaces the file through a symbolic link" \
	sh -c 'test -L "$1/link" && tar tf "$1/link.to" >/dev/null' sh "$T"
check_exit "-o - is standard output" 0 sh -c 'vt-extract "$1" -o - | tar tf - >/dev/null' sh "$V/a.mp4"
check_message "standard output on a full disk ends with 1" 1 'stdout: cannot write: No space left' \
	sh -c 'vt-extract "$1" >/dev/full' sh "$V/a.mp4"
check_exit "-o on a full device ends with 1" 1 vt-extract "$V/a.mp4" -f -o /dev/full
check "the full device stays a device" test -c /dev/full
check_exit "a closed standard output ends with 1" 1 sh -c 'vt-extract "$1" >&-' sh "$V/a.mp4"
check_exit "a missing output folder ends with 1" 1 vt-extract "$V/a.mp4" -o "$T/none/x.tar"
check_same "no temporary files are left" "" "$(find "$T" -name '.*.tmp.*')"
for i in $(seq 1 60); do cp "$V/long.mp4" "$V/l$i.mp4"; done
check_exit "a reader that closes the pipe ends vt-extract by SIGPIPE" 141 \
	sh -c 'vt-extract "$1"/l*.mp4 2>"$2" | head -c 1000 >/dev/null; kill -s PIPE $$' sh "$V" "$T/err2"
check_same "a reader that closes the pipe gives no message" "" "$(cat "$T/err2")"
mkdir "$T/lots"
for i in $(seq 1000); do ln -s "$V/long.mp4" "$T/lots/$i.mp4"; done
for s in INT:130 TERM:143 HUP:129; do
	want=${s#*:} s=${s%:*}
	# There are far more videos than vt-extract can finish, so the signal
	# arrives after the first one.
	: >"$T/err"
	vt-extract -v -j2 --root="$T/lots" "$T"/lots/*.mp4 -o "$T/sig.tar" --report="$T/sig.jsonl" 2>"$T/err" &
	pid=$!
	await test -s "$T/err"
	kill -$s $pid 2>/dev/null
	wait $pid
	got=$?
	[ $got = 0 ] && got="0, finished before the signal"
	check_same "SIG$s ends it" "$want" "$got"
	check_same "SIG$s leaves nothing but the report" \
		"sig.jsonl" "$(cd "$T" && find . -name '*sig.*' | sed 's|./||')"
done
vt-extract -j1 --root "$V" "$V"/l*.mp4 -o "$T/killed.tar" 2>/dev/null &
pid=$!
begun() {
	[ -n "$(find "$T" -name '.killed.tar.tmp.*')" ]
}
await begun
kill -9 $pid
wait $pid 2>/dev/null
check "SIGKILL leaves a temporary file" sh -c 'test -n "$(find "$1" -name ".killed.*")"' sh "$T"
check_exit "the next run with the same output succeeds" 0 vt-extract "$V/a.mp4" -o "$T/killed.tar"
check_same "the next run removes the temporary file" "" "$(find "$T" -name '.killed.*')"
check_exit "if SIGPIPE is ignored, a closed pipe ends with 1" 1 \
	sh -c 'trap "" PIPE; (vt-extract "$1"/l*.mp4; echo $? >"$2/rc") 2>"$2/err2" | true; until [ -s "$2/rc" ]; do sleep 0.02; done; exit "$(cat "$2/rc")"' sh "$V" "$T"

# ---- wrong usage ----

# wrong REGEX ARGUMENT...: check exit 2, nothing on standard output, a line and
# a hint.
wrong() {
	re=$1
	shift
	check_exit "wrong: $*" 2 vt-extract "$@"
	if [ ! -s "$T/out" ] && grep -qE -- "$re" "$T/err" && grep -q "^Try 'vt-extract --help'" "$T/err"; then
		ok "wrong usage: the message says: $re"
	else
		not_ok "wrong usage: the message says: $re"
		diag "$(head -3 "$T/err")"
	fi
}
wrong 'no video named'
: >"$T/none.txt"
check_exit "an empty list is refused" 1 vt-extract -n -T "$T/none.txt"
check_says "an empty list: the message names it" "none.txt: names no video \(wanted one on each line\)"
# No space for frames is a failure of the machine, so no video is skipped.
$F -f lavfi -i testsrc2=s=320x240:r=25:d=4,noise=alls=60:allf=t -c:v mpeg4 -q:v 2 "$T/noise.mp4"
for budget in "" --budget=wall:10m; do
	TMPDIR=$T/absent check_exit "frames cannot be spooled${budget:+, with --budget}: skipping does not apply" 1 \
		vt-extract -q --on-error=skip --spool-memory=1M $budget -o "$T/spooled.tar" "$T/noise.mp4" "$V/a.mp4"
	check_says "frames cannot be spooled${budget:+, with --budget}: the message names the directory" \
		'absent: cannot make a temporary file'
	check "frames cannot be spooled${budget:+, with --budget}: there is no output" test ! -e "$T/spooled.tar"
done
# The same holds if they cannot be read back.  strace fails the reads of a process from
# its first one of a file without a name.
for budget in "" --budget=wall:10m; do
	what="frames cannot be read back${budget:+, with --budget}"
	if ! strace -o /dev/null true 2>/dev/null; then
		skip "$what" "strace cannot trace here"
		continue
	fi
	# LeakSanitizer does not work under strace.
	set -- env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
		vt-extract -qf -j1 --on-error=skip --spool-memory=1M --format=png $budget -o "$T/back.tar" "$T/noise.mp4"
	strace -f -y -e trace=pread64 -o "$T/reads" "$@"
	k=$(awk '{ n[$1]++ } /deleted/ { print n[$1]; exit }' "$T/reads")
	rm "$T/back.tar"
	check_message "$what: skipping does not apply" 1 'cannot read' \
		strace -f -qq -o /dev/null -e trace=pread64 -e inject=pread64:error=EIO:when=$k+ "$@"
	check "$what: there is no output" test ! -e "$T/back.tar"
done
wrong '--output and --report are both .*/both.tar' -o "$T/both.tar" --report="$T/./both.tar" "$V/a.mp4"
wrong 'no option --fpx=3 \(similar: --fps' --fpx=3 "$V/a.mp4"
wrong 'not abbreviated' --short=3 "$V/a.mp4"
wrong '--fps: 0 \(wanted frames a second' --fps=0 "$V/a.mp4"
wrong '--size: 12 \(wanted WIDTHxHEIGHT' --size=12 "$V/a.mp4"
wrong '--size: 0x3' --size=0x3 "$V/a.mp4"
wrong '--quality: 101 \(wanted an integer from 1 to 100' --quality=101 "$V/a.mp4"
wrong '--format: gif \(wanted one of jpeg.png' --format=gif "$V/a.mp4"
wrong '--on-error: ask' --on-error=ask "$V/a.mp4"
wrong '-j: 0' -j0 "$V/a.mp4"
wrong '--max-damage: -1' --max-damage=-1 "$V/a.mp4"
wrong '-0 is for -T' -0 "$V/a.mp4"
wrong '--annotations-format is for --annotations' --annotations-format=csv "$V/a.mp4"
wrong '--spool-memory: 1 ' --spool-memory=1 "$V/a.mp4"
vt-extract -q --size=32x32 --fps=5 "$V/a.mp4" >"$T/same"
vt-extract --print-config --size=32x32 --fps=5 >"$T/conf"
check "the output of --print-config is a configuration file" \
	sh -c 'vt-extract -q -c "$2/conf" "$1" | cmp - "$2/same"' sh "$V/a.mp4" "$T"
check_exit "an empty list ends with 1" 1 vt-extract -T /dev/null
check_exit "a missing list ends with 1" 1 vt-extract -T "$T/nosuch"
check_exit "a missing class file ends with 1" 1 vt-extract --classes="$T/nosuch" "$V/a.mp4"
if command -v script >/dev/null; then
	script -qec "vt-extract '$V/a.mp4'" /dev/null >"$T/tty" </dev/null
	check_same "a terminal as standard output is refused with 2" 2 $?
	check "the message says that a tar stream does not go to a terminal" \
		grep -q 'refusing to write a tar stream to a terminal' "$T/tty"
	# Both ends of a pipe share one progress line: the first to draw draws
	# alone.
	mkdir "$T/many"
	for i in $(seq 240); do ln -s "$V/long.mp4" "$T/many/$i.mp4"; done
	TERM=xterm script -qec "vt-extract --root='$T/many' '$T'/many/*.mp4 | vt-pack -o '$T/piped'" /dev/null >"$T/tty" </dev/null
	tr '\r' '\n' <"$T/tty" | sed -n 's/.*[0-9] videos,.*/extract/p; s/.*[0-9] samples,.*/pack/p' | uniq >"$T/drew"
	check_same "vt-extract | vt-pack: vt-extract draws the progress line" extract "$(head -1 "$T/drew")"
	check "vt-extract | vt-pack: vt-pack draws none before vt-extract has ended" \
		test "$(wc -l <"$T/drew")" -le 2
	check "the name of a finished shard has a line of its own" \
		grep -qE '(^|\[K)shard-000000\.tar.?$' "$T/tty"
else
	skip "a terminal gets no tar" "no script command"
fi
vt-extract -q -o "$T/quiet.tar" "$V/a.mp4"
# A read of a video that a signal interrupts is repeated.
if [ -e "$BUILD/tests/fault.so" ] && FAULT=read:1000:EINTR LD_PRELOAD=$BUILD/tests/fault.so vt-extract --version >/dev/null 2>&1; then
	broken=
	for k in $(seq 12); do
		FAULT=read:$k:EINTR LD_PRELOAD=$BUILD/tests/fault.so vt-extract -qfo "$T/eintr.tar" "$V/a.mp4" 2>"$T/err" &&
			cmp -s "$T/eintr.tar" "$T/quiet.tar" || broken="$broken $k"
	done
	check_same "interrupted reads change nothing" "" "$broken"
else
	skip "interrupted reads change nothing" "no library of faults for this processor, or a sanitizer"
fi
plan
