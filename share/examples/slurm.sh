#!/bin/bash
# slurm.sh: a run as a job of Slurm, started by srun.  It queues itself again
# until the run is done:
#
#   vt-train ... --print-config >job.conf
#   sbatch slurm.sh
#
# The script must lie, with job.conf, where all hosts see it.  --ntasks-per-node
# is best the GPUs of a host, or its sockets.
#SBATCH --job-name=tsm --nodes=4 --ntasks-per-node=8 --time=12:00:00
# USR1 goes to every rank, five minutes before the time is over: they save and
# end with 75.  Saving must fit into it; so must one validation.
#SBATCH --requeue --open-mode=append --signal=USR1@300
# Without the option, srun waits for the others when one rank has died.
srun --kill-on-bad-exit=1 --mpi=pmix vt-train -c job.conf -o run
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
