#!/bin/sh
# share/examples: the experiments run, stop and resume, and job scripts requeue
# themselves if and only if a run ends with 75. The scripts pass signals on.
# tests/run: weight 47
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
examples=$PWD/share/examples
unset MAKEFLAGS MFLAGS MAKELEVEL

for f in share/examples/*[!E]; do
	check "README names ${f##*/}" grep -q "^${f##*/} " share/examples/README
done

# ---- the job scripts, with fake commands of Slurm and Open MPI ----

mkdir "$T/bin"
cat >"$T/bin/srun" <<'EOF'
#!/bin/bash
case "$*" in *"flock 9"*)
	while [[ $1 == -* ]]; do shift; done
	exec "$@" ;;
esac
echo "${0##*/} $*" >>calls
trap 'echo got USR1 >>calls; sleep 0.3; exit 75' USR1
[ ! -e wait ] || { : >waiting; for ((i = 0; i < 200; i++)); do sleep 0.05; done; }
exit "$(sed -n "$(grep -c run calls)p" statuses)"
EOF
cp "$T/bin/srun" "$T/bin/mpirun"
printf '#!/bin/sh\necho "scontrol $*" >>calls\n' >"$T/bin/scontrol"
printf '#!/bin/sh\n[ "$1" = 10 ] || exec /bin/sleep "$@"\n' >"$T/bin/sleep"
chmod +x "$T"/bin/*

# with STATUSES SCRIPT [WORD...]: run SCRIPT in a folder of its own. STATUSES
# are the exit statuses of its runs, in order.
with() {
	rm -rf "$T/job"
	mkdir "$T/job"
	echo "$1" | tr ' ' '\n' >"$T/job/statuses"
	shift
	(cd "$T/job" && PATH="$T/bin:$PATH" SLURM_JOB_ID=4711 SLURM_JOB_NUM_NODES=1 bash "$@")
}
# interrupted SIGNAL SCRIPT [WORD...]: run SCRIPT and send it SIGNAL while ranks
# run.
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
	# A signal that arrives before timeout's fork has returned kills timeout
	# itself.
	sleep 0.2
	kill -s "$sig" $!
	wait $!
	got=$?
	cd "$OLDPWD" || exit 2
	return $got
}

for s in slurm slurm-mpirun slurm-pack hosts; do
	check "$s.sh: bash finds no syntax error" bash -n "$examples/$s.sh"
	if command -v shellcheck >/dev/null; then
		check "$s.sh: shellcheck reports nothing" shellcheck "$examples/$s.sh"
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
		check_same "$s.sh: status $status requeues nothing" "" "$(grep scontrol "$T/job/calls")"
	done
	check_exit "$s.sh: 75 is passed on" 75 with 75 "$examples/$s.sh"
	check_same "$s.sh: after 75 the job is requeued once" \
		"scontrol requeue 4711" "$(grep scontrol "$T/job/calls")"
	check "$s.sh: starts vt-train with job.conf" grep -q 'run .*vt-train -c job.conf -o run$' "$T/job/calls"
done

# ---- slurm.sh with a copy on the disk of a node ----

# A slow rsync that leaves a line in copies.
cat >"$T/bin/rsync" <<EOF
#!/bin/bash
echo "\$*" >>"$T/copies"
sleep 0.5
real=$(command -v rsync)
[ -z "\$real" ] || exec "\$real" "\$@"
mkdir -p "\$4" && cp -a "\$3." "\$4"
EOF
chmod +x "$T/bin/rsync"
"$MAKESET" "$T/train" 24 8 40 32 1 || not_ok "a set is made"
copy=$T/disk/$(jq -r .dataset_id "$T/train/manifest.json")
check_exit "slurm.sh: a run on a copy" 0 with 0 "$examples/slurm.sh" "$T/train" "$T/disk"
check "slurm.sh: the copy is the set" diff -r "$T/train" "$copy"
check "slurm.sh: the run reads the copy" grep -q "run .*vt-train -c job.conf -o run -i $copy$" "$T/job/calls"
check_exit "slurm.sh: a second run on the copy" 75 with 75 "$examples/slurm.sh" "$T/train" "$T/disk"
check_same "slurm.sh: one run has made the copy" 1 "$(wc -l <"$T/copies")"
rm -rf "$T/disk" "$T/copies"
mkdir -p "$copy.tmp"
head -c 1000 "$T/train/t-000000.tar" >"$copy.tmp/t-000000.tar"
for i in 1 2; do
	mkdir "$T/job$i"
	echo 0 >"$T/job$i/statuses"
	(cd "$T/job$i" && PATH="$T/bin:$PATH" SLURM_JOB_NUM_NODES=1 bash "$examples/slurm.sh" "$T/train" "$T/disk") &
done
wait
check_same "slurm.sh: two runs at once, after an interruption, share one copy" "1 2" \
	"$(wc -l <"$T/copies") $(cat "$T"/job[12]/calls | grep -c -- "-i $copy$")"
check "slurm.sh: the continued copy is the set" diff -r "$T/train" "$copy"
rm -rf "$T/disk"
printf x | dd of="$T/train/t-000000.tar" bs=1 seek=3000 conv=notrunc 2>/dev/null
check_exit "slurm.sh: a copy that is damaged ends with 4" 4 with 0 "$examples/slurm.sh" "$T/train" "$T/disk"
check "slurm.sh: a damaged copy has no name" test ! -e "$copy"
check "slurm.sh: it is not trained on" test ! -e "$T/job/calls"

for sig in USR1 TERM; do
	check_exit "slurm-mpirun.sh: SIG$sig ends in 75" 75 interrupted $sig "$examples/slurm-mpirun.sh"
	check_same "slurm-mpirun.sh: SIG$sig: mpirun gets SIGUSR1 and the job is requeued" \
		"got USR1,scontrol requeue 4711," "$(grep -v vt-train "$T/job/calls" | tr '\n' ',')"
done

check_exit "hosts.sh: without hosts it ends with 1" 1 with 0 "$examples/hosts.sh"
check_exit "hosts.sh: a run that ends well" 0 with 0 "$examples/hosts.sh" a:2,b:3,c -c job.conf
check "hosts.sh: a run has all ranks of its hosts" \
	grep -q -- '-H a:2,b:3,c -np 6 .* vt-train -c job.conf$' "$T/job/calls"
echo 'node1 slots=2' >"$T/hostfile"
check_exit "hosts.sh: a hostfile" 0 with 0 "$examples/hosts.sh" "$T/hostfile" -c job.conf
check "hosts.sh: a hostfile is passed to mpirun" \
	grep -q -- "mpirun --hostfile $T/hostfile .* vt-train -c job.conf$" "$T/job/calls"
for status in 1 2 4 5 75; do
	check_exit "hosts.sh: status $status is final" $status with $status "$examples/hosts.sh" a b
	check_same "hosts.sh: after status $status there is no other start" 1 \
		"$(grep -c vt-train "$T/job/calls")"
done
check_exit "hosts.sh: it restarts after a lost rank, a lost host and a lost peer" 0 \
	with "137 205 6 0" "$examples/hosts.sh" a:2 -o run
check_same "hosts.sh: it was started four times" 4 "$(grep -c vt-train "$T/job/calls")"
check_exit "hosts.sh: it gives up after TRIES restarts" 6 \
	with "137 6 6" -c "TRIES=1 . $examples/hosts.sh" "$examples/hosts.sh" a:2 -o run
for sig in USR1 TERM; do
	check_exit "hosts.sh: SIG$sig ends in 75" 75 interrupted $sig "$examples/hosts.sh" a:2 -o run
	check "hosts.sh: SIG$sig: mpirun gets SIGUSR1" grep -q 'got USR1' "$T/job/calls"
	check_same "hosts.sh: SIG$sig: there is no other start" 1 "$(grep -c vt-train "$T/job/calls")"
done

if have_mpi && "$MAKESET" "$T/set" 24 8 40 32 1; then
	small_net 8 8 >"$T/net.net"
	stages '0 0 3 0 12 2 16 2 0.01 0 0' >"$T/s.tsv"
	echo 'localhost slots=2' >"$T/hostfile"
	set -- -i "$T/set" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -j 1 -q
	check_exit "hosts.sh: a run of a hostfile" 0 bash "$examples/hosts.sh" "$T/hostfile" "$@" -o "$T/both"
	check "hosts.sh: a run with a hostfile has its ranks" grep -q '"ranks":2' "$T/both/log.jsonl"
	vt-train "$@" -o "$T/alone" >/dev/null
	check "hosts.sh: a run with a hostfile has the weights of one rank" \
		cmp "$T/both/final.safetensors" "$T/alone/final.safetensors"
else
	skip "hosts.sh: a run of a hostfile" "no MPI"
fi

# ---- experiment.mk ----

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
# A file that is not a video is left out.
echo notes >v/rise/notes.txt
echo rise/notes.txt,rise >>train.csv
{ echo path,label; (cd v && printf '%s\n' */*[56].mp4) | sed 's|\(.*\)/.*|&,\1|'; } >test.csv
# experiment OUT [WORD...]: run it with a small shape, one thread each.
before_make=
experiment() {
	out=$1
	shift
	$before_make make -f "$examples/experiment.mk" VIDEOS=v OUT="$out" THREADS=1 SEEDS='1 2' \
		SHAPE='--batch=4 --bn-size=4 --frames=4 --crop=32 --lr=0.005 --epochs=4 --milestones=3' "$@"
}
# state OUT: print checksums of all results that contain no times.
state() {
	(cd "$1" && cksum ./*/final.safetensors ./*/test.tsv ./*.tsv ./*/*.tar | grep -v report)
	cut -f 1-5 "$1/report.tsv"
}
check_exit "experiment.mk: -j2, from lists to a table" 0 experiment whole -j2
check_same "experiment.mk: the report has a line for each setting" \
	"#setting tsm_tiny-constant tsm_tiny-multigrid tsn_tiny-constant tsn_tiny-multigrid " \
	"$(sed 1d whole/report.tsv | cut -f 1 | tr '\n' ' ')"
