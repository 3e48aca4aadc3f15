#!/bin/sh
# vt-bench cluster predicts runs from a profile and a cluster, vt-bench guidelines
# compares networks, and vt-bench links prints a cluster. tests/unit/cluster.c has the model's closed forms.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

vt-bench profile --model=tsm_r50 --shape=8x8x224 --rate=20 >"$T/p.tsv" || skip_all "no profile"
printf '#name\tmedian\n' >"$T/c.tsv"
printf '%s\t%s\n' links/host/latency 2e-6 links/host/bandwidth 5e10 links/network/latency 4e-6 \
	links/network/bandwidth 1e10 cluster/hosts 4 cluster/ranks-per-host 4 >>"$T/c.tsv"
# predict ARGUMENT...: predict with the files above.
predict() {
	vt-bench cluster --profile="$T/p.tsv" --links="$T/c.tsv" "$@" >"$T/out" 2>"$T/err"
}
# value NAME: print the median of a row of the last prediction.
value() {
	awk -F'\t' -v name="cluster/$1" '$1 == name { print $5 }' "$T/out"
}
# less A B: succeed if A is less than B.
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'
}

# ---- steps ----

check "a prediction of steps" predict --shape=8x8x224
check_same "it has a row of steps for 1, 2 and 4 hosts" "4 8 16" \
	"$(sed -n 's|^cluster/exact/\([0-9]*\)/step.*|\1|p' "$T/out" | paste -sd' ')"
check_same "each row has the values of 20 seeds" "20 20 20" \
	"$(awk -F'\t' '$1 ~ /[0-9]\/step$/ { print $3 }' "$T/out" | paste -sd' ' | cut -d' ' -f1,3,5)"
check "the parts of a step add up" awk -F'\t' '
	/\/phase\/.*\/(compute|communication|stragglers|input)\t/ { n++; sum += $5 }
	END { exit !(n == 12 && sum > 2.9999 && sum < 3.0001) }' "$T/out"
cp "$T/out" "$T/first"
check "the same prediction again" predict --shape=8x8x224
check "it has the same bytes" cmp "$T/first" "$T/out"
check "one rank is its own base" predict --shape=8x8x224 --ranks=4 --base-ranks=4
check_same "the base has an efficiency of 1" 1 "$(value exact/4/efficiency)"
predict --shape=8x8x224 --ranks=16 --algorithm=exact --algorithm=halving
fast=$(value halving/16/step)
check "two algorithms are predicted" less 0 "$fast"
predict --shape=8x8x224 --ranks=16 --algorithm=halving --set=links/network/bandwidth=1e7
check "slow links take longer" less "$fast" "$(value halving/16/step)"
check "the note names communication as the bound" grep -q '/phase/128x8x224/step.*bound by communication' "$T/out"
predict --shape=8x8x224 --ranks=16 --set=cluster/jitter=2
check "the note names stragglers as the bound" grep -q '/phase/128x8x224/step.*bound by stragglers' "$T/out"
predict --shape=8x8x224 --ranks=16 --algorithm=torus --set=links/network/latency=1e-3
slow=$(value torus/16/step)
predict --shape=8x8x224 --ranks=16 --algorithm=torus:2x8 --set=links/network/latency=1e-3
check "a torus with longer columns between hosts takes longer" less "$slow" "$(value torus:2x8/16/step)"
sed 's|^\(profile/[^/]*/[^/]*/\)forward\t.*|&\n\1loader\tclips/s\t1\t10\t10\t10\t|' "$T/p.tsv" >"$T/p2.tsv"
mv "$T/p2.tsv" "$T/p.tsv"
predict --shape=8x8x224 --ranks=16 --set=cluster/cores=2
check_same "a loader of 10 clips/s and core takes 1.6 s for 8 clips" 1.6 \
	"$(awk -F'\t' '/\/phase\/128x8x224\/step/ { printf "%.3g", $5 }' "$T/out")"
check "the note names the input as the bound" grep -q '/phase/128x8x224/step.*bound by input' "$T/out"

# ---- runs ----

