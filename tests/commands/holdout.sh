#!/bin/sh
# vt-train --val=P%: whole recordings of the data validate, the same ones in every
# run; a list may name the groups or the split; sets that share a recording are warned
# of. vt-eval on the run scores what validates.
# tests/run: weight 6
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin

# Twelve videos of two classes, of which two are equal, in four recordings.
i=0
for class in left right; do
	mkdir "$V/$class"
	for name in 20200626_154313_a 20200626_154313_b 20200627_101500_a p q r; do
		i=$((i + 1))
		ffmpeg -v error -f lavfi -i "color=gray:size=48x4$((i % 4)):rate=10:duration=0.$((4 + i % 3))" \
			-vf "noise=all_seed=$i:alls=100" -c:v mpeg4 -q:v 3 "$V/$class/$name.mp4" </dev/null ||
			skip_all "ffmpeg has no mpeg4"
	done
done
cp "$V/left/p.mp4" "$V/right/copy.mp4"
small_net 8 >"$T/net.net"
vt-schedule --batch=4 --frames=3 --crop=24 --bn-size=1 --lr=0.1 --epochs=2 -o "$T/s.tsv" || skip_all "no schedule"
# train DATA DIR [OPTION]...
train() {
	data=$1 dir=$2
	shift 2
	on_ranks vt-train -i "$data" -m "$T/net.net" --schedule "$T/s.tsv" -o "$T/$dir" \
		--seed 7 --device ref -j 1 --precise-bn off "$@" >/dev/null
}
# recording_of KEY [RUN]: print its part and the first key of its recording.
recording_of() {
	awk -v k="$1" '$1 == k { print $2, $3 }' "$T/${2:-run}/split.tsv"
}

check_exit "a fifth of the videos validates" 0 train "$V" run --val=20%
check_says "a note has the numbers" 'run/data: [0-9]* of 13 samples validate, in [0-9]* of 8 recordings$'
check_same "videos of one time are one recording, in all classes" "$(recording_of left/20200626_154313_a)" \
	"$(recording_of right/20200626_154313_b)"
check_same "copies are one recording" "$(recording_of left/p)" "$(recording_of right/copy)"
check "other times and names are others" test "$(recording_of left/q)" != "$(recording_of left/r)"
for class in left right; do
	check "$class: a fifth to a half validates" awk -v c="$class" 'index($1, c "/") == 1 { n++; v += $2 == "val" }
		END { exit !(v >= n / 5 && v <= n / 2) }' "$T/run/split.tsv"
done
check_same "the log counts the samples that train" "$(grep -c '	train	' "$T/run/split.tsv")" \
	"$(jq 'select(.type == "start").samples' "$T/run/log.jsonl")"
check_same "the log counts the samples that validate" "$(grep -c '	val	' "$T/run/split.tsv")" \
	"$(jq -s 'map(select(.type == "validation"))[-1].samples' "$T/run/log.jsonl")"

# ---- the same in every run ----

weights=$(digest run)
check "a run on the packed set with another seed" train "$T/run/data" seed --val=20% --seed=8
check_same "another seed has the same split" "$(cat "$T/run/split.tsv")" "$(cat "$T/seed/split.tsv")"
check "a run on the packed set" train "$T/run/data" packed --val=20%
check_same "the packed set gives the weights of the videos" "$weights" "$(digest packed)"
if have_mpi; then
	for np in 2 3; do
		check "a run on $np ranks" train "$T/run/data" ranks$np --val=20%
		check_same "$np ranks: the weights" "$weights" "$(digest ranks$np)"
	done
	np=1
fi
check "the run is replayed" vt-train -q --replay="$T/run"
check_exit "another part of the data is another run" 2 train "$T/run/data" packed --val=40%
check_exit "without validation, another run, too" 2 train "$T/run/data" packed --val=none

# ---- what validates is scored ----