check_same "experiment.mk: the report is of two runs of four clips" \
	"# 4 clips of 2 classes; chance is 0.500, the commonest class 0.500|2222" \
	"$(head -1 whole/report.tsv)|$(sed 1,2d whole/report.tsv | cut -f 2 | tr -d '\n')"
check_same "experiment.mk: the mean is that of vt-eval's top-1" \
	"$(sed -n 's/^#summary.top1 \([0-9.]*\).*/\1/p' whole/tsm_tiny-constant-[12]/test.tsv | awk '{ s += $1 } END { printf "%.3f", s / 2 }')" \
	"$(sed -n 3p whole/report.tsv | cut -f 3)"
cp "$T/out" log1
before=$(state whole)

# slurm-pack.sh, with a fake sbatch that runs the array's jobs one after the
# other.
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
	check "slurm-pack.sh: $parts parts make the set that one job makes" \
		diff -r -x .vt-pack.lock at_once packed$parts
	check "slurm-pack.sh: $parts parts leave nothing behind" test ! -e packed$parts.parts
done
check_exit "experiment.mk: a finished experiment again" 0 experiment whole
check_same "experiment.mk: a finished experiment again runs no command" "" "$(grep vt- "$T/out")"
touch train.csv
check_exit "experiment.mk: a newer list with the same content" 0 experiment whole
check_same "experiment.mk: a newer list changes no result" "$before" "$(state whole)"
sed 2d train.csv >shorter.csv
check_message "experiment.mk: another list ends with 2" 2 'vt-pack: error: .* differs from what whole/train holds' \
	experiment whole TRAIN=shorter.csv
