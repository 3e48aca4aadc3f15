#!/bin/sh
# vt-eval gives the same results on every number of ranks and threads. Its
# figures follow from the scores, and views are averaged. Each wrong use and
# damaged file has its message and exit status.
# tests/run: weight 24
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes
cpu=no cairo=no
! built oneDNN || cpu=yes
! built cairo || cairo=yes

# 22 samples of 8 classes: neither ranks nor microbatches divide them.
"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 22 8 40 32 2 || skip_all "no test set"
small_net 8 12 0.3 >"$T/net.net"
vt-schedule --batch=8 --frames=4 --crop=28 --bn-size=4 --epochs=4 --milestones=none -o "$T/s.tsv"
# trained DIR SET [OPTION]...: make a run of a few steps.
trained() {
	run=$1 set=$2
	shift 2
	vt-train -i "$set" -m "$T/net.net" --schedule "$T/s.tsv" -o "$run" --device ref --seed 7 -qq "$@" >/dev/null
}
trained "$T/run" "$T/train" || skip_all "nothing was trained"
net=$T/run/final.safetensors

# all DIR COMMAND...: write every kind of result for the set "val" to DIR.
all() {
	dir=$1
	shift
	mkdir -p "$dir"
	[ $cairo = no ] || set -- "$@" --matrix "$dir/matrix.png" --matrix "$dir/matrix.svg" --matrix "$dir/matrix.pdf" \
		--sheet "$dir/sheet.png" --sheet-samples 7
	"$@" -k "$net" -i "$T/val" --scores "$dir/scores" --per-class "$dir/classes" --matrix "$dir/matrix.tsv" \
		>"$dir/out" 2>"$dir/err"
}
# compared WHAT A B: pass if two such folders are equal, byte for byte.
compared() {
	got=$(diff -rq "$2" "$3" 2>&1) && [ -s "$2/matrix.tsv" ]
	check_same "$1" "0 " "$? $got"
}

# ---- ranks and threads ----

for device in ref cpu; do
	if [ $device = cpu ] && [ $cpu = no ]; then
		skip "cpu: the same results" "built without oneDNN"
		continue
	fi
	check "$device: all kinds of results are written" \
		all "$T/$device" vt-eval --device $device -j 1 --loader-threads 1
	check_same "$device: nothing on standard error" "" "$(cat "$T/$device/err")"
	all "$T/$device-j3" vt-eval --device $device -j 3 --loader-threads 4 --loader-memory 1
	compared "$device: 1 and 3 threads give the same bytes" "$T/$device" "$T/$device-j3"
	for np in 2 3; do
		if [ $mpi = no ]; then
			skip "$device: $np ranks" "no mpirun, or built without MPI"
			continue
		fi
		all "$T/$device-$np" mpirun -np $np "$BUILD/vt-eval" --device $device -j 1
		compared "$device: 1 and $np ranks give the same bytes" "$T/$device" "$T/$device-$np"
	done
done
"$MAKESET" "$T/two" 2 8 40 32 3
vt-eval -k "$net" -i "$T/two" --device ref >"$T/two.1"
check_same "a set of 2 samples has 2 lines" "2 22" "$(grep -vc '^#' "$T/two.1") $(grep -vc '^#' "$T/ref/out")"
if [ $mpi = yes ]; then
	mpirun -np 3 "$BUILD/vt-eval" -k "$net" -i "$T/two" --device ref >"$T/two.3" 2>"$T/err"
	check "3 ranks score 2 samples, and one rank has none" cmp "$T/two.1" "$T/two.3"
fi

# ---- figures ----

# field NAME FILE: print a value of the summary line.
field() {
	sed -n "s/^#summary.*	$1 \([^	]*\).*/\1/p" "$2"
}
# right FILE: compute top-1 and top-5 from a table of scores. A class counts as
# better if its score is at least the label's.
right() {
	awk -F '\t' 'NR < 3 || $2 < 0 { next } {
		n++
		above = 0
		for (c = 3; c < NF - 2; c++)
			above += c != $2 + 3 && $c >= $($2 + 3)
		top1 += above < 1
		top5 += above < 5
	}
	END { printf "%.6f %.6f\n", top1 / n, top5 / n }' "$1"
}
for d in "$T/ref" "$T/cpu"; do
	[ -d "$d" ] || continue
	name=${d##*/}
	check_same "$name: top-1 and top-5 follow from the scores" "$(field top1 "$d/out") $(field top5 "$d/out")" "$(right "$d/scores")"
	check_same "$name: the loss follows from the scores" \
		"$(field loss "$d/out" | cut -c1-7)" "$(awk -F '\t' 'NR > 2 {
		sum = 0
		for (c = 3; c < NF - 2; c++)
			sum += exp($c)
		loss += log(sum) - $($2 + 3)
		n++
	}
	END { printf "%.6f\n", loss / n }' "$d/scores" | cut -c1-7)"
	check_same "$name: the names and softmax of each sample follow from the scores" "" "$(awk -F '\t' '
		NR == 2 { for (c = 3; c < NF - 2; c++) class[c] = $c }
		NR < 3 { next }
		NR == FNR {
			best = 3
			sum = 0
			for (c = 3; c < NF - 2; c++) {
				if ($c > $best)
					best = c
				sum += exp($c)
			}
			top[$1] = class[best]
			label[$1] = class[$2 + 3]
			p[$1] = exp($best) / sum
			next
		}
		/^#/ { next }
		$2 != label[$1] || $3 != top[$1] || ($8 - p[$1]) ^ 2 > 1e-14' "$d/scores" "$d/out")"
	# Columns of a class: its samples, its accuracy, and the class it is
	# most often taken for.
	check_same "$name: the table of classes follows from the samples" "$(cut -f1-4,6,7 "$d/classes" | grep -v '^#')" "$(awk -F '\t' '
		/^#/ { next }
		{ n[$2]++; right[$2] += $2 == $3; taken[$2, $3]++ }
		END {
			for (c = 0; c < 8; c++) {
				name = substr("abcdefgh", c + 1, 1)
				most = ""
				times = 0
				for (k = 1; k <= 8; k++) {
					other = substr("abcdefgh", k, 1)
					if (other != name && taken[name, other] > times) {
						most = other
						times = taken[name, other]
					}
				}
				printf "%d\t%s\t%d\t%.9g\t%s\t%d\n", c, name, n[name], right[name] / n[name], most, times
			}
		}' "$d/out")"
	check_same "$name: the weighted means over classes are top-1 and top-5 of all samples" \
		"22 $(field top1 "$d/out") $(field top5 "$d/out")" "$(awk -F '\t' '
		!/^#/ { n += $3; one += $3 * $4; five += $3 * $5 }
		END { printf "%d %.6f %.6f\n", n, one / n, five / n }' "$d/classes")"
