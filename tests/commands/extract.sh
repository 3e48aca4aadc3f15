#!/bin/sh
# tests/run: weight 12
# vt-extract stores the frames, sizes, times, colors, labels and keys of
# generated videos as documented.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# make NAME SECONDS OPTION...: make a test video in which everything moves.
make() {
	name=$1 seconds=$2
	shift 2
	ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=96x64:r=25:d=$seconds" "$@" "$V/$name" </dev/null ||
		diag "ffmpeg could not make $name"
}
# members ARGUMENT...: print the member names of the stream, in order.
members() {
	vt-extract -q "$@" | tar tf -
}

# ---- the stream ----

make a.mp4 0.4 -c:v libx264 -pix_fmt yuv420p
check_exit "a video is extracted" 0 vt-extract --root "$V" "$V/a.mp4" -o "$T/a.tar"
check_same "frames in order, then the .json, then the end-of-stream marker" \
	"__vt__/.head $(seq -f 'a.%06g.jpg' -s ' ' 0 9) a.json __vt__/.end" \
	"$(tar tf "$T/a.tar" | tr '\n' ' ' | sed 's/ $//')"
check_same "the .json describes frames, rate, sizes, source and status" \
	'{"flags":0,"fps":[25,1],"frames":10,"height":64,"key":"a","label":-1,"phash":true,"src_bytes":'"$(stat -c%s "$V/a.mp4")"',"src_xxh3":"'"$(xxhsum -H3 "$V/a.mp4" 2>/dev/null | sed 's/.*[= ]//;s/^XXH3_//')"'","status":"ok","width":96}' \
	"$(sample_info --root "$V" "$V/a.mp4" | jq -cS '.phash |= test("^[0-9a-f]{16}$") | del(.src,.streams,.t)')"
check_same "the head of the stream has the settings" '[25,2] 0 jpeg 48' \
	"$(vt-extract -q --fps=12.5 --quality=48 "$V/a.mp4" | tar xOf - __vt__/.head |
	jq -r '.options|"\(.fps|tojson) \(.width) \(.format) \(.quality)"')"
check_same "frames are JPEG 4:2:0 of the size in the .json" "mjpeg 96 64 yuvj420p" \
	"$(tar xOf "$T/a.tar" a.000003.jpg | ffprobe -v error -f mjpeg -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 - | tr , ' ')"
check "PNG frames are exact" sh -c '
	vt-extract -q --format=png "$1/a.mp4" --root "$1" | tar xOf - a.000005.png >"$2/5.png"
	ffmpeg -v error -y -i "$1/a.mp4" -vf "select=eq(n\,5),scale=flags=area+accurate_rnd+full_chroma_int,format=rgb24" -frames:v 1 -f rawvideo "$2/want" </dev/null
	ffmpeg -v error -y -i "$2/5.png" -pix_fmt rgb24 -f rawvideo "$2/got" </dev/null
	cmp "$2/want" "$2/got"' sh "$V" "$T"

for n in 1 2 3; do make "j$n.mkv" "$n" -c:v mpeg4; done
vt-extract -q -j1 "$V"/j*.mkv >"$T/j1.tar"
for o in -j2 -j5 '-j3 --spool-memory=1M'; do
	# shellcheck disable=SC2086
	check "$o gives the same bytes" sh -c 'vt-extract -q $1 "$2"/j*.mkv | cmp - "$3"' sh "$o" "$V" "$T/j1.tar"
done

# ---- sizes and time ----

check_same "--short-side shrinks the short side and rounds the long one to even" "48 32" \
	"$(sample_info --short-side=32 "$V/a.mp4" | jq -r '"\(.width) \(.height)"')"
check_same "--short-side never enlarges" \
	"96 64 0" "$(sample_info --short-side=100 "$V/a.mp4" | jq -r '"\(.width) \(.height) \(.flags)"')"
check_same "--short-side --enlarge enlarges, and sets a flag" "150 100 16" \
	"$(sample_info --short-side=100 --enlarge "$V/a.mp4" | jq -r '"\(.width) \(.height) \(.flags)"')"
