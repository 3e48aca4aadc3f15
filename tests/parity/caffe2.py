"""Weight files as programs of caffe2 wrote them in Python 2, with the names
that they use for the parameters of PySlowFast.  The names are made
independently of share/weights."""
import pickle
import re

import numpy as np

ENDS = {"bias": "b", "running_mean": "rm", "running_var": "riv"}
LAST = {"2": 2, "3": 3, "4": 5}         # blocks of each stage of a ResNet-50


class Python2(pickle._Pickler):
    """A pickler that writes protocol 2 as Python 2 does: texts are bytes, and
    arrays keep their own bytes."""
    dispatch = dict(pickle._Pickler.dispatch)

    def save_text(self, text):
        s = text.encode("latin1") if isinstance(text, str) else text
        self.write(b"U" + bytes([len(s)]) + s if len(s) < 256 else b"T" + len(s).to_bytes(4, "little") + s)
        self.memoize(text)

    dispatch[str] = dispatch[bytes] = save_text


def blob(key):
    """Return caffe2's name of a parameter of PySlowFast, or None if caffe2 has
    no such parameter."""
    op, leaf = key.rsplit(".", 1)
    if leaf == "num_batches_tracked":
        return None
    t = "t_" if "pathway1" in op else ""
    block = re.fullmatch(r"s(\d)\.pathway\d_(res|nonlocal)(\d+)\.(.*)", op)
    if op == "head.projection":
        name = "pred"
    elif op.endswith("_stem.conv"):
        name = t + "conv1"
    elif op.endswith("_stem.bn"):
        name = t + "res_conv1_bn"
    elif "_fuse" in op:
        name = "t_pool1" if op[1] == "1" else "t_res%s_%d_branch2c_bn" % (op[1], LAST[op[1]])
        name += "_subsample_bn" if op.endswith(".bn") else "_subsample"
    elif block[2] == "res":
        name = "%sres%s_%s_%s" % (t, block[1], block[3], block[4].replace(".", ""))
    else:
        name = "nonlocal_conv%s_%s_%s" % (block[1], block[3], block[4].replace("conv_", ""))
    return name + "_" + ENDS.get(leaf, "s" if name.endswith("_bn") else "w")


def save(state, path):
    """Write the state dict of a module of PySlowFast as a run of caffe2 saves
    it."""
    blobs = {blob(k): v.numpy() for k, v in state.items() if blob(k) is not None}
    blobs.update({k + "_momentum": np.zeros_like(v) for k, v in blobs.items() if v.size < 4096})
    blobs.update(lr=np.array(0.0001, dtype="f4"), model_iter=400000)
    with open(path, "wb") as f:
        Python2(f, protocol=2).dump(dict(blobs=blobs, test_metric=np.float64(0.7)))
