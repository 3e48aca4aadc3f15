#!/bin/sh
# --recipe: its lines, the strength of each origin, what a run keeps, and the
# installed recipes, which are compared with the published tables.
# tests/run: weight 6
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

cat >"$T/a.recipe" <<'RECIPE'
# of tests
schedule.epochs = 3	# from nowhere
schedule.milestones = none
schedule.frames = 4
schedule.crop = 8
schedule.batch = 8
schedule.bn-size = 8
train.lr = 5 # replaced below
RECIPE
sed -i '$d' "$T/a.recipe"
cat >>"$T/a.recipe" <<'RECIPE'
train.model = tsm_tiny
train.weight-decay = 0.25
train.flip = no
train.freeze = head
eval.clips = 2
RECIPE

# value NAME COMMAND...: print the value of an option and its origin.
value() {
	name=$1
	shift
	"$@" --print-config | sed -n "s/^$name = //p" | tr '\t' ' '
}

# ---- origins ----

r=--recipe=$T/a.recipe
echo 'weight-decay = 0.5' >"$T/c"
check_same "each command reads its lines" "3 # recipe, tsm_tiny # recipe, 2 # recipe" \
	"$(value epochs vt-schedule $r), $(value model vt-train $r), $(value clips vt-eval $r)"
check_same "with neither recipe nor schedule, the recipe small holds" "adamw # recipe" "$(value optimizer vt-train)"
check_same "with a schedule, the defaults hold" "sgd # default" "$(value optimizer vt-train --schedule=s.tsv)"
check_same "a file of -c is stronger" "0.5 # file" "$(value weight-decay vt-train $r -c "$T/c")"
check_same "the command line is stronger" "1 # command line" "$(value weight-decay vt-train $r --weight-decay=1)"
check_same "a stronger list replaces that of the recipe" "stem # command line" "$(value freeze vt-train $r --freeze=stem)"
echo "recipe = $T/a.recipe" >"$T/c"
check_same "a file of -c may name the recipe" "0.25 # recipe" "$(value weight-decay vt-train -c "$T/c")"

# ---- mistakes ----

# refused MESSAGE LINE [OPTION]: check that vt-train refuses a recipe with this line.
refused() {
	printf '\n%s\n' "$2" >"$T/bad.recipe"
	check_message "refused: $2" 2 "bad.recipe:2: $1" vt-train --recipe="$T/bad.recipe" ${3:+"$3"} -n
}
refused 'pack.output \(wanted schedule.NAME, train.NAME or eval.NAME, an option of that command\)' 'pack.output = x'
refused 'seed \(wanted schedule.NAME' 'seed = 1'
refused 'no option gamma \(an option of vt-schedule\)' 'train.gamma = 3'
refused 'no option config' 'train.config = a'
refused 'weight-decay: 2 \(wanted a number from 0 to 1\)' 'train.weight-decay = 2'
refused 'weight-decay: 2 \(wanted a number from 0 to 1\)' 'train.weight-decay = 2' --weight-decay=1
refused 'train.seed \(wanted command.long-option = value\)' 'train.seed'
check_message "an unknown name" 2 'no nosuch in recipes.*wanted .*the path of a recipe' vt-eval --recipe=nosuch

# ---- a run keeps its recipe ----

"$MAKESET" "$T/set" 16 4 8 8 1 || skip_all "no test set"
check_exit "the recipe makes the schedule" 0 vt-schedule -q $r --lr=0.01 -o "$T/s.tsv"
sed '/freeze/d' "$T/a.recipe" >"$T/b.recipe"
# train OPTION...: run vt-train.
train() {
	vt-train -q -i "$T/set" --schedule="$T/s.tsv" --device=ref -j 1 "$@"
}
check_exit "a plan" 0 train --recipe="$T/b.recipe" -n
check "the plan shows what the recipe sets" \
	grep -q "^# recipe  .*b.recipe: model=tsm_tiny flip=no weight-decay=0.25$" "$T/out"
