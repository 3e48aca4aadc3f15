#!/bin/bash
# slurm-mpirun.sh: slurm.sh with mpirun instead of srun, for a site whose Slurm does
# not have a suitable version of PMIx.
#
#   vt-train ... --print-config >job.conf
#   sbatch slurm-mpirun.sh
#
# Set the partition, nodes, tasks, GPUs and cores for your site, as slurm.sh explains.
# "vt-schedule --check" prints the largest number of ranks.
#SBATCH --job-name=tsm
##SBATCH --partition=NAME
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
##SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
# "B:" sends USR1 only to this script; mpirun forwards it to the ranks.
#SBATCH --requeue --open-mode=append --signal=B:USR1@300
# One second after TERM, mpirun kills the ranks, so send it USR1 for both signals.
trap 'kill -USR1 $!' USR1 TERM
# By default, mpirun binds each of one or two ranks with all its threads to one core.
mpirun --bind-to none vt-train -c job.conf -o run &
# A signal interrupts wait; the last wait returns the status of mpirun.
while kill -0 $! 2>/dev/null; do
	wait $!
done
wait $!
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
