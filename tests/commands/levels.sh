#!/bin/sh
# Levels: vt-extract --levels stores frames at several sizes, clips are read from
# the smallest that covers them, with the same bits on every number of ranks and
# threads and after kills, and --level=largest equals a set without levels.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
motions "$T/videos" 2 4 3 >/dev/null || skip_all "no videos"
(cd "$T/videos" && find train -type f ! -name '*.mpg' | LC_ALL=C sort | head -24) >"$T/train.txt"
cd "$T/videos" || exit 2

# ---- extraction ----

extracted() {
	out=$1
	shift
	vt-extract -q --label-from=dir --root=train -T "$T/train.txt" "$@" -o "$T/$out.tar" &&
		vt-pack -q -o "$T/$out" "$T/$out.tar" >/dev/null
}
check_exit "--levels=64,32 is extracted and packed" 0 extracted levels --levels=64,32
check_exit "--short-side=64 is extracted and packed" 0 extracted plain --short-side=64
check_exit "a set with levels is verified" 0 vt-pack --verify=full -i "$T/levels"
mkdir "$T/a" "$T/b"
tar xf "$T/levels.tar" -C "$T/a" && tar xf "$T/plain.tar" -C "$T/b"
# frames DIR: print the hash and name of each frame of the largest level.
frames() {
	(cd "$1" && find . -name '*.jpg' ! -name '*.s32.jpg' | LC_ALL=C sort | xargs sha256sum)
}
check_same "the largest level has the frames of --short-side" "$(frames "$T/b")" "$(frames "$T/a")"
check_same "each frame has a second level" "$(frames "$T/a" | wc -l)" "$(find "$T/a" -name '*.s32.jpg' | wc -l)"
json=$(find "$T/a" -name '*.json' | head -1)
check_same "KEY.json has the streams" "rgb s32" "$(jq -r '[.streams[].tag] | join(" ")' "$json")"
check_same "KEY.json has the sizes" '[[86,64],[44,32]]' "$(jq -c .levels "$json")"
check_same "KEY.json without levels has none" null "$(jq -c .levels "$(find "$T/b" -name '*.json' | head -1)")"
check_same "the set records the levels" '[64,32]' "$(jq -c .options.extract.levels "$T/levels/manifest.json")"
size() {
	ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$1"
}
check_same "a frame of the second level has its size" 44,32 "$(size "${json%.json}.000000.s32.jpg")"

