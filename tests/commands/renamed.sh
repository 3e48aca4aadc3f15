#!/bin/sh
# Old names of options: the command line and the environment refuse them and
# name the present ones, while configuration files, runs and checkpoints with
# old names are read. Version 0.2.0 made tests/golden/v0.2.0-names with
# VT_ISA=base: the run of names.conf, stopped after step 5 of 11, and the
# tensors of the same run without a stop.
# tests/run: weight 9
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# ---- the table ----

# Each row is COMMAND OLD NEW SINCE, without dashes.
awk '/since/ { since = $3 } /\{ "vt-/ { gsub(/[{}",]/, ""); print $1, $2, $3, since }' \
	lib/base/renamed.c >"$T/table"
check "the table has at least 32 rows" test "$(wc -l <"$T/table")" -ge 32
check_same "each old name of a command is listed once" "" "$(cut -d' ' -f1,2 "$T/table" | sort | uniq -d)"
for c in extract pack schedule train eval bench; do
	vt-$c --complete-spec | awk -F '\t' -v c="vt-$c" '
		$2 != "-" { print c, $2; if ($1 != "-") print c, $1 }'
done >"$T/options"
check_same "every new name is an option" "" \
	"$(cut -d' ' -f1,3 "$T/table" | grep -vxFf "$T/options")"
check_same "no old name is a present name of the same command" "" \
	"$(cut -d' ' -f1,2 "$T/table" | grep -xFf "$T/options")"
# dashed: add the dashes to names.
dashed() {
	awk '{ print $1, (length($2) > 1 ? "--" : "-") $2, (length($3) > 1 ? "--" : "-") $3 }'
}
since=$(grep ' 0\.2\.0$' "$T/table" | dashed)
check_same "NEWS.md lists the names of 0.2.0" "$since" "$(sed -n \
	's/^| \(vt-[a-z]*\) *| `\(-[a-z0-9-]*\)` *| `\(-[a-z0-9-]*\)` *|$/\1 \2 \3/p' share/NEWS.md)"
check_same "compare-commits lists the same names" "$since" \
	"$(grep -v '^#\| --no-' tests/tools/renamed-0.2.txt)"

# ---- the command line ----

# answered COMMAND OLD NEW ARGUMENT...: check status 2, one line and the hint,
# and nothing on standard output.
answered() {
	what="$1 $2 is now $3" command=$1 want="2|$1: error: $2 is now $3|Try '$1 --help'."
	shift 3
	status=0
	"$command" "$@" >"$T/out" 2>"$T/err" || status=$?
	check_same "$what: $*" "$want" "$(echo $status | cat - "$T/out" "$T/err" | paste -sd '|')"
}
dashed <"$T/table" | while read -r c old new; do
	echo "$c $old $new $old"
	echo "$c $old $new $old x"
	case $old in --*) echo "$c $old $new $old=x" ;; esac
done >"$T/lines"
while read -r c old new arguments; do
	# shellcheck disable=SC2086
	answered "$c" "$old" "$new" $arguments
done <"$T/lines"
answered vt-bench --no-check --no-verify step --no-check
answered vt-eval -m -k -qm run
answered vt-train --override=augment --override=crop-rule --data=a --schedule=b --output=c \
	--override=augment

# ---- the environment ----

