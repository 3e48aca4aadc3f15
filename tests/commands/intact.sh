#!/bin/sh
# tests/run: weight 35
# vt-extract never refuses an intact video: it accepts each of more than 600,
# made by ffmpeg with many encoders, containers, rates and cuts, with every
# frame. The expected number of frames is the encoded number, or after cuts the
# number that ffmpeg decodes.
#
# INTACT=long makes three times as many: tests/torture/intact.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
command -v ffprobe >/dev/null || skip_all "no ffprobe command"

B=$T/base
mkdir -p "$B"
: >"$T/want"
: >"$T/jobs"
: >"$T/encodes"
: >"$T/copies"
F="ffmpeg -nostdin -v error -y -threads 1"
ffmpeg -v error -encoders >"$T/encoders"
n=0

# video FRAMES TAG EXT: set $o to the name of another video. If FRAMES is -,
# ffmpeg counts its frames.
video() {
	n=$((n + 1))
	o=$V/$(printf '%04d-%s' $n "$2").$3
	echo "${o##*/} $1" >>"$T/want"
}
# has OPTIONS: succeed if this ffmpeg has the encoders in OPTIONS.
has() {
	for word in $(echo "$1" | grep -o '\-c:[va] [^ ]*' | cut -d' ' -f2); do
		grep -q " $word " "$T/encoders" || return 1
	done
}
# muxer EXT: print the options of the muxer.
muxer() {
	case $1 in
	frag.mp4 | frag.mov) echo "-movflags +frag_keyframe+empty_moov" ;;
	each.mp4) echo "-movflags +frag_every_frame+empty_moov+default_base_moof" ;;
	dash.mp4) echo "-movflags +frag_keyframe+empty_moov+default_base_moof+dash+delay_moov" ;;
	fast.mp4) echo "-movflags +faststart" ;;
	vcd.mpg) echo "-f vcd" ;;
	live.mkv | live.webm) echo "-live 1" ;;
	live.flv) echo "-flvflags no_duration_filesize" ;;
	m2v) echo "-f mpeg2video" ;;
	esac
}
# sources RATE FRAMES: print the inputs, of six times as many frames, because a FILTER
# drops some. SIZE and SOUND (an encoder) add to them.
sources() {
	echo "$2 $1" | awk -v size="${SIZE:-64x48}" -v sound="${SOUND:-}" '{
		split($2, r, "/")
		seconds = $1 * (r[2] ? r[2] : 1) / r[1]
		printf "-f lavfi -i testsrc2=s=%s:r=%s:d=%.3f", size, $2, 6 * seconds
		if (sound != "") printf " -f lavfi -i sine=r=48000:d=%.3f", seconds }'
}
# input RATE FRAMES: print the inputs and the options of an output. FILTER adds to them.
input() {
	echo "$(sources "$1" "$2") $(frames "$2")"
}
frames() {
	echo "${FILTER:+-vf \"$FILTER\" -fps_mode vfr} -frames:v $1 ${SOUND:+-c:a $SOUND} -pix_fmt yuv420p"
}
# copies TAG RATE FRAMES 'OPTION...' EXT...: encode once, and copy into each
# container after all are encoded.
copies() {
	tag=$1 rate=$2 frames=$3 options=$4
	shift 4
	has "$options ${SOUND:+-c:a $SOUND}" || return 0
	case $options in
	*libx26* | *' mpeg4'* | *mpeg[12]video* | *libxvid*) base=$B/$n-$tag.mov ;;
	*) base=$B/$n-$tag.mkv ;;
	esac
	printf '%s\t%s\n' "$(sources "$rate" "$frames")" "-map 0 ${SOUND:+-map 1} $(frames "$frames") $options $base" >>"$T/encodes"
	job=
	for e; do
		video "${WANT:-$frames}" "$tag" "$e"
		job="$job -map 0 -c copy $(muxer "$e") $o"
	done
	printf '%s\t%s\n' "-i $base" "$job" >>"$T/copies"
}
# cuts TAG FROM 'OPTION...' EXT...: encode 50 frames into a file of type FROM.
# Cut it without decoding, at several times, with -ss before and after the
# input. One ffmpeg makes all cuts of a file, because its start takes longer
# than a cut.
cuts() {
	tag=$1 from=$2 options=$3
	shift 3
	has "$options ${SOUND:+-c:a $SOUND}" || return 0
	base=$B/$n-$tag.$from job=
	inputs="-i $base"
	for at in ${CUTS:-0.3 1.1}; do
		inputs="$inputs -ss $at -i $base"
	done
	for e; do
		k=0
		for at in ${CUTS:-0.3 1.1}; do
			k=$((k + 1))
			video - "$tag-from" "$e"
			job="$job -map $k -c copy $(muxer "$e") $o"
			video - "$tag-behind" "$e"
			job="$job -map 0 -ss $at -t 0.7 -c copy $(muxer "$e") $o"
		done
		video - "$tag-to" "$e"
		job="$job -map 0 -t 0.9 -c copy $(muxer "$e") $o"
	done
	printf '%s\n' "$F $(input 25 50) $options $base && $F $inputs $job" >>"$T/jobs"
}
# pipes TAG 'OPTION...' FORMAT EXT: write to a pipe, so that the muxer cannot
# seek back.
pipes() {
	has "$2" || return 0
	video "${WANT:-20}" "$1-pipe" "$4"
	printf '%s\n' "$F $(input 25 20) $2 -f $3 - | cat >$o" >>"$T/jobs"
}
# joins TAG 'OPTION...' EXT...: join a file with itself by ffmpeg's concat. Join
# ts, ogv and mpg by cat, too.
joins() {
	tag=$1 options=$2
	shift 2
	has "$options" || return 0
	for e; do
		base=$B/$n-$tag.$e
		job="$F $(input 25 14) $options $base && printf 'file $base\nfile $base\n' >$base.txt"
		video 28 "$tag-concat" "$e"
		job="$job && $F -f concat -safe 0 -i $base.txt -c copy $o"
		case $e in ts | ogv | mpg)
			video 28 "$tag-cat" "$e"
			job="$job && cat $base $base >$o" ;;
		esac
		printf '%s\n' "$job" >>"$T/jobs"
	done
}

