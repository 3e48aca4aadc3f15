#!/bin/sh
# The options of each command: --help lists them, printed settings can be read back,
# and each mistake has its message.
# tests/run: weight 11
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

release=$(sed -n 's/^RELEASE = //p' Makefile)

# in_spec COMMAND: print its options, as --name or -n, one a line.
in_spec() {
	"$1" --complete-spec | awk -F '\t' '$2 != "-" { if ($1 != "-") print "-" $1; print "--" $2 }' | sort
}
settings() {
	sed 's/	# [a-z ]*$//' "$1"
}
for c in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	in_spec $c >"$T/spec"
	check "$c: there are at least 20 options" test "$(wc -l <"$T/spec")" -ge 20
	check_same "$c: each option is listed once" "" "$(uniq -d "$T/spec")"
	check_same "$c: --help=all lists all options" "$(cat "$T/spec")" "$(options_in_help $c =all)"
	options_in_help $c >"$T/common"
	check_same "$c: --help lists only options of the table" "" "$(comm -13 "$T/spec" "$T/common")"
	check "$c: --help lists at least 15 options" test "$(wc -l <"$T/common")" -ge 15
	check "$c: --help has at most 45 lines" test "$($c --help | wc -l)" -le 45
	$c --help=all >"$T/all"
	check_same "$c: each row of --help is in --help=all" \
		"" "$($c --help | grep -E '^  ' | grep -vxFf "$T/all")"
	if cmp -s "$T/spec" "$T/common"; then all=''; else all='More: --help=all, '; fi
	check_same "$c: --help says how to see all options" \
		"$all" "$($c --help | sed -n 's/^\(More: --help=all, \).*/\1/p')"
	check_same "$c: --help fits 80 columns" "" "$($c --help | cat - "$T/all" | awk 'length > 80')"
	check_same "$c: -h is --help" "$($c --help)" "$($c -h)"
	check_exit "$c: --version" 0 $c --version
	check "$c: --version prints command and release" \
		grep -qE "^$c \(vt\) $release(\+[0-9a-f]{12,40}(-dirty)?)?$" "$T/out"
	check_same "$c: -V is --version" "$(cat "$T/out")" "$($c -V)"

	# ---- mistakes: one line and a hint ----
	for wrong in --no-such-option -% --versio --version=1 --help=x "--config"; do
		check_exit "$c: $wrong is refused" 2 $c "$wrong"
		check_same "$c: $wrong: one line and the hint" "2 Try '$c --help'." \
			"$(wc -l <"$T/err") $(tail -1 "$T/err")"
		check "$c: $wrong: nothing on standard output" test ! -s "$T/out"
	done

	# ---- printed settings can be read ----
	check_exit "$c: --print-config" 0 $c --print-config
	settings "$T/out" >"$T/want"
	mv "$T/out" "$T/config"
	check_exit "$c: -c reads the printed settings" 0 $c -c "$T/config" --print-config
	settings "$T/out" >"$T/got"
	check "$c: the settings read are those printed" cmp "$T/want" "$T/got"
	mv "$T/out" "$T/config"
	check_exit "$c: -c reads them once more" 0 $c -c "$T/config" --print-config
	check "$c: the second output equals the first" cmp "$T/config" "$T/out"
	# The same with values that are not the defaults.
	$c --complete-spec | awk -F '\t' '
		$2 ~ /^(-|config|recipe|help|version|print-config|no-.*)$/ { next }
		{ n = split($5, value, "|") }
		$5 ~ /^(FILE|DIR)$|NET$/ { print $2 " = \"\\\"a\\\" # \\\"b\\ \\n\\\"\"" ; next }
		$5 != "-" { print $2 " = " value[n]; next }
		$3 == "none" && $6 == "many" { print $2 " = 2"; next }
		$3 == "none" { print $2 " = " (NR % 2 ? "yes" : "no") }' >"$T/others"
	check_exit "$c: --print-config with other settings" 0 $c -c "$T/others" --print-config
	check_same "$c: all settings of the file count" "$(wc -l <"$T/others")" "$(grep -c '# file$' "$T/out")"
	settings "$T/out" >"$T/want"
	mv "$T/out" "$T/config"
	check_exit "$c: -c reads the other settings" 0 $c -c "$T/config" --print-config
	settings "$T/out" >"$T/got"
	check_same "$c: the other settings read are those printed" "$(cat "$T/want")" "$(cat "$T/got")"
done

# ---- precedence ----

