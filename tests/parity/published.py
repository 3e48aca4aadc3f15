"""published.py NETDUMP NETS: write checkpoints with the names, shapes and wrapping
of other programs, and compare vt's scores with those of the PyTorch module
that wrote the file.  vt loads them as --init does.  Networks of the folder
NETS have an eighth of the channels, and their files too; the others of
share/models have all.

Lines on standard input select them: NET KEYS N T SIDE.
tests/golden/keys_KEYS.tsv has the names and shapes; if there is no such table,
KEYS is a program of state_dicts.py.  With "caffe2" at the
end, the same weights are also written in a file of caffe2, which must give
the same bits.

Names are read independently of share/weights; families.py computes the
scores.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import types

import numpy as np
import torch

import caffe2
import state_dicts
from families import NETS, Net, apart, pixels

CLASSES = 11
LAST = re.compile(r"(bn3|c_bn|norm_c|layer\d\.\d\.conv2\.(1|bn)|conv3\.bn|nl\.W\.1|nonlocal\d+\.bn|conv_out\.bn)$")     # norms that end a residual branch
MOBILE = (0, 1, 3, 6, 10, 13, 16)       # blocks before each of MMAction2's layers


class HistoryBuffer:
    """MMEngine's record of a loss: an object of a class that vt does not know."""

    def __init__(self):
        self.values = np.arange(5, dtype=np.float64)


HistoryBuffer.__module__ = "mmengine"
sys.modules["mmengine"] = types.ModuleType("mmengine")
sys.modules["mmengine"].HistoryBuffer = HistoryBuffer


def of_tsm(key):
    key = re.sub(r"\.(net|block)(?=\.)", "", key.replace("base_model.", ""))
    key = re.sub(r"nl\.(g|phi)\.0", r"nl.\1", key).replace("nl.W.0", "nl.out").replace("nl.W.1", "nl.bn")
    return key.replace("new_fc", "fc").replace("classifier", "fc")


def of_psf(key):
    key = key.replace("head.projection", "fc")
    key = re.sub(r"s(\d)_fuse\.(conv_f2s|bn)", lambda m: "lateral%s.%s" % (m[1], m[2][:4].rstrip("_")), key)
    key = re.sub(r"s1\.pathway(\d)_stem\.(conv|bn)", r"@\1.\g<2>1", key)
    key = re.sub(r"s(\d)\.pathway(\d)_(?:res|nonlocal)(\d+)\.", lambda m: "@%s.layer%d.%s." % (m[2], int(m[1]) - 1, m[3]), key)
    key = re.sub(r"branch2\.([abc])_bn", lambda m: "bn%d" % ("abc".index(m[1]) + 1), key)
    key = re.sub(r"branch2\.([abc])", lambda m: "conv%d" % ("abc".index(m[1]) + 1), key)
    key = key.replace("branch1_bn", "downsample.1").replace("branch1", "downsample.0")
    return key


def of_mm(key):
    for a, b in (("conv1_s.conv", "conv1_xy"), ("conv1_t.conv", "conv1_t"), ("conv1_t.bn", "bn1"), ("se_module", "se"),
                 ("cls_head.fc1", "lin5"), ("cls_head.fc2", "fc")):
        key = key.replace(a, b)
    key = key.replace("backbone.", "").replace("cls_head.fc_cls", "fc")
    key = re.sub(r"\.(net|block)(?=\.)", "", key)
    mobile = re.match(r"layer(\d)\.(\d)\.conv\.(\d)\.(conv|bn)\.(.*)", key)
    if mobile:
        layer, block, unit = (int(n) for n in mobile.groups()[:3])
        return "features.%d.conv.%d.%s" % (MOBILE[layer - 1] + block + 1, 3 * unit + (mobile[4] == "bn"), mobile[5])
    key = re.sub(r"slow_path\.conv1_lateral", "lateral1", key)
    key = re.sub(r"slow_path\.layer(\d)_lateral", lambda m: "lateral%d" % (int(m[1]) + 1), key)
    if "lateral" in key:
        return key
    key = key.replace("slow_path", "slow").replace("fast_path", "fast").replace("downsample.conv", "downsample.0")
    key = key.replace("downsample.bn", "downsample.1")
    if "non_local_block" in key:
        key = key.replace("non_local_block", "nl").replace("conv_out.bn", "bn").replace("conv_out", "out")
        return re.sub(r"nl\.(\w+)(\.0)?\.conv\.", r"nl.\1.", key)
    return re.sub(r"conv(\d)\.(conv|bn)", r"\2\1", key)


