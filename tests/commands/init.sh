#!/bin/sh
# Runs that begin from weights of a file, and files of weights for others: what
# is taken, what is new, what stays frozen; the same bits on ranks and after a
# stop.
# tests/run: weight 18
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
dump=$BUILD/tests/tools/weightdump

"$MAKESET" "$T/train" 24 6 40 32 1 && "$MAKESET" "$T/five" 24 6 40 32 2 classes=5 &&
	"$MAKESET" "$T/named" 24 6 40 32 2 letter=107 || skip_all "no test set"
stages '0 0 2 0 8 2 16 4 0.01 0 0' >"$T/s2.tsv"
stages '0 0 1 0 8 2 16 4 0.01 0 0' >"$T/s1.tsv"
stages '0 0 1 0 8 2 16 4 1e-30 0 0' >"$T/still.tsv"
options="-i $T/train -m tsm_tiny --schedule=$T/s2.tsv --device=ref"

# train DIR OPTION...: a run
train() {
	dir=$1
	shift
	# shellcheck disable=SC2086
	timeout -k 5 120 vt-train $options -o "$T/$dir" "$@" >/dev/null
}
# tensors DIR: a line for each tensor of a run, by TSM's names: its name and the hash
# of its numbers
tensors() {
	vt-train -q --export="$T/tensors" --names=tsm --output="$T/$1" && "$dump" "$T/tensors" | cut -f1,4 | grep -v num_batches
}
# changed A B: names of the tensors that are not the same in two lists
changed() {
	join "$1" "$2" | awk '$2 != $3 { print $1 }'
}
# fates DIR FATE: parameters of the report
fates() {
	awk -F'\t' -v f="$2" '$2 == f { print $1 }' "$T/$1/init.tsv"
}

check_exit "a run to begin from" 0 train first
tensors first | sort >"$T/first.list"
check "its tensors are seen" test "$(wc -l <"$T/first.list")" -eq 77
check_exit "its weights for others" 0 vt-train --export="$T/w.safetensors" --names=tsm --output="$T/first"
check_says "are counted" 'w.safetensors: 92 tensors, names of tsm, step 6'
check "no footer is in the file" sh -c "! grep -q vt.footer '$T/w.safetensors'"

# ---- what is taken ----

check_exit "a run that begins from it, with all but the classifier frozen" 0 \
	train frozen --init="$T/w.safetensors" --freeze=backbone
check_says "says what became of it" \
	'w.safetensors: safetensors, names of tsm: 77 of 77 parameters loaded, 0 reshaped, 0 initialized; 100.0 % of the backbone'
tensors frozen | sort >"$T/frozen.list"
check_same "only the classifier has changed" "new_fc.bias new_fc.weight" "$(changed "$T/first.list" "$T/frozen.list" | xargs)"
check_same "the report lists them all" 77 "$(fates frozen loaded | wc -l)"
check "the run's config names the file" grep -q "^init = $T/w.safetensors" "$T/frozen/config"
check "and what is frozen" grep -q '^freeze = backbone' "$T/frozen/config"
check "the checkpoint, too" sh -c "grep -a -q '\"vt.init\":\"[0-9a-f]* tsm w.safetensors\"' '$T/frozen/final.safetensors'"
check_exit "from a checkpoint of vt" 0 train own --init="$T/first/final.safetensors" --freeze=backbone
tensors own | sort >"$T/own.list"
check_same "it is the same" "" "$(changed "$T/frozen.list" "$T/own.list")"
check_same "and its momentum is not a weight" "a state of training" \
	"$(awk -F'\t' '$3 ~ /optim/ { print $4 }' "$T/own/init.tsv" | sort -u)"

# Other classes: a new head, as the seed makes it.
for set in five named; do
	options="-i $T/$set -m tsm_tiny --schedule=$T/still.tsv --device=ref --weight-decay=0"
	check_exit "$set: other classes" 0 train $set --init="$T/w.safetensors" --freeze=backbone
	check_says "the classifier is initialized, with the reason" \
		'initialized: fc.weight \(other classes\), fc.bias \(other classes\)'
	check_same "those names only" "fc.bias fc.weight" "$(fates $set new | sort | xargs)"
	check_same "and what belonged there is left out" "new_fc.bias new_fc.weight" \
		"$(awk -F'\t' '$2 == "left out" && $4 != "a counter" { print $3 }' "$T/$set/init.tsv" | sort | xargs)"
	tensors $set | sort >"$T/$set.list"
	train $set.plain --freeze=backbone
	tensors $set.plain | sort >"$T/$set.plain.list"
	check_same "the backbone is the file's" "" "$(changed "$T/first.list" "$T/$set.list" | grep -v new_fc)"
	check_same "the new weights are those of the seed" "$(grep '^new_fc.weight' "$T/$set.plain.list" | md5sum)" \
		"$(grep '^new_fc.weight' "$T/$set.list" | md5sum)"
done

# ---- what is refused ----