check_same "experiment.mk: the other list changes no result" "$before" "$(state whole)"
check_exit "experiment.mk: other training settings end with 2" 2 experiment whole TRAINING=--clip-grad=5
check_says "experiment.mk: the message names the settings" "whole/settings: from other settings"
check_exit "experiment.mk: another schedule ends with 2" 2 experiment whole constant=--policy=short
check_says "experiment.mk: the message names the schedule" "whole/constant.tsv: from other settings"
check_exit "experiment.mk: an additional seed" 0 experiment whole SEEDS='1 2 3'
check_same "experiment.mk: only the additional seed is trained" 4 "$(grep -c '^vt-train' "$T/out")"


# Runs that stop themselves, which make calls an error; then resume.
before_make="env PATH=$(wrapper vt-train --stop-after=0.001s)"
check_exit "experiment.mk: runs that are stopped end with 2" 2 experiment stopped
before_make=
check_says "experiment.mk: make prints Error 75" 'final.safetensors\] Error 75'
check_exit "experiment.mk: status of a stopped experiment" 0 experiment stopped status
check "experiment.mk: status shows unfinished runs" grep -q '"unfinished"' "$T/out"
check_exit "experiment.mk: a stopped experiment resumes" 0 experiment stopped -j2
check_same "experiment.mk: a resumed experiment ends with the same results" "$before" "$(state stopped)"

# Interrupt repeatedly, at arbitrary places, by a signal to the whole process
# group, as a terminal does.
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
check_same "experiment.mk: after $stops interruptions, the results are the same" "$before" "$(state parts)"
check "experiment.mk: it was interrupted at least twice" test "$stops" -ge 2
check_exit "experiment.mk: status of a finished experiment" 0 experiment parts status
check_same "experiment.mk: status shows each run as finished" 8 "$(grep -c '"finished"' "$T/out")"