done
check_same "--json prints the same figures" \
	"$(field top1 "$T/ref/out") $(field top5 "$T/ref/out") $(field loss "$T/ref/out") 22 22" \
	"$(vt-eval -k "$net" -i "$T/val" --device ref --json | tail -1 |
	sed 's/.*"labelled":\([0-9]*\).*"loss":\([^,]*\).*"top1":\([^,]*\),"top5":\([^,]*\).*"views":\([0-9]*\).*/\3 \4 \2 \1 \5/' |
	awk '{ printf "%.6f %.6f %.6f %d %d\n", $1, $2, $3, $4, $5 }')"
check_same "--json prints the same samples" \
	"$(grep -v '^#' "$T/ref/out" | cut -f1-7)" "$(vt-eval -k "$net" -i "$T/val" --device ref --json |
	sed -n 's/^{"key":"\([^"]*\)","label":"\(.\)",.*"top":\[\(.*\)\],.*/\1,\2,\3/p' | tr -d '"' | tr , '\t')"

# ---- the confusion matrix and the contact sheet ----

# confused [percent]: compute the confusion matrix from the samples' lines, in
# the order of class numbers.
confused() {
	awk -F '\t' -v percent="${1:-}" '/^#/ { next }
		{ n[$2]++; taken[$2, $3]++ }
		END {
			printf "#label\tsamples\ta\tb\tc\td\te\tf\tg\th\n"
			for (c = 1; c <= 8; c++) {
				name = substr("abcdefgh", c, 1)
				printf "%s\t%d", name, n[name]
				for (k = 1; k <= 8; k++) {
					v = taken[name, substr("abcdefgh", k, 1)] + 0
					printf "\t%.9g", percent && v ? 100 * v / n[name] : v
				}
				print ""
			}
		}' "$T/ref/out"
}
check_exit "--matrix twice, as tables of counts" 0 \
	vt-eval -k "$net" -i "$T/val" --device ref --matrix "$T/m1.tsv" --matrix "$T/m2.tsv" --matrix-values count --matrix-order number
check_same "the matrix has the counts of the samples" "$(confused)" "$(cat "$T/m1.tsv")"
check "both matrices are the same" cmp "$T/m1.tsv" "$T/m2.tsv"
check_exit "--matrix as a table of percentages" 0 \
	vt-eval -k "$net" -i "$T/val" --device ref --matrix "$T/m3.tsv" --matrix-order=number
check_same "the matrix has percentages of each label's samples" "$(confused percent)" "$(cat "$T/m3.tsv")"
# by_number FILE: print the matrix with rows and columns in the order of class
# numbers.
by_number() {
	awk -F '\t' '
		NR == 1 { for (c = 3; c <= NF; c++) at[$c] = c; next }
		{ for (k = 1; k <= 8; k++) row[$1] = row[$1] "\t" $at[substr("abcdefgh", k, 1)]; n[$1] = $2 }
		END {
			printf "#label\tsamples\ta\tb\tc\td\te\tf\tg\th\n"
			for (c = 1; c <= 8; c++) {
				name = substr("abcdefgh", c, 1)
				print name "\t" n[name] row[name]
			}
		}' "$1"
}
check_same "the default order has the same cells" "$(confused percent)" "$(by_number "$T/ref/matrix.tsv")"
check_same "rows and columns have the same order" \
	"$(head -1 "$T/ref/matrix.tsv" | cut -f 3- | tr '\t' ' ')" "$(sed 1d "$T/ref/matrix.tsv" | cut -f1 | paste -sd ' ')"
