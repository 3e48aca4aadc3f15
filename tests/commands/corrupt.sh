#!/bin/sh
# --on-corrupt=skip replaces a damaged clip by the next intact sample in its
# epoch's order, with the same bits at every number of ranks and loader threads,
# and after stops. Log and checkpoint name the samples. The exit status is 3, or
# 4 if there are too many.
# tests/run: weight 39
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/whole" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# Whole epochs: 4 epochs of 40 clips.
stages '0 0 4 0 8 2 16 2 0.01 0 0' >"$T/s.tsv"

# train RANKS DIR [OPTION]...
train() {
	np=$1 dir=$2
	shift 2
	on_ranks "$BUILD/vt-train" -i "$T/$set" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		-j 1 --device ref --log-every 1 "$@"
}
# breaks KEY FRAME: change a byte of that frame.
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
kept() {
	header "$1" | jq -r '.__metadata__["vt.corrupt"]'
}

set=whole
check_exit "an intact set with --on-corrupt=skip" 0 \
	train 1 whole-run --on-corrupt skip:0.5 --trace-samples "$T/order"
check_exit "an intact set without --on-corrupt" 0 train 1 whole-plain
check "with an intact set, --on-corrupt=skip changes no byte" same whole-run whole-plain

# ---- samples whose frames are all damaged ----

set=broken
cp -r "$T/whole" "$T/broken"
# The first two are adjacent in the first epoch's order. The last one of the
# epoch is replaced from its beginning.
a=$(awk '$2 == 5 { print $3 }' "$T/order") b=$(awk '$2 == 6 { print $3 }' "$T/order") c=$(awk '$2 == 39 { print $3 }' "$T/order")
for key in $a $b $c; do
	for frame in 0 1 2 3 4 5 6 7 8 9; do breaks "$key" $frame; done
done
check_exit "damaged samples end a run with 4" 4 train 1 fails
check_message "--on-corrupt=skip continues and ends with 3" 3 "sample $a is damaged and skipped from now on: .*$a" \
	train 1 one --on-corrupt skip:0.1 --trace-samples "$T/trace"
check_same "there is one warning for each skipped sample" 3 "$(grep -c 'skipped from now on' "$T/err")"
check_same "the log has the skipped samples" \
	"$(printf '%s\n' "$a" "$b" "$c" | sort | tr '\n' ' ')" "$(log one corrupt | jq -r .key | sort | tr '\n' ' ')"
awk -v bad=" $a $b $c " '!/^#/ { key[$2] = $3; n++ }
	END {
		for (g = 0; g < n; g++) {
			e = int(g / 40) * 40
			for (k = 0; index(bad, " " key[e + (g - e + k) % 40] " "); k++);
			print g "\t" key[e + (g - e + k) % 40]
		}
	}' "$T/order" >"$T/wanted"
check_same "skipped clips are replaced by the next intact sample of the epoch's order" "" \
	"$(grep -v '^#' "$T/trace" | cut -f2,3 | diff - "$T/wanted")"
check_same "the checkpoint has the skipped samples" 3 "$(kept "$T/one/final.safetensors" | wc -w)"
check_exit "--status of a run with skipped samples ends with 3" 3 vt-train --status "$T/one"
check_same "--status says finished" finished "$(jq -r .state "$T/out")"
check_exit "a run with skipped samples is replayed" 0 vt-train --replay "$T/one"
check_exit "more skipped samples than allowed end with 4" 4 train 1 many --on-corrupt skip:0.05
check_says "more skipped samples than allowed: the message shows found and allowed numbers" \
	"3 of 40 samples are damaged, and --on-corrupt=skip:0.05 allows 2"
check_exit "the run resumes if more are allowed" 3 train 1 many --on-corrupt skip:0.1 -q
check "the resumed run has the same bytes" same one many
for wrong in skip skip:2 skip:x never; do
	check_exit "--on-corrupt=$wrong ends with 2" 2 train 1 wrong --on-corrupt $wrong
done

# ---- a sample with some damaged frames ----

set=partly
cp -r "$T/broken" "$T/partly"
d=$(awk '$2 == 7 { print $3 }' "$T/order") e=$(awk '$2 == 20 { print $3 }' "$T/order")
for key in $d $e; do breaks "$key" 2; breaks "$key" 5; done
options="--on-corrupt skip:0.2"
check_exit "frames that some clips do not use" 3 train 1 p1 $options --trace-samples "$T/trace1"
check_exit "five loader threads skip samples" 3 train 1 p1-threads $options --loader-threads 5
check "five loader threads give the same bytes" same p1 p1-threads
check_exit "--loader-memory=1 skips samples" 3 train 1 p1-memory $options --loader-memory 1 --loader-threads 1
check "--loader-memory=1 gives the same bytes" same p1 p1-memory
# Clips of a sample that share frames, in one microbatch and in two.
repeat="$options --repeat=3"
check_exit "repeated samples are skipped" 3 train 1 r1 $repeat --trace-samples "$T/repeat1"
check_exit "five loader threads skip repeated samples" 3 train 1 r1-threads $repeat --loader-threads 5
check "five loader threads give the same bytes of repeated samples" same r1 r1-threads
if have_mpi; then
	check_exit "2 ranks skip repeated samples" 3 train 2 r2 $repeat --trace-samples "$T/repeat2" --audit 1
	check "2 ranks give the same bytes of repeated samples" same r1 r2