h264="-c:v libx264 -preset ultrafast -tune fastdecode -g 12"
h264b="-c:v libx264 -preset veryfast -g 12"
open="-c:v libx264 -preset veryfast -bf 3 -x264-params keyint=12:open-gop=1:b-adapt=0"
hevc="-c:v libx265 -preset ultrafast -x265-params keyint=12:log-level=none"
m2="-c:v mpeg2video -g 12 -bf 2 -q:v 4" m2i="-c:v mpeg2video -g 12 -q:v 4"
vp8="-c:v libvpx -deadline realtime -cpu-used 8 -g 12"
vp9="-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 12"
rates='1 12 24000/1001 30 60 120' counts='1 2 3 25' drops='not(eq(n,9))'
[ "${INTACT:-}" != long ] || rates='1 5 10 12 15 24000/1001 24 25 30000/1001 30 48 50 60000/1001 60 100 120' \
	counts='1 2 3 4 5 7 11 12 13 25 60' drops='not(eq(n,9)) lt(n,8)+gt(n,30) mod(n,5) not(eq(n,18)) not(between(n,3,7))' \
	CUTS='0.1 0.3 0.48 0.7 1.1 1.3'

# ---- encoders, containers and rates

for r in $rates; do
	f=18
	copies h264 "$r" "$f" "$h264" mp4 mov mkv avi flv ts m2ts asf frag.mp4 3gp
	copies h264b "$r" "$f" "$h264b" mp4 mkv flv ts each.mp4
	copies mpeg4 "$r" "$f" "-c:v mpeg4 -g 12 -bf 2" mp4 mov mkv avi
	copies vp8 "$r" "$f" "$vp8" webm mkv ivf avi
	WANT=- copies theora "$r" "$f" "-c:v libtheora -q:v 5 -g 12" ogv mkv
	copies wmv "$r" "$f" "-c:v wmv2 -g 12" asf wmv avi mkv
	copies flv "$r" "$f" "-c:v flv -g 12" flv avi
	copies mjpeg "$r" "$f" "-c:v mjpeg" avi mov mkv mp4
	copies ffv1 "$r" "$f" "-c:v ffv1" mkv avi
