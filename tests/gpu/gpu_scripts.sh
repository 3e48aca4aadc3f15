#!/bin/sh
# The four commands for the first contact with a GPU (tests/gpu/contact) refuse wrong
# options, run on the ref back end, and report parts that fail or are stopped.  They also
# summarize the output of commands that imitate a GPU.
# tests/run: weight 24
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
unset STANDIN

# ---- without a GPU ----

case $(vt-train --version -v) in
*'cuda devices: none here'*) says='no CUDA device here' ;;
*'cuda devices: '*) says='' ;;
*) says='this build has no CUDA' ;;
esac
for command in right fast torch train; do
	if [ -n "$says" ]; then
		check_exit "$command exits with 2 without a GPU" 2 tests/gpu/contact/$command -o "$T/none"
		check_same "$command reports the missing GPU in one line" "$command: $says" "$(cat "$T/err")"
		check "$command makes no folder without a GPU" test ! -e "$T/none"
	else
		skip "$command exits with 2 without a GPU" "there is one"
	fi
	check_exit "$command refuses an unknown device" 2 tests/gpu/contact/$command -d tpu
	check_says "$command lists the devices that it accepts" "$command: -d tpu \\(wanted cuda, cpu or ref\\)"
	check_exit "$command refuses a time that is not a number" 2 tests/gpu/contact/$command -d ref -t soon
	check_says "$command names the unit of -t" "$command: -t soon \\(wanted seconds\\)"
	check_exit "$command refuses an output folder that exists" 2 env PYTHON=true tests/gpu/contact/$command -d ref -o "$T"
	check_says "$command reports that the folder exists" 'exists already'
	check_exit "$command refuses a build without vt-bench" 2 env BUILD="$T" tests/gpu/contact/$command -d ref
	check_says "$command names the missing vt-bench" "$command: no $T/vt-bench"
	check_exit "$command refuses an unknown option" 2 tests/gpu/contact/$command -x
	check_says "$command prints its usage in one line" "^usage: $command .-d DEVICE[^:]*$"
done
check_exit "torch exits with 2 without PyTorch" 2 env PYTHON=false tests/gpu/contact/torch -d ref -o "$T/none"
check_says "torch names the variable that selects a Python" 'torch: false has no PyTorch \(PYTHON names another\)'
check "torch makes no folder without PyTorch" test ! -e "$T/none"
check_exit "carry refuses a missing argument" 2 tests/gpu/contact/carry
check_exit "carry refuses a folder that exists" 2 tests/gpu/contact/carry "$T"
check_exit "torch_gpu.py refuses an unknown mode" 2 python3 tests/gpu/contact/torch_gpu.py --modes=fp16/fast
check_exit "torch_gpu.py refuses a shape without clips" 2 python3 tests/gpu/contact/torch_gpu.py --shape=8x224

# ---- a trial ----

# results DIR FILE...: check that DIR holds exactly these files, at most six
results() {
	where=$1
	shift
	check_same "${where##*/} writes exactly its result files" "$(printf '%s\n' "$@" | sort)" "$(ls "$where")"
	check "${where##*/} writes at most six files" test $# -le 6
}
check_exit "right runs on ref" 0 tests/gpu/contact/right -d ref -o "$T/right" gpu_whole exact op
results "$T/right" env.txt checks.txt op.tsv summary.txt
check_same "the summary of right has a line for each part" 'gpu_whole passed,exact-fp32 passed,op-tsn_tiny-1x1x24-fp32 passed,' \
	"$(awk -F'\t' '!/^#/ { printf "%s %s,", $1, $2 }' "$T/right/summary.txt")"
check_exit "fast runs on ref" 0 tests/gpu/contact/fast -d ref -o "$T/fast"
results "$T/fast" env.txt ceilings.tsv op.tsv steps.tsv summary.txt
check_same "fast names the precision of each step" 'step/tsm_tiny/4x2x24/fp32/clips step/tsm_tiny/2x2x24/fp32/clips ' \
	"$(cut -f1 "$T/fast/steps.tsv" | grep 'tsm_tiny.*clips' | tr '\n' ' ')"
