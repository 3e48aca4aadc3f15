#!/bin/sh
# tests/run: weight 3
# vt-extract(1): its options are those of the command, its examples run.
cd "${0%/*}/.." || exit 2
. tests/lib.sh
root=$PWD
M=$root/man/vt-extract.1

# Every option of --help, as "-o --output", in the page, and the reverse.
vt-extract --complete-spec | cut -f1,2 | grep -v '	no-' | awk '{print ($1 == "-" ? "" : "-" $1 " ") "--" $2}' | sort >"$T/command"
sed -n 's/^\.It Fl //p' "$M" | sed 's/ Ar [a-z]*//g; s/ Ns = Ns.*//; s/Fl //; s/ , / /; s/^-/--/; s/^\([a-zA-Z0-9]\) -/-\1 --/' | sort >"$T/page"
check_same "the page has the options of the command" "$(cat "$T/command")" "$(cat "$T/page")"
if command -v mandoc >/dev/null; then
	check_same "mandoc has nothing to say" "" \
		"$(mandoc -Tlint -Wwarning "$M" 2>&1 | grep -v 'referenced manual not found')"
else
	skip "mandoc has nothing to say" "no mandoc"
fi
sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh SEE/s/^\.It "\(.*\)"/\1/p' "$M" >"$T/diagnostics"
while read -r d; do
	# The parts between numbers, names and reasons stand in the source.
	s=$(echo "$d" | sed 's/[0-9][0-9.]*.*//; s/ (.*//; s/: .*//; s/ [a-z]*$//; s/ as mov$//')
	check "diagnostic: $d" grep -rqF -- "${s:-$d}" lib/media lib/data cmd/vt-extract.c
done <"$T/diagnostics"

if ! vt-extract --version | grep -q '^Built with:.*FFmpeg' || ! command -v ffmpeg >/dev/null ||
	! command -v vt-pack >/dev/null || ! command -v jq >/dev/null; then
	skip "the examples run" "needs FFmpeg, its command, jq and vt-pack"
	plan
	exit
fi
mkdir "$T/scratch" && cd "$T/scratch" || exit 2
for c in walk fall; do
	mkdir -p videos/$c
	for i in 1 2; do
		ffmpeg -v error -nostdin -f lavfi -i "testsrc2=s=96x80:r=25:d=0.$((i * 2))" -pix_fmt yuv420p videos/$c/$c$i.mp4 </dev/null
	done
done
sed -n '/^\.Sh EXAMPLES/,/^\.Sh DIAG/s/^\.Dl //p' "$M" >"$T/lines"
while read -r line; do
	check_exit "example: $line" 0 bash -c "set -euo pipefail; $line" </dev/null
done <"$T/lines"
check_same "examples: the set has all videos, labelled" "fall/fall1 0 fall/fall2 0 walk/walk1 1 walk/walk2 1" \
	"$(vt-pack --list -i set | grep -v '^#' | cut -f1,2 | tr '\t\n' '  ' | sed 's/ $//')"
check_same "examples: ten frames a second as files" "4" "$(find frames/walk -name 'walk2.*.jpg' | wc -l)"
check_same "examples: nothing was refused" "" "$(cat retry.txt)"
check_same "examples: the second list gives the same labels" "$(cat set/classes.txt)" "$(cat small/classes.txt)"
plan
