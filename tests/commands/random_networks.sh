#!/bin/sh
# Random networks give right numbers: 60 with fixed seeds agree with ref in each task
# and with ref64 as a whole, and give the same bits for 1 to 3 threads. Some of them are
# trained and evaluated by the commands, with the same weights for 1 to 3 ranks, the same
# scores for all threads, and nearly the same for all microbatches. "make
# fuzz-nets" searches for networks that do not.
# tests/run: weight 26
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
built oneDNN || skip_all "built without oneDNN"

if "$BUILD/tests/fuzz-networks" -n 60 -j 2 -r 100 >"$T/out" 2>"$T/err"; then
	ok "60 random networks have no fault"
else
	not_ok "60 random networks have no fault"
	diag "$(cat "$T/err" "$T/out")"
fi
# ran CONFIG: print the networks that ran in this configuration
ran() {
	awk -v config="$1" '$2 ~ /^c[up][du]a?-/ { for (i = 2; i <= NF; i++) if ($i == config) at = i + 1 }
		$2 == "networks" { print $at }' "$T/out"
}
for config in $("$BUILD/tests/fuzz-networks" -c list); do
	# The stand-in checks a third of them.
	check "$config: at least 15 networks are not refused" test "$(ran "$config")" -ge 15
done

# ---- by the commands ----

"$MAKESET" "$T/train" 60 14 40 36 1 flow=2 && "$MAKESET" "$T/val" 5 14 40 36 2 flow=2
export OMP_WAIT_POLICY=passive

# field KEY: print a value from the first lines of the network
field() {
	sed -n "s/^# $1 //p" "$T/net.net"
}
# weights DIR: print the hash of the last weights
weights() {
	md5sum <"$(find "$1" -name '*.safetensors' | LC_ALL=C sort | tail -1)"
}
# train NAME COMMAND...: train the network; print its weights, or the exit status
train() {
	out=$T/$1
	shift
	rm -rf "$out"
	"$@" -q -i "$T/train" -m "$T/net.net" --schedule="$T/s.tsv" ${freeze:+"--freeze=$freeze"} \
		-o "$out" >"$T/said" 2>&1 || {
		echo "status $?"
		return
	}
	weights "$out"
}
# apart FILE FILE: print the largest difference of scores, relative to the largest score
# if that exceeds 1
apart() {
	tail -n +3 "$1" >"$T/a" && tail -n +3 "$2" >"$T/b" || return
	paste "$T/a" "$T/b" | awk '{
			for (i = 3; i <= NF / 2; i++) {
				d = $i - $(NF / 2 + i)
				if (d < 0) d = -d
				if (d > worst) worst = d
				if ($i * $i > most * most) most = $i
			}
		}
		END { if (most < 0) most = -most; print (most > 0 ? worst / (most > 1 ? most : 1) : "none") }'
}
trained=0
for seed in 2 4 10 20 22 38; do
	"$BUILD/tests/fuzz-networks" -p -s "$seed" >"$T/net.net"
	clips=$(field clips) freeze=$(field freeze)
	vt-schedule -f --batch=$((6 * clips)) --frames="$(field frames)" --crop="$(field side)" \
		--bn-size="$clips" --lr=0.01 --epochs=1 --milestones=none -o "$T/s.tsv"
	one=$(train one vt-train -j1)
	case $one in
	status\ 2) continue ;;
	status*)
		not_ok "network $seed is trained"
		diag "$one: $(head -3 "$T/said")"
		continue
		;;
	esac
	trained=$((trained + 1))
	check_same "network $seed: 2 threads give the weights of 1" "$one" "$(train two vt-train -j2)"
	for np in 2 3; do
		if have_mpi; then
			check_same "network $seed: $np ranks give the weights of 1" "$one" \
				"$(train ranks mpirun -np $np "$BUILD/vt-train" -j1)"
		else
			skip "network $seed: $np ranks" "no mpirun, or built without MPI"
		fi
	done
	eval_net() {
		vt-eval -q -k "$T/one" -i "$T/val" --scores "$T/$1" "$2" "$3" >"$T/said" 2>&1
	}
	eval_net s1 -j1 --microbatch=3 && eval_net s2 -j2 --microbatch=3 && eval_net s3 -j3 --microbatch=3 &&
		eval_net m1 -j2 --microbatch=1
	check "network $seed: 2 threads give the scores of 1" cmp "$T/s1" "$T/s2"
	check "network $seed: 3 threads give the scores of 1" cmp "$T/s1" "$T/s3"
	got=$(apart "$T/s1" "$T/m1")
	check "network $seed: microbatches of 1 and 3 give scores within 1e-6 ($got)" \
		awk -v got="$got" 'BEGIN { exit !(got + 0 == got && got <= 1e-6) }'
done
check "at least 3 networks are trained by the commands" test "$trained" -ge 3
plan
