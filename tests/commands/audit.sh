#!/bin/sh
# --audit computes a microbatch twice and changes no weight; one flipped bit of
# a gradient is found in the first audited step that contains it. That holds on
# every rank in turn. The message names the parameter. Nothing is reported
# outside of audits.
# tests/run: weight 9
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# 40 clips in batches of 12: 14 steps of 6 microbatches, then 4 steps of 4.
stages '0 0 4 0 12 2 16 2 0.01 0 0' '1 4 5 0 8 4 16 2 0.01 0 0' >"$T/s.tsv"
host=$(uname -n)

# train RANKS DIR [OPTION]...
train() {
	np=$1 dir=$2
	shift 2
	on_ranks "$BUILD/${VT_FLIP_BIT:+tests/drill/}vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		-j 1 --device ref --log-every 1 "$@"
}
audits() {
	jq -c 'select(.type == "audit")' "$T/$1/log.jsonl"
}

check "a run without audits" train 1 none -q
ranks="1"
! have_mpi || ranks="1 2 3"
[ "$ranks" != 1 ] || skip "audits between ranks" "no MPI"
for np in $ranks; do
	check "$np ranks: a run with an audit at every step" train $np every-$np -q --audit 1 --bucket 4K
	check "$np ranks: its weights are the same bits" same none every-$np
	check_same "$np ranks: every step is audited, and no audit differs" "18 0" \
		"$(audits every-$np | jq -s -r '"\(length) \(map(.differ) | add)"')"
	pairs=$((np * (np - 1)))
	check_same "$np ranks: each rank audits each other rank in turn" $((pairs > 0 ? pairs : 1)) \
		"$(audits every-$np | head -n $((pairs > 0 ? pairs : 1)) | jq -s 'unique_by([.rank, .again]) | length')"
	[ $np = 1 ] || check_same "$np ranks: no rank audits itself" 0 \
		"$(audits every-$np | jq -s 'map(select(.rank == .again)) | length')"
done
check_same "the audited microbatch changes" yes "$(audits every-1 |
	jq -s -r 'if ([.[].microbatch] | unique | length) > 3 then "yes" else "no" end')"

# ---- a fault is found ----

# audited RANKS STEP: print rank, duplicate rank and microbatch of that step's
# audit.
audited() {
	audits every-$1 | jq -r "select(.step == $2) | \"\(.rank) \(.again) \(.microbatch)\""
}
for np in $ranks; do
	for step in $(seq 1 $((np * (np - 1) > 0 ? np * (np - 1) : 1))); do
		# shellcheck disable=SC2046
		set -- $(audited $np $step)
		rm -rf "$T/bad"
		VT_FLIP_BIT=$step:$1:$3 check_exit "$np ranks: a bit flipped on rank $1 in step $step ends with 6" 6 \
			train $np bad --audit 1
		who="rank $1 on $host and rank $2 on $host both computed microbatch $3, and the gradients of"
		[ $np != 1 ] || who="rank 0 on $host computed microbatch $3 twice, and the gradients of"
		check_says "$np ranks: the message names step $step, ranks and parameter" \
			"step $step: $who [a-z0-9.]*[a-z] differ"
	done
done
check_same "nothing of the differing step is saved" $((step - 1)) "$(vt-train --status "$T/bad" | jq .step)"
VT_FLIP_BIT=$step:$1:$3 check_exit "a run without audits does not find the flipped bit" 0 train $np unseen -q
check "the flipped bit changes the weights" \
	sh -c "! cmp -s '$T/none/final.safetensors' '$T/unseen/final.safetensors'"
rm -rf "$T/bad"
VT_FLIP_BIT=$step:$1:$3 check_exit "--audit-report lets the run end" 0 train $np bad --audit 1 --audit-report
check_says "--audit-report warns of the differing step" "warning: step $step: .*differ"
check_same "--audit-report logs the differing step once" \
	"$step 1" "$(audits bad | jq -r 'select(.differ > 0) | "\(.step) \(.differ)"')"

# The last microbatch of a rank is summed while its backward pass runs.
for step in $(seq 13); do
	# shellcheck disable=SC2046
	set -- $(audited 2 $step)
	case $3 in 2 | 5) break ;; esac
done
if [ "$ranks" != 1 ]; then
	rm -rf "$T/bad"
	VT_FLIP_BIT=$step:$1:$3 check_exit "a bit flipped in a rank's last microbatch ends with 6" 6 train 2 bad --audit 1
fi

# A network of a single parameter, which the comparison must include.
cat >"$T/one.net" <<-'NET'
	input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
	conv     scores   in=x out=classes k=1,1
	avgpool  mean     in=scores over=thw
NET
check "a network of one parameter is audited" train 1 one -q --audit 1 -m "$T/one.net"
VT_FLIP_BIT=1:0:$(audits one | jq -r 'select(.step == 1) | .microbatch') \
	check_exit "a fault in the only parameter ends with 6" 6 train 1 one-bad --audit 1 -m "$T/one.net"
check_says "a fault in the only parameter: the message names the only parameter" \
	"step 1: .* the gradients of scores.weight differ"

# ---- only audited microbatches are compared ----

# shellcheck disable=SC2046
set -- $(audited $np 2)
other=$((($3 + 1) % 6))
for rank in $(seq 0 $((np - 1))); do
	rm -rf "$T/bad"
	[ $other -lt $((6 * rank / np)) ] || [ $other -ge $((6 * (rank + 1) / np)) ] ||
		VT_FLIP_BIT=2:$rank:$other check_exit "rank $rank: a fault in a microbatch that is not audited is not reported" 0 \
			train $np bad --audit 1
done
check_same "no audit of that run differs" 0 "$(audits bad | jq -s 'map(.differ) | add')"
rm -rf "$T/bad"
VT_FLIP_BIT=3:$1:$3 check_exit "a fault in a step that is not audited is not reported" 0 train $np bad -q --audit 2
check_same "--audit 2 audits every second step" \
	"2 4 6 8 10 12 14 16 18" "$(audits bad | jq -r .step | tr '\n' ' ' | sed 's/ $//')"

check_message "--audit with --deterministic=fast ends with 2" 2 '--audit is for --deterministic=exact' \
	train 1 no --audit 1 --deterministic fast
check_message "a malformed VT_FLIP_BIT ends with 2" 2 "VT_FLIP_BIT=3:x .wanted STEP:RANK:MICROBATCH" \
	env VT_FLIP_BIT=3:x "$BUILD/tests/drill/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" -o \
	"$T/none2" --device ref

# ---- resumed on another number of ranks; traced clips ----

if [ "$ranks" != 1 ]; then
	check_exit "a run with audits is stopped" 75 \
		train 2 again -q --audit 2 --save-steps 3 --stop-after 0.001s
	check "a stopped run with audits resumes with other ranks and audits" \
		train 3 again -q --audit 3 --trace-samples "$T/trace"
	check "the resumed run has the same weights" same none again
	check_same "a clip that is computed twice is traced once" 0 \
		"$(cat "$T"/trace.* | grep -v '^#' | cut -f2 | sort | uniq -d | wc -l)"
fi

plan
