#!/bin/sh
# vt-train on videos that are not packed: it packs them, and has the weights and
# the identity of a set packed by hand, for every number of ranks and threads and
# after kills. Damaged videos are refused or skipped, and a changed file refuses to
# resume.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
mpi=no
! have_mpi || mpi=yes

# Two classes of three videos each, of other lengths and rates.
n=0
for class in left right; do
	mkdir "$V/$class"
	for rate in 10 25 30000/1001; do
		n=$((n + 1))
		ffmpeg -v error -f lavfi -i "testsrc2=size=6${n}x48:rate=$rate:duration=1.$n" -vf "hue=h=$((n * 50))" \
			-pix_fmt yuv420p -c:v mpeg4 -q:v 3 "$V/$class/v$n.mp4" </dev/null || skip_all "ffmpeg has no mpeg4"
	done
done
vt-extract -q --label-from=dir --root="$V" "$V"/*/* | vt-pack -q -o "$T/packed" >"$T/out" || skip_all "vt-extract fails"
small_net 8 >"$T/net.net"
vt-schedule --batch=4 --frames=3 --crop=24 --bn-size=1 --lr=0.1 --epochs=4 -o "$T/s.tsv" || skip_all "no schedule"

# train DATA DIR [OPTION]...: make a run of six steps.
train() {
	data=$1 dir=$2
	shift 2
	on_ranks vt-train -i "$data" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 -q --precise-bn off "$@"
}
# tensors DIR: print the hash of each tensor, from the header's metadata.
tensors() {
	f=$T/$1/final.safetensors
	tail -c +9 "$f" | head -c "$(od -An -tu8 -N8 "$f" | tr -d ' ')" | jq -r '.__metadata__["vt.tensors"]'
}
# same WHAT DIR [PACKED]: compare DIR with the run on a packed set.
same() {
	check_same "$1: the weights are those of the packed set" "$(tensors "${3:-packed-run}")" "$(tensors "$2")"
}

check "a run on the packed set" train "$T/packed" packed-run --val "$T/packed" --trace-samples "$T/packed.trace"
# Files that are not data change nothing.
mkdir "$V/__MACOSX"
for f in left/Thumbs.db right/notes.txt .DS_Store left/._v1.mp4 desktop.ini __MACOSX/v1.mp4; do echo x >"$V/$f"; done
check "a run on a folder of videos" train "$V" folder --val "$V" --trace-samples "$T/folder.trace"
same "a folder of classes" folder
check "the clips are those of the packed set" cmp "$T/packed.trace" "$T/folder.trace"
check_same "the classes are those of the packed set" "$(cat "$T/packed/classes.txt")" "$(cat "$T/folder/classes.txt")"
check_same "the validation is that of the packed set" "$(jq -c 'select(.type == "validation").loss' "$T/packed-run/log.jsonl")" \
	"$(jq -c 'select(.type == "validation").loss' "$T/folder/log.jsonl")"
identity() {
	jq -r 'select(.type == "start").dataset_id' "$T/$1/log.jsonl" | uniq
}
check_same "the identity is that of the packed set" "$(identity packed-run)" "$(identity folder)"
check "the packed set is verified" vt-pack -q --verify -i "$T/folder/data"
check_exit "a dry run" 0 vt-train -n -i "$V" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -o "$T/none"
check "it says what packing takes" grep -Eq '^# packing +6 videos of --data: about .* on [0-9]+ core' "$T/out"
check "it has the samples of the list" grep -Eq '^# data +6 samples' "$T/out"
check "it writes nothing" test ! -e "$T/none"
check_says "a note counts the files that are not data" 'v: skipped 6 names of no data: '
rm -r "$V/__MACOSX" "$V/left/Thumbs.db" "$V/left/._v1.mp4" "$V/right/notes.txt" "$V/desktop.ini" "$V/.DS_Store"

(cd "$V" && for f in */*; do echo "$f ${f%%/*}"; done) >"$T/list.txt"
check "a run on a list" train "$T/list.txt" list --root "$V"
same "a list" list
check_same "both have the same identity" "$(jq -r 'select(.type == "start").dataset_id' "$T/folder/log.jsonl")" \
	"$(jq -r 'select(.type == "start").dataset_id' "$T/list/log.jsonl")"
