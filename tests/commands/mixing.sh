#!/bin/sh
# Training on augmented and mixed clips gives the same weights for every number
# of threads and ranks and after a stop. Each option changes the weights.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 20 4 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# Batches of 12 in groups of 3 and 4 clips. In groups of 3, mixing partners form
# a cycle.
stages '0 0 3 0 12 2 28 3 0.05 0 0' '1 3 6 0 12 2 20 4 0.05 0 0' >"$T/s.tsv"
all="--mixup=0.8 --cutmix=1 --rand-augment=2 --brightness=0.4 --contrast=0.4 --saturation=0.4 --hue=0.1 --random-erase=0.5
	--repeat=2 --label-smoothing=0.1 --crop-rule=jitter --jitter-inverse"
# trained RUN [OPTION]...: train, and print the hash of each tensor of the final
# checkpoint.
trained() {
	run=$T/$1
	shift
	${launch:-} "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$run" --device ref --seed 7 -qq "$@" \
		>/dev/null 2>"$T/err" || diag "exit $?: $(tail -2 "$T/err")"
	tensors "$run"
}
# traced RUN: print the traced clips of all ranks of such a run, sorted.
traced() {
	cat "$T/trace-$1"* | grep -v '^#' | sort
}
killed() {
	# shellcheck disable=SC2086
	on_ranks timeout -k 5 120 "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/kills" \
		--device ref --seed 7 -qq $all --save-steps 1
}
plain=$(trained plain)
# shellcheck disable=SC2086
{
	want=$(trained all $all --loader-threads 1 -j 1 --trace-samples "$T/trace-all")
	check_same "4 loader threads and 3 compute threads give the same weights" \
		"$want" "$(trained threads $all --loader-threads 4 -j 3 --trace-samples "$T/trace-threads")"
	check_same "4 loader threads give the same transforms of each clip" "$(traced all)" "$(traced threads)"
	check_same "memory for two microbatches gives the same weights" \
		"$want" "$(trained memory $all --loader-memory 1)"
	for np in 2 3; do
		if have_mpi; then
			launch="mpirun -np $np"
			check_same "$np ranks give the same weights" \
				"$want" "$(trained "ranks$np" $all -j 1 --trace-samples "$T/trace-ranks$np")"
			launch=
			check_same "$np ranks give the same transforms of each clip" \
				"$(traced all)" "$(traced "ranks$np")"
		else
			skip "$np ranks give the same weights" "no mpirun, or built without MPI"
		fi
	done
	# Stopped after four of ten steps, and resumed.
	stages '0 0 2 0 12 2 28 3 0.05 0 0' >"$T/part.tsv"
	whole=$T/s.tsv
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/part.tsv" -o "$T/part" --device ref --seed 7 -qq $all >/dev/null 2>"$T/err" ||
		diag "$(cat "$T/err")"
	check_same "a run that is stopped and resumed gives the same weights" "$want" "$(trained part $all)"
	killed_often 3 killed
	check_same "a run that was killed and resumed gives the same weights" "$want" "$(trained kills $all)"
	check_exit "resuming without one of the options ends with 2" 2 \
		vt-train -i "$T/train" -m "$T/net.net" --schedule "$whole" -o "$T/part" \
		--device ref --seed 7 ${all%--crop-rule*}
}
check_says "resuming without one of the options: the message names the missing option" 'crop-rule'
# The trace lists the transforms of each clip: two operations, four color
# changes, and its mixing partner. The partner is in the same step and has the
# same lambda or box.
check "the trace lists the transforms of each clip" awk -F '\t' '!/^#/ {
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
# The clips of a repeated sample have the same frames, and their own crops.
check "clips of a repeated sample share sample and frames, not crops" awk -F '\t' '!/^#/ {
		n = int($2 / 2)
		bad += (n in key) && (key[n] != $3 || frames[n] != $4)
		pairs += n in key; same += crop[n] == $5 $6
		key[n] = $3; frames[n] = $4; crop[n] = $5 $6
	}
	END { exit !(bad == 0 && pairs == 60 && same < 6) }' "$T/trace-all"
# results RUN: print the results number of a run.
results() {
	header "$T/$1/final.safetensors" | jq -r '.__metadata__["vt.results"]'
}
check_same "--repeat has a results number of its own, so runs of 0.2.0 with it do not resume" \
	"$(results plain) repeat=1" "$(results all)"
for option in --mixup=0.8 --cutmix=1 --rand-augment=2 --brightness=0.4 --contrast=0.4 --saturation=0.4 --hue=0.1 --random-erase=0.5 \
	--repeat=2 --label-smoothing=0.1 --crop-rule=jitter --crop-rule=resized --resize=bilinear --sampler=ssv2; do
	got=$(trained "one$option" "$option")
	check "$option alone changes the run" test -n "$got" -a "$got" != "$plain"
done
stages '0 0 3 0 12 2 28 1 0.05 0 0' >"$T/ones.tsv"
check_message "--mixup with microbatches of one clip ends with 2" 2 'microbatches of one clip.*--bn-size' \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/ones.tsv" -o "$T/ones" --device ref --mixup 1
sed 's/^avgpool  scores.*/&\nloss     end      in=scores kind=sigmoid/' "$T/net.net" >"$T/sigmoid.net"
check_exit "--mixup with a sigmoid loss trains" 0 \
	vt-train -i "$T/train" -m "$T/sigmoid.net" --schedule "$T/s.tsv" -o "$T/sigmoid" \
	--device ref --mixup 1 -qq
check_message "--label-smoothing with a sigmoid loss ends with 2" 2 'has no softmax loss' \
	vt-train -i "$T/train" -m "$T/sigmoid.net" --schedule "$T/s.tsv" -o "$T/smooth" --device ref --label-smoothing \
	0.1

# ---- contact sheets ----

if built cairo; then
	check_exit "a contact sheet of mixed clips" 0 \
		vt-bench loader -i "$T/train" --shape 8x4x96 --runs 1 --warmup 0 --mixup 1 --cutmix 1 \
		--rand-augment 2 --sheet "$T/sheet.svg"
	check "the contact sheet shows shares of classes" \
		grep -qE '0\.[0-9]+ [a-h] [+] 0\.[0-9]+ [a-h]' "$T/sheet.svg"
	check_exit "a contact sheet in an unknown format ends with 2" 2 \
		vt-bench loader -i "$T/train" --sheet "$T/sheet.gif"
else
	skip "a sheet of clips" "built without cairo"
fi
check_exit "--mixup with vt-bench op ends with 2" 2 vt-bench op --mixup 1
plan
