#!/bin/sh
# share/examples: the experiment runs, stops and goes on; the scripts queue
# themselves again when and only when a run says 75, and pass signals on.
# tests/run: weight 25
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
examples=$PWD/share/examples
unset MAKEFLAGS MFLAGS MAKELEVEL

for f in share/examples/*[!E]; do
	check "README names ${f##*/}" grep -q "^${f##*/} " share/examples/README
done

# ---- the scripts, with commands of Slurm and Open MPI that are made up ----

mkdir "$T/bin"
cat >"$T/bin/srun" <<'EOF'
#!/bin/bash
echo "${0##*/} $*" >>calls
trap 'echo got USR1 >>calls; sleep 0.3; exit 75' USR1
[ ! -e wait ] || { : >waiting; for ((i = 0; i < 200; i++)); do sleep 0.05; done; }
exit "$(sed -n "$(grep -c run calls)p" statuses)"
EOF
cp "$T/bin/srun" "$T/bin/mpirun"
printf '#!/bin/sh\necho "scontrol $*" >>calls\n' >"$T/bin/scontrol"
printf '#!/bin/sh\n[ "$1" = 10 ] || exec /bin/sleep "$@"\n' >"$T/bin/sleep"
chmod +x "$T"/bin/*

# with STATUSES SCRIPT [WORD...]: run it in a folder of its own
with() {
	rm -rf "$T/job"
	mkdir "$T/job"
	echo "$1" | tr ' ' '\n' >"$T/job/statuses"
	shift
	(cd "$T/job" && PATH="$T/bin:$PATH" SLURM_JOB_ID=4711 bash "$@")
}
# interrupted SIGNAL SCRIPT [WORD...]: the same, and a signal while ranks run
interrupted() {
	sig=$1
	shift
	rm -rf "$T/job"
	mkdir "$T/job"
	: >"$T/job/wait"
	cd "$T/job" || exit 2
	PATH="$T/bin:$PATH" SLURM_JOB_ID=4711 bash "$@" &
	i=0
	while [ ! -e waiting ] && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	# timeout itself dies of a signal that comes before its fork has returned.
	sleep 0.2
	kill -s "$sig" $!
	wait $!
	got=$?
	cd "$OLDPWD" || exit 2
	return $got
}

for s in slurm slurm-mpirun slurm-pack hosts; do
	check "$s.sh: no slips" bash -n "$examples/$s.sh"
	if command -v shellcheck >/dev/null; then
		check "$s.sh: nor does shellcheck see any" shellcheck "$examples/$s.sh"
	fi
done
for s in slurm slurm-mpirun; do
	# The manual shows the scripts without their comments.
	check_same "$s.sh is what vt-ranks(7) shows" \
		"$(grep -v '^# \|^#$' "$examples/$s.sh")" \
		"$(sed -n '/^#!\/bin\/bash/,/^\.Ed/{/^\.Ed/!p;}' man/vt-ranks.7 | awk -v n=$s '
			/^#!/ { i++ } i == (n == "slurm" ? 1 : 2)')"
	for status in 0 1 2 4 5 6 137; do
		check_exit "$s.sh: status $status is passed on" $status with $status "$examples/$s.sh"
		check_same "$s.sh: and nothing is queued" "" "$(grep scontrol "$T/job/calls")"
	done
	check_exit "$s.sh: 75 is passed on" 75 with 75 "$examples/$s.sh"
	check_same "$s.sh: and the job is queued, once" "scontrol requeue 4711" "$(grep scontrol "$T/job/calls")"
	check "$s.sh: starts vt-train with job.conf" grep -q 'run .*vt-train -c job.conf -o run$' "$T/job/calls"
done
for sig in USR1 TERM; do
	check_exit "slurm-mpirun.sh: SIG$sig ends in 75" 75 interrupted $sig "$examples/slurm-mpirun.sh"
	check_same "slurm-mpirun.sh: mpirun gets SIGUSR1, and the job is queued" \
		"got USR1,scontrol requeue 4711," "$(grep -v vt-train "$T/job/calls" | tr '\n' ',')"
done

check_exit "hosts.sh: without hosts" 1 with 0 "$examples/hosts.sh"
check_exit "hosts.sh: a run that ends well" 0 with 0 "$examples/hosts.sh" a:2,b:3,c -c job.conf
check "hosts.sh: with all ranks" grep -q -- '-H a:2,b:3,c -np 6 .* vt-train -c job.conf$' "$T/job/calls"
echo 'node1 slots=2' >"$T/hostfile"
check_exit "hosts.sh: a hostfile" 0 with 0 "$examples/hosts.sh" "$T/hostfile" -c job.conf
check "hosts.sh: is mpirun's" grep -q -- "mpirun --hostfile $T/hostfile .* vt-train -c job.conf$" "$T/job/calls"
for status in 1 2 4 5 75; do
	check_exit "hosts.sh: status $status is final" $status with $status "$examples/hosts.sh" a b
	check_same "hosts.sh: and there was one start" 1 "$(grep -c vt-train "$T/job/calls")"
done
check_exit "hosts.sh: a rank, a host and a peer are lost" 0 with "137 205 6 0" "$examples/hosts.sh" a:2 -o run
check_same "hosts.sh: it was started four times" 4 "$(grep -c vt-train "$T/job/calls")"
check_exit "hosts.sh: gives up" 6 with "137 6 6" -c "TRIES=1 . $examples/hosts.sh" "$examples/hosts.sh" a:2 -o run
for sig in USR1 TERM; do
	check_exit "hosts.sh: SIG$sig ends in 75" 75 interrupted $sig "$examples/hosts.sh" a:2 -o run
	check "hosts.sh: mpirun gets SIGUSR1" grep -q 'got USR1' "$T/job/calls"
	check_same "hosts.sh: and is not started again" 1 "$(grep -c vt-train "$T/job/calls")"
done

if have_mpi && "$MAKESET" "$T/set" 24 8 40 32 1; then
	small_net 8 8 >"$T/net.net"
	stages '0 0 3 0 12 2 16 2 0.01 0 0' >"$T/s.tsv"
	echo 'localhost slots=2' >"$T/hostfile"
	set -- -i "$T/set" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 -q
	check_exit "hosts.sh: a run of a hostfile" 0 bash "$examples/hosts.sh" "$T/hostfile" "$@" -o "$T/both"
	check "hosts.sh: has its ranks" grep -q '"ranks":2' "$T/both/log.jsonl"
	vt-train "$@" -o "$T/alone" >/dev/null
	check "hosts.sh: and the weights of one" cmp "$T/both/final.safetensors" "$T/alone/final.safetensors"
else
	skip "hosts.sh: a run of a hostfile" "no MPI"
fi

# ---- the experiment ----

if ! command -v ffmpeg >/dev/null || ! vt-extract --version | grep -q '^Built with:.*FFmpeg.*cairo'; then
	skip "experiment.mk" "needs ffmpeg, and vt built with it and with cairo"
	plan
	exit 0
fi
cd "$T" || exit 2
mkdir -p v/rise v/fall
for i in 1 2 3 4 5 6; do
	for class in rise fall; do
		y="10*t+$i"
		[ $class = rise ] || y="40-10*t-$i"
		ffmpeg -v error -nostdin -f lavfi -i color=c=gray:s=64x48:r=8:d=2 -f lavfi -i color=c=white:s=12x8:r=8:d=2 \
			-filter_complex "overlay=x=20:y=$y:eval=frame" -pix_fmt yuv420p v/$class/$class$i.mp4
	done
done
{ echo path,label; (cd v && printf '%s\n' */*[1-4].mp4) | sed 's|\(.*\)/.*|&,\1|'; } >train.csv
{ echo path,label; (cd v && printf '%s\n' */*[56].mp4) | sed 's|\(.*\)/.*|&,\1|'; } >test.csv
# experiment OUT [WORD...]: with a small shape, one thread each
before_make=
experiment() {
	out=$1
	shift
	$before_make make -f "$examples/experiment.mk" VIDEOS=v OUT="$out" THREADS=1 SEEDS='1 2' \
		SHAPE='--batch=4 --bn-size=4 --frames=4 --crop=32 --lr=0.005 --epochs=12 --milestones=9' "$@"
}
# state OUT: what is made, without times
state() {
	(cd "$1" && cksum ./*/final.safetensors ./*/test.tsv ./*.tsv ./*/*.tar | grep -v report)
	cut -f 1-5 "$1/report.tsv"
}
check_exit "experiment.mk: -j2, from lists to a table" 0 experiment whole -j2
check_same "experiment.mk: a line for each setting" \
	"#setting tsm_tiny-constant tsm_tiny-multigrid tsn_tiny-constant tsn_tiny-multigrid " \
	"$(sed 1d whole/report.tsv | cut -f 1 | tr '\n' ' ')"
