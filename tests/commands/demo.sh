#!/bin/sh
# make demo with the user's videos: after a stop at any place, the same command
# ends with the same results. A stopped training saves its state. The tests
# train for one or three epochs.
# tests/run: weight 18
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD
for part in FFmpeg oneDNN; do
	built "$part" || skip_all "built without $part"
done
"$BUILD/motions" "$T/made" 5 1 1 || skip_all "no videos"
mkdir "$T/my videos" && mv "$T/made/train/pan_left" "$T/made/train/zoom_in" "$T/my videos"
# A class may have subfolders.
mkdir "$T/my videos/zoom_in/day 2" && mv "$T/my videos/zoom_in"/*4.* "$T/my videos/zoom_in/day 2"

# Small crops suffice.
mkdir "$T/small"
for c in "$BUILD"/vt-* "$BUILD/motions"; do [ -x "$c" ] && ln -s "$c" "$T/small"; done
rm "$T/small/vt-schedule"
cat >"$T/small/vt-schedule" <<SHIM
#!/bin/sh
case " \$*" in *" --batch"*) set -- "\$@" --frames=4 --crop=32 ;; esac
exec "$BUILD/vt-schedule" "\$@"
SHIM
chmod +x "$T/small/vt-schedule"
# demo OUT [SETTING...]: run make demo as a user would, but never rebuild vt,
# because other tests run it.
demo() {
	out=$T/$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS PATH="$T/bin:$PATH" make --no-print-directory \
		BUILD="$T/small" -o all demo-run VIDEOS="$T/my videos" NET=tsm_tiny OUT="$out" "$@"
}
# results OUT: print checksums of all results that contain no times.
results() {
	(cd "$T/$1" && cksum train/*.tar test/*.tar ./*.txt schedule.tsv tsm_tiny/final.safetensors tsm_tiny-*.tsv)
}

check_exit "a demo of one epoch" 0 demo whole EPOCHS=1
check "the demo prints top-1 at its end" grep -q '^top-1 of tsm_tiny: [0-9.]* %' "$T/out"
check_same "a fifth of the videos is kept for the test" \
	"8 2" "$(wc -l <"$T/whole/train.txt") $(wc -l <"$T/whole/test.txt")"
before=$(results whole)
check_exit "the same demo again" 0 demo whole EPOCHS=1
check_same "the same demo again changes no result" "$before" "$(results whole)"
check_message "a demo with other settings in the same OUT ends with 2" 2 "holds a demo of .* EPOCHS=1" demo whole EPOCHS=2
sed -i 's/--optimizer=adamw/--optimizer=sgd/' "$T/whole/settings.txt"
check_exit "a demo over one of an earlier recipe ends with 2" 2 demo whole EPOCHS=1
check_says "a demo over one of an earlier recipe: the message shows the earlier recipe and the way out" \
	"holds a demo of .* --optimizer=sgd .*: remove it, or give another OUT="
sed -i 's/--optimizer=sgd/--optimizer=adamw/' "$T/whole/settings.txt"
for epochs in 0 many 1.5; do
	check_message "EPOCHS=$epochs is refused" 2 "EPOCHS=$epochs: wanted a number of epochs" demo none EPOCHS=$epochs
done
check "a refused demo makes no folder" test ! -e "$T/none"

# ---- stopped ----

# Commands that end the demo where PLACE says: they send SIGNAL to all its
# processes, as a terminal does. Elsewhere they run the real commands.
cp -a "$T/small" "$T/stop"
rm "$T/stop/vt-pack" "$T/stop/vt-train" "$T/stop/vt-eval"
cat >"$T/stop/vt-pack" <<SHIM
#!/bin/bash
# Pass on a part of the stream, then stop the demo.
case "\$PLACE \$*" in
"train -o train" | "test -o test"*)
	mkfifo "\$PLACE.pipe"
	{ head -c 300000; exec sleep 600; } >"\$PLACE.pipe" &
	"$BUILD/vt-pack" "\$@" <"\$PLACE.pipe" &
	until [ -n "\$(find "\$PLACE" -type f 2>/dev/null)" ]; do sleep 0.02; done
	rm "\$PLACE.pipe"
	kill -s "\$SIGNAL" -- "-\$(cat "$T/group")"
	sleep 600 ;;
esac
exec "$BUILD/vt-pack" "\$@"
SHIM
cat >"$T/stop/vt-train" <<SHIM
#!/bin/bash
case "\$PLACE \$*" in
"run --version" | "run "*--status*) ;;
run*)
	"$BUILD/vt-train" "\$@" &
	trap 'kill -s USR1 \$!' USR1
	until [ -e tsm_tiny/config ]; do sleep 0.02; done
	[ "\${OMPI_COMM_WORLD_RANK:-0}" != 0 ] || kill -s "\$SIGNAL" -- "-\$(cat "$T/group")"
	while kill -0 \$! 2>/dev/null; do wait \$!; done
	wait \$!
	exit ;;
esac
exec "$BUILD/vt-train" "\$@"
SHIM
cat >"$T/stop/vt-eval" <<SHIM
#!/bin/bash
[ "\$PLACE" != score ] || { : >tsm_tiny-top5.tsv; kill -s "\$SIGNAL" -- "-\$(cat "$T/group")"; sleep 600; }
exec "$BUILD/vt-eval" "\$@"
SHIM
chmod +x "$T"/stop/vt-pack "$T"/stop/vt-train "$T"/stop/vt-eval
# stopped PLACE SIGNAL OUT EPOCHS: run a demo that is stopped there.
stopped() {
	PLACE=$1 SIGNAL=$2 EPOCHS=$4 bash -c 'set -m; BUILD=$0 VIDEOS=$1 NET=tsm_tiny OUT=$2 share/demo/run &
		echo $! >"$3"; wait $!' "$T/stop" "$T/my videos" "$T/$3" "$T/group" >"$T/stopped.out" 2>&1
	status=$?
	# Ranks end a moment after mpirun.
	for lock in "$T/$3"/*/.vt-*.lock; do [ ! -e "$lock" ] || flock -w 100 "$lock" true; done
	return $status
}
for at in train:INT train:KILL test:TERM score:INT; do
	stopped "${at%:*}" "${at#*:}" parts 1
	status=$?
	check "stopped at ${at%:*} by SIG${at#*:}" test "$status" -ge 128