done
for r in 24000/1001 25 30000/1001 50 60000/1001; do
	copies mpeg2 "$r" 18 "$m2" mpg vob ts m2ts mkv mxf avi mov mp4 m2v asf
	copies mpeg1 "$r" 18 "-c:v mpeg1video -g 12 -bf 2 -q:v 4" mpg mkv avi ts
done
for r in 12 30; do
	copies hevc "$r" 18 "$hevc" mp4 mov mkv ts frag.mp4 hevc
	copies vp9 "$r" 18 "$vp9" webm mkv ivf mp4
	SIZE=96x64 copies av1 "$r" 18 "-c:v libsvtav1 -preset 12" webm mp4 ivf
done
copies xvid 25 24 "-c:v libxvid -g 12" avi mp4 mkv
WANT=- copies xvidb 25 24 "-c:v libxvid -g 12 -bf 2" avi mkv mp4
copies open 25 40 "$open" mp4 mkv ts avi flv frag.mp4 h264
copies intra 25 24 "-c:v libx264 -preset ultrafast -x264-params intra-refresh=1:keyint=12" mp4 ts mkv
copies interlaced 25 24 "-c:v libx264 -preset ultrafast -flags +ildct+ilme -x264-params tff=1" mp4 ts mkv
copies raw264 25 24 "$h264" h264 fast.mp4 dash.mp4 live.mkv live.flv frag.mov
copies live 25 24 "$vp8" live.webm
for c in msmpeg4 msmpeg4v2 wmv1 huffyuv utvideo asv1 snow; do
	copies "$c" 25 12 "-c:v $c -strict -2" avi mkv
done
for c in prores_ks qtrle png jpeg2000; do
	has "-c:v $c" || continue
	video 12 "$c" mov
	printf '%s\n' "$F -f lavfi -i testsrc2=s=64x48:r=25 -frames:v 12 -c:v $c $o" >>"$T/jobs"
done
SIZE=176x144 copies h263 25 18 "-c:v h263" 3gp avi mov mkv
SIZE=176x144 copies h263p 25 18 "-c:v h263p" avi mov
for r in 5 25 50; do
	video 12 gif gif
	g=$o
	video 12 y4m y4m
	printf '%s\n' "$F -f lavfi -i testsrc2=s=64x48:r=$r -frames:v 12 $g -frames:v 12 -pix_fmt yuv420p $o" >>"$T/jobs"
done

# ---- few frames, with sound and without

for f in $counts; do
	copies few 25 "$f" "$h264b" mp4 mkv flv ts avi mov frag.mp4
	copies few 25 "$f" "$m2i" mpg vob ts m2ts mkv mxf asf
	copies few 25 "$f" "$vp8" webm ivf
	WANT=- copies few 25 "$f" "-c:v libtheora -q:v 5" ogv
	SOUND=aac copies sound 25 "$f" "$h264b" mp4 mkv flv ts mov frag.mp4
	SOUND=libmp3lame copies mp3 25 "$f" "-c:v flv" flv
	SOUND=libmp3lame copies mp3 25 "$f" "-c:v mpeg4" avi mkv
	WANT=- SOUND=libvorbis copies vorbis 25 "$f" "-c:v libtheora -q:v 5" ogv
	SOUND=libvorbis copies vorbis 25 "$f" "$vp8" webm live.webm
	SOUND=mp2 copies mp2 25 "$f" "$m2i" mpg vob ts m2ts
	SOUND=mp2 copies vcd 25 "$f" "-c:v mpeg1video -g 12" vcd.mpg
	SOUND=wmav2 copies wma 25 "$f" "-c:v wmv2" wmv asf
	WANT=- SOUND=pcm_s16le copies pcm 25 "$f" "$m2i" mxf
	SOUND=pcm_s16le copies pcm 25 "$f" "-c:v mjpeg" avi mov
