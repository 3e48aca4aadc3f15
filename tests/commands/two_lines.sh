#!/bin/sh
# vt-train -i VIDEOS -o RUN and vt-eval -k RUN: network, schedule and held-out samples
# follow from the recipe small and from the data. The schedule is that of the line of
# vt-schedule that is printed, and holds when the run is resumed.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
"$BUILD/motions" "$T/made" 6 1 1 >/dev/null || skip_all "motions fails"
V=$T/made/train
# train DIR [OPTION]...: train a small network on the videos.
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$V" --short-side=48 -m tsm_tiny -o "$T/$dir" --epochs=1 --crop=32 "$@" >/dev/null
}

check_exit "a run without a schedule" 0 train run
check_says "a note has the line of vt-schedule" 'the schedule: vt-schedule --recipe=small --batch=8 --frames=8 --crop=32 '
check_says "classes that name a side turn off flips" "clips are not flipped, since a class is pan_left "
check_says "a fifth of the videos validates" 'run/data: [0-9]* of 48 samples validate'
line=$(sed -n 's/.*the schedule: vt-schedule //p' "$T/err")
# shellcheck disable=SC2086
check_same "that line makes the schedule of the run" "$(vt-schedule $line | sed '/^# --bn-size/d')" "$(cat "$T/run/schedule.tsv")"
check_exit "vt-eval on the run" 0 vt-eval -k "$T/run"
check "it scores the samples that validate" grep -q "^#summary.*samples $(grep -c '	val	' "$T/run/split.tsv")	" "$T/out"
new=$(find "$T/made/test" -type f | head -1)
check_exit "vt-eval on a new video" 0 vt-eval -k "$T/run" "$new"
check "it names a class" grep -q "	$(sed -n 1p "$T/run/classes.txt")" "$T/out"

# ---- what the rule gives ----

# prints WHAT PATTERN: pass if a line of the last command's output matches.
prints() {
	check "$1" grep -Eq "$2" "$T/out"
}
plan_of() {
	vt-train -n -i "$V" "$@"
}
check_exit "the plan of the videos" 0 plan_of
prints "the network is that of the recipe" '^# network  *tsm_r18,'
prints "the recipe is named" '^# recipe  *small: .*optimizer=adamw'
check_exit "the plan of smaller videos" 0 plan_of --short-side=48
check_says "the crop fits in the frames that --short-side gives" '--crop=32 '
check_exit "the plan of the packed set" 0 vt-train -n -i "$T/run/data" -m tsm_tiny
prints "all samples of a packed set train" '^# data  *48 samples, 100 epochs'
check_says "the crop fits in the frames" '--crop=32 '
check_exit "numbers of the user" 0 plan_of -m tsm_tiny --epochs=7 --batch=4 --lr=0.25 --frames=6 --crop=64
check_says "replace those of the rule" '--batch=4 --frames=6 --crop=64 --lr=0.25 --epochs=7 --warmup-epochs=1.75'
check_exit "another network with --schedule" 0 vt-train -n -i "$V" --schedule="$T/run/schedule.tsv"
prints "the default network is the same" '^# network  *tsm_r18,'
check "without the recipe" sh -c '! grep -q "^# recipe" "$1"' - "$T/out"
check_exit "numbers beside a schedule" 2 plan_of --schedule="$T/run/schedule.tsv" --epochs=2
check_says "the message names both" '--epochs with --schedule=.*schedule.tsv .wanted one of them'
mkdir "$T/few"
for class in pan_left zoom_in; do cp -r "$V/$class" "$T/few"; done
mkdir "$T/few/zoom_in/day 2" && mv "$T/few/zoom_in"/*4.* "$T/few/zoom_in/day 2"
check_exit "fewer than 40 videos, some in a further folder" 0 vt-train -n -i "$T/few"
prints "all of them train" '^# data  *12 samples'
check_exit "--val=none" 0 plan_of --val=none
prints "lets all videos train" '^# data  *48 samples'

check_exit "--flip with such classes" 0 plan_of --flip
check "flips all the same" sh -c '! grep -q "not flipped" "$1"' - "$T/err"
mkdir "$T/sides" && cp -r "$V/zoom_in" "$V/tilt_up" "$T/sides" && mv "$T/sides/tilt_up" "$T/sides/upright"
check_exit "classes that name no side" 0 vt-train -n -i "$T/sides"
check "are flipped" sh -c '! grep -q "not flipped" "$1"' - "$T/err"

# ---- a resumed run keeps its schedule and recipe ----

check_exit "a run that is stopped" 75 train stopped --stop-after=0.01s --save-steps=1
printf 'schedule.lr = 1\ntrain.clip-grad = 1\n' >"$T/other"
check_exit "other numbers are another run" 2 train stopped --batch=4
check_says "the message names the schedule" 'schedule: .*--override=schedule allows it'
check_exit "it is resumed with its own recipe" 0 train stopped --recipe="$T/other"
check "with the weights of a run that was not stopped" same run stopped
if have_mpi; then
	np=2
	check "a run on 2 ranks" train ranks
	check "it has the same weights" same run ranks
	np=1
fi
check "the run is replayed" vt-train -q --replay="$T/run"
check "the configuration of the run" vt-train -q -c "$T/run/config" -o "$T/again"
check "makes the same run" same run again
plan
