#!/bin/sh
# vt-eval on videos and streams gives the predictions of a packed dataset of the
# same videos. A bad video does not affect the others, and a long stream needs
# no more memory than a short one.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
built FFmpeg || {
	check_message "videos in a build without FFmpeg end with 2" 2 'this build has no FFmpeg, which decodes videos' \
		vt-eval -k run a.mp4
	plan
	exit
}

# Videos of eight classes to train on, and 64 to score. Size, rate and quality
# of the frames differ from all defaults. A .mpg of the demo may lack a frame,
# so leave them out.
motions "$T/videos" 2 10 3 >/dev/null || skip_all "no videos"
for part in train test; do
	(cd "$T/videos" && find $part -type f ! -name '*.mpg' | LC_ALL=C sort | head -64) >"$T/$part.txt"
done
cd "$T/videos" || exit 2
how='--short-side=40 --quality=60 --fps=11'
# shellcheck disable=SC2086
vt-extract -q $how --label-from=dir --root=train -T "$T/train.txt" | vt-pack -q -o "$T/train" >/dev/null
# shellcheck disable=SC2086
vt-extract -q $how --label-from=dir --classes="$T/train/classes.txt" -T "$T/test.txt" -o "$T/test.tar"
vt-pack -q -o "$T/test" "$T/test.tar" >/dev/null
small_net 8 12 0.3 >"$T/net.net"
vt-schedule --batch=8 --frames=4 --crop=28 --bn-size=4 --epochs=4 --milestones=none -o "$T/s.tsv"
vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/run" --device ref --seed 7 -qq >/dev/null ||
	skip_all "nothing was trained"
net=$T/run/final.safetensors
look() {
	vt-eval -k "$net" --device ref "$@"
}
# shellcheck disable=SC2046
set -- $(cat "$T/test.txt")

# ---- compared with a packed dataset ----

# of_set, of_videos: print key or path, the classes and the first probability of
# a table.
of_set() {
	awk -F '\t' '!/^#/ { printf "%s %s %s %s %s %s %.6f\n", $1, $3, $4, $5, $6, $7, $8 }'
}
of_videos() {
	awk -F '\t' '!/^#/ { sub(/\.[a-z0-9]*$/, "", $1); print $1, $2, $4, $6, $8, $10, $3 }'
}
# One crop that is not resized, one that is, and several views that microbatches
# of 4 do not divide evenly.
for views in "" "--crop=20 --frames=5" "--clips=2 --crops=3 --microbatch=4 --full-short-side"; do
	# shellcheck disable=SC2086
	look -i "$T/test" $views | of_set >"$T/want"
	# shellcheck disable=SC2086
	check_exit "videos${views:+, $views}: scored" 0 look $views "$@"
	check_same "videos${views:+, $views}: no message" "" "$(cat "$T/err")"
	of_videos <"$T/out" >"$T/got"
	check "videos${views:+, $views}: the predictions of the packed dataset" cmp "$T/want" "$T/got"
	# shellcheck disable=SC2086
	check_exit "videos${views:+, $views}: scored from a stream" 0 look $views -i - <"$T/test.tar"
	of_videos <"$T/out" >"$T/got"
	check "videos${views:+, $views}: the stream has the same predictions" cmp "$T/want" "$T/got"
done
check_same "there are 64 predictions" 64 "$(wc -l <"$T/want")"
look "$@" >"$T/all"
check_exit "a stream in a file" 0 look -i "$T/test.tar"
cut -f2- "$T/out" | tail -n +2 >"$T/a"
cut -f2- "$T/all" | tail -n +2 >"$T/b"
check "a stream in a file has the predictions of its videos" cmp "$T/a" "$T/b"
vt-extract -q --short-side=28 "$1" >"$T/other.tar"
check_exit "a stream with frames of another size" 0 look -i - <"$T/other.tar"
check_says "the warning shows both ways in which frames were made" \
	'warning: standard input: its frames were made as \{.*"short_side":28.*\(the network was trained on \{.*"short_side":40'