done
check_exit "the stopped demo is run again" 0 demo parts EPOCHS=1
check_same "the stopped demo ends with the same results" "$before" "$(results parts)"

# A stopped training saves its state, and the same command resumes from it.
for signal in INT TERM HUP; do
	stopped run $signal "saved-$signal" 3
	check_same "SIG$signal: make ends with 75 when training is stopped" 75 $?
	check "SIG$signal: the demo says how to resume, and where its results are" \
		grep -q "^demo: stopped; the same command resumes in $T/saved-$signal\$" "$T/stopped.out"
	check "SIG$signal: a checkpoint of step 1 is saved" \
		test -e "$T/saved-$signal/tsm_tiny/ckpt-0000000001.safetensors"
done
check_exit "a demo of three epochs" 0 demo three EPOCHS=3
check "the output of the training shows validations" grep -q '^# validation	step [0-9]' "$T/out"
check_message "a demo whose training was stopped is run again" 0 'resuming after step 1' demo saved-INT EPOCHS=3
check_same "the resumed training ends with the same results" "$(results three)" "$(results saved-INT)"
cp "$T/my videos/pan_left"/* "$T/my videos/zoom_in"
check_message "a demo with changed videos ends with 2" 2 "has other videos than when OUT=.* was begun" demo parts EPOCHS=1

# ---- demo-vs: the demo's training by two trees, in turns ----

check_exit "demo-vs wants two trees" 2 tests/bench/demo-vs .
check_exit "demo-vs wants trees that are built" 2 env BUILD=build tests/bench/demo-vs . "$T"
check_exit "demo-vs compares a tree with itself" 0 \
	env BUILD="$T/small" VIDEOS="$T/my videos" NET=tsm_tiny EPOCHS=1 tests/bench/demo-vs . . 2
check_same "demo-vs prints two runs of each tree and their ratio" \
	"demo/tsm_tiny/new 2 demo/tsm_tiny/old 2 demo/tsm_tiny/ratio 2" \
    "$(awk -F'\t' '!/^#/ && $4 > 0 && $4 <= $5 && $5 <= $6 { print $1, $3 }' "$T/out" | sort | tr '\n' ' ' | sed 's/ $//')"
plan