check "the default order is not that of class numbers" sh -c "! cmp -s '$T/ref/matrix.tsv' '$T/m3.tsv'"
# said FILE LINE...: succeed if FILE contains all these lines.
said() {
	file=$1
	shift
	for line; do
		grep -qxF -- "$line" "$file" || { diag "$file does not say: $line"; return 1; }
	done
}
if [ $cairo = yes ]; then
	check_same "each picture has the signature of its format" "89504e47 3c3f786d 25504446 89504e47" \
		"$(for f in matrix.png matrix.svg matrix.pdf sheet.png; do head -c 4 "$T/ref/$f" | od -An -tx1 | tr -d ' \n'; echo; done | paste -sd ' ')"
	check "the matrix picture shows axes, classes, key and figures" \
		said "$T/ref/matrix.svg" label "predicted as" a h N "% of N" \
		"top-1 $(awk "BEGIN { printf \"%.1f\", 100 * $(field top1 "$T/ref/out") }") %, top-5 $(awk "BEGIN { printf \"%.1f\", 100 * $(field top5 "$T/ref/out") }") % of 22 samples"
	check "the matrix picture shows each row's number of samples" \
		said "$T/ref/matrix.svg" $(sed 1d "$T/m1.tsv" | cut -f 2)
	if command -v pdftotext >/dev/null; then
		pdftotext -layout "$T/ref/matrix.pdf" - | tr -s ' ' '\n' >"$T/pdf.txt"
		check "the PDF contains its text as text" said "$T/pdf.txt" label predicted top-1 samples
	else
		skip "the PDF contains its text as text" "no pdftotext"
	fi
	check_exit "a matrix picture of counts, by class number" 0 \
		vt-eval -k "$net" -i "$T/val" --device ref --matrix "$T/c.svg" --matrix-values=count --matrix-order=number
	check "the picture of counts has no percentages" \
		said "$T/c.svg" samples $(cut -f 3- "$T/m1.tsv" | sed 1d | tr '\t' '\n' | grep -v '^0$' | sort -u)
	check_exit "a sheet of wrong predictions" 0 vt-eval -k "$net" -i "$T/val" --device ref --sheet "$T/wrong.svg" --sheet-of=wrong --sheet-samples 5
	# The five most confident wrong predictions: key, label, prediction and
	# score.
	awk -F '\t' '!/^#/ && $2 != $3' "$T/ref/out" | sort -t "$(printf '\t')" -k 8,8gr -s | head -5 >"$T/wrong"
	check_same "the sheet shows the most confident ones, in order" \
		"$(cut -f1 "$T/wrong")" "$(grep -xE 's[0-9]{5}' "$T/wrong.svg")"
	check_same "the sheet shows their scores" \
		"$(awk -F '\t' '{ printf "%.3f\n", $8 }' "$T/wrong")" "$(grep -xE '0\.[0-9]{3}' "$T/wrong.svg")"
	check_same "the sheet shows their labels" \
		"$(awk -F '\t' '{ print "label: " $2 }' "$T/wrong")" "$(grep '^label: ' "$T/wrong.svg")"
	check "the sheet says how many wrong predictions there are" \
		grep -q "^the 5 most confident of $(awk -F '\t' '!/^#/ && $2 != $3' "$T/ref/out" | wc -l) wrong predictions" "$T/wrong.svg"
else
	skip "pictures" "built without cairo"
	check_message "a picture without cairo ends with 2" 2 'this build has no cairo' \
		vt-eval -k "$net" -i "$T/val" --device ref --scores "$T/never" --matrix "$T/m.png"
	check_exit "a sheet without cairo ends with 2" 2 \
		vt-eval -k "$net" -i "$T/val" --device ref --scores "$T/never" --sheet "$T/m.png"
fi
for file in "matrix m.jpg" "sheet m.tsv" "matrix m" "sheet m"; do
	check_exit "--${file% *}=${file#* } ends with 2" 2 \
		vt-eval -k "$net" -i "$T/val" --device ref --scores "$T/never" --"${file% *}"="${file#* }"
	[ $cairo = no ] || check_says "--${file% *}=${file#* }: the message lists the formats" "m[.a-z]*: .*wanted a name that ends with .png, .svg or .pdf"
	check "--${file% *}=${file#* }: nothing is computed" test ! -e "$T/never"
done

trained "$T/more" "$T/train" --val "$T/val" --val-every 0.6
check_same "the figures are those of the training's last validation" \
	"$(field top1 "$T/ref/out") $(field top5 "$T/ref/out")" \
	"$(sed -n 's/.*"top1":\([^,}]*\),"top5":\([^,}]*\).*/\1 \2/p' "$T/more/log.jsonl" | tail -1 | awk '{ printf "%.6f %.6f", $1, $2 }')"

# Samples without a label count for no figure.
"$MAKESET" "$T/blank" 22 8 40 32 2 blank=4
check_message "a set with unlabelled samples is scored" 0 'blank: 6 of 22 samples have no label' \
	vt-eval -k "$net" -i "$T/blank" --device ref --scores "$T/b.tsv" --per-class "$T/b.classes"
check_same "the figures count the labelled samples only" \
	"22 16 $(right "$T/b.tsv")" "$(for f in samples labelled top1 top5; do field $f "$T/out"; done | xargs)"
check_same "the table of classes counts the labelled samples only" 16 \
	"$(awk -F '\t' '!/^#/ { n += $3 } END { print n }' "$T/b.classes")"
check_same "the table of scores has all samples" 22 "$(tail -n +3 "$T/b.tsv" | wc -l)"
check_same "unlabelled samples have the same scores" "$(tail -n +2 "$T/ref/scores" | cut -f1,3-)" "$(tail -n +2 "$T/b.tsv" | cut -f1,3-)"
check_same "unlabelled samples have no label name" 6 \
	"$(awk -F '\t' '!/^#/ && $2 == ""' "$T/out" | wc -l | tr -d ' ')"
