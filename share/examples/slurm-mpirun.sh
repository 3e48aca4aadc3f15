#!/bin/bash
# slurm-mpirun.sh: the same as slurm.sh where Open MPI starts the ranks, not
# srun: for a site whose Slurm has no PMIx of the right version.
#
#   vt-train ... --print-config >job.conf
#   sbatch slurm-mpirun.sh
#
# Set the partition, nodes, tasks and cores for your site, as slurm.sh explains.
# "vt-schedule --check" prints the largest number of ranks.
#SBATCH --job-name=tsm
##SBATCH --partition=NAME
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
# "B:" sends USR1 to this script alone; mpirun passes it on to the ranks.
#SBATCH --requeue --open-mode=append --signal=B:USR1@300
# At TERM mpirun would kill the ranks a second later, so it gets USR1 for both.
trap 'kill -USR1 $!' USR1 TERM
# It binds one or two ranks to a core each, all their threads, if not told.
mpirun --bind-to none vt-train -c job.conf -o run &
# A signal ends a wait early; the last one has the status of mpirun.
while kill -0 $! 2>/dev/null; do
	wait $!
done
wait $!
status=$?
if [ $status = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