check_same "fast writes one header" 1 "$(grep -c '^#name' "$T/fast/steps.tsv")"
check "fast compares operators with their ceiling" grep -qE '^layer1.0.conv1/backward	[0-9.]+	[0-9.]+	GF/s	[0-9.]+$' "$T/fast/summary.txt"
check_exit "train runs on ref" 0 tests/gpu/contact/train -d ref -o "$T/train"
results "$T/train" env.txt losses.tsv loader.tsv runs.tsv summary.txt
check_same "train runs vt-train three times, and the step alone" 'exact 2,fast 2,fast 4,step 4,' \
	"$(sed 1d "$T/train/runs.tsv" | sort | awk '{ printf "%s %s,", $1, $2 }')"
check_same "train writes the loss of each step" 20 "$(grep -c '^fp32	' "$T/train/losses.tsv")"
if find_torch && "$python" -c 'import torch; torch.amp' 2>/dev/null; then
	check_exit "torch runs on the cpu" 0 env PYTHON="$python" tests/gpu/contact/torch -d ref -o "$T/torch"
	results "$T/torch" env.txt torch.tsv summary.txt
	check "torch writes clips per second" grep -q '^torch/tsm_tiny/2x2x24/fp32/eager/clips	clips/s	1	[0-9]' "$T/torch/torch.tsv"
	check "the summary of torch names the mode" grep -qE '^tsm_tiny	2x2x24	fp32/eager	[0-9.]+	' "$T/torch/summary.txt"
	check_exit "torch_gpu.py refuses graphs without a GPU" 2 "$python" tests/gpu/contact/torch_gpu.py --device=cpu --modes=fp16/graph
else
	skip "torch runs on the cpu" "no PyTorch"
fi

# ---- commands that imitate a GPU ----

P=$T/pretend
mkdir -p "$P/gpu" "$P/tests/tools"
cat >"$P/vt-train" <<'END'
#!/bin/sh
case "$*" in --version*) echo "back ends: cuda (no cuDNN here)"; echo "cuda devices: one that is not there (1 GiB)"; exit ;; esac
precision=$(echo "$*" | sed 's/.*--precision[ =]\([a-z0-9]*\).*/\1/')
rate=900
case "$*" in
*--seed*)
	printf '#step\tloss\n'
	case $precision in bf16) wrong=1.3 ;; *) wrong=1 ;; esac
	awk -F'\t' -v wrong=$wrong \
		'$1 == "whole" { print $2 "\t" $3 * ($2 > 20 ? wrong : 1) }' tests/gpu/contact/curves.tsv
	exit
	;;
*=exact*--loader-threads*) rate=450 ;;
*--loader-threads*) ;;
*)
	while [ $# -gt 1 ]; do
		[ "$1" != -o ] || out=$2
		shift
	done
	mkdir -p "$out"
	echo $precision >"$out/final.safetensors"
	case $out in *fp16-b) echo other >"$out/final.safetensors" ;; esac
	exit
	;;
esac
printf '#step\tclips_per_s\twait_ms\n1\t1\t5\n2\t1\t5\n3\t%s\t0\n' $rate
exit 75
END
cat >"$P/vt-bench" <<'END'
#!/bin/sh
for o; do
	case $o in --model=*) net=${o#*=} ;; --shape=*) shapes="$shapes ${o#*=}" ;; --no-fuse) rate=800 ;; esac
done
printf '#name\tunit\tn\tmin\tmedian\tp99\tnote\n'
case $1 in
step)
	echo "$LD_LIBRARY_PATH" >"${0%/*}/libraries"
	for shape in $shapes; do
		printf "step/$net/$shape/clips\tclips/s\t1\t1\t${rate:-1000}\t1\t\nstep/$net/$shape/device\tbytes\t1\t1\t20e9\t1\t\n"
	done
	;;
op)
	printf "op/$net/a/bn1/forward\tms\t1\t1\t2\t1\t3 of bn\nop/$net/a/bn1/forward/rate\tGB/s\t1\t1\t3000\t1\t\n"
	printf "op/$net/a/bn1/difference\trelative\t1\t1\t1e-5\t1\t\n"
	case $net in resnet50) echo "vt-bench: error: conv1 differs" >&2; exit 1 ;; esac
	;;
