#!/bin/sh
# tests/run: weight 25
# vt-extract refuses systematically damaged files, except for the kinds of
# damage that nothing in a file reveals, which vt-extract(1) names. In all
# containers that it checks, with and without sound, ranges are zeroed or removed
# and files are truncated. Other containers are accepted undamaged. Frames carry numbers, so that the test knows which are present. The
# list below allows the exceptions.
#
# This is a small part, chosen by a seed; tests/torture/damage does all.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

steps=${DAMAGE_STEPS:-4} every=${DAMAGE_EVERY:-13} seed=${DAMAGE_SEED:-7}
D=$BUILD/tests/tools/damage
total=0 total_refused=0 total_all=0 total_changed=0 total_fewer=0

# packets FILE: print the places of the packets of its video.
packets() {
	ffprobe -v error -select_streams v -show_entries packet=pos,size,flags -of csv=p=0 "$1" 2>/dev/null |
		awk -F, '$2 ~ /^[0-9]+$/ {print $2 "," $1 "," substr($3, 1, 1)}' | sort -t, -n
}

# torment NAME ALLOWED OPTION...: apply all damage to one kind of file. ALLOWED
# are the kinds, separated by |, that may be accepted with fewer frames, or
# "unchecked": apply none.
torment() {
	name=$1 allowed=$2
	shift 2
	v=$T/v.$name
	case $name in strict.*) rate=--strict-rate ;; *) rate= ;; esac
	if ! "$D" frames 50 | ffmpeg -v error -y -f rawvideo -pix_fmt yuv420p -s 64x48 -r 25 -i - \
		-f lavfi -i sine=d=2 -map 0 -map 1 "$@" "$v" 2>"$T/make.err"; then
		skip "$name" "$(head -1 "$T/make.err")"
		return
	fi
	case $name in odml.avi | null.avi | mdhd.mp4 | dav)
		if ! find_python struct; then
			skip "$name" "no Python"
			return
		fi
		mv "$v" "$T/plain" && "$python" tests/tools/rewrap "${name%.*}" "$T/plain" "$v" || not_ok "$name: is made" ;;
	esac
	check_same "$name: undamaged, it has all 50 frames" "50 50 50" \
		"$(vt-extract -q $rate "$v" | "$D" count | cut -f2-4 | tr '\t' ' ')"
	[ "$allowed" != unchecked ] || return 0
	rm -rf "$T/d" && mkdir "$T/d"
	packets "$v" | "$D" make "$v" "$T/d" "$steps" "$every" "$seed" || not_ok "$name: damaged copies"
	find "$T/d" -type f | LC_ALL=C sort >"$T/list"
	got=0
	vt-extract -q $rate --on-error=skip --root "$T/d" -T "$T/list" >"$T/stream" 2>"$T/err" || got=$?
	[ "$got" = 0 ] || [ "$got" = 3 ] || diag "$name: exit $got: $(head -1 "$T/err")"
	"$D" count <"$T/stream" >"$T/counts" || diag "$name: the stream cannot be read"
	awk -F'\t' -v n="$(wc -l <"$T/list")" '
		$2 < 50 {fewer++; next} $4 < 50 {changed++; next} {all++}
		END {print n, n - NR, all + 0, changed + 0, fewer + 0}' "$T/counts" >"$T/sum"
	read -r n refused all changed fewer <"$T/sum"
	total=$((total + n)) total_refused=$((total_refused + refused)) total_all=$((total_all + all))
	total_changed=$((total_changed + changed)) total_fewer=$((total_fewer + fewer))
	kinds=$(awk -F'\t' '$2 < 50 {split($1, k, "-"); print k[1]}' "$T/counts" | sort | uniq -c |
		awk '{printf "%s%s %d", sep, $2, $1; sep = ", "}')
	diag "$(printf '%-11s %5d %8d %5d %8d %6d  %s' "$name" "$n" "$refused" "$all" "$changed" "$fewer" "$kinds")"
	bad=$(awk -F'\t' -v allowed="^($allowed)-" '$2 < 50 && $1 !~ allowed' "$T/counts")
	check_same "$name: no detectable damage is accepted with fewer frames" "" "$bad"
}

