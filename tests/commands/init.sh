#!/bin/sh
# Runs that start from a file of weights (--init), and exported weights: which
# parameters are loaded, which are initialized, which stay frozen. Ranks and
# stops do not change a bit.
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

# train DIR OPTION...: make a run.
train() {
	dir=$1
	shift
	# shellcheck disable=SC2086
	timeout -k 5 120 vt-train $options -o "$T/$dir" "$@" >/dev/null
}
# tensors DIR: print name and hash of each tensor of a run, by TSM's names.
tensors() {
	vt-train -q --export="$T/tensors" --names=tsm --output="$T/$1" && "$dump" "$T/tensors" | cut -f1,4 | grep -v num_batches
}
# changed A B: print the names of tensors that differ between two lists.
changed() {
	join "$1" "$2" | awk '$2 != $3 { print $1 }'
}
# fates DIR FATE: print the parameters of that fate in the report.
fates() {
	awk -F'\t' -v f="$2" '$2 == f { print $1 }' "$T/$1/init.tsv"
}

check_exit "a run to start from" 0 train first
tensors first | sort >"$T/first.list"
check "the run has 77 tensors" test "$(wc -l <"$T/first.list")" -eq 77
check_exit "the weights of the run are exported with names of tsm" 0 \
	vt-train --export="$T/w.safetensors" --names=tsm --output="$T/first"
check_says "the message counts the exported tensors" 'w.safetensors: 92 tensors, names of tsm, step 6'
check "the exported file has no vt footer" sh -c "! grep -q vt.footer '$T/w.safetensors'"

# ---- loaded parameters ----

check_message "a run starts from the file with a frozen backbone" 0 \
	'w.safetensors: safetensors, names of tsm: 77 of 77 parameters loaded, 0 reshaped, 0 initialized; 100.0 % of the backbone' \
	train frozen --init="$T/w.safetensors" --freeze=backbone
tensors frozen | sort >"$T/frozen.list"
check_same "only the classifier has changed" "new_fc.bias new_fc.weight" "$(changed "$T/first.list" "$T/frozen.list" | xargs)"
check_same "the report lists all 77 loaded parameters" 77 "$(fates frozen loaded | wc -l)"
check "the run's config names the file" grep -q "^init = $T/w.safetensors" "$T/frozen/config"
check "the run's config has the frozen pattern" grep -q '^freeze = backbone' "$T/frozen/config"
check "the checkpoint has hash, naming scheme and file of the weights" \
	sh -c "grep -a -q '\"vt.init\":\"[0-9a-f]* tsm w.safetensors\"' '$T/frozen/final.safetensors'"
check_exit "a run starts from a checkpoint of vt" 0 \
	train own --init="$T/first/final.safetensors" --freeze=backbone
tensors own | sort >"$T/own.list"
check_same "starting from a checkpoint gives the same weights" "" "$(changed "$T/frozen.list" "$T/own.list")"
check_same "the report calls momentum a state of training" "a state of training" \
	"$(awk -F'\t' '$3 ~ /optim/ { print $4 }' "$T/own/init.tsv" | sort -u)"

# A set with other classes: the seed initializes a new classifier.
for set in five named; do
	options="-i $T/$set -m tsm_tiny --schedule=$T/still.tsv --device=ref --weight-decay=0"
	check_message "$set: other classes" 0 'initialized: fc.weight \(other classes\), fc.bias \(other classes\)' \
		train $set.run --init="$T/w.safetensors" --freeze=backbone
	check_same "those names only" "fc.bias fc.weight" "$(fates $set.run new | sort | xargs)"
	check_same "and what belonged there is left out" "new_fc.bias new_fc.weight" \
		"$(awk -F'\t' '$2 == "left out" && $4 != "a counter" { print $3 }' "$T/$set.run/init.tsv" | sort | xargs)"
	tensors $set.run | sort >"$T/$set.list"
	train $set.plain --freeze=backbone
	tensors $set.plain | sort >"$T/$set.plain.list"
	check_same "$set: the backbone is loaded from the file" \
		"" "$(changed "$T/first.list" "$T/$set.list" | grep -v new_fc)"
	check_same "$set: the seed initializes the new classifier" \
		"$(grep '^new_fc.weight' "$T/$set.plain.list" | md5sum)" \
		"$(grep '^new_fc.weight' "$T/$set.list" | md5sum)"
