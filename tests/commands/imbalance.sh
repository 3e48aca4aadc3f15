#!/bin/sh
# vt-train --balance, --class-weight and --loss=focal: epochs visit classes as
# computed, and all numbers of ranks and threads, stops and kills give the same
# weights. The loss of a validation is the cross-entropy. Wrong use is refused.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# 24 samples: 18 of class a, 3 of b, 3 of c.
"$MAKESET" "$T/set" 24 4 40 32 5 classes=3 rare=4 || skip_all "no test set"
"$MAKESET" "$T/sets" 24 8 40 32 5 sets=1 classes=5
small_net 8 8 0.3 >"$T/net.net"
{ cat "$T/net.net"; echo "loss l in=scores kind=sigmoid"; } >"$T/sigmoid.net"
stages '0 0 4 0 12 2 28 3 0.05 0 0' >"$T/s.tsv"
printf '#class\tweight\na\t1\nb\t6\nc\t3\n' >"$T/w.tsv"
all="--balance=0.5 --class-weight=$T/w.tsv --loss=focal --focal-gamma=1.5 --label-smoothing=0.1 --mixup=0.4"
train() {
	vt-train -q -i "$T/set" -m "$T/net.net" --schedule="$T/s.tsv" --device=ref --seed=7 "$@"
}
# trained RUN [OPTION]...: train, and print the hash of each tensor of the final
# checkpoint.
trained() {
	run=$T/$1
	shift
	${launch:-} "$BUILD/vt-train" -i "$T/set" -m "$T/net.net" --schedule "$T/s.tsv" -o "$run" --device ref --seed 7 -qq "$@" \
		>/dev/null 2>"$T/err" || diag "exit $?: $(tail -2 "$T/err")"
	tensors "$run"
}

# ---- visits ----

# visits TRACE: print the visits of class a, b and c in each epoch of a trace.
visits() {
	awk -F '\t' '!/^#/ {
		i = substr($3, match($3, /[0-9]/)) + 0
		n[int($2 / 24), i % 4 ? 0 : 1 + i / 4 % 2]++
	}
	END { for (e = 0; e < 4; e++) printf "%s%d,%d,%d", e ? " " : "", n[e, 0], n[e, 1], n[e, 2]; print "" }' "$1"
}
for p in 0 0.5 1; do
	check_exit "--balance=$p trains" 0 train -o "$T/b$p" --balance=$p --trace-samples="$T/trace$p"
done
check_same "--balance=0: every epoch has each sample once" "18,3,3 18,3,3 18,3,3 18,3,3" "$(visits "$T/trace0")"
# 24 sqrt(18), sqrt(3) and sqrt(3) / their sum: 13.21, 5.39 and 5.39.
check_same "--balance=0.5: visits by the root of the samples" "13,6,5 13,6,5 13,6,5 13,6,5" "$(visits "$T/trace0.5")"
check_same "--balance=1: all classes alike" "8,8,8 8,8,8 8,8,8 8,8,8" "$(visits "$T/trace1")"
check_same "--balance=1: the visits of the samples of a class differ by at most 1" "1 2
10 11" "$(grep -v '^#' "$T/trace1" | cut -f3 | sort | uniq -c | awk '{ i = substr($2, match($2, /[0-9]/)) % 4 ? 0 : 1
	lo[i] = lo[i] && lo[i] < $1 ? lo[i] : $1; hi[i] = hi[i] > $1 ? hi[i] : $1 }
	END { print lo[0], hi[0]; print lo[1], hi[1] }')"
check_same "--balance=0 gives the weights of a run without the option" "$(trained none)" "$(tensors "$T/b0")"

check_exit "-n with --balance and --class-weight" 0 train -n --balance=0.5 --class-weight="$T/w.tsv"
# Normalized over the visits: 24 / (13 + 6 * 6 + 5 * 3) = 0.375.
check_same "-n prints samples, visits and weight of each class" "18 samples, 13 visits an epoch (54.17 %), weight 0.375: a
3 samples, 6 visits an epoch (25 %), weight 2.25: b
3 samples, 5 visits an epoch (20.83 %), weight 1.125: c" "$(sed -n 's/^# class  *//p' "$T/out")"
check_exit "-n with --class-weight=inverse:1" 0 train -n --class-weight=inverse:1
check_same "inverse:1: the weights of all samples of a class have the same sum" "0.4444 2.667 2.667" \
	"$(sed -n 's/^# class .*weight \([0-9.]*\):.*/\1/p' "$T/out" | xargs)"
check_exit "-n without the options" 0 train -n
check "-n without the options prints no classes" sh -c '! grep -q "^# class " "$1"' sh "$T/out"

# ---- the same bits ----

