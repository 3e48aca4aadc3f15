#!/bin/sh
# The manual: every page passes the linters, and lists the options of its command with
# their defaults.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

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
			"$(mandoc -Tlint -Wwarning "$page" 2>&1 |
				grep -v 'referenced manual not found\|conventional order: Sh \(ENVIRONMENT\|FILES\|EXIT STATUS\)')"
		check_same "$name: no example is wider than 80 columns" "" "$(examples_of "$page" | awk 'length > 80')"
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
				"$(examples_of "$page")" "$(with_groff "$page")"
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
	check_same "$name: its diagnostics are in the source" "" "$(LC_ALL=C awk '
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

# ---- options ----

# in_page FILE SECTION: print the options of a section. They follow Fl: ".It Fl i ,
# -data Ns = Ns Ar dir".
in_page() {
	sed -n "/^\.Sh $2/,/^\.Sh /s/^\.It \(Fl .*\)/\1/p" "$1" | awk '{
		flag = 0
		for (i = 1; i <= NF; i++)
			if ($i ~ /^(Fl|Ns|Ar|Cm|Li|Op)$/)
				flag = $i == "Fl"
			else if (flag && $i != ",")
				print "-" $i
	}' | sort
}
# page_defaults COMMAND: print "name<tab>default" for each option whose item of the
# manual page has a default in parentheses, as in "(3)", "(64M)", "(0: off)".
page_defaults() {
	sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/p' "man/$1.1" | awk '
		/^\.It Fl/ {
			name = text = ""
			names = 0
			for (i = 1; i <= NF; i++)
				if ($i ~ /^-[a-z]/) {
					name = substr($i, 2)
					names++
				}
			next
		}
		names == 1 {
			text = text " " $0
			if (match(text, /\([^()]+\)/)) {
				print name "\t" substr(text, RSTART + 1, RLENGTH - 2)
				names = 0
			}
		}'
}
# defaults COMMAND: print each option whose manual has another default than
# --print-config prints, then the number of options compared. --help prints the
# variables themselves.
defaults() {
	"$1" --print-config | sed 's/^# //' >"$T/values"
	page_defaults "$1" | awk -F '\t' -v values="$T/values" '
		function number(s,  unit) {
			unit = substr(s, length(s))
			sub(/[KMGm]$/, "", s)
			return s * (unit in units ? units[unit] : 1)
		}
		BEGIN {
			units["K"] = 1024; units["M"] = 1024 ^ 2; units["G"] = 1024 ^ 3; units["m"] = 60
			while ((getline line < values) > 0) {
				split(line, f, / = |\t/)
				value[f[1]] = f[2]
			}
		}
		value[$1] == "" { next }
		{
			said = $2
			sub(/[:;,)].*/, "", said)
			if (said ~ /^[0-9.]+(e-?[0-9]+)?[KMGm]?$/)
				same = number(said) == value[$1] + 0
			else if (said ~ /^(yes|no)$/)
				same = said == value[$1]
			else
				next
			n++
			if (!same)
				print $1 ": " said " is " value[$1]
		}
		END { print n + 0 }'
}

for c in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	# vt(7) has the options that commands share.
	options_in_help $c =all >"$T/options"
	in_page man/vt.7 'COMMON OPTIONS' | grep -xFf "$T/options" >"$T/shared"
	check_same "$c: its page and vt(7) list all options" "$(cat "$T/options")" \
		"$(in_page man/$c.1 OPTIONS | sort -u - "$T/shared")"
	defaults $c >"$T/defaults"
	check_same "$c: the manual page has the built-in defaults" "" "$(sed '$d' "$T/defaults")"
	check "$c: at least 3 defaults were compared" test "$(tail -1 "$T/defaults")" -ge 3
done
plan