check_exit "the whole run" 0 train --recipe="$T/b.recipe" -o "$T/whole"
check_exit "a run of two steps" 75 train --recipe="$T/b.recipe" -o "$T/run" --save-steps=2 --stop-after=0.001s
sed -i 's/0.25/0.125/' "$T/b.recipe"
check_exit "it resumes with a recipe that has changed since" 75 train --recipe="$T/b.recipe" -o "$T/run" --stop-after=0.001s
rm "$T/b.recipe"
check_exit "it resumes without a recipe" 75 train -o "$T/run" --stop-after=0.001s
check_exit "it resumes with a recipe that is missing" 0 train --recipe="$T/b.recipe" -o "$T/run"
check "it ends as the whole run" same whole run
mv "$T/run" "$T/moved"
check_exit "it is replayed without the recipe, elsewhere" 0 vt-train --replay="$T/moved"
check_exit "a run without a recipe" 75 train -m tsm_tiny -o "$T/plain" --stop-after=0.001s
check_exit "it keeps its network" 0 train -o "$T/plain"
rm "$T/plain/recipe"
check_same "the default network of a run of 0.2.0 was tsm_r50" "tsm_r50 # default" "$(value model vt-train -o "$T/plain")"

# ---- options of published recipes ----

small_net 4 4 0.3 >"$T/net.net"
sed 's/rate=0.3/rate=0.7/; s/std=0.1$/std=0.5/' "$T/net.net" >"$T/edited.net"
check_exit "a network with another dropout and deviation" 0 train -m "$T/edited.net" -o "$T/edited"
check_exit "--dropout and --classifier-std" 75 train -m "$T/net.net" --dropout=0.7 --classifier-std=0.5 -o "$T/options" \
	--stop-after=0.001s
check_message "--dropout is compared at a resume" 2 'dropout was 0.7 and is -1 now' train -o "$T/options"
check_exit "the run resumes without --classifier-std" 0 train --dropout=0.7 -o "$T/options"
check_same "both train the same weights" "$(tensors edited)" "$(tensors options)"
check_message "--dropout needs one" 2 'has no dropout' train -m tsm_tiny --dropout=0.5 -n
check_message "--hold-lr needs whole epochs" 2 'hold-lr=all with --lr=0.01 --warmup-epochs=1.5' \
	vt-schedule --hold-lr=all --warmup-epochs=1.5

# ---- the installed recipes ----