check_same "experiment.mk: over two runs of four clips" "# 4 clips of 2 classes; chance is 0.500, the commonest class 0.500|2222" \
	"$(head -1 whole/report.tsv)|$(sed 1,2d whole/report.tsv | cut -f 2 | tr -d '\n')"
check_same "experiment.mk: the mean is that of vt-eval" \
	"$(sed -n 's/^#summary.top1 \([0-9.]*\).*/\1/p' whole/tsm_tiny-constant-[12]/test.tsv | awk '{ s += $1 } END { printf "%.3f", s / 2 }')" \
	"$(sed -n 3p whole/report.tsv | cut -f 3)"
cp "$T/out" log1
before=$(state whole)

# The array that packs, with a queue that runs its jobs one after the other.
cat >bin/sbatch <<'EOF'
#!/bin/bash
while [[ $1 == --* ]]; do
	case $1 in --array=0-*) last=${1#*-} last=${last##*-} ;; esac
	shift
done
for ((i = 0; i <= ${last:-0}; i++)); do
	SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=1 SLURM_ARRAY_TASK_ID=${last:+$i} bash "$@" >&2 || exit
done
echo 7
EOF
chmod +x bin/sbatch
{ cd v && printf '%s\n' */*.mp4; cd ..; } | sed 's|^rise.*|& 0|; s|^fall.*|& 1|' >list.txt
printf 'rise\nfall\n' >classes.txt
vt-extract -q --annotations=list.txt --root=v --classes=classes.txt --short-side=32 | vt-pack -q -o at_once >/dev/null
for parts in 1 3 16; do
	check_exit "slurm-pack.sh: $parts parts of 12 videos" 0 env PATH="$T/bin:$PATH" bash "$examples/slurm-pack.sh" $parts list.txt \
		classes.txt packed$parts --root=v --short-side=32
	check "slurm-pack.sh: make the set that one job makes" diff -r -x .vt-pack.lock at_once packed$parts
	check "slurm-pack.sh: and leave nothing behind" test ! -e packed$parts.parts
done
check_exit "experiment.mk: again, there is nothing to do" 0 experiment whole
check_same "experiment.mk: and nothing is done" "" "$(grep vt- "$T/out")"
touch train.csv
check_exit "experiment.mk: a list that is newer and the same" 0 experiment whole
check_same "experiment.mk: changes nothing" "$before" "$(state whole)"
sed 2d train.csv >shorter.csv
check_exit "experiment.mk: another list" 2 experiment whole TRAIN=shorter.csv
check_says "experiment.mk: is refused by vt-pack" 'vt-pack: error: .* differs from what whole/train holds'
check_same "experiment.mk: and changes nothing" "$before" "$(state whole)"
check_exit "experiment.mk: other settings" 2 experiment whole TRAINING=--clip-grad=5
check_says "experiment.mk: are not mixed with these" "whole/settings: from other settings"
check_exit "experiment.mk: another schedule" 2 experiment whole constant=--policy=short
check_says "experiment.mk: is not mixed in either" "whole/constant.tsv: from other settings"
check_exit "experiment.mk: one more seed" 0 experiment whole SEEDS='1 2 3'
check_same "experiment.mk: trains the new runs alone" 4 "$(grep -c '^vt-train' "$T/out")"


# A run that stops itself, which make calls an error, and the rest of the way.
before_make='env VT_STOP_AFTER=0.001s'
check_exit "experiment.mk: a run that is stopped" 2 experiment stopped
before_make=
check_says "experiment.mk: is Error 75" 'final.safetensors\] Error 75'
check_exit "experiment.mk: status" 0 experiment stopped status
check "experiment.mk: status has unfinished runs" grep -q '"unfinished"' "$T/out"
check_exit "experiment.mk: the rest of the way" 0 experiment stopped -j2
check_same "experiment.mk: ends at the same" "$before" "$(state stopped)"

# Interrupted again and again, at any place, by a signal to the whole group of
# processes, as a terminal sends it.
cat >interrupted.sh <<'EOF'
set -m
signal=$1 after=$2
shift 2
"$@" >log 2>&1 &
sleep "$after"
kill -s "$signal" -- -$! 2>/dev/null
wait $!
EOF
stops=0
for after in 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 1 2 4; do
	sig=INT
	[ $((stops % 2)) = 0 ] || sig=TERM
	before_make="bash interrupted.sh $sig $after"
	experiment parts -j2 2>/dev/null && break
	stops=$((stops + 1))
done
before_make=
check_exit "experiment.mk: interrupted and run again" 0 experiment parts -j2
check_same "experiment.mk: has made the same, after $stops interruptions" "$before" "$(state parts)"
check "experiment.mk: there were some" test "$stops" -ge 2
check_exit "experiment.mk: status" 0 experiment parts status
check_same "experiment.mk: status names each run" 8 "$(grep -c '"finished"' "$T/out")"

# ---- the transfer ----

{ echo path,label,take; (cd v && printf '%s\n' */*.mp4) | sed 's|\(.*\)/[a-z]*\(.\).*|&,\1,take\2|'; } >all.csv
# transfer OUT [WORD...]: three folds of two takes, two seeds, two rates
transfer() {
	out=$1
	shift
	make -f "$examples/transfer.mk" VIDEOS=v LIST=all.csv GROUP=take NET=tsm_tiny OUT="$out" THREADS=1 \
		INIT=whole/tsm_tiny-constant-1/final.safetensors FOLDS='1 2 3' SEEDS='1 2' RATES='0.002 0.005' TUNED=1 \
		SHAPE='--batch=4 --bn-size=4 --frames=4 --crop=32 --epochs=4 --milestones=3' "$@"
}
check_exit "transfer.mk: -j2, from a list to a table" 0 transfer t -j2
check_same "transfer.mk: no take is in two folds, and each fold has four videos" "4 4 4 " \
	"$(sed 1d t/folds.csv | sed 's/.*\(.\).mp4,[a-z]*,/\1 /' | sort | uniq -c | awk '
		{ n[$3] += $1; if (seen[$2]++) n[$3] = "twice" } END { for (k = 1; k <= 3; k++) printf "%s ", n[k] }')"