options="-i $T/train --schedule=$T/s2.tsv --device=ref"
check_exit "weights of another network" 1 train no -m tsn_r18 --init="$T/w.safetensors"
check_says "are refused, with the way out" 'are in it \([0-9]+ %\), less than half: they seem to be weights of another network \(--init-partial takes them\)'
check "and nothing is touched" test ! -e "$T/no"
small_net 8 >"$T/net.net"
check_exit "unless few are enough" 0 train few -m "$T/net.net" --init="$T/w.safetensors" --init-partial
options="-i $T/train -m tsm_tiny --schedule=$T/s2.tsv --device=ref"
check_exit "--init and --resume=FILE" 2 train no --init="$T/w.safetensors" --resume="$T/first/final.safetensors"
check_says "are apart" 'a run begins from weights or continues a checkpoint \(wanted one of them\)'
check_exit "--init of a run that is there" 2 train first --init="$T/w.safetensors"
check_says "is refused" 'the run is there already, and did not begin from weights'
check_exit "the same command goes on" 0 train frozen --init="$T/w.safetensors" --freeze=backbone
check_says "from its checkpoint" 'not loaded again: the run began from it and resumes from its checkpoint'
cp "$T/w.safetensors" "$T/kept"
rm "$T/w.safetensors"
check_exit "when the file is gone, too" 0 train frozen --init="$T/w.safetensors" --freeze=backbone
check_exit "but not by another name" 2 train frozen --init="$T/gone" --freeze=backbone
check_says "that is not there" 'gone: the run is there already, and began from another file, w.safetensors'
mv "$T/kept" "$T/w.safetensors"
check_exit "another file does not" 2 train frozen --init="$T/first/final.safetensors" --freeze=backbone
check_says "and is named" 'began from another file, w.safetensors'
check_exit "nor does another freeze" 2 train frozen --init="$T/w.safetensors" --freeze=layer1.0.conv1
check_says "as any setting" '--freeze|freeze was'
# arena OPTION...: the bytes of activations that a run would have
arena() {
	# shellcheck disable=SC2086
	vt-train -n $options -o "$T/no" "$@" | sed -n 's/^0.*	//p'
}
check "what is frozen takes less memory, as the plan says" test "$(arena --freeze=backbone)" -lt "$(arena)"
check_exit "nothing to freeze" 2 train no --freeze='layer9.*'
check_says "is said" "tsm_tiny has no operator of this name"
check_exit "all frozen" 2 train no --freeze='*'
check_says "leaves nothing to train" 'nothing is left to train'
head -c 5000 "$T/w.safetensors" >"$T/cut"
check_exit "a file that is cut off" 4 train no --init="$T/cut"
check_exit "one that is not there" 1 train no --init="$T/nowhere"
check "nothing was begun" test ! -e "$T/no"

# ---- a dry run ----

# look OPTION...: what a run with these options would be
look() {
	# shellcheck disable=SC2086
	vt-train -n $options "$@"
}
options="-i $T/train --schedule=$T/s2.tsv --device=ref"
check_exit "a dry run" 0 look -m tsm_tiny --init="$T/w.safetensors" -v
check_says "reads the weights" 'names of tsm: 77 of 77 parameters loaded'
sed -n '/^#parameter/,/^-/p' "$T/out" | grep '	' | grep -v '^-' >"$T/table"
grep -v '^-' "$T/frozen/init.tsv" >"$T/want"
check "-v lists them as the run would" cmp "$T/want" "$T/table"
check "and the plan is there" grep -q "^# network .*tsm_tiny" "$T/out"
check_exit "of another network" 1 look -m tsn_r18 --init="$T/w.safetensors"
check_says "is refused as the run is" 'less than half: they seem to be weights of another network'
check_same "and there is no plan" "" "$(cat "$T/out")"
check_exit "of weights that are cut off" 4 look -m tsm_tiny --init="$T/cut"
check_exit "in a folder that is not there" 0 look -m tsm_tiny --init="$T/w.safetensors" --output="$T/no"
check "leaves none" test ! -e "$T/no"
check_exit "of a run that did not begin from weights" 2 look -m tsm_tiny --init="$T/w.safetensors" --output="$T/first"
check_exit "of one that did" 0 look -m tsm_tiny --init="$T/w.safetensors" --output="$T/frozen" --freeze=backbone
check_says "goes on" 'resumes from its checkpoint'
options="-i $T/train -m tsm_tiny --schedule=$T/s2.tsv --device=ref"

# ---- the same bits ----

both="--init=$T/w.safetensors --freeze=layer1.* --freeze=partial-bn"
set -f
# shellcheck disable=SC2086
check_exit "parts that are frozen" 0 train whole $both
# shellcheck disable=SC2086
check_exit "the first half of it" 0 train halves --schedule="$T/s1.tsv" $both
# shellcheck disable=SC2086
check_exit "and the second" 0 train halves $both
check "have the same bits" cmp "$T/whole/final.safetensors" "$T/halves/final.safetensors"
tensors whole | sort >"$T/whole.list"
check_same "no norm but the first has changed" "base_model.bn1" \
	"$(changed "$T/first.list" "$T/whole.list" | sed -n 's/\.running_.*//p' | sort -u)"
