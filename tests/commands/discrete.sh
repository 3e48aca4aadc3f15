#!/bin/sh
# A device whose memory the host cannot touch (tests/tools/discrete): training,
# saving, averaging, auditing and scoring on it give the bits of ref, on any
# number of ranks.
# tests/run: weight 39
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# ---- touches of device memory are found ----

touch=$BUILD/discrete/touch
check_exit "device memory that is only copied is no error" 0 "$touch" none
for what in read write; do
	check_exit "a host that wants to $what device memory is stopped" 99 "$touch" $what
	check_says "$what: the message says that the host touched it" \
		'discrete: the host touched memory of the device: 0x'
done
check_message "host memory as an operand is an error" 99 'discrete: no memory of the device' "$touch" give
check_exit "a copy that takes host memory for device memory is an error" 99 "$touch" take
check_exit "a touch of freed device memory is an error" 99 "$touch" freed

# ---- tests in C ----

for program in "$BUILD"/discrete/tests/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	"$program" >"$T/tap" 2>"$T/err" || diag "$(grep -A12 '^discrete:' "$T/err")"
	name=${program##*/}
	grep -q '^1\.\.' "$T/tap" || not_ok "$name ran to its end"
	check_same "$name: nothing fails" 0 "$(grep -c '^not ok' "$T/tap")"
done

# ---- commands ----

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2
small_net 8 8 0.3 >"$T/net.net"
# 12 microbatches, then 6; and a group that two ranks share.
stages '0 0 2 0 24 2 16 2 0.05 0 0' '1 2 3 0 24 2 20 4 0.02 0 0' >"$T/s.tsv"
stages '0 0 1 0 8 2 16 8 0.05 0 0' >"$T/wide.tsv"
# train NAME WHERE RANKS OPTION...: make a run. WHERE is discrete/ or empty.
train() {
	run=$T/$1 where=$2 np=${3:-1}
	shift 3
	launch=
	[ "$np" = 1 ] || launch="timeout -k 5 120 mpirun -np $np"
	$launch "$BUILD/${where}vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 \
		--seed 7 -q -o "$run" "$@" >"$T/said" 2>"$T/err" || { diag "$(head -20 "$T/err")"; return 1; }
}
# near NAME OTHER MOST: succeed if the relative L2 distance of their weights is
# at most MOST.
near() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/all" >/dev/null || return 1
		head -c -256 "$T/all" | od -An -v -t f4 -w4 >"$T/$run.values"
	done
	paste "$T/$1.values" "$T/$2.values" | awk -v most="$3" '
		{ d += ($1 - $2) ^ 2; n += $1 ^ 2 } END { exit !(NR > 0 && d <= most ^ 2 * n) }'
}
each=
# alike WHAT RANKS OPTION...: compare ref with the device of tests/tools/discrete
# on each number of RANKS. ref runs on one rank, or with $each on that number.
alike() {
	what=$1 ranks=$2
	shift 2
	rm -rf "$T/ref" "$T/discrete"
	for np in $ranks; do
		if [ -n "$each" ] || [ ! -d "$T/ref" ]; then train ref '' "${each:+$np}" "$@"; fi
		rm -rf "$T/discrete"
		train discrete discrete/ "$np" "$@"
		check_same "$what: the same on $np rank$([ "$np" = 1 ] || echo s)" "$(digest ref)" "$(digest discrete)"
	done
}
some='1 2 3'
have_mpi || some=1
alike "momentum, a moving average, validation" "$some" --ema 0.9 --val "$T/val" --val-every 1
alike "adamw, clipped, small buckets" "$some" --optimizer adamw --clip-grad 1 --bucket 4K
alike "lars, in ref64" "$some" --optimizer lars --device ref64
alike "audits, precise BN" "$some" --audit 2 --precise-bn 24 --val "$T/val" --val-every 1
grows="--batch-growth-max 4 --batch-growth-threshold 0 --batch-growth-patience 1"
# shellcheck disable=SC2086
alike "a batch that grows" "$some" $grows --clip-grad 1
alike "learners with a state of their own" "$some" --learners 6 --average-every 4 --average-state keep
if have_mpi; then
	each=yes
	for way in ring:fp32 torus:bf16 halving:fp16; do
		alike "$way" 4 --deterministic=fast --allreduce=${way%:*} --comm-dtype=${way#*:}
	done
	DISCRETE_FABRIC=discrete
	export DISCRETE_FABRIC
	each=
	alike "exact, by the devices" "2 3 4" --ema 0.9 --val "$T/val" --val-every 1
	alike "lars, exact, by the devices, small buckets" "2 3" --optimizer lars --bucket 4K --audit 2
	# shellcheck disable=SC2086
	alike "a batch that grows, exact, by the devices" "2 3" $grows
	alike "learners, with a fabric" 2 --learners 6 --average-every 4
	train plan discrete/ 2 --dry-run
	check "the plan names the exact sum by the devices" grep -q 'exact by discrete' "$T/said"
	each=yes
	# A sum of two is the same in any order, and so is one of pairs of
	# pairs.
	alike "ring, by the devices" 2 --deterministic=fast --allreduce=native
	alike "torus, by the devices" 4 --deterministic=fast --allreduce=torus:2x2
	for wire in bf16 fp16; do
		rm -rf "$T/ref" "$T/discrete"
		train ref '' 2 --deterministic=fast --allreduce=ring
		train discrete discrete/ 2 --deterministic=fast --comm-dtype=$wire
		check "sums by the devices in $wire are not those in fp32" \
			test "$(digest ref)" != "$(digest discrete)"
		check "sums by the devices in $wire are near those in fp32" near ref discrete 0.01
	done
	# Both sum in order of ranks; the gradients of two have one order.
	alike "a BN group on two ranks, by the devices" 2 --deterministic=fast --schedule "$T/wide.tsv"
	train plan discrete/ 2 --deterministic=fast --dry-run
	check "the plan names the all-reduce by the devices" grep -q 'native by discrete' "$T/said"
	DISCRETE_FABRIC=none
	check "a plan for devices without a fabric" train plan discrete/ 2 --deterministic=fast --dry-run
	check_same "without a fabric, the devices do not sum" 0 "$(grep -c 'by discrete' "$T/said")"
	unset DISCRETE_FABRIC
	alike "a BN group on two ranks" 2 --deterministic=fast --schedule "$T/wide.tsv"
	each=
else
	skip "sums whose order is free" "no MPI"
fi
plan