schedule=share/schedules/k400_tsm_r50_8f_12288.tsv
start=$(date +%s)
check "work 1's recipe on 1,536 ranks" predict --links=summit --schedule=$schedule --samples=240000 --ranks=1536 \
	--base-ranks=6 --price=2
check "it takes seconds" [ $(($(date +%s) - start)) -le 20 ]
check_same "all 1,954 steps are predicted" 1954 \
	"$(sed -n 's|.*/phase/12288x8x224/step.* \([0-9]*\) steps$|\1|p' "$T/out")"
check_same "the price is that of 1,536 ranks" "$(value exact/1536/price/p50)" \
	"$(value exact/1536/time/p50 | awk '{ printf "%.6g", $1 / 3600 * 1536 * 2 }')"
# spread: print the quantiles of time and price in the last prediction, and its notes.
spread() {
	sed -nE 's#^cluster/exact/1536/((time|price)/p[0-9]+).*#\1#p' "$T/out" | paste -sd' '
	sed -n 's#^vt-bench: note: .*/clusters/##p' "$T/err"
}
check_same "a cluster without jitter and skew has no P10 to P90, and a note says so" "time/p50 price/p50
summit.tsv has no cluster/jitter, no cluster/skew, no cluster/start: the prediction is too low and has no spread (--set=NAME=VALUE adds them)" "$(spread)"
predict --links=summit --schedule=$schedule --samples=240000 --ranks=1536 --set=cluster/jitter=0.03
check_same "with jitter it has" "time/p10 time/p50 time/p90
summit.tsv has no cluster/skew, no cluster/start: the prediction is too low (--set=NAME=VALUE adds them)" "$(spread)"
predict --links=summit --schedule=$schedule --samples=240000 --ranks=1536 --set=cluster/jitter=0.03 \
	--set=cluster/skew=0.02 --set=cluster/start=60
check_same "with all three there is no note" "time/p10 time/p50 time/p90" "$(spread)"
predict --links=summit --schedule=$schedule --samples=240000 --ranks=1536
whole=$(value exact/1536/time/p50)
predict --links=summit --schedule=$schedule --samples=240000 --ranks=1536 --set=cluster/mtbf=100 \
	--set=cluster/interval=60 --set=cluster/checkpoint=1 --set=cluster/restart=30
check "failures and checkpoints take longer" less "$whole" "$(value exact/1536/time/p50)"
check "the number of failures is printed" less 0 "$(value exact/1536/failures)"
if built cairo; then
	check "--plot draws a picture" predict --shape=8x8x224 --plot="$T/a.png"
	check "the picture is a PNG" [ "$(head -c4 "$T/a.png" | tail -c3)" = PNG ]
	predict --links=summit --schedule=$schedule --samples=240000 --ranks=6,12 --plot="$T/a.svg"
	check "a picture of long runs is in hours, and claims no spread" sh -c "grep -q 'time of the run, h' '$T/a.svg' &&
		! grep -q P90 '$T/a.svg'"
else
	skip "--plot" "no cairo"
fi

# ---- guidelines ----

# compare ARGUMENT...: compare two networks; the second has twice the parameters of the first,
# and half of its rate and loader.
compare() {
	vt-bench guidelines --profile="$T/p.tsv" --profile="$T/q.tsv" --links="$T/c.tsv" --set=cluster/cores=64 \
		"$@" >"$T/out" 2>"$T/err"
}
# row NAME: print the median of a row of the last comparison.
row() {
	awk -F'\t' -v name="guidelines/$1" '$1 == name { print $5 }' "$T/out"
}
awk -F'\t' -v OFS='\t' '/^profile/ { gsub("tsm_r50", "twice", $1); half = $1 ~ /\/loader$/
	for (i = 4; i < 7; i++) $i = half ? $i / 2 : $1 ~ /flops$/ ? $i : 2 * $i } { print }' "$T/p.tsv" >"$T/q.tsv"