done

# ---- refusals ----

options="-i $T/train --schedule=$T/s2.tsv --device=ref"
check_exit "weights of another network end with 2" 2 train no -m tsn_r18 --init="$T/w.safetensors"
check_says "weights of another network: the message shows the percentage and --init-partial" \
	'are in it \([0-9]+ %\), less than half: they seem to be weights of another network \(the file fits tsm_tiny; --init-partial takes them\)'
check "a refused run makes no folder" test ! -e "$T/no"
small_net 8 >"$T/net.net"
check_exit "--init-partial takes weights of another network" 0 \
	train few -m "$T/net.net" --init="$T/w.safetensors" --init-partial
# The projections of this network have no norm.
sed '/^bn.*downsample.1/d; s/downsample.1$/downsample.0/' share/models/tsm_tiny.net >"$T/bare.net"
check_exit "norms that the network does not have end with 2" 2 train no -m "$T/bare.net" --init="$T/w.safetensors"
check_says "the message names them and the network that the file fits" \
	'error: .*: 8 tensors of convolutions and norms do not fit bare: base_model.layer2.0.downsample.1.bias, .* and 2 more \(the file fits tsm_tiny; --init-partial takes the others\)'
check "a refused run makes no folder" test ! -e "$T/no"
check_message "norms that the network does not have end with 2 for a checkpoint of vt, too" 2 \
	'error: .*: 8 tensors of convolutions and norms do not fit bare: bn/layer2.0.downsample.1.running_mean, .* and 2 more \(the file fits tsm_tiny, tsn_tiny;' \
	train no -m "$T/bare.net" --init="$T/first/final.safetensors"
check_exit "--init-partial leaves them out" 0 train bare -m "$T/bare.net" --init="$T/w.safetensors" --init-partial
check_same "all else is loaded" "" "$(fates bare new)"
check_exit "norms that the file does not have end with 2" 2 train no -m tsm_tiny --init="$T/bare/final.safetensors"
check_says "the message names them, and no network of vt" \
	'error: .*: 8 tensors of convolutions and norms do not fit tsm_tiny: layer2.0.downsample.1.weight \(not in the file\), .* and 2 more \(--init-partial takes the others\)'
sed 's/k=5,5/k=7,7/' share/models/tsm_tiny.net >"$T/wide.net"
check_exit "a first layer of another shape ends with 2" 2 train no -m "$T/wide.net" --init="$T/w.safetensors"
check_says "the message has both shapes" \
	'1 tensor of convolutions and norms does not fit wide: base_model.conv1.weight \(conv1.weight is 16x3x7x7\) \(the file fits tsm_tiny;'
check "none of the refused runs made a folder" test ! -e "$T/no"
sed 's/^linear .*/bn neck in=avgpool\nlinear fc in=neck out=classes/' share/models/tsm_tiny.net >"$T/neck.net"
check_exit "a run with a norm before the classifier" 0 train neck -m "$T/neck.net"
check_exit "its backbone is loaded without that norm" 0 train no_neck -m tsm_tiny --init="$T/neck/final.safetensors"
options="-i $T/train -m tsm_tiny --schedule=$T/s2.tsv --device=ref"
check_exit "--init and --resume=FILE" 2 train no --init="$T/w.safetensors" --resume="$T/first/final.safetensors"
check_says "are apart" 'a run begins from weights or continues a checkpoint \(wanted one of them\)'
check_exit "--init of a run that is there" 2 train first --init="$T/w.safetensors"
check_says "is refused" 'the run is there already, and did not begin from weights'
check_exit "the same command goes on" 0 train frozen --init="$T/w.safetensors" --freeze=backbone
check_says "from its checkpoint" 'not loaded again: the run began from it and resumes from its checkpoint'
cp "$T/w.safetensors" "$T/kept"
rm "$T/w.safetensors"
check_exit "the run resumes when the file is gone" 0 train frozen --init="$T/w.safetensors" --freeze=backbone
check_exit "the run does not resume with another missing file" 2 train frozen --init="$T/gone" --freeze=backbone
check_says "the message names the run's own file instead of the missing one" \
	'gone: the run is there already, and began from another file, w.safetensors'