# epochs COMMAND...: print the value of epochs and its origin.
epochs() {
	"$@" --print-config | sed -n 's/^epochs = //p' | tr '\t' ' '
}
echo 'epochs = 7 # of ours' >"$T/seven"
echo 'epochs = 8' >"$T/eight"
check_same "without a setting, the built-in value counts" "50 # default" "$(epochs vt-schedule)"
check_same "a file overrides the built-in value" "7 # file" "$(epochs vt-schedule -c "$T/seven")"
check_same "of two files, the last one counts" "8 # file" "$(epochs vt-schedule -c "$T/seven" -c "$T/eight")"
check_same "the command line overrides a file, and its last value counts" "11 # command line" \
	"$(epochs vt-schedule --epochs=10 --epochs 11 -c "$T/seven")"
check_same "the environment sets no option" "50 # default" "$(epochs env VT_EPOCHS=9 vt-schedule)"
printf 'prefix = \t# none\n' >"$T/empty"
check_same "an empty value in a file sets an empty text" \
	"prefix =  # file" "$(vt-pack -c "$T/empty" --print-config | grep prefix | tr '\t' ' ')"

echo 'quiet = 1' >"$T/quiet"
check_exit "-q and a file with quiet do not add up" 1 vt-pack -c "$T/quiet" -q -o "$T/none" "$T/nosuch"
check_says "the error of vt-pack is printed" 'nosuch: cannot open'
check_exit "-q twice omits errors" 1 vt-extract -q -q nosuch.mp4
check_same "nothing is printed then" "" "$(cat "$T/err")"
check_exit "--resume without --output is refused" 2 vt-train -n -i set --schedule=s.tsv --resume=nosuch
check_says "the message names --output" '--resume without --output=DIR'

# ---- values ----

while IFS='|' read -r message command; do
	# shellcheck disable=SC2086
	check_message "$command: the value is refused" 2 "$message" $command
