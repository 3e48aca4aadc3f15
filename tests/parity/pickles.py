"""pickles.py FOLDER: write weight files by Python's own pickle, by each protocol
from 2 to 5, with stand-ins for the classes of PyTorch and numpy.  Write next to
each file FILE.names and FILE.values, as weights_torch.py does."""
import collections
import os
import pickle
import struct
import sys
import types
import zipfile

folder = sys.argv[1]
MAGIC, LEGACY = 0x1950A86A20F9469CFC6C, 1001


def module(name, **members):
    """Make a module whose members have their names in the other library."""
    sys.modules[name] = types.ModuleType(name)
    for key, member in members.items():
        member.__module__, member.__qualname__, member.__name__ = name, key, key
        setattr(sys.modules[name], key, member)


class FloatStorage:
    def __init__(self, key, data):
        self.key, self.data = key, data


def rebuild(*args):
    raise NotImplementedError


class Tensor:
    def __init__(self, storage, shape):
        self.storage, self.shape, strides = storage, shape, []
        for size in reversed(shape):
            strides.insert(0, strides[0] * self.shape[len(shape) - len(strides)] if strides else 1)
        self.strides = tuple(strides)

    def __reduce_ex__(self, protocol):
        return rebuild, (self.storage, 0, self.shape, self.strides, False, collections.OrderedDict())


class dtype:
    def __reduce__(self):
        return dtype, ("f4", False, True), (3, "<", None, None, None, -1, -1, 0)


class ndarray:
    def __init__(self, data, shape):
        self.data, self.shape = data, shape

    def __reduce_ex__(self, protocol):
        if protocol == 5:
            return frombuffer, (pickle.PickleBuffer(bytearray(self.data)), dtype(), self.shape, "C")
        return reconstruct, (ndarray, (0,), b"b"), (1, self.shape, dtype(), False, self.data)


def reconstruct(*args):
    raise NotImplementedError


def frombuffer(*args):
    raise NotImplementedError


class Config(dict):
    pass


module("torch", FloatStorage=FloatStorage)
module("torch._utils", _rebuild_tensor_v2=rebuild)
module("numpy", ndarray=ndarray, dtype=dtype)
module("numpy.core.multiarray", _reconstruct=reconstruct)
module("numpy.core.numeric", _frombuffer=frombuffer)
module("mmcv", Config=Config)


class Pickler(pickle._Pickler):
    """pickle.Pickler, except that it checks no names against modules."""

    def persistent_id(self, x):
        if isinstance(x, FloatStorage):
            return ("storage", FloatStorage, x.key, "cpu", len(x.data) // 4)


def numbers(n, first):
    return struct.pack("<%df" % n, *(first + k / 4 for k in range(n)))


def put(name, members, d):
    with open(os.path.join(folder, name), "wb") as f:
        members(f)
    with open(os.path.join(folder, name + ".names"), "w") as f:
        for key, (data, shape) in d.items():
            f.write("%s\t%s\n" % (key, "x".join(str(n) for n in shape)))
    with open(os.path.join(folder, name + ".values"), "wb") as f:
        for data, shape in d.values():
            f.write(data)


# More entries than BINPUT can count, and a text longer than 255 bytes.
d = {"module._orig_mod.layer%d.weight" % k: (numbers(6, k), (2, 3)) for k in range(300)}
d["long." + "x" * 300] = numbers(1, 7), (1,)
storages = {key: FloatStorage(str(k), data) for k, (key, (data, shape)) in enumerate(d.items())}
extra = dict(epoch=3, seen={1, 2}, fixed=frozenset("ab"), raw=b"xyz", more=bytearray(b"xyz"), large=1 << 40, huge=1 << 90,
             config=Config(a=1), pair=(1, 2, 3, 4, 5), none=None, flag=True, rate=0.1, text="\u00e9" * 200, bulk=b"x" * 300)
for protocol in 2, 3, 4, 5:
    state = collections.OrderedDict((key, Tensor(storages[key], d[key][1])) for key in d)

    def archive(f):
        with zipfile.ZipFile(f, "w") as z:
            with z.open("archive/data.pkl", "w") as to:
                Pickler(to, protocol).dump(dict(extra, state_dict_ema=state))
            for s in storages.values():
                z.writestr("archive/data/" + s.key, s.data)

    def legacy(f):
        for x in MAGIC, LEGACY, dict(little_endian=True), dict(extra, model=state), [s.key for s in storages.values()]:
            Pickler(f, protocol).dump(x)
        for s in storages.values():
            f.write(struct.pack("<q", len(s.data) // 4) + s.data)

    def arrays(f):
        Pickler(f, protocol).dump(dict(extra, blobs={key: ndarray(*d[key]) for key in d}))

    put("zip.%d" % protocol, archive, d)
    put("legacy.%d" % protocol, legacy, d)
    put("arrays.%d" % protocol, arrays, d)
