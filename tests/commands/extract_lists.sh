#!/bin/sh
# tests/run: weight 8
# vt-extract with the lists of datasets: parts of videos, folders of frames,
# sets of classes.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=96x64:r=25:d=4" -c:v mpeg4 -q:v 3 "$V/a.mp4" </dev/null

# ---- what was recognised ----

printf 'label,youtube_id,time_start,time_end,split\n"run fast",a,1,3,train\nwalk,a,0,2,val\nwalk,a,2,4,train\n' >"$T/k.csv"
check_exit "a list of Kinetics" 0 vt-extract --annotations "$T/k.csv" --root "$V" -o "$T/k.tar"
check_says "is said, with what is in it" 'note: .*k.csv: Kinetics CSV, 3 videos, 2 classes'
check_exit "its training part" 0 vt-extract --annotations "$T/k.csv" --subset=train --root "$V" -o "$T/kt.tar"
check_says "is told apart" 'k.csv: Kinetics CSV, 2 videos, 2 classes'
check_exit "--subset without a list" 2 vt-extract --subset=train "$V/a.mp4"
check_says "is wrong" 'subset is for --annotations'
printf 'a.mp4 1\nb.mp4 x y\n' >"$T/broken"
check_exit "a broken line" 1 vt-extract --annotations "$T/broken" --annotations-format=mmaction2 --root "$V"
check_says "has its number, what is there and what was wanted" 'broken: line 2: "b.mp4 x y" \(wanted a path and one label'

printf 'label,youtube_id,time_start,time_end\nwalk,a,0,2\n"run fast",gone,1,3\n' >"$T/gone.csv"
check_exit "a missing video" 1 vt-extract --annotations "$T/gone.csv" --root "$V"
check_says "is named with its line, the names that were tried, and the way out" \
	'error: .*gone.csv: line 3: .*/gone_000001_000003.mp4: cannot open: No such file or directory \(tried gone_000001_000003.mp4, run_fast/gone_000001_000003.mp4, "run fast/gone_000001_000003.mp4", gone.mp4, gone.webm, gone.mkv, gone.avi, gone\); --on-error=skip leaves it out'
check_exit "and can be skipped" 3 vt-extract --annotations "$T/gone.csv" --root "$V" --on-error=skip -o "$T/gone.tar"
check_says "with its line" 'warning: skipped: .*gone.csv: line 3: .*No such file or directory \(tried '
check_says "and the sum" 'warning: 1 of 2 videos were skipped; stored: 1 video, 2 classes \("run fast": 0, walk: 1\), 50 frames, '
echo "$V/none.mp4" >"$T/paths"
check_exit "in a list of paths" 1 vt-extract -T "$T/paths"
check_says "too" 'error: .*/paths: line 1: .*/none.mp4: cannot open: No such file or directory; --on-error=skip'

# ---- a number of frames before the label ----

printf 'a.mp4 100 7\n' >"$T/frames"
check_exit "a number of frames that is the video's" 0 vt-extract --annotations "$T/frames" --root "$V" -o "$T/frames.tar"
check_says "is reported as checked" "frames: path and label, 1 video, 1 class; the number before each label must be the video's frames"
printf 'a.mp4 99 7\n' >"$T/frames"
check_exit "another one" 1 vt-extract --annotations "$T/frames" --root "$V"
check_says "is refused" 'frames: line 1: .*a.mp4: 100 frames \(the list has 99 before the label; --annotations-format=path-label ignores it, mmaction2 takes it for a label\)'
check_exit "it does not count where the format is named" 0 vt-extract --annotations-format=path-label --annotations "$T/frames" --root "$V" -o "$T/frames2.tar"
check_says "which is printed" 'frames: path and label, 1 video, 1 class; the field between path and label \(line 1\) is ignored'
printf 'a.mp4 0 4\n' >"$T/frames"
check_exit "0 frames" 1 vt-extract --annotations "$T/frames" --root "$V"
check_says "may be a label" 'frames: line 1: 0 frames before the label 4 \(wanted .*--annotations-format=mmaction2'

# ---- parts in seconds ----

check_same "parts of a video are samples of their own" \
	"a_000001_000003 0 50 a.mp4|a_000000_000002 1 50 a.mp4|a_000002_000004 1 50 a.mp4|" \
	"$(sample_info --annotations "$T/k.csv" --root "$V" | jq -r '"\(.key) \(.label) \(.frames) \(.src)"' | tr '\n' '|')"
