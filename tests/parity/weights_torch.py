"""weights_torch.py FOLDER: write weight files by PyTorch.  Write next to each
file its tensor names, FILE.names, and their values as floats, FILE.values."""
import collections
import io
import os
import pickle
import re
import sys
import types

import numpy
import torch

from caffe2 import Python2

folder = sys.argv[1]
torch.manual_seed(1)


class HistoryBuffer:
    """MMEngine's record of a loss: an object of a class that vt does not know."""

    def __init__(self):
        self._log_history = numpy.arange(5, dtype=numpy.float64)
        self._statistics_methods = collections.OrderedDict(mean=1)


class ConfigDict(dict):
    pass


for name, of in (("mmengine", HistoryBuffer), ("mmcv", ConfigDict)):
    of.__module__ = name
    sys.modules[name] = types.ModuleType(name)
    setattr(sys.modules[name], of.__name__, of)


def tensors():
    """Return tensors with the types, views and shapes of state dicts."""
    whole = torch.randn(6, 5, 4, 3)
    d = collections.OrderedDict()
    d["conv.weight"] = whole
    d["conv.turned"] = whole.permute(3, 1, 0, 2)
    d["conv.part"] = whole[1:5:2, :, 1:3]
    d["conv.last"] = whole[5, 4, 3, 2]
    d["channels.last"] = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    d["expanded"] = torch.randn(3, 1).expand(3, 7)
    d["empty"] = torch.zeros(0, 3)
    d["parameter"] = torch.nn.Parameter(torch.randn(3, 3).t())
    d["bn.num_batches_tracked"] = torch.tensor(1234567)
    for kind in (torch.float64, torch.float16, torch.bfloat16):
        d[str(kind)] = (torch.randn(40) * 10.0 ** torch.arange(-20, 20).div(4)).to(kind)
    for kind in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        d[str(kind)] = torch.randint(0, 100, (3, 4)).to(kind)
    d["odd"] = torch.tensor([True, False, True])
    d["float16 edges"] = torch.tensor([0x7c00, 0xfc00 - 65536, 1, 0x03ff, 0x0400, 0x7bff, -32768], dtype=torch.int16).view(torch.float16)
    return d


def metadata():
    return dict(env_info="Linux\nPython", epoch=12, iter=1 << 40, seed=numpy.int64(3), best=numpy.float32(0.5),
                config=ConfigDict(a=1, b=[2, 3]), time="\u00e9", mmaction2_version="0.24.1",
                history=HistoryBuffer(), classes=("a", "b"), hook_msgs={}, lr=[0.1, 1e-9, None, True],
                array=numpy.arange(6).reshape(2, 3))


def put(name, whole, d, save=None, change=None, **how):
    path = os.path.join(folder, name)
    if save is None:
        torch.save(whole, path, **how)
    else:
        written = io.BytesIO()
        save(whole, written)
        with open(path, "wb") as f:
            f.write(re.sub(rb"(?<=c)numpy\._?core\.multiarray(?=\n)", change, written.getvalue()))
    with open(path + ".names", "w") as f:
        for key, t in d.items():
            f.write("%s\t%s\n" % (key, "x".join(str(n) for n in t.shape)))
    with open(path + ".values", "wb") as f:
        for t in d.values():
            f.write(t.detach().to(torch.float32).contiguous().numpy().tobytes())


legacy = dict(_use_new_zipfile_serialization=False)
for suffix, how in (("zip", {}), ("legacy", legacy)):
    d = tensors()
    put("flat." + suffix, d, d, **how)
    for protocol in 3, 4, 5:
        put("protocol%d.%s" % (protocol, suffix), dict(model_ema=d), d, pickle_protocol=protocol, **how)
    plain = dict(d)
    put("plain." + suffix, plain, plain, **how)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.randn(3))], lr=0.1, momentum=0.9)
    put("tsm.pth.tar." + suffix, dict(epoch=4, arch="resnet50", state_dict=d, optimizer=optimizer.state_dict(),
                                      best_prec1=torch.tensor(70.5)), d, **how)
    put("slowfast.pyth." + suffix, dict(epoch=4, model_state=d, optimizer_state=optimizer.state_dict(),
                                        cfg="TRAIN:\n"), d, **how)
    put("mmaction2.pth." + suffix, dict(meta=metadata(), state_dict=d, message_hub=dict(log=HistoryBuffer())), d, **how)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))
    put("model." + suffix, dict(model=model.state_dict()), model.state_dict(), **how)


def arrays():
    """Return arrays with the types, orders and sizes of blobs."""
    d = collections.OrderedDict((k, t.detach().numpy()) for k, t in tensors().items() if t.dtype != torch.bfloat16)
    d["fortran"] = numpy.asfortranarray(numpy.random.RandomState(1).randn(4, 3, 2, 5).astype("f4"))
    d["turned"] = d["fortran"].transpose(2, 0, 1, 3)
    d["lr"] = numpy.array(0.01, dtype="f4")
    d["255 bytes"] = numpy.arange(255, dtype="u1")
    d["256 bytes"] = numpy.arange(256, dtype="u1").reshape(16, 16)
    return d


d = arrays()
others = dict(model_iter=400000, texts=numpy.array(["a", "b"]), big=numpy.arange(3, dtype=">f4"),
              objects=numpy.array([None, 1], dtype=object), iter=numpy.int64(7))
# The name of the module differs between versions of NumPy.
for name, writer in (("python2", Python2), ("python3", pickle._Pickler)):
    for module in (b"numpy.core.multiarray", b"numpy._core.multiarray"):
        put("%s%s.pkl" % (name, "_core" if b"_core" in module else ""), dict(blobs=dict(d, **others), test_metric=[0.7]),
            {k: torch.from_numpy(numpy.ascontiguousarray(v).reshape(v.shape)) for k, v in d.items()},
            save=lambda whole, f: writer(f, protocol=2).dump(whole), change=module)
# Whole modules, scripts and other objects must be refused, or have no tensors.
torch.save(model, os.path.join(folder, "module.bad"))
torch.save(model, os.path.join(folder, "module-legacy.bad"), **legacy)
torch.save([1, 2], os.path.join(folder, "list.bad"))
with open(os.path.join(folder, "protocol0.bad"), "wb") as f:
    pickle.dump(dict(d), f, protocol=0)
torch.jit.script(model).save(os.path.join(folder, "script.bad"))
