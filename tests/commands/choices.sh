#!/bin/sh
# How the back end does convolutions, chosen by rule or by trying: the table in the
# run, the one in the user's cache, on several ranks, and when a run goes on.  On the
# cuda back end without a GPU, whose engines differ in their last bits.
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
# engines FILE: those in a table
engines() {
	cut -f4 "$1" | sed 1d | sort -u | tr '\n' ' '
}
rows() {
	sed 1d "$1" | wc -l
}
digest() {
	"$BUILD/tests/tools/weightdump" "$T/$1/final.safetensors" "$T/all" >/dev/null 2>&1 || { echo "none of $1"; return; }
	head -c -256 "$T/all" | cksum
}

# ---- by rule, and by trying ----

check_exit "an exact run" 0 train rule
check_same "chooses by rule" '0 ' "$(engines "$T/rule/choices.tsv")"
check "and asks no cache" test ! -e "$cached"
# Two convolutions: forward, their weights, and the data of the second.
check_same "each convolution once" 5 "$(rows "$T/rule/choices.tsv")"
check_exit "tried" 0 train tried --autotune fastest
check_same "the fastest is taken" '3 ' "$(engines "$T/tried/choices.tsv")"
check "which gives other weights" test "$(digest rule)" != "$(digest tried)"
check "and is kept for other runs" cmp "$T/tried/choices.tsv" "$cached"
check_exit "a fast run" 0 env STANDIN_FASTEST=4 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule \
	"$T/longer.tsv" --device ref -j 1 --seed 7 -q -o "$T/fast" --deterministic=fast
check_same "takes what is known, and tries what is not" '3 4 ' "$(engines "$T/fast/choices.tsv")"
check_same "each shape once" 10 "$(rows "$T/fast/choices.tsv")"
check_same "of which others know now" 10 "$(rows "$cached")"
check "the order is that in which they were wanted" cmp "$T/tried/choices.tsv" - <<-END
	$(head -6 "$T/fast/choices.tsv")
END
# bench OPTION...: the time of a step at a shape that no run has had
bench() {
	timeout 120 "$BUILD/gpu/vt-bench" step -m "$T/net.net" --shape=4x2x24 --device ref -j 1 --warmup=0 --runs=1 --no-verify "$@"
}
check_exit "vt-bench by rule" 0 bench
check_same "keeps nothing" 10 "$(rows "$cached")"
check_exit "vt-bench tries, too" 0 env STANDIN_FASTEST=5 timeout 120 "$BUILD/gpu/vt-bench" step -m "$T/net.net" --shape=4x2x24 \
	--device ref -j 1 --warmup=0 --runs=1 --no-verify --autotune fastest
check_same "and keeps what it finds beside what is known" '3 4 5 ' "$(engines "$cached")"
check_same "shape by shape" 15 "$(rows "$cached")"
check_exit "the second time" 0 bench --autotune fastest
check_same "it takes what is known" '3 4 5 ' "$(engines "$cached")"
check_same "and tries nothing" 15 "$(rows "$cached")"
check_exit "or not, if that is not wanted" 0 train slow --deterministic=fast --autotune rule
check_same "but by rule" '0 ' "$(engines "$T/slow/choices.tsv")"
check_exit "validation and precise BN have shapes, too" 0 train more --val "$T/val" --val-frames 4 --precise-bn 8
check "which are chosen with the others" test "$(rows "$T/more/choices.tsv")" -gt 5
check_exit "another back end has no choices" 0 vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
	--device ref -j 1 -o "$T/none" --progress=never --autotune fastest
check_says "and says so" 'note: --autotune: back end ref has no algorithms to choose'
check "nor a table of them" test ! -e "$T/none/choices.tsv"

# ---- on ranks ----

if have_mpi; then
	np=2
	rm -r "$T/cache"
	check_exit "two ranks" 0 train ranks --autotune fastest
	check_same "do as the first one does" '3 ' "$(engines "$T/ranks/choices.tsv")"
	check_same "and have the weights of one" "$(digest tried)" "$(digest ranks)"
	np=1
