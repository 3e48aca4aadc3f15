#!/bin/sh
# Training in bf16: the same bits with every number of ranks and threads and
# after a stop, what must agree about it, and where there is none.
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
check "its log says so" grep -q '"precision":"bf16 by' "$T/one/log.jsonl"
check "and its checkpoint" grep -qa '"vt.precision":"bf16 by' "$T/one/final.safetensors"
check_exit "its plan" 0 vt-train -i "$T/train" $common -n
check "says so, too" grep -q '^# back end  *cpu in bf16 by' "$T/out"
# oneDNN's blocks of channels are others there.
check_exit "a plan without AMX" 0 env ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 vt-train -i "$T/train" -m tsm_r50 \
	--schedule "$T/s.tsv" --precision bf16 -q -n -j 3
check_exit "three threads" 0 train threads -j 3
check "give the same bits" cmp "$T/one/final.safetensors" "$T/threads/final.safetensors"
if have_mpi; then
	for np in 2 3 4; do
		# shellcheck disable=SC2086
		check_exit "$np ranks" 0 $limit mpirun -np $np "$BUILD/vt-train" -i "$T/train" -o "$T/np$np" $common -j 1
		check "give the same bits" cmp "$T/one/final.safetensors" "$T/np$np/final.safetensors"
	done
	# shellcheck disable=SC2086
	check_exit "a rank in fp32" 6 $limit mpirun -np 1 "$BUILD/vt-train" -i "$T/train" -o "$T/no" $common : \
		-np 1 "$BUILD/vt-train" -i "$T/train" -o "$T/no" $common --precision fp32
	check_says "is told" 'the ranks differ in precision: "?bf16 by .* on rank 0 .*, fp32 on rank 1'
	check "and nothing touched" test ! -e "$T/no"
else
	skip "ranks in bf16" "no MPI"
fi
check_exit "a run in fp32" 0 train full --precision fp32
check "gives others" sh -c "! cmp -s '$T/one/final.safetensors' '$T/full/final.safetensors'"

# ---- going on ----

check_exit "a run that is to go on" 75 train two --stop-after 0.001s
cp -r "$T/two" "$T/mixed"
check_exit "does not in fp32" 2 train two --precision fp32
check_says "unasked" 'precision was "?bf16 by .* and is fp32 now .*--override=precision'
check_exit "but does so if that is meant" 0 train mixed --precision fp32 --override precision
check_exit "and in bf16" 0 train two
check "to the same bits" cmp "$T/one/final.safetensors" "$T/two/final.safetensors"

# ---- scoring ----

check_exit "scores in bf16" 0 vt-eval -k "$T/one/final.safetensors" -i "$T/val" --precision bf16
check_exit "and in fp32" 0 vt-eval -k "$T/one/final.safetensors" -i "$T/val"

# ---- where there is none ----

check_exit "a processor without it" 0 env VT_ISA=avx2 vt-train -i "$T/train" -o "$T/old" -m "$T/net.net" \
	--schedule "$T/s.tsv" --seed 7 --precision bf16 -j 1
check_says "is told once" 'note: .*bf16.*fp32'
check_same "no more" 1 "$(grep -c 'bf16' "$T/err")"
check "and the run says what it was" grep -q '"precision":"fp32"' "$T/old/log.jsonl"
check_exit "the same in fp32" 0 env VT_ISA=avx2 vt-train -i "$T/train" -o "$T/plain" -m "$T/net.net" \
	--schedule "$T/s.tsv" --seed 7 -j 1 -q
check "gives the same bits" cmp "$T/old/final.safetensors" "$T/plain/final.safetensors"
plan