"$MAKESET" "$T/none" 5 8 40 32 2 blank=1
check_message "a set without any label is scored" 0 'none: no sample has a label; there are scores, but no accuracy' \
	vt-eval -k "$net" -i "$T/none" --device ref --scores "$T/n.scores"
check_same "without labels, no accuracy or loss is printed" \
	"   5 0" "$(for f in top1 top5 loss samples labelled; do echo "$(field $f "$T/out")"; done | paste -sd ' ')"
check_same "without labels, predictions are printed" 5 "$(grep -v '^#' "$T/out" | cut -f 3 | grep -c .)"
check_same "without labels, scores are written" 5 "$(tail -n +3 "$T/n.scores" | wc -l)"
check_exit "a set without any label, with --json" 0 vt-eval -k "$net" -i "$T/none" --device ref --json
check_same "without labels, --json has no accuracy or loss" 0 "$(tail -1 "$T/out" | grep -cE 'top1|top5|loss')"
for option in matrix=n.tsv per-class=n.tsv; do
	check_message "--$option without labels ends with 2" 2 "none: no sample has a label, which --${option%=*} needs" \
		vt-eval -k "$net" -i "$T/none" --device ref --scores "$T/never" --"${option%=*}=$T/${option#*=}"
	check "--$option: nothing is computed" test ! -e "$T/never"
done
if [ $cairo = yes ]; then
	check_exit "a sheet of samples without labels" 0 \
		vt-eval -k "$net" -i "$T/none" --device ref --sheet "$T/n.svg"
	check "the sheet of unlabelled samples shows predictions and scores" \
		said "$T/n.svg" s00000 s00004 "5 of 5 samples, what each is predicted as, and the score"
	check_message "a sheet of wrong predictions without labels ends with 2" 2 \
		"no sample has a label, which --sheet-of=wrong needs" \
		vt-eval -k "$net" -i "$T/none" --device ref --sheet "$T/n2.svg" --sheet-of=wrong
else
	skip "a sheet of unlabelled samples" "built without cairo"
fi

# Two classes: the columns for a third and further predictions are empty.
"$MAKESET" "$T/pair" 9 8 40 32 2 classes=2
check "a network of two classes is trained" trained "$T/run2" "$T/pair"
check_exit "a network of two classes is scored" 0 \
	vt-eval -k "$T/run2/final.safetensors" -i "$T/pair" --device ref --per-class "$T/2.classes" --matrix "$T/2.tsv"
check_same "with two classes, top-5 is 1" 1.000000 "$(field top5 "$T/out")"
if [ $cairo = yes ]; then
	vt-eval -q -k "$T/run2/final.safetensors" -i "$T/pair" --device ref --matrix "$T/2.svg" >/dev/null
	check "with two classes, the title of the matrix has no top-5" \
		sh -c 'grep -q "top-1 [0-9.]* % of 9 samples" "$1" && ! grep -q top-5 "$1"' sh "$T/2.svg"
else
	skip "with two classes, the title of the matrix has no top-5" "built without cairo"
fi
check_same "with two classes, the table of classes has the same columns" "11 columns, 2 names" "$(awk -F '\t' '
	!/^#/ { print NF " columns, " ($3 != "") + ($4 != "") + ($5 $6 $7 != "") " names" }' "$T/out" | sort -u)"

# A network with equal scores for all classes only guesses, and counts as wrong
# everywhere.
sed 's/std=0.1/std=0/' "$T/net.net" >"$T/zero.net"
awk 'BEGIN { OFS = FS = "\t" } NR > 1 { $3 = 1; $9 = "0" } { print } NR == 2 { exit }' "$T/s.tsv" >"$T/zero.tsv"
if vt-train -i "$T/train" -m "$T/zero.net" --schedule "$T/zero.tsv" -o "$T/run0" --device ref -qq >/dev/null; then
	check_exit "a network with equal scores is scored" 0 \
		vt-eval -k "$T/run0/final.safetensors" -i "$T/val" --device ref --per-class "$T/0.classes"
	check_same "equal scores are never right" \
		"0.000000 0.000000" "$(field top1 "$T/out") $(field top5 "$T/out")"
	check_same "equal scores are right in no class" \
		"0 0" "$(awk -F '\t' '!/^#/ { one += $4; five += $5 } END { print one + 0, five + 0 }' "$T/0.classes")"
else
	skip "a network with equal scores" "no rate of 0"
fi

# ---- views ----

