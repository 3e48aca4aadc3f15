#!/bin/sh
# What measures and checks a GPU (tests/gpu/check, share/gpu), where none is: what it
# refuses, a trial on another back end, and what it makes of the answers of commands
# that only pretend to have a GPU.
# tests/run: weight 4
cd "${0%/*}/.." || exit 2
. tests/lib.sh
unset STANDIN

# ---- without a GPU ----

case $(vt-train --version -v) in
*'cuda devices: none here'*) says='no CUDA device here' ;;
*'cuda devices: '*) says='' ;;
*) says='this build has no CUDA' ;;
esac
if [ -n "$says" ]; then
	check_exit "check-gpu needs a GPU" 2 tests/gpu/check
	check_same "and says so in one line" "check-gpu: $says" "$(cat "$T/err")"
	check_exit "run-all, too" 2 share/gpu/run-all -o "$T/none"
	check_same "in one line" "run-all: $says" "$(cat "$T/err")"
	check "before it makes anything" test ! -e "$T/none"
else
	skip "without a GPU" "there is one"
fi
check_exit "run-all takes options only" 2 share/gpu/run-all all
check_says "of these" 'usage: run-all .-d DEVICE'
check_exit "a device that there is" 2 share/gpu/run-all -d tpu
check_says "one of three" 'run-all: -d tpu \(wanted cuda, cpu or ref\)'
check_exit "parts that there are" 2 share/gpu/run-all -d ref -p steps,stops
check_says "by name" 'run-all: -p: no part stops \(wanted some of checks,'
check_exit "a folder that is new" 2 share/gpu/run-all -d ref -o "$T"
check_says "so that no results are lost" 'is there already'
check_exit "commands that are built" 2 env BUILD="$T" share/gpu/run-all -d ref
check_says "in BUILD" "run-all: no $T/vt-bench"
check_exit "carry wants a folder" 2 share/gpu/carry
check_exit "that is new" 2 share/gpu/carry "$T"
check_exit "PyTorch has its modes" 2 python3 share/gpu/torch_gpu.py --modes=fp16/fast
check_exit "and shapes" 2 python3 share/gpu/torch_gpu.py --shape=8x224

# ---- a trial ----

check_exit "a trial on another back end" 0 env PYTHON=false share/gpu/run-all -d ref -o "$T/trial"
for file in env.txt checks.txt ceilings.tsv steps.tsv loader.tsv runs.tsv torch.tsv summary.txt; do
	check "leaves $file" test -s "$T/trial/$file"
done
check_same "each step has its precision" 'step/tsm_tiny/4x2x24/fp32/clips step/tsm_tiny/4x2x24/fp32-plain/clips ' \
	"$(cut -f1 "$T/trial/steps.tsv" | grep 'tsm_tiny.*clips' | tr '\n' ' ')"
check_same "with one header" 1 "$(grep -c '^#name' "$T/trial/steps.tsv")"
check_same "vt-train ran three times" 'exact 2,fast 2,fast 4,' \
	"$(sed 1d "$T/trial/runs.tsv" | sort | awk '{ printf "%s %s,", $1, $2 }')"
check "PyTorch was skipped, with a line" grep -q 'torch: skipped: false has no PyTorch' "$T/trial/torch.tsv"
if find_torch && "$python" -c 'import torch; torch.amp' 2>/dev/null; then
	check_exit "PyTorch has a step" 0 "$python" share/gpu/torch_gpu.py --device=cpu --net=tsm_tiny --shape=2x2x24 \
		--modes=fp32/eager --warmup=0 --runs=1
	check "of clips a second" grep -q '^torch/tsm_tiny/2x2x24/fp32/eager/clips	clips/s	1	[0-9]' "$T/out"
	check_exit "graphs are a GPU's" 2 "$python" share/gpu/torch_gpu.py --device=cpu --modes=fp16/graph
else
	skip "PyTorch has a step" "no PyTorch"
fi

# ---- commands that pretend ----

