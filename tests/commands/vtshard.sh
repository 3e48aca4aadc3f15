#!/bin/sh
# share/python/vtshard.py reads every frame of a set and detects damage, computes
# the clips of vt-train's trace and of vt-eval for each sampler and crop rule, and works in the
# workers of a PyTorch DataLoader.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_python numpy || skip_all "no NumPy (Debian: python3-numpy)"
PYTHONPATH=$PWD/share/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
vtshard() {
	"$python" -W error -W ignore::ResourceWarning tests/commands/vtshard_check.py "$@"
}

# ---- checksums ----

check_exit "CRC32C has its check value" 0 "$python" -c 'import vtshard as v; exit(v.crc32c(b"123456789") != 0xe3069283)'
if command -v xxh128sum >/dev/null; then
	for n in 241 512 1024 1025 1088 5000 1048577 1049601; do
		head -c $n "$BUILD/vt-train" >"$T/bytes"
		check_same "XXH3-128 of $n bytes is that of xxh128sum" "$(xxh128sum <"$T/bytes" | cut -d' ' -f1)" \
			"$("$python" -c 'import sys, vtshard as v; print(v.xxh3_128(open(sys.argv[1], "rb").read()))' "$T/bytes")"
	done
else
	skip "XXH3-128 is that of xxh128sum" "no xxh128sum"
fi

# ---- samples ----

"$MAKESET" "$T/set" 11 10 60 44 1
"$MAKESET" "$T/long" 5 70 40 32 2
"$MAKESET" "$T/tall" 5 9 36 52 3
"$MAKESET" "$T/flow" 5 6 24 20 4 flow=2
"$MAKESET" "$T/sets" 12 6 24 20 5 sets=1
"$MAKESET" "$T/png" 3 6 24 20 6 png=1
cp -r tests/golden/v0.2.0/packed "$T/kept"
for set in set long tall flow sets png kept; do
	mkdir "$T/x-$set"
	for shard in "$T/$set"/*.tar; do tar xf "$shard" -C "$T/x-$set"; done
	vt-pack --list -i "$T/$set" >"$T/list.tsv"
	check_exit "$set: samples and frames are those that vt-pack lists and tar unpacks" 0 \
		vtshard read "$T/$set" "$T/x-$set" "$T/list.tsv"
done

# ---- damage ----

# The second frame of the first sample.
shard=$(basename "$T"/set/*-000000.tar)
key=$(tar tf "$T/set/$shard" | sed -n 's/\.000001\.jpg$//p' | head -1)
at=$("$python" -c 'import sys, tarfile; print(tarfile.open(sys.argv[1]).getmembers()[1].offset_data)' "$T/set/$shard")
cp -r "$T/set" "$T/changed"
printf x | dd of="$T/changed/$shard" bs=1 seek=$((at + 300)) conv=notrunc 2>/dev/null
check_same "a changed byte of a frame is found, with shard, sample and frame" \
	"$T/changed/$shard: key $key, offset $at: frame 1 of stream rgb: the checksum of the data is wrong" \
	"$(vtshard damaged "$T/changed")"
for place in index footer; do
	damaged_set "$T/set" $place
	check "a changed byte of the $place is found, with the shard" \
		sh -c 'case $1 in */broken-*.tar:*wrong* | */broken-*.tar:*"is not the one"*) ;; *) exit 1 ;; esac' \
		sh "$(vtshard damaged "$T/broken-$place")"
done
cp -r "$T/set" "$T/short"
truncate -s -512 "$T/short/$shard"
check_same "a truncated shard is refused" "$T/short/$shard: no footer: truncated, or not a shard" \
	"$(vtshard damaged "$T/short")"
