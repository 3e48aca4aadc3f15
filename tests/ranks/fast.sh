#!/bin/sh
# --deterministic=fast: every algorithm and exchange trains what the exact sum
# trains, but for roundings; what is for it alone is refused without it.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 16 >"$T/net.net"
# Batches of 4 and 8 microbatches.
stages '0 0 2 0 16 2 16 4 0.01 0 0' '1 2 3 0 32 2 16 4 0.01 0 0' >"$T/s.tsv"

# train NAME OPTION...: a run of this name, on as many ranks as $np says
train() {
	run=$T/$1
	shift
	on_ranks "$BUILD/vt-train" -q -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 --seed 3 \
		-o "$run" "$@"
}
# apart NAME OTHER: the distance of their weights, over the length of the first;
# the last 64 values are the footer of a checkpoint
apart() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/values" >/dev/null || return 1
		od -An -v -t f4 -w4 "$T/values" | head -n -64 >"$T/$run.values"
	done
	paste "$T/$1.values" "$T/$2.values" |
		awk '{ d += ($1 - $2) ^ 2; n += $1 ^ 2 } END { printf "%.3g\n", sqrt(d / n) }'
}
# check_apart WHAT NAME OTHER LEAST MOST
check_apart() {
	d=$(apart "$2" "$3")
	if awk -v d="$d" -v a="$4" -v b="$5" 'BEGIN { exit !(d != "" && d >= a && d <= b) }'; then ok "$1"; else
		not_ok "$1"
		diag "apart by $d (wanted $4 to $5)"
	fi
}

# ---- what is refused ----

for option in --allreduce=ring --comm-dtype=bf16 --allreduce-table=x; do
	check_exit "$option is refused under exact" 2 train no $option
	check_says "with the option and the way out" "$option is for --deterministic=fast"
done
check_exit "a name that is no algorithm is refused" 2 train no --deterministic=fast --allreduce=tree
check_says "with those that are" "--allreduce=tree \(wanted auto, native, ring, torus, torus:XxY or halving\)"
check_exit "a grid for what has none is refused" 2 train no --deterministic=fast --allreduce=ring:2x2
printf '#ranks\thosts\texchange\tbytes\talgorithm\tus\n2\t1\tfp32\t4096\ttree\t9\n' >"$T/bad.tsv"
check_exit "a table with another one, too" 2 train no --deterministic=fast --allreduce-table="$T/bad.tsv"
check_says "by file and line" "bad.tsv: line 2: algorithm tree"
check_exit "a grid that the ranks do not make" 2 train no --deterministic=fast --allreduce=torus:2x2
check_says "with how many do" "torus:2x2: 1 ranks \(wanted 4\)"
check "and nothing was touched" test ! -e "$T/no"

# ---- one rank ----

check "an exact run" train exact
check "a fast one" train fast --deterministic=fast
check_apart "have the same weights on one rank" exact fast 0 0
check_exit "one mode does not resume the other" 2 train exact --deterministic=fast --resume=auto
check_says "unless it is told to" "deterministic"

# ---- several ----

have_mpi || {
	skip "several ranks" "no MPI"
	plan
	exit
}
np=2
check "two ranks, a ring" train ring2 --deterministic=fast --allreduce=ring
check_apart "of which the sums of two are the exact ones" exact ring2 0 0
for how in native ring torus halving torus:1x4 auto; do
	np=4
	[ $how != ring ] || np=3
	check "$np ranks, $how" train $how --deterministic=fast --allreduce=$how
	check_apart "train the same, but for roundings" exact $how 0 1e-5
done
np=3
check "each rank updating a part" train shard --deterministic=fast --allreduce=ring --shard-optimizer
check_apart "trains the same, bit for bit" ring shard 0 0
for type in bf16 fp16; do
	np=3
	check "$np ranks, in $type" train $type --deterministic=fast --comm-dtype=$type
	check_apart "train nearly the same" exact $type 1e-7 1e-2
done
# A table that says what is not so, to be seen in the plan.
printf '#ranks\thosts\texchange\tbytes\talgorithm\tus\n' >"$T/table.tsv"
printf '2\t1\tfp32\t%s\t%s\t%s\n' 1024 ring 9 1024 halving 3 4194304 native 7 4194304 ring 8 >>"$T/table.tsv"
np=2
said=$(train plan --deterministic=fast --allreduce-table="$T/table.tsv" --dry-run | grep '^# all-reduce')
check_same "a table chooses the algorithm, by size" "halving on 2 x 1 ranks in fp32" \
	"$(echo "$said" | sed 's/^# all-reduce *//; s/,.*//')"
check_exit "the exchange of doubles has no 16 bits" 2 train doubles --deterministic=fast --comm-dtype=bf16 --device ref64
check_exit "one that was stopped is resumed" 75 train half --deterministic=fast --stop-after 0.001s
check_exit "to its end" 0 train half --deterministic=fast
check_apart "which is the same" ring2 half 0 1e-5
plan