# ---- slurm-pack.sh: parts of several starts ----

(cd v && printf '%s\n' */*.mp4) | awk '{ print $0, /^rise/ }' >videos.txt
printf 'fall\nrise\n' >classes.txt
# job ID ARRAY PARTS [OPTION]...: run a job as Slurm starts it; ARRAY is a task of
# the array, or nothing for the job that joins.
job() {
	task=$1 parts=$2
	shift 2
	env SLURM_JOB_ID=1 ${task:+SLURM_ARRAY_TASK_ID=$task} \
		bash "$examples/slurm-pack.sh" "$parts" videos.txt classes.txt packed "$@"
}
extract="--root=v --short-side=32 -q"
# shellcheck disable=SC2086
{
	job 0 4 $extract
	job 0 2 $extract
	check_exit "slurm-pack.sh: a missing part is not joined" 1 job "" 2
	check_says "slurm-pack.sh: the message names the part" 'slurm-pack.sh: packed.parts/2-[0-9a-f]*/00001.tar: missing'
	job 1 2 --root=v --short-side=40 -q
	check_exit "slurm-pack.sh: parts of different options are not joined" 1 job "" 2
	sed -i '$d' videos.txt
	check_exit "slurm-pack.sh: parts of another list are not joined" 1 job "" 2
	echo none.mp4 1 >>videos.txt
	for i in 0 1; do
		check_exit "slurm-pack.sh: part $i of a changed list, without the videos that are missing" 0 job $i 2 $extract --on-error=skip
	done
	check_exit "slurm-pack.sh: the parts of one division are joined" 0 job "" 2 -q
}
check_same "slurm-pack.sh: the dataset has the videos of the list" 11 "$(vt-pack --list -i packed | grep -vc '^#')"

# ---- transfer.mk ----

