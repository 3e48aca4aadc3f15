#!/bin/sh
# tests/run: weight 12
# vt-extract accepts intact H.261, MJPEG, DV and HEVC, most of them raw streams,
# and refuses JPEG pictures that are not a video from the first byte.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# make NAME OPTION...: make a test pattern. If ffmpeg cannot, skip a check and
# return 1.
make() {
	name=$1
	shift
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25 "$@" "$V/$name" 2>"$T/make.err" && return
	skip "$name" "$(head -1 "$T/make.err")"
	return 1
}
# whole NAME FRAMES: check that NAME is accepted with this number of frames.
whole() {
	check_same "$1: $2 frames" "ok $2" "$(vt-extract -q --short-side=48 -o /dev/null "$V/$1" --report=/dev/fd/3 3>&1 2>/dev/null |
		jq -r 'select(.type == "video") | "\(.status) \(.frames)"')"
}
# spoil NAME WHAT COMMAND...: check that the copy of NAME that COMMAND prints is
# refused.
spoil() {
	of=$1 how=$2
	shift 2
	"$@" >"$V/spoiled.${of##*.}"
	check_exit "$of, $how: refused" 1 vt-extract -q --short-side=48 -o /dev/null "$V/spoiled.${of##*.}"
}
# put FILE AT TEXT: print FILE with TEXT inserted at byte AT.
put() {
	head -c "$2" "$1" && printf %s "$3" && tail -c +$(($2 + 1)) "$1"
}
# lose FILE AT N: print FILE without N bytes at byte AT.
lose() {
	head -c "$2" "$1" && tail -c +$(($2 + $3 + 1)) "$1"
}

# H.261 has one kind of picture, so FFmpeg reports a missing key frame in intact
# files.
for name in raw.h261 h261.mov h261.mkv h261.avi; do
	make $name -frames:v 48 -s 176x144 -c:v h261 && whole $name 48
done

# Raw MJPEG is a sequence of JPEG pictures.
if make r.mjpeg -frames:v 50 -c:v mjpeg && make r.mov -frames:v 50 -c:v mjpeg; then
	j=$V/r.mjpeg
	second=$(ffprobe -v error -f mjpeg -show_entries packet=pos -of csv=p=0 "$j" | sed -n 2p)
	whole r.mjpeg 50
	spoil r.mjpeg "without its first byte" lose "$j" 0 1
	check_says "r.mjpeg without its first byte: the message wants FF D8" \
		'JPEG pictures after other bytes \(wanted FF D8 at byte 0\)'
	spoil r.mjpeg "without its head" lose "$j" 0 500
	spoil r.mjpeg "bytes before the first picture" put "$j" 0 'ten bytes.'
	spoil r.mov "a mov without its head" lose "$V/r.mov" 0 2000
	check_says "r.mov without its head: the message says that it is not a video" \
		'not a video file: JPEG pictures after other bytes'
	spoil r.mjpeg "a single picture" head -c "$second" "$j"
	check_says "a single JPEG picture: the message says that it is a picture" \
		'not a video file but a JPEG picture'
	# Like a camera's photo that is followed by a smaller preview.
	make small.mjpeg -frames:v 1 -s 32x24 -c:v mjpeg
	head -c "$second" "$j" >"$V/photo"
	spoil r.mjpeg "a picture and a smaller one" cat "$V/photo" "$V/small.mjpeg"
	check_says "a picture and a preview: the message says that it is a picture" \
		'not a video file but a JPEG picture'
fi

# DV of 25, 50 and 100 Mbit/s.
while read -r name size rate pixels; do
	make "$name" -frames:v 2 -s "$size" -r "$rate" -pix_fmt "$pixels" -c:v dvvideo </dev/null && whole "$name" 2
done <<'LIST'
pal.dv 720x576 25 yuv420p
pal411.dv 720x576 25 yuv411p
ntsc.dv 720x480 30000/1001 yuv411p
pal50.dv 720x576 25 yuv422p
ntsc50.dv 720x480 30000/1001 yuv422p
1080i50.dv 1440x1080 25 yuv422p
1080i60.dv 1280x1080 30000/1001 yuv422p
720p50.dv 960x720 50 yuv422p
720p60.dv 960x720 60000/1001 yuv422p
LIST
for e in avi mov; do
	make d.$e -frames:v 5 -s 720x576 -pix_fmt yuv420p -c:v dvvideo && whole d.$e 5
done

# Units end in several ways, and references may be missing.
for params in slices=2 lossless=1 aud=1:repeat-headers=1 eos=1:eob=1 hash=1 wpp=1:ctu=16 bframes=8:open-gop=1; do
	make $params.hevc -frames:v 15 -c:v libx265 -x265-params keyint=6:log-level=none:$params &&
		whole $params.hevc 15
done
plan