frame_sums --root "$V" "$V/a.mp4" >"$T/all"
check_same "with the frames from its start to before its end" "$(sed -n 26,75p "$T/all" | tr '\n' ' ')" \
	"$(head -1 "$T/k.csv" >"$T/k1.csv"; sed -n 2p "$T/k.csv" >>"$T/k1.csv"; frame_sums --annotations "$T/k1.csv" --root "$V" | tr '\n' ' ')"
check_same "and times from its first frame on, also where the rate changes" "$(sed -n '26p;31p;36p;41p;46p;51p;56p;61p;66p;71p' "$T/all" | tr '\n' ' ')" \
	"$(frame_sums --annotations "$T/k1.csv" --root "$V" --fps=5 | tr '\n' ' ')"
printf 'path,label,time_start,time_end\na.mp4,0,3.5,\n' >"$T/p.csv"
check_same "to the end of the video" 12 "$(sample_info --annotations "$T/p.csv" --root "$V" | jq .frames)"
printf 'path,label,time_start,time_end\na.mp4,0,5,9\n' >"$T/late.csv"
check_exit "a part beyond its end" 1 vt-extract --annotations "$T/late.csv" --root "$V"
check_says "is refused" 'a.mp4: no frame from 5 s to 9 s \(the video has 4.00 s\)'

# ---- folders of frames ----

mkdir -p "$V/f/one" "$V/f/two" "$V/f/gap"
ffmpeg -v error -y -nostdin -i "$V/a.mp4" -frames:v 20 -q:v 2 "$V/f/one/img_%05d.jpg" </dev/null
for i in 1 2 3; do cp "$V/f/one/img_0000$i.jpg" "$V/f/one/flow_x_0000$i.jpg"; done
for i in 1 2 3 4; do cp "$V/f/one/img_0000$i.jpg" "$V/f/two/00$i.jpg"; done
cp "$V/f/one/img_00001.jpg" "$V/f/gap/1.jpg"
cp "$V/f/one/img_00002.jpg" "$V/f/gap/3.jpg"
printf 'one 20 1\ntwo 3 0\n' >"$T/tsm.txt"
check_exit "a list of folders" 0 vt-extract --annotations "$T/tsm.txt" --root "$V/f" -o "$T/tsm.tar"
check_says "is said" 'tsm.txt: frames, as TSM lists them, 2 videos, 2 classes'
check_same "has as many frames as it says, without a rate" "one 20 1 [0,0] two 3 0 [0,0] " \
	"$(sample_info --annotations "$T/tsm.txt" --root "$V/f" | jq -r '"\(.key) \(.frames) \(.label) \(.fps|tojson) "' | tr -d '\n')"
for o in -j1 '-j3 --spool-memory=1M'; do
	# shellcheck disable=SC2086
	check "$o gives the same bytes" sh -c 'vt-extract -q $1 --annotations "$2" --root "$3" | cmp - "$4"' sh "$o" "$T/tsm.txt" "$V/f" "$T/tsm.tar"
done
check_same "a frame that keeps its size is stored as it is" "$(md5sum <"$V/f/one/img_00007.jpg")" \
	"$(vt-extract -q --annotations "$T/tsm.txt" --root "$V/f" | tar xOf - one.000006.jpg | md5sum)"
check_same "others are scaled" "48 32 16" \
	"$(sample_info --short-side=32 --root "$V/f" "$V/f/two" | jq -r '"\(.width) \(.height) \(.flags)"')"
check "by averaging areas" sh -c '
	vt-extract -q --short-side=32 --format=png --root "$1" "$1/f/one" | tar xOf - f/one.000004.png >"$2/f.png"
	ffmpeg -v error -y -i "$1/f/one/img_00005.jpg" -vf "format=gbrp,scale=48:32:flags=area,format=gbrp" "$2/want.png" </dev/null
	[ "$(ffmpeg -v info -i "$2/f.png" -i "$2/want.png" -lavfi psnr -f null - 2>&1 </dev/null | sed -n "s/.*average:\([0-9]*\|inf\).*/\1/p" | sed s/inf/99/)" -ge 33 ]' sh "$V" "$T"
printf 'one 5 10 1\n' >"$T/mm.txt"
check_same "an offset counts from the first frame" \
	"$(md5sum <"$V/f/one/img_00006.jpg") 10" \
	"$(vt-extract -q --annotations "$T/mm.txt" --annotations-format=mmaction2-offset --root "$V/f" >"$T/mm.tar"
	echo "$(tar xOf "$T/mm.tar" one_f000005_f000015.000000.jpg | md5sum) $(tar xOf "$T/mm.tar" --wildcards '*.json' | jq .frames)")"
