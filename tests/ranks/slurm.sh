#!/bin/sh
# The job scripts of share/examples on a real Slurm with two nodes on this
# machine: after the time limit, a preemption and a lost node, the run resumes
# to the weights of one undisturbed rank. It trains on a copy of the dataset. slurm-pack.sh packs a dataset with an
# array of jobs.
# tests/run: weight 130
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
have_mpi || skip_all "no MPI"
[ "$(id -u)" = 0 ] || skip_all "only root may start the daemons of Slurm"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun sbatch scontrol; do
	command -v $program >/dev/null || skip_all "no $program (Debian: slurm-wlm, munge)"
done
unset SLURM_CONF
examples=$PWD/share/examples
host=$(hostname -s)
port=$((20000 + $$ % 20000))

# ---- a private Slurm ----

S=$T/slurm
mkdir -p "$S/state" "$S/spool/n1" "$S/spool/n2" "$S/tmp/n1" "$S/tmp/n2" "$S/munge"
chmod 755 "$T" "$S" "$S/munge"
head -c 128 /dev/urandom >"$S/munge/key"
chmod 400 "$S/munge/key"
# This test starts requeued jobs itself. Without TmpFS the PMIx of the two nodes
# collide.
cat >"$S/slurm.conf" <<CONF
ClusterName=t
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$S/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool/%n
TmpFS=$S/tmp/%n
SlurmctldPidFile=$S/ctld.pid
SlurmdPidFile=$S/%n.pid
SlurmctldLogFile=$S/ctld.log
SlurmdLogFile=$S/%n.log
SlurmctldPort=$port
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=3
ReturnToService=2
JobRequeue=1
MailProg=/bin/true
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=1 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=20
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=9
CONF
echo IgnoreSystemd=yes >"$S/cgroup.conf"
export SLURM_CONF="$S/slurm.conf"

