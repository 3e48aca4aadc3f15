#!/bin/sh
# Learners with other features: frozen weights, optimizers that scale the step
# of a layer, precise BN and changing shapes.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 >"$T/net.net"
# 3 learners: the mean of three equal floats is not always that float, so frozen
# weights must not be averaged.
stages '0 0 3 0 24 2 16 2 0.05 0 0' '1 3 5 0 12 2 20 2 0.02 0 0' >"$T/s.tsv"

# train DIR [OPTION]...: train on $np ranks.
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" --device ref --seed 7 -j 1 -q "$@"
}
# numbers FILE REGEX: print the values of all tensors whose names match.
numbers() {
	"$BUILD/tests/tools/weightdump" "$T/$1.safetensors" "$T/all" >"$T/names"
	od -An -v -w4 -tx4 "$T/all" | awk -F'\t' -v want="$2" '
		NR == FNR { n = split($3, dim, "x"); c = 1; for (i = 1; i <= n; i++) c *= dim[i]
			has = $1 ~ want; while (c-- > 0) in_it[at++] = has; next }
		in_it[FNR - 1]' "$T/names" -
}
# same_bits NAME OPTION...: train 3 learners and check that every number of
# ranks gives the same file.
same_bits() {
	name=$1
	shift
	np=1
	check "$name: 3 learners" train "$name" --learners 3 --average-every 4 "$@"
	for np in 2 3; do
		[ $mpi = yes ] || continue
		check "$name: 3 learners on $np ranks" train "$name$np" --learners 3 --average-every 4 "$@"
		check "$name: $np ranks give the same file" \
			cmp "$T/$name/final.safetensors" "$T/$name$np/final.safetensors"
	done
	np=1
}

# ---- frozen weights ----

check "a run to initialize from" train first --save-steps 1 --keep 99
same_bits frozen --freeze 'conv*' --init "$T/first/ckpt-0000000001.safetensors" --save-steps 1 --keep 99
for what in conv1 conv2; do
	check_same "$what: frozen weights do not change" \
		"$(numbers first/ckpt-0000000001 "^model/$what[.]" | md5sum)" \
		"$(numbers frozen/final "^model/$what[.]" | md5sum)"
done
check "the frozen weights have more than 100 values" \
	test "$(numbers first/ckpt-0000000001 '^model/conv1[.]' | sort -u | wc -l)" -gt 100
check "the head is not frozen and changes" test "$(numbers first/ckpt-0000000001 '^model/fc[.]' | md5sum)" != \
	"$(numbers frozen/final '^model/fc[.]' | md5sum)"
check "learners without --freeze" \
	train thawed --learners 3 --average-every 4 --init "$T/first/ckpt-0000000001.safetensors"
check "without --freeze, conv1 changes" test "$(numbers first/ckpt-0000000001 '^model/conv1[.]' | md5sum)" != \
	"$(numbers thawed/final '^model/conv1[.]' | md5sum)"
same_bits partial --freeze partial-bn --average-state keep
check_same "frozen BN statistics keep their initial values" "00000000 3f800000" \
	"$(numbers partial/final '^bn/bn2' | sort -u | xargs)"
check "BN statistics that are not frozen change" \
	test "$(numbers partial/final '^bn/bn1' | sort -u | wc -l)" -gt 4

# ---- optimizers that scale the step of a layer ----

for optimizer in lars lars-outside lamb; do
	same_bits $optimizer --optimizer $optimizer --weight-decay 0.01
	check "$optimizer: one learner" \
		train one-$optimizer --optimizer $optimizer --weight-decay 0.01 --learners 1
	check "$optimizer: plain training" train plain-$optimizer --optimizer $optimizer --weight-decay 0.01
	check_same "$optimizer: one learner equals plain training" \
		"$(numbers plain-$optimizer/final '^(model|bn|optim)/' | md5sum)" \
		"$(numbers one-$optimizer/final '^(model|bn|optim)/' | md5sum)"
	check "$optimizer: 3 learners do not equal plain training" \
		test "$(numbers plain-$optimizer/final '^model/' | md5sum)" != \
		"$(numbers $optimizer/final '^model/' | md5sum)"
done
check "lars and lars-outside train different weights" test "$(numbers lars/final '^model/' | md5sum)" != \
	"$(numbers lars-outside/final '^model/' | md5sum)"

# ---- precise BN ----

same_bits precise --precise-bn 24 --val "$T/val"
same_bits imprecise --val "$T/val"
check_same "--precise-bn changes no weight" "$(numbers imprecise/final '^model/' | md5sum)" \
	"$(numbers precise/final '^model/' | md5sum)"
check "--precise-bn changes the BN statistics" \
	test "$(numbers imprecise/final '^bn/' | md5sum)" != "$(numbers precise/final '^bn/' | md5sum)"
plan