# Each of these sets contains the pixels that one view of the set "wide" shows.
"$MAKESET" "$T/wide" 9 8 48 32 3 png=1
for part in left: right:x=16 centre:x=8; do
	x=${part#*:}
	"$MAKESET" "$T/${part%%:*}" 9 8 48 32 3 png=1 window=32 $x
	"$MAKESET" "$T/${part%%:*}-m" 9 8 48 32 3 png=1 window=32 mirror=1 $x
done
"$MAKESET" "$T/odd" 9 8 48 32 3 png=1 first=1 step=2
"$MAKESET" "$T/even" 9 8 48 32 3 png=1 first=0 step=2
# views FILE SET [OPTION]...: write the scores of SET.
views() {
	file=$1 set=$2
	shift 2
	vt-eval -k "$net" -i "$T/$set" --device ref --scores "$T/$file" --full-short-side --crop 32 "$@" >"$T/out" 2>"$T/err"
}
for part in left right centre left-m right-m centre-m; do views $part.1 $part; done
# mean FILE...: print the mean of their scores. A file given twice counts twice.
mean() {
	for f; do tail -n +3 "$T/$f"; done | awk -F '\t' '
		!($1 in n) { order[++keys] = $1 }
		{ n[$1]++; for (c = 3; c < NF - 2; c++) sum[$1, c] += $c; nf = NF }
		END {
			for (k = 1; k <= keys; k++) {
				printf "%s", order[k]
				for (c = 3; c <= nf; c++)
					printf " %.9f", sum[order[k], c] / n[order[k]]
				print ""
			}
		}'
}
# same_mean WHAT FILE FILE...: pass if the scores of the first are the mean of
# the others. The tolerance is for float rounding, and for mirrored pictures
# that are resized to bytes.
same_mean() {
	what=$1 got=$2
	shift 2
	mean "$got" >"$T/mean.got"
	mean "$@" >"$T/mean.want"
	check_same "$what" "9 samples 0 differ" "$(paste -d ' ' "$T/mean.got" "$T/mean.want" | awk '
		{
			n++
			half = NF / 2
			wrong = $1 != $(half + 1)
			for (c = 2; c <= half; c++)
				wrong = wrong || ($c - $(half + c)) ^ 2 > 1e-7
			differ += wrong
		}
		END { printf "%d samples %d differ\n", n, differ }')"
}
check "one crop and one clip" views one wide
same_mean "one crop is the centre crop" one centre.1
check "3 crops" views three wide --crops 3
same_mean "3 crops average left, right and centre" three left.1 right.1 centre.1
check_same "3 crops of 9 samples are 27 views" \
	"9 27 3" "$(for f in samples views crops; do field $f "$T/out"; done | xargs)"
check "5 crops" views five wide --crops 5
same_mean "5 crops average the corners and the centre" five left.1 left.1 right.1 right.1 centre.1
check "10 crops" views ten wide --crops 10
same_mean "10 crops average the 5 crops and their mirror images" \
	ten left.1 left.1 right.1 right.1 centre.1 left-m.1 left-m.1 right-m.1 right-m.1 centre-m.1
check "different crops have different scores" \
	sh -c "! cmp -s '$T/one' '$T/three' && ! cmp -s '$T/five' '$T/ten' && ! cmp -s '$T/left.1' '$T/left-m.1'"
views odd.1 odd
views even.1 even
same_mean "one clip of segments shows the middles of the segments" one odd.1
check "2 clips" views clips wide --clips 2
same_mean "2 clips average the middles and the beginnings of the segments" clips odd.1 even.1
check "2 clips of 3 crops" views both wide --clips 2 --crops 3
check_same "2 clips of 3 crops of 9 samples are 54 views" 54 "$(field views "$T/out")"
views o3 odd --crops 3
views e3 even --crops 3
same_mean "2 clips of 3 crops average all 6 views" both o3 e3
check "5 dense clips" views dense wide --sampler dense --clips 5
check_same "the number of dense clips is the one asked for" \
	"5 45" "$(field clips "$T/out") $(field views "$T/out")"
check "--frames and --crop differ from the training's" views other wide --frames 2 --crop 20
check_same "the summary shows --frames and --crop" "2 20" "$(field frames "$T/out") $(field crop "$T/out")"
check "3 crops, one view at a time" views leaf1 wide --crops 3 --microbatch 1
same_mean "one view at a time gives the same scores" leaf1 three
if [ $mpi = yes ]; then
	mpirun -np 3 "$BUILD/vt-eval" -k "$net" -i "$T/wide" --device ref --full-short-side --crop 32 --clips 2 --crops 3 --scores "$T/both.3" >/dev/null 2>"$T/err"
	check "3 ranks share samples, not views: the same bytes" cmp "$T/both" "$T/both.3"
fi

# ---- protocols ----

# protocol FILE [OPTION]...: write the scores without the options of views().
protocol() {
	file=$1
	shift
	vt-eval -k "$net" -i "$T/wide" --device ref --scores "$T/$file" "$@" >"$T/out" 2>"$T/err"
}
protocol twice --views=tsm-twice
protocol twice.1 --sampler=tsm --clips=2 --crops=3 --full-short-side
check "tsm-twice is 2 clips of 3 crops" cmp "$T/twice" "$T/twice.1"
protocol dense --views=tsm-dense --clips=2
protocol dense.1 --sampler=dense --clips=2 --crops=3 --full-short-side
check "tsm-dense is dense clips, and --clips overrides their number" cmp "$T/dense" "$T/dense.1"
protocol psf --views=pyslowfast --stride=2
check_same "pyslowfast is 10 clips of 3 crops" \
	"9 270 10 3" "$(for f in samples views clips crops; do field $f "$T/out"; done | xargs)"
protocol psf.1 --sampler=pyslowfast --stride=2 --clips=10 --crops=3 --full-short-side --crop-rule=pyslowfast --ensemble=probabilities
check "pyslowfast equals its list of options" cmp "$T/psf" "$T/psf.1"
check_same "pyslowfast's scores are logarithms of probabilities" "9 0" "$(awk -F '\t' 'NR < 3 { next } {
	sum = 0
	for (c = 3; c < NF - 2; c++)
		sum += exp($c)
	n++
	bad += (sum - 1) ^ 2 > 1e-9
}
END { print n, bad + 0 }' "$T/psf")"
protocol scores --views=pyslowfast --stride=2 --ensemble=scores
protocol max --views=pyslowfast --stride=2 --ensemble=max
check "the three values of --ensemble give different scores" \
	sh -c "! cmp -s '$T/psf' '$T/scores' && ! cmp -s '$T/psf' '$T/max' && ! cmp -s '$T/scores' '$T/max'"
