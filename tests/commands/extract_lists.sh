#!/bin/sh
# tests/run: weight 9
# vt-extract with the list formats of datasets: time spans of videos, folders of
# frames, and sets of classes.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=96x64:r=25:d=4" -c:v mpeg4 -q:v 3 "$V/a.mp4" </dev/null

# ---- the detected format ----

printf 'label,youtube_id,time_start,time_end,split\n"run fast",a,1,3,train\nwalk,a,0,2,val\nwalk,a,2,4,train\n' >"$T/k.csv"
check_message "a Kinetics list is extracted" 0 'note: .*k.csv: Kinetics CSV, 3 videos, 2 classes' \
	vt-extract --annotations "$T/k.csv" --root "$V" -o "$T/k.tar"
check_message "--subset=train of a Kinetics list" 0 'k.csv: Kinetics CSV, 2 videos, 2 classes' \
	vt-extract --annotations "$T/k.csv" --subset=train --root "$V" -o "$T/kt.tar"
check_message "--subset without --annotations ends with 2" 2 'subset is for --annotations' \
	vt-extract --subset=train "$V/a.mp4"
check_message "--around without --annotations ends with 2" 2 'around is for --annotations' \
	vt-extract --around=2s "$V/a.mp4"
printf 'Observation id,Media file,Behavior,Behavior type,Time\no,a.mp4,jump,POINT,2\n' >"$T/boris.csv"
check_message "an event of BORIS is a clip around it" 0 'boris.csv: BORIS events, 1 video, 1 class' \
	vt-extract --annotations "$T/boris.csv" --around=1s --root "$V" -o "$T/boris.tar"
check_same "it has the frames of a second" a_001500_002500ms.json "$(tar tf "$T/boris.tar" | grep json)"
check_message "--background without --annotations ends with 2" 2 'background is for --annotations' \
	vt-extract --background=none "$V/a.mp4"
printf 'path,label,time_start,time_end\na.mp4,walk,0,1\na.mp4,walk,2,3\n' >"$T/gap.csv"
check_same "--background makes a part of the gap" "a.mp4,none,1,2" \
	"$(vt-extract -q --print-list --annotations "$T/gap.csv" --background=none | tail -1)"
check_message "a --list-fps in words ends with 2" 2 'list-fps: fast \(wanted frames a second' \
	vt-extract --list-fps=fast --annotations "$T/boris.csv"
printf 'a.mp4 1\nb.mp4 x y\n' >"$T/broken"
check_message "a list with a malformed line ends with 1" 1 'broken: line 2: "b.mp4 x y" \(wanted a path and one label' \
	vt-extract --annotations "$T/broken" --annotations-format=mmaction2 --root "$V"

printf 'label,youtube_id,time_start,time_end\nwalk,a,0,2\n"run fast",gone,1,3\n' >"$T/gone.csv"
check_exit "a list with a missing video ends with 1" 1 vt-extract --annotations "$T/gone.csv" --root "$V"
check_says "a list with a missing video: the message shows list line, tried names and the way out" \
	'error: .*gone.csv: line 3: .*/gone_000001_000003.mp4: cannot open: No such file or directory \(tried gone_000001_000003.mp4, run_fast/gone_000001_000003.mp4, "run fast/gone_000001_000003.mp4", gone.mp4, gone.webm, gone.mkv, gone.avi, gone\); --on-error=skip leaves it out'
check_message "--on-error=skip skips the missing video" 3 \
	'warning: skipped: .*gone.csv: line 3: .*No such file or directory \(tried ' \
	vt-extract --annotations "$T/gone.csv" --root "$V" --on-error=skip -o "$T/gone.tar"
check_says "the summary counts skipped and stored videos" \
	'warning: 1 of 2 videos were skipped; stored: 1 video, 2 classes \("run fast": 0, walk: 1\), 50 frames of '
printf '%s\n' "$V/none.mp4" "$V/a.mp4" >"$T/paths"
check_exit "-T with a missing video ends with 1" 1 vt-extract -T "$T/paths"
check_says "-T with a missing video: the message shows its line in the list" \
	'error: .*/paths: line 1: .*/none.mp4: cannot open: No such file or directory; --on-error=skip'