check "two networks are compared" compare --ranks=4,16
# torchvision's ResNet-50 has 23508032 parameters without its classifier, ours has 400 classes;
# the sums over ranks also include 53120 running statistics.
check_same "sizes and rate of the first" "24327632 97523008 1204224 20" \
	"$(for k in parameters gradients input clips; do row tsm_r50/$k; done | paste -sd' ')"
check_same "sizes and rate of the second" "48655264 10" "$(row twice/parameters) $(row twice/clips)"
check_same "the input takes 8 clips / (10 clips/s x 16 cores)" 0.05 "$(row tsm_r50/exact/16/input)"
check "the table of the comments has both" [ "$(grep -c '^# \(tsm_r50\|twice\)  ' "$T/out")" = 2 ]
check "the longest cost of a step is compute" \
	grep -q "^guidelines/tsm_r50/exact/16/compute.*the longest" "$T/out"
alone=$(row tsm_r50/exact/16/efficiency)
check "more gradients have a lower efficiency" less "$(row tsm_r50/gradients-of/twice/exact/16/efficiency)" "$alone"
check "slower passes have a higher one" less "$alone" "$(row tsm_r50/compute-of/twice/exact/16/efficiency)"
compare --ranks=16 --set=links/network/bandwidth=1e7
check "with slow links it is the network" grep -q "^guidelines/tsm_r50/exact/16/network.*the longest" "$T/out"
compare --ranks=16 --set=cluster/cores=1
check_same "a loader of half the rate, 5 clips/s on 4 cores, gives 20 clips/s" 20 \
	"$(row tsm_r50/input-of/twice/exact/16/clips)"
check "a schedule of both" compare --ranks=16 --schedule=share/schedules/k400_tsm_r50_8f_12288.tsv --samples=240000
check_exit "cluster takes one profile" 2 vt-bench cluster --profile="$T/p.tsv" --profile="$T/q.tsv" --links="$T/c.tsv"
check_says "the message says so" '2 times --profile'
check_exit "guidelines takes one algorithm" 2 vt-bench guidelines --profile="$T/p.tsv" --links="$T/c.tsv" \
	--algorithm=ring --algorithm=exact
check_message "guidelines takes the shapes of the profiles" 2 'does not apply to guidelines' \
	vt-bench guidelines --profile="$T/p.tsv" --links="$T/c.tsv" --shape=8x8x224

# ---- what is refused ----

while read -r says options; do
	# shellcheck disable=SC2086
	check_exit "$options ends with 2" 2 vt-bench cluster --profile="$T/p.tsv" --links="$T/c.tsv" $options
	check_says "the message says $says" "$(echo "$says" | tr _ ' ')"
done <<'BAD'
no_profile_of_4x8x224 --shape=4x8x224
no_property --shape=8x8x224 --set=links/speed=1
NAME=VALUE --shape=8x8x224 --set=cluster/jitter
from_0_to_100 --shape=8x8x224 --set=cluster/jitter=-1
needs_--samples --schedule=share/schedules/k400_tsm_r50_8f.tsv
messages_are_unknown --algorithm=native
messages_are_unknown --algorithm=torus:4
no_nowhere_in_clusters.*abci,_summit.*the_path_of_a_table_of_vt-bench_links --links=nowhere
does_not_apply --rate=3
BAD
for hosts in "" --hosts=1048576; do
	check_exit "100,000 ranks a host $hosts end with 2" 2 timeout 20 vt-bench cluster --profile="$T/p.tsv" \
		--links="$T/c.tsv" --shape=8x8x224 --ranks-per-host=100000 $hosts
	check_says "the message says how many are possible" 'hosts of 100000 ranks \(wanted at most 65536 ranks in all'
done
check_exit "blanks in --ranks end with 2" 2 vt-bench cluster --profile="$T/p.tsv" --links="$T/c.tsv" --ranks=' 3'
check_exit "no profile ends with 2" 2 vt-bench cluster --links=summit
check_exit "--price without a schedule ends with 2" 2 vt-bench cluster --profile="$T/p.tsv" --links=summit --price=2
grep -v '/ready/fc.bias' "$T/p.tsv" >"$T/cut.tsv"
check_exit "an incomplete profile ends with 2" 2 vt-bench cluster --profile="$T/cut.tsv" --links=summit --shape=8x8x224
check_says "the message names the missing rows" 'cut.tsv: the profile of 8x8x224 lacks rows'
grep -v network "$T/c.tsv" >"$T/alone.tsv"
check_message "a cluster without a network ends with 2" 2 'alone.tsv: no row links/network/latency' \
	vt-bench cluster --profile="$T/p.tsv" --links="$T/alone.tsv" --shape=8x8x224
