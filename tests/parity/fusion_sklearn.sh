#!/bin/sh
# The figures of fused scores are those of scikit-learn: accuracy, log loss and
# mean average precision.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
for python in "${PYTHON:-python3}" python3 /usr/bin/python3 none; do
	! "$python" -c 'import numpy, sklearn' 2>/dev/null || break
done
[ $python != none ] || skip_all "no scikit-learn (Debian: python3-sklearn)"

# scores LOSS SEED: print scores of 40 samples and 5 classes; four samples have
# no label, or an empty set.
scores() {
	awk -v loss="$1" -v seed="$2" 'BEGIN {
		printf "# {\"loss\":\"%s\",\"labels\":\"%s\"}\n", loss, loss == "sigmoid" ? "sets" : "classes"
		printf "key\tlabel\ta\tb\tc\td\te\n"
		for (i = 0; i < 40; i++) {
			label = i % 10 == 9 ? loss == "sigmoid" ? "" : "-1" : i % 5
			if (loss == "sigmoid" && i % 3 == 0 && i % 10 != 9)
				label = label "|" (i + 2) % 5
			printf "s%d\t%s", i, label
			for (c = 0; c < 5; c++)
				printf "\t%.9g", 4 * sin(seed * (7 * i + c) + c) + (c == i % 5)
			print ""
		}
	}'
}
# figures NAME...: print figures of the summary in $T/out.
figures() {
	for name; do sed -n "s/^#summary.*	$name \([^	]*\).*/$name \1/p" "$T/out"; done | paste -sd ' '
}
for loss in softmax sigmoid; do
	scores $loss 1.3 >"$T/a.tsv"
	scores $loss 2.9 >"$T/b.tsv"
	for weights in 1:1 1:1.5 3:1; do
		check_exit "$loss, $weights: the files are fused" 0 \
			vt-eval -q --rescore="$T/a.tsv" "$T/b.tsv" --fusion-weights=$weights
		check_same "$loss, $weights: the figures are those of scikit-learn" \
			"$("$python" tests/parity/fusion.py $loss $weights "$T/a.tsv" "$T/b.tsv" 2>&1)" \
			"$(if [ $loss = softmax ]; then figures top1 loss; else figures mAP; fi)"
	done
done
plan
