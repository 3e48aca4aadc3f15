#!/bin/sh
# A training step and a video frame allocate nothing, once one of the same shape
# has run. tests/tools/allocs/count.c counts allocations in our own code.
# tests/run: weight 14
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# allocates FIRST-LAST PROGRAM ARGUMENT...: print the number of allocations in
# these steps or frames.
allocates() {
	span=$1 program=$2
	shift 2
	ALLOCS=$span ${launch:-} "$BUILD/tests/allocs/$program" "$@" >/dev/null 2>"$T/err" || diag "$(tail -3 "$T/err")"
	sed -n 's/^allocations: \([0-9]*\) in [1-9][0-9]* steps or frames$/\1/p' "$T/err"
}
# places PROGRAM: print where it allocated, as files and lines.
places() {
	sed -nE 's/^([a-z_]+) ([0-9]+) (0x.*)/\1 \2 \3/p' "$T/err" | while read -r call times at; do
		# shellcheck disable=SC2086
		echo "$call, $times times, of $(addr2line -fse "$BUILD/tests/allocs/$1" $at 2>/dev/null | paste -d' ' - - | tr '\n' ',')"
	done
}
# none WHAT FIRST-LAST PROGRAM ARGUMENT...: check that each of its processes
# counts 0 allocations.
none() {
	what=$1
	shift
	counted=$(allocates "$@" | sort -u)
	check_same "$what: no allocations" 0 "$counted"
	[ "$counted" = 0 ] || diag "$(places "$2")"
}

# ---- steps ----

# Every shape has run before step 11. --loader-memory limits the prefetch.
stages '0 0 2 0 24 2 16 4 0.01 0 0' '0 0 2 1 16 2 20 4 0.01 0 0' '1 2 4 0 12 4 28 4 0.01 0 0' \
	'2 4 6 0 24 2 16 4 0.01 0 0' '2 4 6 1 16 2 20 4 0.01 0 0' '3 6 8 0 12 4 28 4 0.01 0 0' >"$T/s.tsv"
small_net 8 8 0.3 >"$T/net.net"
"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/png" 40 300 40 32 2 png=1 || skip_all "no test set"
options="--schedule $T/s.tsv -o $T/run --seed 7 -q -j 1 --log-every 1000 --save-every 0 --loader-memory 100K"
# steps WHAT FIRST-LAST OPTION...
steps() {
	rm -rf "$T/run"
	what=$1 span=$2
	shift 2
	# shellcheck disable=SC2086
	none "$what" "$span" vt-train $options "$@"
}
for device in ref cpu; do
	if [ $device = cpu ] && ! built oneDNN; then
		skip "cpu: steps" "built without oneDNN"
		continue
	fi
	steps "$device" 11-20 -i "$T/train" -m "$T/net.net" --device $device
	if have_mpi; then
		launch='mpirun -np 2'
		steps "$device, two ranks" 11-20 -i "$T/train" -m "$T/net.net" --device $device
		launch=
	else
		skip "$device, two ranks" "no MPI"
	fi
	steps "$device, residual blocks" 11-20 -i "$T/train" -m tsm_tiny --device $device --clip-grad 1
done
steps "long videos in PNG, between validations" 11-20 -i "$T/png" -m "$T/net.net" --device ref --val "$T/train" --val-every 0.3 \
	--keep-best none
rm -rf "$T/run"
# shellcheck disable=SC2086
check "the first steps allocate, and are counted" \
	test "$(allocates 1-20 vt-train $options -i "$T/train" -m "$T/net.net" --device ref)" -gt 0
check "a counted allocation has its address" grep -q '^[a-z]*alloc [1-9][0-9]* 0x[0-9a-f]' "$T/err"

# ---- frames ----

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
	check "the first frame of a video allocates, and is counted" \
		test "$(allocates 0-1000 vt-extract -j1 -f -o "$T/x.tar" "$T"/*.mp4)" -gt 0
else
	skip "videos" "no ffmpeg, or built without it"
fi
plan