check_same "transfer.mk: what tunes for a fold has neither seen it nor what it validates on" "" \
	"$(cat t/test-1.csv t/test-2.csv | grep mp4 | grep -F -f - t/rest-1.csv)"
check_same "transfer.mk: each rate was tried by both" "scratch finetuned " \
	"$(sed 1d t/tune.tsv | cut -f 1 | uniq | tr '\n' ' ')"
for arm in scratch finetuned; do
	check_same "transfer.mk: $arm takes the rate that did best" \
		"$(grep "^$arm" t/tune.tsv | sort -t "$(printf '\t')" -k 3,3nr -s | head -1 | cut -f 2)" "$(cat t/$arm.lr)"
	check_same "transfer.mk: $arm: the mean is that of the last validations" \
		"$(for r in t/$arm-*-*/log.jsonl; do grep '"validation"' "$r" | tail -1; done |
			sed 's/.*"top1":\([0-9.]*\).*/\1/' | awk '{ s += $1 } END { printf "6 %.3f", s / NR }')" \
		"$(awk -v a=$arm '$1 == a { print $2, $4 }' t/report.tsv)"
done
check_same "transfer.mk: the difference and its standard error over folds" "same" \
	"$(awk '/^#fold/ { f = 1; next } /^#difference/ { f = 0; d = 1; next }
		f { n++; s += $3 - $2; q += ($3 - $2) ^ 2 }
		d { m = s / n; e = sqrt((q / n - m * m) / (n - 1)); print ($1 - m) ^ 2 < 1e-5 && ($2 - e) ^ 2 < 1e-5 ? "same" : m " " e }' t/report.tsv)"