def of_ptv(key, pooled):
    key = re.sub(r"^blocks\.0\.multipathway_blocks\.(\d)\.(conv|norm)", lambda m: "@%s.%s1" % (m[1], m[2]), key)
    key = re.sub(r"^blocks\.(\d)\.multipathway_fusion\.(conv|norm)(_fast_to_slow)?",
                 lambda m: "lateral%d.%s" % (int(m[1]) + 1, "bn" if m[2] == "norm" else "conv"), key)
    if key.startswith("blocks.0.conv.conv_"):
        return key.replace("blocks.0.conv.conv_t", "conv1_xy").replace("blocks.0.conv.conv_xy", "conv1_t")
    for a, b in ((r"^blocks\.0\.(conv|norm)", r"\g<1>1"), (r"^blocks\.5\.pool\.pre_(conv|norm)", r"\g<1>5"),
                 (r"^blocks\.5\.pool\.post_conv", "lin5"), (r"^blocks\.\d\.proj", "fc"),
                 (r"branch1_conv", "downsample.0"), (r"branch1_norm", "downsample.1"),
                 (r"branch2\.norm_b\.0", "branch2.norm_b"), (r"branch2\.norm_b\.1\.block\.0", "se.fc1"),
                 (r"branch2\.norm_b\.1\.block\.2", "se.fc2"),
                 (r"branch2\.(conv|norm)_([abc])", lambda m: "%s%d" % (m[1], "abc".index(m[2]) + 1))):
        key = re.sub(a, b, key)
    key = re.sub(r"^blocks\.(\d)\.(?:multipathway_blocks\.(\d)\.)?res_blocks\.",
                 lambda m: "%slayer%d." % ("@%s." % m[2] if m[2] else "", int(m[1]) - (pooled and int(m[1]) > 1)), key)
    return re.sub(r"norm(\d)", r"bn\1", key)


def of_mma(key):
    key = key.replace("backbone.", "").replace("cls_head.fc_cls", "fc")
    key = re.sub(r"slow_path\.conv1_lateral", "lateral1.conv", key)
    key = re.sub(r"slow_path\.layer(\d)_lateral", lambda m: "lateral%d.conv" % (int(m[1]) + 1), key)
    return key.replace("slow_path.", "slow.").replace("fast_path.", "fast.")


def of_mm_pairs(key):
    key = key.replace("backbone.", "").replace("cls_head.fc_cls", "fc")
    key = re.sub(r"^conv1\.conv\.(conv_s|bn_s|conv_t)", lambda m: "stem.%d" % {"conv_s": 0, "bn_s": 1, "conv_t": 3}[m[1]], key)
    key = re.sub(r"^conv1\.bn", "stem.4", key)
    key = re.sub(r"\.conv\.(conv_s|bn_s|conv_t)", lambda m: ".0.%d" % {"conv_s": 0, "bn_s": 1, "conv_t": 3}[m[1]], key)
    return re.sub(r"(conv\d|downsample)\.bn", r"\1.1", key)


def ours(keys, key, fast, pooled=False):
    """Return the name that families.py uses for a parameter."""
    if keys == "pytorchvideo":
        return of_ptv(key, pooled).replace("@0.", "slow.").replace("@1.", "fast.")
    if keys == "mmaction":
        return of_mma(key)
    if keys == "mmaction2" and pooled is None:
        return of_mm_pairs(key)
    if keys.startswith("psf_"):
        key = of_psf(key)
        if "nl" not in key and "layer" in key and re.search(r"\.(conv_(theta|phi|g|out)|bn)\.", key):
            key = re.sub(r"(layer\d\.\d+\.)(conv_)?", r"\1nl.", key)
        return key.replace("@0.", "slow." if fast else "").replace("@1.", "fast.")
    if keys.startswith("mmaction2"):
        key = of_mm(key)
        if "mobilenet" in keys:
            key = re.sub(r"^(conv|bn)([12])\.", lambda m: "features.%d.%d." % (18 * (m[2] == "2"), m[1] == "bn"), key)
        return key
    return of_tsm(key)


class Written(torch.nn.Module):
    """A module whose state dict has these tensors, with random values."""

    def __init__(self, shapes):
        super().__init__()
        for key, shape in shapes.items():
            *way, leaf = key.split(".")
            at = self
            for part in way:
                if part not in at._modules:
                    at.add_module(part, torch.nn.Module())
                at = at._modules[part]
            shape = list(shape)
            if re.search(r"(fc|new_fc|fc_cls|projection|proj|classifier|cls_head\.fc2)$", ".".join(way)):
                shape[0] = CLASSES
            value = self.value(leaf, shape, way)
            if leaf in ("weight", "bias"):
                at.register_parameter(leaf, torch.nn.Parameter(value))
            else:
                at.register_buffer(leaf, value)

    @staticmethod
    def value(leaf, shape, way):
        if leaf == "num_batches_tracked":
            return torch.tensor(4711)
        x = torch.randn(shape)
        if leaf == "running_var":
            return 1 + 0.5 * torch.rand(shape)
        if len(shape) == 1 and leaf == "weight":
            # Residual branches begin small, as in families.sh, and attention
            # too.  Attention without a softmax is a product of three factors;
            # after five blocks it exceeds the range of floats, in PyTorch too.
            return (0.2 if LAST.search(".".join(way)) else 1) + 0.1 * x
        if len(shape) == 1:
            return 0.1 * x
        return x * (2 / np.prod(shape[1:])) ** 0.5 * (0.1 if "theta" in way or "phi" in way else 1)


