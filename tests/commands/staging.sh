#!/bin/sh
# vt-train --stage trains on verified copies of the datasets: the same weights,
# one copy for all ranks and runs of a host, resumed after a kill. Damaged
# copies, failing commands and full disks end the run and name the shard.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 40 8 40 32 1 && "$MAKESET" "$T/val" 16 8 40 32 2 || skip_all "no test set"
small_net 8 >"$T/net.net"
vt-schedule --batch=20 --frames=2 --crop=16 --bn-size=4 --lr=0.1 --epochs=3 -o "$T/s.tsv" || skip_all "no schedule"

# train DIR [OPTION]...: make a run of six steps.
train() {
	dir=$1
	shift
	on_ranks vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 -q --precise-bn off "$@"
}
same() {
	check "$1: the weights are those of the run without copies" cmp "$T/plain/final.safetensors" "$T/$2/final.safetensors"
}
id() {
	jq -r .dataset_id "$1/manifest.json"
}
# left: print the temporary files in copies.
left() {
	find "$T" -name '*.tmp.*'
}
# Each command of --stage-command writes a line to fetched.
fetch="echo {} >>$T/fetched; cat {dir}/{}"
fetched() {
	sort "$T/fetched" | tr '\n' ' '
	rm -f "$T/fetched"
}

check "a run without copies" train plain
copy=$T/stage/$(id "$T/train")

# ---- copies ----

check "-n with --stage" vt-train -n -q -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --stage "$T/stage"
check "-n copies nothing" test ! -e "$T/stage"
check "a run on copies" train one --stage "$T/stage"
same "copies" one
check_same "the copies have the names of the datasets' identities" "$(printf '%s\n' "$(id "$T/train")" "$(id "$T/val")" | sort)" \
	"$(ls "$T/stage")"
check "the copy is the set, and a lock" sh -c "rm '$copy/.vt-stage.lock' && diff -r '$T/train' '$copy'"
mv "$T/train/t-000000.tar" "$T/aside"
check "complete copies need only the manifest of the set" train two --stage "$T/stage"
same "complete copies" two
check "-n reads complete copies" vt-train -n -q -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" --device ref --stage "$T/stage"
mv "$T/aside" "$T/train/t-000000.tar"

check_exit "a run stops on copies" 75 train moved --stage "$T/stage" --save-steps 1 --stop-after 0.001s
check "it resumes without copies" train moved
same "resumed without copies" moved
check_exit "a run stops without copies" 75 train moved2 --save-steps 1 --stop-after 0.001s
check "it resumes on copies" train moved2 --stage "$T/stage" --stage-command "$fetch"
same "resumed on copies" moved2
check "nothing is fetched twice" test ! -e "$T/fetched"
check "a command ends under a parent that ignores SIGCHLD" timeout 120 env --ignore-signal=CHLD vt-train -i "$T/train" \
	-m "$T/net.net" --schedule "$T/s.tsv" -o "$T/ignored" --device ref -j 1 -q --precise-bn off \
	--stage "$T/stage-ignored" --stage-command "cat {dir}/{}"
check "a command may leave a process" timeout 60 vt-train -i "$T/train" -m "$T/net.net" --schedule "$T/s.tsv" \
	-o "$T/left" --device ref -j 1 -q --precise-bn off --stage "$T/stage-left" \
	--stage-command "cat {dir}/{}; sleep 100 & echo \$! >>$T/left.pids; exit 0"
check "each copy left one" test -s "$T/left.pids"
check_same "none outlives the run" "" "$(xargs -n 1 ps -o args= -p <"$T/left.pids" | grep -v defunct)"
check "a replay needs no copies" vt-train -q --replay "$T/one"

cp -r "$T/train" "$T/other"
sed 's/"generation":1/"generation":2/' "$T/train/manifest.json" >"$T/other/manifest.json"
check_exit "a set with the same samples and another manifest is refused" 1 \
	vt-train -i "$T/other" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -o "$T/no" --stage "$T/stage"
