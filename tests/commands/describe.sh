#!/bin/sh
# vt-pack --describe: classes of one and two sets, and videos that occur twice.
# The manifest has the samples of each class and the version.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# video NAME SOURCE FRAMES SIZE RATE: encode a video.
video() {
	mkdir -p "$(dirname "$V/$1")"
	ffmpeg -v error -y -nostdin -f lavfi -i "$2=s=$4:r=$5" -frames:v "$3" -c:v mpeg4 -q:v 2 "$V/$1.mp4" </dev/null
}
video a/one testsrc2 20 64x48 10
video a/two mandelbrot 10 64x48 10
video b/three testsrc 12 48x64 12
# The same files under other names: one with another class, one with the same.
cp "$V/a/one.mp4" "$V/b/copy.mp4"
cp "$V/a/two.mp4" "$V/a/again.mp4"
vt-extract -q --label-from=dir --root="$V" "$V"/*/*.mp4 | vt-pack -q -o "$T/train" >/dev/null
mkdir "$V/c"
cp "$V/b/three.mp4" "$V/c/other.mp4"
video c/new life 6 64x48 10
vt-extract -q --label-from=dir --root="$V" "$V"/c/*.mp4 | vt-pack -q -o "$T/val" >/dev/null

cd "$T" || exit 2
check_exit "--describe of one set" 0 vt-pack --describe train
cp out one
check_same "classes have samples, seconds, frames, sizes, rates and sources" "a	train	3	4.00	40	64x48:3	10/1:3	2
b	train	2	3.00	32	48x64:1,64x48:1	10/1:1,12/1:1	2" "$(sed '1d; /^#pair/,$d' one)"
check_same "equal videos, those with different labels first" "equal - train a/one a train b/copy b a/one b/copy
equal - train a/again a train a/two a a/again a/two" "$(sed '1,/^#pair/d' one | tr '\t' ' ' | sed 's/\.mp4//g')"
check_same "the summary counts what is not 0" "note: 2 pairs of samples are from one video
warning: 1 pair of equal or similar samples has different labels: the first row of the table" \
	"$(sed 's/^vt-pack: //' err)"
check_exit "--describe of two sets that share a video ends with 1" 1 vt-pack --describe train val
check_says "two sets that share a video: the message counts them" 'train and val share videos \(1 pair of samples\)'
check_same "classes that one set lacks have no samples there" "a train 3,a val 0,b train 2,b val 0,c train 0,c val 2" \
	"$(sed '1d; /^#pair/,$d' out | cut -f1-3 | tr '\t' ' ' | paste -sd,)"
check_same "a video of both sets, with different labels, comes before pairs of one set" \
	"equal - train b/three b val c/other c b/three c/other" "$(sed '1,/^#pair/d' out | tr '\t' ' ' | sed 's/\.mp4//g' | grep val)"
check_same "the first pairs have different labels" 2 "$(sed '1,/^#pair/d' out | head -2 | awk -F '\t' '$5 != $8' | wc -l)"

check_same "the manifest has the samples of each class" '[3,2]' "$(jq -c .class_samples train/manifest.json)"
check_same "the manifest has the version" "vt $(vt-pack --version | sed -n '1s/.* //p')" "$(jq -r .tool train/manifest.json)"
check_exit "--describe of a set without findings" 0 vt-pack --describe val
check_same "a set without findings: the note" "vt-pack: note: every class has samples, and no two samples are alike" "$(cat err)"
printf 'path,label_set\nb/three.mp4,c003;c011\na/one.mp4,c003\n' >ch.csv
vt-extract -q --annotations=ch.csv --root="$V" | vt-pack -q -o charades >/dev/null
check_exit "--describe of 2 of 157 classes" 0 vt-pack --describe charades
check_same "classes without a sample have no row" "c003 2,c011 1" "$(sed '1d; /^#pair/,$d' out | cut -f1,3 | tr '\t' ' ' | paste -sd,)"
check_says "the note counts classes without a sample" 'note: 155 of 157 classes have no sample: c000, c001, c002, \.\.\.$'

check_exit "the set verifies" 0 vt-pack --verify -i train
# A manifest of an earlier release lacks both.
sed -E -i 's/"class_samples":\[[0-9,]*\],//; s/"tool":"[^"]*",//' train/manifest.json
check "the fields are removed" sh -c '! grep -q "class_samples\|tool" train/manifest.json'
check_exit "a manifest without both fields verifies" 0 vt-pack --verify -i train
check_exit "a manifest without both fields is described" 0 vt-pack --describe train
check_same "its description is the same" "$(cat one)" "$(cat out)"

# A video that was encoded again, smaller and with fewer bits.
mkdir "$V/d"
ffmpeg -v error -y -nostdin -i "$V/a/two.mp4" -s 48x36 -c:v mpeg4 -q:v 6 "$V/d/again.mp4" </dev/null
vt-extract -q --label-from=dir --root="$V" "$V"/d/*.mp4 | vt-pack -q -o "$T/again" >/dev/null
check_exit "a video that was encoded again does not count as shared" 0 vt-pack --describe train again
check_says "a video of both sets that was encoded again: the warning" \
	'warning: 1 pair of the two sets looks alike, so results on one are too high'
check_same "a video that was encoded again is near" "near train a/again a again d/again d a/again d/again" \
	"$(sed '1,/^#pair/d' out | tr '\t' ' ' | sed 's/\.mp4//g' | grep '^near' | cut -d' ' -f1,3-)"
check_same "levels and threads do not change perceptual hashes" \
	"$(sample_info --short-side=32 "$V"/a/*.mp4 | jq -r .phash)" \
	"$(sample_info --levels=32,16 -j 3 "$V"/a/*.mp4 | jq -r .phash)"
check_exit "a set with perceptual hashes verifies" 0 vt-pack --verify -i again

# refused MESSAGE ARGUMENT...: check that vt-pack ends with 2.
refused() {
	pattern=$1
	shift
	check_message "vt-pack $* ends with 2" 2 "$pattern" vt-pack "$@"
}
refused '--describe: 0 sets \(wanted 1 or 2\)' --describe
refused '--describe: 3 sets \(wanted 1 or 2\)' --describe a b c
refused 'takes its sets as operands' --describe -i train
refused 'only one of --verify' --describe --list train
check_exit "no such set ends with 1" 1 vt-pack --describe nowhere
damaged=$(find val -name '*.tar')
printf 'xxxx' | dd of="$damaged" bs=1 seek=$(($(stat -c %s "$damaged") - 100)) conv=notrunc 2>/dev/null
check_exit "a damaged set ends with 4" 4 vt-pack --describe train val
plan
