#!/bin/sh
# A phase of a multigrid schedule preserves the weights: all carry over where
# the shape changes, no gamma is reset, and gamma and beta do not decay. The
# last gamma of a block starts at 0 if the network says so, also in layers that
# --init initializes, and in no other.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 40 8 40 32 1 || skip_all "no test set"
# net BLOCKS: print a network of residual blocks whose branch ends in a gamma of
# zeros.
net() {
	cat <<-NET
	def block
	conv   \$name.conv1 in=\$in out=8 k=3,3
	bn     \$name.bn1   in=\$name.conv1
	relu   \$name.relu1 in=\$name.bn1
	conv   \$name.conv2 in=\$name.relu1 out=8 k=3,3
	bn     \$name.bn2   in=\$name.conv2 gamma=0
	add    \$name.sum   in=\$name.bn2,\$in
	relu   \$name       in=\$name.sum
	end
	input  x out=3
	conv   conv1 in=x out=8 k=3,3 s=2,2
	bn     bn1   in=conv1
	relu   b0    in=bn1
	NET
	for b in $(seq "$1"); do echo "block b$b in=b$((b - 1))"; done
	cat <<-NET
	avgpool pool in=b$1 over=hw
	linear fc in=pool out=classes std=0.1
	avgpool scores in=fc over=t
	NET
}
net 1 >"$T/one.net"
net 2 >"$T/two.net"

# Three phases with every kind of cell: short cycles of two and of three,
# interleaved groups, and different batches, clip lengths and crops. LR0 to LR2
# stand for rates.
cells='0 0 1 0 16 2 16 4 LR0 0 0
0 0 1 1 8 4 16 2/4 LR0 0 0
1 1 2 0 12 2 20 3/12 LR1 0 0
1 1 2 1 8 4 20 4 LR1 0 0
1 1 2 2 8 2 24 4 LR1 0 0
2 2 3 0 8 4 24 4 LR2 0 0'
# rates FILE LR0 LR1 LR2: write the schedule with these rates to FILE.
rates() {
	to=$1
	stages "$(echo "$cells" | sed "s/LR0/$2/; s/LR1/$3/; s/LR2/$4/")" >"$to"
}
rates "$T/still.tsv" 0 0 0
rates "$T/first.tsv" 0.1 0 0
rates "$T/last.tsv" 0.1 0.1 0.1

train() {
	dir=$1 net=$2 schedule=$3
	shift 3
	vt-train -i "$T/train" -m "$T/$net.net" --schedule "$T/$schedule.tsv" -o "$T/$dir" --seed 7 -q -j 1 \
		--save-steps 1 --keep 99 "$@"
}
# values FILE TENSOR: print its fp32 values, each once.
values() {
	at=$(($(od -An -tu8 -N8 "$1") + 8))
	set -- "$1" $(header "$1" | jq -r --arg t "$2" '.[$t].data_offsets | "\(.[0]) \(.[1] - .[0])"')
	[ $# = 3 ] || return
	od -An -tf4 -w4 -v -j $((at + $2)) -N "$3" "$1" | sort -u | xargs
}
# hashes FILE REGEX: print the hashes of the tensors whose names match.
hashes() {
	header "$1" | jq -r --arg r "$2" '.__metadata__["vt.tensors"] | fromjson | to_entries[] |
		select(.key | test($r)) | "\(.key) \(.value)"'
}
ckpt() {
	printf '%s/ckpt-%010d.safetensors' "$T/$1" "$2"
}
affine='^model/.*bn[0-9]\.(weight|bias)$'

# ---- initial values ----

for device in ref cpu; do
	check "$device: a run whose rate is 0" train "$device-still" two still --device $device
	final=$T/$device-still/final.safetensors
	check_same "$device: the last gamma of a block starts at 0" \
		"0 0" "$(values "$final" model/b1.bn2.weight) $(values "$final" model/b2.bn2.weight)"
	check_same "$device: other gammas start at 1" \
		"1 1 1" "$(for n in bn1 b1.bn1 b2.bn1; do values "$final" model/$n.weight; done | xargs)"
	check_same "$device: betas start at 0" "0 0 0 0 0" "$(header "$final" |
		jq -r 'keys[] | select(test("^model/.*bn[0-9].bias$"))' | while read -r n; do values "$final" "$n"; done | xargs)"
done

# ---- no phase resets gamma ----

check "a run that learns in its first phase only" train first one first --device ref --weight-decay 0.1
last=$(vt-train --status "$T/first" | jq .step)
check "in the first phase gammas move away from 0" \
	[ "$(values "$T/first/final.safetensors" model/b1.bn2.weight)" != 0 ]
# A phase is one epoch of 40 clips. A step belongs to the phase of its first
# clip.
border=1
while [ "$(header "$(ckpt first $border)" | jq -r '.__metadata__["vt.samples"]')" -lt 40 ]; do border=$((border + 1)); done
was=$(hashes "$(ckpt first "$border")" '^model/')
same=0
for k in $(seq $((border + 1)) "$last"); do
	[ "$(hashes "$(ckpt first "$k")" '^model/')" = "$was" ] && same=$((same + 1))
done
check "there are steps after the first phase" [ "$last" -gt $((border + 6)) ]
check_same "all weights carry over into every other cell" $((last - border)) $same

# ---- layers that --init initializes ----

from=$T/first/final.safetensors
check "--init from a network with one block less" \
	train init two still --device ref --init "$from" --init-partial
final=$T/init/final.safetensors
check_same "gammas and betas in the file are loaded" \
	"$(hashes "$from" "$affine")" "$(hashes "$final" "$affine" | grep -v '/b2\.')"
check_same "a last gamma that is not in the file starts at 0" 0 "$(values "$final" model/b2.bn2.weight)"
check_same "other gammas that are not in the file start at 1" 1 "$(values "$final" model/b2.bn1.weight)"

# ---- gamma and beta do not decay ----

for device in ref cpu; do
	check "$device: a run without weight decay" train "$device-light" one last --device $device --weight-decay 0
	last=$(vt-train --status "$T/$device-light" | jq .step)
	stay=0 decay=0
	for k in $(seq $((last - 1))); do
		rm -rf "$T/heavy"
		mkdir "$T/heavy"
		cp "$(ckpt "$device-light" "$k")" "$T/heavy"
		train heavy one last --device $device --weight-decay 0.5 --override weight-decay --stop-after 0.001s >/dev/null 2>&1
		light=$(ckpt "$device-light" $((k + 1))) heavy=$(ckpt heavy $((k + 1)))
		[ "$(hashes "$light" "$affine")" = "$(hashes "$heavy" "$affine")" ] && stay=$((stay + 1))
		[ "$(hashes "$light" '^model/.*conv')" != "$(hashes "$heavy" '^model/.*conv')" ] && decay=$((decay + 1))
	done
	check_same "$device: convolutions decay in every step of every cell" $((last - 1)) $decay
	check_same "$device: gammas and betas decay in no step" $((last - 1)) $stay
done

plan
