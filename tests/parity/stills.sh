#!/bin/sh
# Still images from end to end: a checkpoint of torchvision's ResNet-50, written by PyTorch,
# becomes a run, and vt-eval gives pictures the scores of PyTorch.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"
"$python" -c 'import numpy' 2>/dev/null || skip_all "no NumPy (Debian: python3-numpy)"
built oneDNN || skip_all "built without oneDNN"
export PYTHONDONTWRITEBYTECODE=1

check_exit "PyTorch writes a checkpoint and scores pictures" 0 "$python" tests/parity/stills.py make "$T"
check_exit "the pictures are packed without resizing" 0 sh -c 'vt-extract -q --label-from=dir --short-side=0 --format=png "$1"/*/* |
	vt-pack -q -o "$2"' sh "$T/frames" "$T/set"
# The learning rate is too small to change any weight of the classifier, and the
# rest is frozen.  The comparison below depends on this.
stages '0 0 1 0 8 1 64 8 1e-30 0 0' >"$T/still.tsv"
check_exit "a run begins from the checkpoint" 0 vt-train -q -i "$T/set" -m resnet50 --schedule="$T/still.tsv" \
	--init="$T/weights.pth" --freeze=backbone --weight-decay=0 -o "$T/run"
check_same "the checkpoint has all weights of the run" 0 "$(awk -F'\t' '$2 == "new" || $2 == "reshaped"' "$T/run/init.tsv" | wc -l)"
check_exit "the run is exported" 0 vt-train -q --export="$T/exported" --names=torchvision --output="$T/run"
check_exit "the packed pictures are scored" 0 vt-eval -q -k "$T/run" -i "$T/set" --full-short-side --scores="$T/scores"
check_exit "the pictures in folders are scored" 0 vt-eval -q -k "$T/run" --full-short-side --json -o "$T/answers" "$T"/frames/*/*
"$python" tests/parity/stills.py compare "$T" "$T/exported" "$T/scores" "$T/answers" >"$T/got" 2>&1
check_same "the exported weights equal PyTorch's, bit by bit" "0 changed, 0 more" "$(sed -n 's/^tensors: //p' "$T/got")"
check_same "the scores agree with PyTorch" "11 pictures, to 1e-4" "$(sed -n 's/^scores: //p' "$T/got")"
check_same "the probabilities agree with PyTorch" "11, 0 wrong" "$(sed -n 's/^folders: //p' "$T/got")"
plan