done

# ---- variable rates: dropped frames, and a still image

for d in $drops; do
	FILTER="select='$d'"
	copies vfr 25 36 "$h264" mp4 mov mkv avi flv ts m2ts asf frag.mp4 each.mp4 fast.mp4
	copies vfrb 25 36 "$h264b" mkv flv ts mp4 frag.mp4
	copies vfr 25 36 "$vp8" webm mkv ivf live.webm
	copies vfr 25 36 "$m2" mpg vob ts
	copies vfr 25 36 "-c:v wmv2" wmv
	copies vfr 25 36 "-c:v flv" flv live.flv
	video - vfr ogv
	printf '%s\n' "$F $(input 25 36) -c:v libtheora -q:v 5 $o" >>"$T/jobs"
	SOUND=aac copies vfrs 25 36 "$h264" mkv flv ts mp4
	FILTER=
done
FILTER="select='lt(n,15)+gt(n,140)'"
copies still 25 30 "$h264b" mkv flv ts mp4 frag.mp4 avi
copies still 25 30 "$vp8" webm
video - still ogv
printf '%s\n' "$F $(input 25 30) -c:v libtheora -q:v 5 $o" >>"$T/jobs"
FILTER=

# ---- cuts, joins and pipes

cuts cut mp4 "$h264b" mkv mp4 ts flv mov frag.mp4 each.mp4
cuts cut ts "$m2" ts m2ts mpg vob mkv
cuts cut ts "$open" ts mkv mp4
cuts cut avi "-c:v mpeg4 -g 12 -bf 4" avi
cuts cut mkv "$vp8" webm
cuts cut ogv "-c:v libtheora -q:v 5 -g 12" ogv
SOUND=libvorbis cuts cuts ogv "-c:v libtheora -q:v 5 -g 12" ogv
cuts cut wmv "-c:v wmv2 -g 12" wmv
cuts cut mxf "$m2" mxf
SOUND=aac cuts cuts mp4 "$h264b" mkv ts flv mp4
cuts cut mp4 "$hevc" ts mp4
[ "${INTACT:-}" != long ] || {
	cuts cut flv "$h264b" flv
	cuts cut vob "$m2" vob mpg
	SOUND=mp2 cuts cuts ts "$m2" ts m2ts vob
	SOUND=libvorbis cuts cuts webm "$vp8" webm
	SOUND=wmav2 cuts cuts wmv "-c:v wmv2 -g 12" wmv
	cuts cut mp4 "$h264" avi asf 3gp fast.mp4 dash.mp4 live.mkv
	cuts cut m2ts "$open" m2ts
}
for e in flv mp4; do
	has "$h264b" || break
	video - negative $e
	printf '%s\n' "$F $(input 25 50) $h264b $B/neg.$e && $F -ss 0.7 -i $B/neg.$e -c copy -avoid_negative_ts disabled $o" >>"$T/jobs"
