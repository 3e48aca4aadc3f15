#!/bin/sh
# The manual: every page passes the linters, and its examples run as they are
# pasted from a terminal of 80 columns.
# tests/run: weight 28
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD

have() {
	command -v "$1" >/dev/null
}
# examples: print the displays of a formatted page that a reader would paste.
# Their lines are indented by 11. A blank line follows each. Displays with "$ "
# show output, and are left out.
examples() {
	col -bx | awk '
		/^[A-Z]/ { inside = /^EXAMPLES/ }
		inside && /^           / { print; shown = 1; next }
		shown { print ""; shown = 0 }' | awk -v RS= -v ORS='\n\n' '!/^ *\$ /'
}
with_mandoc() {
	mandoc -Tutf8 -O width=80 "$1" 2>/dev/null | examples
}
with_groff() {
	groff -mdoc -Tutf8 -P-c -rLL=78n "$1" 2>/dev/null | examples
}

# ---- form ----

# The C sources, with adjacent string literals joined.
cat cmd/*.c lib/*/*.[ch] lib/*/*/*.[ch] | tr -d '\n' | sed 's/"[ 	]*"//g' >"$T/source"

for page in man/*.[1-9]; do
	name=${page##*/}
	if have mandoc; then
		check_same "$name: mandoc reports nothing" "" \
			"$(mandoc -Tlint -Wwarning "$page" 2>&1 | grep -v 'referenced manual not found')"
		check_same "$name: no example is wider than 80 columns" "" "$(with_mandoc "$page" | awk 'length > 80')"
	else
		skip "$name: mandoc" "no mandoc"
	fi
	if have groff; then
		check_same "$name: groff reports nothing" \
			"" "$(groff -mdoc -Tutf8 -ww "$page" 2>&1 >/dev/null | grep -v 'font\|hyphen')"
		check "$name: groff does not cut its title" \
			sh -c 'groff -mdoc -Tascii -rLL=80n "$1" 2>/dev/null | head -1 | grep -q "^VT[-A-Z]*([157])"' sh "$page"
		have mandoc &&
			check_same "$name: groff shows the same examples" \
				"$(with_mandoc "$page")" "$(with_groff "$page")"
	else
		skip "$name: groff" "no groff"
	fi
	check "$name: has examples" grep -q '^\.Sh EXAMPLES' "$page"
	for wanted in $(sed -n 's/^\.Xr \(vt[a-z-]*\) \([0-9]\).*/\1.\2/p' "$page" | sort -u); do
		# Two pages belong to commands that a build may lack.
		[ -f "man/$wanted" ] || [ ! -f "cmd/${wanted%.1}.c" ] || not_ok "$name: refers to $wanted, which is not there"
	done
	case $name in
	*.1) check "$name: has all exit statuses" grep -q '^\.Sh EXIT STATUS' "$page" ;;
	esac
	# The longest run of words that a message shares with the source must
	# have at least 9 characters.
	sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh [^D]/s/^\.It //p' "$page" | tr -d '"' >"$T/diagnostics"
	check_same "$name: its diagnostics are in the source" "" "$(awk '
		NR == FNR { source = source $0; next }
		{
			n = split($0, word, " ")
			best = 0
			for (i = 1; i <= n; i++) {
				run = ""
				for (j = i; j <= n; j++) {
					run = run (j > i ? " " : "") word[j]
					if (index(source, run) == 0)
						break
					if (length(run) > best)
						best = length(run)
				}
			}
			if (best < 9)
				print
		}' "$T/source" "$T/diagnostics")"
done

# Complete scripts in displays.
for page in man/*.[1-9]; do
	awk -v to="$T/script" '/^\.Bd/ { n++; f = to "." n; next } /^\.Ed/ { f = ""; next } f != "" { print >f }' "$page"
	for script in "$T"/script.*; do
		[ -f "$script" ] && head -1 "$script" | grep -q '^#!/bin/bash' &&
			check "${page##*/}: bash finds no syntax error in a script" bash -n "$script"
	done
	rm -f "$T"/script.*
done

# ---- tables ----

check_same "vt-model.5: every network is listed" "$(cd share/models && echo *.net | tr ' ' '\n' | sort | sed 's/\.net$//')" \
	"$(sed -n '/^\.Sh NETWORKS/,/^\.El/s/^\.It \([a-z][^T]*\) Ta .*/\1/p' man/vt-model.5 | tr -s ', ' '\n' | sort)"

# ---- files that the examples use ----

base=$T/base
mkdir "$base" && cd "$base" || exit 2
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
videos=no
if have ffmpeg && built FFmpeg; then
	videos=yes
	for class in fall jump walk; do
		mkdir -p videos/$class
		for i in 1 2 3 4; do
			echo "-f lavfi -i testsrc2=s=96x72:r=12:d=1 -pix_fmt yuv420p videos/$class/$class$i.mp4"
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
	with_mandoc "$root/$page" | awk -v RS= -v to="$T/example." '{ print >sprintf("%s%02d", to, NR) }'
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