# shellcheck disable=SC2086
{
	want=$(trained all $all --loader-threads 1 -j 1)
	check_same "4 loader threads and 3 compute threads give the same weights" \
		"$want" "$(trained threads $all --loader-threads 4 -j 3)"
	for np in 2 3; do
		if have_mpi; then
			launch="mpirun -np $np"
			check_same "$np ranks give the same weights" "$want" "$(trained "ranks$np" $all -j 1)"
			launch=
		else
			skip "$np ranks give the same weights" "no mpirun, or built without MPI"
		fi
	done
	killed_often 4 on_ranks vt-train -q -i "$T/set" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --seed 7 -o "$T/killed" \
		--save-steps 1 $all
	check_same "a run that was killed four times gives the same weights" "$want" "$(trained killed --save-steps 1 $all)"
	for without in balance class-weight loss focal-gamma; do
		some=$(echo "$all" | tr ' ' '\n' | grep -v -e "--$without=")
		[ $without != loss ] || some=$(echo "$some" | grep -v focal)
		check "--$without changes the weights" test "$want" != "$(trained "no-$without" $some)"
		check_exit "resuming without --$without ends with 2" 2 train -o "$T/all" $some
		name=$without
		[ $without != class-weight ] || name=class_weights
		check_says "resuming without --$without: the message has the way out" "override=$name|network loss|network net: line"
	done
	cp "$T/w.tsv" "$T/copy.tsv"
	check_exit "resuming with a copy of the table" 0 train -o "$T/all" $all --class-weight="$T/copy.tsv"
}

# ---- the loss of a validation ----

# shellcheck disable=SC2086
check_exit "a run with validations" 0 train --val="$T/set" -o "$T/validated" $all --precise-bn=off
cp "$T/out" "$T/table"
check_exit "vt-eval of it" 0 vt-eval -k "$T/validated" -i "$T/set" --device=ref --scores="$T/scores"
want=$(awk -F'\t' 'NR < 3 { next }
	{ sum = 0; for (c = 3; c < NF - 2; c++) sum += exp($c); loss += log(sum) - $(3 + $2); n++ }
	END { printf "%.6f", loss / n }' "$T/scores")
check_same "the loss of a validation is named and is the cross-entropy of the scores" "cross-entropy $want" \
	"$(sed -n 's/^# validation.*\(cross-entropy [0-9.]*\).*/\1/p' "$T/table" | tail -1)"
check_same "the loss of vt-eval is the cross-entropy of the scores" "loss $want" "$(tail -1 "$T/out" | grep -o 'loss [0-9.]*')"
check_exit "a run with validations and a softmax loss" 0 train --val="$T/set" -o "$T/softmax"
check "another loss keeps its name" grep -q '^# validation.*	loss [0-9.]*' "$T/out"

# ---- refused ----

refused() {
	what=$1 pattern=$2
	shift 2
	check_message "$what ends with 2" 2 "$pattern" train -o "$T/no" "$@"
}
refused "--balance for sets of classes" 'its samples have sets of classes \(--balance is for one class a sample\)' \
	-i "$T/sets" --loss=sigmoid --balance=1
refused "--class-weight for sets of classes" 'its samples have sets of classes \(--class-weight is for one class a sample\)' \
	-i "$T/sets" --loss=sigmoid --class-weight=inverse:1
refused "--class-weight with a sigmoid loss" 'sigmoid: has no softmax loss \(--class-weight needs one\)' \
	-m "$T/sigmoid.net" --class-weight=inverse:1
refused "--balance above 1" '--balance: 2 .wanted a number from 0 to 1' --balance=2
printf 'class,weight\na,1\n' >"$T/bad.tsv"
refused "a table with commas" 'bad.tsv: no column class \(wanted columns separated by tabs\)' --class-weight="$T/bad.tsv"
refused "inverse without a power" 'class-weight=inverse \(wanted inverse:P' --class-weight=inverse
refused "a power above 1" 'class-weight=inverse:2 \(wanted inverse:P, P from 0 to 1, or a file\)' --class-weight=inverse:2
refused "--focal-gamma alone" 'focal-gamma without --loss=focal' --focal-gamma=3
refused "--loss=focal with a loss of the network" 'has a loss of its own \(--loss=focal' -m "$T/sigmoid.net" --loss=focal
table() {
	printf '#class\tweight\n' >"$T/bad.tsv"
	printf '%s\t%s\n' "$@" >>"$T/bad.tsv"
}
table a 1 b 2
refused "a class without a weight" 'bad.tsv: class c has no weight' --class-weight="$T/bad.tsv"
table a 1 b 2 b 2
refused "a class listed twice" 'bad.tsv: line 4: class b is listed twice' --class-weight="$T/bad.tsv"
table a 1 b 2 d 2
refused "an unknown class" 'bad.tsv: line 4: class d is not among the 3 classes' --class-weight="$T/bad.tsv"
table a 1 b -2 c 2
refused "a weight below 0" 'bad.tsv: line 3: weight -2 \(wanted a number from 0 to 1e6\)' --class-weight="$T/bad.tsv"
table a 0 b 0 c 0
refused "weights of 0" 'bad.tsv: the weight of every class with samples is 0' --class-weight="$T/bad.tsv"
check "a refused run makes no folder" test ! -e "$T/no"
plan
