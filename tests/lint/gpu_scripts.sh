#!/bin/sh
# The command for the first contact with a GPU (tests/gpu/contact/lease) refuses wrong
# options, runs on the ref back end, summarizes commands that imitate a GPU, and leaves no
# process when it is killed.  The calls for a lent machine give the most valuable rows in
# the time of a loan, if each part takes the seconds of parts.tsv.
# tests/run: weight 42
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
unset STANDIN
lease=tests/gpu/contact/lease

# ---- commands that imitate a GPU ----

P=$T/pretend
mkdir -p "$P/gpu" "$P/tests/tools"
cat >"$P/vt-train" <<'END'
#!/bin/sh
case "$*" in --version*) echo "back ends: cuda (no cuDNN here)"; echo "cuda devices: a GPU that is not there (1 GiB)"; exit ;; esac
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
echo "$*" | grep -o 'autotune=[a-z]*' >>"${0%/*}/autotune"
cat "$XDG_CACHE_HOME/vt/choices.tsv" >>"${0%/*}/autotune" 2>/dev/null
printf '#step\tclips_per_s\twait_ms\n1\t1\t5\n2\t1\t5\n3\t%s\t0\n' $rate
[ -z "${SEARCH-}" ] || sleep 30
exit 75
END
cat >"$P/vt-bench" <<'END'
#!/bin/sh
for o; do
	case $o in --model=*) net=${o#*=} ;; --shape=*) shape=${o#*=} ;; *=rule) rate=950 ;; esac
done
printf '#name\tunit\tn\tmin\tmedian\tp99\tnote\n'
case $1 in
step)
	echo "$LD_LIBRARY_PATH" >"${0%/*}/libraries"
	printf "step/$net/$shape/clips\tclips/s\t1\t1\t${rate:-1000}\t1\t\nstep/$net/$shape/device\tbytes\t1\t1\t20e9\t1\t\n"
	mkdir -p "$XDG_CACHE_HOME/vt"
	printf '#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n1\ta GPU that is not there\tc\t1\t-\t1\n' >"$XDG_CACHE_HOME/vt/choices.tsv"
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
printf "#name\tunit\tn\tmin\tmedian\tp99\tnote\nceiling/copy\tGB/s\t1\t1\t${COPY:-4000}\t1\t\nceiling/product/fp16\tTFLOP/s\t1\t1\t800\t1\t\n"
END
cat >"$P/python" <<'END'
#!/bin/sh
case $1 in -) echo /with/torch; exit 0 ;; esac
for o; do
	case $o in --net=*) net=${o#*=} ;; --shape=*) shape=${o#*=} ;; --modes=*) mode=${o#*=} ;; esac
done
case $mode in
bf16/compile) echo "out of memory" >&2; exit 1 ;;
fp16/graph) rate=500 ;;
*) rate=400 ;;
esac
printf "#name\tunit\tn\tmin\tmedian\tp99\tnote\ntorch/$net/$shape/$mode/clips\tclips/s\t1\t1\t$rate\t1\t\n"
END
printf '#!/bin/sh\nmkdir -p "$1"\n' >"$P/tests/tools/makeset"
for name in $(awk -F'\t' '$1 == "cuda" && sub(/^test /, "", $5) { print $5 }' tests/gpu/contact/parts.tsv); do
	printf '#!/bin/sh\n[ "$STANDIN" = no ] || exit 1\necho "ok 1 - %s"\necho 1..1\n' $name >"$P/tests/$name"
done
chmod +x "$P"/* "$P"/*/* "$P/tests/tools/makeset"
# tree DIR: copy the files that lease reads, so that no results of the checkout are read
tree() {
	mkdir -p "$1/tests/gpu"
	cp -r share "$1/"
	cp -r tests/bench "$1/tests/"
	cp -r tests/gpu/contact "$1/tests/gpu/"
	rm -rf "$1/tests/gpu/contact/results"
}

# ---- the calls of a lent machine, rehearsed by a clock that is set forward ----

tree "$T/lent"
cp -r "$P" "$T/lent/build"
CLOCK=$T/lent/clock
export CLOCK
cat >"$T/lent/build/date" <<END
#!/bin/sh
case \$* in +%s) exec cat "\$CLOCK" ;; esac
exec $(command -v date) "\$@"
END
# In the place of session, run the command if the seconds of its part are within the limit.
cat >"$T/lent/build/setsid" <<'END'
#!/bin/sh
limit=$2
shift 2
part=$(sed -n 's/^lease: [a-z]*, after [0-9]* s: //p' err | tail -n 1)
seconds=$(awk -F'\t' -v part="$part" '$1 == "cuda" && $5 == part { print int($3 / (part ~ /^exact/ ? 2 : 1)) }' tests/gpu/contact/parts.tsv)
if [ "$seconds" -gt "$limit" ]; then
	echo $(($(cat "$CLOCK") + limit)) >"$CLOCK"
	exit 124