check_same "--size gives exactly this size" \
	"101 33" "$(sample_info --size=101x33 "$V/a.mp4" | jq -r '"\(.width) \(.height)"')"

frame_sums "$V/a.mp4" >"$T/all"
# which RATE VIDEO: print the numbers of the frames that RATE chooses.
which() {
	frame_sums --fps="$1" "$2" | while read -r h; do grep -nx "$h" "$T/all" | head -1 | cut -d: -f1; done | tr '\n' ' '
}
check_same "--fps at the video's own rate keeps all frames" "1 2 3 4 5 6 7 8 9 10 " "$(which 25 "$V/a.mp4")"
check_same "--fps at half the rate keeps every second frame" "1 3 5 7 9 " "$(which 25/2 "$V/a.mp4")"
check_same "--fps at twice the rate repeats frames, with ties to the earlier" \
	"1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 " \
	"$(which 50 "$V/a.mp4")"
check_same "--fps stores flag and rate, and no times" '8 [25,2] null' \
	"$(sample_info --fps=12.5 "$V/a.mp4" | jq -r '"\(.flags) \(.fps|tojson) \(.t)"')"

# Frames at 0, 1, 2, 5, 6, 10 and 20 times 0.04 s.
ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=0.28 -vsync vfr -c:v libx264 \
	-vf "settb=1/1000,setpts='st(0,N);if(lt(ld(0),3),40*N,if(lt(ld(0),5),200+40*(N-3),if(lt(ld(0),6),400,800)))'" \
	-bf 0 -enc_time_base 1:1000 "$V/vfr.mkv"
check_same "a variable rate stores the times" '4 [0,400,800,2000,2400,4000,8000]' \
	"$(sample_info "$V/vfr.mkv" | jq -r '"\(.flags) \(.t|tojson)"')"
frame_sums "$V/vfr.mkv" >"$T/all"
check_same "a variable rate with --fps takes the nearest frame" "1 3 4 5 6 6 6 7 7 " "$(which 10 "$V/vfr.mkv")"

# ---- rotated and mirrored frames ----

# Four colors, stored as red green / blue white.
ffmpeg -v error -y -nostdin -f lavfi -i "color=red:s=32x24:r=5:d=0.4" -f lavfi -i "color=lime:s=32x24:r=5:d=0.4" \
	-f lavfi -i "color=blue:s=32x24:r=5:d=0.4" -f lavfi -i "color=white:s=32x24:r=5:d=0.4" \
	-filter_complex "[0][1]hstack[a];[2][3]hstack[b];[a][b]vstack,format=yuv420p" -c:v libx264 -qp 5 "$V/r0.mp4"
# corners FILE: print the colors of the four corners, in reading order.
corners() {
	vt-extract -q "$@" | tar xOf - --wildcards '*.000001.*' >"$T/frame"
	ffmpeg -v error -y -i "$T/frame" -vf format=rgb24,scale=2:2:flags=area -f rawvideo - </dev/null |
		od -An -tu1 -w3 -v | awk '{print ($1>127?"R":"-")($2>127?"G":"-")($3>127?"B":"-")}' | tr '\n' ' '
}
check_same "a video without a matrix is stored as it is" "R-- -G- --B RGB " "$(corners "$V/r0.mp4")"
for r in 90 180 270; do
	ffmpeg -v error -y -nostdin -i "$V/r0.mp4" -c copy -metadata:s:v rotate=$r "$V/r$r.mp4"
	ffmpeg -v error -y -nostdin -i "$V/r$r.mp4" -frames:v 1 "$T/r$r.png"
	want=$(ffmpeg -v error -y -i "$T/r$r.png" -vf format=rgb24,scale=2:2:flags=area -f rawvideo - </dev/null |
		od -An -tu1 -w3 -v | awk '{print ($1>127?"R":"-")($2>127?"G":"-")($3>127?"B":"-")}' | tr '\n' ' ')
	check_same "rotation by $r: as ffmpeg shows it" "$want" "$(corners "$V/r$r.mp4")"
	check_same "rotation by $r: the same in PNG" "$want" "$(corners --format=png "$V/r$r.mp4")"