# stepds: print the processes of Slurm that hold files of this test open.
stepds() {
	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe") in */slurmstepd) ;; *) continue ;; esac
		ls -l "$p/fd" 2>/dev/null | grep -q "$S/" && echo "${p#/proc/}"
	done
}
down() {
	if [ -s "$S/ctld.pid" ]; then
		timeout 5 scancel -u root 2>/dev/null
		for i in $(seq 50); do
			[ -n "$(timeout 5 squeue -h 2>/dev/null)" ] || break
			sleep 0.1
		done
	fi
	for f in "$S"/*.pid "$S/munge/pid"; do
		p=$(cat "$f" 2>/dev/null) || continue
		[ -z "$p" ] || kill "$p" 2>/dev/null
		for i in $(seq 50); do
			kill -0 "${p:-0}" 2>/dev/null || break
			sleep 0.1
		done
	done
	for p in $(stepds); do kill -KILL "$p"; done
}
trap 'down; rm -rf "$T"' EXIT

munged --force --key-file="$S/munge/key" --socket="$S/munge/socket" --pid-file="$S/munge/pid" \
	--log-file="$S/munge/log" --seed-file="$S/munge/seed" >"$S/err" 2>&1 || skip_all "munged: $(tail -1 "$S/err")"
slurmctld -f "$SLURM_CONF" >"$S/err" 2>&1 || skip_all "slurmctld: $(tail -1 "$S/err")"
for n in n1 n2; do
	slurmd -f "$SLURM_CONF" -N $n >"$S/err" 2>&1 || skip_all "slurmd: $(tail -1 "$S/err")"
done
# until_ SECONDS COMMAND...: wait until COMMAND succeeds, for up to three times
# SECONDS, because other tests may run.
until_() {
	n=$(($1 * 30))
	shift
	while [ $n -gt 0 ]; do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
		n=$((n - 1))
	done
	diag "gave up: $*"
	diag "$(squeue 2>&1; tail -n 8 "$S/ctld.log" "$T"/slurm-*.out; scontrol show job "$job")"
	return 1
}
idle() {
	[ "$(sinfo -h -p low -o %T%D)" = idle2 ]
}
until_ 20 idle || skip_all "the nodes of Slurm do not come up here"
timeout 20 srun --mpi=pmix -N2 -n2 true 2>"$S/err" || skip_all "srun --mpi=pmix: $(tail -1 "$S/err")"

# reached WHAT SECONDS COMMAND...: check that COMMAND succeeds in time.
reached() {
	what=$1
	shift
	if until_ "$@"; then ok "$what"; else not_ok "$what"; fi
}

# ---- a run that is disturbed ----

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
small_net 8 8 0.3 >"$T/net.net"
# schedule EPOCHS: write a schedule of 12 clips a step, of 40 samples.
schedule() {
	stages "0 0 $1 0 12 2 16 2 0.01 0 0" >"$T/new.tsv"
	mv "$T/new.tsv" "$T/s.tsv"
}
schedule 100000
cd "$T" || exit 2
vt-train -i train -m net.net --schedule s.tsv --device ref -j 1 --save-steps 100 --step-timeout 60s --print-config >job.conf

# asks JOB FORMAT: print squeue's fields for JOB.
asks() {
	squeue -h -j "$1" -o "$2" 2>/dev/null
}
queued() {
	[ "$(asks "$1" %T)" = PENDING ] && [ "$(asks "$1" %r)" = BeginTime ]
}
# steps N: succeed if the run has made N steps since $begun.
steps() {
	[ "$(vt-train --status run 2>/dev/null | jq '.step // 0')" -ge $((begun + $1)) ]
}
begun=0
# Slurm revokes credentials of the second in which a job was requeued, so wait.
start() {
	sleep 2
	scontrol update jobid="$job" StartTime=now
}
goes_on() {
	begun=$(vt-train --status run | jq .step)
	start
	until_ 20 steps 200
}
ends() {
	jq -r 'select(.type == "end") | .status' run/log.jsonl | tail -1
}
# Slurm holds back a job that requeued itself for two minutes, so start it.
finished() {
	queued "$job" && scontrol update jobid="$job" StartTime=now
	[ "$(scontrol show job "$job" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p')" = COMPLETED ]
}
# last WHAT: let the schedule end soon. Check that the run ends, and that one
# rank alone gets the same weights.
last() {
	schedule $(($(vt-train --status run | jq '.epoch | floor') + 20))
	start
	reached "$1: the job ends when the run is finished" 30 finished
	vt-train -c job.conf -o alone -q >/dev/null 2>&1
	check "$1: its weights are those of one undisturbed rank" \
		cmp run/final.safetensors alone/final.safetensors
}

if ! command -v rsync >/dev/null; then
	mkdir bin
	printf '#!/bin/sh\nmkdir -p "$4" && cp -a "$3." "$4"\n' >bin/rsync
	chmod +x bin/rsync
	PATH=$T/bin:$PATH
fi
job=$(sbatch --parsable --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --time=1 --signal=USR1@50 \
	"$examples/slurm.sh" "$T/train" "$T/disk")
reached "slurm.sh: before its time limit it saves and requeues itself" 45 queued "$job"
check "slurm.sh: it trains on a copy of the set" diff -r train "disk/$(jq -r .dataset_id train/manifest.json)"
check_same "slurm.sh: at its time limit the run ended with 75" 75 "$(ends)"
scontrol update jobid="$job" TimeLimit=30
check "slurm.sh: it resumes after its time limit" goes_on
other=$(sbatch --parsable -p high --nodes=2 --ntasks-per-node=1 -o /dev/null --wrap 'sleep 1')
reached "slurm.sh: a job of higher priority takes its nodes" 30 queued "$job"
check_same "slurm.sh: before the preemption the run saved and ended with 75" 75 "$(ends)"
gone() {
	[ -z "$(asks "$other" %T)" ]
}
until_ 20 gone
check "slurm.sh: it resumes after the preemption" goes_on
# Lose the whole node: its slurmd, its slurmstepd and the rank.
for p in /proc/[0-9]*; do
	case $(readlink "$p/exe") in */vt-train) ;; *) continue ;; esac
	tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx 'SLURMD_NODENAME=n2' || continue
	kill -KILL "$(cat "$S/n2.pid")" "$(ps -o ppid= -p "${p#/proc/}" | tr -d ' ')" "${p#/proc/}"
done
scontrol update nodename=n2 state=down reason=lost
reached "slurm.sh: after a node is lost, the job is queued again" 30 queued "$job"
# The node comes back as if its host had restarted.
rm -rf "$S/n2.pid" "$S"/spool/n2/* "$S"/tmp/n2/*
slurmd -f "$SLURM_CONF" -N n2 >"$S/err" 2>&1
until_ 20 idle
last slurm.sh

rm -rf run alone
schedule 100000
job=$(sbatch --parsable --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 "$examples/slurm-mpirun.sh")
begun=0
reached "slurm-mpirun.sh: a job begins" 30 steps 100
scancel --batch --signal=USR1 "$job"
reached "slurm-mpirun.sh: at USR1 it saves and requeues itself" 30 queued "$job"
check_same "slurm-mpirun.sh: at USR1 the run ended with 75" 75 "$(ends)"
last slurm-mpirun.sh

check_same "the log has one start entry with 2 ranks for the two nodes" 2 \
	"$(jq -r 'select(.type == "start") | .ranks' run/log.jsonl | tail -1)"

# ---- an array that packs ----

if built FFmpeg; then
	"$BUILD/motions" videos 1 1 3 >/dev/null
	find videos/train -type f | LC_ALL=C sort | awk -F/ '{ if (!($3 in n)) n[$3] = c++; print $0, n[$3] }' >list.txt
	cut -d/ -f3 list.txt | uniq >classes.txt
	vt-extract -q --annotations=list.txt --classes=classes.txt --short-side=64 | vt-pack -q -o at_once >/dev/null
	join=$(CPUS=1 bash "$examples/slurm-pack.sh" 3 list.txt classes.txt packed --short-side=64 | sed -n 's/.* //p')
	packed() {
		[ "$(scontrol show job "$join" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p')" = COMPLETED ]
	}
	reached "slurm-pack.sh: an array of three jobs and the job that joins them complete" 60 packed
	check "slurm-pack.sh: the set equals that of one pipe" diff -r -x .vt-pack.lock at_once packed
	check "slurm-pack.sh: no parts are left" test ! -e packed.parts
else
	skip "slurm-pack.sh" "no FFmpeg in this build"
fi
cd "$OLDPWD" || exit 2
down
check_same "no Slurm daemon is left" "" "$(stepds; for f in "$S"/*.pid; do cat "$f" 2>/dev/null; done)"
plan