cp -r "$T/set" "$T/mixed"
cp "$T"/long/*-000000.tar "$T/mixed/$shard"
check_same "a shard of another set is refused" "$T/mixed/$shard: not shard 0 of this set" "$(vtshard damaged "$T/mixed")"

# ---- clips ----

small_net 8 >"$T/plain.net"
sed 's/^input .*/input x stream=rgbdiff out=9 mean=0.501960784/' "$T/plain.net" >"$T/differences.net"
# traced SET SEED FRAMES CROP STRIDES [OPTION]...: compare the trace of a run of
# three epochs with Set.clip.
traced() {
	set=$1 seed=$2 frames=$3 crop=$4 strides=$5 low=${5%,*} high=${5#*,}
	shift 5
	rm -rf "$T/run" "$T/trace"
	stages "0 0 3 0 6 $frames $crop 3 0.05 $low $high" >"$T/s.tsv"
	rules=
	[ "${net:-plain}" = plain ] || rules=stack=4
	for o; do
		case $o in
		--no-flip) rules="$rules flip=False" ;;
		--jitter-inverse) rules="$rules jitter_inverse=True" ;;
		--sampler=* | --crop-rule=*)
			name=$(echo "${o%%=*}" | sed 's/^--//; s/-/_/g')
			rules="$rules $name='${o#*=}'" ;;
		*) rules="$rules $(echo "${o%%=*}" | sed 's/^--//; s/-/_/g')=${o#*=}" ;;
		esac
	done
	what="$set, seed $seed, ${frames}x$crop, strides $strides: $*"
	vt-train -i "$T/$set" -m "$T/${net:-plain}.net" --schedule "$T/s.tsv" -o "$T/run" --device ref --seed "$seed" -qq \
		--precise-bn off --trace-samples "$T/trace" "$@" >/dev/null 2>"$T/err" || diag "$(tail -2 "$T/err")"
	# shellcheck disable=SC2086
	check_exit "$what" 0 vtshard trace "$T/$set" "$seed" "$T/trace" frames="$frames" crop="$crop" "stride=($low,$high)" $rules
}
traced set 1 4 32 0,0
traced set 9000000000000000 4 32 0,0 --sampler=tsm-upstream --crop-rule=centre
traced set 7 20 28 0,0 --crop-rule=jitter
traced set 7 20 28 0,0 --sampler=tsm-upstream --crop-rule=jitter --jitter-inverse
traced set 3 4 32 2,3 --crop-rule=jitter-upstream
traced set 3 3 16 0,0 --crop-rule=jitter-upstream --jitter-min=230 --jitter-max=300 --no-flip
traced set 4 4 32 0,0 --sampler=ssv2 --crop-rule=resized
traced set 5 6 30 1,4 --sampler=charades --crop-rule=resized --crop-area=0.3 --repeat=2
traced set 6 5 24 1,3 --sampler=pyslowfast --repeat=3
traced long 8 8 24 0,0 --sampler=dense
traced long 8 8 24 3,3 --sampler=dense --crop-rule=resized
traced long 2 5 24 7,7 --sampler=pyslowfast --crop-rule=jitter
traced kept 2 4 16 2,2 --sampler=pyslowfast --crop-rule=jitter
traced tall 4294967297 4 24 0,0 --sampler=dense
traced tall 2 4 24 0,0 --crop-rule=centre
traced tall 2 4 24 0,0 --crop-rule=jitter
traced tall 2 1 24 0,0 --sampler=ssv2 --crop-rule=resized --crop-area=0.9
net=differences
traced set 3 5 24 0,0
traced set 3 5 24 1,2 --sampler=charades
traced set 3 5 24 1,3 --sampler=mmaction2 --crop-scales=1,0.8 --crop-distort=0 --crop-positions=5
net=plain
check_exit "an unknown sampler is refused" 1 "$python" -c 'import sys, vtshard as v
v.Set(sys.argv[1]).clip(1, 0, frames=4, crop=24, sampler="random")' "$T/set"
check_says "the message names it" '^ValueError: sampler random, crop rule multiscale \(wanted one of tsm'

# ---- views ----

# A network whose scores are a linear function of the mean of the pixels that it reads.
cat >"$T/mean.net" <<'NET'
input    x        out=3 mean=0,0,0 std=1,1,1
avgpool  avgpool  in=x over=hw
linear   fc       in=avgpool out=classes std=3
avgpool  scores   in=fc over=t
NET
# viewed SET FRAMES CROP STRIDE SAMPLER RULE: compare the scores of vt-eval with those of
# Set.view. RULE is multiscale or jitter.
viewed() {
	eval_rule=tsm
	[ "$6" = multiscale ] || eval_rule=pyslowfast
	vt-eval -q -k "$T/mean" -i "$T/$1" --device=ref --frames="$2" --crop="$3" --stride="$4" --sampler="$5" \
		--crop-rule=$eval_rule --scores="$T/scores" >/dev/null 2>"$T/err" || diag "$(tail -2 "$T/err")"
	check_exit "view: $*" 0 vtshard view "$T/$1" "$T/scores" "$T/weights" "$T/names" \
		frames="$2" crop="$3" stride="$4" sampler="'$5'" crop_rule="'$6'"
}
if find_python numpy PIL; then
	"$MAKESET" "$T/wide" 4 70 60 44 7 png=1 classes=4
	"$MAKESET" "$T/upright" 4 9 36 52 8 png=1 classes=4
	stages "0 0 1 0 4 4 24 4 0.001 0 0" >"$T/s.tsv"
	vt-train -qq -i "$T/wide" -m "$T/mean.net" --schedule="$T/s.tsv" -o "$T/mean" --device=ref >/dev/null
	"$BUILD/tests/tools/weightdump" "$T/mean/final.safetensors" "$T/weights" >"$T/names"
	viewed wide 4 24 0 tsm multiscale
	viewed wide 5 31 0 dense jitter
	viewed wide 8 24 3 tsm jitter
	viewed wide 8 16 9 charades multiscale
	viewed wide 6 24 5 pyslowfast jitter
	viewed wide 6 24 9 mmaction2 multiscale
	viewed upright 4 24 0 ssv2 jitter
	viewed upright 9 25 0 tsm-upstream multiscale
	viewed upright 12 24 0 tsm multiscale
else
	skip "Set.view has the frames and the crop that vt-eval reads" "no Pillow (Debian: python3-pil)"
fi

# ---- PyTorch ----

if find_python numpy torch; then
	check_exit "workers of a DataLoader read the same clips and samples" 0 vtshard torch "$T/set"
else
	skip "workers of a DataLoader read the same clips and samples" "no PyTorch (Debian: python3-torch)"
fi
if find_python numpy torch PIL; then
	check_exit "the example of the module gives batches of pixels" 0 vtshard example "$T/set"
else
	skip "the example of the module gives batches of pixels" "no PyTorch and Pillow (Debian: python3-torch, python3-pil)"
fi
plan
