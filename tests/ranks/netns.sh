#!/bin/sh
# Hosts that are network namespaces: each all-reduce algorithm sends the bytes
# of its formula, and a lost host ends the run with a message that names it.
# tests/run: weight 25
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
. tests/tools/hosts
! no_hosts || skip_all "$why"
trap 'hosts_down; rm -rf "$T"' EXIT
trap 'exit 143' TERM INT HUP

# ---- hosts ----

# script COMMANDS: run them under set -e with hosts of their own.
script() {
	sh -euc 'T=$1; . tests/tools/hosts; eval "$2"' - "$T" "$1"
}
check_exit "hosts are made and removed under set -e" 0 script 'hosts_up 2 200mbit; hosts_up 1; hosts_down; echo done'
check_same "no command fails before the end" done "$(cat "$T/out")"
check_exit "a host that cannot be made ends a script under set -e" 1 \
	script 'hosts_up 2 fast; echo done'
check_says "the message has the command" 'tests/tools/hosts: status [0-9]+ of: ip netns exec vt[0-9]+-h1 tc .* rate fast'
check_same "the script ends there" "" "$(cat "$T/out")"

# ---- bytes between hosts ----

# check_sent WHAT WANTED RANKS OPTION...: pass if the first host sends WANTED
# bytes, within 1 %, for a sum of 16 MiB with RANKS ranks a host. About 10 KB of
# that is the start. TCP retransmits when the machine is busy, so one of three
# attempts suffices.
check_sent() {
	what=$1 want=$2 ranks=$3 got=
	shift 3
	for try in 1 2 3; do
		before=$(sent "$net-h1")
		(hosts_run "$ranks" "$BUILD/vt-bench" allreduce --min=16M --max=16M --runs=1 --warmup=0 "$@") >"$T/out" 2>"$T/err" || {
			not_ok "$what"
			diag "$(head -5 "$T/err")"
			return
		}
		last=$(($(sent "$net-h1") - before))
		got="$got $last"
		if [ $((100 * last)) -ge $((99 * want)) ] && [ $((100 * last)) -le $((101 * want)) ]; then
			ok "$what"
			return
		fi
	done
	not_ok "$what"
	diag "sent$got bytes (wanted $want)"
}
S=$((16 << 20))
# columns: hosts, algorithm, ranks a host, bytes that a host sends, option
while read -r n name ranks bytes more; do
	[ "$(echo $hosts | wc -w)" = "$n" ] || hosts_up "$n"
	check_sent "$n hosts of $ranks: $name${more:+ $more} sends $bytes bytes" "$bytes" "$ranks" --algorithm="$name" $more
done <<CASES
2 ring 2 $((S * 3 / 2))
2 torus 2 $S
2 halving 2 $S
2 exact 1 $S
2 exact 2 $S
2 torus 2 $((S / 2)) --comm-dtype=bf16
4 ring 1 $((S * 3 / 2))
4 torus 1 $((S * 3 / 2))
4 halving 2 $((S * 3 / 2))
4 halving 1 $((S * 3 / 4)) --comm-dtype=fp16
CASES
check "the output counts the 4 hosts" grep -q '^# 4 ranks, .* 4 hosts;' "$T/out"

# ---- links ----

# links_fit: pass if both rates of $T/links.tsv are those of 200 Mbit/s: 25 MB/s,
# of which TCP takes some.
links_fit() {
	awk -F'\t' '$1 == "links/network/bandwidth" || $1 == "links/network/total" { n += $5 > 15e6 && $5 < 30e6 }
		END { exit n != 2 }' "$T/links.tsv"
}
# A busy machine delays the ranks, which lowers the rates, so one of three attempts
# suffices.
hosts_up 2 200mbit
for try in 1 2 3; do
	(hosts_run 2 "$BUILD/vt-bench" links --runs=5) >"$T/links.tsv" 2>"$T/err"
	diag "$(grep -E '^links/network/(bandwidth|total)' "$T/links.tsv" | cut -f1,5)"
	! links_fit || break
done
check "vt-bench links: bandwidth and total of a network of 200 Mbit/s" links_fit

# ---- a lost host ----

"$MAKESET" "$T/train" 40 8 40 32 1
small_net 8 >"$T/net.net"
stages '0 0 100000 0 16 2 16 4 0.01 0 0' >"$T/long.tsv"
# ranks: print the processes of vt-train on all hosts.
ranks() {
	for h in $hosts; do ip netns pids "$h"; done | while read -r p; do
		case $(readlink "/proc/$p/exe") in */vt-train) echo "$p" ;; esac
	done
}
# Without its link a host is out of mpirun's reach, too, and mpirun waits for
# ever.
for how in link stop kill; do
	hosts_up 2
	rm -rf "$T/run"
	(hosts_run 1 "$BUILD/vt-train" -q -i "$T/train" -m "$T/net.net" --device ref -j 1 -o "$T/run" \
		--schedule "$T/long.tsv" --log-every 1 --step-timeout 3s >"$T/out" 2>"$T/err") &
	pid=$!
	await grep -q '"type":"step"' "$T/run/log.jsonl"
	last=$(hosts="$net-h2" && ranks)
	case $how in
	link) ip netns exec "$net-h2" ip link set e0 down ;;
	stop) kill -STOP "$last" ;;
	kill) kill -KILL "$last" ;;
	esac
	started=$(date +%s)
	for i in $(seq 300); do
		[ -n "$(ranks)" ] || break
		sleep 0.1
	done
	check_same "$how: every rank ends" "" "$(ranks)"
	diag "$how: after $(($(date +%s) - started)) s, with 3 to wait"
	if [ $how = link ]; then hosts_down; fi
	wait $pid
	status=$?
	case $how in kill) says="rank 1 .*on node $net-h2 exited" ;; *) says="rank 1 on $net-h2 does not answer" ;; esac
	check_says "$how: the message names the lost rank and host" "$says"
	case $how in
	stop) check_same "$how: mpirun ends with 6" 6 $status ;;
	kill) check_same "$how: mpirun ends with 137" 137 $status ;;
	esac
done
plan
