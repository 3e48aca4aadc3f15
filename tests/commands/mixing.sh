#!/bin/sh
# Training on clips that are changed and mixed: the same weights for every number
# of threads and ranks and after a stop, and other ones with each option.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 20 4 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# Batches of 12 in groups of 3 and 4: those of 3 go around.
stages '0 0 3 0 12 2 28 3 0.05 0 0' '1 3 6 0 12 2 20 4 0.05 0 0' >"$T/s.tsv"
all="--mixup=0.8 --cutmix=1 --rand-augment=2 --brightness=0.4 --contrast=0.4 --saturation=0.4 --hue=0.1 --random-erase=0.5
	--repeat=2 --label-smoothing=0.1 --crop-rule=jitter --jitter-inverse"
# trained RUN [OPTION]...: the hash of each tensor at the end
trained() {
	run=$T/$1
	shift
	${launch:-} "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$run" --device ref --seed 7 -qq "$@" \
		>/dev/null 2>"$T/err" || diag "exit $?: $(tail -2 "$T/err")"
	tail -c +9 "$run/final.safetensors" | head -c "$(od -An -tu8 -N8 "$run/final.safetensors" | tr -d ' ')" |
		jq -r '.__metadata__["vt.tensors"]'
}
# traced RUN: the clips of all ranks of such a run, sorted
traced() {
	cat "$T/trace-$1"* | grep -v '^#' | sort
}
plain=$(trained plain)
# shellcheck disable=SC2086
{
	want=$(trained all $all --loader-threads 1 -j 1 --trace-samples "$T/trace-all")
	check_same "4 threads that load, 3 that compute" "$want" "$(trained threads $all --loader-threads 4 -j 3 --trace-samples "$T/trace-threads")"
	check_same "the same is done to each clip" "$(traced all)" "$(traced threads)"
	check_same "memory for two microbatches" "$want" "$(trained memory $all --loader-memory 1)"
	for np in 2 3; do
		if have_mpi; then
			launch="mpirun -np $np"
			check_same "$np ranks" "$want" "$(trained "ranks$np" $all -j 1 --trace-samples "$T/trace-ranks$np")"
			launch=
			check_same "the same is done to each clip" "$(traced all)" "$(traced "ranks$np")"
		else
			skip "$np ranks" "no mpirun, or built without MPI"
		fi
	done
	# Stopped after four of ten steps, and resumed.
	stages '0 0 2 0 12 2 28 3 0.05 0 0' >"$T/part.tsv"
	whole=$T/s.tsv
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/part.tsv" -o "$T/part" --device ref --seed 7 -qq $all >/dev/null 2>"$T/err" ||
		diag "$(cat "$T/err")"
	check_same "a run that was stopped and resumed" "$want" "$(trained part $all)"
	check_exit "but not without one of the options" 2 vt-train -i "$T/train" -m "$T/net.net" --schedule "$whole" -o "$T/part" \
		--device ref --seed 7 ${all%--crop-rule*}
}
check_says "which is printed" 'crop-rule'
# What was done to each clip, in words: two operations, four changes of colour, and
# what it is mixed with, which is in the same step; a share and a box are shared.
check "words say what was done to a clip" awk -F '\t' '!/^#/ {
		n = split($7, word, " "); ops = jitter = mix = 0
		bad += word[1] != "repeat=" $2 % 2
		for (i = 2; i <= n; i++) {
			if (word[i] ~ /^rand-[a-z-]+(=[-0-9.e]+)?$/) ops++
			else if (word[i] ~ /^(brightness|contrast|saturation|hue)=[-0-9.e]+$/) jitter++
			else if (word[i] ~ /^erase=[0-9]+x[0-9]+[+][0-9]+[+][0-9]+$/) erased++
			else if (word[i] ~ /^(mixup|cutmix)=/) { mix++; kind[$2] = word[i]; step[$2] = $1 }
			else bad++
		}
		bad += ops != 2 || jitter != 4 || mix != 1
		lines++
	}
	END {
		for (clip in kind) {
			split(kind[clip], part, ":"); split(kind[part[2]], other, ":")
			bad += step[clip] != step[part[2]] || part[1] != other[1] || part[3] != other[3] || part[2] == clip
			cuts += kind[clip] ~ /^cut/
		}
		exit !(lines == 120 && bad == 0 && erased > lines / 4 && erased < lines * 3 / 4 && cuts > 0 && cuts < lines)
	}' "$T/trace-all"
for option in --mixup=0.8 --cutmix=1 --rand-augment=2 --brightness=0.4 --contrast=0.4 --saturation=0.4 --hue=0.1 --random-erase=0.5 \
	--repeat=2 --label-smoothing=0.1 --crop-rule=jitter --crop-rule=resized --resize=bilinear --sampler=ssv2; do
	got=$(trained "one$option" "$option")
	check "$option alone changes the run" test -n "$got" -a "$got" != "$plain"
done
stages '0 0 3 0 12 2 28 1 0.05 0 0' >"$T/ones.tsv"
check_exit "microbatches of one clip" 2 vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/ones.tsv" -o "$T/ones" --device ref --mixup 1
check_says "cannot be mixed" 'microbatches of one clip.*--bn-size'
sed 's/^avgpool  scores.*/&\nloss     end      in=scores kind=sigmoid/' "$T/net.net" >"$T/sigmoid.net"
check_exit "a loss of sigmoids takes them, too" 0 vt-train -i "$T/train" -m "$T/sigmoid.net" --schedule "$T/s.tsv" -o "$T/sigmoid" \
	--device ref --mixup 1 -qq
check_exit "but no smoothing" 2 vt-train -i "$T/train" -m "$T/sigmoid.net" --schedule "$T/s.tsv" -o "$T/smooth" --device ref \
	--label-smoothing 0.1
check_says "as is said" 'has no softmax loss'

# ---- pictures ----

if built cairo; then
	check_exit "a sheet of clips" 0 vt-bench loader -i "$T/train" --shape 8x4x96 --runs 1 --warmup 0 --mixup 1 --cutmix 1 \
		--rand-augment 2 --sheet "$T/sheet.svg"
	check "has shares of classes" grep -qE '0\.[0-9]+ [a-h] [+] 0\.[0-9]+ [a-h]' "$T/sheet.svg"
	check_exit "a sheet of a kind that cannot be drawn" 2 vt-bench loader -i "$T/train" --sheet "$T/sheet.gif"
else
	skip "a sheet of clips" "built without cairo"
fi
check_exit "clips have nothing to do with operators" 2 vt-bench op --mixup 1
plan
