#!/bin/sh
# tests/run: weight 20
# vt-extract never takes a truncated file for a whole one, wherever it was cut.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
mkdir -p "$T/cut"

# make NAME OPTION...: make four seconds of test pattern and tone. Fail if
# ffmpeg cannot.
make() {
	name=$1
	shift
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=4 -f lavfi -i sine=d=4 \
		-shortest "$@" "$V/$name" </dev/null 2>"$T/make.err"
}

# whole NAME: check that the untruncated file gives all of its frames.
whole() {
	check_same "$1 is intact" \
		"ok 100" "$(vt-extract -q "$V/$1" --report=/dev/fd/3 3>&1 >/dev/null | jq -r 'select(.type=="video")|"\(.status) \(.frames)"')"
}

# cut NAME LAST: cut the file at 20 places. Each cut is refused with a reason,
# as truncated, damaged or unreadable. Frames before the cut are kept on
# request.
cut() {
	name=$1
	n=$(stat -c%s "$V/$name")
	rm -f "$T"/cut/*
	for i in $(seq 0 18); do
		head -c $((n * (i * 5 + 3) / 100)) "$V/$name" >"$T/cut/$(printf %02d "$i").${name##*.}"
	done
	head -c $((n - $2)) "$V/$name" >"$T/cut/19.${name##*.}"
	got=0
	vt-extract -q --on-error=skip "$T"/cut/* --report="$T/r.jsonl" >/dev/null 2>"$T/err" || got=$?
	jq -r 'select(.type=="video")|"\(.status) \(.path|sub(".*/";"")) \(.frames) \(.message)"' "$T/r.jsonl" >"$T/list"
	if [ $got = 3 ] && [ "$(grep -cE '^(truncated|damaged|failed) ' "$T/list")" = 20 ]; then
		ok "$name: 20 cuts are refused"
	else
		not_ok "$name: 20 cuts are refused"
		diag "exit $got; taken for whole:"
		diag "$(grep '^ok' "$T/list")"
		diag "$(head -3 "$T/err")"
	fi
	check_same "$name: each refusal has a reason" 20 "$(grep -c '/[0-9]*[.][a-z0-9]*: ..*' "$T/list")"
	got=0
	vt-extract -q --on-error=skip --allow-truncated --max-damage=9 "$T"/cut/* --report="$T/r.jsonl" >/dev/null 2>"$T/err" || got=$?
	kept=$(jq -r 'select(.kept and .frames > 0)|.path' "$T/r.jsonl" | wc -l)
	more=$(jq -r 'select(.type == "video" and .frames > 100)|.path' "$T/r.jsonl" | wc -l)
	ascending=$(jq -r 'select(.kept).frames' "$T/r.jsonl" | sort -nc 2>&1)
	if { [ $got = 0 ] || [ $got = 3 ]; } && [ "$kept" -ge 12 ] && [ "$more" = 0 ] && [ -z "$ascending" ]; then
		ok "$name: frames before the cut can be kept"
	else
		not_ok "$name: frames before the cut can be kept"
		diag "exit $got, $kept kept, $more too long, $ascending"
		diag "$(head -3 "$T/err")"
	fi
}

# The last cut removes so many bytes that some belong to the video.
while read -r name last options; do
	# shellcheck disable=SC2086
	if make "$name" $options; then
		whole "$name"
		cut "$name" "$last"
	else
		skip "$name" "$(head -1 "$T/make.err")"
	fi
done <<'LIST'
v.mp4 3 -an -c:v libx264 -pix_fmt yuv420p -movflags +faststart
av.mp4 2000 -c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart
fragments.mp4 9000 -c:v libx264 -pix_fmt yuv420p -c:a aac -g 10 -movflags +frag_keyframe+empty_moov
v.mkv 1500 -an -c:v libx264 -pix_fmt yuv420p
av.mkv 1500 -c:v mpeg4 -c:a mp3
v.webm 1000 -an -c:v libvpx-vp9 -deadline realtime -cpu-used 8
v.avi 5000 -an -c:v mpeg4
v.flv 2500 -an -c:v flv
av.wmv 3 -c:v wmv2 -c:a wmav2
v.ogv 3 -an -c:v libtheora
v.mxf 9000 -an -c:v mpeg2video
v.gif 1 -an
LIST

# A raw stream and a transport stream declare no length, so the decoder must
# notice.
make v.h264 -an -c:v libx264 -pix_fmt yuv420p -bf 0
n=$(stat -c%s "$V/v.h264")
head -c $((n / 2)) "$V/v.h264" >"$V/half.h264"
check_exit "half of a raw stream is refused" 1 vt-extract "$V/half.h264"

# Trimmed by an edit list: fewer frames than packets, and still whole.
make long.mp4 -an -c:v libx264 -pix_fmt yuv420p -g 100
ffmpeg -v error -y -nostdin -ss 1.5 -i "$V/long.mp4" -c copy "$V/trim.mp4" </dev/null
want=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$V/trim.mp4")
check_same "a video trimmed by an edit list is whole" "ok $want" \
	"$(vt-extract -q "$V/trim.mp4" --report=/dev/fd/3 3>&1 >/dev/null | jq -r 'select(.type=="video")|"\(.status) \(.frames)"')"
[ "$want" -lt 100 ] || diag "the edit list trims nothing here"
ffmpeg -v error -y -nostdin -ss 3.8 -i "$V/long.mp4" -c copy "$V/few.mp4" </dev/null
check_exit "an edit list that shows less than a tenth of its track is not damage" 0 \
	vt-extract -q "$V/few.mp4" -o "$T/few" --report="$T/r.jsonl"
check_same "the report says what the edit list shows" "ok few.mp4: an edit list shows 5 of 100 frames" \
	"$(jq -r 'select(.type=="video")|"\(.status) \(.message)"' "$T/r.jsonl" | sed 's|ok .*/|ok |')"

# change_times BYTE VALUE: print trim.mp4 with one byte of the durations in its
# index changed.
change_times() {
	at=$(grep -obUa stts "$V/trim.mp4" | head -1)
	at=$((${at%%:*} + $1))
	# shellcheck disable=SC2059
	head -c "$at" "$V/trim.mp4" && printf "\\$(printf %o "$2")" && tail -c +$((at + 2)) "$V/trim.mp4"
}
# The first entry has the number of frames and the ticks of each.
change_times 13 1 >"$T/cut/times.mp4"
check_exit "frames that last longer than their track are refused" 1 vt-extract "$T/cut/times.mp4"
check_says "frames that last longer than their track: the message shows both durations" \
	'at byte [0-9]*: frames of [0-9.]* s in a track of [0-9.]* s'
change_times 10 9 >"$T/cut/times.mp4"
check_exit "more frames than the track's duration are refused" 1 vt-extract "$T/cut/times.mp4"
# change_boxes TYPE BYTE N FILE: print FILE with N zeros from BYTE of each box.
change_boxes() {
	cp "$4" "$T/boxes"
	for at in $(grep -obUa "$1" "$4" | sed 's/:.*//'); do
		head -c "$3" /dev/zero | dd of="$T/boxes" bs=1 seek=$((at + $2)) conv=notrunc 2>/dev/null
	done
	cat "$T/boxes"
}
change_boxes stts 16 4 "$V/v.mp4" >"$T/cut/times.mp4"
check_exit "frames of 0 ticks in a longer track are refused" 1 vt-extract "$T/cut/times.mp4"
check_says "frames of 0 ticks: the message shows both durations" \
	'damaged in 1 place \(at byte [0-9]*: frames of 0.00 s in a track of 4.00 s\)'

fragments=$V/fragments.mp4
# FFmpeg replaces samples whose times come again.
change_boxes tfdt 8 8 "$fragments" >"$T/cut/again.mp4"
cat "$fragments" "$fragments" >"$T/cut/joined.mp4"
cat "$V/v.mp4" "$V/v.mp4" >"$T/cut/appended.mp4"
for row in again:100 joined:200 appended:200; do
	check_exit "${row%:*}.mp4, of which FFmpeg reads only some samples, is refused" 1 vt-extract "$T/cut/${row%:*}.mp4"
	check_says "${row%:*}.mp4: the message shows both numbers" "truncated: .* of ${row#*:} packets;"
done
# The sound has durations in each trun, too, which are not read here.
make times.mp4 -an -c:v libx264 -bf 0 -g 10 -movflags +frag_keyframe+empty_moov+default_base_moof
change_boxes tfhd 12 4 "$V/times.mp4" >"$T/cut/times.mp4"
check_message "fragments with frames of 0 ticks are refused" 1 'frames of at most 1 tick in a fragment of 5120' \
	vt-extract "$T/cut/times.mp4"
make vfr.mp4 -an -c:v libx264 -pix_fmt yuv420p -vf "select='not(mod(n,7))'" -fps_mode vfr
ffmpeg -v error -y -nostdin -i "$V/long.mp4" -t 0.5 -c copy "$V/copy.mp4" </dev/null
for f in vfr copy; do
	check_exit "$f.mp4: durations and track may differ by some frames" 0 vt-extract -o /dev/null "$V/$f.mp4"
done

# A wild time stamp moves its own frame, and no other.
for e in mkv webm flv mp4 mov; do
	codec=libx264
	[ $e != webm ] || codec="libvpx -deadline realtime -cpu-used 8"
	# shellcheck disable=SC2086
	make "even.$e" -an -c:v $codec -pix_fmt yuv420p
	for row in 0:100 50:100 50:-100 51:0.6; do
		case $e:$row in mp4:0:* | mov:0:*) continue ;; esac
		ffmpeg -v error -y -nostdin -i "$V/even.$e" -c copy \
			-bsf:v "setts=pts='PTS+eq(N,${row%:*})*${row#*:}/TB':dts=DTS" "$V/wild.$e" </dev/null
		check_same "$e: packet ${row%:*} wild by ${row#*:} s" "ok 100 [25,1] 100" \
			"$(vt-extract -q "$V/wild.$e" --report=/dev/fd/3 3>&1 >/dev/null |
				jq -r 'select(.type=="video")|"\(.status) \(.frames) \(.fps) \(.decoded * 25)"')"
	done
