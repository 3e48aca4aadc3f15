#!/bin/sh
# What version 0.1.0 wrote is still read: its shards, schedules and checkpoints.
# tests/golden/v0.1.0 was made by that version:
#   makeset set 12 4 24 20 1
#   vt-train -i set -m n.net --schedule s.tsv -o run --clip 5 --groups plain
#       --seed 7 --device ref --save-steps 2
# and holds the checkpoint of step 4 of 9, the final one, and its scores.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
cp -r tests/golden/v0.1.0 "$T/old" && cd "$T/old" || exit 2

check "its shards are whole" vt-pack --verify=full -i set
check_same "its schedule is a schedule" "$(sed 's/first/epoch_begin/; s/last/epoch_end/' s.tsv)" \
	"$(vt-schedule s.tsv)"
# Crops of frames this small lie a little otherwise since they follow TSM's sizes.
check_same "its checkpoint predicts the same, with nearly the same probability" "12 12" \
	"$(vt-eval -k final.safetensors -i set --device ref 2>/dev/null | grep -v '^#' | paste - scores.tsv |
	awk -F '\t' '{ n++; same += $1 == $9 && $2 == $10 && $3 == $11 && ($8 - $16) ^ 2 < 4e-6 } END { print n, same }')"

# tensors FILE: the hash of each tensor, from the header's metadata
tensors() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" | jq -r '.__metadata__["vt.tensors"]'
}
check_exit "its run is not resumed with another way of resizing" 2 \
	vt-train -i set -m n.net --schedule s.tsv -o run --clip-grad 5 --param-groups plain \
	--seed 7 --device ref --override=isa
check_says "which is printed" 'resize.*bilinear'
check_exit "it is resumed, by today's names of the options" 0 \
	vt-train --resize=bilinear -i set -m n.net --schedule s.tsv -o run --clip-grad 5 --param-groups plain \
	--seed 7 --device ref --override=isa
check_says "which says that only the settings of the set can be compared" 'settings they were made with'
check_same "and ends with the weights that 0.1.0 ended with" "$(tensors final.safetensors)" \
	"$(tensors run/final.safetensors)"
plan