protocol rule --views=pyslowfast --stride=2 --crop-rule=tsm
check "another --crop-rule gives other scores" sh -c "! cmp -s '$T/psf' '$T/rule'"
# A run whose frames are 2 apart is scored with that stride, as it was
# validated.
stages '0 0 2 0 8 3 28 4 0.01 2 2' >"$T/apart.tsv"
vt-train -i "$T/train" --val "$T/wide" -m "$T/net.net" --schedule "$T/apart.tsv" -o "$T/apart" --device ref --seed 7 -qq \
	--sampler=pyslowfast --crop-rule=jitter >"$T/apart.out" 2>"$T/err" || diag "$(cat "$T/err")"
check_same "without view options, vt-eval uses the views of the run's validations" \
	"$(sed -n 's/^# validation.*loss \([0-9.]*\).*/\1/p' "$T/apart.out" | tail -1)" \
	"$(vt-eval -k "$T/apart/final.safetensors" -i "$T/wide" --device ref 2>/dev/null | sed -n 's/^#summary.*	loss \([^	]*\).*/\1/p')"
check_message "a sampler of windows with a schedule without a stride ends with 2" 2 's.tsv.*: stage 0 has no stride' \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/none" --device ref --sampler=pyslowfast

# ---- a run's folder as checkpoint ----

cp -r "$T/more" "$T/dir"
best=$(jq -r 'select(.best) | "\(.step), has the best top1 of the validations, \(.top1 * 1e4 | round / 1e4)"' \
	"$T/more/log.jsonl" | tail -1)
vt-eval -k "$T/dir" -i "$T/val" --device ref >"$T/out" 2>"$T/err"
check_says "a run whose last step is not its best: a note names the best" "dir/best.safetensors, of step $best\$"
for kind in final best ckpt; do
	check_exit "a run's folder as checkpoint, in which $kind is the first choice" 0 \
		vt-eval -k "$T/dir" -i "$T/val" --device ref
	check_says "a run's folder: the message names $kind" "scoring .*/dir/$kind[-0-9]*\.safetensors\$"
	vt-eval -k "$(ls "$T/dir"/$kind*.safetensors | tail -1)" -i "$T/val" --device ref >"$T/out2" 2>/dev/null
	check "a run's folder: the scores are those of $kind" cmp "$T/out" "$T/out2"
	[ $kind = final ] || check "$kind: no note names the best" sh -c "! grep 'has the best' '$T/err'"
	rm "$T/dir"/$kind*.safetensors
done

# ---- the progress line ----

if command -v script >/dev/null; then
	env TERM=xterm script -qec "vt-eval -k '$net' -i '$T/wide' --device ref --clips 2 --crops 10 --frames 8 --crop 64 --microbatch 1 -j 1" /dev/null </dev/null >"$T/live" 2>&1
	check "the progress line has clips, their rate and the time left" \
		grep -qE 'clip [0-9]+/180  [0-9.]+ clips/s  [0-9:.]+( s)? left' "$T/live"
else
	skip "the progress line" "no script(1)"
fi

# ---- refusals ----

evaluate() {
	vt-eval -k "$net" -i "$T/val" --device ref "$@"
}
# refused WHAT STATUS REGEX COMMAND...: check status and message, which is one
# line.
refused() {
	what=$1 status=$2 regex=$3
	shift 3
	check_message "$what" "$status" "$regex" "$@"
	check_same "$what: there is one line of message and no result" \
		"1 0" "$(grep -c . "$T/err") $(grep -c . "$T/out")"
}
two_lines() {
	what=$1 status=$2 regex=$3
	shift 3
	check_message "$what" "$status" "$regex" "$@"
}
two_lines "no network" 2 'no network \(wanted --checkpoint=RUN, the folder of a run or a checkpoint\)' vt-eval -i "$T/val"
two_lines "no data" 2 'no input \(wanted videos, -T, --data=DIR, --rescore=FILE or --curve=FILE\)' vt-eval -k "$net"
two_lines "a video and a set" 2 'a\.mp4 and --data=.*/val \(wanted videos or a dataset\)' evaluate a.mp4
two_lines "an unknown option" 2 'no option --clip\b' evaluate --clip 2
refused "3 clips of segments" 2 '--clips=3: this sampler has up to 2 clips' evaluate --clips 3
refused "a sampler without a stride" 2 'needs a stride' evaluate --views charades
refused "5 crops of PySlowFast's" 2 '--crops=5 \(wanted 1 or 3\)' evaluate --views ssv2 --crops 5
refused "4 crops" 2 '--crops=4 \(wanted 1, 3, 5 or 10\)' evaluate --crops 4
refused "another back end" 2 'tpu' evaluate --device tpu
refused "no such checkpoint" 1 'nothing.safetensors: .*No such file' vt-eval -k "$T/nothing.safetensors" -i "$T/val"
refused "no such set" 1 'nowhere/manifest.json: there is no directory' vt-eval -k "$net" -i "$T/nowhere" --device ref
mkdir "$T/empty"
refused "a folder without a set" 1 'empty' vt-eval -k "$net" -i "$T/empty" --device ref
refused "a folder without checkpoints" 1 'val: a folder without checkpoints \(wanted a checkpoint' vt-eval -k "$T/val" -i "$T/val"
"$MAKESET" "$T/seven" 14 8 40 32 2 classes=7
refused "fewer classes" 2 'seven: 7 classes \(the checkpoint has 8, the next is h\): extract it with --classes=classes.txt of the set' vt-eval -k "$net" -i "$T/seven" --device ref
"$MAKESET" "$T/nine" 18 8 40 32 2 classes=9
refused "more classes" 2 'nine: class 8 is i \(the checkpoint has 8 classes\): extract it with --classes=' vt-eval -k "$net" -i "$T/nine" --device ref
"$MAKESET" "$T/names" 16 8 40 32 2 letter=98
refused "classes of other names" 2 'names: class 0 is b \(the checkpoint has a\)' vt-eval -k "$net" -i "$T/names" --device ref