fi
echo $(($(cat "$CLOCK") + seconds)) >"$CLOCK"
exec "$@"
END
chmod +x "$T/lent/build/date" "$T/lent/build/setsid"
check_exit "lease -h prints the calls" 0 $lease -h
sed -n 's/^| [a-z]* | \([0-9]*\) | \(tar .*\) |$/\1 \2/p' "$T/out" >"$T/calls"
check_same "lease -h prints each call of parts.tsv, in its order" "$(awk -F'\t' '$1 == "cuda" && !seen[$2]++ { print $2 }' tests/gpu/contact/parts.tsv)" \
	"$(sed 's/.* //' "$T/calls")"
echo 120 >"$CLOCK"		# the start of the machine
while read -r seconds command; do
	began=$(cat "$CLOCK")
	(
		cd "$T/lent" || exit 2
		export PATH="$T/lent/build:$PATH" PYTHON="$T/lent/build/python" OUT="$T/lent/out"
		env -u BUILD sh -c "${command#*/tmp/vt-gpu/}" >>said 2>err </dev/null
	)
	now=$(cat "$CLOCK")
	check "rehearsal: ${command##* } ends 10 s before its time limit of $seconds s" test $((now - began + 10)) -le "$seconds"
	echo $((now + 10)) >"$CLOCK"	# transfers
done <"$T/calls"
diag "the calls take $(cat "$CLOCK") s"
check "rehearsal: the calls take at most 900 s" test "$(cat "$CLOCK")" -le 900
# has CALL REGEX...: check that the summary of CALL has these rows
has() {
	of=$1
	shift
	for row; do
		check "rehearsal: the summary of $of has the row $row" grep -qE "^$row	" "$T/lent/out/$of/summary.txt"
	done
}
has right gpu_nets gpu_graphs gpu_link exact-fp16 exact-bf16 gpu_train
has fast 'tsm_r50	64x8x224	fp16-rule' 'tsm_r50	64x8x224	fp16' 'tsm_r50	64x8x224	bf16' bn1/forward
has torch 'tsm_r50	64x8x224	fp16/graph' 'tsm_r50	64x8x224	bf16/graph' 'tsm_r50	64x8x224	fp16/compile'
has train 'curve in fp16, largest.*' 'curve in bf16, largest.*' 'curve in fp32, largest.*' 'fed from JPEG, .*'

# ---- without a GPU ----

case $(vt-train --version -v) in
*'cuda devices: none here'*) says='no CUDA device here' ;;
*'cuda devices: '*) says='' ;;
*) says='this build has no CUDA' ;;
esac
if [ -n "$says" ]; then
	check_exit "lease exits with 2 without a GPU" 2 $lease -o "$T/none"
	check_same "lease reports the missing GPU in one line" "lease: $says" "$(cat "$T/err")"
	check "lease makes no folder without a GPU" test ! -e "$T/none"
else
	skip "lease exits with 2 without a GPU" "there is one"
fi
check_message "lease refuses an unknown device" 2 "lease: -d tpu \\(wanted cuda, cpu or ref\\)" $lease -d tpu
check_message "lease refuses a time that is not a number" 2 "lease: -t soon \\(wanted seconds\\)" $lease -d ref -t soon
mkdir "$T/right"
check_message "lease refuses an output folder that exists" 2 "$T/right exists already" $lease -d ref -o "$T" fast right
check "lease starts no call if the folder of another one exists" test ! -e "$T/fast"
check_message "lease refuses a build without vt-bench" 2 "lease: no $T/vt-bench" env BUILD="$T" $lease -d ref
check_message "lease refuses an unknown option" 2 "^usage: lease .-d DEVICE[^:]*$" $lease -x
check_exit "lease refuses an unknown part" 2 $lease -d ref -o "$T/none" exact oops
check_says "lease names the unknown part" 'lease: there is no part oops \(see parts.tsv\)'
check "lease makes no folder for an unknown part" test ! -e "$T/none"
check_exit "carry refuses a missing argument" 2 tests/gpu/contact/carry
check_exit "carry refuses a folder that exists" 2 tests/gpu/contact/carry "$T"
check_exit "torch_gpu.py refuses an unknown mode" 2 python3 tests/gpu/contact/torch_gpu.py --modes=fp16/fast
check_exit "torch_gpu.py refuses a shape without clips" 2 python3 tests/gpu/contact/torch_gpu.py --shape=8x224
check_same "the archive's program has the tests of parts.tsv" "$(sed -n 's/^GPU_TESTS *= *//p' tests/build.mk | tr ' ' '\n' | sort)" \
	"$(awk -F'\t' 'sub(/^test /, "", $5) { print $5 }' tests/gpu/contact/parts.tsv | sort -u)"

