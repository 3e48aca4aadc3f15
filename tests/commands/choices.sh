#!/bin/sh
# The algorithms of convolutions, chosen by rule or by autotuning: the table in
# the run, the one in the user's cache, on several ranks, and in resumed runs.
# It runs on the cuda back end with a stand-in for a GPU, whose engines differ
# in their last bits.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 24 8 40 32 1 && "$MAKESET" "$T/val" 8 8 40 32 2 || skip_all "no test set"
small_net 4 8 >"$T/net.net"
stages '0 0 2 0 12 2 16 4 0.05 0 0' >"$T/s.tsv"
stages '0 0 2 0 12 2 16 4 0.05 0 0' '1 2 3 0 12 2 20 4 0.05 0 0' >"$T/longer.tsv"
XDG_CACHE_HOME=$T/cache STANDIN_FASTEST=3
export XDG_CACHE_HOME STANDIN_FASTEST
cached=$T/cache/vt/choices.tsv
# train RUN OPTION...
train() {
	run=$T/$1
	shift
	on_ranks timeout -k 5 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref \
		-j 1 --seed 7 -q -o "$run" "$@"
}
# engines FILE: print the engines in a table.
engines() {
	cut -f4 "$1" | sed 1d | sort -u | tr '\n' ' '
}
rows() {
	sed 1d "$1" | wc -l
}

# ---- by rule, and by autotuning ----

check_exit "a run with exact sums" 0 train rule
check_same "exact sums choose engines by rule" '0 ' "$(engines "$T/rule/choices.tsv")"
check "exact sums do not use the cache" test ! -e "$cached"
# Two convolutions: forward and weight gradients of both, data gradients of the
# second.
check_same "the run's table has each convolution once" 5 "$(rows "$T/rule/choices.tsv")"
check_exit "a run with --autotune=fastest" 0 train tried --autotune fastest
check_same "--autotune=fastest takes the fastest engine" '3 ' "$(engines "$T/tried/choices.tsv")"
check "another engine gives other weights" test "$(digest rule)" != "$(digest tried)"
check "the choices are cached for other runs" cmp "$T/tried/choices.tsv" "$cached"
check_exit "a run with --deterministic=fast and a new shape" 0 \
	env STANDIN_FASTEST=4 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule \
	"$T/longer.tsv" --device ref -j 1 --seed 7 -q -o "$T/fast" --deterministic=fast
check_same "cached choices are used, and only new shapes are tried" '3 4 ' "$(engines "$T/fast/choices.tsv")"
check_same "the run's table has each shape once" 10 "$(rows "$T/fast/choices.tsv")"
check_same "the cache has the new choices" 10 "$(rows "$cached")"
check "the table is in the order in which convolutions were needed" cmp "$T/tried/choices.tsv" - <<-END
	$(head -6 "$T/fast/choices.tsv")
END
# bench OPTION...: time a step at a shape that no run has had.
bench() {
	timeout 120 "$BUILD/gpu/vt-bench" step -m "$T/net.net" --shape=4x2x24 --device ref -j 1 --warmup=0 --runs=1 --no-verify "$@"
}
check_exit "vt-bench without --autotune" 0 bench
check_same "vt-bench without --autotune caches nothing" 10 "$(rows "$cached")"
check_exit "vt-bench with --autotune=fastest" 0 \
	env STANDIN_FASTEST=5 timeout 120 "$BUILD/gpu/vt-bench" step -m "$T/net.net" --shape=4x2x24 \
	--device ref -j 1 --warmup=0 --runs=1 --no-verify --autotune fastest
check_same "vt-bench adds its choices to the cache" '3 4 5 ' "$(engines "$cached")"
check_same "vt-bench caches each of its shapes" 15 "$(rows "$cached")"
check_exit "vt-bench with --autotune=fastest again" 0 bench --autotune fastest
check_same "vt-bench uses the cached choices" '3 4 5 ' "$(engines "$cached")"
check_same "vt-bench tries nothing again" 15 "$(rows "$cached")"
# Kill vt-bench in the steps of its first shape.
"$BUILD/gpu/vt-bench" step -m "$T/net.net" --shape=4x2x28 --shape=4x2x32 --device ref -j 1 --warmup=0 \
	--runs=1000000 --no-verify --autotune fastest >/dev/null 2>&1 &
bench=$!
for _ in $(seq 300); do
	[ "$(rows "$cached")" = 15 ] || break
	sleep 0.1
done
kill -KILL $bench
wait $bench 2>/dev/null
check_same "a vt-bench that is killed has cached the shape that it had planned" 20 "$(rows "$cached")"
check_exit "a run with --deterministic=fast and --autotune=rule" 0 \
	train slow --deterministic=fast --autotune rule
check_same "--autotune=rule overrides the cache" '0 ' "$(engines "$T/slow/choices.tsv")"
check_exit "a run with validation and precise BN" 0 train more --val "$T/val" --val-frames 4 --precise-bn 8
check "shapes of validation and precise BN are in the run's table" test "$(rows "$T/more/choices.tsv")" -gt 5
check_exit "--autotune with a back end without engines" 0 \
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
	--device ref -j 1 -o "$T/none" --progress=never --autotune fastest
check_says "and says so" 'note: --autotune: back end ref has no algorithms to choose'
check "nor a table of them" test ! -e "$T/none/choices.tsv"

# ---- several ranks ----

if have_mpi; then
	np=2
	rm -r "$T/cache"
	check_exit "two ranks with --autotune=fastest" 0 train ranks --autotune fastest
	check_same "two ranks use the choices of the first" '3 ' "$(engines "$T/ranks/choices.tsv")"
	check_same "two ranks have the weights of one" "$(digest tried)" "$(digest ranks)"
	np=1