# ---- a number of frames before the label ----

printf 'a.mp4 100 7\n' >"$T/frames"
check_message "a number before the label that equals the video's frames" 0 \
	"frames: path and label, 1 video, 1 class; the number before each label must be the video's frames" \
	vt-extract --annotations "$T/frames" --root "$V" -o "$T/frames.tar"
printf 'a.mp4 99 7\n' >"$T/frames"
check_message "a number before the label that differs from the frames ends with 1" 1 \
	'frames: line 1: .*a.mp4: 100 frames \(the list has 99 before the label; --annotations-format=path-label ignores it, mmaction2 takes it for a label\)' \
	vt-extract --annotations "$T/frames" --root "$V"
check_message "--annotations-format=path-label ignores the number before the label" 0 \
	'frames: path and label, 1 video, 1 class; the field between path and label \(line 1\) is ignored' \
	vt-extract --annotations-format=path-label --annotations "$T/frames" --root "$V" -o "$T/frames2.tar"
printf 'a.mp4 0 4\n' >"$T/frames"
check_exit "0 before the label ends with 1" 1 vt-extract --annotations "$T/frames" --root "$V"
check_says "0 before the label: the message says that 0 may be a label" \
	'frames: line 1: 0 frames before the label 4 \(wanted .*--annotations-format=mmaction2'

# ---- time spans ----

check_same "time spans of one video are separate samples" \
	"a_000001_000003 0 50 a.mp4|a_000000_000002 1 50 a.mp4|a_000002_000004 1 50 a.mp4|" \
	"$(sample_info --annotations "$T/k.csv" --root "$V" | jq -r '"\(.key) \(.label) \(.frames) \(.src)"' | tr '\n' '|')"
frame_sums --root "$V" "$V/a.mp4" >"$T/all"
check_same "a span has the frames from its start to before its end" "$(sed -n 26,75p "$T/all" | tr '\n' ' ')" \
	"$(head -1 "$T/k.csv" >"$T/k1.csv"; sed -n 2p "$T/k.csv" >>"$T/k1.csv"; frame_sums --annotations "$T/k1.csv" --root "$V" | tr '\n' ' ')"
check_same "with --fps, times count from the span's first frame" \
	"$(sed -n '26p;31p;36p;41p;46p;51p;56p;61p;66p;71p' "$T/all" | tr '\n' ' ')" \
	"$(frame_sums --annotations "$T/k1.csv" --root "$V" --fps=5 | tr '\n' ' ')"
printf 'path,label,time_start,time_end\na.mp4,0,3.5,\n' >"$T/p.csv"
check_same "a span without an end goes to the end of the video" 12 \
	"$(sample_info --annotations "$T/p.csv" --root "$V" | jq .frames)"
printf 'path,label,time_start,time_end\na.mp4,0,5,9\n' >"$T/late.csv"
check_exit "a span after the end of the video ends with 1" 1 vt-extract --annotations "$T/late.csv" --root "$V"
check_says "a span after the end of the video: the message shows span and duration" \
	'a.mp4: no frame from 5 s to 9 s \(the video has 4.00 s\)'

# ---- folders of frames ----

mkdir -p "$V/f/one" "$V/f/two" "$V/f/gap"
ffmpeg -v error -y -nostdin -i "$V/a.mp4" -frames:v 20 -q:v 2 "$V/f/one/img_%05d.jpg" </dev/null
for i in 1 2 3; do cp "$V/f/one/img_0000$i.jpg" "$V/f/one/flow_x_0000$i.jpg"; done
for i in 1 2 3 4; do cp "$V/f/one/img_0000$i.jpg" "$V/f/two/00$i.jpg"; done
cp "$V/f/one/img_00001.jpg" "$V/f/gap/1.jpg"
cp "$V/f/one/img_00002.jpg" "$V/f/gap/3.jpg"
printf 'one 20 1\ntwo 3 0\n' >"$T/tsm.txt"
check_message "a list of folders of frames is extracted" 0 'tsm.txt: frames, as TSM lists them, 2 videos, 2 classes' \
	vt-extract --annotations "$T/tsm.txt" --root "$V/f" -o "$T/tsm.tar"