mv "$T/kept" "$T/w.safetensors"
check_message "the run does not resume with another existing file" 2 'began from another file, w.safetensors' \
	train frozen --init="$T/first/final.safetensors" --freeze=backbone
check_message "the run does not resume with another --freeze" 2 '--freeze|freeze was' \
	train frozen --init="$T/w.safetensors" --freeze=layer1.0.conv1
# arena OPTION...: print the bytes of activations that a run with these options
# needs.
arena() {
	# shellcheck disable=SC2086
	vt-train -n $options -o "$T/no" "$@" | sed -n 's/^0.*	//p'
}
check "frozen layers need less memory, by the plan" test "$(arena --freeze=backbone)" -lt "$(arena)"
check_message "a freeze pattern without a match ends with 2" 2 "tsm_tiny has no operator of this name" \
	train no --freeze='layer9.*'
check_message "freezing everything ends with 2" 2 'nothing is left to train' train no --freeze='*'
head -c 5000 "$T/w.safetensors" >"$T/cut"
check_exit "a truncated file of weights ends with 4" 4 train no --init="$T/cut"
LC_ALL=C sed '1s/"F32"/"C64"/' "$T/w.safetensors" >"$T/c64"
check_exit "a parameter whose tensor has a dtype that vt does not read ends with 2" 2 train no --init="$T/c64"
check_says "the message has both dtypes" '1 tensor of convolutions and norms does not fit .*dtype C64 .wanted U8, F32'
check_exit "a missing file of weights ends with 1" 1 train no --init="$T/nowhere"
check "none of the refused runs made a folder" test ! -e "$T/no"

# ---- a dry run ----

# look OPTION...: make a dry run with these options.
look() {
	# shellcheck disable=SC2086
	vt-train -n $options "$@"
}
options="-i $T/train --schedule=$T/s2.tsv --device=ref"
check_exit "a dry run with --init" 0 look -m tsm_tiny --init="$T/w.safetensors" -v
check_says "the dry run reads the weights" 'names of tsm: 77 of 77 parameters loaded'
sed -n '/^#parameter/,/^-/p' "$T/out" | grep '	' | grep -v '^-' >"$T/table"
grep -v '^-' "$T/frozen/init.tsv" >"$T/want"
check "-v lists them as the run would" cmp "$T/want" "$T/table"
check "and the plan is there" grep -q "^# network .*tsm_tiny" "$T/out"
check_exit "of another network" 2 look -m tsn_r18 --init="$T/w.safetensors"
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
check_exit "a run with frozen parts" 0 train whole $both
# shellcheck disable=SC2086
check_exit "the first half of that run" 0 train halves --schedule="$T/s1.tsv" $both
# shellcheck disable=SC2086
check_exit "the second half of that run" 0 train halves $both
check "two halves have the bits of one run" cmp "$T/whole/final.safetensors" "$T/halves/final.safetensors"
tensors whole | sort >"$T/whole.list"
check_same "with partial-bn, only the first norm has changed" "base_model.bn1" \
	"$(changed "$T/first.list" "$T/whole.list" | sed -n 's/\.running_.*//p' | sort -u)"
check_same "the layers of the freeze pattern have not changed" \
	"" "$(changed "$T/first.list" "$T/whole.list" | grep 'layer1\.')"
check_same "other layers have changed" \
	yes "$(changed "$T/first.list" "$T/whole.list" | grep -q 'layer3.0.conv1.net.weight' && echo yes)"
if have_mpi; then
	# shellcheck disable=SC2086
	check_exit "a run with frozen parts on two ranks" 0 \
		timeout -k 5 120 mpirun -np 2 vt-train $options -o "$T/two" $both
	check "two ranks have the same bits" cmp "$T/whole/final.safetensors" "$T/two/final.safetensors"
else
	skip "a run with frozen parts on two ranks" "no MPI"
fi
set +f

# ---- exports ----

