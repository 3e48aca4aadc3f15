#!/bin/sh
# known:NAME takes published weights from the cache, after a check of length and digest. An
# absent file ends with the command that fetches it, and the command works.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# ---- the installed table ----

vt-eval --known >"$T/list"
check_same "--known lists name, network, classes, top-1 and address" \
	"tv-r2plus1d-18 r2plus1d_18 400 67.463 https://download.pytorch.org/models/r2plus1d_18-91a641e6.pth" \
	"$(awk -F'\t' '$1 == "tv-r2plus1d-18" { print $1, $2, $3, $4, $5 }' "$T/list")"
check_same "each name is listed once" "" "$(cut -f1 "$T/list" | sort | uniq -d)"
check_same "each network is installed" "" "$(cut -f2 "$T/list" | sed 1d | sort -u |
	while read -r net; do [ -z "$net" ] || [ -e "share/models/$net.net" ] || echo "$net"; done)"
# A class list belongs to its row by number; comments are not classes.
check_same "each list of classes has as many as its files" "" "$(grep -v '^# ' share/weights/known.tsv | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["order"] != "" { print $at["order"], $at["classes"] }' | sort -u |
	while read -r order classes; do
		[ "$(grep -vc '^# ' "share/classes/$order.txt")" = "$classes" ] || echo "$order"
	done)"
for list in share/classes/*.txt; do
	check "$list: the first line is an address" grep -q '^# https://' "$list"
done

# ---- a table of own files ----

export VT_SHARE_DIR="$T/share" XDG_CACHE_HOME="$T/its cache"
"$MAKESET" "$T/train" 16 4 40 32 1 || skip_all "no test set"
stages '0 0 1 0 8 2 16 4 0.01 0 0' >"$T/s.tsv"
train() {
	dir=$1
	shift
	vt-train -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" --device=ref -o "$T/$dir" "$@" >/dev/null
}
train first && vt-train -q --export="$T/w.st" --names=tsm --output="$T/first" >/dev/null || skip_all "no weights"
digest=$(sha256sum <"$T/w.st" | cut -d' ' -f1) bytes=$(wc -c <"$T/w.st")
wrong=$(printf %064d 0)
mkdir -p "$T/share/weights" "$XDG_CACHE_HOME/vt"
{
	grep '^#name' share/weights/known.tsv
	row() {	# NAME BYTES SHA256
		printf '%s\ttsm_tiny\town\tfile://%s\t%s\t%s\town\t8\t\t2\t\t16\t\ttsm\t\t1\t\tnone\tthis test\n' \
			"$1" "$T/w.st" "$2" "$3"
	}
	row own-whole "$bytes" "$digest"
	row own-part "" "$(echo "$digest" | cut -c1-8)"
	row own-short $((bytes + 1)) "$digest"
	row own-wrong "" "$wrong"
	row own-digits "" 00000000
	row own-absent "$bytes" "$digest"
} >"$T/share/weights/known.tsv"
for name in whole part short wrong digits; do
	cp "$T/w.st" "$XDG_CACHE_HOME/vt/own-$name"
done

check_message "a run begins from published weights" 0 'own-whole: safetensors, names of tsm: 77 of 77 parameters loaded' \
	train whole --init=known:own-whole
check "which the checkpoint names" grep -aq ' tsm known:own-whole"' "$T/whole/final.safetensors"
check_exit "it resumes with the same name" 0 train whole --init=known:own-whole
check_exit "and with a copy of the file" 0 train whole --init="$T/w.st"
check_exit "a part of the digest is compared" 0 train part --init=known:own-part
check "without a message" sh -c "! grep -q SHA-256 '$T/err'"
check_message "another part is a warning with both digests" 0 \
	"own-digits\"?: its SHA-256 is $digest, and the published one begins with 00000000" train digits --init=known:own-digits
check_message "another digest ends with 4" 4 "its SHA-256 is $digest \(wanted $wrong\)" train no --init=known:own-wrong
check_message "another length ends with 4" 4 "$bytes bytes \(wanted $((bytes + 1))\)" train no --init=known:own-short
check_message "an unknown name ends with 2 and similar names" 2 'known:own-whol: .*\(similar: own-whole;' \
	train no --init=known:own-whol
check_message "an absent file ends with 2" 2 'known:own-absent: no file .*: mkdir -p ' train no --init=known:own-absent
check "no run was begun" test ! -e "$T/no"
if command -v curl >/dev/null; then
	sed -n 's/.*fetch it: //p' "$T/err" >"$T/fetch"
	check "the commands of the message fetch it" sh "$T/fetch"
	check_exit "then it is there" 0 train fetched --init=known:own-absent
else
	skip "the commands of the message fetch it" "no curl"
fi
unset XDG_CACHE_HOME
HOME=$T
check_message "without XDG_CACHE_HOME, the cache is in HOME" 2 "no file $T/.cache/vt/own-absent" \
	train no --init=known:own-absent
plan