check_same "a folder has the listed number of frames, and no rate" "one 20 1 [0,0] two 3 0 [0,0] " \
	"$(sample_info --annotations "$T/tsm.txt" --root "$V/f" | jq -r '"\(.key) \(.frames) \(.label) \(.fps|tojson) "' | tr -d '\n')"
for o in -j1 '-j3 --spool-memory=1M'; do
	# shellcheck disable=SC2086
	check "$o gives the same bytes" sh -c 'vt-extract -q $1 --annotations "$2" --root "$3" | cmp - "$4"' sh "$o" "$T/tsm.txt" "$V/f" "$T/tsm.tar"
done
check_same "a frame that keeps its size is copied byte for byte" "$(md5sum <"$V/f/one/img_00007.jpg")" \
	"$(vt-extract -q --annotations "$T/tsm.txt" --root "$V/f" | tar xOf - one.000006.jpg | md5sum)"
check_same "a frame that changes its size is scaled" "48 32 16" \
	"$(sample_info --short-side=32 --root "$V/f" "$V/f/two" | jq -r '"\(.width) \(.height) \(.flags)"')"
check "frames of folders are scaled by area averaging" sh -c '
	vt-extract -q --short-side=32 --format=png --root "$1" "$1/f/one" | tar xOf - f/one.000004.png >"$2/f.png"
	ffmpeg -v error -y -i "$1/f/one/img_00005.jpg" -vf "format=gbrp,scale=48:32:flags=area,format=gbrp" "$2/want.png" </dev/null
	[ "$(ffmpeg -v info -i "$2/f.png" -i "$2/want.png" -lavfi psnr -f null - 2>&1 </dev/null | sed -n "s/.*average:\([0-9]*\|inf\).*/\1/p" | sed s/inf/99/)" -ge 33 ]' sh "$V" "$T"
printf 'one 5 10 1\n' >"$T/mm.txt"
check_same "an offset in the list counts from the first frame" \
	"$(md5sum <"$V/f/one/img_00006.jpg") 10" \
	"$(vt-extract -q --annotations "$T/mm.txt" --annotations-format=mmaction2-offset --root "$V/f" >"$T/mm.tar"
	echo "$(tar xOf "$T/mm.tar" one_f000005_f000015.000000.jpg | md5sum) $(tar xOf "$T/mm.tar" --wildcards '*.json' | jq .frames)")"
printf 'one 21 1\n' >"$T/many.txt"
check_message "more listed frames than there are end with 1" 1 'one: 20 frames \(the list says 0 to 20\)' \
	vt-extract --annotations "$T/many.txt" --root "$V/f"
check_message "a missing frame number ends with 1" 1 'gap: after 1.jpg comes 3.jpg \(wanted number 2\)' \
	vt-extract "$V/f/gap"
mkdir "$V/f/mixed" "$V/f/none"
cp "$V/f/one/img_00001.jpg" "$V/f/mixed/a1.jpg"
cp "$V/f/one/img_00001.jpg" "$V/f/mixed/b1.jpg"
printf 'two,5,0\n' >"$T/folders"
check_message "-n with another number of frames than listed ends with 1" 1 \
	'folders: line 1: .*two: 4 frames \(the list has 5 before the label' \
	vt-extract -n --annotations "$T/folders" --root "$V/f"
check_message "two patterns of frame names in one folder end with 1" 1 'frames called like a1.jpg and like b1.jpg' \
	vt-extract "$V/f/mixed"
check_message "a folder without frames ends with 1" 1 'none: a folder without frames' vt-extract "$V/f/none"
check_message "--fps with a folder of frames ends with 1" 1 'two: a folder of frames, which has no rate' \
	vt-extract --fps=5 "$V/f/two"
