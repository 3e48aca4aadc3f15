#!/bin/sh
# vt-schedule: tables in and out, options, messages, pictures, --locate,
# --compare and --check. Also the tables in share/schedules and in
# vt-schedule(5).
# tests/run: weight 16
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD
tables=$root/share/schedules
set --

# ---- the tables of share/schedules ----

for f in "$tables"/*.tsv; do
	name=${f##*/}
	made=$(sed -n 's/^# \(vt-schedule .*\)/\1/p' "$f")
	check_same "$name is what the command in its comment makes" \
	    "$(grep -v '^# ' "$f")" "$(sh -c "$made" | grep -v '^# ')"
	check_same "$name is printed as it is read" \
	    "$(grep -v '^# ' "$f")" "$(vt-schedule "$f")"
	vt-schedule --samples=1000 "$f" >"$T/steps.tsv"
	check_same "$name with columns for steps is read like the table without" \
	    "$(vt-schedule "$f")" "$(vt-schedule - <"$T/steps.tsv")"
done

# ---- options against PySlowFast's settings ----

slowfast="--policy=long+short --batch=64 --frames=32 --stride=2 --lr=0.1
    --epochs=239 --milestones=94,154,196 --warmup-epochs=34 --warmup-lr=0.01
    --bn=pyslowfast --ranks=8"
# phases: print first, last, batch, frames, crop, learning rate and strides of
# each stage.
phases() {
	awk -F'\t' '/^#/ { next }
	    { split($9, r, ","); row[$1] = $2 " " $3 " " $5 " " $6 " " $7 " " \
	      r[2] (r[2] == "" ? r[1] : "") " " $10 " " $11; n = $1 }
	    END { for (i = 0; i <= n; i++) print row[i] }'
}
golden() {
	awk -F'\t' '/^[0-9]/ { print $2, $3, $9, $11, $12, $14, $15,
	    $16 == 0 ? $15 : $16 }' "tests/golden/psf_$1.phases.tsv"
}
# shellcheck disable=SC2086
{
	check_same "K400 SlowFast with long and short cycles equals PySlowFast's phases" \
	    "$(golden k400_slowfast_8x8_r50_stepwise_multigrid)" \
	    "$(vt-schedule $slowfast | phases)"
	check_same "K400 SlowFast on one device equals PySlowFast's phases" "$(golden k400_1gpu_b8)" \
	    "$(vt-schedule $slowfast --ranks=1 --batch=8 --lr=0.0125 | phases)"
	check_same "K400 SlowFast with the short cycle alone equals PySlowFast's phases" \
		"$(golden k400_short_only)" \
	    "$(vt-schedule $slowfast --policy=short \
	    --lr-factors=1,0.1,0.01,0.001 | phases)"
	check_same "SSv2 equals PySlowFast's phases" "$(golden ssv2_slowfast_16x8_r50_multigrid)" \
	    "$(vt-schedule $slowfast --batch=16 --frames=64 --lr=0.03 \
	    --epochs=22 --milestones=14,18 --warmup-epochs=0.19 \
	    --warmup-lr=0.0001 | phases)"
	check_same "TSM with 8 frames equals PySlowFast's phases" "$(golden synthetic_tsm8f_k400)" \
	    "$(vt-schedule --policy=long+short --stride=8 | phases)"
}

# ---- BN groups ----

check_same "a long cycle without a short one has 7 stages" 7 \
    "$(vt-schedule --policy=long --epochs=5 --milestones=2,4 --lr=1 | grep -vc '^#')"
check_same "BN groups are of 8 clips in every cell" 8 \
    "$(vt-schedule --policy=long+short | grep -v '^#' | cut -f 8 | sort -u)"
# size OPTION...: print the BN groups of a schedule, and its first comment.
size() {
	vt-schedule "$@" | awk -F '\t' '/^# / { said = substr($0, 3); next } !/^#/ { print said, $8 }' | sort -u
}
for batch in 1:1 2:1 4:2 6:3 8:4 12:6 14:7 16:8 24:8 64:8 128:8; do
	check_same "a batch of ${batch%:*} gets groups that divide it" \
		"--bn-size=${batch#*:} ${batch#*:}" "$(size --batch=${batch%:*})"
