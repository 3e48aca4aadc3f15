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
# Since Slurm 22.05, srun does not inherit --cpus-per-task from sbatch.  Without
# --kill-on-bad-exit, srun waits for the other ranks when one has died.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --kill-on-bad-exit=1 --mpi=pmix vt-train -c job.conf -o run
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