check_says "the message names both" "manifest.json: differs from the manifest of $T/other"
jq -c '.tool = "another version"' "$T/train/manifest.json" >"$T/other/manifest.json"
check "a set that another version of vt-pack wrote uses the same copy" \
	vt-train -q -i "$T/other" -m "$T/net.net" --schedule "$T/s.tsv" --device ref -o "$T/versions" --precise-bn off \
	--stage "$T/stage"

# ---- one copy for a host ----

if [ $mpi = yes ]; then
	np=2
	check "two ranks with --stage-command" train ranks --stage "$T/stage2" --stage-command "$fetch"
	np=1
	same "two ranks" ranks
	check_same "each shard is fetched once" "t-000000.tar t-000000.tar t-000001.tar t-000001.tar " "$(fetched)"
else
	skip "two ranks" "no MPI"
fi
for run in a b c; do
	train "share-$run" --stage "$T/stage3" --stage-command "sleep 0.1; $fetch" >/dev/null &
done
wait
check_same "three runs at once fetch each shard once" "t-000000.tar t-000000.tar t-000001.tar t-000001.tar " "$(fetched)"
for run in a b c; do same "three runs at once" share-$run; done

# ---- kills and stops ----

check_exit "a run is killed while it copies" 137 train killed --stage "$T/stage4" \
	--stage-command "case {} in *1.tar) head -c 9999 {dir}/{}; kill -KILL \$PPID; exit;; esac; $fetch"
check_same "the shard in progress has no name" "t-000000.tar" "$(ls "$T/stage4/$(id "$T/train")")"
rm -f "$T/fetched"
check "the run is started again" train killed --stage "$T/stage4" --stage-command "$fetch"
check_same "finished shards are not fetched again" "t-000000.tar t-000001.tar t-000001.tar " "$(fetched)"
check_same "no temporary files are left" "" "$(left)"
statuses=
for i in 1 2 3 4 5 6; do
	rm -rf "$T/stage-signal"
	status=0
	train signal --stage "$T/stage-signal" --stage-command 'cat {dir}/{}; kill -USR1 $PPID' 2>/dev/null || status=$?
	statuses="$statuses$status "
done
check_same "a signal while a copy is verified ends with 75" "75 75 75 75 75 75 " "$statuses"
check_same "a signal leaves no temporary files" "" "$(left)"
same "started again" killed

train stopped --stage "$T/stage5" --stage-command "echo \$\$ >$T/pid; sleep 60; : {}" >/dev/null 2>"$T/err" &
pid=$!
await test -s "$T/pid"
kill -USR1 "$(run_pid $pid)"
got=0
wait $pid || got=$?
check_same "a signal stops the copying with exit 75" 75 $got
check "the command is killed" sh -c "! kill -0 $(cat "$T/pid") 2>/dev/null"
check_same "no temporary files are left after a signal" "" "$(left)"
check_exit "--status of a run that stopped before its first step" 2 vt-train --status "$T/stopped"

# ---- damage ----

