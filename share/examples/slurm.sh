#!/bin/bash
# slurm.sh: a run as a job of Slurm, started by srun.  It queues itself again
# until the run is done:
#
#   vt-train ... --print-config >job.conf
#   sbatch slurm.sh
#
# The script must lie, with job.conf, where all hosts see it.  Fill in what the
# site has: a partition, unless its default is meant (with one # less), and the
# modules or the container with vt, before srun.  The schedule limits the ranks:
# nodes times tasks must not exceed the "ranks at most" that
#
#   vt-schedule --check --time -m NET -i DIR schedule.tsv
#
# prints, with the time that the run takes on this machine.
#SBATCH --job-name=tsm
##SBATCH --partition=NAME
#SBATCH --nodes=4
# Ranks a host: best its GPUs, or its sockets.
#SBATCH --ntasks-per-node=8
# Cores a rank, for its threads and those of its loader.
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
# USR1 goes to every rank, five minutes before the time is over: they save and
# end with 75.  Saving must fit into it; so must one validation.
#SBATCH --requeue --open-mode=append --signal=USR1@300
# srun does not take the cores a rank from sbatch, from Slurm 22.05; without
# --kill-on-bad-exit it waits for the others when one rank has died.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --kill-on-bad-exit=1 --mpi=pmix vt-train -c job.conf -o run
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