done

# The frames end before the sound does. The file is whole only if it says so.
for e in webm flv; do
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=1 -f lavfi -i sine=d=3 "$V/short.$e" </dev/null
done
check_exit "webm: a tag declares the video shorter than the sound, so it is whole" 0 \
	vt-extract "$V/short.webm" -o "$T/short.tar"
check_exit "flv: the declared file size is there, so it is whole" 0 \
	vt-extract -f "$V/short.flv" -o "$T/short.tar"
LC_ALL=C sed 's/filesize/filesiye/' "$V/short.flv" >"$V/nosize.flv"
check_exit "flv: without a file size, 1 of 3 declared seconds is refused" 1 vt-extract "$V/nosize.flv"
check_says "flv: the message shows both durations" 'nosize.flv: truncated: 25 frames, 1.00 s of 3.[0-9]* s'

# A truncation is reported with the place in the structure where the file was cut.
ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=2 -c:v mpeg4 "$V/long.mkv" -c:v mpeg4 -t 2 "$V/long.avi" </dev/null
for e in mkv avi; do
	head -c "$(($(wc -c <"$V/long.$e") * 2 / 3))" "$V/long.$e" >"$V/half.$e"
	check_exit "$e: two thirds of a file are refused" 1 vt-extract "$V/half.$e"
	check_says "$e: the message shows the declared duration and the place of the cut" \
		"half.$e: truncated: .* of 2.00 s, the structure at byte [0-9]* is incomplete; "
