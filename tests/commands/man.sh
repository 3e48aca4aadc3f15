#!/bin/sh
# The examples of the manual run as they are pasted from a terminal of 80 columns.
# tests/run: weight 22
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD


# ---- files that the examples use ----

base=$T/base
mkdir "$base" && cd "$base" || exit 2
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
videos=no
if have ffmpeg && built FFmpeg; then
	videos=yes
	n=0
	for class in fall jump walk; do
		mkdir -p videos/$class
		for i in 1 2 3 4; do
			n=$((n + 1))
			echo "-f lavfi -i testsrc2=s=96x72:r=12:d=1 -vf noise=all_seed=$n:alls=99 -pix_fmt yuv420p videos/$class/$class$i.mp4"
		done
	done | while read -r line; do
		# shellcheck disable=SC2086
		ffmpeg -v error -nostdin $line </dev/null
	done
	vt-extract -q --label-from=dir --root=videos -o stream.tar videos/*/*.mp4
	for set in train val; do vt-pack -q -o $set stream.tar >/dev/null; done
else
	"$BUILD/tests/tools/makeset" train 12 12 96 72 1
	"$BUILD/tests/tools/makeset" val 12 12 96 72 2
fi
mkdir -p pictures/a pictures/b
key=$(vt-pack --list -i train | sed -n 2p | cut -f1)
for class in a b; do vt-pack --cat "$key:0" -i train >pictures/$class/1.jpg; done
tar -cf web.tar -C pictures a b
vt-schedule --batch=8 --frames=4 --crop=32 --bn-size=4 --epochs=4 --milestones=none -o s.tsv
vt-train -i train --val=val -m tsm_tiny --schedule=s.tsv -o run -qq >/dev/null ||
	diag "there is no run to work on"
# More runs, with copies of the log, for examples about several runs.
for other in multigrid runs/scratch-1 runs/scratch-2 runs/tuned-1 runs/tuned-2; do
	mkdir -p $other
	cp run/log.jsonl run/schedule.tsv $other
done
cd "$root" || exit 2
# The network that vt-model(5) shows.
sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' man/vt-model.5 | sed -n '/^\.Bd/,/^\.Ed/{/^\./!p;}' >"$base/small.net"

# ---- run the examples ----

# lacks LINES: print a requirement of LINES that this machine lacks. Fail if it
# lacks none.
lacks() {
	for word in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench mpirun srun jq xxh128sum zstd ffmpeg ssh python3; do
		case " $1 " in
		*[!a-z0-9_-]$word[!a-z0-9_/-]*) have $word || { echo "no $word here"; return; } ;;
		esac
	done
	case $1 in
	*mpirun*) built 'Open MPI' || { echo "built without MPI"; return; } ;;
	esac
	case $1 in
	*.png* | *.svg* | *.pdf*) built cairo || { echo "built without cairo"; return; } ;;
	esac
	case $1 in
	*safetensors.numpy*) python3 -c 'import safetensors, numpy' 2>/dev/null || { echo "no Python package safetensors"; return; } ;;
	esac
	case $1 in
	*vtshard*) python3 -c 'import numpy' 2>/dev/null || { echo "no Python package numpy"; return; } ;;
	esac
	case $1 in
	*videos/* | *stream.tar* | *'train.txt'* | *frames*tar*) [ $videos = yes ] || { echo "no videos without FFmpeg"; return; } ;;
	esac
	false
}
have mandoc || skip_all "no mandoc"
# If an example is skipped, later ones of its page may lack its output, so skip
# them, too.
for page in man/*.[1-9]; do
	name=${page##*/}
	rm -f "$T"/example.*
	examples_of "$root/$page" | awk -v RS= -v to="$T/example." '{ print >sprintf("%s%02d", to, NR) }'
	[ -f "$T/example.01" ] || continue
	cp -r "$base" "$T/$name" && cd "$T/$name" || exit 2
	left_out=
	for example in "$T"/example.*; do
		text=$(cat "$example")
		what="$name: $(head -1 "$example" | sed 's/^ *//')"
		if why=$(lacks "$text") || why=$left_out && [ -n "$why" ]; then
			skip "$what" "$why"
			case $why in *Python*) ;; *) left_out="one before it was left out: $why" ;; esac
			continue
		fi
		check_exit "$what" 0 bash -c "set -euo pipefail
$text" </dev/null
	done
	cd "$root" || exit 2
	rm -rf "${T:?}/$name"
done
plan
