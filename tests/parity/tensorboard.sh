#!/bin/sh
# Event files of vt-train --tensorboard have the values of the log, also for a run that is
# stopped, killed and resumed.  An independent reader reads them, and the package
# tensorboard if a Python has it.
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
# holds WHAT RUN [--killed]: check that the event files have the values of the
# log
holds() {
	said=$(python3 tests/parity/event_files.py $3 "$T/$2" 2>&1)
	check_same "$1" ok "$(echo "$said" | tail -1)"
	diag "$(echo "$said" | grep '^#' | tr -d '#')"
	if [ -n "$package" ]; then
		check_same "$1, as the package tensorboard reads them" ok \
			"$("$package" tests/parity/event_files.py --package $3 "$T/$2" 2>"$T/err" | grep '^ok' || tail -1 "$T/err")"
	else
		skip "$1, as the package tensorboard reads them" "no Python package tensorboard"
	fi
}

train none
check_same "a run without --tensorboard has no event files" "" "$(files none)"
check_exit "a run with --tensorboard succeeds" 0 train whole --tensorboard
holds "the events of a run equal its log" whole
check_same "one start writes one event file" 1 "$(files whole | wc -l)"
check "a run with --tensorboard writes the same checkpoint, to the byte" cmp "$T/none/final.safetensors" "$T/whole/final.safetensors"
check_same "tensorboard is a setting of the run" "tensorboard = yes" "$(grep ^tensorboard "$T/whole/config")"

# ---- stopped and killed runs ----

for i in 1 2 3; do
	train parts --tensorboard --stop-after=0.001s
	check_same "a run stops after its time, start $i" 75 $?
done
holds "the events of a run that was stopped three times equal its log" parts
check_same "each of the three starts wrote an event file" 3 "$(files parts | wc -l)"
# Kill the run after its last steps and before they are saved, so that they are
# repeated.  A copy of the run shows which call renames the last checkpoint.
if [ -e "$BUILD/tests/fault.so" ]; then
	# The fault library must be loaded before a sanitizer's.
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0
	cp -r "$T/parts" "$T/copy"
	RUN="env LD_PRELOAD=$BUILD/tests/fault.so FAULT=trace FAULT_LOG=$T/trace"
	train copy --tensorboard --save-steps=40
	k=$(awk -F '\t' '/^rename/ { n++; if ($3 ~ /ckpt-[0-9]*\.safetensors$/) k = n } END { print k }' "$T/trace")
	RUN="env LD_PRELOAD=$BUILD/tests/fault.so FAULT=rename:$k:KILL"
	train parts --tensorboard --save-steps=40
	check_same "the run is killed before its last save" 137 $?
	RUN=''
	holds "the events of a killed run equal its log" parts --killed
else
	skip "the events of a killed run equal its log" "this processor's system calls are not caught"
	train parts --tensorboard --stop-after=0.001s
fi
# Truncate a record, as a kill during a write or a power failure does.
last=$(files parts | tail -1)
size=$(wc -c <"$last")
truncate -s $((size - 7)) "$last"
check_exit "a run resumes after a truncated record" 0 train parts --tensorboard
holds "no step is missing or repeated after a truncated record" parts
check_same "each of the five starts wrote an event file" 5 "$(files parts | wc -l)"
check_same "the resumed run has the losses of an uninterrupted run" "$(jq -c 'select(.type == "validation") | [.step, .loss]' "$T/whole/log.jsonl")" \
	"$(jq -c 'select(.type == "validation") | [.step, .loss]' "$T/parts/log.jsonl")"

# A run that was killed before its first save starts over, and so do its events.
cp -r "$T/parts" "$T/restarted"
rm "$T"/restarted/*.safetensors "$T/restarted/latest"
check_exit "a run without a checkpoint starts over" 0 train restarted --tensorboard
holds "the events of a run that starts over equal its log" restarted

# ---- a clock that went back, and ranks ----

last=$(files restarted | tail -1)
mv "$last" "$T/restarted/events.out.tfevents.9999999990.${last##*.}"
train restarted --tensorboard
check_same "a new event file sorts after the existing ones, whatever the clock says" "events.out.tfevents.9999999991" \
	"$(basename "$(files restarted | tail -1)" ".${last##*.}")"
holds "the events of a finished run that starts again equal its log" restarted
if have_mpi; then
	check_exit "a run on two ranks succeeds" 0 mpirun -np 2 vt-train -q -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule="$T/s.tsv" -o "$T/two" \
		--device=ref -j1 --log-every=3 --tensorboard
	check_same "a run on two ranks writes one event file" 1 "$(files two | wc -l)"
	holds "the events of a run on two ranks equal its log" two
fi
plan