fi
check "a damaged sample is replaced for all of its clips" awk -F '\t' '!/^#/ {
		n = int($2 / 3); bad += (n in key) && key[n] != $3; key[n] = $3
	} END { exit bad > 0 }' "$T/repeat1"
for np in 2 3; do
	have_mpi || continue
	check_exit "$np ranks skip samples" 3 \
		train $np p$np $options --trace-samples "$T/trace$np" --audit 1 --bucket 4K
	check "$np ranks give the same bytes" same p1 p$np
	check_same "$np ranks use the same clips" "" "$(cat "$T/trace$np".* | grep -v '^#' | sort >"$T/sorted"
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
check_same "a run that is stopped after each step ends with 3" 3 $status
check "a run that is stopped after each step gives the same bytes" same p1 again

# ---- a sample that only precise BN reads ----

# Precise BN measures the first 40 clips at the shape of the last stage, which
# training uses in its last epoch only. Damage a frame of those clips that no
# step uses.
stages '0 0 3 0 8 2 16 2 0.01 0 0' '1 3 4 0 8 4 16 2 0.01 0 0' >"$T/s2.tsv"
stages '0 0 1 0 8 4 16 2 0.01 0 0' >"$T/s4.tsv"
set=whole
check_exit "a run of two stages" 0 train 1 stages --schedule "$T/s2.tsv" --trace-samples "$T/shown"
check_exit "a run that traces the clips of precise BN" 0 \
	train 1 clips --schedule "$T/s4.tsv" --trace-samples "$T/clips.tsv"
set=measured
cp -r "$T/whole" "$T/measured"
awk '/^#/ { next }
	{ n = split($4, frame, ",") }
	FILENAME == ARGV[1] { for (i = 1; i <= n; i++) seen[$3, frame[i]] = 1; next }
	{ for (i = 1; i <= n; i++) if (!(($3, frame[i]) in seen)) print $3, frame[i] }' \
	"$T/shown" "$T/clips.tsv" | sort | head -1 >"$T/hidden"
read -r key frame <"$T/hidden"
breaks "$key" "$frame"
check_exit "a damaged frame that no step uses" 0 train 1 unseen --schedule "$T/s2.tsv" --precise-bn off
measured="--schedule $T/s2.tsv --precise-bn 40"
options="$measured --on-corrupt skip:0.1"
check_exit "precise BN skips the damaged sample at the end" 3 train 1 bn $options
check_says "the warning names step and sample" \
	"step 20: sample $key is damaged and skipped from now on: .*$key"
check_same "there is one warning" 1 "$(grep -c 'skipped from now on' "$T/err")"
check_same "the log has sample and step" "$key 20" "$(log bn corrupt | jq -r '"\(.key) \(.step)"')"
check_same "the checkpoint has the sample" "$(expr "${key#s}" + 0)" "$(kept "$T/bn/final.safetensors")"
check_exit "without --on-corrupt=skip, precise BN ends with 4" 4 train 1 bn-fails $measured
check_message "more samples than allowed in precise BN end with 4" 4 \
	"step 20: 1 of 40 samples are damaged, and --on-corrupt=skip:0.01 allows 0" \
	train 1 bn-many $measured --on-corrupt skip:0.01
check_exit "a run whose precise BN skipped too many resumes if more are allowed" 3 train 1 bn-many $options -q
check "the resumed run with precise BN has the same bytes" same bn bn-many
check_exit "a run whose precise BN skipped a sample is replayed" 0 vt-train --replay "$T/bn-many"
# Measure after each step, so that most damage is found before a step uses it.
set=broken
"$MAKESET" "$T/val" 16 8 40 32 2
stages '0 0 1 0 8 2 16 2 0.01 0 0' >"$T/s1.tsv"
options="--schedule $T/s1.tsv --precise-bn 40 --val $T/val --val-every 0.2 --on-corrupt skip:0.1 --keep-best none"
check_exit "precise BN after each step skips samples" 3 train 1 v1 $options
check_exit "the run with precise BN after each step is replayed" 0 vt-train --replay "$T/v1"
check_same "all damaged samples are known after the first step" \
	"1 1 1" "$(log v1 corrupt | jq -r .step | xargs)"
check_exit "precise BN after each step, with five loader threads" 3 \
	train 1 v1-threads $options --loader-threads 5
check "precise BN after each step: five loader threads give the same bytes" same v1 v1-threads
for np in 2 3; do
	have_mpi || continue
	check_exit "precise BN after each step, on $np ranks" 3 train $np v$np $options
	check "precise BN after each step: $np ranks give the same bytes" same v1 v$np
done
have_mpi || skip "ranks" "no MPI"
np=1
status=75
while [ $status = 75 ]; do
	train $np v-again $options -q --save-steps 1 --stop-after 0.001s >"$T/out" 2>"$T/err"
	status=$?
	! have_mpi || np=$((np % 3 + 1))
done
check_same "precise BN after each step: a run that is stopped after each step ends with 3" 3 $status
check "precise BN after each step: a run that is stopped gives the same bytes" same v1 v-again

set=partly
# Mixed clips are loaded in pairs.
options="--on-corrupt skip:0.2 --loss sigmoid --mixup 0.8"
check_exit "mixed clips with damaged frames" 3 train 1 m1 $options
check_exit "mixed clips with other loader threads and memory" 3 \
	train 1 m1-threads $options --loader-threads 5 --loader-memory 1
check "other loader threads give the same bytes of mixed clips" same m1 m1-threads

plan