check_exit "names that are not there" 2 vt-train --export="$T/x" --names=keras --output="$T/first"
check_says "there are" 'there are: caffe2, mmaction, mmaction2, pyslowfast, pytorchvideo, torchvision, tsm'
check_exit "names that are only read" 2 vt-train --export="$T/x" --names=caffe2 --output="$T/first"
check_says "are not written" 'names=caffe2: names that are only read'
for when in 'past conv1' 'op conv1 kernel=3' op 'op conv1,no bn1 x'; do
	printf '#theirs\tours\twhen\thow\nconv1\tconv1\t%s\t-\n' "$when" >"$T/bad.tsv"
	check_exit "a table with the condition $when" 2 vt-train --export="$T/x" --names="$T/bad.tsv" --output="$T/first"
	check_says "is refused" "line 2: when is .*$when.* \\(wanted -, or op NAME and no NAME"
done
check_exit "no names" 2 vt-train --export="$T/x" --output="$T/first"
check_exit "no run" 1 vt-train --export="$T/x" --names=tsm --output="$T/nowhere"
check "no file was written" test ! -e "$T/x"
for names in torchvision pyslowfast; do
	check_message "$names: an export of a network with shifts ends with 2" 2 \
		"error: tsm_tiny: $names has no network with layer1.0.shift: wanted other names, or .*weights/$names.tsv" \
		vt-train --export="$T/x" --names=$names --output="$T/first"
	check "$names: no file is written" test ! -e "$T/x"
	grep -v 'lacks$' "share/weights/$names.tsv" >"$T/$names.tsv"
done
printf '%s\tlayer1.0.bn1\tno layer1.0.bn1 kind=relu, op layer1.0.conv1 k=1,3,3 s=1,1,1 out=16\tlacks\n' - |
	cat share/weights/tsm.tsv - >"$T/attributes.tsv"
check_message "a network with the attributes of a row is refused" 2 \
	'has no network with layer1.0.bn1 \(no layer1.0.bn1 kind=relu, op layer1.0.conv1 k=1,3,3 s=1,1,1 out=16\): wanted' \
	vt-train --export="$T/x" --names="$T/attributes.tsv" --output="$T/first"
sed 's/out=16/out=17/' "$T/attributes.tsv" >"$T/other.tsv"
check_exit "with another attribute it is exported" 0 \
	vt-train -q --export="$T/x" --names="$T/other.tsv" --output="$T/first"
for names in "$T/torchvision.tsv" "$T/pyslowfast.tsv" mmaction2; do
	check_exit "$names: exported" 0 vt-train -q --export="$T/x" --names=$names --output="$T/first"
	rm -rf "$T/from"
	check_exit "$names: the export is loaded by a run" 0 train from --init="$T/x" --freeze=backbone
	tensors from | sort >"$T/from.list"
	check_same "$names: the loaded weights are the same" "" "$(changed "$T/frozen.list" "$T/from.list")"
done

# ---- files of PyTorch ----

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
check_exit "PyTorch writes the weights in three files" 0 \
	"$python" "$T/convert.py" "$T/w.safetensors" "$T/w.pth" "$T/old.pth" "$T/nan.pth"
for f in w old; do
	rm -rf "$T/from"
	check_exit "$f.pth is loaded by a run" 0 train from --init="$T/$f.pth" --freeze=backbone
	tensors from | sort >"$T/from.list"
	check_same "$f.pth: the loaded weights are the same" "" "$(changed "$T/frozen.list" "$T/from.list")"
done
check_message "weights with NaN end with 2" 2 'tensor module.base_model.conv1.weight holds NaN' \
	train no --init="$T/nan.pth"

# torchvision's ResNet-18 loads exported weights, and vt loads torchvision's.
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
check_exit "a run starts from torchvision's ResNet-18" 0 train from --init="$T/r18.pth"
check_says "all of its parameters are loaded" 'names of torchvision: 102 of 102 parameters loaded'
check_exit "the run's weights are exported with names of torchvision" 0 \
	vt-train -q --export="$T/x" --names=torchvision --output="$T/from"
check_exit "torchvision loads the export with strict=True" 0 "$python" "$T/strict.py" "$T/r18.pth" "$T/x"
plan