# Truncate a checkpoint at lengths spread over the file, and by its last byte.
size=$(wc -c <"$net")
bad=
for n in 0 1 7 8 9 63 64 65 $((size / 4)) $((size / 2)) $((size - 65)) $((size - 64)) $((size - 1)); do
	head -c "$n" "$net" >"$T/cut.safetensors"
	vt-eval -k "$T/cut.safetensors" -i "$T/val" --device ref >"$T/out" 2>"$T/err"
	[ "$? $(grep -c . "$T/out") $(grep -c 'cut.safetensors: no footer of vt at the end (a truncated' "$T/err") $(grep -c . "$T/err")" = "4 0 1 1" ] || bad="$bad $n"
done
check_same "a checkpoint that is truncated anywhere is refused as damaged" "" "$bad"
bad=
for at in 0 9 200 $((size / 2)) $((size - 70)) $((size - 60)) $((size - 40)) $((size - 1)); do
	cp "$net" "$T/flip.safetensors"
	byte=$(od -An -tu1 -j "$at" -N 1 "$net")
	# shellcheck disable=SC2059
	printf "\\$(printf %o $((byte ^ 16)))" | dd of="$T/flip.safetensors" bs=1 seek="$at" conv=notrunc 2>/dev/null
	vt-eval -k "$T/flip.safetensors" -i "$T/val" --device ref >"$T/out" 2>"$T/err"
	[ "$? $(grep -c . "$T/out") $(grep -c 'flip.safetensors: ' "$T/err") $(grep -c . "$T/err")" = "4 0 1 1" ] || bad="$bad $at"
done
check_same "a checkpoint with one flipped bit is refused as damaged" "" "$bad"

# Checkpoints with changed metadata and a correct hash, so that only the
# metadata and tensors can reveal the change.
if command -v xxh128sum >/dev/null && command -v jq >/dev/null; then
	# remade FILTER: write the checkpoint with its header changed by jq.
	remade() {
		length=$(od -An -tu8 -N8 "$net" | tr -d ' ')
		tail -c +9 "$net" | head -c "$length" | jq -cj "$1" >"$T/header"
		while [ $((($(wc -c <"$T/header") + 8) % 64)) != 0 ]; do printf ' ' >>"$T/header"; done
		{
			le64 "$(wc -c <"$T/header")"
			cat "$T/header"
			tail -c +$((9 + length)) "$net" | head -c $((size - 8 - length - 64))
		} >"$T/remade.safetensors"
		{
			printf 'VTCKPT1\0'
			le64 "$(wc -c <"$T/remade.safetensors")"
			# shellcheck disable=SC2059
			printf "$(xxh128sum "$T/remade.safetensors" 2>/dev/null | cut -c1-32 | sed 's/../\\x&/g')" | bytes
			head -c 32 /dev/zero
		} >"$T/footer"
		cat "$T/footer" >>"$T/remade.safetensors"
	}
	le64() {
		v=$1
		for i in 1 2 3 4 5 6 7 8; do
			# shellcheck disable=SC2059
			printf "\\$(printf %o $((v % 256)))"
			v=$((v / 256))
		done
	}
	# dash's printf has no \x, so convert hexadecimal digits to bytes.
	bytes() {
		sed 's/\\x//g' | while read -r hex || [ -n "$hex" ]; do
			for h in $(echo "$hex" | sed 's/../& /g'); do
				# shellcheck disable=SC2059
				printf "\\$(printf %o "0x$h")"
			done
		done
	}
	remade .
	check_exit "a checkpoint with a rewritten header is read" 0 \
		vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	check "the rewritten checkpoint gives the same results" cmp "$T/out" "$T/ref/out"
	remade '.__metadata__["vt.network"] |= sub("out=12"; "out=16")'
	refused "tensors of another network" 4 'tensor model/conv2.weight: dimension 0 is 12 \(wanted 16\)' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade '.__metadata__["vt.network"] |= gsub("conv2"; "conv3")'
	refused "tensors of other names" 4 'no tensor model/conv3.weight' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade '.__metadata__["vt.network"] |= sub("linear"; "linnear")'
	refused "a network that cannot be read" 4 'linnear' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade 'del(.__metadata__["vt.network"])'
	refused "no network" 4 'no vt.network' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade '.__metadata__["vt.classes"] |= sub("c\n"; "x\n")'
	refused "a checkpoint of other classes" 2 'class 2 is c \(the checkpoint has x\)' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade '.__metadata__["vt.frames"] = "0"'
	refused "a shape of no frames" 4 'vt.frames is 0' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
	remade '.__metadata__["vt.format"] = "2"'
	refused "a later format" 4 'format 2' vt-eval -k "$T/remade.safetensors" -i "$T/val" --device ref