done
check_same "the smallest batch of all stages decides on the groups" \
	"--bn-size=4 4" "$(size --policy=long+short --batch=8)"
check_same "an explicit --bn-size needs no comment" " 2" "$(size --batch=8 --bn-size=2)"
check_same "an explicit --bn-size does not depend on the batch" " 8" "$(size --batch=8 --bn-size=8)"
vt-schedule --batch=8 --print-config >"$T/config"
check_same "a configuration file leaves the choice of groups" "--bn-size=4 4" "$(size -c "$T/config")"
check_same "--bn=pyslowfast keeps groups of 8" \
	"$(size --policy=long+short --batch=8 --bn=pyslowfast --bn-size=8)" \
    "$(size --policy=long+short --batch=8 --bn=pyslowfast)"
check_exit "-v with a schedule" 0 vt-schedule -v --policy=long --batch=8 --epochs=20
check_says "-v shows how many ranks can share it" \
    'note: 30 epochs in 10 stages; 2 ranks at most, since a batch of 8 has 2 BN groups of 4 clips'
check_exit "a batch that is not a whole number of groups ends with 2" 2 vt-schedule --batch=12 --bn-size=8
check_says "a batch that is not a whole number of groups: the message suggests a size of groups" \
    'stage 0, cycle 0: a batch of 12 .* groups of 8 clips \(groups of 6 fit all batches'
check_exit "the suggested size is accepted" 0 vt-schedule --batch=12 --bn-size=6
check_message "unequal shares for --bn=pyslowfast end with 2" 2 'cannot be shared equally by 3 devices' \
	vt-schedule --bn=pyslowfast --ranks=3

# ---- wrong usage: exit 2, one line and a hint, nothing on standard output ----

wrong() {
	says=$1
	shift
	check_message "wrong: $*" 2 "$says" vt-schedule "$@"
	check_same "wrong usage prints nothing on standard output" "" "$(cat "$T/out")"
}
printf 'junk\n' >"$T/junk.tsv"
vt-schedule -o "$T/good.tsv"
sed 's/^1	20/1	21/' "$T/good.tsv" >"$T/gap.tsv"
wrong "--policy: multigrid \(wanted one of" --policy=multigrid
wrong "no option --polic=long \(names are not abbreviated" --polic=long
wrong "no option --polic \(names are not abbreviated" --polic long
wrong "--epochs: 0 \(wanted an integer from 1" --epochs=0
wrong "--lr: fast \(wanted a number" --lr=fast
wrong "--milestones: 10 \(wanted epochs, rising" --milestones=20,10
wrong "--milestones: 50 \(wanted epochs" --milestones=50
wrong "--milestones: \"\"" --milestones=
wrong "--lr-factors: 2 numbers \(wanted 3" --lr-factors=1,2
wrong "--long-factors: 0.5 \(wanted frames x crop" --policy=long --long-factors=0.5
wrong "--long-factors: 1x2 " --policy=long --long-factors=1x2
wrong "--short-factors: 0 \(wanted" --policy=short --short-factors=0
wrong "--short-factors: more than 7 items" --policy=short --short-factors=1,1,1,1,1,1,1,1
wrong "wanted --milestones, or --no-fine-tune" --policy=long --milestones=none
wrong "the warm-up takes 50 epochs, but the schedule has 50" --warmup-epochs=50
wrong "is 0 x 158 \(wanted at least 1 x 1\)" --policy=long --frames=2
wrong "crop size 112 does not fit a stage of crop size 56" --policy=long+short \
    --long-factors=0.25x0.25,1x1
wrong "a learning rate of 1e\\+12 after epoch 0 \\(wanted at most 1e\\+09" --lr=1e6 \
    --lr-factors=1e6,1,1
