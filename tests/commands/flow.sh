#!/bin/sh
# tests/run: weight 12
# vt-extract stores optical flow: the streams, their lengths and values are
# those of vt-shard(5), with the same bytes for any number of threads and any
# instruction set, and vt-pack packs, verifies and resumes them.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# make NAME FRAMES LUMA: make a lossless gray video of 96x64 pixels.
make() {
	ffmpeg -v error -y -nostdin -f lavfi -i "nullsrc=s=96x64:r=25,format=gray,geq=lum='$3'" -frames:v "$2" \
		-c:v ffv1 -pix_fmt gray "$V/$1" </dev/null || diag "ffmpeg could not make $1"
}
# moving X Y: print the luma of a texture that moves by X and Y pixels a frame.
moving() {
	echo "128+40*sin((X-$1*N)/5)*cos((Y-$2*N)/6)+30*sin((X-$1*N)/9+(Y-$2*N)/8)"
}
# mean FILE: print the mean byte of an image, rounded.
mean() {
	ffmpeg -v error -y -i "$1" -pix_fmt gray -f rawvideo - </dev/null | od -An -v -tu1 |
		awk '{ for (i = 1; i <= NF; i++) { s += $i; n++ } } END { printf "%.0f\n", s / n }'
}
# levels FILE: print the different bytes of an image.
levels() {
	ffmpeg -v error -y -i "$1" -pix_fmt gray -f rawvideo - </dev/null | od -An -v -tu1 -w1 | sort -un | tr -d ' \n'
}
make a.mkv 6 "$(moving 2 -1)"
make b.mkv 5 "$(moving -1 0)"
make still.mkv 4 "$(moving 0 0)"
make one.mkv 1 "$(moving 0 0)"

# ---- streams ----

check_exit "flow is extracted" 0 vt-extract --flow=tvl1 --root "$V" "$V/a.mkv" -o "$T/a.tar"
check_same "x and y of each pair: one fewer than frames" \
	"__vt__/.head $(for f in 0 1 2 3 4; do echo "a.00000$f.x.jpg a.00000$f.y.jpg"; done | tr '\n' ' ')a.json __vt__/.end" \
	"$(tar tf "$T/a.tar" | tr '\n' ' ' | sed 's/ $//')"
check_same "the .json has streams, method and bound" \
	'[5,{"bound":20,"method":"tvl1"},[{"ext":"jpg","tag":"x"},{"ext":"jpg","tag":"y"}],96,64]' \
	"$(sample_info --flow=tvl1 --root "$V" "$V/a.mkv" | jq -c '[.frames,.flow,.streams,.width,.height]')"
check_same "the head has method and bound" '{"bound":20,"method":"tvl1"}' \
	"$(tar xOf "$T/a.tar" __vt__/.head | jq -c .options.flow)"
check_same "without --flow, neither has them" "null null" \
	"$(vt-extract -q "$V/a.mkv" | tar xOf - __vt__/.head | jq -c .options.flow) $(sample_info "$V/a.mkv" | jq -c .flow)"
mkdir "$T/a"
tar xf "$T/a.tar" -C "$T/a"
check_same "the images are gray JPEG of the size of the frames" "mjpeg 96 64 gray" \
	"$(ffprobe -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 "$T/a/a.000002.y.jpg" | tr , ' ')"
# 255 (2 + 20) / 40 = 140.25 and 255 (-1 + 20) / 40 = 121.1.
check_same "motion by 2 right and 1 up has the documented values" "140 121" \
	"$(mean "$T/a/a.000003.x.jpg") $(mean "$T/a/a.000003.y.jpg")"
mkdir "$T/still"
vt-extract -q --flow=tvl1 --root "$V" "$V/still.mkv" | tar xf - -C "$T/still"
check_same "no motion is 128 everywhere" "128 128" \
	"$(levels "$T/still/still.000000.x.jpg") $(levels "$T/still/still.000002.y.jpg")"
