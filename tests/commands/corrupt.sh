#!/bin/sh
# --on-corrupt=skip: the place of a damaged clip is taken by the next whole sample
# of its epoch's order; the same bits at every number of ranks and loader threads,
# and after stops; known from the log and the checkpoint; exit status 3, or 4
# where they are too many.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/whole" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# Whole epochs: 4 of 40 clips.
stages '0 0 4 0 8 2 16 2 0.01 0 0' >"$T/s.tsv"

# train RANKS DIR [OPTION]...
train() {
	np=$1 dir=$2
	shift 2
	on_ranks "$BUILD/vt-train" -i "$T/$set" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		-j 1 --device ref --log-every 1 "$@"
}
# breaks KEY FRAME: a byte of that frame is changed
breaks() {
	for shard in "$T/$set"/*.tar; do
		tar tRf "$shard" | tr -d : | while read -r _ block name; do
			case $name in "$1.$(printf %06d "$2")".*)
				at=$(((block + 1) * 512 + 100))
				byte=$(od -An -tu1 -j $at -N1 "$shard")
				# shellcheck disable=SC2059
				printf "\\$(printf %03o $((byte ^ 16)))" | dd of="$shard" bs=1 seek=$at conv=notrunc 2>/dev/null
			esac
		done
	done
}
log() {
	jq -c "select(.type == \"$2\")" "$T/$1/log.jsonl"
}
same() {
	cmp "$T/$1/final.safetensors" "$T/$2/final.safetensors"
}
kept() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" | jq -r '.__metadata__["vt.corrupt"]'
}

set=whole
check_exit "a whole set, with --on-corrupt=skip" 0 train 1 whole-run --on-corrupt skip:0.5 --trace-samples "$T/order"
check_exit "and without" 0 train 1 whole-plain
check "gives the same bytes" same whole-run whole-plain

# ---- samples of which every frame is damaged ----

set=broken
cp -r "$T/whole" "$T/broken"
# The first two of the first epoch's order follow each other; the last of it goes round.
a=$(awk '$2 == 5 { print $3 }' "$T/order") b=$(awk '$2 == 6 { print $3 }' "$T/order") c=$(awk '$2 == 39 { print $3 }' "$T/order")
for key in $a $b $c; do
	for frame in 0 1 2 3 4 5 6 7 8 9; do breaks "$key" $frame; done
done
check_exit "damaged samples end a run with 4" 4 train 1 fails
check_exit "with skip:RATE it goes on, and ends with 3" 3 train 1 one --on-corrupt skip:0.1 --trace-samples "$T/trace"
check_says "which says so" "sample $a is damaged, and passed over from here on: .*$a"
check_same "of each of them, once" 3 "$(grep -c 'passed over' "$T/err")"
check_same "which are in the log" "$(printf '%s\n' "$a" "$b" "$c" | sort | tr '\n' ' ')" "$(log one corrupt | jq -r .key | sort | tr '\n' ' ')"
awk -v bad=" $a $b $c " '!/^#/ { key[$2] = $3; n++ }
	END {
		for (g = 0; g < n; g++) {
			e = int(g / 40) * 40
			for (k = 0; index(bad, " " key[e + (g - e + k) % 40] " "); k++);
			print g "\t" key[e + (g - e + k) % 40]
		}
	}' "$T/order" >"$T/wanted"
check_same "their places are taken by the next whole sample of the epoch's order" "" \
	"$(grep -v '^#' "$T/trace" | cut -f2,3 | diff - "$T/wanted")"
check_same "the checkpoint names them" 3 "$(kept "$T/one/final.safetensors" | wc -w)"
check_exit "--status" 3 vt-train --status "$T/one"
check_same "says that it is finished" finished "$(jq -r .state "$T/out")"
check_exit "a replay" 0 vt-train --replay "$T/one"
check_exit "more than allowed" 4 train 1 many --on-corrupt skip:0.05
check_says "end it" "3 of 40 samples are damaged, and --on-corrupt=skip:0.05 allows 2"
check_exit "it goes on where more are allowed" 3 train 1 many --on-corrupt skip:0.1 -q
check "with the same bytes" same one many
for wrong in skip skip:2 skip:x never; do
	check_exit "--on-corrupt=$wrong" 2 train 1 wrong --on-corrupt $wrong
done

# ---- and one of which only some frames are ----

set=partly
cp -r "$T/broken" "$T/partly"
d=$(awk '$2 == 7 { print $3 }' "$T/order") e=$(awk '$2 == 20 { print $3 }' "$T/order")
for key in $d $e; do breaks "$key" 2; breaks "$key" 5; done
options="--on-corrupt skip:0.2"
check_exit "frames that some clips do not show" 3 train 1 p1 $options --trace-samples "$T/trace1"
check_exit "with five loader threads" 3 train 1 p1-threads $options --loader-threads 5
check "give the same bytes" same p1 p1-threads
check_exit "with little loaded ahead" 3 train 1 p1-memory $options --loader-memory 1 --loader-threads 1
check "give the same bytes" same p1 p1-memory
for np in 2 3; do
	have_mpi || continue
	check_exit "$np ranks" 3 train $np p$np $options --trace-samples "$T/trace$np" --audit 1 --bucket 4K
	check "give the same bytes" same p1 p$np
	check_same "show the same clips" "" "$(cat "$T/trace$np".* | grep -v '^#' | sort >"$T/sorted"
		grep -v '^#' "$T/trace1" | sort | diff - "$T/sorted")"
done
have_mpi || skip "ranks" "no MPI"
np=1
status=75
while [ $status = 75 ]; do
	train $np again $options -q --save-steps 1 --stop-after 0.001s >"$T/out" 2>"$T/err"
	status=$?
	! have_mpi || np=$((np % 3 + 1))
done
check_same "a run that is stopped after each step ends with 3, too" 3 $status
check "and gives the same bytes" same p1 again

# ---- one that only --precise-bn meets ----

# Statistics are measured on the first 40 clips at the shape of the last stage, which
# training has only in its last epoch: of those clips, a frame that no step shows.
stages '0 0 3 0 8 2 16 2 0.01 0 0' '1 3 4 0 8 4 16 2 0.01 0 0' >"$T/s2.tsv"
stages '0 0 1 0 8 4 16 2 0.01 0 0' >"$T/s4.tsv"
set=whole
check_exit "a run of two stages" 0 train 1 stages --schedule "$T/s2.tsv" --trace-samples "$T/shown"
check_exit "the clips that are measured at its end" 0 train 1 clips --schedule "$T/s4.tsv" --trace-samples "$T/clips.tsv"
set=measured
cp -r "$T/whole" "$T/measured"
awk '/^#/ { next }
	{ n = split($4, frame, ",") }
	FILENAME == ARGV[1] { for (i = 1; i <= n; i++) seen[$3, frame[i]] = 1; next }
	{ for (i = 1; i <= n; i++) if (!(($3, frame[i]) in seen)) print $3, frame[i] }' \
	"$T/shown" "$T/clips.tsv" | sort | head -1 >"$T/hidden"
read -r key frame <"$T/hidden"
breaks "$key" "$frame"
check_exit "a frame that no step shows" 0 train 1 unseen --schedule "$T/s2.tsv" --precise-bn off
measured="--schedule $T/s2.tsv --precise-bn 40"
options="$measured --on-corrupt skip:0.1"
check_exit "but --precise-bn, at the end" 3 train 1 bn $options
check_says "which says so" "step 20: sample $key is damaged, and passed over from here on: .*$key"
check_same "once" 1 "$(grep -c 'passed over' "$T/err")"
check_same "it is in the log" "$key 20" "$(log bn corrupt | jq -r '"\(.key) \(.step)"')"
check_same "and in the checkpoint" "$(expr "${key#s}" + 0)" "$(kept "$T/bn/final.safetensors")"
check_exit "without skip:RATE it ends the run" 4 train 1 bn-fails $measured
check_exit "as do more than allowed" 4 train 1 bn-many $measured --on-corrupt skip:0.01
check_says "which is printed" "step 20: 1 of 40 samples are damaged, and --on-corrupt=skip:0.01 allows 0"
check_exit "it goes on where more are allowed" 3 train 1 bn-many $options -q
check "with the same bytes" same bn bn-many
check_exit "a replay finds it, too" 0 vt-train --replay "$T/bn-many"
# Measured after each step: most of what is damaged is known before a step meets it.
set=broken
"$MAKESET" "$T/val" 16 8 40 32 2
stages '0 0 1 0 8 2 16 2 0.01 0 0' >"$T/s1.tsv"
options="--schedule $T/s1.tsv --precise-bn 40 --val $T/val --val-every 0.2 --on-corrupt skip:0.1 --keep-best none"
check_exit "measured after each step" 3 train 1 v1 $options
check_exit "a replay" 0 vt-train --replay "$T/v1"
check_same "it is known after the first" "1 1 1" "$(log v1 corrupt | jq -r .step | xargs)"
check_exit "with five loader threads" 3 train 1 v1-threads $options --loader-threads 5
check "the same bytes" same v1 v1-threads
for np in 2 3; do
	have_mpi || continue
	check_exit "$np ranks" 3 train $np v$np $options
	check "the same bytes" same v1 v$np
done
have_mpi || skip "ranks" "no MPI"
np=1
status=75
while [ $status = 75 ]; do
	train $np v-again $options -q --save-steps 1 --stop-after 0.001s >"$T/out" 2>"$T/err"
	status=$?
	! have_mpi || np=$((np % 3 + 1))
done
check_same "stopped after each step" 3 $status
check "the same bytes" same v1 v-again

set=partly
# Mixed clips are loaded two by two.
options="--on-corrupt skip:0.2 --loss sigmoid --mixup 0.8"
check_exit "mixed clips" 3 train 1 m1 $options
check_exit "loaded by others" 3 train 1 m1-threads $options --loader-threads 5 --loader-memory 1
check "give the same bytes" same m1 m1-threads

plan
