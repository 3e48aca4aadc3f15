#!/bin/sh
# BN groups that span ranks (--deterministic=fast): with more ranks than groups,
# training equals that of one rank per group, within rounding.
# tests/run: weight 33
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
have_mpi || skip_all "no MPI"

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 16 0.3 >"$T/net.net"
# Groups of 8 clips, and in the last stage of 4 interleaved ones. On four ranks,
# a rank has a half, a whole, a quarter and a half of a group.
stages '0 0 1 0 16 2 16 8 0.02 0 0' '1 1 2 0 32 2 16 8 0.02 0 0' '2 2 3 0 8 4 20 8 0.02 0 0' \
	'3 3 4 0 8 2 16 4/8 0.02 0 0' >"$T/s.tsv"

program=$BUILD/vt-train
# train NAME RANKS OPTION...
train() {
	run=$T/$1 np=$2
	shift 2
	timeout -k 5 120 mpirun -np "$np" "$program" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
		-j 1 --seed 3 --deterministic=fast --log-every 1 -o "$run" -q "$@"
}
# values NAME: print the weights and statistics of a run. The last 64 values are
# the checkpoint's footer, and are left out.
values() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/values" >/dev/null || return 1
	od -An -v -t f4 -w4 "$T/values" | head -n -64
}
# losses NAME: print the losses of all steps.
losses() {
	jq -r 'select(.type == "step") | .loss' "$T/$1/log.jsonl"
}
# near WHAT MOST: pass if the relative L2 distance of the numbers in $T/a and
# $T/b is at most MOST.
near() {
	d=$(paste "$T/a" "$T/b" | awk 'NF != 2 { bad = 1; exit } { d += ($1 - $2) ^ 2; n += $1 ^ 2 }
		END { if (!bad) printf "%.3g\n", sqrt(d / n) }')
	if awk -v d="$d" -v b="$2" 'BEGIN { exit !(d ~ /^[0-9.e+-]+$/ && d + 0 <= b + 0) }'; then ok "$1"; else
		not_ok "$1"
		diag "apart by $d (wanted $2 at most)"
	fi
}
# alike WHAT MOST OPTION...: check that four ranks end as one does, with the
# same losses.
alike() {
	what=$1 most=$2
	shift 2
	rm -rf "$T/one" "$T/four"
	check "$what: one rank trains" train one 1 "$@"
	check "$what: four ranks train" train four 4 "$@"
	values one >"$T/a" && values four >"$T/b"
	near "$what: the same weights and statistics" "$most"
	losses one >"$T/a" && losses four >"$T/b"
	near "$what: the same losses" "$most"
}

# ---- the same training ----

alike "ref" 1e-6 --device ref
check_same "the run has 14 steps" 14 "$(losses four | wc -l)"
cp -r "$T/one" "$T/whole"
check "two ranks train" train two 2 --device ref
values whole >"$T/a" && values two >"$T/b"
near "two ranks give the same weights and statistics" 1e-6
check "eight ranks train, with one clip of the third stage each" train eight 8 --device ref
values eight >"$T/b"
near "eight ranks give the same weights and statistics" 1e-6

# Normalizing over half a group trains other weights, so the checks above can
# fail.
sed 's/\t8\t0.02/\t4\t0.02/' "$T/s.tsv" >"$T/half.tsv"
check "one rank trains with groups of half the size" train half 1 --device ref --schedule "$T/half.tsv"
values half >"$T/b"
d=$(paste "$T/a" "$T/b" | awk '{ d += ($1 - $2) ^ 2; n += $1 ^ 2 } END { print (sqrt(d / n) > 1e-3) }')
check_same "groups of half the size train other weights" 1 "$d"

alike "cpu" 1e-5 --device cpu
alike "cpu in bf16" 1e-3 --device cpu --precision bf16
alike "aggregated statistics" 1e-6 --device ref --bn-running aggregate
alike "partial BN" 1e-6 --device ref --freeze partial-bn
alike "clips that are mixed" 1e-6 --device ref --mixup 0.4 --cutmix 0.4 --repeat 2
alike "sharded optimiser" 1e-6 --device ref --shard-optimizer --allreduce ring --clip-grad 0.5
alike "gradients exchanged in 16 bits" 1e-2 --device ref --comm-dtype bf16

# ---- an MPI library that allows one thread at a time ----

if [ -x "$BUILD/tests/serialized/vt-train" ]; then
	rm -rf "$T/four"
	program=$BUILD/tests/serialized/vt-train
	check "with MPI_THREAD_SERIALIZED, threads take turns and the run ends" train four 4 --device ref \
		--bucket 4K
	program=$BUILD/vt-train
	values whole >"$T/a" && values four >"$T/b"
	near "with MPI_THREAD_SERIALIZED, the weights and statistics are the same" 1e-6
fi

# ---- clips, validation, statistics ----

clips() {
	cat "$@" | grep -v '^#' | LC_ALL=C sort
}
rm -rf "$T/one" "$T/four"
check "one rank, with validation and precise BN" train one 1 --device ref --val "$T/val" --precise-bn 32 \
	--trace-samples "$T/trace"
check "four ranks, with validation and precise BN" \
	train four 4 --device ref --val "$T/val" --precise-bn 32 --trace-samples "$T/traces"
clips "$T/trace" >"$T/a" && clips "$T/traces".? >"$T/b"
check "four ranks train on the same clips, with the same crops" cmp "$T/a" "$T/b"
for run in one four; do
	jq -r 'select(.type == "validation") | .loss' "$T/$run/log.jsonl" >"$T/$run.losses"
done
cp "$T/one.losses" "$T/a" && cp "$T/four.losses" "$T/b"
check_same "four ranks validate as often" 4 "$(wc -l <"$T/b")"
near "four ranks have the same validation losses" 1e-6

# ---- stopped, and resumed on other ranks ----

rm -rf "$T/four"
check_exit "a run on four ranks is stopped" 75 train four 4 --device ref --stop-after 0.001s
check_exit "the run of four ranks resumes on two, and is stopped" 75 \
	train four 2 --device ref --stop-after 0.001s
check_exit "the run of four ranks resumes on eight, and ends" 0 train four 8 --device ref
values whole >"$T/a" && values four >"$T/b"
near "the resumed run has the weights and statistics of one rank" 1e-6
rm -rf "$T/four"
train four 4 --device ref --val "$T/val" --val-every 0
cp -r "$T/four" "$T/again" && rm "$T/again/final.safetensors"
rm -rf "$T/four"
train four 4 --device ref --val "$T/val" --val-every 0
check_same "two runs on the same ranks have the same bits" \
	"$(values four | md5sum)" "$(cp "$T/again"/ckpt-*14.safetensors \
	"$T/again/final.safetensors" && values again | md5sum)"

# ---- a sample that is damaged ----

cp -r "$T/train" "$T/damaged"
shard=$(find "$T/damaged" -name '*.tar' | LC_ALL=C sort | head -n 1)
key=$(tar tf "$shard" | sed -n 's/\.000000\..*//p' | head -n 1)
tar tRf "$shard" | tr -d : | while read -r _ block name; do
	case $name in "$key".[0-9]*)
		dd if=/dev/zero of="$shard" bs=1 seek=$(((block + 1) * 512 + 100)) count=9 conv=notrunc 2>/dev/null
	esac
