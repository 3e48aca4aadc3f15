#!/bin/sh
# A device whose memory the host cannot touch (tests/tools/apart): whatever trains,
# saves, averages, checks or scores on it gives the bits that ref gives, on any
# number of ranks.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# ---- it is found ----

touch=$BUILD/apart/touch
check_exit "memory that is only copied" 0 "$touch" none
for what in read write; do
	check_exit "a host that wants to $what it" 99 "$touch" $what
	check_says "is told" 'apart: the host touched memory of the device: 0x'
done
check_exit "memory of the host's is no operand" 99 "$touch" give
check_says "and is told" 'apart: no memory of the device'
check_exit "nor is the device's copied to" 99 "$touch" take
check_exit "what is freed stays so" 99 "$touch" freed

# ---- tests in C ----

for program in "$BUILD"/apart/tests/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	"$program" >"$T/tap" 2>"$T/err" || diag "$(grep -A12 '^apart:' "$T/err")"
	name=${program##*/}
	grep -q '^1\.\.' "$T/tap" || not_ok "$name ran to its end"
	check_same "$name: nothing fails" 0 "$(grep -c '^not ok' "$T/tap")"
done

# ---- commands ----

"$MAKESET" "$T/train" 48 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2
small_net 8 8 0.3 >"$T/net.net"
# 12 microbatches, then 6; and one that two ranks share.
stages '0 0 2 0 24 2 16 2 0.05 0 0' '1 2 3 0 24 2 20 4 0.02 0 0' >"$T/s.tsv"
stages '0 0 1 0 8 2 16 8 0.05 0 0' >"$T/wide.tsv"
# train NAME WHERE RANKS OPTION...: WHERE: apart/, or nothing
train() {
	run=$T/$1 where=$2 np=${3:-1}
	shift 3
	launch=
	[ "$np" = 1 ] || launch="timeout -k 5 120 mpirun -np $np"
	$launch "$BUILD/${where}vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 \
		--seed 7 -q -o "$run" "$@" >"$T/said" 2>"$T/err" || { diag "$(head -20 "$T/err")"; return 1; }
}
# digest NAME: of all that is in its last checkpoint, less the 64 values of the
# footer, which come last
digest() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null 2>&1 || { echo "none of $1"; return; }
	head -c -256 "$T/all" | cksum
}
# alike WHAT RANKS OPTION...: ref on one rank, or with $each on as many, and apart
# on these
# near NAME OTHER MOST: the distance of their weights, over the length of the first
near() {
	for run in "$1" "$2"; do
		"$BUILD/tests/tools/weightdump" "$T/$run/final.safetensors" "$T/all" >/dev/null || return 1
		head -c -256 "$T/all" | od -An -v -t f4 -w4 >"$T/$run.values"
	done
	paste "$T/$1.values" "$T/$2.values" | awk -v most="$3" '
		{ d += ($1 - $2) ^ 2; n += $1 ^ 2 } END { exit !(NR > 0 && d <= most ^ 2 * n) }'
}
each=
alike() {
	what=$1 ranks=$2
	shift 2
	rm -rf "$T/ref" "$T/apart"
	for np in $ranks; do
		if [ -n "$each" ] || [ ! -d "$T/ref" ]; then train ref '' "${each:+$np}" "$@"; fi
		rm -rf "$T/apart"
		train apart apart/ "$np" "$@"
		check_same "$what: the same on $np rank$([ "$np" = 1 ] || echo s)" "$(digest ref)" "$(digest apart)"
	done
}
some='1 2 3'
have_mpi || some=1
alike "momentum, a moving average, validation" "$some" --ema 0.9 --val "$T/val" --val-every 1
alike "adamw, clipped, small buckets" "$some" --optimizer adamw --clip-grad 1 --bucket 4K
alike "lars, in ref64" "$some" --optimizer lars --device ref64
alike "audits, precise BN" "$some" --audit 2 --precise-bn 24 --val "$T/val" --val-every 1
alike "learners in groups, with a momentum of their own" "$some" --learners 6 --average-every 4 --learner-groups 2 \
	--group-every 2 --outer-momentum 0.5
if have_mpi; then
	each=yes
	for way in ring:fp32 torus:bf16 halving:fp16; do
		alike "$way" 4 --deterministic=fast --allreduce=${way%:*} --comm-dtype=${way#*:}
	done
	APART_FABRIC=apart
	export APART_FABRIC
	# Sums of two are the same in any order; so are those of pairs of pairs.
	alike "ring, by the devices" 2 --deterministic=fast --allreduce=native
	alike "torus, by the devices" 4 --deterministic=fast --allreduce=torus:2x2
	for wire in bf16 fp16; do
		rm -rf "$T/ref" "$T/apart"
		train ref '' 2 --deterministic=fast --allreduce=ring
		train apart apart/ 2 --deterministic=fast --comm-dtype=$wire
		check "the devices' $wire is not fp32" test "$(digest ref)" != "$(digest apart)"
		check "but near it" near ref apart 0.01
	done
	train plan apart/ 2 --deterministic=fast --dry-run
	check "the way is said" grep -q 'native by apart' "$T/said"
	APART_FABRIC=none
	check "a plan for devices without a fabric" train plan apart/ 2 --deterministic=fast --dry-run
	check_same "does not sum by them" 0 "$(grep -c 'by apart' "$T/said")"
	unset APART_FABRIC
	alike "a BN group on two ranks" 2 --deterministic=fast --schedule "$T/wide.tsv"
	each=
else
	skip "sums whose order is free" "no MPI"
fi
plan