# flip FILE PLACE: change a bit of the byte at PLACE.
flip() {
	byte=$(od -An -tu1 -j "$2" -N1 "$1")
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
size=$(wc -c <"$copy/t-000001.tar")
flip "$copy/t-000001.tar" $((size - 1300))
check "a copy with a damaged footer is copied again" train again --stage "$T/stage"
check "the new copy is intact" cmp "$T/train/t-000001.tar" "$copy/t-000001.tar"
truncate -s 1000 "$copy/t-000000.tar"
check "a truncated copy is copied again" train again2 --stage "$T/stage"
check "the new copy is complete" cmp "$T/train/t-000000.tar" "$copy/t-000000.tar"

cp -r "$T/train" "$T/damaged"
for place in 1000 $((size - 2100)) $((size - 1300)) $((size - 10)); do
	cp "$T/train/t-000001.tar" "$T/damaged"
	flip "$T/damaged/t-000001.tar" $place
	check_exit "damage at $place: exit 4" 4 train no -i "$T/damaged" --stage "$T/stage6"
	check_says "damage at $place: the message names the shard" '/t-000001.tar: .*the copy is removed .vt-pack --verify -i'
	check_same "damage at $place: the copy has no name" "t-000000.tar" "$(ls "$T/stage6/$(id "$T/train")")"
done
check "the intact set continues after its first shard" train mended --stage "$T/stage6" --stage-command "$fetch"
check_same "only the other shards are fetched" "t-000000.tar t-000001.tar t-000001.tar " "$(fetched)"
same "continued" mended

# ---- commands that fail ----

# refused WHAT STATUS REGEX COMMAND: check a run with this --stage-command.
refused() {
	rm -rf "$T/stage7"
	check_exit "$1: exit $2" "$2" train no --stage "$T/stage7" --stage-command "$4"
	check_says "$1: the message" "$3"
	check "$1: no copy is left" test -z "$(left)$(find "$T/stage7" -name '*.tar' 2>/dev/null)"
}
refused "a failing command" 1 'error: t-000000.tar: exit status 3 of the command: "cat .*/train/t-000000.tar; exit 3"' \
	"cat {dir}/{}; exit 3"
refused "a killed command" 1 'error: t-000000.tar: signal 15 of the command' 'kill $$ {}'
refused "a missing command" 1 'error: t-000000.tar: exit status 127 of the command' 'no-such-program {}'
refused "a short output" 4 '/t-000000.tar: only 100 bytes arrived .the manifest says [0-9]*.: the copy is removed$' \
	'head -c 100 {dir}/{}'
refused "an endless output" 4 '/t-000000.tar: more than [0-9]* bytes arrived' 'cat {dir}/{} /dev/zero'
refused "a changed output" 4 '/t-000000.tar: .*the copy is removed$' 'tr a b <{dir}/{}'
refused "a command without the name" 2 'stage-command=.*: no [{][}] for the name of the shard' 'cat x'
mkdir "$T/a;b"
cp -r "$T/train" "$T/a;b/set"
check_exit "a folder that a shell would interpret is refused" 1 train no -i "$T/a;b/set" --stage "$T/stage7" \
	--stage-command 'cat {dir}/{}'
check_says "the message names the character" "a;b/set.*: ';' in this name"
check_exit "--stage-command without --stage: exit 2" 2 train no --stage-command 'cat {}'

# ---- full disks ----

echo x >"$T/file"
check_exit "--stage names a file: exit 1" 1 train no --stage "$T/file"
mkdir "$T/small"
if unshare -rm mount -t tmpfs none "$T/small" 2>/dev/null; then
	size=$(wc -c <"$T/train/t-000000.tar")
	# The first shard fits, the second does not.
	cat >"$T/full" <<-END
		mount -t tmpfs -o size=$((size + 100000)) none "$T/small" || exit 9
		"\$@" --stage "$T/small"
		echo \$? >"$T/status"
		find "$T/small" -name '*.tmp.*' -o -name '*.tar' >"$T/names"
		mount -o remount,size=9m "$T/small" || exit 9
		"\$@" --stage "$T/small" --stage-command "$fetch"
	END
	check_exit "a run continues when a full disk has space" 0 unshare -rm sh "$T/full" \
		vt-train -i "$T/train" --val "$T/val" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/full-run" \
		--seed 7 --device ref -j 1 -q --precise-bn off
	check_same "a full disk ends with 1" 1 "$(cat "$T/status")"
	check_says "a full disk: the message names the shard" '/t-000001.tar: cannot write: No space left'
	check_same "a full disk keeps finished shards only" "$T/small/$(id "$T/train")/t-000000.tar" "$(cat "$T/names")"
	check_same "finished shards are not copied again" "t-000000.tar t-000001.tar t-000001.tar " "$(fetched)"
	same "after a full disk" full-run
else
	skip "a full disk" "no mount namespaces"
fi
plan