mkdir "$T/twice"
vt-extract -q --flow=tvl1 --fps=50 --root "$V" "$V/a.mkv" | tar xf - -C "$T/twice"
check_same "flow is between stored frames: those of --fps=50 repeat" "11 128 140" \
	"$(jq .frames "$T/twice/a.json") $(levels "$T/twice/a.000004.x.jpg") $(mean "$T/twice/a.000005.x.jpg")"
check_same "flow is computed at the stored size" "134" "$(mkdir "$T/half" &&
	vt-extract -q --flow=tvl1 --short-side=32 --root "$V" "$V/a.mkv" | tar xf - -C "$T/half" && mean "$T/half/a.000003.x.jpg")"

check_exit "frames and flow" 0 vt-extract --flow=tvl1 --rgb --root "$V" "$V/a.mkv" -o "$T/both.tar"
check_same "the streams are rgb, x and y" "a.000004.jpg a.000004.x.jpg a.000004.y.jpg a.json" \
	"$(tar tf "$T/both.tar" | sed -n '14,17p' | tr '\n' ' ' | sed 's/ $//')"
mkdir "$T/both" "$T/rgb"
tar xf "$T/both.tar" -C "$T/both"
vt-extract -q --root "$V" "$V/a.mkv" | tar xf - -C "$T/rgb"
check "its frames are those without flow, its flow is that without frames" sh -c '
	cd "$1" || exit 1
	for f in 0 1 2 3 4; do
		cmp "both/a.00000$f.jpg" "rgb/a.00000$f.jpg" || exit 1
		cmp "both/a.00000$f.x.jpg" "a/a.00000$f.x.jpg" || exit 1
		cmp "both/a.00000$f.y.jpg" "a/a.00000$f.y.jpg" || exit 1
	done' sh "$T"
check_same "--format=png: gray PNG" "png,96,64,gray" "$(vt-extract -q --flow=tvl1 --format=png --root "$V" "$V/a.mkv" |
	tar xOf - a.000001.x.png | ffprobe -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 -)"
check_exit "a folder of frames" 0 vt-extract -q --flow=tvl1 --rgb --root "$T" "$T/rgb" -o "$T/folder.tar"
check_same "has one pair fewer than frames" "5 15" \
	"$(tar xOf "$T/folder.tar" rgb.json | jq .frames) $(tar tf "$T/folder.tar" | grep -c jpg)"
check "and its frames unchanged" sh -c 'tar xOf "$1/folder.tar" rgb.000002.jpg | cmp - "$1/rgb/a.000002.jpg"' sh "$T"

# ---- threads and instruction sets ----

for o in '-j1 -j2' '-j1 -j7' '-j3 -j5'; do
	check "the same bytes with $o" sh -c '
		vt-extract -q --flow=tvl1 --rgb $1 "$3"/[ab].mkv >"$4/1" && vt-extract -q --flow=tvl1 --rgb $2 "$3"/[ab].mkv | cmp - "$4/1"' \
		sh "${o% *}" "${o#* }" "$V" "$T"
done
check "the same bytes with --budget" sh -c \
	'vt-extract -q --flow=tvl1 --budget=cpu:60s --root "$1" "$1/a.mkv" | cmp - "$2/a.tar"' sh "$V" "$T"
for isa in base avx2 avx512; do
	check "the same bytes with $isa" sh -c \
		'VT_ISA=$1 vt-extract -q --flow=tvl1 --root "$2" "$2/a.mkv" | cmp - "$3/a.tar"' sh "$isa" "$V" "$T"
done

# ---- refusals ----

