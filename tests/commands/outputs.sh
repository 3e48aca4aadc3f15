#!/bin/sh
# No output of a command replaces an input, another output, or a file that its
# option did not write, whatever the spelling of the name. The same command can be
# given again, and the mode of what it replaces stays. Each option that names a
# file is known as an input or an output. Names that a command chooses follow no
# link, and a pipe under one of them is refused at once.
# tests/run: weight 15
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/set" 8 4 40 32 1 || not_ok "makeset makes a set"
vt-schedule --batch=4 --frames=2 --crop=16 --epochs=1 --milestones=none -o "$T/s.tsv"
cp share/models/tsm_tiny.net "$T/tiny.net"
vt-train -q -i "$T/set" -m "$T/tiny.net" --schedule="$T/s.tsv" -o "$T/run" --device=ref -j1 >"$T/out"
vt-eval -q -k "$T/run" -i "$T/set" --scores="$T/a.tsv" --device=ref >"$T/table"
cp "$T/a.tsv" "$T/b.tsv"
vt-bench profile -m "$T/tiny.net" --rate=10 --shape=2x2x16 >"$T/prof.tsv"
cp share/clusters/summit.tsv "$T/links"
echo "verbose = 0" >"$T/conf"
printf 'a\nb\n' >"$T/classes"
mkdir "$T/folder" "$T/new" "$T/new/dir"
for i in 1 2 3; do tar xOf "$T/set/t-000000.tar" s00000.00000$i.jpg >"$T/folder/$i.jpg"; done
cp -r "$T/folder" "$T/listed"
echo "$T/listed" >"$T/list"
echo precious >"$T/victim"

