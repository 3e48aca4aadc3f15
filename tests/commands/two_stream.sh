#!/bin/sh
# share/examples/two-stream.mk: from videos to the accuracy of RGB, of flow and of both, for
# folds of a list and for the official lists of UCF101 and HMDB51.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
example=$PWD/share/examples/two-stream.mk
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$T" || exit 2

# Two classes of movement, four videos of each.
n=0
for class in left right; do
	mkdir "v/$class"
	for i in 1 2 3 4; do
		sign=$([ $class = left ] && echo - || echo +)
		ffmpeg -v error -f lavfi -i "testsrc2=s=96x72:r=10:d=2,scroll=h=${sign}0.0$((i + 1))" -c:v mpeg4 -q:v 4 -g 5 \
			"v/$class/v_${class}_g0${i}_c01.avi" 2>"$T/err" || n=1
	done
done
[ $n = 0 ] || skip_all "ffmpeg makes no videos: $(head -1 "$T/err")"

# two OUT [WORD...]: run it with small networks and shapes.
small_net 8 >rgb.net
small_net 8 | sed 's/^input .*/input x stream=flow out=8 mean=0.5 std=0.226/' >flow.net
two() {
	out=$1
	shift
	make -f "$example" VIDEOS=v OUT="$out" THREADS=1 rgb=./rgb.net flow=./flow.net EXTRACT='--short-side=40' \
		SHAPE='--batch=4 --bn-size=4 --frames=2 --crop=32 --epochs=2 --milestones=none --lr=0.01' EVAL= "$@"
}
{ echo path,label,take; (cd v && printf '%s\n' */*.avi) | sed 's|\([^/]*\)/.*_g0\([0-9]\)_.*|&,\1,\2|'; } >all.csv
check_exit "from a list to a table" 0 two folds DATASET=folds LISTS=all.csv GROUP=take SPLITS='1 2' SEEDS='1 2' -j2
check_same "a group is in one part of a fold" "" \
	"$(sed '1d; s/.*_g0\(.\)_.*/\1/' folds/train-1.csv | sort -u | sed 's/.*/_g0&_/' | grep -f - folds/test-1.csv)"
check_same "the table has RGB, flow and both" "rgb flow fused " "$(sed '1d;/^#split/,$d' folds/report.tsv | cut -f 1 | tr '\n' ' ')"
for stream in rgb flow fused; do
	check_same "$stream: the mean is that of the evaluations, over seeds and then over folds" \
		"$(for run in 1-1 1-2 2-1 2-2; do
			file=folds/$stream-$run/test.tsv
			[ $stream != fused ] || file=folds/fused-$run.tsv
			sed -n 's/^#summary.top1 \([0-9.]*\).*/\1/p' "$file"
		done | awk '{ s += $1 } END { printf "%.3f\n", s / NR }')" \
		"$(awk -v s=$stream '$1 == s { printf "%.3f\n", $3 }' folds/report.tsv)"
done
check_exit "a finished comparison again" 0 two folds DATASET=folds LISTS=all.csv GROUP=take SPLITS='1 2' SEEDS='1 2'
check_same "a finished comparison again runs no command" "" "$(grep vt- "$T/out")"
check_exit "other settings in the same folder are refused" 2 two folds DATASET=folds LISTS=all.csv SPLITS='1 2'

mkdir ucf hmdb
printf '%s\n' '1 left' '2 right' >ucf/classInd.txt
for k in 1 2; do
	(cd v && printf '%s\n' */*_g0[12]_*.avi) | awk -F / '{ print $0, $1 == "left" ? 1 : 2 }' >ucf/trainlist0$k.txt
	(cd v && printf '%s\n' */*_g0[34]_*.avi) >ucf/testlist0$k.txt
done
for class in left right; do
	(cd v/$class && printf '%s\n' *.avi) | awk '{ print $0, /_g0[12]_/ ? 1 : 2 }' >hmdb/${class}_test_split1.txt
done
check_exit "the lists of UCF101" 0 two ucf101 DATASET=ucf101 LISTS=ucf SPLITS='1 2'
check_same "the table has both splits" 2 "$(sed '1,/^#split/d' ucf101/report.tsv | wc -l)"
check_exit "the lists of HMDB51" 0 two hmdb51 DATASET=hmdb51 LISTS=hmdb SPLITS=1
check_same "the table has one split" 1 "$(sed '1,/^#split/d' hmdb51/report.tsv | wc -l)"
plan