vt-eval -q -k "$T/run" --device=ref >"$T/scores" 2>/dev/null
check_same "vt-eval on a run scores what validates" "$(awk '$2 == "val" { print $1 }' "$T/run/split.tsv" | LC_ALL=C sort)" \
	"$(grep -v '^#' "$T/scores" | cut -f 1 | LC_ALL=C sort)"
check_same "the loss is that of the last validation" \
	"$(jq -s 'map(select(.type == "validation"))[-1].loss * 1000 | round' "$T/run/log.jsonl")" \
	"$(sed -n 's/^#summary.*	loss \([0-9.]*\).*/\1/p' "$T/scores" | awk '{ printf "%.0f", $1 * 1000 }')"
check "a run without validation" train "$T/run/data" alone
check_exit "it has nothing to score" 2 vt-eval -k "$T/alone" --device=ref
check_says "the message says what is wanted" 'alone: names no packed set to validate on .wanted --data=DIR, or videos'

# ---- lists ----

(cd "$V" && for f in */*.mp4; do echo "$f"; done) | awk -F/ '
	BEGIN { print "path,label,split,who" }
	{ print $0 "," $1 "," (NR % 4 == 0 ? "val" : NR % 9 == 0 ? "test" : "train") "," (NR < 5 || NR > 10 ? "ann" : "p" NR) }' >"$T/split.csv"
sed 's/,split,/,part,/' "$T/split.csv" >"$T/group.csv"
check "a list with a split" train "$T/split.csv" split --root="$V"
check_same "its rows train and validate" "9 3" "$(vt-pack --list -i "$T/split/data" | grep -vc '^#') \
$(vt-pack --list -i "$T/split/val" | grep -vc '^#')"
check_exit "--val beside the split of a list" 2 train "$T/split.csv" refused --root="$V" --val=20%
check_says "the message names the rows" 'split.csv: has rows of the subset val'
check "a list with groups" train "$T/group.csv" group --root="$V" --group=who --val=20%
check_same "a group is a recording" "1" "$(for k in left/20200626_154313_a right/q; do recording_of $k group; done | uniq | wc -l)"
check_same "vt-extract stores the group" ann "$(vt-extract -q --annotations="$T/group.csv" --root="$V" --group=who |
	tar -xOf - left/20200626_154313_a.json | jq -r .group)"
check_exit "--group with a folder" 2 train "$V" refused --group=who --val=20%
check_exit "a list without that column" 1 train "$T/split.csv" refused --root="$V" --group=nobody

# ---- what cannot be divided, and what is suspect ----

for p in 0% 51% x%; do
	check_exit "--val=$p" 2 train "$V" refused --val=$p
done
mkdir "$T/few" "$T/few/a" "$T/few/b" "$T/walk"
cp "$V/left/20200626_154313_a.mp4" "$V/left/20200626_154313_b.mp4" "$T/few/a"
cp "$V/right/20200626_154313_a.mp4" "$T/few/b"
check_exit "one recording" 1 train "$T/few" refused --val=20%
check_says "the message says why" 'few: no class has two recordings'
cp -r "$V/left" "$V/right" "$T/walk"
rm "$T"/walk/*/2* "$T/walk/right/copy.mp4"
for class in left right; do
	mv "$T/walk/$class/p.mp4" "$T/walk/$class/walk_009.mp4"
	mv "$T/walk/$class/q.mp4" "$T/walk/$class/walk_010.mp4"
	mv "$T/walk/$class/r.mp4" "$T/walk/$class/walk_011.mp4"
done
check_exit "successive names" 0 train "$T/walk" walked --val=20%
check_says "are warned of" 'warning: .*/walk_0.. is trained on and .*/walk_0.. validates'
check_exit "a validation set with copies of the training set" 0 train "$T/run/data" both --val="$T/split/val"
check_says "is warned of" 'warning: .* of .*/split/val is of one recording with .*, which is trained on'
plan