done

# An edit list that swallows the header of its track leaves 2 of 50 frames.
ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=2 -c:v libx264 -g 12 "$V/index.mp4" </dev/null
at=$(LC_ALL=C grep -obUa elst "$V/index.mp4" | tail -1 | LC_ALL=C sed 's/:.*//')
{ head -c $((at + 9)) "$V/index.mp4" && tail -c +$((at + 50)) "$V/index.mp4"; } >"$V/swallowed.mp4"
check_exit "mp4: 40 bytes of the index removed" 1 vt-extract "$V/swallowed.mp4"
check_says "mp4: the message names the track" 'swallowed.mp4: damaged in 1 place \(at byte [0-9]*: a track without its media\)'

# FFmpeg's errors about sound, covers, headers and metadata are not damage of the
# video.
# change NAME PATTERN BYTE TEXT FILE: make NAME, FILE with TEXT at BYTE from the
# last match of PATTERN.
change() {
	cp "$5" "$T/cut/$1"
	at=$(LC_ALL=C grep -obUaP "$2" "$5" | tail -1 | LC_ALL=C sed 's/:.*//')
	# shellcheck disable=SC2059
	printf "$4" | dd of="$T/cut/$1" bs=1 seek=$((at + $3)) conv=notrunc 2>/dev/null
}
ffmpeg -v error -y -nostdin -i "$V/v.mp4" -f lavfi -i testsrc2=s=64x48:d=0.04 -map 0 -map 1 -frames:v:1 1 -c:v:0 copy \
	-c:v:1 mjpeg -disposition:v:1 attached_pic "$V/cover.mp4" </dev/null