P=$T/pretend
mkdir -p "$P/gpu" "$P/tests/tools"
cat >"$P/vt-train" <<'END'
#!/bin/sh
case "$*" in --version*) echo "back ends: cuda (no cuDNN here)"; echo "cuda devices: one that is not there (1 GiB)"; exit ;; esac
case "$*" in *=exact*) rate=450 ;; *) rate=900 ;; esac
printf '#step\tclips_per_s\twait_ms\n1\t1\t5\n2\t1\t5\n3\t%s\t0\n' $rate
exit 75
END
cat >"$P/vt-bench" <<'END'
#!/bin/sh
for o; do
	case $o in --model=*) net=${o#*=} ;; --shape=*) shape=${o#*=} ;; --no-fuse) rate=800 ;; esac
done
case $1 in
step)
	echo "$LD_LIBRARY_PATH" >"${0%/*}/libraries"
	printf '#name\tunit\tn\tmin\tmedian\tp99\tnote\n'
	printf "step/$net/$shape/clips\tclips/s\t1\t1\t${rate:-1000}\t1\t\nstep/$net/$shape/device\tbytes\t1\t1\t20e9\t1\t\n"
	;;
op) [ ! -e "${0%/*}/op-fails" ] || { echo "vt-bench: error: conv1 differs"; exit 1; } ;;
*) printf '#name\nloader/x\n' ;;
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
*/compile) echo "out of memory" >&2; exit 1 ;;
fp16/graph) rate=500 ;;
*) rate=400 ;;
esac
printf "#name\tunit\tn\tmin\tmedian\tp99\tnote\ntorch/$net/$shape/$mode/clips\tclips/s\t1\t1\t$rate\t1\t\n"
END
printf '#!/bin/sh\nexit 0\n' >"$P/tests/tools/makeset"
for name in ops aside gpu_nets gpu_train gpu_whole; do
	printf '#!/bin/sh\n[ "$STANDIN" = no ] || exit 1\necho "ok 1 - %s"\necho 1..1\n' $name >"$P/tests/$name"
done
chmod +x "$P"/* "$P"/*/* "$P/tests/tools/makeset"

check_exit "check-gpu runs the tests" 0 env BUILD="$P" SANITIZER=/nowhere tests/gpu/check ops aside gpu_nets gpu_train gpu_whole
check "with the device for the stand-in" grep -q '^5 passed, 0 failed' "$T/out"
printf '#!/bin/sh\necho "not ok 1 - wrong"\necho 1..1\n' >"$P/tests/ops"
check_exit "and fails when one does" 1 env BUILD="$P" tests/gpu/check ops
printf '#!/bin/sh\necho "ok 1 - right"\necho 1..1\n' >"$P/tests/ops"
: >"$P/op-fails"
check_exit "or an operator of a network is wrong" 1 env BUILD="$P" SANITIZER=/nowhere tests/gpu/check
check "which is shown" grep -q 'conv1 differs' "$T/out"
rm "$P/op-fails"

check_exit "run-all goes on where a part fails, and says so" 1 env BUILD="$P" PYTHON="$P/python" share/gpu/run-all -o "$T/gpu" \
	-p ceilings,steps,torch,loader,exact
check_same "which finds the libraries that PyTorch brings" /with/torch "$(cut -d: -f1 "$P/libraries")"
check_same "vt beside the best of PyTorch, and the floor" \
	'tsm_r50	64x8x224	fp16	1000	500	fp16/graph	2.000	20.000	0.374' \
	"$(grep '^tsm_r50	64x8x224	fp16	' "$T/gpu/summary.txt")"
check_same "plain convolutions beside fused ones" \
	'tsm_r50	64x8x224	fp16-plain	800	500	fp16/graph	1.600	20.000	0.299' \
	"$(grep '^tsm_r50	64x8x224	fp16-plain' "$T/gpu/summary.txt")"
check_same "in each shape" 11 "$(grep -vc '^#' "$T/gpu/summary.txt")"
check "each network beside its own" grep -q '^tsm_r50_nl	32x8x224	fp16	1000	500	fp16/graph	2.000	20.000	-$' "$T/gpu/summary.txt"
check "what has no PyTorch has none" grep -q '^tsm_r50	256x4x158	fp16	1000	-	-	-	20.000	-$' "$T/gpu/summary.txt"
check "fed from JPEG" grep -q '^# fed from JPEG: 0.900 of' "$T/gpu/summary.txt"
check "what exact costs" grep -q '^# exact with bn=8: 0.500 of' "$T/gpu/summary.txt"
check "what failed, and why" grep -q '^# FAILED: torch: tsm_r50 64x8x224 fp16/compile: out of memory' "$T/gpu/summary.txt"
plan