check "frames of another size give other scores" \
	sh -c '! tail -1 "$1" | cut -f3 | grep -qxF "$(sed -n 2p "$2" | cut -f3)"' sh "$T/out" "$T/all"
check_exit "4 loader threads and 3 compute threads" 0 look --loader-threads=4 -j3 "$@"
check "numbers of threads change no byte" cmp "$T/out" "$T/all"
if built oneDNN; then
	vt-eval -k "$net" --device cpu "$@" | of_videos >"$T/got"
	look "$@" | of_videos >"$T/want"
	check_same "the cpu back end agrees with ref to 1e-4" "" "$(paste -d' ' "$T/want" "$T/got" |
		awk '$1 != $8 || $7 - $14 > 1e-4 || $14 - $7 > 1e-4')"
fi

# vt-eval decodes only the frames it needs, guessed from the headers. A file
# whose header declares 5 frames, fewer than it has, is decoded again.
avi=$(grep '\.avi$' "$T/test.txt" | head -1)
cp "$avi" "$T/lie.avi"
at=$(grep -abo vids "$T/lie.avi" | head -1 | cut -d: -f1)
printf '\005' | dd of="$T/lie.avi" bs=1 seek=$((at + 32)) conv=notrunc 2>/dev/null
check "a header is wrong now" sh -c '! cmp -s "$1" "$2"' sh "$avi" "$T/lie.avi"
check_exit "a video whose header is wrong" 0 look -v "$T/lie.avi"
check_says "is decoded twice" 'lie.avi: [0-9]+ frames, not the number in its headers: decoded twice'
check_same "and has the same answer" "$(grep -F "$avi" "$T/all" | cut -f2-)" "$(tail -1 "$T/out" | cut -f2-)"
check_exit "most videos" 0 look -v "$@"
check "are decoded once" test "$(grep -c 'decoded twice' "$T/err")" -lt 8

# ---- lists of videos ----

mkdir -p "$T/My Videos/lie still"
cp "$1" "$T/My Videos/lie still/a b.mp4"
cp "$2" "$T/My Videos/lie still/new
line.mp4"
find "$T/My Videos" -name 'a b.mp4' >"$T/list"
printf '%s\n' "$1" "$2" >>"$T/list"
check_exit "videos of a list" 0 look -T "$T/list"
check_same "a list gives the predictions of its videos" \
	"$(sed -n 2,3p "$T/all" | cut -f2- | sed -n '1p;1p;2p')" "$(sed 1d "$T/out" | cut -f2-)"
check_same "names with spaces work in a list" "$T/My Videos/lie still/a b.mp4" "$(sed -n 2p "$T/out" | cut -f1)"
check_exit "a list separated by zero bytes, after an operand" 0 \
	sh -c 'find "$1/My Videos" -type f -print0 | sort -z | vt-eval -k "$2" --device ref -0 -T - "$3"' sh "$T" "$net" "$3"
check_same "the operand comes first" "$(sed -n 4p "$T/all" | cut -f2-)" "$(sed -n 2p "$T/out" | cut -f2-)"
check_same "the list with a line feed in a name gives all three predictions" 4 "$(wc -l <"$T/out")"
: >"$T/empty"
check_exit "an empty list ends with 1" 1 look -T "$T/empty"
check_exit "a list and a dataset end with 2" 2 look -T "$T/list" -i "$T/test"
check_exit "-0 without a list ends with 2" 2 look -0 "$1"
check_exit "a folder of folders of videos ends with 1" 1 look "$T/My Videos"
check_says "a folder of folders of videos: the message shows two ways to name the videos in the folders" \
	'My Videos": a folder without frames, but with folders \(wanted its videos, .*/My Videos"/\*/\*, or a list of them, -T FILE'
check_same "an error at the start prints no table" "" "$(cat "$T/out")"
check_message "a folder of videos ends with 1" 1 'but with files \(wanted its videos, .*/lie still"/\*, or' \
	look "$T/My Videos/lie still"