check "transfer.mk: draws the curves" test -s t/curves.png
check "transfer.mk: began from the weights" grep -q "	loaded	" t/finetuned-1-1/init.tsv
check_exit "transfer.mk: again, there is nothing to do" 0 transfer t
check_same "transfer.mk: and nothing is done" "" "$(grep vt- "$T/out")"
check_exit "transfer.mk: a column that there is not" 2 transfer u GROUP=tape
check_says "transfer.mk: is named, and what was found" 'all.csv:1: found path,label,take, wanted columns path, label, tape'
check_exit "transfer.mk: too few groups" 2 transfer w FOLDS='1 2 3 4 5 6 7'
check_says "transfer.mk: are counted" 'all.csv: found 6 groups, wanted one a fold, 7'

# ---- weights that know motion ----

check_exit "motions.mk: from nothing to weights" 0 make -f "$examples/motions.mk" MOTIONS="$BUILD/motions" OUT=m TRAIN=2 TEST=1 EPOCHS=2
check_same "motions.mk: eight moves, two videos each" "8 16" \
	"$(wc -l <m/train/classes.txt) $(wc -l <m/train.txt)"
check_exit "motions.mk: tsm_r18 begins from them" 0 vt-train -q -i m/train -m tsm_r18 --init=m/run/final.safetensors \
	--schedule=m/schedule.tsv --no-flip -o m/next