else
	skip "a checkpoint of another network" "no xxh128sum or no jq"
fi

# ---- damaged data ----

cp -r "$T/val" "$T/broken"
# Damage frame 0 of one sample. The beginnings of segments include it, their
# middles do not.
offset=$(vt-pack --list -i "$T/val" | awk -F '\t' '$1 == "s00015" { print $10 + 600 }')
printf '\377\377' | dd of="$T/broken/t-000001.tar" bs=1 seek="$offset" conv=notrunc 2>/dev/null
mkdir "$T/results"
for np in 1 3; do
	launch=
	[ $np = 1 ] || launch="mpirun -np $np"
	if [ $np != 1 ] && [ $mpi = no ]; then
		skip "a damaged frame, $np ranks" "no mpirun, or built without MPI"
		continue
	fi
	# shellcheck disable=SC2086
	check_exit "a damaged frame, $np ranks" 4 $launch "$BUILD/vt-eval" -k "$net" -i "$T/broken" --device ref --clips 2 \
		--scores "$T/results/s" --per-class "$T/results/c" --matrix "$T/results/m.tsv"
	check_says "$np ranks: the message names shard and sample" 't-000001.tar.*s00015'
	check_same "$np ranks: there is one message and no result" \
		"1 0 " "$(grep -c s00015 "$T/err") $(grep -c . "$T/out") $(ls -A "$T/results")"
done
if [ $cairo = yes ]; then
	check_message "a damaged frame that only the sheet shows ends with 4" 4 't-000001.tar.*s00015' \
		vt-eval -k "$net" -i "$T/broken" --device ref --scores "$T/results/s" --sheet "$T/results/h.png" \
		--sheet-samples 22
	check "the results are those of the undamaged set" cmp "$T/out" "$T/ref/out"
	check_same "no sheet is written" s "$(ls -A "$T/results")"
else
	skip "a damaged frame on the sheet" "built without cairo"
fi
for place in index footer manifest; do
	damaged_set "$T/val" $place
	check_exit "a damaged $place of the set ends with 4" 4 \
		vt-eval -k "$net" -i "$T/broken-$place" --device ref
done
mv "$T/broken/t-000001.tar" "$T/t-1"
refused "a shard that is missing" 1 't-000001.tar.*No such file' vt-eval -k "$net" -i "$T/broken" --device ref
head -c 5000 "$T/t-1" >"$T/broken/t-000001.tar"
refused "a truncated shard" 4 't-000001.tar.*5000 bytes' vt-eval -k "$net" -i "$T/broken" --device ref
cp "$T/val/t-000000.tar" "$T/broken/t-000001.tar"
refused "a shard in the place of another" 4 't-000001.tar' vt-eval -k "$net" -i "$T/broken" --device ref

# ---- results that cannot be written ----

check_exit "full standard output ends with 1" 1 sh -c "vt-eval -k '$net' -i '$T/val' --device ref >/dev/full"
check_says "full standard output: the message says that standard output is full" 'standard output.*No space'
# limited OPTION...: evaluate with a file size limit of 0 bytes.
limited() {
	{ (ulimit -f 0; evaluate "$@" 2>&1 >/dev/null); echo $? >"$T/status"; } | cat >&2
	return "$(cat "$T/status")"
}
for file in scores per-class matrix sheet; do
	if [ $file = sheet ] && [ $cairo = no ]; then
		skip "--$file" "built without cairo"
		continue
	fi
	f=f.tsv
	[ $file != sheet ] || f=f.png
	two_lines "--$file on standard output" 2 "--$file=-: standard output has the table" evaluate --$file -
	rm -rf "$T/results" && mkdir "$T/results" "$T/results.${f#*.}"
	refused "--$file in a folder that is not there" 1 "nowhere/$f.*No such file" evaluate --$file "$T/results/nowhere/$f"
	refused "--$file that is a folder" 1 'results.*: is a directory' evaluate --$file "$T/results.${f#*.}"
	rmdir "$T/results.${f#*.}"
	mkfifo "$T/$f"
	cat "$T/$f" >"$T/through" &
	check_exit "--$file into a pipe" 0 evaluate --$file "$T/$f"
	wait $!
	rm "$T/$f"
	# An earlier result of the same option is replaced without -f.
	{ cat "$T/through"; echo old; } >"$T/results/$f"
	check_message "--$file on a full disk ends with 1" 1 "$f: .*File too large" limited --$file "$T/results/$f"
	check_same "--$file: the old file stays, and nothing else" \
		"$f old" "$(ls -A "$T/results") $(tail -1 "$T/results/$f" | tail -c 4)"
	ln -sf /dev/full "$T/full.${f#*.}"
	check_exit "--$file to /dev/full ends with 1" 1 evaluate --$file "$T/full.${f#*.}"
	check "--$file: /dev/full stays a device" test -c /dev/full
	check_exit "--$file into a file" 0 evaluate --$file "$T/results/$f"
	check "--$file: pipe and file get the same bytes" cmp "$T/through" "$T/results/$f"
done
plan