check_exit "an unknown method ends with 2" 2 vt-extract --flow=farneback "$V/a.mkv"
check_says "the message names the methods" "flow: farneback \(wanted one of none\|tvl1\)"
check_message "--rgb without --flow ends with 2" 2 "rgb is for --flow, which is missing" vt-extract --rgb "$V/a.mkv"
check_exit "--flow with --levels ends with 2" 2 vt-extract --flow=tvl1 --levels=64,32 "$V/a.mkv"
check_exit "a video of one frame ends with 1" 1 vt-extract --flow=tvl1 "$V/one.mkv" -o "$T/one.tar"
check_says "the message says what flow needs" "one.mkv: one frame to store \(wanted at least 2"
check_exit "or is skipped" 3 vt-extract --flow=tvl1 --on-error=skip "$V/one.mkv" "$V/b.mkv" -o "$T/one.tar"
mkdir "$T/single"
cp "$T/rgb/a.000000.jpg" "$T/single"
check_exit "a folder of one frame ends with 1" 1 vt-extract --flow=tvl1 "$T/single" -o "$T/single.tar"
head -c $(($(wc -c <"$V/a.mkv") * 2 / 3)) "$V/a.mkv" >"$V/cut.mkv"
check_exit "a truncated video ends with 1" 1 vt-extract --flow=tvl1 "$V/cut.mkv" -o "$T/cut.tar"
check_says "as without flow" "cut.mkv: truncated: [0-9] frames"
check_same "--allow-truncated: one pair fewer than the frames that are left" \
	"$(sample_info --allow-truncated "$V/cut.mkv" | jq '.frames-1')" \
	"$(sample_info --allow-truncated --flow=tvl1 "$V/cut.mkv" | jq .frames)"

# ---- packing ----

cp "$V/b.mkv" "$V/c.mkv"
vt-extract -q --flow=tvl1 --rgb --root "$V" "$V"/[abc].mkv -o "$T/three.tar"
check_exit "a stream with flow is packed" 0 vt-pack -o "$T/set" --shard-size=1M "$T/three.tar"
check_exit "and verified" 0 vt-pack --verify=decode -i "$T/set"
check_same "the manifest has streams, method and bound" '["rgb","x","y"] {"bound":20,"method":"tvl1"}' \
	"$(jq -c '[.streams[].tag]' "$T/set/manifest.json") $(jq -c .options.extract.flow "$T/set/manifest.json")"
head -c $(($(wc -c <"$T/three.tar") * 3 / 4)) "$T/three.tar" >"$T/part.tar"
check_exit "a stream that was cut" 1 vt-pack -o "$T/part" --shard-size=1M "$T/part.tar"
check_exit "the whole one resumes it" 0 vt-pack -o "$T/part" --shard-size=1M "$T/three.tar"
check "to the same bytes" sh -c 'for f in "$1"/set/*; do cmp "$f" "$1/part/${f##*/}" || exit 1; done' sh "$T"
check_same "--done prints the videos" "a.mkv b.mkv c.mkv" "$(vt-pack --done -o "$T/set" | tr '\n' ' ' | sed 's/ $//')"
# Change a byte of an image in y.
at=$(grep -abo 'a.000002.y.jpg' "$T/set/shard-000000.tar" | head -1 | cut -d: -f1)
printf '\377' | dd of="$T/set/shard-000000.tar" bs=1 seek=$((at + 700)) conv=notrunc 2>"$T/err"
check_exit "a changed byte of the flow is found" 4 vt-pack --verify=full -i "$T/set"
check "in the right member" grep -q 'a.000002.y.jpg' "$T/out"

# ---- real videos ----

D=$SHARED/data/overhead_actions
if [ -d "$D" ]; then
	set -- "$D"/fall/*.mp4
	check_exit "real videos" 0 vt-extract --flow=tvl1 --rgb --fps=6 --label-from=dir --root="$D" "$1" "$2" -o "$T/real.tar"
	vt-pack -q -o "$T/real" "$T/real.tar" >"$T/out"
	check_exit "are packed and verified" 0 vt-pack --verify=decode -i "$T/real"
else
	skip "real videos" "no $D"
fi
plan