done
rm -rf "$T/four"
check_exit "a damaged sample ends all ranks of its group, and the others" 4 train four 4 --device ref -i "$T/damaged"
check_exit "--on-corrupt=skip skips the damaged sample on four ranks" 3 \
	train skipped 4 --device ref -i "$T/damaged" --on-corrupt skip:0.2
check_exit "--on-corrupt=skip skips the damaged sample on one rank" 3 \
	train skips 1 --device ref -i "$T/damaged" --on-corrupt skip:0.2
values skips >"$T/a" && values skipped >"$T/b"
near "four ranks that skip the sample have the weights of one rank" 1e-6

# ---- a rank that is stopped while its group waits for its statistics ----

stages '0 0 100000 0 8 2 16 8 0.02 0 0' >"$T/long.tsv"
rm -rf "$T/four"
train four 4 --device ref --schedule "$T/long.tsv" --step-timeout 2s >"$T/out" 2>"$T/err" &
pid=$!
for i in $(seq 600); do
	! grep -q '"type":"step"' "$T/four/log.jsonl" 2>/dev/null || break
	sleep 0.05
done
kill -STOP "$(rank_pid $pid 2)"
wait $pid
check_same "a stopped rank ends the run with 6" 6 $?
check_says "the message names the stopped rank and its host" "rank 2 on $(uname -n) does not answer"

# ---- groups that cannot be shared ----

exact() {
	mpirun -np 4 "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 -o "$T/no"
}
check_exit "exact sums are of whole groups" 2 exact
check_says "and there is a way out" 'makes 2 microbatches, too few for 4 ranks; start 2 ranks, .* or --deterministic=fast'
check_exit "three ranks for two groups" 2 train no 3 --device ref
check_says "are refused" 'makes 2 microbatches, too few for 3 ranks, which are not a multiple of it; start 2 ranks'
stages '0 0 1 0 10 2 16 5 0.02 0 0' >"$T/five.tsv"
check_exit "a group of five clips on two ranks ends with 2" 2 train no 4 --device ref --schedule "$T/five.tsv"
check_says "a group of five clips on two ranks: the message says why 5 clips cannot be shared" \
	'4 ranks for 2 BN groups of 5 clips: 5 clips cannot be shared equally by 2 ranks'
stages '0 0 1 0 12 2 16 6 0.02 0 0' >"$T/six.tsv"
check_message "a group of six mixed clips on two ranks ends with 2" 2 \
	'2 ranks share a BN group of 6 clips, 3 each: clips that are mixed would lie on two' \
	train no 4 --device ref --schedule "$T/six.tsv" --mixup 0.4
check_exit "a group of six clips on two ranks trains without mixing" 0 \
	train six 4 --device ref --schedule "$T/six.tsv"
check "a refused run makes no folder" test ! -e "$T/no"

# ---- dry runs ----

check_exit "-n on four ranks" 0 train no 4 --device ref -n
check_same "-n shows which part of a group a rank has" "2 1/2 4 1 1 1/4 2 1/2" \
	"$(grep -v '^#' "$T/out" | cut -f 9,10 | xargs)"
plans() {
	vt-schedule --check "$T/s.tsv" -m "$T/net.net" -i "$T/train" --device ref --ranks "$@"
}
check_exit "vt-schedule --check for four ranks" 0 plans 4 --deterministic=fast
check_same "vt-schedule --check shows which part of a group a rank would have" \
	"2 1/2 4 1 1 1/4 2 1/2" "$(grep -v '^#' "$T/out" | cut -f 9,10 | xargs)"
check_exit "vt-schedule --check refuses four ranks under exact sums" 2 plans 4
check_exit "vt-schedule --check refuses ranks that cannot share a group" 2 plans 3 --deterministic=fast
plan