check_same "nor what the pattern names" "" "$(changed "$T/first.list" "$T/whole.list" | grep 'layer1\.')"
check_same "the rest has" yes "$(changed "$T/first.list" "$T/whole.list" | grep -q 'layer3.0.conv1.net.weight' && echo yes)"
if have_mpi; then
	# shellcheck disable=SC2086
	check_exit "on two ranks" 0 timeout -k 5 120 mpirun -np 2 vt-train $options -o "$T/two" $both
	check "they are the same, too" cmp "$T/whole/final.safetensors" "$T/two/final.safetensors"
else
	skip "on two ranks" "no MPI"
fi
set +f

# ---- for others ----

check_exit "names that are not there" 2 vt-train --export="$T/x" --names=keras --output="$T/first"
check_says "there are" 'there are: caffe2, mmaction2, pyslowfast, torchvision, tsm'
check_exit "names that are only read" 2 vt-train --export="$T/x" --names=caffe2 --output="$T/first"
check_says "are not written" 'names=caffe2: names that are only read'
check_exit "no names" 2 vt-train --export="$T/x" --output="$T/first"
check_exit "no run" 1 vt-train --export="$T/x" --names=tsm --output="$T/nowhere"
check "no file was written" test ! -e "$T/x"
for names in torchvision pyslowfast; do
	check_exit "$names has no network that shifts" 2 vt-train --export="$T/x" --names=$names --output="$T/first"
	check_says "which is printed" "error: tsm_tiny: $names has no network with layer1.0.shift: wanted other names, or .*weights/$names.tsv"
	check "and no file is written" test ! -e "$T/x"
	grep -v 'lacks$' "share/weights/$names.tsv" >"$T/$names.tsv"
done
for names in "$T/torchvision.tsv" "$T/pyslowfast.tsv" mmaction2; do
	check_exit "$names" 0 vt-train -q --export="$T/x" --names=$names --output="$T/first"
	rm -rf "$T/from"
	check_exit "read again" 0 train from --init="$T/x" --freeze=backbone
	tensors from | sort >"$T/from.list"
	check_same "is the same" "" "$(changed "$T/frozen.list" "$T/from.list")"
done

# ---- PyTorch's own ----

if ! find_torch; then
	skip "files of PyTorch" "no PyTorch (Debian: python3-torch)"
	plan
	exit 0
fi
cat >"$T/convert.py" <<'PYTHON'
import json, struct, sys, collections
import torch

data = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + n])
types = {"F32": torch.float32, "I64": torch.int64}
state = collections.OrderedDict()
for name, t in header.items():
    if name != "__metadata__":
        a, b = t["data_offsets"]
        state["module." + name] = torch.frombuffer(bytearray(data[8 + n + a:8 + n + b]), dtype=types[t["dtype"]]).reshape(t["shape"])
torch.save({"epoch": 3, "state_dict": state}, sys.argv[2])
torch.save({"epoch": 3, "state_dict": state}, sys.argv[3], _use_new_zipfile_serialization=False)
state["module.base_model.conv1.weight"][0, 0, 0, 0] = float("nan")
torch.save({"epoch": 3, "state_dict": state}, sys.argv[4])
PYTHON
check_exit "PyTorch writes them" 0 "$python" "$T/convert.py" "$T/w.safetensors" "$T/w.pth" "$T/old.pth" "$T/nan.pth"
for f in w old; do
	rm -rf "$T/from"
	check_exit "$f.pth" 0 train from --init="$T/$f.pth" --freeze=backbone
	tensors from | sort >"$T/from.list"
	check_same "is the same" "" "$(changed "$T/frozen.list" "$T/from.list")"
done
check_exit "NaN is refused" 1 train no --init="$T/nan.pth"
check_says "and where" 'tensor module.base_model.conv1.weight holds NaN'

# torchvision's own ResNet takes what is exported, and gives what is taken.
if ! "$python" -c 'import torchvision' 2>/dev/null; then
	skip "torchvision" "no torchvision"
	plan
	exit 0
fi
cat >"$T/strict.py" <<'PYTHON'
import json, struct, sys
import torch, torchvision

model = torchvision.models.resnet18(weights=None, num_classes=8)
torch.save(model.state_dict(), sys.argv[1])
if len(sys.argv) > 2:
    data = open(sys.argv[2], "rb").read()
    n, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    types = {"F32": torch.float32, "I64": torch.int64}
    del header["__metadata__"]
    model.load_state_dict({name: torch.frombuffer(bytearray(data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]),
        dtype=types[t["dtype"]]).reshape(t["shape"]) for name, t in header.items()}, strict=True)
PYTHON
check_exit "torchvision writes a ResNet-18" 0 "$python" "$T/strict.py" "$T/r18.pth"
rm -rf "$T/from"
options="-i $T/train -m tsn_r18 --schedule=$T/s1.tsv --device=ref"
check_exit "a run begins from it" 0 train from --init="$T/r18.pth"
check_says "all of it" 'names of torchvision: 102 of 102 parameters loaded'
check_exit "its weights" 0 vt-train -q --export="$T/x" --names=torchvision --output="$T/from"
check_exit "torchvision loads with strict=True" 0 "$python" "$T/strict.py" "$T/r18.pth" "$T/x"
plan
