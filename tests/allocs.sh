#!/bin/sh
# Nothing is allocated in a frame of a video once one of its shape has run:
# counted by tests/allocs/count.c, in our own code.
# tests/run: weight 10
cd "${0%/*}/.." || exit 2
. tests/lib.sh

# allocates FIRST-LAST PROGRAM ARGUMENT...: prints how many times
allocates() {
	span=$1 program=$2
	shift 2
	ALLOCS=$span ${launch:-} "$BUILD/tests/allocs/$program" "$@" >/dev/null 2>"$T/err" || diag "$(tail -3 "$T/err")"
	sed -n 's/^allocations: \([0-9]*\) in [1-9][0-9]* steps or frames$/\1/p' "$T/err"
}
# places PROGRAM: where, for people
places() {
	sed -nE 's/^([a-z_]+) ([0-9]+) (0x.*)/\1 \2 \3/p' "$T/err" | while read -r call times at; do
		# shellcheck disable=SC2086
		echo "$call, $times times, of $(addr2line -fse "$BUILD/tests/allocs/$1" $at 2>/dev/null | paste -d' ' - - | tr '\n' ',')"
	done
}
# none WHAT FIRST-LAST PROGRAM ARGUMENT...: each process of it says 0
none() {
	what=$1
	shift
	counted=$(allocates "$@" | sort -u)
	check_same "$what: no allocations" 0 "$counted"
	[ "$counted" = 0 ] || diag "$(places "$2")"
}

if command -v ffmpeg >/dev/null && built FFmpeg; then
	for hue in 0 60 120; do
		for kind in libx264:mp4 mpeg2video:mpg; do
			ffmpeg -v error -y -nostdin -f lavfi -i "testsrc2=s=96x64:r=25:d=1" -vf hue=h=$hue \
				-c:v ${kind%:*} -pix_fmt yuv420p "$T/$hue.${kind#*:}"
		done
	done
	for suffix in mp4 mpg; do
		for options in "" "--short-side 40" "--short-side 40 --format png" "--fps 10"; do
			# shellcheck disable=SC2086
			none "$suffix $options" 2-1000 vt-extract -j1 -f -o "$T/x.tar" $options "$T"/*.$suffix
		done
	done
	check "the first frame of a video does, and is counted" \
		test "$(allocates 0-1000 vt-extract -j1 -f -o "$T/x.tar" "$T"/*.mp4)" -gt 0
	check "with the place" grep -q '^[a-z]*alloc [1-9][0-9]* 0x[0-9a-f]' "$T/err"
else
	skip "videos" "no ffmpeg, or built without it"
fi
plan
