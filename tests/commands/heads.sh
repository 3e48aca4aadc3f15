#!/bin/sh
# Networks with several heads and streams: the effects of loss lines, and the
# data that a network needs.
# tests/run: weight 7
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

"$MAKESET" "$T/train" 24 4 40 32 1 || skip_all "no test set"
small_net 8 16 >"$T/plain.net"
{ cat "$T/plain.net"; echo 'loss main in=scores'; } >"$T/said.net"
# with WEIGHT [ATTRIBUTE]: print the network with an auxiliary head of WEIGHT.
# ATTRIBUTE belongs to the main loss.
with() {
	cat "$T/plain.net"
	echo 'avgpool early in=relu1 over=thw'
	echo 'linear early.fc in=early out=classes std=0.1'
	echo "loss main in=scores $2"
	echo "loss auxiliary in=early.fc weight=$1"
}
with 0 >"$T/idle.net"
with 0.5 >"$T/aux.net"
with 0.5 smooth=0.2 >"$T/smooth.net"
with 0.5 kind=sigmoid >"$T/sigmoid.net"
vt-schedule --batch=12 --frames=4 --crop=28 --bn-size=4 --epochs=3 --milestones=none -o "$T/s.tsv"

# train NET DIR [OPTION]...
train() {
	net=$1 dir=$2
	shift 2
	vt-train -i "$T/train" -m "$T/$net.net" --schedule "$T/s.tsv" -o "$T/$dir" --seed 7 --log-every 1 "$@" >/dev/null
}
# tensors DIR: print the hash of each tensor except those of the auxiliary head.
tensors() {
	file=$T/$1/final.safetensors
	tail -c +9 "$file" | head -c "$(od -An -tu8 -N8 "$file" | tr -d ' ')" |
		jq -r '.__metadata__["vt.tensors"]' | jq -S 'with_entries(select(.key | test("early") | not))'
}
# steps DIR FIELD: print FIELD of every step.
steps() {
	jq -r "select(.type == \"step\").$2" "$T/$1/log.jsonl"
}

devices=ref
! built oneDNN || devices="ref cpu"
for d in $devices; do
	train plain "plain-$d" --device "$d" -qq && train said "said-$d" --device "$d" -qq &&
		train idle "idle-$d" --device "$d" -qq
	check_same "$d: all three runs end" "0" "$?"
	check "$d: the digest includes the weights of all layers" \
		sh -c "[ $(tensors "plain-$d" | grep -c 'conv\|fc') -ge 4 ]"
	check_same "$d: an explicit loss line changes no weight" "$(tensors "plain-$d")" "$(tensors "said-$d")"
	check_same "$d: an explicit loss line changes no loss in the log" \
		"$(steps "plain-$d" loss)" "$(steps "said-$d" loss)"
	check_same "$d: an auxiliary head of weight 0 changes no bit" "$(tensors "plain-$d")" "$(tensors "idle-$d")"
	check_same "$d: an auxiliary head of weight 0 changes no loss" \
		"$(steps "plain-$d" loss)" "$(steps "idle-$d" loss)"
	check_same "$d: an auxiliary head of weight 0 changes no top-1" \
		"$(steps "plain-$d" top1)" "$(steps "idle-$d" top1)"
	for n in aux smooth sigmoid; do
		check "$d: a run of $n.net" train $n "$n-$d" --device "$d"
		check "$d: $n.net trains other weights" test "$(tensors "plain-$d")" != "$(tensors "$n-$d")"
	done
	if [ $mpi = yes ]; then
		check "$d: three ranks train two heads" \
			mpirun -np 3 vt-train -i "$T/train" -m "$T/sigmoid.net" --schedule "$T/s.tsv" \
			-o "$T/sigmoid3-$d" --seed 7 -qq --log-every 1 --device "$d"
		check "$d: three ranks end with the same weights" \
			cmp "$T/sigmoid-$d/final.safetensors" "$T/sigmoid3-$d/final.safetensors"
		check_same "$d: three ranks log the same losses" \
			"$(steps "sigmoid-$d" loss)" "$(steps "sigmoid3-$d" loss)"
	else
		skip "$d: three ranks" "no mpirun"
	fi
	check_exit "$d: vt-eval scores a network of two heads" 0 \
		vt-eval -k "$T/idle-$d" -i "$T/train" --device "$d" -q \
		--scores "$T/idle-$d.scores"
	check_exit "$d: vt-eval scores the network of one head" 0 \
		vt-eval -k "$T/plain-$d" -i "$T/train" --device "$d" -q \
		--scores "$T/plain-$d.scores"
	check_same "$d: scores come from the main head" "$(tail -n +2 "$T/plain-$d.scores" | cut -f1-6)" \
		"$(tail -n +2 "$T/idle-$d.scores" | cut -f1-6)"
	check_exit "$d: vt-eval scores a head of kind sigmoid" 0 \
		vt-eval -k "$T/sigmoid-$d" -i "$T/train" --device "$d" -q \
		--scores "$T/sigmoid.scores"
	check_same "$d: its loss is the binary cross-entropy of its scores" \
		"$(awk '/^#summary/ { for (i = 2; i < NF; i++) if ($i == "loss") print substr($(i + 1), 1, 7) }' "$T/out")" \
		"$(awk -F '\t' 'NR > 2 {
			for (c = 3; c < NF - 2; c++)
				sum += (log(1 + exp($c)) - (c == $2 + 3) * $c) / (NF - 5)
			n++
		}
		END { printf "%.6f\n", sum / n }' "$T/sigmoid.scores" | cut -c1-7)"
	check_same "$d: its probabilities are the sigmoid of its scores" "" "$(awk -F '\t' '
		/^#/ || FNR == NR && FNR < 3 { next }
		NR == FNR {
			best = $3
			for (c = 4; c < NF - 2; c++)
				if ($c > best)
					best = $c
			p[$1] = 1 / (1 + exp(-best))
			next
		}
		($8 - p[$1]) ^ 2 > 1e-14' "$T/sigmoid.scores" "$T/out")"