(cd "$T/My Videos" && vt-extract -q -o "$T/blank.tar" "lie still/a b.mp4")
check_exit "a stream of a name with spaces" 0 look -i "$T/blank.tar"
check_same "a stream's table shows the path, not the key" "lie still/a b.mp4" "$(sed -n 2p "$T/out" | cut -f1)"
check_exit "a stream of a name with spaces, with --json" 0 look --json -i "$T/blank.tar"
check_same "--json has key and path" \
	'"key":"lie=20still/a=20b" "path":"lie still/a b.mp4"' "$(sed -n 1p "$T/out" | grep -o '"key":"[^"]*"\|"path":"[^"]*"' | paste -sd ' ')"

# ---- parts of videos ----

{
	echo path,label,time_start,time_end
	echo "$1,$(basename "$(dirname "$1")"),0.25,0.5"
	echo "$2,$(basename "$(dirname "$2")"),0.25,"
	echo "$3,$(basename "$(dirname "$3")"),,"
} >"$T/parts.csv"
# shellcheck disable=SC2086
vt-extract -q $how --classes="$T/train/classes.txt" --root=. --annotations="$T/parts.csv" >"$T/parts.tar"
vt-pack -q -o "$T/parts" "$T/parts.tar" >/dev/null
parts="$1 0.25 0.5
$2 0.25 -
$3 - -"
parts() {
	awk -F '\t' -v path="$1" '!/^#/ { print $path, $(NF - 1) == "" ? "-" : $(NF - 1), $NF == "" ? "-" : $NF }'
}
check_exit "parts of videos, packed" 0 look -i "$T/parts" --scores="$T/parts.tsv"
check_same "a table of samples has path, begin and end" "$parts" "$(parts 9 <"$T/out")"
check_same "a score file has path, begin and end" "path begin end
$parts" "$(sed -n 2p "$T/parts.tsv" | cut -f11- | tr '\t' ' ')
$(sed 1,2d "$T/parts.tsv" | parts 11)"
check_same "--rescore has path, begin and end" "$(grep -v '^#' "$T/out")" \
	"$(vt-eval --rescore="$T/parts.tsv" | grep -v '^#')"
check_exit "parts of videos, of a stream" 0 look -i "$T/parts.tar"
check_same "a table of clips has path, begin and end" "$parts" "$(parts 1 <"$T/out")"
check_exit "parts of videos, with --json" 0 look --json -i "$T/parts.tar"
check_same "--json has begin and end" '{"begin":0.25,"end":0.5, {"begin":0.25, {' \
	"$(head -3 "$T/out" | sed 's/"frames".*//' | paste -sd ' ')"

# ---- flow, differences, and two streams ----

if ! command -v jq >/dev/null; then
	skip "flow, differences, and two streams" "no jq"