head -c 900 "$V/f/one/img_00003.jpg" >"$V/f/two/003.jpg"
check_message "a truncated frame ends with 1" 1 'two/003.jpg: ' vt-extract "$V/f/two"
check_exit "--on-error=skip skips the folder with a truncated frame" 3 \
	vt-extract --on-error=skip -o "$T/skip.tar" --root "$V/f" "$V/f/two" "$V/f/one"
check_exit "-n with a folder of frames" 0 vt-extract -n --root "$V/f" "$V/f/one"
check_same "-n lists the folder" "one -1 jpeg 96 64" "$(sed -n 2p "$T/out" | cut -f1,2,4-6 | tr '\t' ' ')"

# ---- keys of parts, of folders, and of several labels ----

# keys WHAT WANTED ARGUMENT...: check the keys and labels that --annotations=l.csv
# gives.
keys() {
	what=$1 want=$2
	shift 2
	check_same "$what" "$want" "$(vt-extract -q --short-side=32 --annotations="$T/l.csv" -o "$T/l.vt" -f "$@" 2>&1
		tar xOf "$T/l.vt" --wildcards '*.json' | sed 's/}{/}\n{/g' | jq -r '"\(.key) \(.frames)"' | tr '\n' ' ')"
}
printf 'path,label,frame_start,frame_end\na.mp4,x,0,9\na.mp4,y,10,19\na.mp4,z,,\n' >"$T/l.csv"
keys "frames of a video file have keys of their own, beside the whole video" \
	"a_f000000_f000009 9 a_f000010_f000019 9 a 100 " --root="$V"
check_exit "vt-pack takes parts of a video and the video" 0 vt-pack -q -o "$T/parts-set" "$T/l.vt"
printf 'a.mp4 0 9 1\na.mp4 10 9 2\n' >"$T/l.csv"
keys "mmaction2-offset: frames of a video file have keys of their own" \
	"a_f000000_f000009 9 a_f000010_f000019 9 " --root="$V" --annotations-format=mmaction2-offset
mkdir -p "$V/d/v.1.2" "$V/d/v.1.3"
cp "$V"/f/one/img_0000[1-6].jpg "$V/d/v.1.2"
cp "$V"/f/one/img_0000[1-3].jpg "$V/d/v.1.3"
printf 'v.1.2 0 2 1\nv.1.2 2 3 1\nv.1.3 0 3 2\n' >"$T/l.csv"
keys "mmaction2-offset: frames of folders with dots" \
	"v=2E1=2E2_f000000_f000002 2 v=2E1=2E2_f000002_f000005 3 v=2E1=2E3_f000000_f000003 3 " \
	--root="$V/d" --annotations-format=mmaction2-offset
printf 'path,label\nv.1.2,x\nv.1.3/,y\n' >"$T/l.csv"
keys "a folder has no extension" "v=2E1=2E2 6 v=2E1=2E3 3 " --root="$V/d"
printf 'path,label,time_start,time_end\na.mp4,Diving,0.5,1.7\na.mp4,CliffDiving,0.5,1.7\na.mp4,Diving,2,3\n' >"$T/l.csv"
keys "two labels of one interval are two samples, whose keys end with the labels" \
	"a_000500_001700ms_Diving 30 a_000500_001700ms_CliffDiving 30 a_000002_000003 25 " --root="$V"
check_message "two labels of one interval: a warning has the lines" 0 \
	'warning: .*l.csv: line 3: .*a.mp4 has another label than line 2: two samples, whose keys end with their labels$' \
	vt-extract --short-side=32 --annotations="$T/l.csv" --root="$V" -o "$T/l.vt" -f
printf 'path,label\na.mp4,x\nb.mp4,x\na.mp4,x\n./a.mp4,x\n' >"$T/l.csv"
check_exit "equal rows end with 1" 1 vt-extract --annotations="$T/l.csv" --root="$V"
check_says "equal rows: the message has both lines and the way out" \
	'error: .*l.csv: line 4: .*a.mp4 again, equal to line 2 .wanted each row once.: vt-extract --on-error=skip leaves it out'
