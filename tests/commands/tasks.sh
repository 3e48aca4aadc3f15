#!/bin/sh
# share/examples/TASKS: each line does what it says, in order, next to a folder of
# videos, and --help=tasks of each command prints the tasks with that command.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
tasks=$PWD/share/examples/TASKS

check "it fits on a screen" test "$(wc -l <"$tasks")" -le 45
check_same "no line is wider than 80 columns" "" "$(awk 'length > 80' "$tasks")"
for c in extract pack schedule train eval bench; do
	check_exit "vt-$c --help=tasks" 0 "vt-$c" --help=tasks
	check_same "it has the lines with vt-$c" "$(grep "^ .*vt-$c " "$tasks")" "$(grep "^ .*vt-$c " "$T/out")"
	check_same "and no task without it" "" "$(awk -v c="vt-$c " '/^[^ ]/ { if (n++ && !has) print; has = 0 }
		/^ / { has += index($0, c) } END { if (!has) print "the last" }' "$T/out")"
done
check_exit "--help=nothing" 2 vt-train --help=nothing

for part in FFmpeg oneDNN 'Open MPI' cairo; do
	built "$part" || { skip "the lines" "built without $part"; plan; exit; }
done
"$BUILD/motions" "$T/made" 5 1 1 >/dev/null || skip_all "no videos"
mkdir "$T/home" "$T/bin" && ln -s ../made/train "$T/home/videos"
cp "$(find "$T/made/test" -type f | head -1)" "$T/home/new.mp4"
# Small crops, few frames and one epoch suffice.
cat >"$T/bin/vt-train" <<WRAPPER
#!/bin/sh
case " \$* " in *" -i "*) set -- "\$@" --epochs=1 --frames=2 --crop=32 ;; esac
exec "$BUILD/vt-train" "\$@"
WRAPPER
cat >"$T/bin/vt-bench" <<WRAPPER
#!/bin/sh
case \$1 in step) set -- step -m tsm_tiny --shape=1x2x32 ;; esac
exec "$BUILD/vt-bench" "\$@" --runs=1
WRAPPER
cat >"$T/bin/vt-extract" <<WRAPPER
#!/bin/sh
exec "$BUILD/vt-extract" --short-side=24 "\$@"
WRAPPER
chmod +x "$T"/bin/*
PATH=$T/bin:$PATH
cd "$T/home" || exit 2
sed -n 's/^    //p' "$tasks" >"$T/lines"
while read -r line; do
	check_exit "$line" 0 bash -euo pipefail -c "$line" </dev/null
done <"$T/lines"
plan