printf 'one 21 1\n' >"$T/many.txt"
check_exit "more frames than there are" 1 vt-extract --annotations "$T/many.txt" --root "$V/f"
check_says "are refused" 'one: 20 frames \(the list says 0 to 20\)'
check_exit "a number that is missing" 1 vt-extract "$V/f/gap"
check_says "is named" 'gap: after 1.jpg comes 3.jpg \(wanted number 2\)'
mkdir "$V/f/mixed" "$V/f/none"
cp "$V/f/one/img_00001.jpg" "$V/f/mixed/a1.jpg"
cp "$V/f/one/img_00001.jpg" "$V/f/mixed/b1.jpg"
printf 'two,5,0\n' >"$T/folders"
check_exit "a folder with another number of frames" 1 vt-extract -n --annotations "$T/folders" --root "$V/f"
check_says "is refused before anything is decoded" 'folders: line 1: .*two: 4 frames \(the list has 5 before the label'
check_exit "two kinds of names" 1 vt-extract "$V/f/mixed"
check_says "are both shown" 'frames called like a1.jpg and like b1.jpg'
check_exit "no frames" 1 vt-extract "$V/f/none"
check_says "are missed" 'none: a folder without frames'
check_exit "a rate for frames that have none" 1 vt-extract --fps=5 "$V/f/two"
check_says "is refused" 'two: a folder of frames, which has no rate'
head -c 900 "$V/f/one/img_00003.jpg" >"$V/f/two/003.jpg"
check_exit "a frame that is cut" 1 vt-extract "$V/f/two"
check_says "is named" 'two/003.jpg: '
check_exit "and may be skipped" 3 vt-extract --on-error=skip -o "$T/skip.tar" --root "$V/f" "$V/f/two" "$V/f/one"
check_exit "a dry run" 0 vt-extract -n --root "$V/f" "$V/f/one"
check_same "shows the folder" "one -1 jpeg 96 64" "$(sed -n 2p "$T/out" | cut -f1,2,4-6 | tr '\t' ' ')"

# ---- sets of classes ----

printf 'id,script,actions,length\na,"He, who",c012 1.00 2.00;c003 0.00 9.00;c156 1.01 1.02,4\nb,x,,4\n' >"$T/ch.csv"
cp "$V/a.mp4" "$V/b.mp4"
check_exit "a list of Charades" 0 vt-extract --annotations "$T/ch.csv" --root "$V" -o "$T/ch.tar" --report="$T/ch.report"
check_says "is said" 'ch.csv: Charades CSV, 2 videos, 3 classes'
check_same "the report has the sets" 'a -1 [12,3,156] b -1 [] ' \
	"$(jq -r 'select(.type=="video")|"\(.key) \(.label) \(.labels|tojson)"' "$T/ch.report" | tr '\n' ' ')"
check_same "seconds become frames; no action is an empty set" \
	'-1 32 [[12,25,50],[3,0,99],[156,25,25]]|-1 32 []|' \
	"$(tar xOf "$T/ch.tar" --wildcards '*.json' | sed 's/}{/}\n{/g' | jq -r '"\(.label) \(.flags) \(.labels|tojson)"' | tr '\n' '|')"
check_same "all its classes are there" 157 "$(tar xOf "$T/ch.tar" __vt__/.head | jq '.classes|length')"
check_same "with another rate, other frames" '[[12,5,10],[3,0,19],[156,5,5]]' \
	"$(sample_info --fps=5 --annotations "$T/ch.csv" --root "$V" | head -1 | jq -c .labels)"
check_exit "they are packed" 0 vt-pack -q -o "$T/set" "$T/ch.tar"
check_exit "and verified" 0 vt-pack --verify=decode -i "$T/set"
printf 'a.mp4 7 9 10\nb.mp4 1\n' >"$T/multi"
check_same "labels of the whole of a video, in a dry run" "7,9,10 1 " \
	"$(vt-extract -q -n --annotations "$T/multi" --root "$V" | sed 1d | cut -f2 | tr '\n' ' ')"
printf 'original_vido_id video_id frame_id path labels\n' >"$T/cf"
for i in 0 1 2 3; do echo "one 0 $i one/img_0000$((i + 1)).jpg \"$((i / 2)),5\""; done >>"$T/cf"
check_same "frames with labels of their own" '[[0,0,1],[5,0,3],[1,2,3]] 4' \
	"$(sample_info --annotations "$T/cf" --root "$V/f" | jq -r '"\(.labels|tojson) \(.frames)"')"
plan