else
	skip "ranks do as the first one does" "no MPI"
fi

# ---- going on ----

# stopped: a copy of a run after its second step
train stopped --autotune fastest --save-steps 1 --keep 20 >/dev/null
rm "$T"/stopped/ckpt-*[3-9].safetensors "$T/stopped/final.safetensors" "$T/stopped/latest"
stopped() {
	rm -rf "$T/again"
	cp -r "$T/stopped" "$T/again"
}
STANDIN_FASTEST=5
rm -rf "$T/cache"
stopped
check_exit "a run goes on" 0 train again --autotune fastest
check_same "as it began" '3 ' "$(engines "$T/again/choices.tsv")"
check_same "to the same weights" "$(digest tried)" "$(digest again)"
check_same "and tells others" '3 ' "$(engines "$cached")"
stopped
check_exit "by rule, too" 0 train again --autotune rule
check_same "it goes on as it began" "$(digest tried)" "$(digest again)"
stopped
check_exit "with shapes that are new" 0 train again --autotune fastest --schedule "$T/longer.tsv"
check_same "these are added" '3 5 ' "$(engines "$T/again/choices.tsv")"
stopped
check_exit "from another directory" 0 train elsewhere --resume "$T/stopped/ckpt-0000000002.safetensors"
check_same "by the table beside the checkpoint" '3 ' "$(engines "$T/elsewhere/choices.tsv")"
check_same "to the same weights" "$(digest tried)" "$(digest elsewhere)"

rm "$T/again/choices.tsv"
rm -f "$T"/again/ckpt-*[3-9].safetensors
check_exit "without the table it is other" 2 train again
check_says "which is refused" \
	'choices was 5:[0-9a-f]{32} and is 5:[0-9a-f]{32} now \(one kind of device .*--override=choices allows it\)'
check_exit "unless that is meant" 0 train again --override choices
stopped
sed -i '2,$s/the stand-in/another/' "$T/again/choices.tsv"
check_exit "a table of another device" 2 timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule \
	"$T/s.tsv" --device ref -j 1 --seed 7 --progress=never -o "$T/again"
check_says "is said to be one" 'again/choices.tsv: 5 of its 5 choices are not for cuDNN 1 on the stand-in'
check_says "and is not taken" 'choices was 5:'
check_exit "a replay" 0 timeout 120 "$BUILD/gpu/vt-train" --replay "$T/tried" -j 1 -q
check_same "computes as the run did" same "$(cut -f2 "$T/out" | tail -1)"

# ---- convolutions that do the work of norms ----

# small_net without its shift: a norm stands before its second convolution
small_net 8 16 | sed '/^shift/d; s/in=shift1/in=relu1/' >"$T/fused.net"
# half RUN OPTION...: the same in fp16
half() {
	run=$1
	shift
	train "$run" -m "$T/fused.net" --precision fp16 "$@"
}
# With a norm before it: forward, data and weights.
check_exit "in fp16" 0 half fused
check_same "convolutions do the work of norms" '0 ' "$(engines "$T/fused/choices.tsv")"
check_exit "with --no-fuse" 0 half plain --no-fuse
check_same "they do not" '- 0 ' "$(engines "$T/plain/choices.tsv")"
check "which gives other weights" test "$(digest fused)" != "$(digest plain)"
check_exit "where plain ones are faster" 0 env STANDIN_SLOW=1 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/fused.net" \
	--schedule "$T/s.tsv" --device ref -j 1 --seed 7 -q -o "$T/slower" --precision fp16 --autotune fastest
check_same "these are taken" "$(digest plain)" "$(digest slower)"
check_same "and the table says how long it takes" 1 \
	"$(awk -F'\t' '$4 == "-" && $6 > 0' "$T/slower/choices.tsv" | cut -f3 | grep -c '^0\.2')"