done
joins join "$h264b" mp4 mkv ts flv mov
joins join "$m2" ts mpg
joins join "$vp8" webm
joins join "-c:v wmv2" wmv
joins join "-c:v flv" flv
# Use noise, because Theora omits equal frames.
joins join "-c:v libtheora -q:v 8 -vf noise=alls=60:allf=t" ogv
joins join "-c:v mpeg4" avi
pipes mpeg4 "-c:v mpeg4 -g 12" avi avi
pipes vp8 "$vp8" ivf ivf
pipes vp8 "$vp8" webm webm
pipes h264 "$h264b" matroska mkv
pipes h264 "$h264b" flv flv
pipes h264 "$h264b" mpegts ts
pipes h264 "$h264b -movflags +frag_keyframe+empty_moov" mp4 mp4
pipes wmv "-c:v wmv2" asf asf
pipes mpeg2 "$m2" vob vob
pipes mpeg2 "$m2" mxf mxf
WANT=- pipes theora "-c:v libtheora -q:v 5" ogg ogv
video 12 joined gif
printf '%s\n' "$F -f lavfi -i testsrc2=s=64x48:r=25 -frames:v 6 $B/a.gif && printf 'file $B/a.gif\nfile $B/a.gif\n' >$B/gif.txt && $F -f concat -safe 0 -i $B/gif.txt -c copy $o" >>"$T/jobs"

# ---- videos that earlier versions refused

# once FRAMES TAG EXT 'COMMAND': run COMMAND, in which OUT stands for the video.
once() {
	video "$1" "$2" "$3"
	echo "$4" | sed "s|OUT|$o|g; s|BASE|$B/$n|g" >>"$T/jobs"
}
L="-f lavfi -i testsrc2=size=96x64:rate=25"
once 150 packs vob "$F -f lavfi -i color=size=320x48:rate=50 -frames:v 150 -c:v mpeg2video -q:v 3 -pix_fmt yuv420p OUT"
once 48 times mxf "$F $L -frames:v 48 -c:v libx264 -preset veryfast OUT"
once 48 times vob "$F $L -frames:v 48 -c:v libx264 -preset veryfast OUT"
once 48 times asf "$F $L -frames:v 48 -c:v mpeg2video OUT"
for e in ts m4v asf; do
	once 24 packed $e "$F $(input 25 24) -c:v mpeg4 -g 12 -bf 2 OUT"
done
once - packed ts "$F $L -frames:v 48 -c:v libxvid -bf 2 OUT"
once 48 padded flv "$F $L -f lavfi -i sine -frames:v 48 -c:v flv -shortest OUT"
once 1 padded ogv "$F $L -f lavfi -i sine -frames:v 1 -c:v libtheora -q:v 5 -shortest OUT"
once 50 two ogv "$F $L -f lavfi -i testsrc2=size=96x64:rate=25:d=6 -t 2 -map 0 -c:v libtheora -q:v 5 BASE.ogv && $F -i BASE.ogv $L -map 0 -c:v:0 copy -map 1 -frames:v:1 150 -c:v:1 libtheora -q:v:1 5 OUT"
once 50 longer flv "$F $L -f lavfi -i sine=d=9 -frames:v 50 -c:v flv OUT"
once 50 longer webm "$F $L -f lavfi -i sine=d=9 -frames:v 50 $vp8 -c:a libvorbis OUT"
once 50 index mxf "$F $L -f lavfi -i sine=d=2:r=48000 -c:v mpeg2video -bf 2 -shortest OUT"
once 36 chained ogv "$F $L -frames:v 12 -c:v libtheora -q:v 5 BASE.ogv && $F $L -f lavfi -i sine -frames:v 24 -t 1 -c:v libtheora -q:v 9 -c:a libvorbis BASE.s.ogv && cat BASE.ogv BASE.s.ogv >OUT"

# A program stream of the demo: packs carry the time stamps.
once - demo mpg "$BUILD/motions BASE 25 1 21 >/dev/null && mv BASE/train/pan_left/00192.mpg OUT"

# ---- all of them