wrong "more than one TABLE" a.tsv b.tsv
wrong "--epochs: the schedule is read from" --epochs=3 "$T/good.tsv"
wrong "--lr: the schedule is read from" --lr=5 --check "$T/good.tsv" -m tsm_tiny --samples=99 --num-classes=3
wrong "--long-factors: the schedule is read from" --compare "$T/good.tsv" "$T/good.tsv" --long-factors=nan
for option in device=nonsense precision=bf16 threads=3; do
	wrong "--${option%=*} needs --check" --$option --samples=100
done
wrong "--data and --samples \(wanted one of them\)" --samples=100 --data=nosuch
wrong "nowhere.tsv: cannot open: No such file" "$T/nowhere.tsv"
wrong "junk.tsv: no rows" "$T/junk.tsv"
wrong "gap.tsv:4: column epoch_begin: 21 \(wanted 20" "$T/gap.tsv"
wrong "good.tsv exists \(-f replaces it\)" --epochs=3 -o "$T/good.tsv"
check_exit "-o with an existing equal table is accepted if --plot is new" 0 \
	vt-schedule -o "$T/good.tsv" --plot="$T/late.png"
check "the plot is drawn then" test -s "$T/late.png"
cp "$T/good.tsv" "$T/good.png"
wrong "good.png exists" --plot="$T/good.png"
wrong "more than one of the table, the plot and the summary" --summary -o -

# ---- files and streams ----

check_same "-o writes what standard output gets" "$(cat "$T/good.tsv")" \
    "$(vt-schedule)"
check_exit "-f replaces a file" 0 vt-schedule -f --epochs=3 -o "$T/good.tsv"
check_same "-f writes the new table" "$(vt-schedule --epochs=3)" "$(cat "$T/good.tsv")"
check_same "-f leaves no temporary file" "" "$(find "$T" -name '.*' -type f)"
check_message "-o in a missing folder ends with 1" 1 "no/.*: cannot create: No such file" vt-schedule -o "$T/no/x.tsv"
check_exit "a full disk ends with 1" 1 sh -c 'vt-schedule >/dev/full'
check_same "printed settings make the same schedule" \
    "$(vt-schedule --policy=long --epochs=9 --milestones=5)" \
    "$(vt-schedule --policy=long --epochs=9 --milestones=5 --print-config \
    >"$T/conf"; vt-schedule -c "$T/conf")"
check_same "printed settings give no warning of unused options" "" \
    "$(vt-schedule -c "$T/conf" -o "$T/conf.tsv" 2>&1)"
check_same "the environment sets no options" "$(vt-schedule)" "$(VT_MILESTONES=3,7 vt-schedule -q)"
check_message "an option in vain" 0 "warning: --short-factors has no effect" vt-schedule --short-factors=0.5
check_exit "unless that is not wanted" 0 vt-schedule -q --short-factors=0.5
check_same "and it is quiet then" "" "$(cat "$T/err")"

# ---- longest clips that are hardly trained ----

# A step has 16 clips of 4 frames in stage 0, and in stage 1 one of three steps
# has 16 of 8 frames, the others 8 clips. So 0.04 * 10 / 16 of the summed
# learning rate belongs to stage 0. With RATE in stage 1, RATE * 3 / 32 belongs
# to steps of 8 frames.
few() {
	stages "0 0 10 0 16 4 64 8 0.04 0 0" "1 10 11 0 16 8 46 8 $1 0 0" \
	    "1 10 11 1 8 8 64 8 $1 0 0" "1 10 11 2 8 8 64 8 $1 0 0" >"$T/few.tsv"
}
few 0.01
check_exit "a table with 3.6 % of the learning rate for the longest clips" 0 vt-schedule "$T/few.tsv"
check_says "a warning shows the frames and the percentage" \
    "warning: $T/few.tsv: steps with 8 frames, the most, have 3.6 % of the learning rate"