else
	# shellcheck disable=SC2086
	{
		head -24 "$T/train.txt" >"$T/few.txt"
		vt-extract -q $how --flow=tvl1 --rgb --label-from=dir --classes="$T/train/classes.txt" --root=train -T "$T/few.txt" |
			vt-pack -q -o "$T/pairs" >/dev/null
		head -6 "$T/test.txt" >"$T/few.txt"
		vt-extract -q $how --flow=tvl1 --rgb --label-from=dir --classes="$T/train/classes.txt" -T "$T/few.txt" -o "$T/pairs.tar"
	}
	vt-pack -q -o "$T/few" "$T/pairs.tar" >/dev/null
	small_net 8 12 0.3 | sed 's/^input .*/input x stream=flow out=6 mean=0.5 std=0.226/' >"$T/flow.net"
	small_net 8 12 0.3 | sed 's/^input .*/input x stream=rgbdiff out=6 mean=0.501960784/' >"$T/rgbdiff.net"
	{
		echo 'input y stream=flow out=6 mean=0.5 std=0.226'
		small_net 8 12 0.3 | sed 's/^conv  *conv2.*/conv flow1 in=y out=8 k=3,3 s=2,2\nadd both in=shift1,flow1\nconv conv2 in=both out=12 k=3,3/'
	} >"$T/two.net"
	vt-schedule --batch=8 --frames=4 --crop=28 --bn-size=4 --epochs=1 --milestones=none -o "$T/s1.tsv"
	# answers FILE: print path or key, the classes and the probability of the first, with all digits.
	answers() {
		jq -r 'select(.type != "summary") | [.path, .top[], .probabilities[0] // .score] | @tsv' "$1"
	}
	for of in flow rgbdiff two; do
		vt-train -i "$T/pairs" -m "$T/$of.net" --schedule "$T/s1.tsv" -o "$T/$of" --device ref --seed 7 -qq >/dev/null
		for views in "" "--clips=2 --crops=3 --microbatch=4 --full-short-side --crop=24"; do
			# shellcheck disable=SC2086
			vt-eval -q -k "$T/$of" --device ref --json -i "$T/few" $views >"$T/out2"
			answers "$T/out2" >"$T/want"
			# shellcheck disable=SC2046,SC2086
			check_exit "$of${views:+, $views}: scored from videos" 0 \
				vt-eval -q -k "$T/$of" --device ref --json $views $(cat "$T/few.txt")
			answers "$T/out" >"$T/got"
			check "$of${views:+, $views}: videos have the bits of the packed dataset" cmp "$T/want" "$T/got"
			# shellcheck disable=SC2086
			check_exit "$of${views:+, $views}: scored from a stream" 0 \
				vt-eval -q -k "$T/$of" --device ref --json $views -i "$T/pairs.tar"
			answers "$T/out" >"$T/got"
			check "$of${views:+, $views}: the stream has the bits of the packed dataset" cmp "$T/want" "$T/got"
		done
	done
	check_same "there are 6 answers" 6 "$(wc -l <"$T/want")"
	check_exit "a network of flow on a stream of frames ends with 2" 2 vt-eval -q -k "$T/flow" --device ref -i "$T/test.tar"
	check_says "the message says what the stream has" 'flow reads the stream flow of 6 channels, which .*test.tar does not have \(it has rgb of 3\)'
fi

# ---- the sampler of the run ----

vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/dense" --device ref --seed 7 -qq --sampler=dense >/dev/null
check_exit "a network that was trained on dense windows" 0 vt-eval -k "$T/dense" --device ref -q --clips=3 "$1"
vt-eval -k "$T/dense" --device ref -q --clips=3 --sampler=dense "$1" >"$T/out2"
check "the run's sampler is used" cmp "$T/out" "$T/out2"
check_exit "--sampler overrides the run's sampler" 2 \
	vt-eval -k "$T/dense" --device ref --clips=3 --sampler=tsm "$1"

# ---- output ----

check_exit "a run's folder as checkpoint" 0 vt-eval -k "$T/run" --device ref "$1"
check_says "the message names the checkpoint that is used" 'note: scoring .*/run/final\.safetensors'
check_exit "--top=2" 0 look --top=2 "$1"
check_same "--top=2 has a header of two classes" "#video top1 p1 top2 p2 begin end" "$(head -1 "$T/out" | tr '\t' ' ')"
check_same "--top=2 has lines of two classes" 7 "$(sed -n 2p "$T/out" | awk -F '\t' '{ print NF }')"
check_exit "--top=100 of 8 classes" 0 look --top=100 "$1"
check_same "--top=100 has all 8 classes, whose probabilities sum to 1" "19 1.000" \
	"$(sed -n 2p "$T/out" | awk -F '\t' '{ for (i = 3; i < NF - 1; i += 2) s += $i; printf "%d %.3f", NF, s }')"