diag "$(printf '%-11s %5s %8s %5s %8s %6s' container files refused all changed fewer)"
g="-g 12" c="-g 12 -cluster_time_limit 300" x264="-c:v libx264 -g 12"
# Damage that cannot be detected: a missing end without a count, size or
# duration; a missing beginning if a stream may begin anywhere; missing blocks of
# gif, which has no times; missing groups of a container that reveals them only
# by times, which count with --strict-rate.
end='p?cut|kcut'
# shellcheck disable=SC2086
while read -r name allowed options; do
	eval "torment $name '$allowed' $options" </dev/null
done <<LIST
mp4 - -an $x264
mdhd.mp4 - -an $x264
s.mp4 - $x264 -c:a aac -movflags +faststart
frag.mp4 - -an $x264 -movflags +frag_keyframe+empty_moov
frags.mp4 - $x264 -c:a aac -movflags +frag_keyframe+empty_moov+default_base_moof
fragf.mov - $x264 -bf 0 -c:a pcm_s16le -movflags +frag_every_frame+empty_moov+default_base_moof
mkv - -an $x264 $c
s.mkv - -c:v mpeg4 $c -c:a aac
nocrc.mkv - -an $x264 $c -write_crc32 0
webm - -an -c:v libvpx-vp9 -deadline realtime -cpu-used 8 $c
s.webm - -c:v libvpx -deadline realtime $c -c:a libvorbis
avi - -an -c:v mpeg4 $g
s.avi - -c:v mpeg4 -bf 2 $g -c:a libmp3lame
mj.avi - -an -c:v mjpeg
odml.avi - -c:v mpeg4 $g -c:a libmp3lame
null.avi - -an -c:v mpeg4 $g
flv - -an -c:v flv $g
s.flv - $x264 -c:a aac
asf - -an -c:v wmv2 $g
s.wmv - -c:v wmv2 $g -c:a wmav2
ogv - -an -c:v libtheora $g
s.ogv - -c:v libtheora $g -c:a libvorbis
ivf unchecked -an -c:v libvpx $g -deadline realtime
live.webm - -c:v libvpx -deadline realtime $c -c:a libvorbis -live 1
strict.ivf unchecked -an -c:v libvpx $g -deadline realtime
live.flv kremove|$end $x264 -c:a aac -flvflags no_duration_filesize
strict.live.flv $end $x264 -c:a aac -flvflags no_duration_filesize
skip.mp4 $end $x264 -c:a aac -movflags +frag_keyframe+empty_moov+default_base_moof+skip_trailer
mxf unchecked -an -c:v mpeg2video $g -q:v 4
m2v unchecked -an -c:v mpeg2video $g -q:v 4
raw.m4v unchecked -an -c:v mpeg4 $g -f m4v
gif premove -an
y4m unchecked -an
ts kremove|$end -an $x264
s.ts kremove|$end -c:v mpeg2video $g -c:a mp2
mpg kremove|$end -an -c:v mpeg1video $g -q:v 4
s.mpg kremove|$end -f vob -c:v mpeg2video $g -c:a mp2 -q:v 4
vcd.mpg kremove|$end -f vcd -c:v mpeg1video $g -c:a mp2 -q:v 4
dav kremove|$end -an $x264 -f h264
h264 unchecked -an $x264
bf0.h264 unchecked -an $x264 -bf 0
hevc unchecked -an -c:v libx265 -x265-params keyint=12:log-level=none
LIST
diag "$(printf '%-11s %5d %8d %5d %8d %6d' all $total $total_refused $total_all $total_changed $total_fewer)"
plan