cp "$V/a.mp4" "$V/b.mp4"
check_message "--on-error=skip leaves equal rows out" 0 \
	'warning: .*l.csv: line 4: .*a.mp4 again, equal to line 2; 2 equal rows are skipped' \
	vt-extract --short-side=32 --annotations="$T/l.csv" --root="$V" -o "$T/l.vt" -f --on-error=skip
check_says "--on-error=skip of equal rows: the summary" 'note: 2 videos, 1 class'
printf 'path,label\na.mp4,x\nb.mp4,x\na.avi,x\n' >"$T/l.csv"
check_message "two files of one key end with 1, also with --on-error=skip" 1 \
	'error: .*l.csv: line 4: .*a.mp4 of line 2 and .*a.avi have the same key, a' \
	vt-extract --annotations="$T/l.csv" --root="$V" --on-error=skip

# ---- sets of classes ----

printf 'id,script,actions,length\na,"He, who",c012 1.00 2.00;c003 0.00 9.00;c156 1.01 1.02,4\nb,x,,4\n' >"$T/ch.csv"
cp "$V/a.mp4" "$V/b.mp4"
check_message "a Charades list is extracted" 0 'ch.csv: Charades CSV, 2 videos, 3 classes' \
	vt-extract --annotations "$T/ch.csv" --root "$V" -o "$T/ch.tar" --report="$T/ch.report"
check_same "the report has the sets of classes" 'a -1 [12,3,156] b -1 [] ' \
	"$(jq -r 'select(.type=="video")|"\(.key) \(.label) \(.labels|tojson)"' "$T/ch.report" | tr '\n' ' ')"
check_same "seconds become frames, and a video without actions has an empty set" \
	'-1 32 [[12,25,50],[3,0,99],[156,25,25]]|-1 32 []|' \
	"$(tar xOf "$T/ch.tar" --wildcards '*.json' | sed 's/}{/}\n{/g' | jq -r '"\(.label) \(.flags) \(.labels|tojson)"' | tr '\n' '|')"
check_same "all 157 classes of Charades are in the head" 157 \
	"$(tar xOf "$T/ch.tar" __vt__/.head | jq '.classes|length')"
check_same "with --fps, label intervals have the frames of that rate" '[[12,5,10],[3,0,19],[156,5,5]]' \
	"$(sample_info --fps=5 --annotations "$T/ch.csv" --root "$V" | head -1 | jq -c .labels)"
check_exit "a stream of sets of classes is packed" 0 vt-pack -q -o "$T/set" "$T/ch.tar"
check_exit "a set with sets of classes is verified" 0 vt-pack --verify=decode -i "$T/set"
printf 'a.mp4 7 9 10\nb.mp4 1\n' >"$T/multi"
check_same "labels of whole videos are listed by -n" "7,9,10 1 " \
	"$(vt-extract -q -n --annotations "$T/multi" --root "$V" | sed 1d | cut -f2 | tr '\n' ' ')"
printf 'original_vido_id video_id frame_id path labels\n' >"$T/cf"
for i in 0 1 2 3; do echo "one 0 $i one/img_0000$((i + 1)).jpg \"$((i / 2)),5\""; done >>"$T/cf"
check_same "labels of single frames become intervals" '[[0,0,1],[5,0,3],[1,2,3]] 4' \
	"$(sample_info --annotations "$T/cf" --root "$V/f" | jq -r '"\(.labels|tojson) \(.frames)"')"

# ---- labels that are numbers ----

# numbered OUT LABEL...: extract videos of folders walk and run, one of each label.
mkdir "$T/walk" "$T/run"
numbered() {
	out=$1
	shift
	for label; do
		case $label in 0) class=walk ;; *) class=run ;; esac
		cp "$V/a.mp4" "$T/$class/$out$label.mp4"
		echo "$class/$out$label.mp4,$label"
	done >"$T/numbers"
	vt-extract -q --annotations="$T/numbers" --root="$T" -o "$T/$out"
	tar xOf "$T/$out" __vt__/.head | jq -c .classes
}
check_same "numbers name the classes up to the largest, in their order" \
	'["0","1","2","3","4","5","6","7","8","9","10"]' "$(numbered ten 2 10)"