check_exit "another run knows that" 0 half known --autotune fastest
check_same "and is plain" "$(digest plain)" "$(digest known)"
rm -r "$T/cache"
check_exit "where they are slower" 0 half faster --autotune fastest
check_same "they are not taken" "$(digest fused)" "$(digest faster)"
if have_mpi; then
	np=2
	rm -r "$T/cache"
	check_exit "two ranks, of which the first finds plain ones faster" 0 mpirun -np 1 -x STANDIN_SLOW=1 \
		"$BUILD/gpu/vt-train" -i "$T/train" -m "$T/fused.net" --schedule "$T/s.tsv" --device ref -j 1 --seed 7 -q \
		-o "$T/apart" --precision fp16 --autotune fastest : -np 1 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/fused.net" \
		--schedule "$T/s.tsv" --device ref -j 1 --seed 7 -q -o "$T/apart" --precision fp16 --autotune fastest
	check_same "do as it does" "$(digest plain)" "$(digest apart)"
	np=1
else
	skip "two ranks do as the first" "no MPI"
fi
half fused-on --save-steps 1 --keep 20 >/dev/null
half plain-on --save-steps 1 --keep 20 --no-fuse >/dev/null
for how in fused plain; do
	rm "$T/$how-on"/ckpt-*[3-9].safetensors "$T/$how-on/final.safetensors" "$T/$how-on/latest"
done
check_exit "a run that began fused" 0 half fused-on --no-fuse
check_same "goes on so" "$(digest fused)" "$(digest fused-on)"
check_exit "one that began plain" 0 half plain-on
check_same "does, too" "$(digest plain)" "$(digest plain-on)"

# ---- evaluation ----

# scored FILE: by vt-eval, with what lies beside the checkpoint
scored() {
	timeout 120 "$BUILD/gpu/vt-eval" -k "$T/scored" -i "$T/val" --device ref -j 1 --scores "$1"
}
check_exit "a run with a validation" 0 train scored --autotune fastest --val "$T/val"
check_exit "vt-eval" 0 scored "$T/as-run.tsv"
sed -i '2,$s/the stand-in/another/' "$T/scored/choices.tsv"
check_exit "a run on another device" 0 scored "$T/other.tsv"
check_says "is said to be one" 'scored/choices.tsv: 7 of its 7 choices are not for cuDNN 1 on the stand-in'
sed -i '3s/\t-\t/\t7=\t/' "$T/scored/choices.tsv"
check_exit "a damaged table ends it" 4 scored "$T/damaged.tsv"
check_says "by line" 'scored/choices.tsv: line 3: .?7=.? is not a list of at most 16 knobs'
check "before it writes anything" test ! -e "$T/damaged.tsv"
check_exit "what has no choices does not look" 0 vt-eval -k "$T/scored" -i "$T/val" --device ref -j 1 -q
rm "$T/scored/choices.tsv"
check_exit "without a table" 0 scored "$T/by-rule.tsv"
check "scores are those by rule, as on another device" cmp "$T/by-rule.tsv" "$T/other.tsv"
check "and with it the run's" sh -c "! cmp -s '$T/by-rule.tsv' '$T/as-run.tsv'"

# ---- damage ----

stopped
sed -i '3s/\t-\t/\t7=\t/' "$T/again/choices.tsv"
check_exit "a damaged table ends it" 4 train again
check_says "by line" 'again/choices.tsv: line 3: .?7=.? is not a list of at most 16 knobs'
stopped
printf '#cudnn\tdevice\n1\tthe stand-in\n' >"$cached"
check_exit "a damaged cache does not" 0 timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule \
	"$T/s.tsv" --device ref -j 1 --seed 7 --progress=never --autotune fastest -o "$T/anew"
check_says "but is warned of" 'warning: .*cache/vt/choices.tsv.*the fastest algorithms are searched again'
check_same "once" 1 "$(grep -c 'warning:' "$T/err")"
check_same "and written anew" '5 ' "$(engines "$cached")"
rm -r "$T/cache" && : >"$T/cache"
check_exit "nor does one that cannot be" 0 timeout 120 "$BUILD/gpu/vt-train" -i "$T/train" -m "$T/net.net" --schedule \
	"$T/s.tsv" --device ref -j 1 --seed 7 --progress=never --autotune fastest -o "$T/unkept"
check_says "of which there is one warning" 'warning: .*other runs will search'
plan