done
check_same "the stored size is that of the upright frame" "48x64" \
	"$(sample_info "$V/r90.mp4" | jq -r '"\(.width)x\(.height)"')"
# matrix NAME A B C D: set the matrix { a b u c d v x y w } of the track header.
matrix() {
	python3 - "$V/r0.mp4" "$V/$1" "$2" "$3" "$4" "$5" <<-'P'
	import struct, sys
	b = bytearray(open(sys.argv[1], "rb").read())
	i = b.find(b"tkhd") + 44
	a, bb, c, d = (int(x) * 65536 for x in sys.argv[3:])
	b[i:i + 36] = struct.pack(">9i", a, bb, 0, c, d, 0, 0, 0, 1 << 30)
	open(sys.argv[2], "wb").write(b)
	P
}
matrix mirror.mp4 -1 0 0 1
check_same "a matrix that mirrors is followed" "-G- R-- RGB --B " "$(corners "$V/mirror.mp4")"
matrix flip.mp4 1 0 0 -1
check_same "a matrix that turns upside down is followed" "--B RGB R-- -G- " "$(corners "$V/flip.mp4")"
matrix swap.mp4 0 1 1 0
check_same "a matrix that swaps rows and columns is followed" "R-- --B -G- RGB " "$(corners "$V/swap.mp4")"
matrix skew.mp4 1 1 0 1
check_exit "a video with a skewing matrix is extracted" 0 vt-extract "$V/skew.mp4" -o "$T/skew.tar"
check_says "a skewing matrix is not followed, with a warning" 'warning: .*skew.mp4: the display matrix turns by'
ffmpeg -v error -y -nostdin -i "$V/r0.mp4" -c copy -bsf:v h264_metadata=display_orientation=insert:rotate=90 "$V/sei.mkv"
if ffprobe -v error -select_streams v -read_intervals %+#1 -show_frames "$V/sei.mkv" | grep -q 'Display Matrix'; then
	check_same "a matrix in the bitstream counts if the container has none" "48x64" \
		"$(sample_info "$V/sei.mkv" | jq -r '"\(.width)x\(.height)"')"
fi

# ---- colors ----

# color NAME FILTER OPTION...: check that color 200 60 40 comes back from this
# encoding.
color() {
	name=$1 filter=$2
	shift 2
	if ! ffmpeg -v error -y -nostdin -f lavfi -i "color=0xC83C28:s=64x48:r=5:d=0.2" -vf "$filter" "$@" "$V/c-$name" 2>/dev/null; then
		skip "$name: colors" "this ffmpeg cannot make it"
		return
	fi
	for o in "" --size=33x25 --size=128x96 --format=png; do
		# shellcheck disable=SC2086
		vt-extract -q $o "$V/c-$name" | tar xOf - --wildcards '*.000000.*' >"$T/frame"
		got=$(ffmpeg -v error -i "$T/frame" -vf "scale=1:1:flags=area,format=rgb24" -f rawvideo - </dev/null | od -An -tu1)
		# shellcheck disable=SC2086
		if echo $got | awk '{exit !(($1-200)^2<20 && ($2-60)^2<20 && ($3-40)^2<20)}'; then
			ok "$name ${o:-as it is}: colors"
		else
			not_ok "$name ${o:-as it is}: colors"
			diag "got $got, wanted 200 60 40"
		fi
	done
}
S=scale=out_color_matrix
color 601.mp4 "$S=bt601:out_range=tv,format=yuv420p" -c:v libx264 -qp 1 -colorspace smpte170m
color 709.mp4 "$S=bt709:out_range=tv,format=yuv420p" -c:v libx264 -qp 1 -colorspace bt709
color 709-full.mp4 "$S=bt709:out_range=pc,format=yuv420p" -c:v libx264 -qp 1 -colorspace bt709 -color_range pc
color 601-full.mp4 "$S=bt601:out_range=pc,format=yuvj420p" -c:v libx264 -qp 1
color unsaid.avi "$S=bt601:out_range=tv,format=yuv420p" -c:v mpeg4 -q:v 2
color 709-444.mp4 "$S=bt709:out_range=tv,format=yuv444p" -c:v libx264 -qp 1 -colorspace bt709
color 2020-10bit.mkv "$S=bt2020:out_range=tv,format=yuv420p10le" -c:v ffv1 -colorspace bt2020nc
color 444-16bit.mkv "$S=bt601:out_range=tv,format=yuv444p16le" -c:v ffv1
color rgb.mp4 "format=rgb24" -c:v libx264rgb -qp 0
color alpha.mkv "format=bgra" -c:v ffv1
color palette.gif "null"
color mjpeg-422.avi "$S=bt601:out_range=pc,format=yuvj422p" -c:v mjpeg -q:v 2