check "a run with 3 threads" train "$V" threads --loader-threads 3 -j 2
same "3 threads" threads
if [ $mpi = yes ]; then
	np=2
	check "a run on 2 ranks" train "$V" ranks
	same "2 ranks" ranks
	np=3
	check "a run on 3 ranks" train "$V" ranks3 --val "$V"
	same "3 ranks" ranks3
	check_same "3 ranks: the identity" "$(identity packed-run)" "$(identity ranks3)"
	np=1
	# A directory that a host does not see.
	mkdir "$T/host0" "$T/host1"
	elsewhere() {
		set -- vt-train -i "$V" -m "$T/net.net" --schedule "$T/s.tsv" -o here --device ref -j 1 --precise-bn off
		mpirun -np 1 -wdir "$T/host0" "$@" : -np 1 -wdir "$T/host1" "$@"
	}
	check_exit "a run whose directory a rank does not see" 2 elsewhere
	check_says "the message names the two ways out" \
		'here: host .* does not see .*wanted --cache=DIR .* or a packed set: vt-extract VIDEO\.\.\. \| vt-pack -o SET'
else
	skip "2 and 3 ranks" "no MPI"
fi
check "a replay" vt-train -q --replay "$T/folder"

vt-extract -q --label-from=dir --root="$V" --fps=12 --short-side=32 "$V"/*/* | vt-pack -q -o "$T/packed12" >"$T/out"
check "a run on a packed set of 12 frames a second" train "$T/packed12" packed12-run
check "a run with --fps and --short-side" train "$V" twelve --fps=12 --short-side=32
same "--fps and --short-side" twelve packed12-run

# Folders of frames.
mkdir -p "$T/frames"
tar xf "$T/packed/shard-000000.tar" -C "$T/frames" --wildcards '*.jpg'
for f in "$T"/frames/*/*.jpg; do
	video=${f%.*.jpg}
	mkdir -p "$video" && mv "$f" "$video/${f#"$video".}"
done
check "a run on folders of frames" train "$T/frames" frames-run
same "folders of frames" frames-run

# ---- sets that exist ----

