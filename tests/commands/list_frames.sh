#!/bin/sh
# tests/run: weight 5
# The frames of a part are those that ffprobe's times and numbers give, in the list
# formats of labeling tools.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
have ffprobe || skip_all "no ffprobe command"

# make NAME RATE OPTION...: make two seconds of gray frames, each as bright as its
# number says, and append its frames to $T/times: video, number among the decoded
# frames, number in the picture, time after the first.
make() {
	name=$1 rate=$2
	shift 2
	ffmpeg -v error -y -nostdin -f lavfi -i "color=gray:s=32x32:r=$rate:d=2,geq=lum='16+2*N':cb=128:cr=128,format=yuv420p" \
		-c:v libx264 -crf 1 -g 12 "$@" "$V/$name"
	ffprobe -v error -select_streams v -show_entries frame=best_effort_timestamp_time -of csv=p=0 "$V/$name" |
		sed 's/,.*//; /^$/d' >"$T/probed"
	ffmpeg -v error -nostdin -i "$V/$name" -fps_mode passthrough -f rawvideo -pix_fmt gray - | numbers |
		paste -d ' ' "$T/probed" - | awk -v v="${name%.*}" 'NR == 1 { t = $1 } { print v, NR - 1, $2, $1 - t }' >>"$T/times"
}
# numbers: print the number that each picture of 32x32 gray pixels shows.
numbers() {
	od -An -v -tu1 -w1024 | awk '{ print int($1 * 219 / 255 / 2 + 0.5) }'
}
make a.mp4 25
make b.mp4 30000/1001
make late.mkv 30000/1001 -output_ts_offset 5
make later.mp4 25 -output_ts_offset 3
make varied.mp4 25 -vf "select='not(mod(n,3))+gt(mod(n,7),3)'" -fps_mode vfr
check_same "ffprobe has as many frames as there are pictures" "251 251" \
	"$(awk '{ n++; m += NF == 4 } END { print n, m }' "$T/times")"

# A row is a video, its rate, and a part from a frame to before another one at this
# rate. Frame 15 of 30000/1001 is half a millisecond from a whole one.
cat >"$T/rows" <<'ROWS'
a 25 0 5
a 25 7 31
a 25 40 50
b 30000/1001 1 2
b 30000/1001 2 15
b 30000/1001 15 47
b 30000/1001 16 30
late 30000/1001 1 2
late 30000/1001 2 15
late 30000/1001 15 47
late 30000/1001 16 31
later 25 1 8
later 25 12 33
varied 25 1 9
varied 25 4 22
ROWS
# rows FORMAT: print, for each row, what the awk program FORMAT prints of the video
# v, its file, the frames from and to, and their times t and u.
rows() {
	awk "{ split(\$2, r, \"/\"); r[2] = r[2] ? r[2] : 1
		v = \$1; file = v (v == \"late\" ? \".mkv\" : \".mp4\"); from = \$3; to = \$4
		t = from * r[2] / r[1]; u = to * r[2] / r[1]
		$1 }" "$T/rows"
}
# wanted PRECISION: print the frames of each row: by number if PRECISION is empty,
# otherwise by time, of which a list has this many digits after the point.
wanted() {
	rows 'printf "%s %d %d %.9f %.9f\n", v, from, to, t, u' | awk -v digits="$1" -v slack=0.00051 '
		NR == FNR { k[NR] = $2; n[NR] = $3; t[NR] = $4; of[NR] = $1; frames = NR; next }
		{
			printf "%s", $1
			b = sprintf("%." digits "f", $4) - slack
			e = sprintf("%." digits "f", $5) - slack
			for (i = 1; i <= frames; i++)
				if (of[i] == $1 && (digits == "" ? k[i] >= $2 && k[i] < $3 : t[i] >= b && t[i] < e))
					printf " %d", n[i]
			print ""
		}' "$T/times" - | LC_ALL=C sort
}
check_same "at a constant rate, times of three digits select the same frames as numbers" \
	"$(wanted "" | grep -v varied)" "$(wanted 3 | grep -v varied)"
# compare WHAT PRECISION OPTION...: check the frames that the list $T/list selects.
compare() {
	what=$1
	wanted "$2" >"$T/want"
	shift 2
	rm -rf "$T/x" && mkdir "$T/x"
	vt-extract -q --format=png --annotations="$T/list" --root="$V" "$@" | tar xf - -C "$T/x"
	ffmpeg -v error -nostdin -f image2 -pattern_type glob -i "$T/x/*.png" -f rawvideo -pix_fmt gray - | numbers >"$T/shown"
	(cd "$T/x" && printf '%s\n' *.png) | LC_ALL=C sort | paste -d ' ' - "$T/shown" | awk '
		{ split($1, a, "."); v = a[1]; sub(/_.*/, "", v) }
		a[1] != last { printf "%s%s", last ? "\n" : "", v; last = a[1] }
		{ printf " %d", $2 }
		END { print "" }' | LC_ALL=C sort >"$T/got"
	check_same "$what: the frames of each part" "" "$(diff "$T/want" "$T/got")"
}

{ echo path,label,frame_start,frame_end && rows 'print file ",x," from "," to'; } >"$T/list"
compare "CSV with frames" ""

{ echo 'Observation id,Media file name,Behavior,Behavior type,Start (s),Stop (s)' &&
	rows 'printf "%s,%s,x,STATE,%.3f,%.3f\n", v, file, t, u'; } >"$T/list"
compare "BORIS" 3

echo narration_id,participant_id,video_id,narration_timestamp,start_timestamp,stop_timestamp,start_frame,stop_frame,narration,verb,verb_class,noun,noun_class,all_nouns,all_noun_classes >"$T/list"
rows 'printf "n,P,%s,00:00:00.000,00:00:%05.2f,00:00:%05.2f,1,2,x,x,3,y,4,,\n", v, t, u' >>"$T/list"
compare "EPIC-KITCHENS" 2

for digits in 3 6; do
	rows "printf \"%s [%.${digits}f,%.${digits}f]\\n\", v, t, u" | jq -Rn '{database:
		([inputs / " "] | group_by(.[0]) | map({key: .[0][0], value: {duration: 9, subset: "training",
		annotations: map({label: "x", segment: (.[1] | fromjson)})}}) | from_entries)}' >"$T/list"
	compare "ActivityNet, $digits digits" $digits
done

cp "$T/rows" "$T/all"
for rate in 25 30000/1001; do
	grep " $rate " "$T/all" >"$T/rows"
	rows 'print file, from + 1, to' | jq -Rn '[inputs / " "] | group_by(.[0]) | map({data: {video: .[0][0]},
		annotations: [{result: map({type: "timelinelabels", value: {timelinelabels: ["x"],
		ranges: [{start: (.[1] | tonumber), end: (.[2] | tonumber)}]}})}]})' >"$T/list"
	compare "Label Studio at $rate" 9 --list-fps=$rate
done

# A file of CVAT is of one video.
for of in b late varied; do
	grep "^$of " "$T/all" >"$T/rows"
	{
		echo "<annotations><version>1.1</version><meta><task><source>$(rows 'print file; exit')</source></task></meta>"
		rows 'print "<track id=\"" NR "\" label=\"x\"><box frame=\"" from "\" outside=\"0\" keyframe=\"1\"/>" \
			"<box frame=\"" to "\" outside=\"1\" keyframe=\"1\"/></track>"'
		echo "</annotations>"
	} >"$T/list"
	compare "CVAT, $of" ""
done
plan
