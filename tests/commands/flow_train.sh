#!/bin/sh
# Networks that read optical flow, RGB differences, or RGB and flow at once, train the same
# weights for every number of ranks and threads and after every kill; vt-eval and vt-bench
# read the same streams.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/joint" 24 9 40 32 1 flow=2 && "$MAKESET" "$T/flow" 24 9 40 32 1 flow=1 &&
	"$MAKESET" "$T/rgb" 8 9 40 32 1 || skip_all "no test set"

# Samples of 9 to 11 frames, and stacks of 4: some clips reach the last frame.
small_net 8 16 0.3 | sed 's/^input .*/input x stream=flow out=8 mean=0.5 std=0.226/' >"$T/flow.net"
small_net 8 16 0.3 | sed 's/^input .*/input x stream=rgbdiff out=9 mean=0.501960784/' >"$T/rgbdiff.net"
{
	echo 'input y stream=flow out=8 mean=0.5 std=0.226'
	small_net 8 16 0.3 | sed 's/^conv  *conv2.*/conv flow1 in=y out=8 k=3,3 s=2,2\nadd both in=shift1,flow1\nconv conv2 in=both out=16 k=3,3/'
} >"$T/two.net"
stages '0 0 2 0 12 2 28 4 0.05 0 0' '1 2 4 0 12 3 20 4 0.05 0 0' >"$T/s.tsv"

# train NET DATA RUN [OPTION]...
train() {
	net=$1 data=$2 run=$3
	shift 3
	${launch:-} vt-train -i "$T/$data" -m "$T/$net.net" --schedule "$T/s.tsv" -o "$T/$run" --device ref --seed 7 -q \
		--trace-samples "$T/trace-$run" "$@" >/dev/null
}
# traced RUN: print a hash of the rows of all ranks.
traced() {
	cat "$T/trace-$1" "$T/trace-$1".* 2>/dev/null | grep -v '^#' | sort | md5sum
}
for case in 'flow flow' 'flow joint' 'rgbdiff joint' 'two joint'; do
	# shellcheck disable=SC2086
	{ set -- $case; }
	name="$1 of $2"
	train "$1" "$2" "$1-$2" -j 1 --loader-threads 1 2>"$T/err"
	check_same "$name: the run ends" 0 $?
	want=$(tensors "$1-$2")
	train "$1" "$2" "$1-$2-threads" -j 3 --loader-threads 4 --loader-memory 1
	check_same "$name: 4 loader threads give the same weights" "$want" "$(tensors "$1-$2-threads")"
	check_same "$name: 4 loader threads give the same clips" "$(traced "$1-$2")" "$(traced "$1-$2-threads")"
	for np in 2 3; do
		if have_mpi; then
			launch="mpirun -np $np"
			train "$1" "$2" "$1-$2-ranks$np" -j 1 --audit 2
			launch=
			check_same "$name: $np ranks give the same weights" "$want" "$(tensors "$1-$2-ranks$np")"
			check_same "$name: $np ranks give the same clips" "$(traced "$1-$2")" "$(traced "$1-$2-ranks$np")"
		else
			skip "$name: $np ranks give the same weights" "no mpirun, or built without MPI"
		fi
	done
	killed_often 3 on_ranks vt-train -i "$T/$2" -m "$T/$1.net" --schedule "$T/s.tsv" -o "$T/$1-$2-killed" \
		--device ref --seed 7 -qq --save-every 1 2>/dev/null
	train "$1" "$2" "$1-$2-killed" --save-every 1
	check_same "$name: a run that is killed and resumed gives the same weights" "$want" "$(tensors "$1-$2-killed")"
done
check_same "flow and rgb of a joint set are read: other weights than those of each alone" 3 \
	"$(for run in flow-joint rgbdiff-joint two-joint; do tensors $run; done | sort -u | wc -l)"
check_same "flow of a joint set equals that of a set of flow" "$(tensors flow-flow)" "$(tensors flow-joint)"
check "stacks fit into their samples" awk -F '\t' '!/^#/ { n = split($4, f, ",")
	for (i = 1; i <= n; i++) if (f[i] > 11 - 4) exit 1 }' "$T/trace-flow-joint"

# ---- other modes, and what is refused ----

check_exit "MixUp and CutMix mix stacks" 0 train two joint mixed --mixup 1 --cutmix 1
check "MixUp and CutMix change the weights" test "$(tensors mixed)" != "$(tensors two-joint)"
check_exit "partial BN freezes all norms except the first" 0 train flow joint partial --freeze=partial-bn
check_exit "the memory of a run is planned" 0 train two joint planned --dry-run
check_exit "a transform of RGB frames with flow ends with 2" 2 train flow joint no --rand-augment 1
check_says "the message names the stream and the options" 'flow reads the stream flow \(wanted rgb alone for --rand-augment,'
check_exit "flow of a set of rgb ends with 2" 2 train flow rgb no
check_says "the message shows what the set has" 'flow reads the stream flow of 8 channels, which .*rgb does not have \(it has rgb of 3\)'
check_exit "rgb of a set of flow ends with 2" 2 train rgbdiff flow no
check_says "the message shows what the set has" 'rgbdiff reads the stream rgbdiff of 9 channels, which .*flow does not have \(it has flow\)'
check_same "each message is one line" 1 "$(wc -l <"$T/err")"
small_net 8 16 0.3 >"$T/rgb.net"
check_exit "a run on rgb of a joint set" 0 train rgb joint rgb
vt-train -i "$T/joint" -m "$T/flow.net" --schedule "$T/s.tsv" -o "$T/inflated" --device ref --seed 7 -qq \
	--init "$T/rgb/final.safetensors" >/dev/null 2>"$T/err"
check "the first convolution of flow begins with the mean over the colors" \
	grep -q 'conv1.weight.*mean over the colo' "$T/inflated/init.tsv"

# ---- vt-eval and vt-bench ----

for net in flow rgbdiff two; do
	check_exit "vt-eval of $net: 10 crops" 0 \
		vt-eval -k "$T/$net-joint" -i "$T/joint" --device ref -q --clips 1 --crops 10 --scores "$T/$net.scores" -j 1
	cp "$T/$net.scores" "$T/want.scores"
	check_exit "vt-eval of $net with 3 threads" 0 \
		vt-eval -k "$T/$net-joint" -i "$T/joint" --device ref -q --clips 1 --crops 10 --scores "$T/$net.scores" -j 3
	check "vt-eval of $net with 3 threads gives the same scores" cmp "$T/want.scores" "$T/$net.scores"
done
if built cairo; then
	check_exit "a contact sheet of flow" 0 \
		vt-eval -k "$T/flow-flow" -i "$T/flow" --device ref -q --sheet "$T/sheet.png"
	check_exit "a contact sheet of stacks" 0 \
		vt-bench loader -i "$T/flow" -m "$T/flow.net" --shape 4x2x28 --runs 1 --sheet "$T/stacks.png"
fi
for net in flow rgbdiff two; do
	check_exit "vt-bench loader with $net" 0 vt-bench loader -i "$T/joint" -m "$T/$net.net" --shape 4x2x28 --runs 1 --verify
	check_exit "vt-bench step with $net" 0 \
		vt-bench step -i "$T/joint" -m "$T/$net.net" --shape 4x2x28 --runs 1 --device ref --verify
done
check_exit "vt-bench loader of a set of flow without a network ends with 2" 2 vt-bench loader -i "$T/flow" --shape 4x2x28
check_says "the message shows what the set has" 'loader reads the stream rgb of 3 channels, which .* \(it has flow\)'
plan