# 100x60: level 80 would enlarge, so it has the frames of the first.
ffmpeg -v error -f lavfi -i testsrc=size=100x60:rate=10 -t 0.5 -pix_fmt yuv420p "$T/small.mp4"
vt-extract -q --levels=120,80,30 "$T/small.mp4" -o "$T/small.tar"
mkdir "$T/c" && tar xf "$T/small.tar" -C "$T/c"
check_same "a small video keeps its size at large levels" '[[100,60],[100,60],[50,30]]' "$(jq -c .levels "$T"/c/small.json)"
check "a level that does not shrink repeats the bytes" cmp "$T/c/small.000002.jpg" "$T/c/small.000002.s80.jpg"
check_same "a smaller level shrinks" 50,30 "$(size "$T/c/small.000002.s30.jpg")"
vt-extract -q --levels=48,24 --format=png "$T/small.mp4" -o "$T/png.tar"
mkdir "$T/d" && tar xf "$T/png.tar" -C "$T/d"
check_same "levels of PNG" "80,48 40,24" "$(size "$T/d/small.000001.png") $(size "$T/d/small.000001.s24.png")"
mkdir "$T/folder" && cp "$T"/b/*/*.00000[0-4].jpg "$T/folder" 2>/dev/null
rename=0
for f in "$T"/folder/*.jpg; do
	mv "$f" "$T/folder/$(printf %05d $rename).jpg"
	rename=$((rename + 1))
done
vt-extract -q --levels=64,16 "$T/folder" -o "$T/folder.tar"
mkdir "$T/e" && tar xf "$T/folder.tar" -C "$T/e"
check "a frame of a folder is stored unchanged in the largest level" cmp "$T/folder/00001.jpg" "$T/e/folder.000001.jpg"
check_same "and shrinks in a smaller one" 22,16 "$(size "$T/e/folder.000001.s16.jpg")"

# refused WHAT REGEX OPTION...
refused() {
	what=$1 regex=$2
	shift 2
	check_message "$what is refused" 2 "$regex" vt-extract "$@" "$T/small.mp4" -o "$T/no.tar"
}
refused "an ascending level" '128,256: 256 after 128' --levels=128,256
refused "a repeated level" '256,256: 256 after 256' --levels=256,256
refused "a single level" 'at least 2 short sides' --levels=256
refused "a level of 0" 'wanted 2 to 8 short sides' --levels=256,0
refused "a level that is not a number" 'wanted 2 to 8 short sides' --levels=256,half
refused "a ninth level" 'wanted 2 to 8 short sides' --levels=90,80,70,60,50,40,30,20,10
refused "--size with levels" 'wanted it without --size' --levels=256,128 --size=64x64
refused "--short-side with levels" 'wanted it without --short-side' --levels=256,128 --short-side=64
mkdir "$T/f" && tar xf "$T/small.tar" -C "$T/f"
sed -i 's/\[50,30\]/[52,30]/' "$T/f/small.json"
tar tf "$T/small.tar" | grep '^small' >"$T/f.txt"
(cd "$T/f" && tar --format=ustar -cf "$T/wrong.tar" -T "$T/f.txt")
check_exit "a size that the rule does not give is refused" 1 vt-pack --foreign -o "$T/no" "$T/wrong.tar"
check_says "a wrong size: the message has the right one" 'levels.*wanted 3 sizes, and \[50,30\] for stream s30'

# ---- training ----

# Crops of 28 are read from the level of 32, crops of 56 from the largest.
small_net 8 8 >"$T/net.net"
stages '0 0 2 0 9 2 56 3 0.05 0 0' '0 0 2 1 12 2 28 3 0.05 0 0' >"$T/s.tsv"
limit="timeout -k 5 120"
# trained RUN SET [OPTION]...: train, and print the hash of each tensor of the
# final checkpoint.
trained() {
	run=$T/$1 set=$T/$2
	shift 2
	# shellcheck disable=SC2086
	$limit ${launch:-} "$BUILD/vt-train" -i "$set" --val "$set" -m "$T/net.net" --schedule "$T/s.tsv" -o "$run" --device ref \
		--seed 7 --crop-rule=jitter -qq "$@" >/dev/null 2>"$T/err" || diag "exit $?: $(tail -2 "$T/err")"
	tensors "$run"
}
planned() {
	vt-train -n -i "$T/levels" -m "$T/net.net" --schedule "$T/s.tsv" "$@" | grep '^# loader '
}
traced() {
	cat "$T/trace-$1"* | grep -v '^#' | sort
}
scored() {
	jq -r 'select(.type == "validation") | [.loss, .top1] | @tsv' "$T/$1/log.jsonl"
}
check_exit "--loader-threads=0 ends with 2" 2 vt-train -n -i "$T/levels" --schedule "$T/s.tsv" --loader-threads=0
check_says "--loader-threads=0: the message says what it takes" 'loader-threads=0 \(wanted auto, or a number from 1 to 1024\)'
want=$(trained one levels --loader-threads 1 --trace-samples "$T/trace-one")
plain=$(trained plainrun plain --trace-samples "$T/trace-plain")
check "the level changes the weights" test -n "$want" -a "$want" != "$plain"
check_same "--level=largest gives the weights of a set without levels" "$plain" "$(trained largest levels --level=largest)"
check_same "and the same validation" "$(scored plainrun)" "$(scored largest)"
check "a validation is logged" test -n "$(scored plainrun)"
check_same "frames, crops and flips are those of a set without levels" "$(traced plain)" "$(traced one)"
check_same "4 loader threads give the same weights" "$want" "$(trained threads levels --loader-threads 4 -j 3)"
check_same "--loader-threads=auto gives the same weights" "$want" "$(trained auto levels --loader-threads=auto)"
check_same "--loader-threads=auto plans a thread for each core" \
	"$(planned --loader-threads="$(nproc)")" "$(planned --loader-threads=auto)"
check "a plan has the memory of each loader thread" \
	test "$(planned --loader-threads=9)" != "$(planned --loader-threads="$(nproc)")"
check_same "repeated samples have the same weights with 1 and 4 loader threads" \
	"$(trained repeat1 levels --repeat=2 --loader-threads 1)" "$(trained repeat4 levels --repeat=2 --loader-threads 4)"
check_same "jitter of the published program needs the largest level" \
	"$(trained up1 levels --crop-rule=jitter-upstream)" "$(trained up2 levels --crop-rule=jitter-upstream --level=largest)"
for np in 2 3; do
	if have_mpi; then
		launch="mpirun -np $np"
		check_same "$np ranks give the same weights" "$want" "$(trained "ranks$np" levels -j 1 --trace-samples "$T/trace-ranks$np")"
		launch=
		check_same "$np ranks give the same clips" "$(traced one)" "$(traced "ranks$np")"
	else
		skip "$np ranks give the same weights" "no mpirun, or built without MPI"
	fi
done
killed() {
	# shellcheck disable=SC2086
	on_ranks $limit "$BUILD/vt-train" -i "$T/levels" --val "$T/levels" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/kills" --device ref \
		--seed 7 --crop-rule=jitter -qq --save-steps 1
}
killed_often 3 killed
check_same "a run that was killed and resumed gives the same weights" "$want" "$(trained kills levels)"
check_exit "a run is stopped after a step" 75 \
	vt-train -i "$T/levels" --val "$T/levels" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/part" --device ref \
	--seed 7 --crop-rule=jitter -qq --stop-after 0.001s
check_message "resuming with another level is refused" 2 'level' \
	vt-train -i "$T/levels" --val "$T/levels" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/part" --device ref \
	--seed 7 --crop-rule=jitter -q --level=largest

# ---- evaluation ----

scores() {
	vt-eval -k "$T/one/final.safetensors" --device ref "$@" 2>"$T/err"
}
levels=$(scores -i "$T/levels" --json)
check "a level changes the scores" test "$levels" != "$(scores -i "$T/levels" --level=largest --json)"
check_same "--level=largest of vt-eval gives the scores of a set without levels" \
	"$(scores -i "$T/plain" --json | jq -c '[.top1, .loss]')" "$(scores -i "$T/levels" --level=largest --json | jq -c '[.top1, .loss]')"
vt-eval -k "$T/largest/final.safetensors" --device ref -i "$T/levels" --json >"$T/auto.json" 2>/dev/null
vt-eval -k "$T/largest/final.safetensors" --device ref -i "$T/levels" --level=largest --json >"$T/largest.json" 2>/dev/null
check "vt-eval takes the level setting of the run" cmp "$T/auto.json" "$T/largest.json"
# predictions FILE: drop the paths, which differ.
predictions() {
	awk -F '\t' '!/^#/ { print $2, $3, $4 }' "$1"
}
scores -T "$T/train.txt" -o "$T/videos.tsv" --top=2
scores -i "$T/levels.tar" -o "$T/stream.tsv" --top=2
check_same "videos and a stream with levels have the same predictions" "$(predictions "$T/stream.tsv")" "$(predictions "$T/videos.tsv")"
check "there are predictions" test -s "$T/videos.tsv"

# ---- the plan ----

check_exit "vt-schedule --check prints what levels cost" 0 \
	vt-schedule --check -m "$T/net.net" -i "$T/levels" "$T/s.tsv"
check "bytes are printed" grep -qE '^# level s32 +adds about [0-9.]+ [KM]iB to [0-9.]+ [KM]iB \([0-9]+ %\)' "$T/out"
check "crops of 56 are read from the largest level" grep -qE '^# crop 56 +the largest level, [0-9]+ us a frame' "$T/out"
check "crops of 28 are read from the level of 32" grep -qE '^# crop 28 +level s32, [0-9]+ us a frame \([0-9]+ us from' "$T/out"
check "time is printed" grep -qE '^# levels save +about .* of .* of loading on one core' "$T/out"
vt-schedule --check -m "$T/net.net" -i "$T/plain" "$T/s.tsv" >"$T/out" 2>&1
check "a set without levels has no such lines" sh -c '! grep -q level "$1"' - "$T/out"
plan