if command -v jq >/dev/null; then
	check_exit "--json" 0 look --json "$1" "$2"
	check_same "--json has the same predictions" "$(sed -n 2,3p "$T/all" | cut -f1,2,4,6,8,10)" \
		"$(jq -r 'select(.type == "video") | [.path] + .top | @tsv' "$T/out")"
	check_same "--json has a summary" "2 0 4 28 net" \
		"$(jq -r 'select(.type == "summary") | "\(.answered) \(.failed) \(.frames) \(.crop) \(.model)"' "$T/out")"
	check_exit "--json of a stream" 0 look --json -i "$T/test.tar"
	check_same "--json of a stream has 64 different keys" \
		"64" "$(jq -r 'select(.type == "clip").key' "$T/out" | sort -u | wc -l)"
else
	skip "--json" "no jq"
fi
check_exit "-o writes a file" 0 look -o "$T/answer" "$@"
check "the file of -o has the table" cmp "$T/answer" "$T/all"
check_same "with -o, standard output is empty" 0 "$(wc -c <"$T/out")"
check_message "-o with an existing file ends with 1" 1 'answer: exists \(-f replaces it\)' look -o "$T/answer" "$1"
check "the existing file is not changed" cmp "$T/answer" "$T/all"
check_exit "-f -o with an existing file" 0 look -f -o "$T/answer" "$1"
check_same "-f replaces the existing file" 2 "$(wc -l <"$T/answer")"
check_exit "-o with a packed dataset" 0 look -i "$T/test" -o "$T/packed"
look -i "$T/test" >"$T/out2"
check "-o with a packed dataset writes its table" cmp "$T/packed" "$T/out2"

# ---- bad videos ----

mkdir "$T/bad"
size=$(wc -c <"$1")
head -c $((size * 6 / 10)) "$1" >"$T/bad/cut.mp4"
: >"$T/bad/empty.mp4"
echo "no video" >"$T/bad/text.mp4"
check_exit "bad videos among good ones" 3 look "$1" "$T/bad/cut.mp4" "$T/bad/empty.mp4" "$2" "$T/bad/text.mp4" "$T/bad/none.mp4" "$3"
check_same "do not keep these from their answers" "$(sed -n 2,4p "$T/all")" "$(tail -n +2 "$T/out")"
check_same "and have a line each, and one for all" 5 "$(wc -l <"$T/err")"
check_says "of a truncated one" 'error: .*/cut.mp4: '
check_says "of an empty one" 'error: .*/empty.mp4: is empty'
check_says "of what is no video" 'error: .*/text.mp4: '
check_says "of what is not there" 'error: .*/none.mp4: cannot open: No such file'
check_says "and how many" 'warning: 4 of 7 have no prediction'
check_exit "one bad video, and no other" 1 look "$T/bad/empty.mp4"
check_same "has its line alone" 1 "$(wc -l <"$T/err")"
check_exit "several, and none that is good" 1 look -o "$T/no" "$T/bad/empty.mp4" "$T/bad/text.mp4"
check_says "have one for all" 'warning: 2 of 2 have no prediction'
check "and leave no file" test ! -e "$T/no"
check_exit "with -o" 3 look -o "$T/some" "$T/bad/empty.mp4" "$1"
check_same "the answers there are" "$(sed -n 2p "$T/all")" "$(tail -n +2 "$T/some")"
if command -v jq >/dev/null; then
	look --json "$T/bad/empty.mp4" "$1" 2>/dev/null >"$T/out"
	check_same "--json has a line for each video, with its status" "failed ok 1 1" \
		"$(jq -rs '"\(.[0].status) \(.[1].status) \(.[2].answered) \(.[2].failed)"' "$T/out")"
fi

# ---- bad streams ----

