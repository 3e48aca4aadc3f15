#!/bin/sh
# tests/run: weight 12
# vt-extract accepts intact H.261, MJPEG, DV and HEVC, most of them raw streams,
# and refuses damaged ones.
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
# spoil NAME WHAT COMMAND...: check that the damaged copy of NAME that COMMAND
# prints is refused.
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

# exchange FILE AT TO N: print FILE with the N bytes at AT and those at TO
# swapped.
exchange() {
	head -c "$2" "$1" && tail -c +$(($3 + 1)) "$1" | head -c "$4" &&
		tail -c +$(($2 + $4 + 1)) "$1" | head -c $(($3 - $2 - $4)) &&
		tail -c +$(($2 + 1)) "$1" | head -c "$4" && tail -c +$(($3 + $4 + 1)) "$1"
}
# twice FILE AT N: print FILE with the N bytes at AT repeated.
twice() {
	head -c $(($2 + $3)) "$1" && tail -c +$(($2 + 1)) "$1"
}
# blank FILE AT N: print FILE with N zeros at byte AT.
blank() {
	head -c "$2" "$1" && head -c "$3" /dev/zero && tail -c +$(($2 + $3 + 1)) "$1"
}

# H.261 has one kind of picture, so FFmpeg reports a missing key frame in intact
# files.
for name in raw.h261 h261.mov h261.mkv h261.avi; do
	make $name -frames:v 48 -s 176x144 -c:v h261 && whole $name 48
done

# Raw MJPEG is a sequence of JPEG pictures.
if make r.mjpeg -frames:v 50 -c:v mjpeg && make r.mov -frames:v 50 -c:v mjpeg; then
	j=$V/r.mjpeg n=$(stat -c%s "$V/r.mjpeg")
	second=$(ffprobe -v error -f mjpeg -show_entries packet=pos -of csv=p=0 "$j" | sed -n 2p)
	whole r.mjpeg 50
	spoil r.mjpeg "without its first byte" lose "$j" 0 1
	check_says "r.mjpeg without its first byte: the message wants FF D8" \
		'JPEG pictures after other bytes \(wanted FF D8 at byte 0\)'
	spoil r.mjpeg "without its head" lose "$j" 0 500
	spoil r.mjpeg "bytes before the first picture" put "$j" 0 'ten bytes.'
	spoil r.mjpeg "bytes between two pictures" put "$j" "$second" 'ten bytes.'
	check_says "r.mjpeg with bytes between pictures: the message shows where" \
		"at byte $second: no frame begins here"
	spoil r.mjpeg "bytes behind the last picture" put "$j" "$n" 'ten bytes.'
	spoil r.mjpeg "without its last byte" lose "$j" $((n - 1)) 1
	spoil r.mjpeg "a picture without its end" lose "$j" $((second - 2)) 2
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
if make d.dv -frames:v 5 -s 720x576 -pix_fmt yuv420p -c:v dvvideo; then
	d=$V/d.dv f=144000
	whole d.dv 5
	spoil d.dv "half of a frame" head -c $((f * 7 / 2)) "$d"
	check_says "half of a DV frame: the message says truncated" 'truncated: 3 frames'
	spoil d.dv "without its last byte" head -c $((f * 5 - 1)) "$d"
	spoil d.dv "without its head" lose "$d" 0 5000
	spoil d.dv "without its first sequence" lose "$d" 0 12000
	spoil d.dv "without 80 bytes" lose "$d" 160000 80
	spoil d.dv "twice the same block" twice "$d" 160000 80
	spoil d.dv "twice the same sequence" twice "$d" $((f + 24000)) 12000
	spoil d.dv "two blocks swapped" exchange "$d" 160000 160080 80
	spoil d.dv "parts of two frames swapped" exchange "$d" 160000 400000 4000
	spoil d.dv "zeros in the pictures" blank "$d" 300010 100
	spoil d.dv "zeros in what is not decoded" blank "$d" $((2 * f + 12080)) 80
	check_says "zeros in DV metadata: the message shows place and DIF block" \
		'damaged in 1 place \(at byte 300080: not the DIF block 1 of sequence 1\)'
	for e in avi mov; do
		make d.$e -frames:v 5 -s 720x576 -pix_fmt yuv420p -c:v dvvideo && whole d.$e 5
		at=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 "$V/d.$e" | sed -n 3p)
		spoil d.$e "zeros in what is not decoded" blank "$V/d.$e" $((at + 12080)) 80
		check_says "$e with zeros in DV metadata: the message names misplaced DIF blocks" \
			'damaged in 1 place \(a DV frame with misplaced DIF blocks'
	done
fi

# The HEVC decoder reads beyond the end of a truncated slice.
if make r.hevc -frames:v 25 -c:v libx265 -x265-params keyint=12:slices=2:log-level=none; then
	h=$V/r.hevc n=$(stat -c%s "$V/r.hevc")
	whole r.hevc 25
	last=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 "$h" | tail -1)
	for part in 2 4 6 8 9; do
		spoil r.hevc "$part tenths of its last frame" head -c $((last + (n - last) * part / 10)) "$h"
	done
	spoil r.hevc "40 bytes less in a frame" lose "$h" $((last - 60)) 40
fi
# Intact streams whose units end in other ways, or whose references are missing.
for params in lossless=1 aud=1:repeat-headers=1 eos=1:eob=1 hash=1 wpp=1:ctu=16 bframes=8:open-gop=1; do
	make $params.hevc -frames:v 15 -c:v libx265 -x265-params keyint=6:log-level=none:$params &&
		whole $params.hevc 15
done
plan