# variable NAME: print the variable of an option.
variable() {
	echo "VT_$1" | tr a-z- A-Z_
}
while read -r c old new since; do
	[ ${#old} -gt 1 ] || continue
	was=$(variable "$old") now=$(variable "$new")
	if grep -q " $old$" "$T/options"; then
		# Another command has an option of this name, so the variable
		# may be meant for it.
		env "$was=x" "$c" a b >"$T/out" 2>"$T/err"
		check_says "$c, since $since: $was is not read" "warning: $was is not read by $c, which has $now now"
	else
		check_exit "$c, since $since: $was ends with 2" 2 env "$was=1" "$c" a b
		check_says "$c, since $since: the message says that $was is now $now" \
			"error: the environment sets $was, which is now $now"
	fi
done <"$T/table"
check_exit "an old variable of another command is no error" 0 env VT_AUGMENT=tsm vt-schedule --milestones=none
check_says "a warning shows the present name and its commands" \
	"VT_AUGMENT, which nothing reads \(it is now VT_CROP_RULE of vt-(train|bench)\)"
check_exit "VT_MODEL with vt-eval, whose old -m is now -k" 1 env VT_MODEL=tsm_tiny vt-eval -k "$T/no" -i "$T/no"
check_same "VT_MODEL gives no warning with vt-eval" "" "$(grep VT_MODEL "$T/err")"

# ---- configuration files ----

# other COMMAND OPTION: print a value that is not its default.
other() {
	case $1.$2 in
	*.spool-memory) echo 3M ;;
	*.random-erase) echo 0.5 ;;
	*)
		"$1" --complete-spec | awk -F '\t' -v n="$2" -v now="$("$1" --print-config |
			sed -n "s/^$2 = \([a-z]*\)	.*/\1/p")" '$2 == n {
				k = split($5, choice, "|")
				if ($3 == "none") print (now == "yes" ? "no" : "yes")
				else if ($5 == "-") print ($4 ~ /^(FILE|DIR|LIST|A:B)$/ ? "a b" : "3")
				else print (k > 1 ? choice[k] : "a b")
			}' ;;
	esac
}
# renamed COMMAND FILE: print the settings in FILE with old names.
renamed() {
	awk -v c="$1" '
		NR == FNR { if ($1 == c) old[$3] = $2; next }
		{ hash = sub(/^# /, "") ? "# " : "" }
		$1 in old { sub(/^[^ ]*/, old[$1]) }
		{ print hash $0 }' "$T/table" "$2"
}
settings() {
	sed 's/	# [a-z ]*$//' "$1"
}
for c in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	awk -v c="$c" '$1 == c && length($3) > 1 { print $3 }' "$T/table" >"$T/new"
	set --
	while read -r name; do set -- "$@" "$(variable "$name")=$(other "$c" "$name")"; done <"$T/new"
	check_exit "$c: other values of all renamed options" 0 env "$@" "$c" --print-config
	check_same "$c: all other values count" "$(wc -l <"$T/new")" "$(grep -c '# environment$' "$T/out")"
	settings "$T/out" >"$T/want"
	renamed "$c" "$T/want" >"$T/old"
	check_same "$c: the copy has old names for all of them" \
		"$(wc -l <"$T/new")" "$(diff "$T/want" "$T/old" | grep -c '^>')"
	check_exit "$c: -c reads old names" 0 "$c" -c "$T/old" --print-config
	check_same "$c: old names in a file give no message" "" "$(cat "$T/err")"
	settings "$T/out" >"$T/got"
	check_same "$c: old names in a file set the same values" "$(cat "$T/want")" "$(cat "$T/got")"
done

# ---- a run of 0.2.0 ----

export VT_ISA=base
cp -r tests/golden/v0.2.0 "$T/kept" && cp -r tests/golden/v0.2.0-names/* "$T/kept" &&
	cd "$T/kept" || exit 2
# tensors FILE: print name and hash of each tensor, from the header's metadata.
tensors() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" |
		jq -r '.__metadata__["vt.tensors"] | fromjson | to_entries[] | "\(.key)\t\(.value)"'
}
evaluate() {
	vt-eval -k names/ckpt-0000000005.safetensors -i set --device=ref "$@"
}
check "the run of 0.2.0 has old names in its config" grep -q '^augment = jitter' names/config
check_exit "the checkpoint of 0.2.0 is read" 0 evaluate
cp "$T/out" "$T/scores"
check_same "the checkpoint's augment=jitter chooses its test crops" "$(cat "$T/scores")" \
	"$(evaluate --crop-rule=pyslowfast 2>"$T/err")"
check "another crop rule gives other scores" \
	test "$(cat "$T/scores")" != "$(evaluate --crop-rule=tsm 2>"$T/err")"
check_exit "the run of 0.2.0 is replayed with its own settings" 0 vt-train --replay=names
check "the replay gives the same checkpoint" grep -q '^5	same' "$T/out"
check_exit "a different setting under its present name ends with 2" 2 \
	vt-train -c names.conf --crop-rule=centre
check_says "a different setting under its present name: the message shows both values under the present name" \
	'crop-rule was jitter and is centre now \(--override=crop-rule'
check_exit "the run of 0.2.0 is resumed with its old configuration file" 0 vt-train -q -c names.conf
check_same "the run resumes from its step" 5 \
	"$(jq 'select(.type == "start") | .step' names/log.jsonl | tail -1)"
check_same "the run ends with the tensors of the run without a stop" "$(cat names.tensors)" \
	"$(tensors names/final.safetensors)"
check_same "the resumed run's config has present names" \
	"crop-rule = jitter|random-erase = 0.5|trust-coefficient = 0.02" \
	"$(grep -E '^(crop-rule|augment|(random-)?erase|trust(-coefficient)?) ' names/config | paste -sd '|')"
check_exit "a new run with the same settings under present names" 0 vt-train -q --data=set --model=n.net \
	--output=again --device=ref -j1 --seed=7 --schedule=grown.tsv --crop-rule=jitter \
	--random-erase=0.5 --optimizer=lars --trust-coefficient=0.02 --learners=2 --average-every=1 \
	--batch-growth-max=4 --batch-growth-factor=3 --batch-growth-threshold=0.001 \
	--batch-growth-patience=2 --autotune=rule
check_same "the new run ends with the same tensors" "$(cat names.tensors)" "$(tensors again/final.safetensors)"
plan