# ---- a trial ----

# results DIR FILE...: check that DIR holds exactly these files, at most eight
results() {
	where=$1
	shift
	check_same "${where##*/} writes exactly its result files" "$(printf '%s\n' "$@" | sort)" "$(ls "$where")"
	check "${where##*/} writes at most eight files" test $# -le 8
	for file; do
		case $file in
		choices.tsv) ;;
		*.tsv | summary.txt) check "${where##*/}/$file names the GPU" grep -q '^# GPU: ' "$where/$file" ;;
		esac
	done
}
kept_before=$(ls tests/gpu/contact/results)
check_exit "lease runs on ref" 0 $lease -d ref -o "$T/ref" gpu_whole exact op fast train
R=$T/ref
results "$R/right" env.txt checks.txt op.tsv summary.txt
check_same "the summary of right has a line for each part" 'gpu_whole passed,exact-fp32 passed,op-tsn_tiny-1x1x24-fp32 passed,' \
	"$(awk -F'\t' '!/^#/ { printf "%s %s,", $1, $2 }' "$R/right/summary.txt")"
results "$R/fast" env.txt ceilings.tsv op.tsv steps.tsv summary.txt
check_same "fast names precision and choice of algorithms of each step" 'step/tsm_tiny/4x2x24/fp32-rule/clips step/tsm_tiny/2x2x24/fp32/clips ' \
	"$(cut -f1 "$R/fast/steps.tsv" | grep 'tsm_tiny.*clips' | tr '\n' ' ')"
check_same "fast writes one header" 1 "$(grep -c '^#name' "$R/fast/steps.tsv")"
check "fast compares operators with their ceiling" grep -qE '^layer1.0.conv1/backward	[0-9.]+	[0-9.]+	GF/s	[0-9.]+$' "$R/fast/summary.txt"
results "$R/train" env.txt losses.tsv loader.tsv runs.tsv summary.txt
check_same "train runs vt-train three times, and the step alone" 'exact 2,fast 2,fast 4,step 4,' \
	"$(grep -v '^#' "$R/train/runs.tsv" | sort | awk '{ printf "%s %s,", $1, $2 }')"
check_same "train writes the loss of each step" 20 "$(grep -c '^fp32	' "$R/train/losses.tsv")"
check_same "results of ref are not kept for later calls" "$kept_before" "$(ls tests/gpu/contact/results)"
if find_torch && "$python" -c 'import torch; torch.amp' 2>/dev/null; then
	check_exit "torch runs on the cpu" 0 env PYTHON="$python" $lease -d ref -o "$R" torch
	results "$R/torch" env.txt torch.tsv summary.txt
	check "torch writes clips per second" grep -q '^torch/tsm_tiny/2x2x24/fp32/eager/clips	clips/s	1	[0-9]' "$R/torch/torch.tsv"
	check "the summary of torch names the mode" grep -qE '^tsm_tiny	2x2x24	fp32/eager	[0-9.]+	' "$R/torch/summary.txt"
	check_exit "torch_gpu.py refuses graphs without a GPU" 2 "$python" tests/gpu/contact/torch_gpu.py --device=cpu --modes=fp16/graph
else
	skip "torch runs on the cpu" "no PyTorch"
fi

# ---- summaries of commands that imitate a GPU ----