: >"$T/folder/data/mark"
rm -f "$T/folder"/*.safetensors "$T/folder/latest"
check_exit "a start without checkpoints" 0 train "$V" folder
check "the set is not packed again" test -e "$T/folder/data/mark"
same "a set that was there" folder
check_exit "two runs with a cache" 0 train "$V" cached1 --cache "$T/cache"
train "$V" cached2 --cache "$T/cache" >/dev/null 2>&1 &
check "at the same time" train "$V" cached3 --cache "$T/cache"
wait
check_same "the cache has one set" 1 "$(find "$T/cache" -name manifest.json | wc -l)"
same "a set of a cache" cached2
same "a set of a cache at the same time" cached3
cp -r "$V" "$T/gone"
check "a run on videos" train "$T/gone" gone-run
rm -r "$T/gone" "$T/gone-run"/*.safetensors "$T/gone-run/latest"
check "a start when they are gone" train "$T/gone" gone-run
same "videos that are gone" gone-run

# ---- kills, stops and changed files ----

killed_often 3 train "$V" killed --save-steps 1
check "a killed run ends" train "$V" killed
same "after kills" killed
check_exit "a run stops" 75 train "$V" stopped --save-steps 1 --stop-after 0.001s
check "it resumes on a list" train "$T/list.txt" stopped --root "$V"
same "resumed on a list" stopped
check_exit "another run stops" 75 train "$V" changed --save-steps 1 --stop-after 0.001s
cp -r "$V" "$T/other"
cp "$V/left/v1.mp4" "$T/other/left/v2.mp4"
check_exit "a changed file refuses to resume" 2 train "$T/other" changed
check_says "the message names the file and both hashes" \
	'/other/left/v2.mp4: changed since the run began: XXH3-64 [0-9a-f]{16} .was [0-9a-f]{16}.: --override=data verifies it again$'
check_same "it is one line" 1 "$(wc -l <"$T/err")"
mkdir "$T/young" && cp -r "$T/changed/data" "$T/young"
check "a run that ended before its first checkpoint begins with the changed file" train "$T/other" young
check_exit "--override=data resumes with the changed file" 0 train "$T/other" changed --override=data
rm -r "$T/changed"
check_exit "a run of the first files stops" 75 train "$V" changed --save-steps 1 --stop-after 0.001s
# A cache has a set of other videos with the same names, before or while a run waits.
check_exit "a set of other videos is not used" 2 train "$T/other" elsewhere1 --cache "$T/cache"
check_says "the message names the first" 'other/left/v2.mp4: changed .* .other runs may use the set: wanted another --cache.'
set=$(basename "$T"/cache/*.lock .lock)
mkdir "$T/cache2"
flock "$T/cache2/$set.lock" sh -c "sleep 2; cp -r '$T/cache/$set' '$T/cache2'" &
check_exit "nor is one that was packed meanwhile" 2 train "$T/other" elsewhere2 --cache "$T/cache2"
check_says "the message says what differs" "cache2/$set: .*other/left/v2.mp4: changed "
wait
rm "$T/other/left/v2.mp4"
check_exit "a missing video refuses to resume" 2 train "$T/other" changed
check_says "the message names the data" 'data'
check_exit "other settings refuse to resume" 2 train "$V" changed --short-side=24

# ---- damage ----

cp -r "$V" "$T/damaged"
head -c 3000 "$V/left/v1.mp4" >"$T/damaged/left/v1.mp4"
check_exit "a damaged video is refused" 1 train "$T/damaged" no
check_says "the message names it" 'damaged/left/v1.mp4: '
check "no checkpoint is made" test -z "$(find "$T/no" -name '*.safetensors')"
ffmpeg -v error -nostdin -i "$V/left/v1.mp4" -c copy "$T/whole.avi" </dev/null
head -c $(($(wc -c <"$T/whole.avi") * 9 / 10)) "$T/whole.avi" >"$T/cut.avi"
printf 'path,label\ncut.avi,0\nwhole.avi,1\n' >"$T/cut.csv"
check_exit "a truncated video is refused" 1 train "$T/cut.csv" no --root="$T"
check_says "the message names an option of the right command" 'cut.avi: truncated: .*; vt-extract --allow-truncated keeps them'
echo "not a video" >"$T/damaged/left/notes.mp4"
check_exit "a run that leaves videos out stops" 75 train "$T/damaged" skipped --on-error=skip --save-steps 1 --stop-after 0.001s
check_exit "--on-error=skip leaves them out, also when it resumes" 3 train "$T/damaged" skipped --on-error=skip
check_same "the run has the other videos" 5 "$(jq 'select(.type == "start").samples' "$T/skipped/log.jsonl" | uniq)"
rm "$T/skipped"/*.safetensors "$T/skipped/latest"
check_exit "a set that lacks videos is refused without --on-error=skip" 1 train "$T/damaged" skipped
check_says "the message counts them" 'skipped/data: lacks 2 refused videos .videos.tsv in it says why; --on-error=skip leaves them out.$'
check_exit "with it, a new run uses the set" 3 train "$T/damaged" skipped --on-error=skip
mkdir "$T/hand" && cp -r "$T/packed" "$T/hand/data"
check_exit "a set that was packed by hand is not replaced" 2 train "$V" hand
check_says "the message names the ways out" 'hand/data: a set that was packed by hand .*wanted another directory, or --data=.*/hand/data$'
check_same "the set is unchanged" "$(cat "$T/packed/SHARDS.xxh128")" "$(cat "$T/hand/data/SHARDS.xxh128")"
rm "$T/damaged/left/v1.mp4" "$T/damaged/left/notes.mp4"
check "a run without the video" train "$T/damaged" without
check_same "the weights are those without the video" "$(tensors without)" "$(tensors skipped)"

# ---- refused options ----

check_exit "--fps on a packed set" 2 train "$T/packed" no --fps=12
check_says "--fps on a packed set: the message" '--fps is for videos .*/packed is a packed dataset.'
check_exit "the default of --short-side on a packed set" 2 train "$T/packed" no --short-side=256
check_says "--short-side on a packed set: the message" '--short-side is for videos .*/packed is a packed dataset.'
check_exit "--fps=x" 2 train "$V" no --fps=x
mkdir "$T/empty"
check_exit "an empty folder" 1 train "$T/empty" no
check_says "an empty folder: the message" 'empty: no manifest.json: not a packed set, .* no folders of videos \(wanted .*/empty/CLASS/VIDEO\)'
mkdir "$T/empty/class"
check_exit "an empty folder of a class" 1 train "$T/empty" no
check_says "an empty folder of a class: the message" 'empty: no video \(wanted CLASS/VIDEO in it\)'
: >"$T/none.txt"
check_exit "an empty list" 1 train "$T/none.txt" no
check_says "an empty list: the message" 'none.txt: no video \(wanted one on each line\)'
plan
