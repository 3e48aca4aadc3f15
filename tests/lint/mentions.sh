#!/bin/sh
# Files and options that README, the manual and the examples mention exist, and
# each option belongs to the command that it is mentioned with.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

commands="extract pack schedule train eval bench"
for c in $commands; do
	"vt-$c" --complete-spec | awk -F '\t' -v c="vt-$c" '$2 != "-" { print c, "--" $2 }'
done >"$T/options"

# Options of other programs, accepted only outside a command line of vt.
cat >"$T/others" <<-'OTHERS'
	curl         --create-dirs
	mpirun       --allow-run-as-root --bind-to --hostfile --mca --oversubscribe
	rsync        --delete
	sbatch       --array --cpus-per-task --dependency --job-name --nodes --ntasks --ntasks-per-node --gpus-per-node --gres
	sbatch       --open-mode --parsable --partition --requeue --signal --time
	srun         --gpus-per-task --kill-on-bad-exit --mpi
	tar          --sort
	tensorboard  --logdir
	zstd         --long
OTHERS

# The files to check. NEWS.md is left out, because it names removed options.
pages=$(ls README.md lib/README.md tests/gpu/contact/README man/*.[1-9] share/examples/*)

# paths FILE...: print "FILE PATH" for each file of the tree that FILE mentions.
paths() {
	for f; do
		grep -oE '(^|[^A-Za-z0-9_/.-])(lib|cmd|man|share|tests|completions)/[A-Za-z0-9_./*+-]*[A-Za-z0-9_/*]' "$f" |
			sed 's|^[^a-z]*||' | grep -v '^share/vt/' | sort -u | sed "s|^|$f |"
	done
}
# lost FILE...: print the mentioned paths that do not exist, with or without .c
# or .sh.
lost() {
	paths "$@" | while read -r f path; do
		found=no
		for there in $path "$path.c" "$path.sh"; do
			[ ! -e "$there" ] || found=yes
		done
		[ $found = yes ] || echo "$f: $path"
	done
}

# absent FILE...: print "FILE:LINE: NAME" for each source file that a comment names
# and that does not exist in any folder. Sources of other programs are in $T/foreign.
absent() {
	find cmd lib tests -name '*.[ch]' -o -name '*.cu' | sed 's|.*/||' | sort -u | cat - "$T/foreign" >"$T/sources"
	grep -nE '/\*|^[ \t]*\* ' "$@" /dev/null | grep -v '#include' | awk '
	NR == FNR { source[$1] = 1; next }
	{
		split($0, part, ":")
		at = part[1] ":" part[2]
		n = split($0, word, /[ \t(),;]+/)
		for (i = 1; i <= n; i++) {
			name = word[i]
			sub(/[:.]+$/, "", name)
			sub(/.*\//, "", name)
			if (name ~ /^[a-z][a-z0-9_][a-z0-9_]+(\.real|\.isa)?\.(c|h|cu)$/ && !(name in source))
				print at ": " name
		}
	}' "$T/sources" -
}
printf '%s\n' prctl.h jansson.h record_writer.h methods.c descriptor.c >"$T/foreign"

# unknown FILE...: print "FILE:LINE: OPTION" for each option that no command
# near it has. In a command line, that is its command. Elsewhere, it is each
# command of the paragraph and the command of the page. If there are none, it is
# any command.
unknown() {
	awk '
	FILENAME == ARGV[1] { has[$1, $2] = has["any", $2] = 1; next }
	FILENAME == ARGV[2] { for (i = 2; i <= NF; i++) other[$i] = 1; next }
	function known(option, i) {
		if (command != "")
			return (command, option) in has
		if (option in other)
			return 1
		for (i in near)
			if ((i, option) in has)
				return 1
		return nears == 0 && ("any", option) in has
	}
	function flush(i, n, word, option, k) {
		if (page != "") {
			near[page] = 1
			nears++
		}
		for (k = 1; k <= lines; k++) {
			n = split(line[k], word, /[ \t"'"'"'`(),]+/)
			command = ""
			for (i = 1; i <= n; i++) {
				if (word[i] ~ /^(.*\/)?vt-[a-z]+$/) {
					command = word[i]
					sub(/.*\//, "", command)
				} else if (word[i] ~ /^(\||\|\||&&|;|then|do)$/)
					command = ""
				else if (match(word[i], /^\[?--[a-z][a-z0-9-]*/)) {
					option = substr(word[i], RSTART, RLENGTH)
					sub(/^\[/, "", option)
					if (!known(option))
						print file ":" at[k] ": " (command != "" ? command " " : "") option
				}
				if (word[i] ~ /[;:.]$/)
					command = ""
			}
		}
		split("", near)
		nears = lines = 0
		joined = ""
	}
	function begin() {
		flush()
		file = FILENAME
		page = ""
		if (file ~ /\.1$/) {
			page = file
			sub(/.*\//, "", page)
			sub(/\.1$/, "", page)
		}
	}
	FNR == 1 { begin() }
	/^\.(Pp|It|Sh|Ss|Bd|Ed)/ || /^[ \t]*$/ { flush() }
	{
		text = $0
		# .Fl -name Ns = Ns Ar x , -other: --name --other
		if (text ~ /^\./) {
			n = split(text, w, " ")
			text = ""
			flag = 0
			for (i = 1; i <= n; i++)
				if (w[i] ~ /^\.?[A-Z][a-z]$/)
					flag = w[i] ~ /Fl$/
				else if (flag && w[i] ~ /^-[a-z]/)
					text = text " -" w[i]
				else
					text = text " " w[i]
		}
		n = split(text, w, /[^a-z-]+/)
		for (i = 1; i <= n; i++)
			if (w[i] ~ /^vt-(extract|pack|schedule|train|eval|bench)$/) {
				near[w[i]] = 1
				nears++
			}
		if (joined == "")
			start = FNR
		joined = joined text
		if (sub(/\\e?$/, " ", joined))
			next
		line[++lines] = joined
		at[lines] = start
		joined = ""
	}
	END { flush() }' "$T/options" "$T/others" "$@"
}

# shellcheck disable=SC2086
{
	check_same "every mentioned file of the tree exists" "" "$(lost $pages share/NEWS.md)"
	check "more than 50 files are mentioned" test "$(paths $pages | wc -l)" -gt 50
	check_same "every mentioned option belongs to its command" "" "$(unknown $pages)"
	check_same "every source file that a comment names exists" "" \
		"$(absent $(find cmd lib -name '*.[ch]' -o -name '*.cu'))"
}
for page in $pages; do
	cp "$page" "$T/page" && sed -i 's/--data/--dada/g; s/Fl -data/Fl -dada/g' "$T/page"
	[ -n "$(unknown "$T/page")" ] && echo "$page"
done >"$T/found"
check "at least 5 pages mention an option" test "$(wc -l <"$T/found")" -ge 5

# Plant violations, to prove that the checks can fail.
cat >"$T/planted.md" <<-'PLANTED'
	Kernels are in lib/net/kernels.c, plans in lib/net/plan.c and tests/unit/plan.

	    mpirun --bind-to none -np 2 vt-train -i train --schedule=s.tsv \
	        --no-such-thing -o run | vt-eval --schedule=s.tsv --bind-to none

	All commands have `--verbose`, and none has `--bogus`.
PLANTED
cat >"$T/planted.1" <<-'PLANTED'
	.It Fl i Ar dir , Fl -data Ns = Ns Ar dir
	See
	.Fl -crop , -datum
	of
	.Xr vt-eval 1 .
PLANTED
check_same "a planted missing file is found" "$T/planted.md: lib/net/kernels.c" "$(lost "$T/planted.md")"
printf '/* The rules (no_such.h). */\n/* plan.c: plans */\n' >"$T/planted.h"
check_same "a comment that names a missing source file is found" "$T/planted.h:1: no_such.h" "$(absent "$T/planted.h")"
check_same "planted options of no command or of another one are found" "$(cat <<-FOUND
	$T/planted.md:3: vt-train --no-such-thing
	$T/planted.md:3: vt-eval --schedule
	$T/planted.md:3: vt-eval --bind-to
	$T/planted.md:6: --bogus
	$T/planted.1:3: --datum
FOUND
)" "$(unknown "$T/planted.md" "$T/planted.1")"
plan
