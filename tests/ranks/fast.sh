#!/bin/sh
# --deterministic=fast: every all-reduce algorithm and communication dtype
# trains the same weights as exact sums, within rounding. Options that only
# apply to fast mode are refused without it.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 16 >"$T/net.net"
# Batches of 4, then 8 microbatches.
stages '0 0 2 0 16 2 16 4 0.01 0 0' '1 2 3 0 32 2 16 4 0.01 0 0' >"$T/s.tsv"

# train NAME OPTION...: make a run called NAME on $np ranks.
train() {
	run=$T/$1
	shift
	on_ranks "$BUILD/vt-train" -q -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 --seed 3 \
		-o "$run" "$@"
}
# apart NAME OTHER: print the relative L2 distance of two runs' weights. The
# last 64 values are the checkpoint's footer, and are left out.
apart() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/values" >/dev/null || return 1
		od -An -v -t f4 -w4 "$T/values" | head -n -64 >"$T/$run.values"
	done
	paste "$T/$1.values" "$T/$2.values" |
		awk '{ d += ($1 - $2) ^ 2; n += $1 ^ 2 } END { printf "%.3g\n", sqrt(d / n) }'
}
# check_apart WHAT NAME OTHER LEAST MOST: pass if their distance is from LEAST
# to MOST.
check_apart() {
	d=$(apart "$2" "$3")
	if awk -v d="$d" -v a="$4" -v b="$5" 'BEGIN { exit !(d != "" && d >= a && d <= b) }'; then ok "$1"; else
		not_ok "$1"
		diag "apart by $d (wanted $4 to $5)"
	fi
}

# ---- what is refused ----

for option in --allreduce=ring --comm-dtype=bf16 --allreduce-table=x; do
	check_message "$option is refused under exact" 2 "$option is for --deterministic=fast" train no $option
done
check_exit "an unknown all-reduce algorithm is refused" 2 train no --deterministic=fast --allreduce=tree
check_says "an unknown all-reduce algorithm: the message lists the algorithms" \
	"--allreduce=tree \(wanted auto, native, ring, torus, torus:XxY or halving\)"
check_exit "a grid is refused for an algorithm without one" 2 train no --deterministic=fast --allreduce=ring:2x2
printf '#ranks\thosts\texchange\tbytes\talgorithm\tus\n2\t1\tfp32\t4096\ttree\t9\n' >"$T/bad.tsv"
check_message "an all-reduce table with an unknown algorithm is refused" 2 "bad.tsv: line 2: algorithm tree" \
	train no --deterministic=fast --allreduce-table="$T/bad.tsv"
check_message "a grid that does not match the number of ranks is refused" 2 "torus:2x2: 1 ranks \(wanted 4\)" \
	train no --deterministic=fast --allreduce=torus:2x2
check "a refused run makes no folder" test ! -e "$T/no"

# ---- one rank ----

check "one rank: an exact run" train exact
check "one rank: a fast run" train fast --deterministic=fast
check_apart "one rank: the fast run has the exact weights" exact fast 0 0
check_message "a fast run does not resume an exact one" 2 "deterministic" train exact --deterministic=fast --resume=auto

# ---- several ----

have_mpi || {
	skip "several ranks" "no MPI"
	plan
	exit
}
np=2
check "2 ranks, ring: trains" train ring2 --deterministic=fast --allreduce=ring
check_apart "2 ranks, ring: sums of two are exact, so the weights are the same" exact ring2 0 0
for how in native ring torus halving torus:1x4 auto; do
	np=4
	[ $how != ring ] || np=3
	check "$np ranks, $how: trains" train $how --deterministic=fast --allreduce=$how
	check_apart "$how: the weights are those of exact sums, within rounding" exact $how 0 1e-5
done
np=3
check "3 ranks, ring, --shard-optimizer: trains" \
	train shard --deterministic=fast --allreduce=ring --shard-optimizer
check_apart "--shard-optimizer gives the same weights, bit for bit" ring shard 0 0
for type in bf16 fp16; do
	np=3
	check "$np ranks, $type: trains" train $type --deterministic=fast --comm-dtype=$type
	check_apart "$type: the weights are near those of exact sums, and not equal" exact $type 1e-7 1e-2
done
# A table with implausible times, so that the plan shows whether it was read.
printf '#ranks\thosts\texchange\tbytes\talgorithm\tus\n' >"$T/table.tsv"
printf '2\t1\tfp32\t%s\t%s\t%s\n' 1024 ring 9 1024 halving 3 4194304 native 7 4194304 ring 8 >>"$T/table.tsv"
np=2
said=$(train plan --deterministic=fast --allreduce-table="$T/table.tsv" --dry-run | grep '^# all-reduce')
check_same "an all-reduce table chooses the algorithm by size" "halving on 2 x 1 ranks in fp32" \
	"$(echo "$said" | sed 's/^# all-reduce *//; s/,.*//')"
check_exit "--comm-dtype=bf16 is refused for ref64, which sums doubles" 2 \
	train doubles --deterministic=fast --comm-dtype=bf16 --device ref64
check_exit "a fast run is stopped" 75 train half --deterministic=fast --stop-after 0.001s
check_exit "a stopped fast run is resumed to its end" 0 train half --deterministic=fast
check_apart "a stopped and resumed fast run has the same weights" ring2 half 0 1e-5
plan
