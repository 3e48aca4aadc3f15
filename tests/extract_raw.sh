#!/bin/sh
# tests/run: weight 6
# vt-extract: videos without a container, H.261, MJPEG, dv and HEVC.  Whole ones
# are read; of damaged ones nothing is taken for whole.
cd "${0%/*}/.." || exit 2
. tests/lib.sh
command -v ffmpeg >/dev/null || skip_all "no ffmpeg command"
built FFmpeg || skip_all "no FFmpeg in this build"

V=$T/v
mkdir -p "$V"
# make NAME OPTION...: a test pattern; 1 after a skipped test if it cannot be made
make() {
	name=$1
	shift
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25 "$@" "$V/$name" 2>"$T/make.err" && return
	skip "$name" "$(head -1 "$T/make.err")"
	return 1
}
# whole NAME FRAMES: it is accepted with this many frames
whole() {
	check_same "$1: $2 frames" "ok $2" "$(vt-extract -q -o /dev/null "$V/$1" --report=/dev/fd/3 3>&1 2>/dev/null |
		jq -r 'select(.type == "video") | "\(.status) \(.frames)"')"
}
# spoil NAME WHAT COMMAND...: what the command prints, a damaged copy of NAME, is refused
spoil() {
	of=$1 how=$2
	shift 2
	"$@" >"$V/spoiled.${of##*.}"
	check_exit "$of, $how" 1 vt-extract -q -o /dev/null "$V/spoiled.${of##*.}"
}
# put FILE AT TEXT: FILE with TEXT in it at byte AT
put() {
	head -c "$2" "$1" && printf %s "$3" && tail -c +$(($2 + 1)) "$1"
}
# lose FILE AT N: FILE without N bytes at byte AT
lose() {
	head -c "$2" "$1" && tail -c +$(($2 + $3 + 1)) "$1"
}

# Pictures of H.261 are of one kind; FFmpeg misses a key frame.
for name in raw.h261 h261.mov h261.mkv h261.avi; do
	make $name -frames:v 48 -s 176x144 -c:v h261 && whole $name 48
done

# Raw MJPEG is pictures and nothing else.
if make r.mjpeg -frames:v 50 -c:v mjpeg && make r.mov -frames:v 50 -c:v mjpeg; then
	j=$V/r.mjpeg n=$(stat -c%s "$V/r.mjpeg")
	second=$(ffprobe -v error -f mjpeg -show_entries packet=pos -of csv=p=0 "$j" | sed -n 2p)
	whole r.mjpeg 50
	spoil r.mjpeg "without its first byte" lose "$j" 0 1
	check_says "says why" 'JPEG pictures behind other bytes \(wanted FF D8 at byte 0\)'
	spoil r.mjpeg "without its head" lose "$j" 0 500
	spoil r.mjpeg "bytes before the first picture" put "$j" 0 'ten bytes.'
	spoil r.mjpeg "bytes between two pictures" put "$j" "$second" 'ten bytes.'
	check_says "says where" "at byte $second: no frame begins here"
	spoil r.mjpeg "bytes behind the last picture" put "$j" "$n" 'ten bytes.'
	spoil r.mjpeg "without its last byte" lose "$j" $((n - 1)) 1
	spoil r.mjpeg "a picture without its end" lose "$j" $((second - 2)) 2
	spoil r.mov "a mov without its head" lose "$V/r.mov" 0 2000
	check_says "is not a video" 'not a video file: JPEG pictures behind other bytes'
	spoil r.mjpeg "a single picture" head -c "$second" "$j"
	check_says "is a picture" 'not a video file but a JPEG picture'
fi
plan
