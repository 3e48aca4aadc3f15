#!/bin/sh
# The memory that vt-train -n plans is what a run takes, with validations and
# checkpoints, a plan that does not fit is refused, and the peak memory of a run is
# its own, not that of its launcher.
# tests/run: weight 18
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 16 5 128 112 1 && "$MAKESET" "$T/val" 8 5 128 112 2 || skip_all "no test set"

# Much memory and little work. One output is recomputed for the backward pass.
cat >"$T/wide.net" <<'NET'
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=16 k=1,1
bn       bn1      in=conv1
relu     relu1    in=bn1
conv     conv2    in=relu1 out=16 k=1,1
bn       bn2      in=conv2
relu     relu     in=bn2
avgpool  avgpool  in=relu over=hw
linear   fc       in=avgpool out=classes std=0.1
avgpool  scores   in=fc over=t
NET
# Many parameters, so that the snapshot and the gradients count.
cat >"$T/deep.net" <<'NET'
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=16 k=1,1 s=8,8
avgpool  avgpool  in=conv1 over=hw
linear   a        in=avgpool out=2048 std=0.01
linear   b        in=a out=2048 std=0.01
linear   fc       in=b out=classes std=0.1
avgpool  scores   in=fc over=t
NET
tab=$(printf '\t')
stages '0 0 1 0 16 4 112 8 0.001 0 0' >"$T/s.tsv"
stages '0 0 1 0 8 1 16 2 0.001 0 0' >"$T/small.tsv"
stages '0 0 1 0 16 1024 2000 8 0.001 0 0' >"$T/vast.tsv"

# bytes: print the bytes of the line "# memory of rank 0 123.4 MiB".
bytes() {
	awk '/^# memory of rank 0 / { print $6 * ($7 == "GiB" ? 1024 : 1) * 1048576 }' "$T/plan"
}
for device in ref cpu; do
	if [ $device = cpu ] && ! built oneDNN; then
		skip "cpu: memory" "built without oneDNN"
		continue
	fi
	if grep -q -e -fsanitize "$BUILD/flags"; then
		skip "$device: memory" "a sanitizer has its own"
		continue
	fi
	for np in 1 2; do
		launch=
		[ $np = 1 ] || launch="mpirun -np $np"
		if [ $np != 1 ] && ! have_mpi; then
			skip "$device: memory, $np ranks" "no mpirun, or built without MPI"
			continue
		fi
		for net in wide deep; do
			schedule=s
			[ $net = wide ] || schedule=small
			options="-i $T/train --val $T/val -m $T/$net.net --schedule $T/$schedule.tsv --device $device
				--loader-memory 16M -j 1 --seed 1"
			rm -rf "$T/run"
			# shellcheck disable=SC2086
			$launch "$BUILD/vt-train" -n $options >"$T/plan" 2>"$T/err" || diag "$(cat "$T/err")"
			# shellcheck disable=SC2086
			check_exit "$device, $np ranks, $net: a run with validations and checkpoints" 0 $launch "$BUILD/vt-train" \
				$options -q --save-steps 1 --val-every 0.3 -o "$T/run"
			peak=$(jq -r 'select(.type == "end").peak_memory' "$T/run/log.jsonl")
			check "$device, $np ranks, $net: took $peak bytes, within 5 % of the $(bytes) planned" \
				awk -v a="$(bytes)" -v b="$peak" 'BEGIN { exit !(a > 0 && b > a * 0.95 && b < a * 1.05) }'
		done
	done
done
if have_mpi; then
	mpirun -np 2 "$BUILD/vt-train" -n -i "$T/train" -m "$T/deep.net" --schedule "$T/small.tsv" --device ref -j 1 \
		>"$T/plan" 2>"$T/err" || diag "$(cat "$T/err")"
	check "the plan of two ranks shows the memory of each" grep -q '^# of rank 1 ' "$T/plan"
	check_same "each of two ranks plans half of the momentum" \
		"$(vt-train -n -i "$T/train" -m "$T/deep.net" \
		--schedule "$T/small.tsv" --device ref -j 1 | awk '/^# momentum/ { printf "%.2g", $3 / 2 }')" \
		"$(awk '/^# momentum/ { printf "%.2g", $3 }' "$T/plan")"
else
	skip "the plan of two ranks" "no mpirun, or built without MPI"
fi

# The kernel's ru_maxrss keeps the peak of a program that becomes another one.
if grep -q -e -fsanitize "$BUILD/flags"; then
	skip "the memory of a launcher" "a sanitizer has its own"
else
	check_exit "a run that a launcher of 400 MiB starts" 0 "$BUILD/tests/tools/large" 400 \
		"$BUILD/vt-train" -q -i "$T/train" -m "$T/deep.net" --schedule "$T/small.tsv" --device ref \
		-j 1 --loader-memory 16M --log-every 1 -o "$T/launched"
	check_same "no line of the log counts the launcher's memory" "end step" \
		"$(jq -r 'select(.peak_memory > 1e6 and .peak_memory < 4e8).type' "$T/launched/log.jsonl" |
		sort -u | paste -s -d ' ' -)"
	# vt-train -n and vt-eval name their own options.
	check_exit "vt-eval with activations of more than its memory ends with 1" 1 sh -c "ulimit -v 1600000
		vt-eval -q -k '$T/launched' -i '$T/val' --device ref -j 1 --crop 4096"
	check_says "its message names options of vt-eval" \
		'need [0-9.]+ GiB: choose a smaller --microbatch, fewer frames or a smaller crop'
	check_exit "steps that a launcher of 400 MiB starts" 0 "$BUILD/tests/tools/large" 400 \
		"$BUILD/vt-bench" step --device ref -m "$T/deep.net" --shape 2x1x16 --num-classes 5 --runs 1 --no-verify
	check "the row resident does not count the launcher's memory" \
		awk -F '\t' '$1 ~ /resident$/ { n = $4 } END { exit !(n > 1e6 && n < 4e8) }' "$T/out"
fi

check_message "a plan that exceeds the memory ends with 1" 1 \
	"$(uname -n) has [0-9.]+ [GTM]iB of memory available, and 1 rank there needs" \
	vt-train -i "$T/train" -m "$T/wide.net" --schedule "$T/vast.tsv" --device ref -o "$T/no"
check "a refused plan makes no folder" test ! -e "$T/no"
check_exit "-n shows a plan that exceeds the memory" 0 \
	vt-train -n -i "$T/train" -m "$T/wide.net" --schedule "$T/vast.tsv" --device ref
check_exit "-n -v lists the tasks" 0 vt-train -n -v -i "$T/train" -m "$T/wide.net" --schedule "$T/s.tsv"
case $(vt-train --version -v) in
*oneDNN*)
	check_same "relu1 does the work of bn1" 1 "$(grep -c "^bn1 + relu1${tab}8x4x112x112x16${tab}" "$T/out")"
	check "and is computed again" grep -q "^bn1 + relu1${tab}.*, recomputed before the gradients of conv2\$" "$T/out"
	check_exit "with a smaller output" 0 vt-train -n -v -i "$T/train" -m "$T/wide.net" --schedule "$T/small.tsv"
	check_same "it is kept" 0 "$(grep -c ", recomputed before" "$T/out")"
	;;
*) check_same "ref fuses nothing" 1 "$(grep -c "^bn1${tab}" "$T/out")" ;;
esac
plan