check_same "motions.mk: all of its layers are taken but the one it has more" "model/neck.bias model/neck.weight" \
	"$(awk -F '\t' '$2 == "new" { print $1 } $2 == "left out" && $3 ~ /^model/ { print $3 }' m/next/init.tsv | LC_ALL=C sort | paste -sd' ')"

# ---- the time to an accuracy ----

# race OUT [WORD...]: two trials each, two seeds
race() {
	out=$1
	shift
	make -f "$examples/time-to-accuracy.mk" VIDEOS=v TRAIN=all.csv VAL=all.csv TEST=all.csv OUT="$out" THREADS=1 \
		TRIALS='1 2' SEEDS='1 2' SHAPE='--batch=4 --bn-size=4 --frames=4 --crop=32' TRAINING=--precise-bn=4 \
		fixed1='--lr=0.005 --epochs=3' fixed2='--lr=0.01 --epochs=3' \
		multigrid1='--lr=0.005 --epochs=2' multigrid2='--lr=0.01 --epochs=2' "$@"
}
check_exit "time-to-accuracy.mk: -j2, from lists to a table" 0 race r -j2
check_same "time-to-accuracy.mk: as many trials for one schedule as for the other" "fixed-1 fixed-2 multigrid-1 multigrid-2 " \
	"$(sed 1d r/tune.tsv | cut -f 1 | tr '\n' ' ')"
check_same "time-to-accuracy.mk: the best trial of the first is taken" \
	"$(grep ^fixed r/tune.tsv | sort -t "$(printf '\t')" -k 2,2nr -s | head -1 | cut -f 1)" "fixed-$(cat r/fixed.trial)"
check_same "time-to-accuracy.mk: fewer than 30 steps are looked at one by one" "" \
	"$(for r in r/fixed-? r/multigrid-?; do
		[ "$(grep -c '"type":"validation"' "$r/log.jsonl")" = "$(grep -c '"type":"step"' "$r/log.jsonl")" ] || echo "$r"
	done)"
# The table again, from the logs and by another program.
cat >race.jq <<'EOF'
def shape: "\(.batch)x\(.frames)x\(.crop)";
([.[][] | select(.type == "step")] | group_by(shape) |
	map({key: (.[0] | shape), value: (map(.seconds) | sort | .[((length + 9) / 10 | floor) - 1])}) | from_entries) as $price |
map(reduce .[] as $l ({t: 0, looks: []};
	if $l.type == "step" then .t += $price[$l | shape]
	elif $l.type == "validation" then .looks += [[.t, $l.top1]] else . end) | .looks) as $runs |