golden=tests/golden/recipes
# later: print recipe, option and value of what options.tsv says otherwise, because
# the option is younger: what replaces its value, or is added.
later() {
	while read -r names settings; do
		for name in $(echo "$names" | tr , ' '); do
			for setting in $settings; do echo "$name ${setting%%=*} ${setting#*=}"; done
		done
	done <<-'LATER'
		mm_tsm_r50_k400_8f,mm_tsm_r50_k400_8f_100e,mm_tsm_r50_k400_16f,mm_tsm_r50_k400_8f_dense schedule.hold-lr=all
		mm_tsm_nl_r50_k400_8f,mm_tsm_r50_ssv2_8f,mm_tsm_r50_ssv2_16f schedule.hold-lr=all
		mm_slowonly_4x16_r50_k400_in1k schedule.hold-lr=all train.model=slow_r50_mmaction2
		mm_slowonly_4x16_r50_k400_in1k train.sampler=mmaction2 eval.sampler=mmaction2
		mm_slowonly_4x16_r50_k400_in1k,tv_r2plus1d_18_k400 train.param-groups=all
		mm_slowfast_4x16_r50_k400,mm_slowfast_8x8_r50_k400 schedule.hold-lr=decay
		mm_slowfast_4x16_r50_k400,mm_slowfast_8x8_r50_k400,mm_slowfast_8x8_r50_k400_step train.param-groups=all
		mm_slowfast_4x16_r50_k400,mm_slowfast_8x8_r50_k400,mm_slowfast_8x8_r50_k400_step train.sampler=mmaction2
		mm_slowfast_4x16_r50_k400,mm_slowfast_8x8_r50_k400,mm_slowfast_8x8_r50_k400_step eval.sampler=mmaction2
		mm_i3d_r50_k400,mm_i3d_nl_r50_k400 train.param-groups=all train.sampler=mmaction2 eval.sampler=mmaction2
		mm_i3d_r50_k400,mm_i3d_nl_r50_k400 train.crop-scales=1,0.8 train.crop-distort=0 train.crop-positions=5
		mm_tsn_r50_k400_3f,mm_tsn_r50_k400_8f train.param-groups=all train.crop-positions=5 eval.ensemble=scores
		mm_tsn_r50_k400_3f,mm_tsn_r50_k400_8f train.dropout=0.4 train.classifier-std=0.01
		tsm_r50_ucf101_8f_finetune train.dropout=0.8
		mm_c2d_r50_k400 train.model=c2d_r50_mmaction2 train.param-groups=all train.crop-positions=5
		mm_c2d_r50_k400,mm_r2plus1d_r34_k400_8x8 train.sampler=mmaction2 eval.sampler=mmaction2
		mm_r2plus1d_r34_k400_8x8 schedule.hold-lr=decay train.model=r2plus1d_34_mmaction2 train.param-groups=all
		mm_r2plus1d_r34_k400_8x8 train.clip-grad=40 train.crop-rule=resized train.resize=bilinear
		tv_r3d_18_k400 train.model=r3d_18
		tv_mc3_18_k400 train.model=mc3_18
		tv_r3d_18_k400,tv_mc3_18_k400 train.param-groups=all train.sampler=tsm train.crop-rule=jitter
		tv_r3d_18_k400,tv_mc3_18_k400 train.jitter-min=256 train.jitter-max=256
		tv_r3d_18_k400,tv_mc3_18_k400,mm_r2plus1d_r34_k400_8x8 train.weight-decay=0.0001 train.precise-bn=off
	LATER
}
# wanted NAME: print the settings of a row of options.tsv, as option and value.
# Weights to begin from are not part of a recipe.
wanted() {
	later | grep "^$1 " | cat - "$golden/options.tsv" | awk -F '\t' -v name="$1" '
		!/\t/ { split($0, word, " "); value[word[2]] = word[3]; next }
		/^#/ { for (i = 2; i <= NF; i++) option[i] = $i }
		$1 == name {
			for (i = 2; i <= NF; i++)
				if ($i != "" && option[i] != "train.init" && !(option[i] in value))
					value[option[i]] = $i
		}
		END {
			for (o in value) {
				v = value[o]
				if (sub(/\.no-/, ".", o))
					v = "no"
				print o, v
			}
		}' | sort
}
# rates TABLE: print the learning rate at the beginning and in the middle of each
# epoch, to ten digits.
rates() {
	grep -v '^#' "$1" | awk -F '\t' '
		function rate(pieces, x,   n, i, p) {
			n = split(pieces, piece, ",")
			for (i = 1; i <= n; i++) {
				if (split(piece[i], p, /@|\.\./) == 1)
					return piece[i]
				if (x < p[4])
					return p[1] + (x - p[2]) * (p[3] - p[1]) / (p[4] - p[2])
			}
		}
		{ for (x = $2; x < $3; x += 0.5) printf "%g %.10g\n", x, rate($9, x) }'
}
for f in share/recipes/*.recipe; do
	name=${f##*/}
	name=${name%.recipe}
	case $name in small | large-batch) ;; *)
		check_same "$name: it has the settings of options.tsv" "$(wanted "$name")" \
			"$(sed -n 's/^\([^#].*\) = \([^	]*\)	.*/\1 \2/p' "$f" | sort)" ;;
	esac
	check_same "$name: each setting has a source" "" "$(awk -F '\t# ' '
		/^[^#].*\t# chosen here$/ { next }
		/^# [A-Z]: / { file[substr($1, 3, 1)] = 1 }
		/^#/ && NF == 1 { next }
		NF != 2 || !(substr($2, 1, 1) in file)' "$f")"
	check "$name: its network is installed" test -f "share/models/$(sed -n 's/^train.model = \([^	]*\).*/\1/p' "$f").net"
	check "$name: the commands take it" eval 'vt-schedule --recipe="$name" -o "$T/$name.tsv" &&
		vt-train --recipe="$name" --print-config >/dev/null && vt-eval --recipe="$name" --print-config >/dev/null'
	[ -f $golden/tables/"$name.tsv" ] || continue
	check_same "$name: its learning rates are the published ones" "$(rates "$golden/tables/$name.tsv")" "$(rates "$T/$name.tsv")"
done
check_same "large-batch: its schedule is the installed one" "$(rates share/schedules/k400_tsm_r50_8f_12288.tsv)" \
	"$(rates "$T/large-batch.tsv")"
plan