done

# ---- streams and targets that the data lack ----

sed 's/^input .*/input x stream=flow out=10 mean=0.5 std=0.25/' "$T/plain.net" >"$T/flow.net"
{
	echo 'input y stream=flow out=2'
	sed 's/^conv  *conv2.*/conv flow1 in=y out=8 k=3,3 s=2,2\nadd both in=shift1,flow1\nconv conv2 in=both out=16 k=3,3/' \
		"$T/plain.net"
} >"$T/two.net"
sed 's/^loss .*/loss main in=scores target=verb/' "$T/said.net" >"$T/verb.net"
check_exit "a network that reads flow ends with 2" 2 train flow no -q
check_says "a network that reads flow: the message shows the wanted stream and the available ones" \
	'flow reads the stream flow of 10 channels, which .*train does not have \(it has rgb of 3\): vt-extract --flow=tvl1 VIDEO... . vt-pack -o SET stores flow, and --data=SET reads it$'
check_same "a network that reads flow: the message is one line" 1 "$(wc -l <"$T/err")"
check_exit "a network that reads flow and rgb ends with 2" 2 train two no
check_says "a network that reads flow and rgb: the message names the missing stream of two" \
	'two reads the stream flow of 2 channels'
check_exit "a network with another target ends with 2" 2 train verb no
check_says "a network with another target: the message shows the wanted target and the available one" \
	'verb has a loss of the target verb, which .*train does not have \(it has class, one a clip\)$'
sed 's/^input .*/input x out=1 mean=0.5/' "$T/plain.net" >"$T/grey.net"
check_exit "a network that reads rgb of 1 channel ends with 2" 2 train grey no
check_says "a network that reads rgb of 1 channel: the message shows the wanted number of channels" \
	'grey reads the stream rgb of 1 channel, which'
check "a refused run makes no folder" test ! -e "$T/no"
check_exit "vt-bench with data that lack the stream ends with 2" 2 \
	vt-bench step -i "$T/train" -m "$T/flow.net" --shape 2x4x28
check_says "vt-bench: the message names the missing stream" 'flow reads the stream flow of 10 channels'
for d in $devices; do
	check_exit "$d: synthetic clips of vt-bench have every stream" 0 \
		vt-bench step -m "$T/two.net" --shape 2x4x28 --device "$d" \
		--num-classes 5 --verify --runs 1
	check_exit "$d: synthetic clips of vt-bench have every target" 0 \
		vt-bench step -m "$T/verb.net" --shape 2x4x28 --device "$d" --num-classes 5 --runs 1
done
plan