($runs[:2] | map(last[1])) as $ends | (($ends | add) / 2) as $mean |
($mean - (($ends | map((. - $mean) * (. - $mean)) | add) / 2 | sqrt) - 1e-9) as $goal |
$runs | map(. as $r | [range(length) | select($r[.][1] >= $goal and ($r[. + 1] // $r[.])[1] >= $goal) | $r[.][0]] | first // -1) |
map(. * 1000 | round) | @tsv
EOF
check_same "time-to-accuracy.mk: times are those of the steps' prices, to the first of two looks" \
	"$(for r in r/fixed-1 r/fixed-2 r/multigrid-1 r/multigrid-2; do jq -cs . "$r/log.jsonl"; done | jq -rsf race.jq)" \
	"$(sed '1,/^#run/d' r/report.tsv | awk -F '\t' '{ printf "%s%.0f", t, $3 < 0 ? -1000 : 1000 * $3; t = "\t" } END { print "" }')"
check_same "time-to-accuracy.mk: the first schedule's ratio is 1" "1.00" "$(awk '$1 == "fixed" { print $8 }' r/report.tsv)"
check "time-to-accuracy.mk: draws the curves" test -s r/curves.png
check_same "time-to-accuracy.mk: over the same prices" "$(awk '$1 == "fixed" { printf "%.3f\n", $5 }' r/report.tsv)" \
	"$(cat r/priced/fixed-?/log.jsonl | jq -s 'map(select(.type == "step") | .seconds) | add / 2' | xargs printf '%.3f\n')"
check_exit "time-to-accuracy.mk: again, there is nothing to do" 0 race r
check_same "time-to-accuracy.mk: and nothing is done" "" "$(grep vt- "$T/out")"

# ---- the recipes of large batches, in a short form ----

"$MAKESET" "$T/stills" 40 8 40 32 1 || skip_all "no test set"
small_net 8 >"$T/short.net"
# recipe NAME [SETTING]... -- [OPTION]...
recipe() {
	name=$1
	shift
	settings=
	while [ "$1" != -- ]; do settings="$settings $1"; shift; done
	shift
	# shellcheck disable=SC2086
	(cd "$T" && env DATA=stills VAL=stills RUN="$name.run" MODEL="$T/short.net" CROP=32 $settings \
		bash "$examples/large-$name.sh" --device=ref -q "$@")
}
for name in tsm stills; do
	check "large-$name.sh: no slips" bash -n "$examples/large-$name.sh"
done
if have_mpi; then
	check_exit "8 clips a rank on 2 ranks" 0 recipe tsm RANKS=2 EPOCHS=5 WARMUP=1 --
	check_same "make batches of 16 at 0.0025" "16 0.00125@0..0.0025@1,0.0025" \
		"$(awk -F '\t' '$1 == "0" { print $5, $9 }' "$T/tsm.run.tsv")"
	check "that are trained to the end" test -s "$T/tsm.run/final.safetensors"
	check_exit "a batch that grows" 0 recipe stills RANKS=1 IMAGES=4 EPOCHS=3 WARMUP=0.5 --
	check_same "on one rank, and then on two" "1 2" \
		"$(jq -r 'select(.type == "start") | .ranks' "$T/stills.run/log.jsonl" | xargs)"
	check "is trained to the end" test -s "$T/stills.run/final.safetensors"
	check_same "with the momentum that follows" "0.9 0.95" \
		"$(awk -F '\t' '/^[0-9]/ { print $12 }' "$T/stills.run.tsv" | xargs)"
else
	skip "8 clips a rank, a batch that grows" "no MPI"
fi
vt-schedule -q --batch=34816 --frames=1 --lr=30 --lr-policy=power --epochs=90 --warmup-epochs=5 \
	--batch-at=30:69632 --batch-scaling=momentum --bn-size=16 | grep -v '^# ' >"$T/34k.tsv"
check "the whole form is share/schedules/imagenet_r50_34k_68k.tsv" sh -c \
	"grep -v '^# ' '$examples/../schedules/imagenet_r50_34k_68k.tsv' | cmp - '$T/34k.tsv'"

plan