{ echo path,label,take; (cd v && printf '%s\n' */*.mp4) | sed 's|\(.*\)/[a-z]*\(.\).*|&,\1,take\2|'; } >all.csv
# transfer OUT [WORD...]: run it with three folds of two takes, two seeds and
# two rates.
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
check_same "transfer.mk: tuning for fold 1 uses neither its test nor its validation videos" "" \
	"$(cat t/test-1.csv t/test-2.csv | grep mp4 | grep -F -f - t/rest-1.csv)"
check_same "transfer.mk: both arms tried each rate" "scratch finetuned " \
	"$(sed 1d t/tune.tsv | cut -f 1 | uniq | tr '\n' ' ')"
for arm in scratch finetuned; do
	check_same "transfer.mk: $arm uses the rate with the best accuracy" \
		"$(grep "^$arm" t/tune.tsv | sort -t "$(printf '\t')" -k 3,3nr -s | head -1 | cut -f 2)" "$(cat t/$arm.lr)"
	check_same "transfer.mk: $arm: the mean is that of the last validations" \
		"$(for r in t/$arm-*-*/log.jsonl; do grep '"validation"' "$r" | tail -1; done |
			sed 's/.*"top1":\([0-9.]*\).*/\1/' | awk '{ s += $1 } END { printf "6 %.3f", s / NR }')" \
		"$(awk -v a=$arm '$1 == a { print $2, $4 }' t/report.tsv)"
done
check_same "transfer.mk: the difference and its standard error are over folds" "same" \
	"$(awk '/^#fold/ { f = 1; next } /^#difference/ { f = 0; d = 1; next }
		f { n++; s += $3 - $2; q += ($3 - $2) ^ 2 }
		d { m = s / n; e = sqrt((q / n - m * m) / (n - 1)); print ($1 - m) ^ 2 < 1e-5 && ($2 - e) ^ 2 < 1e-5 ? "same" : m " " e }' t/report.tsv)"
check "transfer.mk: the curves are drawn" test -s t/curves.png
check "transfer.mk: finetuned runs loaded the weights" grep -q "	loaded	" t/finetuned-1-1/init.tsv
check_exit "transfer.mk: a finished transfer again" 0 transfer t
check_same "transfer.mk: a finished transfer again runs no command" "" "$(grep vt- "$T/out")"
check_exit "transfer.mk: a missing column ends with 2" 2 transfer u GROUP=tape
check_says "transfer.mk: the message shows found and wanted columns" \
	'all.csv:1: found path,label,take, wanted columns path, label, tape'
check_exit "transfer.mk: fewer groups than folds end with 2" 2 transfer w FOLDS='1 2 3 4 5 6 7'
check_says "transfer.mk: the message counts the groups" 'all.csv: found 6 groups, wanted one a fold, 7'

# ---- motions.mk: weights trained on synthetic motion ----

check_exit "motions.mk: makes videos and trains weights" 0 \
	make -f "$examples/motions.mk" MOTIONS="$BUILD/motions" OUT=m TRAIN=2 TEST=1 EPOCHS=2
check_same "motions.mk: there are eight moves of two videos each" "8 16" \
	"$(wc -l <m/train/classes.txt) $(wc -l <m/train.txt)"
check_exit "motions.mk: tsm_r18 starts from the weights" 75 \
	vt-train -q --stop-after=0.001s -i m/train -m tsm_r18 --init=m/run/final.safetensors \
	--schedule=m/schedule.tsv --no-flip -o m/next
check_same "motions.mk: tsm_r18 takes all layers except the one it does not have" \
	"model/neck.bias model/neck.weight" \
	"$(awk -F '\t' '$2 == "new" { print $1 } $2 == "left out" && $3 ~ /^model/ { print $3 }' m/next/init.tsv | LC_ALL=C sort | paste -sd' ')"

# ---- time-to-accuracy.mk ----

# race OUT [WORD...]: run it with two trials and two seeds for each schedule.
race() {
	out=$1
	shift
	make -f "$examples/time-to-accuracy.mk" VIDEOS=v TRAIN=all.csv VAL=all.csv TEST=all.csv OUT="$out" THREADS=1 \
		TRIALS='1 2' SEEDS='1 2' SHAPE='--batch=4 --bn-size=4 --frames=4 --crop=32' TRAINING=--precise-bn=4 \
		fixed1='--lr=0.005 --epochs=3' fixed2='--lr=0.01 --epochs=3' \
		multigrid1='--lr=0.005 --epochs=2' multigrid2='--lr=0.01 --epochs=2' "$@"
}
check_exit "time-to-accuracy.mk: -j2, from lists to a table" 0 race r -j2
check_same "time-to-accuracy.mk: both schedules have the same number of trials" \
	"fixed-1 fixed-2 multigrid-1 multigrid-2 " \
	"$(sed 1d r/tune.tsv | cut -f 1 | tr '\n' ' ')"
check_same "time-to-accuracy.mk: the best trial of fixed is taken" \
	"$(grep ^fixed r/tune.tsv | sort -t "$(printf '\t')" -k 2,2nr -s | head -1 | cut -f 1)" "fixed-$(cat r/fixed.trial)"
check_same "time-to-accuracy.mk: with fewer than 30 steps, each step is validated" "" \
	"$(for r in r/fixed-? r/multigrid-?; do
		[ "$(grep -c '"type":"validation"' "$r/log.jsonl")" = "$(grep -c '"type":"step"' "$r/log.jsonl")" ] || echo "$r"
	done)"
# Compute the table again from the logs, with another program.
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
check_same "time-to-accuracy.mk: times follow from the prices of steps, up to the first of two validations above the goal" \
	"$(for r in r/fixed-1 r/fixed-2 r/multigrid-1 r/multigrid-2; do jq -cs . "$r/log.jsonl"; done | jq -rsf race.jq)" \
	"$(sed '1,/^#run/d' r/report.tsv | awk -F '\t' '{ printf "%s%.0f", t, $3 < 0 ? -1000 : 1000 * $3; t = "\t" } END { print "" }')"
check_same "time-to-accuracy.mk: the ratio of fixed is 1" \
	"1.00" "$(awk '$1 == "fixed" { print $8 }' r/report.tsv)"
check "time-to-accuracy.mk: the curves are drawn" test -s r/curves.png
check_same "time-to-accuracy.mk: the curves use the prices of steps" \
	"$(awk '$1 == "fixed" { printf "%.3f\n", $5 }' r/report.tsv)" \
	"$(cat r/priced/fixed-?/log.jsonl | jq -s 'map(select(.type == "step") | .seconds) | add / 2' | xargs printf '%.3f\n')"
check_exit "time-to-accuracy.mk: a finished race again" 0 race r
check_same "time-to-accuracy.mk: a finished race again runs no command" "" "$(grep vt- "$T/out")"

# ---- batch-size.mk ----