make exif.avi -an -c:v mjpeg -pix_fmt yuvj420p
make fiel.mov -an -c:v libx264 -pix_fmt yuv420p -field_order tt -flags +ildct
change sound.mp4 stco 0 free "$V/av.mp4"
change cover.mp4 '\xff\xd8\xff' 0 '\000\000\000' "$V/cover.mp4"
change sei.mp4 '\xdc\x45\xe9\xbd\xe6\xd9\x48\xb7' -1 '\376' "$V/v.mp4"
change fiel.mov fiel 5 '\000' "$V/fiel.mov"
LC_ALL=C sed 's/\xff\xe0\x00\x10JFIF/\xff\xe1\x00\x10Exif/' "$V/exif.avi" >"$T/cut/exif.avi"
for f in sound.mp4 cover.mp4 sei.mp4 fiel.mov exif.avi; do
	check_same "$f: all frames of the video come" "ok 100" \
		"$(vt-extract -q "$T/cut/$f" --report=/dev/fd/3 3>&1 >/dev/null | jq -r 'select(.type=="video")|"\(.status) \(.frames)"')"
done

# Cuts that begin at a recovery point have commands for pictures before them.
make group.mp4 -an -c:v libx264 -pix_fmt yuv420p -vf noise=alls=60:allf=t -x264-params open-gop=1:keyint=20:bframes=5:ref=4
for e in mkv mp4; do
	ffmpeg -v error -y -nostdin -ss 1 -i "$V/group.mp4" -c copy "$V/group-cut.$e" </dev/null
	check_exit "a cut into $e that begins at a recovery point is whole" 0 vt-extract -f -o /dev/null "$V/group-cut.$e"
done

# Noise and flipped bits: no crash, and no decoder error without a message.
ffmpeg -v error -y -nostdin -i "$V/v.mkv" -c copy -bsf:v noise=amount=3000 "$T/cut/noise.mkv" </dev/null
check_exit "a file with noise is refused as damaged" 1 vt-extract "$T/cut/noise.mkv"
check_says "the message counts the damaged places" "noise.mkv: damaged in [0-9]* places"
n=$(stat -c%s "$V/v.avi")
silent=0 crashed=0
for i in $(seq 1 40); do
	cp "$V/v.avi" "$T/cut/flip.avi"
	at=$((n * i / 42 + i * 131 % 997))
	byte=$(od -An -tu1 -j "$at" -N 1 "$T/cut/flip.avi")
	# shellcheck disable=SC2059
	printf "\\$(printf %o $((byte ^ (1 << i % 8))))" | dd of="$T/cut/flip.avi" bs=1 seek="$at" conv=notrunc 2>/dev/null
	got=0
	timeout 20 vt-extract "$T/cut/flip.avi" --report="$T/r.jsonl" >/dev/null 2>&1 || got=$?
	errors=$(jq -r 'select(.type=="video").damage.errors' "$T/r.jsonl" 2>/dev/null)
	[ $got -le 1 ] || crashed=$((crashed + 1))
	[ $got = 0 ] && [ "${errors:-0}" != 0 ] && silent=$((silent + 1))
done
check_same "40 flipped bits: no crash and no hang" 0 $crashed
check_same "40 flipped bits: no exit 0 after a decoder error" 0 $silent
plan