done <<'VALUES'
--lr: 1e-400 \(wanted a number from 0 to 1000000\)|vt-schedule --lr=1e-400
--lr: 0x10 \(wanted a number|vt-schedule --lr=0x10
--step-timeout: 1e-400 \(wanted a time from 0 to 1000000000|vt-train --step-timeout=1e-400
--loss-scale=\+3 \(wanted dynamic|vt-train -i a --schedule=b -o c --loss-scale=+3
--loss-scale=0x10 \(wanted dynamic|vt-train -i a --schedule=b -o c --loss-scale=0x10
--max-damage: -1 \(wanted an integer from 0\)|vt-extract --max-damage=-1
--max-pixels: 0 \(wanted an integer from 1 to 1073741824, with K|vt-extract --max-pixels=0
--spool-memory: 1 \(wanted bytes from 1048576 to 1000000000000000, with K|vt-extract --spool-memory=1
--seed: -1 \(wanted an integer from 0 to 9000000000000000\)|vt-train --seed=-1
--size: \+8x8 \(wanted WIDTH|vt-extract --size=+8x8
--levels: \+8,4 \(wanted 2 to|vt-extract --levels=+8,4
VALUES
check_exit "a blank before a number is refused" 2 vt-train -i a --schedule=b -o c --loss-scale=' 3'

# ---- configuration files ----

# prefix LINE: print the value that vt-pack reads from LINE, between bars.
prefix() {
	printf '%s\n' "$1" >"$T/one"
	vt-pack -c "$T/one" --print-config | sed -n 's/^prefix = \(.*\)	# file$/|\1|/p'
}
check_same "a value may be followed by a comment with quotes" '|a|' "$(prefix 'prefix = "a" # not "b"')"
check_same "a value may contain escaped quotes" '|"a \"b\" c"|' "$(prefix 'prefix = "a \"b\" c"')"
check_same "a backslash that escapes nothing is kept" '|"a \\d"|' "$(prefix 'prefix = "a \d"')"
check_same "an empty value may be quoted" '||' "$(prefix 'prefix = "" # none')"
check_same "a value without quotes may be followed by a comment" '|a|' "$(prefix 'prefix = a # "b"')"
check_same "a carriage return at the end of a line is ignored" '|a|' "$(prefix "prefix = a$(printf '\r')")"
two=$(printf 'a\nb\rc # "d"\\')
vt-pack --prefix="$two" --print-config >"$T/two"
check_same "a value of two lines is printed as one line" 1 "$(grep -c '^prefix = .*# command line$' "$T/two")"
check_same "a value of two lines is read back" "$(grep ^prefix "$T/two" | cut -f 1)" \
	"$(vt-pack -c "$T/two" --print-config | grep ^prefix | cut -f 1)"
# refused REGEX TEXT: check that a configuration file with TEXT is refused with
# this message.
refused() {
	printf "$2" >"$T/one"
	check_message "refused: $1" 2 "$1" vt-pack -c "$T/one" --print-config
}
refused 'one:1: no closing quote' 'prefix = "a\n'
refused 'one:1: no closing quote' 'prefix = "a\\"\n'
refused 'one:2: "b\\"" after the closing quote' '\nprefix = "a"b"\n'
refused 'one: offset 10: a zero byte' 'prefix = a\0b\n'
refused 'one:1: no option gamma \(an option of vt-schedule\)' 'gamma = 1\n'

# ---- an option of another command ----

check_message "--gamma with vt-train ends with 2" 2 'no option --gamma=0.1 \(an option of vt-schedule\)' \
	vt-train --gamma=0.1 -i train
check_message "--policy with vt-train ends with 2" 2 'no option --policy \(an option of vt-schedule\)' vt-train --policy long
check_exit "--short-side with vt-pack ends with 2" 2 vt-pack --short-side=128
check_says "--short-side with vt-pack: the message names the commands with --short-side" \
	'no option --short-side=128 \(an option of vt-bench and vt-extract and vt-train\)'
mkdir "$T/alone" && cp "$BUILD/vt-pack" "$T/alone"
check_exit "--short-side with vt-pack in a folder of its own" 2 "$T/alone/vt-pack" --short-side=128
check_same "without other commands, the message has no hint" "vt-pack: error: no option --short-side=128" \
	"$(head -1 "$T/err")"

# ---- variables that no command reads ----

check_exit "a variable that nothing reads" 0 env VT_ISO=1 VT_SEED=1 vt-schedule --epochs=1 --milestones=none
check_says "a warning names the variable, and a similar one" 'warning: .* VT_ISO, which nothing reads \(similar: VT_ISA\)'
check_says "a warning names a variable without a similar one" 'warning: .* VT_SEED, which nothing reads$'
check_exit "the same with -q" 0 env VT_ISO=1 vt-schedule -q --epochs=1 --milestones=none
check_same "-q omits the warning" "" "$(cat "$T/err")"
check_exit "an unknown VT_ISA is no error" 0 env VT_ISA=avx9 vt-schedule --epochs=1 --milestones=none
check_says "a warning names the unknown instruction set" 'warning: VT_ISA=avx9: no such instruction set'
if built oneDNN; then
	check "--version -v names kernel, NUMA nodes and file system" \
		sh -c 'vt-train --version -v | grep -Eq "^host: Linux [^,]*,.* [0-9]+ NUMA nodes?, [a-z0-9.]+$"'
	check "--version -v names the version of oneDNN" \
		sh -c 'vt-train --version -v | grep -q "^back ends: cpu (oneDNN [0-9.]*)" &&
		vt-eval --version -v | grep -q "^back ends: cpu (oneDNN [0-9.]*)"'
fi

# ---- the messages of -v ----

# vt-extract, vt-pack, vt-bench and vt-schedule have tests of their own.
"$BUILD/tests/tools/makeset" "$T/train" 16 4 40 32 1 || not_ok "makeset makes a set"
vt-schedule --batch=8 --frames=2 --crop=16 --epochs=1 --milestones=none -o "$T/s.tsv"
check_exit "vt-train without -v" 0 \
	vt-train -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" -o "$T/run" --device=ref -j1
check_same "vt-train without -v prints no message" "" "$(cat "$T/err")"
rm -r "$T/run"
check_message "vt-train with -v" 0 'note: .*/train: 16 samples of [0-9]+ classes$' \
	vt-train -v -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" -o "$T/run" --device=ref -j1
check_says "vt-train -v shows network, device, precision and ranks" \
	'note: tsm_tiny: [0-9]+ parameters on ref in fp32, 1 rank of 1 thread$'
check_says "vt-train -v shows epochs and steps of the schedule" 'note: .*/s.tsv: epochs 1, steps 2, done 0$'
check_says "vt-train -v shows saved checkpoints" 'note: .*/run/ckpt-0000000002.safetensors is saved$'
check_exit "vt-eval without -v" 0 vt-eval -k "$T/run/final.safetensors" -i "$T/train" --device=ref
check_same "vt-eval without -v prints no message" "" "$(cat "$T/err")"
check_message "vt-eval with -v" 0 'note: .*/run/final.safetensors: tsm_tiny of step 2, epoch 1.00$' \
	vt-eval -v -k "$T/run/final.safetensors" -i "$T/train" --device=ref
check_says "vt-eval -v shows dataset and views" \
	'note: .*/train: 16 samples of [0-9]+ classes; clips 1, crops 1, frames 2, crop size 16$'

echo 'epoch = 7' >"$T/wrong"
check_message "a file with an unknown name" 2 "wrong:1: no option epoch \(similar: epochs\)" vt-schedule -c "$T/wrong"
plan
