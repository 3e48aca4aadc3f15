#!/bin/sh
# vt-train --tensorboard: event files that hold what the log holds, of a run that
# is stopped, killed and resumed: read by a program of our own, and by the package
# tensorboard where a Python has it.
# tests/run: weight 5
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
have_python=no
command -v python3 >/dev/null && have_python=yes
[ $have_python = yes ] || skip_all "no python3"
package=
for python in "${PYTHON:-python3}" python3 /usr/bin/python3; do
	if "$python" -c 'import tensorboard' 2>/dev/null; then
		package=$python
		break
	fi
done

"$MAKESET" "$T/train" 40 4 40 32 1
"$MAKESET" "$T/val" 16 4 40 32 2
small_net 4 >"$T/net.net"
stages "0 0 4 0 4 2 24 2 0.02 0 0" "1 4 12 0 8 2 16 2 0.02 0 0" >"$T/s.tsv"
train() {
	run=$1
	shift
	${RUN-} vt-train -q -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule="$T/s.tsv" -o "$T/$run" --device=ref -j1 --log-every=3 "$@" >/dev/null
}
files() {
	find "$T/$1" -name 'events.out.tfevents.*' | sort
}
# holds WHAT RUN [--killed]: its files hold what its log does
holds() {
	said=$(python3 tests/parity/event_files.py $3 "$T/$2" 2>&1)
	check_same "$1" ok "$(echo "$said" | tail -1)"
	diag "$(echo "$said" | grep '^#' | tr -d '#')"
	if [ -n "$package" ]; then
		check_same "$1: for TensorBoard, too" ok \
			"$("$package" tests/parity/event_files.py --package $3 "$T/$2" 2>"$T/err" | grep '^ok' || tail -1 "$T/err")"
	else
		skip "$1: for TensorBoard, too" "no Python package tensorboard"
	fi
}

train none
check_same "without the option there are none" "" "$(files none)"
check_exit "with it" 0 train whole --tensorboard
holds "a run" whole
check_same "one start, one file" 1 "$(files whole | wc -l)"
check "the same checkpoint, to the byte" cmp "$T/none/final.safetensors" "$T/whole/final.safetensors"
check_same "and it is a setting of the run" "tensorboard = yes" "$(grep ^tensorboard "$T/whole/config")"

# ---- stopped, killed ----

for i in 1 2 3; do
	train parts --tensorboard --stop-after=0.001s
	check_same "stopped, $i" 75 $?
done
holds "a run that was stopped thrice" parts
check_same "a file each" 3 "$(files parts | wc -l)"
# Killed when its last steps are done and not yet saved, so that they are done
# again: at the name of the last checkpoint, found in a copy of the run.
if [ -e "$BUILD/tests/fault.so" ]; then
	# The library of faults comes before a sanitizer's.
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0
	cp -r "$T/parts" "$T/copy"
	RUN="env LD_PRELOAD=$BUILD/tests/fault.so FAULT=trace FAULT_LOG=$T/trace"
	train copy --tensorboard --save-steps=40
	k=$(awk -F '\t' '/^rename/ { n++; if ($3 ~ /ckpt-[0-9]*\.safetensors$/) k = n } END { print k }' "$T/trace")
	RUN="env LD_PRELOAD=$BUILD/tests/fault.so FAULT=rename:$k:KILL"
	train parts --tensorboard --save-steps=40
	check_same "killed" 137 $?
	RUN=''
	holds "one that was killed" parts --killed
else
	skip "one that was killed" "this processor's system calls are not caught"
	train parts --tensorboard --stop-after=0.001s
fi
# As a kill in the middle of writing leaves it, and a power cut.
last=$(files parts | tail -1)
size=$(wc -c <"$last")
truncate -s $((size - 7)) "$last"
check_exit "going on after a record that is cut" 0 train parts --tensorboard
holds "no step twice, none missing" parts
check_same "a file for each start" 5 "$(files parts | wc -l)"
check_same "the same losses as in one go" "$(jq -c 'select(.type == "validation") | [.step, .loss]' "$T/whole/log.jsonl")" \
	"$(jq -c 'select(.type == "validation") | [.step, .loss]' "$T/parts/log.jsonl")"

# A run that was killed before it saved starts over; so do its events.
cp -r "$T/parts" "$T/anew"
rm "$T"/anew/*.safetensors "$T/anew/latest"
check_exit "without a checkpoint it starts over" 0 train anew --tensorboard
holds "and so do its events" anew

# ---- a clock that went back, ranks ----

last=$(files anew | tail -1)
mv "$last" "$T/anew/events.out.tfevents.9999999990.${last##*.}"
train anew --tensorboard
check_same "a new file comes after those that are there, whatever the clock says" "events.out.tfevents.9999999991" \
	"$(basename "$(files anew | tail -1)" ".${last##*.}")"
holds "with nothing left to do it adds none" anew
if have_mpi; then
	check_exit "on two ranks" 0 mpirun -np 2 vt-train -q -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule="$T/s.tsv" -o "$T/two" \
		--device=ref -j1 --log-every=3 --tensorboard
	check_same "one file" 1 "$(files two | wc -l)"
	holds "which holds what the log does" two
fi
plan