esac
END
cat >"$P/gpu/ceilings" <<'END'
#!/bin/sh
printf '#name\tunit\tn\tmin\tmedian\tp99\tnote\nceiling/copy\tGB/s\t1\t1\t4000\t1\t\nceiling/product/fp16\tTFLOP/s\t1\t1\t800\t1\t\n'
END
cat >"$P/python" <<'END'
#!/bin/sh
case $1 in -c) exit 0 ;; -) echo /with/torch; exit 0 ;; esac
for o; do
	case $o in --net=*) net=${o#*=} ;; --shape=*) shape=${o#*=} ;; --modes=*) mode=${o#*=} ;; esac
done
case $mode in
fp16/compile) echo "out of memory" >&2; exit 1 ;;
fp16/graph) rate=500 ;;
*) rate=400 ;;
esac
printf "#name\tunit\tn\tmin\tmedian\tp99\tnote\ntorch/$net/$shape/$mode/clips\tclips/s\t1\t1\t$rate\t1\t\n"
END
printf '#!/bin/sh\nmkdir -p "$1"\n' >"$P/tests/tools/makeset"
for name in ops gpu_nets gpu_graphs gpu_ahead gpu_judge gpu_train gpu_whole aside; do
	printf '#!/bin/sh\n[ "$STANDIN" = no ] || exit 1\necho "ok 1 - %s"\necho 1..1\n' $name >"$P/tests/$name"
done
printf '#!/bin/sh\necho "ok 1 - right"\necho "not ok 2 - conv 3x3 in fp16"\necho "# conv1: engine 12"\necho 1..2\n' >"$P/tests/gpu_nets"
printf '#!/bin/sh\necho "ok 1 - right"\necho "a launch failed" >&2\nexit 3\n' >"$P/tests/gpu_graphs"
chmod +x "$P"/* "$P"/*/* "$P/tests/tools/makeset"

# Run a copy, so that no results of the checkout are read.
mkdir -p "$T/tree/tests/gpu"
cp -r share "$T/tree/"
cp -r tests/bench "$T/tree/tests/"
cp -r tests/gpu/contact "$T/tree/tests/gpu/"
rm -rf "$T/tree/tests/gpu/contact/results"
gpu() {
	command=$1
	shift
	env BUILD="$P" PYTHON="$P/python" "$T/tree/tests/gpu/contact/$command" "$@"
}
check_exit "right continues after a part that fails, and exits with 1" 1 gpu right -o "$T/r"
cp "$T/out" "$T/said"
check_same "the summary of right says of each part whether it passed" \
	'ops passed,gpu_nets FAILED,gpu_graphs FAILED,gpu_ahead passed,gpu_judge passed,gpu_train passed,gpu_whole passed,aside passed,exact-fp32 passed,exact-bf16 passed,exact-fp16 FAILED,' \
	"$(awk -F'\t' '!/^#/ && !/^op-/ { printf "%s %s,", $1, $2 }' "$T/r/summary.txt")"
check "the summary names a test that failed" grep -q '^# FAILED: gpu_nets: not ok 2 - conv 3x3 in fp16' "$T/r/summary.txt"
check "right prints the shape and the engine of a failed test" grep -q '^# conv1: engine 12' "$T/said"
check "the summary has the message of a test that ended early" grep -q '^# FAILED: gpu_graphs: a launch failed' "$T/r/summary.txt"
check "right detects runs with different weights" grep -q '^# FAILED: exact-fp16: two runs give different weights' "$T/r/summary.txt"
check "right detects an operator that differs" grep -q '^# FAILED: op-resnet50-3x1x224-bf16: vt-bench: error: conv1 differs' \
	"$T/r/summary.txt"