check_exit "the same table with -q" 0 vt-schedule -q "$T/few.tsv"
check_same "-q leaves the warning out" "" "$(cat "$T/err")"
few 0.02
vt-schedule "$T/few.tsv" 2>"$T/err" >/dev/null
check_same "7 % of the learning rate give no warning" "" "$(cat "$T/err")"
for f in "$tables"/*.tsv; do
	vt-schedule "$f"
done 2>"$T/err" >/dev/null
check_same "the tables of share/schedules give no warning" "" "$(cat "$T/err")"

# ---- summaries ----

# shellcheck disable=SC2086
vt-schedule $slowfast --summary --samples=240436 >"$T/sum"
check "--summary shows work and speed-up against 239 epochs" grep -q \
    'against 239 epochs at that shape: 29.1 % of the work, a speed-up of 3.43' \
    "$T/sum"
check "--summary shows the speed-up against equal epochs" grep -q 'speed-up of 5.14' "$T/sum"
check "--summary shows the steps" grep -q 'over 240436 samples: 262180 steps, ' "$T/sum"
check_same "the rows' steps add up to the summary's" 262180 \
    "$(vt-schedule --samples=240436 "$tables/k400_slowfast_8x8_r50_multigrid.tsv" |
    awk -F'\t' '!/^#/ { n += $12 } END { print n }')"
check_same "the rows' clips are all epochs, and less than a batch more" 1 \
    "$(vt-schedule --samples=240436 "$tables/k400_slowfast_8x8_r50_multigrid.tsv" |
    awk -F'\t' '!/^#/ { n += $13 } END { n -= 358 * 240436; print (n >= 0 && n < 1024) }')"

# ---- pictures ----

cycles=$tables/k400_tsm_r50_8f_multigrid.tsv
if built cairo; then
	for kind in png:89504e47 svg:3c3f786d pdf:25504446; do
		k=${kind%:*}
		check_exit "a picture of a table as $k" 0 vt-schedule --plot="$T/a.$k" "$cycles"
		check_same "a $k picture: no output and no message" " " "$(cat "$T/out") $(cat "$T/err")"
		check_same "a $k picture has the signature of its format" "${kind#*:}" \
		    "$(od -An -tx1 -N4 "$T/a.$k" | tr -d ' \n')"
		sh -c "$(sed -n 's/^# \(vt-schedule .*\)/\1/p' "$cycles") --plot=$T/c.$k"
		check "a $k picture from options has the same bytes" cmp "$T/a.$k" "$T/c.$k"
	done
	for text in "A schedule of 75 epochs" "Crop, pixels" "1st step of the cycle" 2nd 3rd Frames 2048 "Learning rate" epoch; do
		check "the picture contains: $text" grep -qxF "$text" "$T/a.svg"
	done
	vt-schedule --plot="$T/one.svg" "$tables/k400_tsm_r50_8f_12288.tsv"
	check_same "constants have a tick of their own" "224 8 12288" \
		"$(sed -n '/^Crop, pixels$/,/^Learning rate$/p' "$T/one.svg" | grep -E '^[0-9]+$' | xargs)"
	vt-schedule --plot=- "$cycles" >"$T/b.png"
	check "a picture on standard output has the same bytes" cmp "$T/a.png" "$T/b.png"
	sed 's/	158	/	150	/' "$cycles" | vt-schedule --plot="$T/d.png" -
	check_exit "an edited table gives another picture" 1 cmp -s "$T/a.png" "$T/d.png"
	stages '0 0 1 0 1 1 1 1 0 0 0' >"$T/least.tsv"
	check_exit "the smallest possible table is drawn" 0 vt-schedule --plot="$T/least.png" "$T/least.tsv"
	for name in x.jpg x tsv; do
		check_message "a picture called $name ends with 2" 2 'wanted a name that ends with .png, .svg or .pdf' \
			vt-schedule --plot="$T/$name" -o "$T/never.tsv"
		check "a picture called $name: nothing is written" test ! -e "$T/never.tsv"
	done
	check_exit "a picture in a missing folder ends with 1" 1 vt-schedule --plot="$T/no/x.svg"
	echo '<fontconfig></fontconfig>' >"$T/fonts.conf"
	check_exit "without any font, a picture ends with 2" 2 \
		env FONTCONFIG_FILE="$T/fonts.conf" vt-schedule --plot="$T/plain.svg" "$cycles"
	check_says "the message names a package with fonts" 'error: no font is installed .install fonts-dejavu-core'
	# vt-schedule as CAIRO=no builds it: lib/draw/without comes before the
	# library.
	eval "set -- $(settings_of "$BUILD")"
	cc=$1
	shift
	if "$cc" "$@" -c -o "$T/without.o" lib/draw/without/plot.c 2>"$T/cc.err" &&
		"$cc" -o "$T/vt-bare" "$BUILD/cmd/vt-schedule.o" "$BUILD/cmd/schedule_draw.o" "$T/without.o" "$BUILD/libvt.a" "$@" 2>>"$T/cc.err"; then
		bare=$T/vt-bare
	else
		not_ok "vt-schedule is linked without cairo"
		diag "$(tail -3 "$T/cc.err")"
	fi
	set --
else
	skip "pictures" "built without cairo"
	bare=vt-schedule
fi
check_message "a picture without cairo ends with 2" 2 'e.png: this build has no cairo, .*libcairo2-dev .*CAIRO=yes' \
	"$bare" --plot="$T/e.png" -o "$T/never.tsv"
check "without cairo nothing is written" test ! -e "$T/never.tsv" -a ! -e "$T/e.png"
check_same "a table is made without cairo" "$(vt-schedule)" "$("$bare")"

# ---- the manual ----

sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$root/man/vt-schedule.5" |
    sed -n '/^\.Bd -literal$/,/^\.Ed/{/^\./!p;}' >"$T/example.tsv"
check_same "the table in vt-schedule(5) is printed as it is read" "$(cat "$T/example.tsv")" \
    "$(vt-schedule "$T/example.tsv")"
# ---- --locate, --compare and --check ----

vt-schedule --policy=long+short --batch=16 --crop=48 --epochs=20 -o "$T/by-steps.tsv"
vt-schedule --policy=long+short --batch=16 --crop=48 --epochs=20 --lr-policy=cosine -o "$T/cosine.tsv"
vt-schedule --batch=16 --crop=48 --epochs=20 -o "$T/fixed.tsv"
check_same "--locate: three names of one step" "75 75 75" "$(vt-schedule --samples=1000 --locate=step:75,epoch:1.2,sample:1215 "$T/fixed.tsv" |
	awk -F '\t' '/^[0-9]/ { print $1 }' | xargs)"
check_same "--locate prints step, epoch and sample" \
	"75 1.2 1200" "$(vt-schedule --samples=1000 --locate=step:75 "$T/fixed.tsv" | awk '/^[0-9]/ { print $1, $2, $3 }')"
check_message "--locate after the end ends with 2" 2 '1250 is after the end: 1250 steps of 20000 samples in 20 epochs' \
	vt-schedule --samples=1000 --locate=step:1250 "$T/fixed.tsv"
check_exit "--locate with an unknown unit ends with 2" 2 \
	vt-schedule --samples=1000 --locate=hour:3 "$T/fixed.tsv"
check_exit "--locate=step without --samples ends with 2" 2 vt-schedule --locate=step:3 "$T/fixed.tsv"
vt-schedule --compare --samples=1000 "$T/fixed.tsv" "$T/by-steps.tsv" "$T/cosine.tsv" >"$T/compared"
check_same "--compare: step and cosine policies have the same work" \
	"$(awk -F '\t' '/by-steps.tsv/ { print $2, $4, $5, $6 }' "$T/compared")" \
	"$(awk -F '\t' '/cosine.tsv/ { print $2, $4, $5, $6 }' "$T/compared")"
check_same "--compare has twenty rows of work" 20 "$(sed '1,/^#work/d' "$T/compared" | grep -c '^[0-9]')"
check_same "--compare: cheaper schedules end before the last row" - "$(tail -1 "$T/compared" | cut -f 6)"
check "--compare counts work in epochs of the largest shape" \
	awk -F '\t' '/fixed.tsv/ { exit !($4 == 20 && $5 == 1) }' "$T/compared"
check "--compare -m counts work by multiply-adds" \
	sh -c "vt-schedule --compare -m tsm_tiny '$T/fixed.tsv' '$T/by-steps.tsv' | grep -q 'by multiply-adds'"
check_exit "--compare of one table ends with 2" 2 vt-schedule --compare "$T/fixed.tsv"

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
check_exit "--check with a network and a dataset" 0 \
	vt-schedule --check "$T/by-steps.tsv" --model tsm_tiny --data "$T/train" --ranks 2 -j 1
cp "$T/out" "$T/plan"
check_same "--check prints a row for each cell" \
	"$(grep -c '^[0-9]' "$T/by-steps.tsv")" "$(grep -c '^[0-9]' "$T/plan")"
check_same "--check shows the steps and samples of --samples" \
	"$(vt-schedule --samples=40 "$T/by-steps.tsv" | awk -F '\t' '/^[0-9]/ { print $12, $13 }')" \
	"$(awk -F '\t' '/^[0-9]/ { print $14, $15 }' "$T/plan")"
check_same "the work of all cells is 100 %" \
	100.0 "$(awk -F '\t' '/^[0-9]/ { w += $17 } END { printf "%.1f\n", w }' "$T/plan")"
# Lines that are equal for both programs. The base and the available memory are
# not.
same_memory() {
	grep -E '^# (parameters|momentum|gradients|activations|loader|checkpoint|exchange|steps|work) ' "$1"
}
if have_mpi; then
	mpirun -np 2 vt-train -n -i "$T/train" -m tsm_tiny --schedule "$T/by-steps.tsv" -j 1 >"$T/dry" 2>"$T/err"
	check_same "--check and vt-train -n plan the same memory on two ranks" \
		"$(same_memory "$T/dry")" "$(same_memory "$T/plan")"
else
	skip "--check and vt-train -n plan the same memory on two ranks" "no MPI"
fi
check_same "--check shows the largest number of ranks" \
	"# ranks at most        2" "$(grep '^# ranks at most' "$T/plan")"
check_message "--check with too many ranks ends with 2" 2 \
	'a batch of 16 clips in BN groups of 8 makes 2 microbatches, too few for 3 ranks' \
	vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny -i "$T/train" --ranks 3
check_same "--check with too many ranks prints no table" "" "$(cat "$T/out")"
check_message "--check with too little memory ends with 2" 2 \
	'rank 0 of 1 needs .* \(--memory=1.00 MiB\), most of all in stage [0-9], cycle 2' \
	vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny -i "$T/train" --memory 1M
check_exit "--check with enough memory" 0 \
	vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny -i "$T/train" --memory 8G
check_exit "--check with an unknown network ends with 2" 2 \
	vt-schedule --check "$T/by-steps.tsv" -m nonesuch -i "$T/train"
check_exit "--check without a network ends with 2" 2 vt-schedule --check "$T/by-steps.tsv" -i "$T/train"
check_exit "--memory without --check ends with 2" 2 vt-schedule --memory 1G

# ---- --check without data ----

planned() {
	grep -Ev '^# (program|loader|memory|available)' "$1"
}
vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny -i "$T/train" -j 1 >"$T/packed" 2>"$T/err"
classes=$(sed -n 's/^# network .* \([0-9]*\) classes$/\1/p' "$T/packed")
check_exit "--check without data" 0 vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny \
	--samples=40 --num-classes="$classes" -j 1
sed 's/\t[0-9]*\t[0-9]*$//' "$T/out" >"$T/without"
sed 's/\t[0-9]*\t[0-9]*$//' "$T/packed" >"$T/with"
check_same "the plan is that of a dataset with as many samples and classes" \
	"$(planned "$T/with")" "$(planned "$T/without")"
# The work of the two published recipes, with the sizes of their sets. A plan
# that reads all samples for each rank takes minutes.
recipe() {
	check_exit "$3 is planned for 1,536 ranks" 0 timeout 60 vt-schedule --check -m "$1" -j 1 \
		--samples="$2" --num-classes=1000 --ranks=1536 "$tables/$3.tsv"
	check_same "$3: the plan has the steps and samples of the schedule" \
		"$(vt-schedule --samples="$2" "$tables/$3.tsv" | awk -F '\t' '/^[0-9]/ { print $(NF - 1), $NF }')" \
		"$(awk -F '\t' '/^[0-9]/ { print $14, $15 }' "$T/out")"
	check "$3: a line has the memory of ranks 1 to 1535" \
		grep -Eq '^# of ranks 1 to 1535, each [0-9.]+ [GM]iB( to [0-9.]+ [GM]iB)?$' "$T/out"
	check_same "$3: two equal sizes are printed once" "" "$(awk '/^# of ranks/ && $7 == $10' "$T/out")"
	check "$3: rank 0 has no momentum, and the largest share of another rank is shown" \
		grep -Eq '^# momentum +0 B, at most [0-9.]+ [KM]iB on other ranks$' "$T/out"
}
recipe tsm_r50 240436 k400_tsm_r50_8f_12288
recipe resnet50 1281167 imagenet_r50_34k_68k
refuses() {
	says=$1
	shift
	check_message "wrong: --check $*" 2 "$says" vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny "$@"
}
refuses 'needs --model=NET, and --data=DIR or --samples=N with --num-classes=N' --samples=40
refuses '--time needs --data' --samples=40 --num-classes=8 --time
refuses '--check and --samples: the samples of .* are checked' --samples=40 -i "$T/train"
refuses '--check and --num-classes: the samples of .* are checked' --num-classes=8 -i "$T/train"
refuses 'wanted at most 16777216' --samples=20000000 --num-classes=8
check_exit "--num-classes without --check ends with 2" 2 vt-schedule --num-classes=8
vt-schedule --policy=long+short --bn=pyslowfast --ranks=2 --batch=32 --crop=48 --epochs=20 -o "$T/psf.tsv"
check_exit "--check of --bn=pyslowfast on its number of ranks" 0 \
	vt-schedule --check "$T/psf.tsv" -m tsm_tiny -i "$T/train" --ranks 2
check_same "with --bn=pyslowfast, each rank has its own groups" \
	"" "$(awk -F '\t' '/^[0-9]/ && $9 != 2 * $10 { print $9, $10 }' "$T/out")"

# ---- a damaged dataset ----

damaged_set "$T/train" manifest
check_exit "a dataset with a damaged manifest ends with 4" 4 \
	vt-schedule --epochs=2 --milestones=none --data "$T/broken-manifest"
check_exit "--check with a missing dataset ends with 1" 1 \
	vt-schedule --check "$T/by-steps.tsv" -m tsm_tiny -i "$T/nowhere"

# ---- tables that are missing, unreadable or wrong ----

mkdir "$T/folder.tsv"
printf 'a\tb\n1\t2\n' >"$T/foreign.tsv"
for file in missing folder foreign; do
	for how in --summary "--check -m tsm_tiny -i $T/train" "--compare $T/by-steps.tsv"; do
		# shellcheck disable=SC2086
		check_exit "$how: a $file table ends with 2" 2 vt-schedule $how "$T/$file.tsv"
		check_says "the message names the table" "$file.tsv: (cannot open|cannot read|no column stage)"
		check_same "nothing is printed" "" "$(cat "$T/out")"
	done
done
check_exit "a missing dataset ends with 1" 1 vt-schedule --epochs=2 --milestones=none --data "$T/nowhere"
plan
