#!/bin/bash
# slurm-pack.sh: videos into a packed set as jobs of Slurm: an array, each of whose
# jobs extracts its part of a list, and one behind it that joins the parts:
#
#   bash slurm-pack.sh 16 train.txt classes.txt set --short-side=256
#
# The first words are how many parts, a list of videos with their labels and no
# header, the names of the classes (vt-extract(1), --classes) and the set to make;
# the rest goes to vt-extract.  All of it, and the videos, must lie where all hosts
# see it.  The set is the same, byte for byte, for every number of parts.
#
# A part that is done is a stream in set.parts, under its name only when it is
# whole: the same line again, or a job that is queued again, extracts what is
# missing.
#
#   CPUS=8            processors of a job
#SBATCH --job-name=pack --ntasks=1 --time=12:00:00 --requeue
set -e
parts=${1:?usage: slurm-pack.sh PARTS LIST CLASSES SET [OPTION...]} list=$2 classes=$3 set=$4
shift 4

if [ -z "$SLURM_JOB_ID" ]; then		# by hand
	mkdir -p "$set.parts"
	job=$(sbatch --parsable --cpus-per-task="${CPUS:-8}" --array="0-$((parts - 1))" "$0" "$parts" "$list" "$classes" "$set" "$@")
	exec sbatch --dependency="afterok:$job" "$0" "$parts" "$list" "$classes" "$set"
fi
part=$(printf '%s.parts/%05d' "$set" "${SLURM_ARRAY_TASK_ID:-0}")
if [ -n "$SLURM_ARRAY_TASK_ID" ]; then
	# Lines of the list that follow each other, so that the parts do, too.
	awk -v i="$SLURM_ARRAY_TASK_ID" -v parts="$parts" 'NR == FNR { n++; next }
		FNR > int(n * i / parts) && FNR <= int(n * (i + 1) / parts)' "$list" "$list" >"$part.list"
	[ -e "$part.tar" ] || ! [ -s "$part.list" ] ||
		vt-extract -j "${SLURM_CPUS_PER_TASK:-1}" --annotations="$part.list" --classes="$classes" -o "$part.tar" "$@"
else
	vt-pack -o "$set" "$set.parts"/*.tar
	rm -r "$set.parts"
fi
