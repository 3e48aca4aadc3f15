#!/bin/bash
# large-tsm.sh: train TSM on many ranks with a large batch, after "Training Kinetics
# in 15 Minutes" (Lin, Gan and Han, 2019): 8 clips per rank, a learning rate of
# 0.00125 per 8 clips, and a warm-up.
#
#	RANKS=16 DATA=kinetics/train VAL=kinetics/val RUN=tsm ./large-tsm.sh
#
# RANKS=1536 gives share/schedules/k400_tsm_r50_8f_12288.tsv.
# Published: 8 clips of 8 frames per rank, which share BN statistics; 0.00125 for
#   8 clips and the linear scaling rule; SGD with momentum 0.9 and weight decay
#   0.0001, gradients clipped to the norm 20 (the program of TSM); ImageNet weights.
# Our choice, because the parts of the paper that we could read do not state it: 5
#   epochs of warm-up from the learning rate of one rank; 100 epochs, with the
#   learning rate divided by 10 at epochs 40 and 80.
# vt-train prints at its start how long it will take.
set -euo pipefail
ranks=${RANKS:-8} epochs=${EPOCHS:-100} warmup=${WARMUP:-5} clips=8
data=${DATA:?a packed dataset} val=${VAL:?another to validate on} run=${RUN:?a directory}
model=${MODEL:-tsm_r50} crop=${CROP:-224}

lr=$(awk -v n="$ranks" 'BEGIN { printf "%.9g", 0.00125 * n }')
vt-schedule -f --batch=$((clips * ranks)) --bn-size=$clips --frames=8 --crop="$crop" \
	--epochs="$epochs" --milestones=$((epochs * 2 / 5)),$((epochs * 4 / 5)) \
	--lr="$lr" --warmup-epochs="$warmup" --warmup-lr=0.00125 -o "$run.tsv"
# Refuse an impossible run before it waits for its machines.
vt-schedule --check "$run.tsv" --model="$model" --data="$data" --ranks="$ranks" >"$run.plan"
mpirun -np "$ranks" vt-train --data="$data" --val="$val" --model="$model" \
	--schedule="$run.tsv" --weight-decay=0.0001 --clip-grad=20 ${INIT:+--init="$INIT"} \
	--output="$run" "$@"
