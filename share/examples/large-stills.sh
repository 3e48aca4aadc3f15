#!/bin/bash
# large-stills.sh: train ResNet-50 on still images with a batch that grows, after
# "Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash" (Mikami et
# al., 2018): batch-size control, LARS and label smoothing.  Still images are videos
# of one frame.  The run begins on RANKS ranks.  When the batch doubles, the run
# continues on twice the number of ranks.
#
#	RANKS=16 DATA=imagenet/train VAL=imagenet/val RUN=r50 ./large-stills.sh
#
# RANKS=2176 gives share/schedules/imagenet_r50_34k_68k.tsv.  RANKS=3456 with
# GROW=none gives imagenet_r50_54k.tsv.
# Published: 16 images per rank; a batch of 34 K that becomes 68 K, or of 54 K
#   throughout; 90 epochs, of which 5 are a warm-up; LARS; label smoothing 0.1 (in
#   the later form).
# Our choice, because the parts of the paper that we could read do not state it: the
#   batch doubles after a third of the epochs, and the momentum is adapted; the
#   learning rate falls as (1 - x)^2 from 30 at 34,816 images, in proportion to the
#   batch, after a warm-up from 0; trust coefficient 0.01; weight decay 0.0001.
# vt-train prints at its start how long it will take.
set -euo pipefail
ranks=${RANKS:-8} epochs=${EPOCHS:-90} warmup=${WARMUP:-5} images=${IMAGES:-16}
data=${DATA:?a packed dataset} val=${VAL:?another to validate on} run=${RUN:?a directory}
model=${MODEL:-resnet50} crop=${CROP:-224} grow=${GROW:-$((epochs / 3))}
optimizer=${OPTIMIZER:---optimizer=lars --trust-coefficient=0.01}

batch=$((images * ranks))
lr=$(awk -v b="$batch" 'BEGIN { printf "%.9g", 30 * b / 34816 }')
grows=()
[ "$grow" = none ] || grows=(--batch-at="$grow:$((2 * batch))" --batch-scaling=momentum)
vt-schedule -f --batch="$batch" --bn-size="$images" --frames=1 --crop="$crop" --epochs="$epochs" \
	--lr="$lr" --lr-policy=power --lr-power=2 --warmup-epochs="$warmup" "${grows[@]}" -o "$run.tsv"
train() {	# RANKS SCHEDULE
	# shellcheck disable=SC2086
	mpirun -np "$1" vt-train --data="$data" --val="$val" --model="$model" --schedule="$2" \
		--weight-decay=0.0001 --label-smoothing=0.1 $optimizer --output="$run" "${@:3}"
}
if [ "$grow" = none ]; then
	train "$ranks" "$run.tsv" "$@"
	exit
fi
# The first part of the schedule is a schedule of its own.  Both have the same
# completed steps, so the second training resumes the first.
awk -F '\t' -v grow="$grow" '/^#/ || $3 <= grow' "$run.tsv" >"$run.first.tsv"
train "$ranks" "$run.first.tsv" "$@"
train $((2 * ranks)) "$run.tsv" "$@"