# ---- labels, lists, keys ----

mkdir -p "$T/set/walk" "$T/set/fall" "$T/set/odd"
cp "$V/a.mp4" "$T/set/walk/w1.mp4"
cp "$V/a.mp4" "$T/set/fall/f1.mp4"
cp "$V/a.mp4" "$T/set/fall/f2.mp4"
check_same "--label-from=dir takes labels from folders" "fall/f1 0 fall/f2 0 walk/w1 1 " \
	"$(sample_info --root "$T/set" --label-from=dir "$T"/set/*/*.mp4 | jq -r '"\(.key) \(.label) "' | tr -d '\n')"
check_exit "labelled videos are extracted" 0 \
	vt-extract --root "$T/set" --label-from=dir "$T"/set/*/*.mp4 -o "$T/summary.tar"
check_same "the summary shows videos, classes, frames and bytes" \
	"vt-extract: note: 3 videos, 2 classes (fall: 2, walk: 1), 30 frames of $(tar xOf "$T/summary.tar" --wildcards '*.jpg' |
	wc -c | awk '{ printf "%.2f KiB", $1 / 1024 }')" "$(cat "$T/err")"
check_exit "labelled videos are extracted with -q" 0 \
	vt-extract -q --root "$T/set" --label-from=dir "$T"/set/*/*.mp4 -o "$T/quiet.tar"
check_same "-q prints no summary" "" "$(cat "$T/err")"
check_exit "the labelled stream is packed" 0 vt-pack -o "$T/summary" "$T/summary.tar"
check_says "vt-pack's summary shows samples, classes, frames and shards" \
	"^vt-pack: note: .*/summary: 3 samples, 2 classes \(fall: 2, walk: 1\), 30 frames in 1 shard, "
check_same "a labelled sample has a .cls with its number" "1" \
	"$(vt-extract -q --root "$T/set" --label-from=dir "$T"/set/*/*.mp4 | tar xOf - walk/w1.cls)"
check_same "the head of the stream has the classes" '["fall","walk"]' \
	"$(vt-extract -q --label-from=dir "$T"/set/*/*.mp4 | tar xOf - __vt__/.head | jq -c .classes)"
mkdir -p "$T/set/walk/slow by"
cp "$V/a.mp4" "$T/set/walk/slow by/s1.mp4"
check_same "with --root the class is the first folder below it" "fall/f1 0 walk/slow=20by/s1 1 walk/w1 1 " \
	"$(cd "$T" && sample_info --root set --label-from=dir set/fall/f1.mp4 "$T/set/walk/slow by/s1.mp4" ./set/walk/w1.mp4 |
	jq -r '"\(.key) \(.label) "' | tr -d '\n')"
check_message "with --label-from=dir, a video in the root itself ends with 1" 1 'w1.mp4: is in .*/set/walk itself' \
	vt-extract --root "$T/set/walk" --label-from=dir "$T/set/walk/slow by/s1.mp4" "$T/set/walk/w1.mp4"
check_message "folders of several depths without --root end with 2" 2 \
	'slow by/s1.mp4": class "slow by" by its own folder, walk by the first folder below set; .*--root=set for walk' \
	sh -c 'cd "$1" && vt-extract --label-from=dir set/*/*.mp4 "set/walk/slow by/s1.mp4" -o mixed.tar' sh "$T"
