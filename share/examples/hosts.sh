#!/bin/bash
# hosts.sh: a run over several hosts without a batch system, started again when
# a rank or a host is lost:
#
#   bash hosts.sh node1:8,node2:8 -c job.conf -o run
#   bash hosts.sh hostfile -c job.conf -o run
#
# The first word names the hosts and how many ranks each holds, or a file of them
# as mpirun reads it, a line each, "node1 slots=8"; the rest goes to vt-train.
# ssh must reach the hosts without a password, and vt, Open MPI, the data and
# job.conf must be there by the same paths.  A host that is gone can be left out of
# the list: the number of ranks is no part of the result.
#
# Ctrl-C, and the signals USR1 and TERM, save and stop; the same line goes on.
#
#   NET=10.0.0.0/24   the network to use, where hosts have several
#   LIMIT=12h         stop after so long; it also ends a run that hangs because
#                     the network died, for Open MPI may wait for ever
#   TRIES=3           how often to start again
#   VT_ISA=avx2       where the hosts' processors differ: what the oldest has

hosts=${1:?usage: hosts.sh HOST:RANKS,...|HOSTFILE OPTION...}
shift
if [ -f "$hosts" ]; then	# as many ranks as it has slots
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
	# bind-to none: mpirun would bind two ranks to one core each, with all
	# their threads.  btl_tcp_links: over one connection, the two directions
	# wait for each other half of the time (measured at 1 Gbit/s).
	timeout -s USR1 -k 10m "${LIMIT:-0}" mpirun "${where[@]}" --bind-to none \
	    --mca btl_tcp_links 2 \
	    ${NET:+--mca btl_tcp_if_include "$NET" --mca oob_tcp_if_include "$NET"} \
	    ${VT_ISA:+-x VT_ISA} vt-train "$@" &
	# A signal ends a wait early; the last one has the status of mpirun.
	while kill -0 $! 2>/dev/null; do
		wait $!
	done
	wait $!
	status=$?
	# 6, 137 and 205: a rank or a host was lost.  All others are final: done,
	# stopped and saved, wrong use, damage.
	case $status in
	6 | 137 | 205) echo "hosts.sh: a rank was lost (status $status)" >&2 ;;
	*) break ;;
	esac
done
exit "$status"