def narrowed(shape):
    """Return a shape with the channels that narrower of tests/lib.sh leaves."""
    return [n // 8 if n % 64 == 0 and n else n for n in shape[:2]] + shape[2:]


def shapes_of(net, keys):
    """Return the shapes by name, of a table or of a program."""
    path = "tests/golden/keys_%s.tsv" % keys
    if os.path.exists(path):
        lines = (line.rstrip("\n").split("\t") for line in open(path) if not line.startswith(("#", "key\t")))
        return {key: [] if shape == "scalar" else [int(n) for n in shape.split("x")] for key, shape, *_ in lines}
    rows = state_dicts.WRITTEN.get(keys, []) + state_dicts.READ.get(keys, [])
    return next(row[1] for row in rows if row[0] == net)


def save(keys, state, path):
    """Write the file as the program with these names does."""
    if keys == "pytorchvideo":
        torch.save(dict(model_state=state), path)
        return
    wrapped = collections.OrderedDict(("module." + k, v) for k, v in state.items())
    if keys.startswith("psf_"):
        torch.save(dict(epoch=4, model_state=state, optimizer_state={}, cfg="TRAIN:\n"), path)
    elif keys.startswith("mmaction"):
        meta = dict(mmaction2_version="0.24.1", epoch=np.int64(50), CLASSES=None, config="model = dict()", env_info="Linux")
        torch.save(dict(meta=meta, state_dict=state, message_hub=dict(loss=HistoryBuffer())), path)
    elif keys.startswith("tsm"):
        torch.save(dict(epoch=50, arch="resnet50", state_dict=wrapped, best_prec1=torch.tensor(70.5)), path,
                   _use_new_zipfile_serialization=False)
    else:
        torch.save(state, path)


def scores(name, keys, state, folder, n, t, side):
    norm, forward, details = NETS[name]
    net = Net({}, 0, torch.float32)
    fast = any("pathway1" in k for k in state)
    pooled = None if "r2plus1d" in name else "c2d" in name or "i3d" in name
    net.w = {ours(keys, k, fast, pooled): v for k, v in state.items()}
    if "lin5.weight" in net.w:          # MMAction2's has two axes
        w = net.w["lin5.weight"]
        net.w["lin5.weight"] = w.reshape(*w.shape[:2], 1, 1, 1)
    net.stats_given = net.w
    if "slowfast" in keys and keys.startswith("mmaction2_"):
        w = net.w["fc.weight"]          # MMAction2's fast channels come first
        net.w["fc.weight"] = torch.cat([w[:, 256:], w[:, :256]], 1)
    x = pixels(folder, n, t, side, torch.float32, norm)
    with torch.no_grad():
        theirs = torchvision_resnet(state) if keys == "torchvision_resnet50" else None
        y = theirs(x[:, :, 0]) if theirs is not None else forward(net, x, **details)
        return y.double().numpy()


def torchvision_resnet(state):
    """Return torchvision's own module for still images, or None without
    torchvision."""
    try:
        import torchvision
    except ImportError:
        return None
    model = torchvision.models.resnet50(num_classes=CLASSES)
    model.load_state_dict(state, strict=True)
    return model.eval()


def netdump(program, net, sizes, folder, path):
    """Run vt with the weights of a file.  Return its scores, or None, and its
    messages."""
    got = subprocess.run([program, net, str(CLASSES), "cpu", *sizes, folder, path],
                         stderr=subprocess.PIPE, universal_newlines=True)
    return np.fromfile(folder + "/tested.f64") if got.returncode == 0 else None, got.stderr.strip()


def main():
    tests = 0
    torch.set_num_threads(2)
    torch.manual_seed(1)
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    def ok(good, what, why):
        nonlocal tests
        tests += 1
        print("%sok %d - %s" % ("" if good else "not ", tests, what))
        if not good:
            print("# " + why.replace("\n", "\n# "))

    for line in sys.stdin:
        name, keys, *sizes = line.split()
        n, t, side = (int(s) for s in sizes[:3])
        narrow = "%s/%s.net" % (sys.argv[2], name)
        net = narrow if os.path.exists(narrow) else "share/models/%s.net" % name
        shapes = shapes_of(name, keys)
        if net == narrow:
            shapes = {key: narrowed(list(shape)) for key, shape in shapes.items()}
        module = Written(shapes)
        with tempfile.TemporaryDirectory(prefix="vt-test.", dir=shm) as folder:
            path = folder + "/weights.pth"
            save(keys, module.state_dict(), path)
            got, why = netdump(sys.argv[1], net, sizes[:3], folder, path)
            e = float("inf")
            if got is not None:
                want = scores(name, keys, module.state_dict(), folder, n, t, side)
                e = apart(got.reshape(n, CLASSES), want)
                why = "relative difference %g" % e
            ok(e <= 1e-4, "a file of %s in %s gives the scores of the module that wrote it" % (keys, name), why)
            if sizes[3:] == ["caffe2"]:
                caffe2.save(module.state_dict(), path)
                same, why = netdump(sys.argv[1], net, sizes[:3], folder, path)
                ok(got is not None and same is not None and got.tobytes() == same.tobytes(),
                   "the same weights in a file of caffe2 give the same scores", why)
    print("1..%d" % tests)


if __name__ == "__main__":
    main()
