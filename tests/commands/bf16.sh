#!/bin/sh
# Training in bf16 gives the same bits with every number of ranks and threads
# and after a stop. Ranks and resumed runs must agree on it. A processor without
# bf16 trains in fp32.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
vt-train --version -v | grep -q '^processor: avx512' || skip_all "no AVX-512 here"
built oneDNN || skip_all "no oneDNN"

"$MAKESET" "$T/train" 24 8 40 32 1 && "$MAKESET" "$T/val" 8 8 40 32 2 || skip_all "no test set"
stages '0 0 1 0 8 2 24 2 0.01 0 0' '1 1 2 0 8 2 16 2 0.01 0 0' >"$T/s.tsv"
small_net 16 >"$T/net.net"
common="-m tsm_tiny --schedule $T/s.tsv --seed 7 --precision bf16 -q"
limit="timeout -k 5 240"

# train RUN [OPTION]...
train() {
	run=$1
	shift
	# shellcheck disable=SC2086
	vt-train -i "$T/train" -o "$T/$run" $common -j 1 "$@"
}
check_exit "a run in bf16" 0 train one
check "the log says that the run is in bf16" grep -q '"precision":"bf16 by' "$T/one/log.jsonl"
check "the checkpoint says that the run is in bf16" \
	grep -qa '"vt.precision":"bf16 by' "$T/one/final.safetensors"
check_exit "a dry run in bf16" 0 vt-train -i "$T/train" $common -n
check "the plan says that the run is in bf16" grep -q '^# back end  *cpu in bf16 by' "$T/out"
# Without AMX, oneDNN blocks the channels differently.
check_exit "a dry run of bf16 without AMX" 0 \
	env ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 vt-train -i "$T/train" -m tsm_r50 \
	--schedule "$T/s.tsv" --precision bf16 -q -n -j 3
check_exit "a run in bf16 on three threads" 0 train threads -j 3
check "three threads give the same bits" cmp "$T/one/final.safetensors" "$T/threads/final.safetensors"
if have_mpi; then
	for np in 2 3 4; do
		# shellcheck disable=SC2086
		check_exit "a run in bf16 on $np ranks" 0 \
			$limit mpirun -np $np "$BUILD/vt-train" -i "$T/train" -o "$T/np$np" $common -j 1
		check "$np ranks give the same bits" cmp "$T/one/final.safetensors" "$T/np$np/final.safetensors"
	done
	# shellcheck disable=SC2086
	check_message "one rank in fp32 and one in bf16 end with 6" 6 \
		'the ranks differ in precision: "?bf16 by .* on rank 0 .*, fp32 on rank 1' \
		$limit mpirun -np 1 "$BUILD/vt-train" -i "$T/train" -o "$T/no" $common : -np 1 "$BUILD/vt-train" -i \
		"$T/train" -o "$T/no" $common --precision fp32
	check "ranks that differ make no folder" test ! -e "$T/no"
else
	skip "ranks in bf16" "no MPI"
fi
check_exit "a run in fp32" 0 train full --precision fp32
check "fp32 gives other weights than bf16" \
	sh -c "! cmp -s '$T/one/final.safetensors' '$T/full/final.safetensors'"

# ---- resuming ----

check_exit "a run in bf16 is stopped" 75 train two --stop-after 0.001s
cp -r "$T/two" "$T/mixed"
check_exit "resuming a bf16 run in fp32 ends with 2" 2 train two --precision fp32
check_says "resuming a bf16 run in fp32: the message shows both precisions and the way out" \
	'precision was "?bf16 by .* and is fp32 now .*--override=precision'
check_exit "--override=precision resumes it in fp32" 0 train mixed --precision fp32 --override precision
check_exit "a stopped run in bf16 resumes in bf16" 0 train two
check "a resumed run in bf16 ends with the same bits" cmp "$T/one/final.safetensors" "$T/two/final.safetensors"

# ---- scoring ----

check_exit "vt-eval scores in bf16" 0 vt-eval -k "$T/one/final.safetensors" -i "$T/val" --precision bf16
check_exit "vt-eval scores the bf16 run in fp32" 0 vt-eval -k "$T/one/final.safetensors" -i "$T/val"

# ---- a processor without bf16 ----

check_message "a run in bf16 on a processor without it" 0 'note: .*bf16.*fp32' \
	env VT_ISA=avx2 vt-train -i "$T/train" -o "$T/old" -m "$T/net.net" --schedule "$T/s.tsv" --seed 7 --precision \
	bf16 -j 1
check_same "there is one note" 1 "$(grep -c 'bf16' "$T/err")"
check "the log says that the run is in fp32" grep -q '"precision":"fp32"' "$T/old/log.jsonl"
check_exit "a run in fp32 on that processor" 0 \
	env VT_ISA=avx2 vt-train -i "$T/train" -o "$T/plain" -m "$T/net.net" \
	--schedule "$T/s.tsv" --seed 7 -j 1 -q
check "bf16 without support gives the bits of fp32" cmp "$T/old/final.safetensors" "$T/plain/final.safetensors"
plan