check "nothing is written if classes are ambiguous" test ! -e "$T/mixed.tar"
rm -r "$T/set/walk/slow by"
printf 'walk\njump\nfall\n' >"$T/classes"
check_same "--classes numbers the classes" "2 2 0 " \
	"$(sample_info --classes="$T/classes" --label-from=dir "$T"/set/*/*.mp4 | jq -r '"\(.label) "' | tr -d '\n')"
printf 'walk\n' >"$T/classes1"
check_message "a class that --classes lacks ends with 1" 1 \
	'fall/f1.mp4: class fall is not among the 1 class of .*classes1 ' \
	vt-extract --classes="$T/classes1" --label-from=dir "$T"/set/*/*.mp4
printf 'path,label\nwalk/w1.mp4,walk\nfall/f2.mp4,fall\n' >"$T/list.csv"
check_same "--annotations gives paths and labels" "walk/w1 1 fall/f2 0 " \
	"$(sample_info --annotations "$T/list.csv" --root "$T/set" | jq -r '"\(.key) \(.label) "' | tr -d '\n')"
check_exit "a CSV list is extracted" 0 vt-extract --annotations "$T/list.csv" --root "$T/set" -o "$T/l.tar"
check_says "a note shows format, videos and classes of the list" 'note: .*list.csv: CSV, 2 videos, 2 classes'
printf 'path,lable\nwalk/w1.mp4,walk\n' >"$T/misspelled.csv"
check_exit "a CSV list without labels is extracted" 0 vt-extract --annotations "$T/misspelled.csv" --root "$T/set" -o "$T/m.tar"
check_says "a note shows that no column has labels" 'warning: .*misspelled.csv: no labels: its columns are path, lable \(wanted one of label, class, '
check_same "-T - reads a list from standard input" "a w1 " \
	"$( (echo "$V/a.mp4"; echo "$T/set/walk/w1.mp4") | sample_info -T - | jq -r '.key + " "' | sed 's|.*/||' | tr -d '\n')"

mkdir -p "$T/odd"
for n in 'new
line' '-dash' 'sp ace' 'dot.s' "quo'te\"" 'per%cent' '=41' 'b\slash' "$(printf 'latin\351')" 'ünï' '#' '*' '~'; do
	cp "$V/a.mp4" "$T/odd/$n.mp4"
done
check_same "13 odd file names give 13 different keys" 13 \
	"$(find "$T/odd" -name '*.mp4' -print0 | LC_ALL=C sort -z | sample_info -0 -T - --root "$T/odd" | jq -r .key | sort -u | wc -l)"
check "keys have plain characters only" \
	sh -c '! (find "$1/odd" -name "*.mp4" -print0 | vt-extract -q -0 -T - --root "$1/odd" | tar tf - | grep -v __vt__ | grep -q "[^A-Za-z0-9_=./-]")' sh "$T"
check "the report names each video by its own bytes" sh -c '
	cd "$1/odd" && find . -name "*.mp4" -print0 | LC_ALL=C sort -z >"$1/names"
	vt-extract -q -0 -T "$1/names" --report="$1/odd.jsonl" -o "$1/odd.tar"
	jq -j "select(.type==\"video\")|if .path_hex then \"hex:\"+.path_hex else .path end|.+\"\u0000\"" "$1/odd.jsonl" >"$1/back"
	python3 - "$1/names" "$1/back" <<P
import sys
a, b = (open(f, "rb").read().split(b"\0") for f in sys.argv[1:])
b = [bytes.fromhex(x[4:].decode()) if x.startswith(b"hex:") else x for x in b]
sys.exit(a != b or len(a) != 14)
P' sh "$T"
check_same "a name that begins with a dash is taken after --" "-dash.json" \
	"$(cd "$T/odd" && PATH="$OLDPWD/$BUILD:$PATH" && members -- -dash.mp4 | grep json)"
