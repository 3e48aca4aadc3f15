#!/bin/sh
# The shards, schedules and checkpoints of version 0.1.0 are still read. That
# version made tests/golden/v0.1.0:
#   makeset set 12 4 24 20 1
#   vt-train -i set -m n.net --schedule s.tsv -o run --clip 5 --groups plain
#       --seed 7 --device ref --save-steps 2
# The folder holds the checkpoint of step 4 of 9, the final one, and its scores.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
cp -r tests/golden/v0.1.0 "$T/old" && cd "$T/old" || exit 2

check "the shards of 0.1.0 are intact" vt-pack --verify=full -i set
check_same "the schedule of 0.1.0 is read" "$(sed 's/first/epoch_begin/; s/last/epoch_end/' s.tsv)" \
	"$(vt-schedule s.tsv)"
# Crops of frames this small moved a little when sizes became those of TSM.
check_same "the checkpoint of 0.1.0 predicts the same, with nearly the same probability" "12 12" \
	"$(vt-eval -k final.safetensors -i set --device ref 2>/dev/null | grep -v '^#' | paste - scores.tsv |
	awk -F '\t' '{ n++; same += $1 == $10 && $2 == $11 && $3 == $12 && ($8 - $17) ^ 2 < 4e-6 } END { print n, same }')"

# tensors FILE: print the hash of each tensor, from the header's metadata.
tensors() {
	tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')" | jq -r '.__metadata__["vt.tensors"]'
}
check_exit "the run of 0.1.0 is not resumed with another way of resizing" 2 \
	vt-train -i set -m n.net --schedule s.tsv -o run --clip-grad 5 --param-groups plain \
	--seed 7 --device ref --override=isa
check_says "the message names resize and its old value" 'resize.*bilinear'
check_exit "the run of 0.1.0 is resumed with the present names of options" 0 \
	vt-train --resize=bilinear -i set -m n.net --schedule s.tsv -o run --clip-grad 5 --param-groups plain \
	--seed 7 --device ref --override=isa
check_says "the message says that only the set's settings can be compared" 'stored only the settings of vt-extract, so only these are compared'
check_same "the run of 0.1.0 ends with the weights of 0.1.0" "$(tensors final.safetensors)" \
	"$(tensors run/final.safetensors)"
plan