# batches N: print commands that each do N of the lines "INPUTS TAB OUTPUTS", because
# the start of ffmpeg takes most of the time.
batches() {
	awk -F'\t' -v run="$F" -v size="$1" '
		NR % size == 1 && NR > 1 { print run from to; from = to = ""; inputs = 0 }
		{
			n = split($2, word, " ")
			for (i = 1; i <= n; i++) {
				if (word[i - 1] == "-map" && match(word[i], /^[0-9]+/))
					word[i] = substr(word[i], 1, RLENGTH) + inputs substr(word[i], RLENGTH + 1)
				to = to " " word[i]
			}
			from = from " " $1
			inputs += gsub(/-i /, "", $1)
		}
		END { if (NR) print run from to }'
}
start=$(date +%s)
batches 8 <"$T/encodes" >>"$T/jobs"
xargs -P 2 -d '\n' -n 1 sh -c <"$T/jobs" 2>"$T/make.err" || :
batches 24 <"$T/copies" >"$T/batches"
xargs -P 2 -d '\n' -n 1 sh -c <"$T/batches" 2>>"$T/make.err" || :
diag "$(wc -l <"$T/want") videos made in $(($(date +%s) - start)) s by $(cat "$T/jobs" "$T/batches" | wc -l) commands"
check_same "ffmpeg makes all videos" \
	"" "$(while read -r name _; do [ -s "$V/$name" ] || echo "$name"; done <"$T/want")"
[ ! -s "$T/make.err" ] || diag "$(head -5 "$T/make.err")"
start=$(date +%s)
mkdir "$T/crc"
awk -v v="$V" -v crc="$T/crc" '$2 == "-" { print "-i " v "/" $1 "\t-map 0:v:0 -fps_mode passthrough -f framecrc " crc "/" $1 }' "$T/want" |
	batches 16 | xargs -P 2 -d '\n' -n 1 sh -c 2>/dev/null || :
