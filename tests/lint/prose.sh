#!/bin/sh
# Comments, messages, rows of --help, manual, README and names in code keep to the rules
# of language that tests/tools/prose can find, and it finds planted violations.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
command -v perl >/dev/null || skip_all "no perl command"
prose=tests/tools/prose

# Generated files, lists of words, golden values, and the patterns themselves are left
# out.  log.c compares with a message of FFmpeg.
texts() {
	find lib cmd man share tests README.md -type f ! -path 'tests/golden/*' ! -path '*/corpus/*' \
		! -path tests/tools/prose ! -path tests/lint/prose.sh ! -path tests/README.md \
		! -path lib/media/ffmpeg/log.c \
		\( -name '*.[ch]' -o -name '*.cu' -o -name '*.[1-8]' -o -name '*.md' -o -name '*.sh' -o -name '*.mk' \
		-o -name '*.net' -o -path 'tests/tools/*' ! -name '*.*' -o -path share/deps -o -path share/demo/run \)
}
# shellcheck disable=SC2046
check_exit "no sentence breaks a rule of language" 0 $prose $(texts)
check_same "no sentence is found" "" "$(cat "$T/out")"

# planted KIND RULE TEXT: a file with TEXT as a comment, manual text, message or name
planted() {
	case $1 in
	comment) f=$T/x.c text="/* $3 */" ;;
	message) f=$T/x.c text="fail(\"%s: $3\", path);" ;;
	name) f=$T/x.c text="int $3;" ;;
	manual) f=$T/x.1 text=".Sh DESCRIPTION
$3" ;;
	readme) f=$T/x.md text="$3" ;;
	script) f=$T/x.sh text="# $3" ;;
	help) f=$T/x.c text="	{ 0, \"x\", OPTION_FLAG, &x, NULL, \"$3\", NULL, 0, 0, 0 }," ;;
	esac
	echo "$text" >"$f"
	check_exit "$1: \"$3\" is found" 1 $prose "$f"
	check "$1: \"$3\" breaks the rule \"$2\"" grep -q ": $2: " "$T/out"
	rm "$f"
}
planted comment "first word" "Who sweeps may have had it between the two."
planted comment archaic "Rows and origins anew."
planted comment "no more" "The buffer is no more read."
planted comment "from X on" "The steps from step 30 on are longer."
planted comment "bare possessive" "A float of the device's."
planted message "is no" "this is no video"
planted message "is to be" "the file is to be removed"
planted manual "goes on" "The run goes on with the last checkpoint."
planted manual "as it has it" "As the paper has it, the rate grows."
planted readme British "It normalises the clips."
planted script "that is there" "The file that is there stays."
planted help "help row" "of the list, where that does not show"
planted help "help row" "set the size of the crop that is taken from each of the frames (224)"
planted name "private word" tray_bytes
planted name "private word" norm_judge

# The lint must accept sentences and names that only resemble a violation.
cat >"$T/right.c" <<'C'
/* There is no more room.  What if the file is short?  The steps go on and on. */
int proportion, surged;
fail("%s: there is no such file", path);
C
check_exit "sentences that only look alike are not found" 0 $prose "$T/right.c"
plan