else
	skip "two ranks use the choices of the first" "no MPI"
fi

# ---- resumed runs ----

# stopped: copy a run after its second step to "again".
train stopped --autotune fastest --save-steps 1 --keep 20 >/dev/null
rm "$T"/stopped/ckpt-*[3-9].safetensors "$T/stopped/final.safetensors" "$T/stopped/latest"
stopped() {
	rm -rf "$T/again"
	cp -r "$T/stopped" "$T/again"
}
STANDIN_FASTEST=5
rm -rf "$T/cache"
stopped
check_exit "a run resumes while another engine is fastest" 0 train again --autotune fastest
check_same "a resumed run keeps its choices" '3 ' "$(engines "$T/again/choices.tsv")"
check_same "a resumed run ends with the same weights" "$(digest tried)" "$(digest again)"
check_same "a resumed run adds its choices to the cache" '3 ' "$(engines "$cached")"
stopped
check_exit "a run resumes with --autotune=rule" 0 train again --autotune rule
check_same "with --autotune=rule, a resumed run keeps its choices" "$(digest tried)" "$(digest again)"
stopped
check_exit "a run resumes with new shapes" 0 train again --autotune fastest --schedule "$T/longer.tsv"
check_same "choices for new shapes are added to the run's table" '3 5 ' "$(engines "$T/again/choices.tsv")"
stopped
check_exit "a run resumes from another directory" 0 \
	train elsewhere --resume "$T/stopped/ckpt-0000000002.safetensors"
check_same "the table next to the checkpoint is used" '3 ' "$(engines "$T/elsewhere/choices.tsv")"
check_same "from another directory, the weights are the same" "$(digest tried)" "$(digest elsewhere)"

rm "$T/again/choices.tsv"
rm -f "$T"/again/ckpt-*[3-9].safetensors
check_exit "without its table, a run does not resume" 2 train again
check_says "the message shows the changed choices and the way out" \
	'choices was 5:[0-9a-f]{32} and is 5:[0-9a-f]{32} now \(one kind of device .*--override=choices allows it\)'
check_exit "--override=choices resumes without the table" 0 train again --override choices
stopped
sed -i '2,$s/the stand-in/another/' "$T/again/choices.tsv"
check_message "a run with a table of another device does not resume" 2 \
	'again/choices.tsv: 5 of its 5 choices are not for cuDNN 1 on the stand-in' \
	timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 --seed \
	7 --progress=never -o "$T/again"
check_says "the message shows that the choices have changed" 'choices was 5:'
check_exit "a run with choices is replayed" 0 timeout 120 "$BUILD/gpu/vt-train" --replay "$T/tried" -j 1 -q
check_same "the replay agrees with the run" same "$(cut -f2 "$T/out" | tail -1)"

# ---- evaluation ----

# scored FILE: score by vt-eval, with the table next to the checkpoint.
scored() {
	timeout 120 "$BUILD/gpu/vt-eval" -k "$T/scored" -i "$T/val" --device ref -j 1 --scores "$1"
}
check_exit "a run with a validation" 0 train scored --autotune fastest --val "$T/val"
check_exit "vt-eval uses the run's table" 0 scored "$T/as-run.tsv"
sed -i '2,$s/the stand-in/another/' "$T/scored/choices.tsv"
check_exit "vt-eval with a table of another device" 0 scored "$T/other.tsv"
check_says "vt-eval warns of choices for another device" \
	'scored/choices.tsv: 7 of its 7 choices are not for cuDNN 1 on the stand-in'
sed -i '3s/\t-\t/\t7=\t/' "$T/scored/choices.tsv"
check_exit "vt-eval with a damaged table ends with 4" 4 scored "$T/damaged.tsv"
check_says "vt-eval's message shows the damaged line" \
	'scored/choices.tsv: line 3: .?7=.? is not a list of at most 16 knobs'
check "vt-eval with a damaged table writes no scores" test ! -e "$T/damaged.tsv"
check_exit "vt-eval on a back end without choices ignores the table" 0 \
	vt-eval -k "$T/scored" -i "$T/val" --device ref -j 1 -q
rm "$T/scored/choices.tsv"
check_exit "vt-eval without a table in the run" 0 scored "$T/by-rule.tsv"
check "without a table, and with one of another device, engines are chosen by rule" \
	cmp "$T/by-rule.tsv" "$T/other.tsv"
check "with the run's table, scores are other than by rule" sh -c "! cmp -s '$T/by-rule.tsv' '$T/as-run.tsv'"

# ---- damaged tables ----

stopped
sed -i '3s/\t-\t/\t7=\t/' "$T/again/choices.tsv"
check_exit "resuming with a damaged table ends with 4" 4 train again
check_says "resuming with a damaged table: the message shows the damaged line of the run's table" \
	'again/choices.tsv: line 3: .?7=.? is not a list of at most 16 knobs'
stopped
printf '#cudnn\tdevice\n1\tthe stand-in\n' >"$cached"
check_message "a damaged cache does not end a run" 0 \
	'warning: .*cache/vt/choices.tsv.*the fastest algorithms are searched again' \
	timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 --seed \
	7 --progress=never --autotune fastest -o "$T/fresh"
check_same "there is one warning" 1 "$(grep -c 'warning:' "$T/err")"
check_same "the damaged cache is replaced" '5 ' "$(engines "$cached")"
rm -r "$T/cache" && : >"$T/cache"
check_message "a cache that cannot be written does not end a run" 0 'warning: .*other runs will search' \
	timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 --seed \
	7 --progress=never --autotune fastest -o "$T/unkept"
plan