printf '#!/bin/sh\necho "ok 1 - right"\necho "not ok 2 - conv 3x3 in fp16"\necho "# conv1: engine 12"\necho 1..2\n' >"$P/tests/gpu_nets"
printf '#!/bin/sh\necho "ok 1 - right"\necho "a launch failed" >&2\nexit 3\n' >"$P/tests/gpu_graphs"
tree "$T/tree"
gpu() {
	env BUILD="$P" PYTHON="$P/python" "$T/tree/$lease" "$@"
}
kept=$T/tree/tests/gpu/contact/results
check_exit "right continues after a part that fails, and exits with 1" 1 gpu -o "$T/r" right
cp "$T/out" "$T/said"
check_same "the summary of right says of each part whether it passed" \
	'gpu_nets FAILED,gpu_graphs FAILED,gpu_link passed,exact-fp16 FAILED,exact-bf16 passed,gpu_train passed,ops passed,exact-fp32 passed,gpu_ahead passed,gpu_judge passed,gpu_whole passed,aside passed,' \
	"$(awk -F'\t' '!/^#/ && !/^op-/ { printf "%s %s,", $1, $2 }' "$T/r/right/summary.txt")"
check "the summary names a test that failed" grep -q '^# FAILED: gpu_nets: not ok 2 - conv 3x3 in fp16' "$T/r/right/summary.txt"
check "right prints the shape and the engine of a failed test" grep -q '^# conv1: engine 12' "$T/said"
check "the summary has the message of a test that ended early" grep -q '^# FAILED: gpu_graphs: a launch failed' "$T/r/right/summary.txt"
check "right detects runs with different weights" grep -q '^# FAILED: exact-fp16: two runs give different weights' "$T/r/right/summary.txt"
check "right detects an operator that differs" grep -q '^# FAILED: op-resnet50-3x1x224-bf16: vt-bench: error: conv1 differs' \
	"$T/r/right/summary.txt"
check_exit "lease runs the parts that are named" 0 gpu -o "$T/r2" ops gpu_train
check_same "lease runs no other parts" 'gpu_train,ops,' "$(awk -F'\t' '!/^#/ { printf "%s,", $1 }' "$T/r2/right/summary.txt")"

# fast compares with PyTorch on the same GPU only.
mkdir -p "$kept/2000/torch"
printf '# GPU: another\n#name\ntorch/tsm_r50/64x8x224/fp16/graph/clips\tclips/s\t1\t1\t500\t1\t\n' >"$kept/2000/torch/torch.tsv"
check_exit "fast needs no PyTorch" 0 gpu -o "$T/f" fast
check_same "fast uses the libraries that PyTorch brings" /with/torch "$(cut -d: -f1 "$P/libraries")"
check_same "the first step is by rule" 'step/tsm_r50/64x8x224/fp16-rule/clips' "$(grep -m 1 -o '^step/[^	]*clips' "$T/f/fast/steps.tsv")"
check_same "fast expects a rate that follows from the copies, and prints a dash for figures of another GPU" \
	'tsm_r50	64x8x224	fp16	1000	950 (856 to 1043)	-	-	-	20.000	0.374' \
	"$(grep '^tsm_r50	64x8x224	fp16	' "$T/f/fast/summary.txt")"
check "fast says whose figures it does not compare with" \
	grep -qx '# torch.tsv: only of another, none of a GPU that is not there to compare with' "$T/f/fast/summary.txt"
results "$T/f/fast" env.txt ceilings.tsv op.tsv steps.tsv choices.tsv summary.txt
check "fast gives an operator's share of the bandwidth" grep -q '^bn1/forward	6	3000	GB/s	0.750$' "$T/f/fast/summary.txt"
check_exit "torch continues after a mode that fails, and exits with 1" 1 gpu -o "$T/p" torch
check_same "the summary of torch shows the fastest mode first" 'tsm_r50	64x8x224	fp16/graph	500	0.0' \
	"$(grep -m 1 '^tsm_r50	64' "$T/p/torch/summary.txt")"
check "the summary of torch names the mode that failed" grep -q '^# FAILED: tsm_r50 at 64x8x224 in bf16/compile: out of memory' "$T/p/torch/summary.txt"
check_same "torch compares with the steps of fast" 'tsm_r50	64x8x224	fp16	1000	950 (856 to 1043)	500	fp16/graph	2.000	20.000	0.374' \
	"$(grep '^tsm_r50	64x8x224	fp16	1000' "$T/p/torch/summary.txt")"
check_exit "fast runs with slower copies" 0 env COPY=3000 BUILD="$P" PYTHON="$P/python" "$T/tree/$lease" -o "$T/f2" ceilings step
check_same "slower copies give a lower expected rate, and torch.tsv of this GPU a ratio" \
	'tsm_r50	64x8x224	fp16-rule	950	-	500	fp16/graph	1.900	20.000	0.474' \
	"$(grep '^tsm_r50	64x8x224	fp16-rule' "$T/f2/fast/summary.txt")"
