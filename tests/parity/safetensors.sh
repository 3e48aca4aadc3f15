#!/bin/sh
# The Python package safetensors reads every tensor and the metadata of a
# checkpoint of vt-train.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
python=
for p in "$VT_PYTHON" python3 /usr/bin/python3; do
	[ -n "$p" ] && "$p" -c 'import safetensors, numpy' 2>/dev/null && python=$p && break
done
[ -n "$python" ] || skip_all "no Python with safetensors (VT_PYTHON names one)"

"$BUILD/tests/tools/makeset" "$T/train" 16 4 40 32 1 || skip_all "no test set"
vt-schedule --batch=8 --frames=2 --crop=16 --epochs=1 --milestones=none -o "$T/s.tsv"
vt-train -i "$T/train" -m tsm_tiny --schedule="$T/s.tsv" -o "$T/run" --device=ref -qq >/dev/null

cat >"$T/read.py" <<'PYTHON'
import json, struct, sys
import numpy
from safetensors import safe_open

path = sys.argv[1]
data = open(path, "rb").read()
n, = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + n])
with safe_open(path, "np") as f:
    keys = list(f.keys())
    meta = f.metadata()
    tensors = {k: f.get_tensor(k) for k in keys}
del header["__metadata__"]
print("tensors", len(keys), sorted(keys) == sorted(header))
same = 0
for k, t in tensors.items():
    a, b = header[k]["data_offsets"]
    same += t.tobytes() == data[8 + n + a:8 + n + b] and list(t.shape) == header[k]["shape"]
print("same", same)
print("trained", sum(t.size for k, t in tensors.items() if k.startswith("model/")))
print("finite", all(numpy.isfinite(t).all() for t in tensors.values()))
print("var", float(tensors["bn/bn1.running_var"].min()) > 0)
print("hashes", sorted(json.loads(meta["vt.tensors"])) == sorted(k for k in keys if k != "~vt.footer"))
print("step", meta["vt.step"], "format", meta["vt.format"])
PYTHON
"$python" "$T/read.py" "$T/run/final.safetensors" >"$T/said" 2>"$T/err" || diag "$(tail -3 "$T/err")"
said() {
	sed -n "s/^$1 //p" "$T/said"
}
# 47 trained tensors, each with momentum, 30 running statistics, the footer
check_same "the package finds every tensor" "125 True" "$(said tensors)"
check_same "each tensor has its shape and bytes" 125 "$(said same)"
check_same "the checkpoint has as many trained values as the network" 175896 "$(said trained)"
check_same "all values are finite" True "$(said finite)"
check_same "running variances are positive" True "$(said var)"
check_same "vt.tensors lists the names of all tensors" True "$(said hashes)"
check_same "the package reads the metadata" "2 format 1" "$(said step)"
plan