# batches OUT [WORD...]: run it with the batches 4 and 8, two rules and two
# seeds.
batches() {
	out=$1
	shift
	make -f "$examples/batch-size.mk" VIDEOS=v TRAIN=all.csv TEST=all.csv OUT="$out" THREADS=1 RULES='lars unscaled' \
		SEEDS='1 2' BASE=4 EPOCHS=2 WARMUP=1 lars.lr=0.03 SHAPE='--frames=4 --crop=32 --milestones=none' "$@"
}
check_exit "batch-size.mk: -j2, from lists to a table" 0 batches b -j2
check_same "batch-size.mk: batches double up to the size of the list, and only one rule scales the learning rate" \
	"lars 4 0.03 6 2,lars 8 0.06 3 2,unscaled 4 0.03 6 2,unscaled 8 0.03 3 2," \
	"$(awk -F '\t' '!/^#/ { print $1, $2, $3, $4, $9 }' b/report.tsv | tr '\n' ',')"
# Compute the accuracies again from the logs.
check_same "batch-size.mk: mean and standard error are those of the last validations" \
	"$(for x in lars-4 lars-8 unscaled-4 unscaled-8; do
		cat b/$x-1/log.jsonl b/$x-2/log.jsonl | jq -r 'select(.type == "validation") | .top1' |
			awk '{ s += $1; q += NR == 1 ? $1 : -$1 } END { printf "%d %.6f %.6f\n", NR, s / 2, q < 0 ? -q / 2 : q / 2 }'
	done)" \
	"$(awk -F '\t' '!/^#/ { printf "%d %.6f %.6f\n", $9, $7, $8 }' b/report.tsv)"
check "batch-size.mk: the picture is drawn" test -s b/batch-size.png
check_exit "batch-size.mk: a finished measurement again" 0 batches b
check_same "batch-size.mk: a finished measurement again runs no command" "" "$(grep vt- "$T/out")"
check_exit "batch-size.mk: fewer videos than a batch end with 2" 2 batches few BASE=16
check_says "batch-size.mk: the message has the number wanted" 'all.csv: wanted at least 16 videos'
check_exit "batch-size.mk: another learning rate ends with 2" 2 batches b lars.lr=0.01
check_says "batch-size.mk: the message names the schedule" "b/lars-4.tsv: from other settings"

# ---- recipes for large batches, shortened ----

"$MAKESET" "$T/stills" 40 8 40 32 1 || skip_all "no test set"
small_net 8 >"$T/short.net"
# recipe NAME [SETTING]... -- [OPTION]...: run large-NAME.sh on small data.
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
	check "large-$name.sh: bash finds no syntax error" bash -n "$examples/large-$name.sh"
done
if have_mpi; then
	check_exit "large-tsm.sh: 8 clips a rank on 2 ranks" 0 recipe tsm RANKS=2 EPOCHS=5 WARMUP=1 --
	check_same "large-tsm.sh: the schedule has batches of 16 and a rate of 0.0025" \
		"16 0.00125@0..0.0025@1,0.0025" \
		"$(awk -F '\t' '$1 == "0" { print $5, $9 }' "$T/tsm.run.tsv")"
	check "large-tsm.sh: the run ends" test -s "$T/tsm.run/final.safetensors"
	check_exit "large-stills.sh: a batch that grows" 0 recipe stills RANKS=1 IMAGES=4 EPOCHS=3 WARMUP=0.5 --
	check_same "large-stills.sh: it runs on one rank, then on two" "1 2" \
		"$(jq -r 'select(.type == "start") | .ranks' "$T/stills.run/log.jsonl" | xargs)"
	check "large-stills.sh: the run ends" test -s "$T/stills.run/final.safetensors"
	check_same "large-stills.sh: the momentum follows the batch" "0.9 0.95" \
		"$(awk -F '\t' '/^[0-9]/ { print $12 }' "$T/stills.run.tsv" | xargs)"
else
	skip "large-tsm.sh and large-stills.sh" "no MPI"
fi
vt-schedule -q --batch=34816 --frames=1 --lr=30 --lr-policy=power --epochs=90 --warmup-epochs=5 \
	--batch-at=30:69632 --batch-scaling=momentum --bn-size=16 | grep -v '^# ' >"$T/34k.tsv"
check "the unshortened schedule is share/schedules/imagenet_r50_34k_68k.tsv" sh -c \
	"grep -v '^# ' '$examples/../schedules/imagenet_r50_34k_68k.tsv' | cmp - '$T/34k.tsv'"

plan
