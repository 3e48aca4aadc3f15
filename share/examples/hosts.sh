#!/bin/bash
# hosts.sh: run vt-train on several hosts without a batch system, and start it again
# when a rank or a host is lost:
#
#   bash hosts.sh node1:8,node2:8 -c job.conf -o run
#   bash hosts.sh hostfile -c job.conf -o run
#
# The first argument names the hosts with their numbers of ranks, or a hostfile of
# mpirun, with lines such as "node1 slots=8".  With --device=cuda, the ranks of a host
# are its GPUs.  The other arguments go to vt-train.
# ssh must reach the hosts without a password.  vt, Open MPI, the data and job.conf
# must have the same paths on all hosts.  A lost host can be left out of the list,
# because the result does not depend on the number of ranks.
#
# Ctrl-C and the signals USR1 and TERM save and stop the run; the same command
# resumes it.  These variables can be set:
#
#   NET=10.0.0.0/24   the network to use, if hosts have several
#   LIMIT=12h         stop after this time; this also ends a run that hangs because
#                     the network failed, where Open MPI may wait forever
#   TRIES=3           the number of restarts
#   VT_ISA=avx2       the instruction set of the oldest processor, if they differ

hosts=${1:?usage: hosts.sh HOST:RANKS,...|HOSTFILE OPTION...}
shift
if [ -f "$hosts" ]; then	# one rank per slot
	where=(--hostfile "$hosts")
else
	ranks=$(echo "$hosts" | tr , '\n' | awk -F : '{ n += NF > 1 ? $2 : 1 } END { print n }')
	where=(-H "$hosts" -np "$ranks")
fi

stop='' status=75
trap 'stop=yes; kill -USR1 $! 2>/dev/null' USR1 TERM INT
for ((try = 0; try <= ${TRIES:-3}; try++)); do
	[ $try = 0 ] || sleep 10
	[ -z "$stop" ] || break
	# bind-to none: by default, mpirun binds each of one or two ranks with
	# all its threads to one core.  btl_tcp_links: with one connection, the two
	# directions wait for each other half of the time (measured at 1 Gbit/s).
	timeout -s USR1 -k 10m "${LIMIT:-0}" mpirun "${where[@]}" --bind-to none \
	    --mca btl_tcp_links 2 \
	    ${NET:+--mca btl_tcp_if_include "$NET" --mca oob_tcp_if_include "$NET"} \
	    ${VT_ISA:+-x VT_ISA} vt-train "$@" &
	# A signal interrupts wait; the last wait returns the status of mpirun.
	while kill -0 $! 2>/dev/null; do
		wait $!
	done
	wait $!
	status=$?
	# 6, 137 and 205: a rank or a host was lost.  All other statuses are final:
	# done, stopped and saved, wrong use, damage.
	case $status in
	6 | 137 | 205) echo "hosts.sh: a rank was lost (status $status)" >&2 ;;
	*) break ;;
	esac
done
exit "$status"
