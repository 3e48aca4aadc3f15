#!/bin/sh
# Misspelled names and paths, and crops larger than the frames: messages show
# the value found, the value wanted and the likely intention.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
stages "0 0 2 0 8 2 16 4 0.01 0 0" >"$T/s.tsv"
stages "0 0 2 0 8 2 33 4 0.01 0 0" >"$T/large.tsv"
# train [OPTION]...: run vt-train. A later option overrides an earlier one.
train() {
	vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 "$@"
}

# ---- networks ----

# means NAME NAMES: check that the message suggests NAMES for the network NAME.
means() {
	check_exit "a network called $1" 2 train -n -m "$1"
	check_says "is near to $2" "no \"?$1\"? in models \(similar: $2; [^ ]*/models has all [0-9]+; wanted one of them, or the path of a .net file\)"
}
means tsm_tny "tsm_tiny or tsn_tiny"
means resnet18 "resnet50, tsn_r18, r3d_18 or tsm_r18"
means x3d "x3d_m, x3d_m_pyslowfast, x3d_s or x3d_s_pyslowfast"
means tsm-r50 "tsm_r50 or tsn_r50"
check_message "a network unlike any other ends with 2" 2 'no nonesuch in models \([^ ]*/models has all [0-9]+;' \
	train -n -m nonesuch

# ---- paths ----

check_exit "a run to take files from" 0 train -o "$T/run" -q
check_exit "weights of a run as --model end with 2" 2 train -n -m "$T/run/final.safetensors"
check_says "weights of a run as --model: the message names --init and the run's network" \
	"final.safetensors: holds weights \(wanted a network\): --init=$T/run/final.safetensors begins from them, and the network of that run is --model=$T/run/network.net"
check_message "weights of another program" 2 "--init=$T/r50.pth begins from them$" train -n -m "$T/r50.pth"
cp "$T/s.tsv" "$T/file.tsv"
check_exit "a file for --output" 2 train -o "$T/file.tsv"
check_says "is refused with what it is for" "--output=$T/file.tsv is a file \(wanted a directory for checkpoints and log\)"
check_exit "a dataset that does not exist" 1 train -n -i "$T/trian"
check_says "is named" "$T/trian: no such file or folder \(wanted a packed set"
check_exit "a folder without a dataset" 1 train -n -i "$T/run"
check_says "has no manifest" "$T/run: no manifest.json: not a packed set, or packing was not finished; and no folders of videos \(wanted $T/run/CLASS/VIDEO\)"

# ---- crops ----

check_exit "crops larger than the frames are allowed" 0 train -n --schedule "$T/large.tsv" --val "$T/val"
check_says "a warning shows the sizes of crops and frames" \
	"warning: $T/train: crops of 33x33 pixels from frames of at most 40x32: they are enlarged"
check_says "a warning shows the crops of validation" "warning: $T/val: crops of 33x33 pixels"
check_exit "crops as large as the frames" 0 train -n --schedule "$T/s.tsv" --val "$T/val" --val-crop 32
check_same "crops as large as the frames give no warning" "" "$(cat "$T/err")"
check_exit "vt-eval with large crops" 0 vt-eval -k "$T/run" -i "$T/val" --crop 33 --device ref
check_says "vt-eval warns of large crops" "warning: $T/val: crops of 33x33 pixels from frames of at most 40x32"
check_exit "vt-eval with crops as large as the frames" 0 vt-eval -k "$T/run" -i "$T/val" --crop 32 --device ref
check_same "vt-eval does not warn of crops as large as the frames" "" "$(grep crops "$T/err")"

plan
