#!/bin/bash
# slurm-pack.sh: pack a list of videos by Slurm jobs: an array of jobs that extract
# one part of the list each, and a job after them that joins the parts:
#
#   bash slurm-pack.sh 16 train.txt classes.txt set --short-side=256
#
# The arguments are the number of parts, a list of videos with labels and without a
# header, the names of the classes (vt-extract(1), --classes), and the dataset to
# make.  Further arguments go to vt-extract.  All files, and the videos, must be on a
# file system that all hosts share.  The dataset has the same bytes for every number of
# parts.
#
# A finished part is a stream in set.parts; it gets its name when it is complete.  The
# same command, or a job that is queued again, extracts only the missing parts, and
# all of them if the number of parts, the list, the classes or the options are others.
# With --on-error=skip, the parts and the dataset lack the videos that were skipped.
#
# A job needs the time of its part: vt-extract --estimate prints that of the list.
#
#   CPUS=8            the processors of a job
#SBATCH --job-name=pack --ntasks=1 --time=12:00:00 --requeue
set -e
parts=${1:?usage: slurm-pack.sh PARTS LIST CLASSES SET [OPTION...]} list=$2 classes=$3 set=$4
shift 4

if [ -z "$SLURM_JOB_ID" ]; then		# by hand
	mkdir -p "$set.parts"
	job=$(sbatch --parsable --cpus-per-task="${CPUS:-8}" --array="0-$((parts - 1))" "$0" "$parts" "$list" "$classes" "$set" "$@")
	exec sbatch --dependency="afterok:$job" "$0" "$parts" "$list" "$classes" "$set"
fi
# Another division of the list, or another list, has a folder of its own.
dir=$set.parts/$parts-$(cat "$list" "$classes" | sha256sum | cut -c 1-16)
mkdir -p "$dir"
part() {
	printf '%s/%05d' "$dir" "$1"
}
# A part is a range of lines, so the joined parts have the order of the list.
lines() {
	awk -v i="$1" -v parts="$parts" 'NR == FNR { n++; next }
		FNR > int(n * i / parts) && FNR <= int(n * (i + 1) / parts)' "$list" "$list"
}
if [ -n "$SLURM_ARRAY_TASK_ID" ]; then
	part=$(part "$SLURM_ARRAY_TASK_ID")
	lines "$SLURM_ARRAY_TASK_ID" >"$part.list"
	printf '%s\n' "$@" >"$part.new"
	cmp -s "$part.new" "$part.options" || rm -f "$part.tar"
	mv "$part.new" "$part.options"
	# 3: videos were skipped, as --on-error=skip wants
	[ -e "$part.tar" ] || ! [ -s "$part.list" ] ||
		vt-extract -j "${SLURM_CPUS_PER_TASK:-1}" --annotations="$part.list" --classes="$classes" -o "$part.tar" "$@" ||
		[ $? = 3 ]
else
	streams=()
	for ((i = 0; i < parts; i++)); do
		part=$(part $i)
		[ -n "$(lines $i)" ] || continue
		if ! [ -e "$part.tar" ] || ! cmp -s "$part.options" "$(part 0).options"; then
			echo "slurm-pack.sh: $part.tar: missing, or of other options than part 0: the command of the start makes it" >&2
			exit 1
		fi
		streams+=("$part.tar")
	done
	vt-pack -o "$set" "${streams[@]}"
	rm -r "$set.parts"
fi
