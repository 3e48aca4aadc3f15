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
check_same "each test is one of --views" "" "$(grep -v '^# ' share/weights/known.tsv | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["views"] !~ /^(|tsm|tsm-twice|tsm-dense|pyslowfast|ssv2|charades)$/ { print $1 }')"
# nth LIST N: print class N of a list.
nth() {
	sed 1d "share/classes/$1.txt" | sed -n "$(($2 + 1))p"
}
check_same "UCF101 is sorted without regard to case" "Hammering HammerThrow" "$(nth ucf101 34) $(nth ucf101 35)"
check_same "TSM sorts the gestures of Jester" "Doing other things" "$(nth jester-tsm 0)"
check_same "MMAction2 does not" "Doing other things" "$(nth jester-mmaction2 26)"
check_same "the orders of Something-Something v1 agree in one place" 1 \
	"$(paste -d '\n' share/classes/ssv1-tsm.txt share/classes/ssv1-mmaction2.txt | sed 1,2d |
		awk 'NR % 2 { a = $0; next } a == $0' | wc -l)"

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
		printf '%s\ttsm_tiny\town\tfile://%s\t%s\t%s\town\t8\t\t\t2\t\t16\t\ttsm\t\t1\t\tnone\tthis test\n' \
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

# ---- predictions ----

check_exit "a packed set is scored" 0 vt-eval --device=ref -i "$T/train" -k "$T/first"
grep -v '^#' "$T/out" >"$T/want"
sed '1i # a comment' "$T/train/classes.txt" >"$T/names.txt"
check_exit "and by its weights, whose clip and test are in the table" 0 \
	vt-eval --device=ref -i "$T/train" -k known:own-whole --classes="$T/names.txt"
check_same "with the same scores" "" "$(grep -v '^#' "$T/out" | diff - "$T/want")"
check_says "a note has the clip" '2 frames, stride 0, crop size 16, 1 x 1 views: those of the test of known:own-whole'
check_exit "or in options" 0 vt-eval --device=ref -i "$T/train" -k "$T/w.st" -m tsm_tiny --classes="$T/names.txt" \
	--frames=2 --crop=16
check_same "with the same scores" "" "$(grep -v '^#' "$T/out" | diff - "$T/want")"

# look OPTION...: predict a video.
look() {
	vt-eval --device=ref --top=8 "$@" "$T/video.mp4"
}
if built FFmpeg && motions "$T/videos" 2 1 1 >/dev/null; then
	mv "$(find "$T/videos" -name '*.mp4' | LC_ALL=C sort | head -1)" "$T/video.mp4"
	check_exit "a run predicts a video" 0 look -k "$T/first"
	cp "$T/out" "$T/want"
	check_exit "so do its weights" 0 look -k known:own-whole --classes="$T/names.txt"
	check "with the same bits" cmp "$T/want" "$T/out"
	check_message "without a list, classes are numbers" 0 'the names of its 8 classes are unknown' \
		look -k known:own-whole
	check_same "in the order of the list" "$(sed 1d "$T/want" | tr '\t' '\n' | grep -xF -f "$T/train/classes.txt")" \
		"$(sed 1d "$T/out" | tr '\t' '\n' | grep -x '[0-7]' | while read -r n; do
			sed -n "$((n + 1))p" "$T/train/classes.txt"; done)"
else
	skip "weights predict videos" "no videos"
fi
refuse() {
	what=$1 regex=$2
	shift 2
	check_message "$what" 2 "$regex" vt-eval --device=ref -i "$T/train" "$@"
}
refuse "a list of another length" 'k400.txt: 400 classes \(wanted the 8 of ' -k known:own-whole --classes=k400
refuse "an unknown list" 'no k300 in classes' -k known:own-whole --classes=k300
refuse "weights of another network" 'is not all of tsn_r18, or not only that: .*\(the file fits tsm_tiny' \
	-k "$T/w.st" -m tsn_r18
refuse "weights that are absent" 'known:own-gone: no published weights of this name' -k known:own-gone
refuse "weights without a clip" 'no published clip is known for these weights \(wanted --frames=T' \
	-k "$T/w.st" -m "$T/first/network.net" --classes="$T/names.txt"
refuse "a checkpoint with a network" 'a checkpoint of vt, which has its network' -k "$T/first" -m tsm_tiny
refuse "a moving average" 'use-ema: not for weights' -k known:own-whole --use-ema
if find_torch; then
	"$python" -c 'import sys, torch; torch.save({"new_fc.weight": torch.zeros(2, 2)}, sys.argv[1])' "$T/w.pth"
	refuse "weights of PyTorch without a network" 'weights of another program \(wanted their network' -k "$T/w.pth"
else
	skip "weights of PyTorch without a network" "no PyTorch"
fi

unset XDG_CACHE_HOME
HOME=$T
check_message "without XDG_CACHE_HOME, the cache is in HOME" 2 "no file $T/.cache/vt/own-absent" \
	train no --init=known:own-absent
plan