(cd "$T/crc" && grep -c '^[^#]' ./*) | sed 's|^\./||; s/:/ /' >"$T/counts"
awk 'NR == FNR {n[$1] = $2; next} {print $1, $2 == "-" ? n[$1] : $2}' "$T/counts" "$T/want" | LC_ALL=C sort >"$T/right"
diag "$(wc -l <"$T/counts") counted in $(($(date +%s) - start)) s"
start=$(date +%s)
cut -d" " -f1 "$T/want" | LC_ALL=C sort >"$T/list"
(cd "$V" && vt-extract -q -j 2 --on-error=skip --short-side=32 -T "$T/list" --report="$T/report") >/dev/null 2>"$T/err"
diag "$(wc -l <"$T/list") extracted in $(($(date +%s) - start)) s"
jq -r 'select(.type == "video") | "\(.path) \(.status) \(.frames) \(.message)"' "$T/report" | LC_ALL=C sort >"$T/got"
while read -r name status frames message; do
	right=$(awk -v n="$name" '$1 == n {print $2}' "$T/right")
	if [ "$status" = ok ] && [ "$frames" = "$right" ]; then
		ok "$name: $right frames"
	else
		not_ok "$name: $right frames"
		diag "got $status, $frames: $message"
	fi
done <"$T/got"
check_same "each video is in the report" "$(wc -l <"$T/want")" "$(wc -l <"$T/got")"

# ---- gaps count for --strict-rate alone

E="vt-extract -q -f -o $T/stream --report=$T/report"
# shellcheck disable=SC2086
has "$vp8" && $F $L -t 2 -vf "select='not(eq(n,30))'" -fps_mode vfr $vp8 "$T/gap.webm" && {
	check_exit "a video that lacks a frame of its rate is extracted" 0 $E "$T/gap.webm"
	check_same "a video with a gap has status ok, and the report counts the gap" "ok 49 1 0" \
		"$(jq -r 'select(.type == "video") | "\(.status) \(.frames) \(.gaps) \(.damage.places)"' "$T/report")"
	check_message "--strict-rate refuses a video with a gap" 1 \
		'damaged in 1 place \(no frame after 1.160 s for 0.080 s\); --max-damage allows some' \
		vt-extract -f -o "$T/stream" --report="$T/report" --strict-rate "$T/gap.webm"
	check_same "--strict-rate: the report counts the gap as damage" "damaged 1 1" \
		"$(jq -r 'select(.type == "video") | "\(.status) \(.gaps) \(.damage.places)"' "$T/report")"
	check_exit "--strict-rate --max-damage=1 keeps a video with one gap" 0 \
		$E --strict-rate --max-damage=1 "$T/gap.webm"
}

# ---- appended data has continuing times, and is checked like the rest

# shellcheck disable=SC2086
$F $L -t 0.8 $m2 "$T/a.ts" && cat "$T/a.ts" "$T/a.ts" >"$T/two.ts" && {
	check_exit "a transport stream joined with itself is extracted" 0 $E --fps=25 "$T/two.ts"
	check_same "the joined stream has all frames at its rate" 40 \
		"$(jq 'select(.type == "video") | .frames' "$T/report")"
	size=$(wc -c <"$T/a.ts")
	{ head -c $((size + 188 * 12)) "$T/two.ts" && tail -c +$((size + 188 * 14 + 1)) "$T/two.ts"; } >"$T/lost.ts"
	check_message "a joined stream without two packets of its second part is refused" 1 'lost.ts: damaged in' \
		vt-extract -f -o "$T/stream" "$T/lost.ts"
}
# An open group: its first two pictures after the key frame are displayed before
# it.
# shellcheck disable=SC2086
$F $L -t 2 $m2 "$T/whole.ts" && $F -ss 0.6 -i "$T/whole.ts" -c copy -copyts "$T/open.ts" && {
	check_exit "a transport stream that begins with an open group is extracted" 0 $E --fps=25 "$T/open.ts"
	at=$(ffprobe -v error -show_entries packet=pos -of csv=p=0 "$T/open.ts" | grep -o '[0-9]*' | sed -n 2,3p)
	# shellcheck disable=SC2086
	set -- $at
	{ head -c "$1" "$T/open.ts" && tail -c +$(($2 + 1)) "$T/open.ts"; } >"$T/lost.ts"
	check_message "without the first of its leading pictures it is refused" 1 'lost.ts: damaged in' \
		vt-extract -f -o "$T/stream" "$T/lost.ts"
}
# shellcheck disable=SC2086
$F $L -frames:v 12 -c:v mpeg4 -f avi - | cat >"$T/pipe.avi" && {
	head -c -100 "$T/pipe.avi" >"$T/cut.avi"
	check_exit "a truncated avi from a pipe is refused" 1 vt-extract -f -o "$T/stream" "$T/cut.avi"
	check_says "the avi is reported as truncated" 'truncated: 11 frames'
}
if find_python struct && has "$vp8"; then
	for pass in 1 2; do
		# shellcheck disable=SC2086
		$F $L -frames:v 200 -c:v libvpx -b:v 100k -g 200 -auto-alt-ref 1 -lag-in-frames 25 -pass $pass -passlogfile "$T/pass" "$T/alt.ivf"
	done
	"$python" tests/tools/rewrap ivf "$T/alt.ivf" "$T/hidden.ivf"
	check_exit "an IVF of 200 frames, whose header counts hidden frames, too, is extracted" 0 $E "$T/hidden.ivf"
	check_same "it has 200 frames" 200 "$(jq 'select(.type == "video") | .frames' "$T/report")"
fi
# shellcheck disable=SC2086
find_python struct && $F $L -frames:v 20 -c:v mjpeg "$T/moving.avi" &&
	"$python" tests/tools/rewrap still "$T/moving.avi" "$T/still.avi" && {
	check_exit "an AVI of one frame and 19 empty chunks is extracted" 0 $E --fps=25 "$T/still.avi"
	check_same "the chunks repeat the frame" 20 "$(tar tf "$T/stream" | grep -c 'jpg$')"
}
least=600
[ "${INTACT:-}" != long ] || least=1700
check "there are at least $least videos" test "$(wc -l <"$T/want")" -ge $least
plan