cp "$V/a.mp4" "$T/set/walk/w1.avi"
check_message "two videos of one key end with 1" 1 'w1.mp4 and .*w1.avi have the same key' \
	vt-extract "$T/set/walk/w1.mp4" "$T/set/walk/w1.avi" -o "$T/two.tar"
check "with two videos of one key, nothing is written" test ! -e "$T/two.tar"
rm "$T/set/walk/w1.avi"

# ---- the stored path does not depend on how it was typed ----

ln -s "$T/set" "$T/link"
check_exit "absolute paths below --root are extracted" 0 \
	vt-extract --root "$T/set" "$T"/set/*/*.mp4 -o "$T/absolute.tar"
check_same "the stored path is relative to --root" "fall/f1.mp4 fall/f2.mp4 walk/w1.mp4" \
	"$(tar xOf "$T/absolute.tar" --wildcards '*.json' | sed 's/}{/}\n{/g' | jq -r .src | xargs)"
# typed WHAT DIRECTORY ARGUMENT...: check that these arguments give the same
# stream from DIRECTORY.
typed() {
	what=$1
	cd "$2" || exit 2
	shift 2
	vt-extract -q "$@" -o "$T/typed.tar" 2>"$T/err" || cat "$T/err"
	cd "$OLDPWD" || exit 2
	check "$what: the same bytes" cmp "$T/absolute.tar" "$T/typed.tar"
	rm -f "$T/typed.tar"
}
all="fall/f1.mp4 fall/f2.mp4 walk/w1.mp4"
typed "relative" "$T" --root set set/fall/f1.mp4 set/fall/f2.mp4 set/walk/w1.mp4
# shellcheck disable=SC2086
typed "no root, relative" "$T/set" $all
typed "no root, absolute" "$T/set" "$T/set/fall/f1.mp4" "$T/set/fall/f2.mp4" "$T/set/walk/w1.mp4"
typed "with ./ and //" "$T" --root ./set/ ./set//fall/f1.mp4 set/./fall/f2.mp4 ././set/walk/w1.mp4
typed "with .." "$T/set/walk" --root .. ../fall/f1.mp4 ../fall/../fall/f2.mp4 w1.mp4
typed "a relative root, absolute paths" "$T" --root set "$T/set/fall/f1.mp4" "$T/set/fall/f2.mp4" "$T/set/walk/w1.mp4"
typed "an absolute root, relative paths" "$T" --root "$T/set" set/fall/f1.mp4 set/fall/f2.mp4 set/walk/w1.mp4
# shellcheck disable=SC2086
typed "in a linked directory" "$T/link" $all
typed "through a link" "$T" --root "$T/set" link/fall/f1.mp4 "$T/link/fall/f2.mp4" set/walk/w1.mp4
mkdir "$T/away"
check_same "without --root, a path outside the current directory keeps its last component" "w1.mp4 w1" \
	"$(cd "$T/away" && sample_info "$T/set/walk/w1.mp4" | jq -r '"\(.src) \(.key)"')"
cp "$V/a.mp4" "$T/set/fall/w1.mp4"
check_exit "without --root, two videos with the same last component end with 1" 1 \
	sh -c 'cd "$1/away" && vt-extract ../set/walk/w1.mp4 ../set/fall/w1.mp4' sh "$T"
check_says "the message suggests --root" 'have the same key, w1 .with --root=DIR'
rm "$T/set/fall/w1.mp4"
check_exit "a video outside --root ends with 1" 1 vt-extract --root "$T/set/walk" "$T/set/fall/f1.mp4"
check_says "the message says that the video is not below --root" 'f1.mp4: not below .*walk'

# ---- dry run ----

vt-extract -n --root "$T/set" --label-from=dir --short-side=32 "$T"/set/*/*.mp4 >"$T/dry"
check_same "-n lists key, label, path, codec, size, rate and seconds" "fall/f1 0 h264 48 32 25/1 0.4" \
	"$(sed -n 2p "$T/dry" | cut -f1,2,4- | tr '\t' ' ')"
check_same "-n has a header with the columns" \
	"#key label path codec width height fps seconds" "$(head -1 "$T/dry" | tr '\t' ' ')"
plan