check_same "nothing is printed before the message" "" "$(vt-bench cluster --profile="$T/p.tsv" --links="$T/alone.tsv" \
	--shape=8x8x224 2>/dev/null)"
check_exit "one host needs no network" 0 \
	vt-bench cluster --profile="$T/p.tsv" --links="$T/alone.tsv" --shape=8x8x224 --hosts=1

# silent WHAT: the last check_exit printed nothing to standard output.
silent() {
	check_same "$1: nothing is printed before the error" "" "$(cat "$T/out")"
}
printf 'a\tb\n1\t2\n' >"$T/foreign.tsv"
printf '#name\tmedian\nlinks/host/speed\t1\n' >"$T/unknown.tsv"
mkdir "$T/folder.tsv"
for command in cluster guidelines; do
	while read -r file says; do
		check_message "$command --links=$file ends with 2" 2 "$file.*$says" \
			vt-bench $command --profile="$T/p.tsv" --links="$T/$file"
		silent "$command --links=$file"
	done <<-'FILES'
		missing.tsv cannot open: No such file
		folder.tsv Is a directory
		foreign.tsv no column name \(wanted a table of vt-bench links\)
		p.tsv no rows links/... or cluster/... \(wanted a table of vt-bench links\)
		unknown.tsv no property links/host/speed
	FILES
	while read -r file says; do
		check_message "$command --profile=$file ends with 2" 2 "$file.*$says" \
			vt-bench $command --profile="$T/$file" --links="$T/c.tsv"
		silent "$command --profile=$file"
	done <<-'FILES'
		missing.tsv cannot open: No such file
		folder.tsv Is a directory
		foreign.tsv no column name \(wanted a table of vt-bench profile\)
		c.tsv no rows profile/
	FILES
done
check_exit "a wrong second profile ends with 2" 2 compare --profile="$T/foreign.tsv"
silent "a wrong second profile"
check_exit "more ranks than microbatches end with 2" 2 predict --links=summit --schedule=$schedule --samples=240000 \
	--ranks=6,1536,3072
check_says "the message has both numbers" '3072 ranks, but a batch of 12288 clips has 1536 microbatches of 8 clips'
silent "more ranks than microbatches"
for options in --ranks=0 --ranks=8,x --algorithm=native --algorithm=tree --model=nowhere; do
	check_exit "cluster $options ends with 2" 2 predict --links=summit --shape=8x8x224 $options
	silent "cluster $options"
done

# ---- installed clusters ----

for f in share/clusters/*.tsv; do
	c=$(basename "$f" .tsv)
	check_exit "$c is a whole cluster" 0 vt-bench cluster --profile="$T/p.tsv" --links="$c" --shape=8x8x224 --ranks=24
	check "$c: each number has a source, or is assumed" awk -F'\t' '/^#/ { next } NF != 3 || $3 == "" { bad = 1 }
		END { exit bad }' "$f"
done

# ---- links ----

if have_mpi; then
	check_exit "links of two ranks" 0 mpirun -n 2 vt-bench links --runs=3
	check_same "links has the rows of the host" "links/host/latency links/host/bandwidth links/host/total links/add" \
		"$(grep -v '^#' "$T/out" | cut -f1 | paste -sd' ')"
	cp "$T/out" "$T/links.tsv"
	check_exit "its output is a cluster" 0 vt-bench cluster --profile="$T/p.tsv" --links="$T/links.tsv" \
		--shape=8x8x224 --ranks-per-host=4
	check_exit "links of three ranks: one has no partner" 0 mpirun -n 3 vt-bench links --runs=1
else
	skip "links" "no MPI"
fi
plan
