#!/bin/bash
# slurm.sh: run vt-train as a Slurm job, started by srun.  The job queues itself
# again until the run is finished:
#
#   vt-train ... --print-config >job.conf
#   sbatch slurm.sh
#
# Put the script and job.conf where all hosts can read them.  Fill in the settings
# of your site: the partition, unless the default is right (remove one #), and,
# before srun, the modules or the container with vt.  The schedule limits the ranks:
#
#   vt-schedule --check --time -m NET -i DIR schedule.tsv
#
# prints "ranks at most" and an estimate of the time of the run on this machine.  Nodes
# times tasks per node must not exceed this number.
#SBATCH --job-name=tsm
##SBATCH --partition=NAME
#SBATCH --nodes=4
# Ranks on a host: one for each GPU, or for each socket, is best.
#SBATCH --ntasks-per-node=8
# With device = cuda in job.conf: a GPU for each rank (remove one #).  Some sites
# want --gres=gpu:8 instead.  vt-ranks(7) says which GPU a rank takes.
##SBATCH --gpus-per-node=8
# Cores of a rank, for its compute threads and its loader threads.
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
# Five minutes before the time limit, every rank receives USR1, saves and ends with
# status 75.  A checkpoint and a validation must fit into this time.
#SBATCH --requeue --open-mode=append --signal=USR1@300
#
#   sbatch slurm.sh SET DIR
#
# trains on a copy of the packed dataset SET in DIR, a folder on a disk of each node.
# The copy is DIR/ID, named by the identity of the set.  One task a node makes it and
# verifies it.  Jobs on a node share it: one waits while another one copies.  After an
# interruption the next start continues.  At the start of a run the ranks compare the
# identities.  A replay takes the copy, too: vt-train --replay=run -i DIR/ID.
# If SET is an address, such as https://store/train, read manifest.json by
#   curl -sf "$1/manifest.json" | grep ...
# and write, instead of rsync:
#   for f in manifest.json classes.txt SHARDS.xxh128 $(curl -sf "$1/SHARDS.xxh128" |
#       cut -c 35-); do curl -sf --create-dirs -o "$2.tmp/$f" "$1/$f"; done
# shellcheck disable=SC2016
data=()
if [ $# = 2 ]; then
	id=$(grep -o '"dataset_id":"[0-9a-f]*' "$1/manifest.json" | cut -d '"' -f 4)
	srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 bash -ec '
		mkdir -p "${2%/*}"
		exec 9>"$2.lock"
		flock 9
		[ ! -d "$2" ] || exit 0
		rsync -a --delete "$1/" "$2.tmp"
		vt-pack -q --verify -i "$2.tmp"
		mv "$2.tmp" "$2"' copy "$1" "$2/${id:?}" || exit
	data=(-i "$2/$id")
fi
# Since Slurm 22.05, srun does not inherit --cpus-per-task from sbatch.  Without
# --kill-on-bad-exit, srun waits for the other ranks when one has died.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --kill-on-bad-exit=1 --mpi=pmix vt-train -c job.conf -o run "${data[@]}"
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