check_exit "right runs the parts that are named" 0 gpu right -o "$T/r2" ops gpu_train
check_same "right runs no other parts" 'ops,gpu_train,' "$(awk -F'\t' '!/^#/ { printf "%s,", $1 }' "$T/r2/summary.txt")"
check_exit "right refuses an unknown part" 2 gpu right -o "$T/r3" ops oops
check_says "right names the unknown part" 'right: there is no part oops \(wanted a test, exact or op\)'
check "right makes no folder for an unknown part" test ! -e "$T/r3"
check_exit "torch continues after a mode that fails, and exits with 1" 1 gpu torch -o "$T/tree/tests/gpu/contact/results/1"
check_same "the summary of torch shows the fastest mode first" 'tsm_r50	64x8x224	fp16/graph	500	0.0' \
	"$(sed -n 2p "$T/tree/tests/gpu/contact/results/1/summary.txt")"
check "the summary of torch names the mode that failed" grep -q '^# FAILED: fp16/compile: out of memory' "$T/tree/tests/gpu/contact/results/1/summary.txt"
check_exit "fast needs no PyTorch" 0 gpu fast -o "$T/f"
check_same "fast uses the libraries that PyTorch brings" /with/torch "$(cut -d: -f1 "$P/libraries")"
check_same "fast compares with the last figures of torch, the expected rate, and the floor" \
	'tsm_r50	64x8x224	fp16	1000	1150	500	fp16/graph	2.000	20.000	0.374' \
	"$(grep '^tsm_r50	64x8x224	fp16	' "$T/f/summary.txt")"
check_same "fast measures unfused convolutions, too" \
	'tsm_r50	64x8x224	fp16-plain	800	1020	500	fp16/graph	1.600	20.000	0.299' \
	"$(grep '^tsm_r50	64x8x224	fp16-plain' "$T/f/summary.txt")"
check "fast prints a dash if there is no figure of torch" grep -q '^tsm_r50	256x4x158	fp16	1000	-	-	-	-	20.000	-$' "$T/f/summary.txt"
check "fast gives an operator's share of the bandwidth" grep -q '^bn1/forward	6	3000	GB/s	0.750$' "$T/f/summary.txt"
check_exit "train detects a wrong loss curve" 1 gpu train -o "$T/t"
check_same "the summary of train names the precision of the wrong curve" '# FAILED: curve in bf16: 0.3000' "$(grep FAILED "$T/t/summary.txt")"
check "the summary of train compares training from JPEG with the step alone" grep -q '^fed from JPEG, of the step alone	0.900	0.95$' "$T/t/summary.txt"
check "the summary of train has the cost of --deterministic=exact" grep -q '^exact, of fast, bn=8	0.500	0.85$' "$T/t/summary.txt"

# ---- commands that are stopped ----

# sleepers: count the processes of the part that never ends
sleepers() {
	pgrep -f "sleep 98765[4]" | wc -l
}
# It starts a second process under its own timeout, as tests of commands do.
printf '#!/bin/sh\necho "ok 1 - begun"\ntimeout 900 sleep 987654 & sleep 987654\n' >"$P/tests/gpu_ahead"
if command -v pgrep >/dev/null; then
	check_exit "a part that never ends is stopped at its time limit" 1 gpu right -t 17 -o "$T/late" ops gpu_ahead aside
	check_same "the processes of the stopped part are stopped, too" 0 "$(sleepers)"
	check "the summary names the stopped part" grep -q '^# FAILED: gpu_ahead: stopped after its time' "$T/late/summary.txt"
	check "the summary names parts for which no time was left" grep -q '^# FAILED: aside: ' "$T/late/summary.txt"
	check "the summary has the results before the stopped part" grep -q '^ops	passed' "$T/late/summary.txt"
	gpu right -o "$T/stopped" ops gpu_ahead >"$T/out" 2>"$T/err" &
	at_work() {
		[ "$(sleepers)" != 0 ]
	}
	check "a part that never ends is running" await at_work
	pkill -TERM -f "tests/gpu/contact/right -o $T/stopped"
	wait $!
	check_same "a command that is stopped exits with 143" 143 "$?"
	check_same "a stopped command leaves no processes" 0 "$(sleepers)"
	check "the summary of a stopped command has the results so far" grep -q '^ops	passed' "$T/stopped/summary.txt"
	check "the summary of a stopped command names the signal" grep -q '^# FAILED: stopped by a signal' "$T/stopped/summary.txt"
else
	skip "a part that never ends is stopped at its time limit" "no pgrep"
fi
plan