check_same "another list has fewer numbers" '["0","1"]' "$(numbered two 0 1)"
check_exit "streams of fewer and more numbers are one set" 0 vt-pack -q -o "$T/numbers.set" "$T/two" "$T/ten"
check_same "the set has all of them" 11 "$(wc -l <"$T/numbers.set/classes.txt")"
check_exit "numbers whose folders have names are packed" 0 vt-pack -q -o "$T/names.set" "$T/two"
check_same "the folders name the classes of the set" "walk run " "$(tr '\n' ' ' <"$T/names.set/classes.txt")"
printf '0\n1\n' >"$T/digits"
vt-extract -q --annotations="$T/numbers" --classes="$T/digits" --root="$T" -o "$T/given"
check_exit "numbers that --classes gives as names are packed" 0 vt-pack -q -o "$T/given.set" "$T/given"
check_same "they stay the names" "0 1 " "$(tr '\n' ' ' <"$T/given.set/classes.txt")"

# ---- every format, printed as CSV ----

# printed WHAT ARGUMENT...: check that the list that --print-list prints gives
# the same stream.
printed() {
	what=$1
	shift
	vt-extract -q --short-side=32 "$@" -o "$T/list.tar" -f 2>/dev/null
	vt-extract -q --print-list "$@" >"$T/printed.csv"
	while [ "$1" != --root ]; do shift; done
	check "$what: --print-list gives the same stream" sh -c 'list=$1 want=$2; shift 2
		vt-extract -q --short-side=32 --annotations="$list" "$@" | cmp - "$want"' sh "$T/printed.csv" "$T/list.tar" "$@"
}
# ---- a line without a label ----

printf 'a.mp4 0\na.mp4\n' >"$T/bare"
check_exit "a line without a label is refused" 1 vt-extract -n --annotations="$T/bare" --root="$V"
check_says "vt-extract names its options" 'bare: line 2: .*a.mp4: no label \(wanted one in each line; -T takes paths alone, and --label-from=dir'
vt-schedule -q --batch=2 --frames=4 --crop=32 --bn-size=2 --lr=0.1 --epochs=1 -o "$T/s.tsv"
check_exit "vt-train refuses it, too" 1 vt-train -n -i "$T/bare" --root="$V" -m tsm_tiny --schedule "$T/s.tsv"
check_says "vt-train names no option of another command" 'bare: line 2: .*a.mp4: no label \(wanted one in each line\)$'

# ---- classes that look the same ----

# alike NAME...: print the warnings about a file of these classes, without numbers.
alike() {
	printf '%s\n' "$@" >"$T/alike"
	vt-extract -n --annotations="$T/zero" --root="$V" --classes="$T/alike" 2>&1 | sed -n 's/.*warning: classes [0-9]* and [0-9]* look the same: //p'
}
echo "a.mp4 0" >"$T/zero"
nfc=$(printf 'caf\303\251') nfd=$(printf 'cafe\314\201')
check_same "NFC and NFD: the warning has both with their bytes" \
	"$nfc (\"caf\\xc3\\xa9\") and $nfd (\"cafe\\xcc\\x81\")" "$(alike walk "$nfc" "$nfd")"