# run_as STATUS WAY ARGUMENT...: run the command and note if it ends with another
# status.
run_as() {
	want=$1 way=$2
	shift 2
	"$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	[ $got = "$want" ] || echo "$way: exit $got: $(cat "$T/err")"
}
# row INPUTS COMMAND OPTION=NAME ARGUMENT...: check an output of a command that
# reads INPUTS, names in $T.  $force is its -f, or nothing; $others are outputs
# that may stand in the same command; $new is 0 if the option replaces its own
# files without -f, else the exit status of such an attempt.  $ways are links to
# the first input.
row() {
	inputs=$1 c=$2 option=${3%%=*} file=${3#*=}
	shift 3
	echo "$c $option" | tr _ - >>"$T/rows"
	name="$c --$option"
	out=$T/new/$file
	for i in $inputs; do
		cp "$T/$i" "$T/kept"
		ln -s "../../$i" "$T/new/dir/to"
		ln -s dir/to "$T/new/soft.$file"
		ln "$T/$i" "$T/new/hard.$file"
		for way in $ways; do
			run_as 2 "$way link to $i" $c "$@" $force "--$option=$T/new/$way.$file"
			grep -qE -e "--$option: .* is also (an input|a file of the input)" \
				-e "--export: .*(the command itself writes|did not write it)" "$T/err" ||
				echo "$way link to $i: $(cat "$T/err")"
			cmp "$T/kept" "$T/$i"
		done
		ways=soft
		rm "$T/new/"*."$file" "$T/new/dir/to"
	done >"$T/faults" 2>&1
	check_same "$name replaces no input" "" "$(cat "$T/faults")"
	cp "$T/victim" "$out"
	check_exit "$name refuses the file of another" $((new ? new : 2)) $c "$@" "--$option=$out"
	check_says "$name says that it exists" "out.*[:.a-z]* exists"
	check "$name leaves that file alone" cmp "$T/victim" "$out"
	rm "$out"
	ln -s "../$file" "$T/new/dir/$file"
	plain="new/$file new/../new/$file"
	for other in $others; do
		for way in "new/dir/$file" $plain; do
			run_as 2 "$other$way" $c "$@" $force "--$option=$out" "$other$T/$way"
			grep -qE -e "--[a-z-]* and --[a-z-]* are both .*$file" "$T/err" || cat "$T/err"
			[ ! -e "$out" ] || echo "$other$way: written"
		done
		plain=
	done >"$T/faults" 2>&1
	rm "$T/new/dir/$file"
	[ -z "$others" ] || check_same "$name writes no file with another output" "" "$(cat "$T/faults")"
	[ $new != 0 ] || : >"$out"
	check_exit "$name writes" 0 $c "$@" "--$option=$out"
	chmod 600 "$out"
	check_exit "$name replaces its own file" 0 $c "$@" $([ $new = 0 ] || echo "$force") "--$option=$out"
	check_same "$name keeps the mode" 600 "$(stat -c %a "$out")"
	rm "$out"
}
# drawn_row ...: as row, for a picture.
drawn_row() {
	if built cairo; then
		row "$@"
	else
		echo "$2 ${3%=*}" >>"$T/rows"
		skip "$2 --$3" "built without cairo"
	fi
}
vt_train() {
	rm -rf "$T/traced"
	vt-train "$@" >/dev/null
}
force=-f new=0 ways='soft hard'
of_set="-q --device=ref -c $T/conf -k $T/run -i $T/set"
others='--per-class= --matrix='
row "set/t-000000.tar set/manifest.json run/final.safetensors run/latest conf" \
	vt-eval scores=out.tsv $of_set
others=--scores=
row "" vt-eval per-class=out.tsv $of_set
others=--matrix=
row "" vt-eval matrix=out.tsv $of_set
others=--scores=
drawn_row "" vt-eval matrix=out.png $of_set
drawn_row "" vt-eval sheet=out.svg $of_set
new=1 row set/manifest.json vt-eval output=out.tsv $of_set
new=1 row run/log.jsonl vt-eval output=out.tsv $of_set --json
others=--per-class=
row "a.tsv b.tsv" vt-eval scores=out.tsv -q --rescore="$T/a.tsv" "$T/b.tsv"
others=
row run/log.jsonl vt-eval curve=out.tsv -q -k "$T/run"
drawn_row "" vt-eval curve=out.pdf -q -k "$T/run"
of_list="-q -T $T/list $T/folder --classes=$T/classes"
others=--output=
row "folder/1.jpg listed/2.jpg list classes" vt-extract report=out $of_list -o /dev/null
others=--report=
new=1 row listed/2.jpg vt-extract output=out $of_list
others=--plot=
new=2 row conf vt-schedule output=out.png -q -c "$T/conf" --epochs=2
others=
drawn_row s.tsv vt-schedule plot=out.png "$T/s.tsv"
force=
row "s.tsv set/manifest.json" vt_train trace-samples=out -q -c "$T/conf" --device=ref -j1 \
	-i "$T/set" -m "$T/tiny.net" --schedule="$T/s.tsv" -o "$T/traced"
ways=hard
row run/final.safetensors vt-train export=out -q -o "$T/run" --names=tsm
row conf vt-bench tune=out allreduce -c "$T/conf" --max=4K --runs=1 --warmup=0
drawn_row "" vt-bench sheet=out.png loader -i "$T/set" --shape=2x2x16 --runs=1 --warmup=0
drawn_row prof.tsv vt-bench plot=out.svg cluster --profile="$T/prof.tsv" --links="$T/links" \
	--shape=2x2x16 --ranks=8

# ---- the tables ----

for c in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	$c --complete-spec | awk -F '\t' -v c=$c '$2 != "-" { print c, $2, $8, $4, $7 }'
done >"$T/options"
# Folders where names of a list begin, or that hold sets of several runs.
check_same "each option that names a file is an input or an output" "vt-extract root
vt-train root
vt-train cache" "$(awk '($4 ~ /FILE|DIR|NET|RUN|CLUSTER/ || /FILE/) && $3 == "-" { print $1, $2 }' "$T/options" |
	grep -v ' \(init-partial\|names\)$')"
check_same "no input is said to be written" "" \
	"$(awk '$3 == "input" && $5 ~ /^(write|draw|export|save|record|list)$/' "$T/options")"
check_same "each output that is a file was tried" \
	"$(awk '$3 == "output" && $4 != "DIR" { print $1, $2 }' "$T/options" | sort)" "$(sort -u "$T/rows")"

# ---- the others ----

others=
cp -r "$T/set" "$T/again"
vt-extract -q "$T/folder" -o "$T/again/in-000000.tar"
check_exit "vt-pack -f replaces no set that it reads" 2 vt-pack -f -o "$T/again" "$T/again/in-000000.tar"
check_says "vt-pack -f says so" 'in-000000.tar, an operand, is a file of the output, which -f replaces'
check "the set is whole" vt-pack --verify -i "$T/again"
for name in log.jsonl ckpt-0000000002.safetensors latest; do
	check_exit "a trace named $name in the folder of the run" 2 vt-train -q --device=ref -i "$T/set" \
		-m "$T/tiny.net" --schedule="$T/s.tsv" -o "$T/none" --trace-samples="$T/none/$name"
done
check_says "says who writes it" "the command itself writes .*latest, by --output"
for option in data val; do
	cp -r "$T/set" "$T/mine" && ln -s mine "$T/same"
	check_exit "a run in the folder of --$option is refused" 2 vt-train -q --device=ref -j1 -i "$T/set" \
		--$option="$T/mine" -m "$T/tiny.net" --schedule="$T/s.tsv" -o "$T/same"
	check "and changes nothing there" diff -r "$T/set" "$T/mine"
	rm -r "$T/mine" "$T/same"
done
check_exit "standard output is an output" 2 sh -c 'vt-eval -q --rescore="$1" --scores="$2" >"$2"' - "$T/a.tsv" "$T/both"
check_says "the message names standard output" '--scores: .*both is also standard output'
check_exit "/dev/stdout is one on purpose" 0 sh -c 'vt-extract -q "$1" -o /dev/null --report=/dev/stdout >"$2"' \
	- "$T/folder" "$T/report"
check "the report is there" grep -q '"type":"video"' "$T/report"
check_exit "standard input is an input" 2 sh -c 'vt-extract -q -T - -f --report="$1" <"$1"' - "$T/list"
check_says "the message names standard input" '--report: .*list is also an input, by standard input'
ln -s linked.tsv "$T/link.tsv"
check_exit "an output may be a link" 0 vt-eval -q --rescore="$T/a.tsv" --scores="$T/link.tsv"
check "the target of the link is written" test -s "$T/linked.tsv" -a -h "$T/link.tsv"
if have_mpi; then
	cp "$T/victim" "$T/trace.1"
	check_exit "a rank replaces no file of another" 2 mpirun -n 2 vt-train -q --device=ref -j1 -i "$T/set" \
		-m "$T/tiny.net" --schedule="$T/s.tsv" -o "$T/ranks" --trace-samples="$T/trace"
	check "the file is there" cmp "$T/victim" "$T/trace.1"
else
	skip "the trace of a rank" "no mpirun"
fi
long=$(printf '%0251d.tsv' 0)
for i in 1 2; do
	check_exit "a name of 255 bytes can be written, $i" 0 vt-eval -q --rescore="$T/a.tsv" --scores="$T/new/$long"
done
check_same "no temporary file is left" "$long" "$(ls -A "$T/new" | grep -v '^dir$')"
if [ -w /dev/full ]; then
	for c in "vt-eval -q --rescore=$T/a.tsv" \
		"vt-pack -q -o $T/full $T/again/in-000000.tar" "vt-pack --list -i $T/set"; do
		rm -rf "$T/full"
		$c >/dev/full 2>"$T/err"
		check_same "${c%% -*}: a full standard output is told once" 1 "$(grep -c 'standard output: cannot write' "$T/err")"
	done
else
	skip "a full standard output" "no /dev/full"
fi

# ---- names that the commands choose ----

# planted DIR NAME COMMAND...: the command that writes DIR/NAME finds a link to
# another file there, then a pipe.
planted() {
	dir=$1 name=$2
	shift 2
	rm -rf "$T/pl" && mkdir -p "$T/pl/$dir"
	ln -s "$T/victim" "$T/pl/$dir/$name"
	"$@" >"$T/out" 2>"$T/err" </dev/null
	[ "$(cat "$T/victim")" = precious ] || echo "$name: the target of a link was written"
	echo precious >"$T/victim"
	rm -rf "$T/pl" && mkdir -p "$T/pl/$dir"
	mkfifo "$T/pl/$dir/$name"
	timeout -k 1 20 "$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	[ $got != 137 ] && [ $got != 124 ] || echo "$name: waits for a pipe"
	[ $got = 0 ] || grep -q "$name: a .*pipe .*(wanted a regular file)" "$T/err" || cat "$T/err"
}
train="vt-train -q --device=ref -j1 -i $T/set -m $T/tiny.net --schedule=$T/s.tsv --tensorboard"
for name in .vt-train.lock latest log.jsonl config schedule.tsv network.net classes.txt recipe \
	ckpt-0000000002.safetensors final.safetensors; do
	planted run $name $train -o "$T/pl/run"
done >"$T/faults"
check_same "a run follows no link and waits for no pipe" "" "$(cat "$T/faults")"
vt-extract -q "$T/folder" -o "$T/stream"
for name in .vt-pack.lock manifest.json SHARDS.xxh128 classes.txt shard-000000.tar; do
	planted set $name vt-pack -q -f -o "$T/pl/set" "$T/stream"
done >"$T/faults"
check_same "a set follows no link and waits for no pipe" "" "$(cat "$T/faults")"
mkfifo "$T/waits"
sh -c 'echo $$ >"$1/pid"; exec vt-train -q -i "$1/set" -m "$1/tiny.net" --schedule="$1/waits" -o "$1/none"' - "$T" \
	>"$T/out" 2>&1 &
sleep 1
kill -TERM "$(cat "$T/pid")"
( sleep 10; kill -KILL "$(cat "$T/pid")" ) 2>/dev/null &
watch=$!
wait "$(cat "$T/pid")" 2>/dev/null
check_same "the first signal ends the wait for a pipe" 1 "$(grep -c 'waits: cannot read: Interrupted' "$T/out")"
kill $watch 2>/dev/null
plan
