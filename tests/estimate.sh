#!/bin/sh
# The time of a run before it is made: measured by -n --time and at the start, or
# from the log of an earlier run; and that measuring changes no weight.
cd "${0%/*}/.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"

cat >"$T/net.net" <<'NET'
input    x        out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225
conv     conv1    in=x out=4 k=3,3 s=2,2
bn       bn1      in=conv1
relu     relu     in=bn1
avgpool  avgpool  in=relu over=hw
linear   fc       in=avgpool out=classes std=0.1
avgpool  scores   in=fc over=t
NET
# Two shapes: 8 epochs of 10 steps each, then 4 epochs of 5 steps.
{
	printf '#stage\tfirst\tlast\tcycle\tbatch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n'
	printf '0\t0\t8\t0\t4\t2\t16\t4\t0.01\t0\t0\n'
	printf '1\t8\t12\t0\t8\t2\t20\t4\t0.01\t0\t0\n'
} >"$T/s.tsv"
# One shape of many steps, of which three microbatches are less than a hundredth.
{
	printf '#stage\tfirst\tlast\tcycle\tbatch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n'
	printf '0\t0\t40\t0\t4\t2\t16\t4\t0.01\t0\t0\n'
} >"$T/long.tsv"
sed 's/^0	0	40	0	4/0	0	40	0	8/' "$T/long.tsv" >"$T/pair.tsv"
# train [OPTION]...: on plain loops
train() {
	vt-train -i "$T/train" -m "$T/net.net" --device ref -j 1 "$@"
}

# ---- from a log ----

# A log with known seconds: 2 s a step of the first shape, 6 s of the second, 3 s a
# validation: 80 x 2 s, 20 x 6 s, 12 x 3 s.
mkdir "$T/logged"
log() {
	printf '{"model":"net","precision":"fp32","ranks":1,"step":0,"type":"start"}\n'
	printf '{"batch":4,"bn":4,"clips_per_s":2,"crop":16,"frames":2,"seconds":20,"step":10,"type":"step"}\n'
	printf '{"samples":16,"seconds":3,"step":10,"type":"validation"}\n'
	[ "${1:-}" = short ] ||
		printf '{"batch":8,"bn":4,"clips_per_s":1.3333333333,"crop":20,"frames":2,"seconds":60,"step":90,"type":"step"}\n'
}
time_of() {
	sed -n 's/^# time  *//p' "$T/out"
}
log >"$T/logged/log.jsonl"
check_exit "-n with a run that has a log" 0 train -n --schedule "$T/s.tsv" --val "$T/val" -o "$T/logged"
check_same "multiplies its times" \
	"about 5 min: 5 min of 100 steps, 36 s of 12 validations (from $T/logged/log.jsonl)" "$(time_of)"
check_same "and says those of a step" "2 s,6 s" "$(sed -n 's/^# stage .* \([0-9.]* s\) a step$/\1/p' "$T/out" | paste -sd , -)"
check_exit "without validation" 0 train -n --schedule "$T/s.tsv" -o "$T/logged"
check_same "there is none" "about 5 min: 5 min of 100 steps (from $T/logged/log.jsonl)" "$(time_of)"
check_exit "in another precision" 0 train -n --schedule "$T/s.tsv" -o "$T/logged" --precision fp16
check_same "it tells nothing" "" "$(time_of)"
log short >"$T/logged/log.jsonl"
check_exit "a log that lacks a shape" 0 train -n --schedule "$T/s.tsv" --val "$T/val" -o "$T/logged"
check_same "tells nothing" "" "$(time_of)"
printf 'junk\n{"type":7}\n' >"$T/logged/log.jsonl"
check_exit "one that is damaged" 0 train -n --schedule "$T/s.tsv" -o "$T/logged"
check_same "neither" "" "$(time_of)$(cat "$T/err")"

# ---- measured ----

check_exit "-n --time" 0 train -n --time --schedule "$T/s.tsv" --val "$T/val"
check "multiplies what it measures" expr "$(time_of)" : \
	'about [0-9.]* m*[si]n*: [0-9.]* [mins]* of 100 steps, [0-9.]* [mins]* of 12 validations (timed 2 microbatches or more of each of 2 shapes)$'
check_same "a line for each stage" 2 "$(grep -c ' s a step$' "$T/out")"
check_exit "and with --precise-bn" 0 train -n --time --schedule "$T/s.tsv" --precise-bn 16
check "which is measured once" grep -q ' of 1 validation (' "$T/out"
check_exit "--time alone" 2 train --time --schedule "$T/s.tsv" -o "$T/none"
check_says "is refused" "--time without --dry-run"
check_exit "vt-schedule --check --time" 0 vt-schedule --check --time -m "$T/net.net" -i "$T/train" --device ref "$T/s.tsv"
check "says the same" grep -q '^# time  *about .* of 100 steps, .* of 1 validation (timed' "$T/out"
check_exit "vt-schedule --time alone" 2 vt-schedule --time
if have_mpi; then
	check_exit "on two ranks" 0 mpirun -np 2 "$BUILD/vt-train" -n --time -i "$T/train" -m "$T/net.net" --device ref -j 1 --schedule "$T/long.tsv" --deterministic fast
	check "a part of a microbatch is timed" grep -q '^# time  *about .* of 400 steps, .* (timed' "$T/out"
	check_exit "two ranks stop" 75 mpirun -np 2 "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --device ref -j 1 \
		--schedule "$T/pair.tsv" -o "$T/pair" --stop-after 0.01 -q
	check_exit "and go on" 0 mpirun -np 2 "$BUILD/vt-train" -i "$T/train" -m "$T/net.net" --device ref -j 1 \
		--schedule "$T/pair.tsv" -o "$T/pair" --log-every 1
	check_same "the first says for both what its log says" 1 "$(grep -c 'note: about .* of [0-9]* steps (from .*pair/log.jsonl)' "$T/err")"
fi

# ---- a run ----

check_exit "a run" 0 train --schedule "$T/long.tsv" -o "$T/run" --save-steps 200
check_says "says how long it will take" "note: about .* of 400 steps, .* \(timed"
check_exit "a quiet one" 0 train --schedule "$T/long.tsv" -o "$T/quiet" -q
check_same "says nothing" "" "$(cat "$T/err")"
check "and has the same weights" cmp "$T/run/final.safetensors" "$T/quiet/final.safetensors"
rm "$T/run/final.safetensors" "$T/run/ckpt-0000000400.safetensors"
check_exit "a run that goes on" 0 train --schedule "$T/long.tsv" -o "$T/run"
check_says "has the time of the rest from its log" "note: about .* of 200 steps \(from .*run/log.jsonl\)"
check "and the same weights" cmp "$T/run/final.safetensors" "$T/quiet/final.safetensors"
check_exit "a short run" 0 train --schedule "$T/s.tsv" -o "$T/short"
check_same "does not measure" "" "$(grep about "$T/err")"

plan