check_same "case: the warning has both" 'Walk ("Walk") and walk ("walk")' "$(alike Walk run walk)"
check_same "names that differ are not warned of" "" "$(alike walk walks cafe "$nfd" 'a b' ab)"
mkdir -p "$T/blanks/sit" "$T/blanks/sit "
cp "$V/a.mp4" "$T/blanks/sit/1.mp4" && cp "$V/a.mp4" "$T/blanks/sit /2.mp4"
check_exit "folders that differ in a blank are two classes" 0 vt-extract -n --label-from=dir "$T/blanks"/*/*.mp4
check_says "a warning has both" 'warning: classes 0 and 1 look the same: sit \("sit"\) and "sit " \("sit "\)'
if find_python unicodedata; then
	"$python" - "$T/all" <<-'P'
	import sys, unicodedata as u
	blocks = (0xc0, 0x250), (0x370, 0x460), (0x1e00, 0x1f00), (0x3040, 0x3100), (0xac00, 0xb000)
	nfc = [chr(c) for lo, hi in blocks for c in range(lo, hi)]
	nfc = [c for c in nfc if u.normalize("NFC", c) == c != u.normalize("NFD", c)]
	nfc = list({c.lower(): c for c in nfc}.values())
	text = "".join(c + "\n" + u.normalize("NFD", c) + "\n" for c in nfc)
	open(sys.argv[1], "w", encoding="utf-8").write(text)
	print(len(nfc))
	P
fi >"$T/pairs"
if [ -s "$T/pairs" ]; then
	vt-extract -n --annotations="$T/zero" --root="$V" --classes="$T/all" 2>"$T/err"
	check_says "all letters with marks of five blocks equal their NFD" "$(cat "$T/pairs") pairs of classes look the same"
else
	skip "all letters with marks of five blocks equal their NFD" "no Python"
fi

printed "kinetics" --annotations "$T/k.csv" --root "$V"
printed "csv with a part" --annotations "$T/p.csv" --root "$V"
printf 'path,label,frame_start,frame_end\na.mp4,x,0,9\na.mp4,y,0,9\na.mp4,x,10,19\n' >"$T/l.csv"
printed "csv with frames and two labels" --annotations "$T/l.csv" --root "$V"
mkdir "$V/f/three" && cp "$V"/f/one/img_0000[1-6].jpg "$V/f/three"
printf 'one 20 7\nthree 4 5\n' >"$T/tsm.txt"
printf 'path,label_set\na.mp4,groom 0.5 1.7;"walk; run 2";rest f3 f4\nb.mp4,none\n' >"$T/l.csv"
printed "csv with ranges of classes with names" --annotations "$T/l.csv" --root "$V"
check_same "classes with names have ranges" '[[0,13,42],[2,0,99],[1,3,4]]' \
	"$(sample_info --annotations "$T/l.csv" --root "$V" | head -1 | jq -c .labels)"
printed "tsm" --annotations "$T/tsm.txt" --root "$V/f"
printf 'one 5 10 1\none 0 3 2 4\n' >"$T/mm.txt"
printed "mmaction2-offset" --annotations "$T/mm.txt" --annotations-format=mmaction2-offset --root "$V/f"
printed "mmaction2" --annotations "$T/multi" --root "$V"
printed "charades" --annotations "$T/ch.csv" --root "$V"
printed "charades-frames" --annotations "$T/cf" --root "$V/f"
mkdir -p "$V/Archery" && cp "$V/a.mp4" "$V/Archery/v_Archery_g08_c01.avi"
echo "Archery/v_Archery_g08_c01.avi 3" >"$T/trainlist01.txt"
printed "ucf101, numbers from 1" --annotations "$T/trainlist01.txt" --root "$V"
cp "$V/a.mp4" "$V/74.mp4"
echo '[{"id":"74","template":"Opening [some, \"thing\"]"}]' >"$T/ss.json"
printed "ssv2, a label with a comma and quotes" --annotations "$T/ss.json" --root "$V"
printed "operands with folders as classes" --label-from=dir "$V/Archery/v_Archery_g08_c01.avi" --root "$V"
mkdir "$T/hmdb" "$V/wave" && cp "$V/a.mp4" "$V/wave/a b.avi"
printf 'a b.avi 2\nc.avi 0\n' >"$T/hmdb/wave_test_split1.txt"
printed "hmdb51" --annotations "$T/hmdb/*_split1.txt" --subset=test --root "$V"
check_same "--split of hmdb51 takes every row, whatever its use" 3 \
	"$(vt-extract -q --print-list --annotations "$T/hmdb/*_split1.txt" --split=8:1:1 --root "$V" | wc -l | tr -d ' ')"
plan