# streamed WHAT STATUS REGEX: score $T/bad.tar and check status, message and
# that no file is left.
streamed() {
	check_message "$1" "$2" "$3" look -i - -o "$T/no" <"$T/bad.tar"
	check "$1: leaves no file" test ! -e "$T/no"
}
size=$(wc -c <"$T/test.tar")
head -c $((size / 2)) "$T/test.tar" >"$T/bad.tar"
streamed "a stream that was cut" 4 'standard input: the input ended after [0-9]+ samples, last complete key test/[a-z_0-9/]+, offset'
vt-extract -q "$1" "$T/bad/empty.mp4" >"$T/bad.tar" 2>/dev/null
streamed "a stream of a vt-extract that failed" 1 'standard input: vt-extract failed after 1 samples'
: >"$T/bad.tar"
streamed "an empty one" 4 'standard input: empty'
seq 100000 >"$T/bad.tar"
streamed "none" 4 'standard input: not a tar stream'
gzip -c "$T/test.tar" >"$T/bad.tar"
streamed "a compressed one" 4 'standard input: compressed \(wanted a tar stream: gzip -dc FILE \| vt-eval\)'
# Damage the middle of the second clip's first frame.
name=$(tar tf "$T/test.tar" | grep '\.000000\.jpg$' | sed -n 2p)
at=$(tar tRf "$T/test.tar" | sed -n "s|^block \([0-9]*\): $name\$|\1|p")
{
	head -c $((at * 512 + 512 + 2)) "$T/test.tar"
	head -c 300 /dev/zero
	tail -c +$((at * 512 + 512 + 2 + 300 + 1)) "$T/test.tar"
} >"$T/bad.tar"
check_exit "a damaged frame" 4 look --frames=4 --crop=28 --clips=2 -i - <"$T/bad.tar"
check_says "is named" "error: standard input: key ${name%.000000.jpg}: frame 0: "
check_same "the other clips have answers" 63 "$(grep -vc '^#' "$T/out")"
check_says "and the marker at the end tells, too" 'the hash of the stream is .* damaged in transit'

# ---- memory ----

# peak N: print the peak memory for a stream of N clips, in KiB.
# shellcheck disable=SC2086
peak() {
	head -"$1" "$T/test.txt" >"$T/few.txt"
	vt-extract -q $how --root=. -T "$T/few.txt" |
		"$BUILD/tests/tools/peak" "$T/peak" vt-eval -k "$net" --device ref -j1 -i - >/dev/null && cat "$T/peak"
}
if grep -q -e -fsanitize "$BUILD/flags"; then
	skip "memory" "a sanitizer has its own"
else
	few=$(peak 3) many=$(peak 60)
	check "60 clips of a stream take the memory of 3: $many and $few KiB" test $((many - few)) -lt 2048
fi

# ---- refusals ----

check_exit "- as a video ends with 2" 2 look -
check_says "- as a video: the message names --data=- and -T -" \
	'-: not a video \(wanted a file; --data=- reads a stream of vt-extract, -T - a list\)'
check_exit "--scores with videos ends with 2" 2 look --scores="$T/no" "$1"
check_says "--scores with videos: the message says that --scores wants a packed dataset" \
	'--scores does not apply to videos and streams \(wanted a packed dataset'
echo "scores = $T/no" >"$T/scores.conf"
check_exit "a file that names --scores ends with 2, for videos" 2 look -c "$T/scores.conf" "$1"
check_says "a file that names --scores: the message is the same" '--scores does not apply to videos and streams'
check_exit "--top with a packed dataset ends with 2" 2 look --top=3 -i "$T/test"
check_says "--top with a packed dataset: the message says that --top wants videos and streams" \
	'--top does not apply to a packed dataset \(wanted videos and streams\)'
if have_mpi; then
	check_message "videos on two ranks end with 2" 2 'videos and streams are for one process, not for 2 ranks' \
		mpirun -np 2 "$BUILD/vt-eval" -k "$net" --device ref "$1"
	check_message "a missing list on two ranks ends with 2" 2 \
		'videos and streams are for one process, not for 2 ranks' \
		mpirun -np 2 "$BUILD/vt-eval" -k "$net" --device ref -T "$T/nowhere"
else
	skip "two ranks" "no mpirun, or built without MPI"
fi
plan