check "the expected rate falls with the copies" grep -q '^tsm_r50	64x8x224	fp16	1000	712 (642 to 782)	' "$T/f2/fast/summary.txt"
: >"$P/autotune"
check_exit "train detects a wrong loss curve" 1 gpu -o "$T/t" train
check_same "the summary of train names the precision of the wrong curve" '# FAILED: curve in bf16: 0.3000' "$(grep FAILED "$T/t/train/summary.txt")"
check "the summary of train compares training from JPEG with the step alone" grep -q '^fed from JPEG, of the step alone	0.900	0.95$' "$T/t/train/summary.txt"
check "the summary of train has the cost of --deterministic=exact" grep -q '^exact, of fast, bn=8	0.500	0.85$' "$T/t/train/summary.txt"
check_same "train starts with the algorithms that fast found on this GPU" 'autotune=fastest,1	a GPU that is not there' \
	"$(sed -n '1p;3s/	c.*//p' "$P/autotune" | paste -s -d ,)"
sed -i 's/a GPU that is not there/another/' "$kept"/*/*/choices.tsv
: >"$P/autotune"
check_exit "a run that is stopped after its time fails" 1 env SEARCH=yes BUILD="$P" PYTHON="$P/python" "$T/tree/$lease" -t 3 -o "$T/t2" fed
check "the run that was stopped gives a row" grep -q '^fast	64	900	0$' "$T/t2/train/runs.tsv"
check_same "train takes no algorithms of another GPU, but the rule" 'autotune=rule' "$(sort -u "$P/autotune")"

# ---- commands that are stopped ----

# It starts a second process in a process group of its own, as tests of commands do.
mark=9$$
printf '#!/bin/sh\necho "ok 1 - begun"\ntimeout 900 sleep %s & sleep %s\n' $mark $mark >"$P/tests/gpu_ahead"
sleepers() {
	pgrep -f "sleep $mark" | wc -l
}
none_left() {
	[ "$(sleepers)" = 0 ]
}
at_work() {
	[ "$(sleepers)" -ge 3 ]
}
# gone_soon: succeed if no sleeper is left within 2 s
gone_soon() {
	for tried in 1 2 3 4 5 6 7 8; do
		none_left && return
		sleep 0.25
	done
	none_left
}
# begin_sleepers NAME: start lease in a session of its own, and wait for the part that
# never ends
begin_sleepers() {
	setsid env BUILD="$P" PYTHON="$P/python" "$T/tree/$lease" -o "$T/$1" gpu_train gpu_ahead >"$T/out" 2>"$T/err" &
	pid=$!
	check "$1: a part that never ends is running" await at_work
}
if command -v pgrep >/dev/null; then
	check_exit "a part that never ends is stopped at the time limit" 1 gpu -t 5 -o "$T/late" gpu_train gpu_ahead aside
	check_same "the processes of the stopped part are stopped, too" 0 "$(sleepers)"
	check "the summary names the stopped part" grep -q '^# FAILED: gpu_ahead: stopped after its time' "$T/late/right/summary.txt"
	check "the summary names parts for which no time was left" grep -q '^# FAILED: no time was left for test aside$' "$T/late/right/summary.txt"
	check "the summary has the results before the stopped part" grep -q '^gpu_train	passed' "$T/late/right/summary.txt"
	begin_sleepers stopped
	kill -TERM $pid
	wait $pid
	check_same "a command that is stopped exits with 143" 143 "$?"
	check_same "a stopped command leaves no processes" 0 "$(sleepers)"
	check "the summary of a stopped command has the results so far" grep -q '^gpu_train	passed' "$T/stopped/right/summary.txt"
	check "the summary of a stopped command names the signal" grep -q '^# FAILED: stopped by a signal' "$T/stopped/right/summary.txt"
	begin_sleepers killed
	kill -KILL $pid
	check "a killed command leaves no processes" gone_soon
	check "the summary of a killed command has the results so far" grep -q '^gpu_train	passed' "$T/killed/right/summary.txt"
	begin_sleepers group
	kill -KILL -$pid
	check "a killed process group leaves no processes" gone_soon
	begin_sleepers part
	kill -KILL "$(pgrep -f "session [0-9]* $P/tests/gpu_ahead" | head -n 1)"
	check "a part whose session is killed leaves no processes" gone_soon
	wait $pid
	pkill -KILL -f "sleep $mark"
else
	skip "a part that never ends is stopped at the time limit" "no pgrep"
fi

plan
