"""vtshard: read packed datasets of vt, and compute the clips of vt-train.

    data = vtshard.Set("train")
    sample = data[0]
    sample.key, sample.label, sample.labels, sample.times
    jpegs = sample.frames([3, 9])               # bytes, one read each
    flow = sample.frames([3, 9], stream="x")
    clip = data.clip(seed=1, n=0, frames=8, crop=224)
    view = data.view(0, frames=8, crop=224)     # of a validation

Set and Clips are map-style datasets for torch.utils.data.DataLoader.  A transform
makes arrays of their items, here with Pillow:

    def pixels(clip):
        x, y, w, h = clip.crop
        frames = [Image.open(io.BytesIO(b)).convert("RGB").resize((224, 224),
            Image.BILINEAR, box=(x, y, x + w, y + h)) for b in clip.read()]
        array = np.stack([np.asarray(f) for f in frames])
        return (array[:, :, ::-1].copy() if clip.flip else array), clip.sample.label

    clips = vtshard.Clips(data, seed=1, frames=8, crop=224, transform=pixels)
    for array, label in DataLoader(clips, batch_size=8):    # 8 x 8 x 224 x 224 x 3

The module needs Python 3.8 and NumPy.  The format is vt-shard(5), the rules of clips
are those of vt-clips(7), and the random numbers those of vt-checkpoint(5).
"""
import collections
import fractions
import json
import math
import os
import re
import struct

import numpy as np

__all__ = ["Clip", "Clips", "Crop", "Damaged", "Sample", "Set", "crc32c", "xxh3_128"]


class Damaged(ValueError):
    """Data that differ from their checksum or from the format.  The message names
    the shard and, if it is about a frame, the sample and the frame."""


# ---- checksums ----

CRC_BLOCK = 1024


def _crc_tables():
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = first >> 1 ^ np.where(first & 1, np.uint32(0x82f63b78), np.uint32(0))
    rows = [first]
    for _ in range(CRC_BLOCK - 1):
        rows.append(rows[-1] >> 8 ^ first[rows[-1] & 255])
    return first.tolist(), np.concatenate(rows[::-1])


# CRC_ROWS[p * 256 + b] is the share of byte b at place p of a block in the CRC after
# the block.  The CRC is linear, so the shares of all bytes are looked up at once.
CRC_FIRST, CRC_ROWS = _crc_tables()
CRC_PLACES = np.arange(CRC_BLOCK) * 256


def crc32c(data):
    """Return the CRC32C of the bytes data."""
    crc, odd = 0xffffffff, len(data) & 3
    for b in data[:odd]:
        crc = CRC_FIRST[(crc ^ b) & 255] ^ crc >> 8
    rest = np.frombuffer(data, np.uint8)[odd:]
    short = len(rest) % CRC_BLOCK
    for size, part in (short, rest[:short]), (CRC_BLOCK, rest[short:]):
        if not len(part):
            continue
        blocks = part.reshape(-1, size)
        at = CRC_BLOCK - size
        shares = np.bitwise_xor.reduce(CRC_ROWS[CRC_PLACES[at:] + blocks], axis=1)
        row = CRC_ROWS[at * 256:(at + 4) * 256].tolist()
        for share in shares.tolist():
            # The CRC so far acts like an exclusive-or with the first four bytes.
            crc = share ^ row[crc & 255] ^ row[256 + (crc >> 8 & 255)] ^ \
                row[512 + (crc >> 16 & 255)] ^ row[768 + (crc >> 24)]
    return crc ^ 0xffffffff


M32, M64 = 0xffffffff, 0xffffffffffffffff
P32 = 0x9e3779b1, 0x85ebca77, 0xc2b2ae3d
P64 = (0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
       0x85ebca77c2b2ae63, 0x27d4eb2f165667c5)
# The default secret of XXH3, from its specification (github.com/Cyan4973/xxHash,
# doc/xxhash_spec.md).
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def _secret(at, words=8):
    return np.frombuffer(SECRET, "<u8", words, at)


def _shares(stripes, keys):
    """Return the sum of stripes[..., n, 8] that XXH3 adds to its accumulators."""
    keyed = stripes ^ keys
    product = (keyed & np.uint64(M32)) * (keyed >> np.uint64(32))
    swapped = stripes.reshape(stripes.shape[:-1] + (4, 2))[..., ::-1].reshape(stripes.shape)
    return (product + swapped).sum(axis=-2, dtype=np.uint64)


def _merge(acc, at, result):
    acc, key = acc.tolist(), _secret(at).tolist()
    for i in range(0, 8, 2):
        product = (acc[i] ^ key[i]) * (acc[i + 1] ^ key[i + 1])
        result += product & M64 ^ product >> 64
    result &= M64
    result = (result ^ result >> 37) * 0x165667919e3779f9 & M64
    return result ^ result >> 32


def xxh3_128(data):
    """Return the XXH3-128 of data, more than 240 bytes, as xxh128sum prints it."""
    n = len(data)
    if n <= 240:
        raise ValueError("xxh3_128: %d bytes (wanted more than 240)" % n)
    acc = np.array([P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]], np.uint64)
    keys = np.stack([_secret(8 * i) for i in range(16)])
    last, prime, shift = _secret(128), np.uint64(P32[0]), np.uint64(47)
    blocks = (n - 1) // 1024
    for at in range(0, blocks, 1024):
        many = min(1024, blocks - at)
        stripes = np.frombuffer(data, "<u8", many * 128, at * 1024).reshape(many, 16, 8)
        for share in _shares(stripes, keys):
            acc += share
            acc = (acc ^ acc >> shift ^ last) * prime
    stripes = (n - 1 - blocks * 1024) // 64
    acc += _shares(np.frombuffer(data, "<u8", stripes * 8, blocks * 1024).reshape(stripes, 8),
                   keys[:stripes])
    acc += _shares(np.frombuffer(data, "<u8", 8, n - 64).reshape(1, 8), _secret(121)[None])
    high = _merge(acc, 117, ~(n * P64[1]) & M64)
    return "%016x%016x" % (high, _merge(acc, 11, n * P64[0] & M64))


# ---- shards ----

ENTRY = np.dtype([
    ("key_hash", "<u8"), ("key_at", "<u4"), ("key_n", "<u2"), ("flags", "<u2"), ("blk", "<u4"),
    ("blocks", "<u4"), ("first", "<u4"), ("frames", "<u4"), ("streams", "u1"), ("others", "u1"),
    ("zero", "<u2"), ("label", "<i4"), ("width", "<u2"), ("height", "<u2"), ("fps_num", "<u4"),
    ("fps_den", "<u4"), ("zero2", "<u4"), ("source", "<u8")])
assert ENTRY.itemsize == 64
RECORD = np.dtype([("blk", "<u4"), ("length", "<u4"), ("crc", "<u4"), ("time", "<u4")])
LABELS = 32                             # flag of samples with a set of labels
OPEN_MAX = 128                          # files that a process keeps open


class _Shard:
    """The index of a shard, without its records."""

    def __init__(self, path):
        self.path = path
        file = _File(path)
        size = os.fstat(file.fd).st_size
        if size % 512 or size < 2048:
            raise Damaged("%s: %d bytes: truncated, or not a shard" % (path, size))
        self._footer(file.read(1536, size - 1536), size)
        index = file.read(self.index_n, self.index_at)
        if xxh3_128(index[:-512]) != self.index_hash:
            raise Damaged("%s: the hash of the index is not the one in the footer" % path)
        part = [index[at:at + n] for at, n in self.section]
        self.entry = np.frombuffer(part[0], ENTRY)
        self.strings = part[3]
        self.streams = [s["tag"] for s in json.loads(part[4])["streams"]]

    def _footer(self, foot, size):
        if foot[:8] != b"VTSHARD1" or foot[504:508] != b"VEND" or foot[512:] != bytes(1024):
            raise Damaged("%s: no footer: truncated, or not a shard" % self.path)
        if struct.unpack_from("<I", foot, 508)[0] != crc32c(foot[:508]):
            raise Damaged("%s: the checksum of the footer is wrong" % self.path)
        major, _, _, self.index_at, self.index_n, self.samples, self.records_n, self.frames = \
            struct.unpack_from("<HHIQQIIQ", foot, 8)
        if major != 1:
            raise Damaged("%s: version %d (wanted 1)" % (self.path, major))
        self.section = [struct.unpack_from("<QQ", foot, 48 + 16 * i) for i in range(5)]
        self.index_hash, self.settings = foot[152:168].hex(), foot[168:184].hex()
        self.number, self.first = struct.unpack_from("<I4xQ", foot, 184)
        edges = [edge for at, n in self.section for edge in (at, at + n)]
        lengths = [64 * self.samples, 16 * self.records_n, 4 * self.samples]
        if self.index_at + self.index_n != size - 1024 or self.index_n < 1024 or \
                edges != sorted(edges) or edges[-1] > self.index_n - 512 or \
                [n for _, n in self.section[:3]] != lengths:
            raise Damaged("%s: the index does not fit the file" % self.path)


class _File:
    """An open file, closed when nothing refers to it."""

    def __init__(self, path):
        self.path, self.fd = path, None
        self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self):
        if self.fd is not None:
            os.close(self.fd)

    def read(self, n, at):
        data = os.pread(self.fd, n, at)
        while len(data) < n:            # Linux reads at most 2 GiB at once
            more = os.pread(self.fd, n - len(data), at + len(data))
            if not more:
                raise Damaged("%s: offset %d: the file ends, %d bytes are missing" %
                              (self.path, at + len(data), n - len(data)))
            data += more
        return data


class Sample:
    """One video of a set.

    key             str
    label           int; -1: none, or a set of labels
    labels          list of (class, first frame, last frame)
    times           seconds from the first frame, float64[len(sample)]
    fps             fractions.Fraction, or None if it is not known
    width, height   of the frames of the first stream
    flags           int, as in vt-shard(5)
    streams         tags of the streams; "rgb" is the untagged one
    path            the shard
    source          path of the video, as vt-pack --list prints it; os.fsdecode made it
                    a str
    json            KEY.json, read at its first use

    len(sample) is the number of frames.  A sample can be pickled.
    """

    def __init__(self, files, shard, i):
        e = shard.entry[i]
        self._files, self.path, self.streams = files, shard.path, shard.streams
        self.key = shard.strings[e["key_at"]:][:e["key_n"]].decode("ascii")
        self.label, self.flags = int(e["label"]), int(e["flags"])
        self.width, self.height = int(e["width"]), int(e["height"])
        self.fps = None
        if e["fps_den"]:
            self.fps = fractions.Fraction(int(e["fps_num"]), int(e["fps_den"]))
        self._frames, self._first_blk = int(e["frames"]), int(e["blk"])
        self._end_blk = self._first_blk + int(e["blocks"])
        n = self._frames * len(self.streams) + int(e["others"])
        if e["streams"] != len(self.streams) or int(e["first"]) + n > shard.records_n:
            raise Damaged("%s: key %s: its records are not in the index" % (self.path, self.key))
        at = shard.index_at + shard.section[1][0] + 16 * int(e["first"])
        self._records = np.frombuffer(files.read(self.path, 16 * n, at), RECORD)
        self._json = None

    def __len__(self):
        return self._frames

    @property
    def times(self):
        return self._records["time"][:self._frames * len(self.streams):len(self.streams)] * 1e-4

    @property
    def json(self):
        if self._json is None:
            self._json = json.loads(self._member(len(self._records) - 1, ".json"))
        return self._json

    @property
    def source(self):
        text = self.json.get("src") or self.key
        return os.fsdecode(re.sub(rb"\\\\|\\x[0-9a-f]{2}", lambda m: bytes(
            [int(m[0][2:] or b"5c", 16)]), text.encode()))

    @property
    def labels(self):
        if self.flags & LABELS:
            return [tuple(x) for x in self.json["labels"]]
        return [(self.label, 0, len(self) - 1)] if self.label >= 0 else []

    def frames(self, numbers, stream=None):
        """Return the stored bytes, JPEG or PNG, of the frames numbers of stream,
        the first one by default: a list of bytes.  Each frame is one read.  Raise
        Damaged if the checksum of a frame is wrong, IndexError or KeyError if the
        sample lacks a frame or the stream."""
        stream = self.streams[0] if stream is None else stream
        if stream not in self.streams:
            raise KeyError("%s: no stream %s (it has %s)" %
                           (self.key, stream, ", ".join(self.streams)))
        s, out = self.streams.index(stream), []
        for f in numbers:
            f = f.__index__()
            if not 0 <= f < len(self):
                raise IndexError("%s: frame %d (wanted 0 to %d)" % (self.key, f, len(self) - 1))
            what = "frame %d of stream %s" % (f, stream)
            out.append(self._member(f * len(self.streams) + s, what))
        return out

    def _member(self, record, what):
        blk, n, crc = (int(self._records[x][record]) for x in ("blk", "length", "crc"))
        where = "%s: key %s, offset %d: %s" % (self.path, self.key, blk * 512, what)
        if blk <= self._first_blk or blk * 512 + n > self._end_blk * 512:
            raise Damaged(where + ": it is not among the blocks of the sample")
        data = self._files.read(self.path, n, blk * 512)
        if crc32c(data) != crc:
            raise Damaged(where + ": the checksum of the data is wrong")
        return data


class _Files:
    """The open shards of a process: a pickled copy opens them itself."""

    def __init__(self):
        self.file = collections.OrderedDict()

    def __getstate__(self):
        return {}

    def __setstate__(self, state):
        self.__init__()

    def read(self, path, n, at):
        # A file that another thread drops here is closed after the last read from it.
        file = self.file.get(path)
        if file is None:
            file = self.file[path] = _File(path)
            if len(self.file) > OPEN_MAX:
                self.file.popitem(last=False)
        return file.read(n, at)


class Set:
    """The packed dataset in the directory path: a sequence of Sample.

    classes         names of the labels
    streams         tags of the streams
    manifest        manifest.json

    Set reads and verifies the index of each shard.  It can be pickled, and used by
    the workers of a DataLoader.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        name = os.path.join(self.path, "manifest.json")
        with open(name, encoding="utf-8") as f:
            self.manifest = m = json.load(f)
        if m.get("format") != "vtset" or m.get("version") != 2:
            raise Damaged("%s: not a manifest of a set" % name)
        self.classes, self._files, self._shards, self._order = m["classes"], _Files(), [], {}
        self.streams = [s["tag"] for s in m["streams"]]
        settings, first = m["settings_id"], 0
        for k, of in enumerate(m["shards"]):
            if "/" in of["name"]:
                raise Damaged("%s: %s is not a name of a shard" % (name, of["name"]))
            s = _Shard(os.path.join(self.path, of["name"]))
            if (s.settings, s.number, s.first, s.samples, s.streams) != \
                    (settings, k, first, of["samples"], self.streams):
                raise Damaged("%s: not shard %d of this set" % (s.path, k))
            self._shards.append(s)
            first += s.samples
        self._first = [s.first for s in self._shards]
        self._samples = first

    def __len__(self):
        return self._samples

    def __getitem__(self, i):
        i = i.__index__()
        if not -len(self) <= i < len(self):
            raise IndexError("%s: sample %d of %d" % (self.path, i, len(self)))
        i %= len(self)
        s = self._shards[int(np.searchsorted(self._first, i, "right")) - 1]
        return Sample(self._files, s, i - s.first)

    def clip(self, seed, n, frames, crop, stride=0, sampler="tsm", crop_rule="multiscale",
             flip=True, jitter_min=256, jitter_max=320, jitter_inverse=False, crop_area=0.08,
             crop_scales=(1, .875, .75, .66), crop_distort=1, crop_positions=13, repeat=1,
             stack=1):
        """Return clip n of a training run of vt-train with this seed: a Clip.

        frames, crop and stride, one number or the smallest and the largest,
        are those of the schedule's stage in which it trains on the clip.  The other
        arguments have the names and defaults of vt-train's options; flip=False is
        --no-flip.  stack is the number of frames that a frame of the network
        reads, for flow and differences.  Raise ValueError for unknown rules.

        Runs with --balance or --on-corrupt visit other samples, and --flip-swap can
        forbid a flip.  These are not computed."""
        rule = CROP_RULES.get(crop_rule)
        if sampler not in SAMPLERS or rule is None:
            raise ValueError("sampler %s, crop rule %s (wanted one of %s, and one of %s)" %
                             (sampler, crop_rule, ", ".join(SAMPLERS), ", ".join(CROP_RULES)))
        seed, n = seed.__index__(), n.__index__()
        low, high = stride if isinstance(stride, (tuple, list)) else (stride, stride)
        if min(n, seed, low) < 0 or min(frames, crop, repeat, stack) < 1 or high < low:
            raise ValueError("a number is out of range")
        if high == 0 and sampler in ("pyslowfast", "charades", "mmaction2"):
            raise ValueError("sampler %s needs a stride" % sampler)
        sample = self._sample(seed, n // repeat)
        first = n - n % repeat
        if high > 0:
            low += _Draws(seed, first, DRAW_STRIDE).below(high - low + 1)
        total = max(len(sample) - stack + 1, 1)
        numbers = _frames(sampler, total, frames, low, float(sample.fps or 0),
                          _Draws(seed, first, DRAW_FRAMES))
        box = rule(sample.width, sample.height, crop,
                   _Draws(seed, n, DRAW_CROP_SIZE), _Draws(seed, n, DRAW_CROP_PLACE),
                   _Rule(crop_rule, jitter_min, jitter_max, jitter_inverse, crop_area, crop_scales,
                         crop_distort, crop_positions))
        mirrored = bool(flip) and _Draws(seed, n, DRAW_FLIP).uniform() < 0.5
        return Clip(n, sample, numbers, Crop(*map(float, box)), mirrored)

    def view(self, i, frames, crop, stride=0, sampler="tsm", crop_rule="multiscale", stack=1):
        """Return the clip of sample i that a validation of vt-train reads, and vt-eval
        without --views: a Clip, not mirrored.  The arguments are those of clip; of the
        crop rules, multiscale and centre have the crop of TSM, the others that of
        PySlowFast."""
        if sampler not in SAMPLERS or crop_rule not in CROP_RULES:
            raise ValueError("sampler %s, crop rule %s (wanted one of %s, and one of %s)" %
                             (sampler, crop_rule, ", ".join(SAMPLERS), ", ".join(CROP_RULES)))
        if stride == 0 and sampler in ("pyslowfast", "charades", "mmaction2"):
            raise ValueError("sampler %s needs a stride" % sampler)
        sample = self[i]
        total = max(len(sample) - stack + 1, 1)
        numbers = _view_frames(sampler, total, frames, stride, float(sample.fps or 0))
        rule = _centre if crop_rule in ("multiscale", "centre") else _centre_pyslowfast
        box = rule(sample.width, sample.height, crop, None, None, None)
        return Clip(i, sample, numbers, Crop(*map(float, box)), False)

    def _sample(self, seed, n):
        epoch = n // len(self)
        order = self._order.get((seed, epoch))
        if order is None:
            order = _shuffle(seed, epoch, len(self))
            if len(self._order) > 1:
                self._order.clear()
            self._order[seed, epoch] = order
        return self[order[n % len(self)]]


# ---- clips ----

Crop = collections.namedtuple("Crop", "x y width height")
Crop.__doc__ = "A crop in pixels of the first stream; edges may be fractional."


class Clip(collections.namedtuple("Clip", "number sample frames crop flip")):
    """A clip: its number, that of its sample for a view, its Sample, the numbers of its
    frames, its Crop, and whether it is mirrored after the crop."""

    def read(self, stream=None):
        """Return the bytes of its frames, as Sample.frames."""
        return self.sample.frames(self.frames, stream)


class Clips:
    """A map-style dataset: item i is transform(clip first + i) of a run of vt-train.

    rules are the arguments of Set.clip after n.  Without a transform an item is a
    Clip.  Read in order, the items are the clips of the run in its order: use a
    DataLoader with shuffle=False."""

    def __init__(self, data, seed, count=None, first=0, transform=None, **rules):
        self.data, self.seed, self.first, self.rules = data, seed, first, rules
        self.transform = transform
        self.count = len(data) if count is None else count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError("clip %d of %d" % (i, self.count))
        clip = self.data.clip(self.seed, self.first + int(i), **self.rules)
        return clip if self.transform is None else self.transform(clip)


SHUFFLE, CLIP = 1, 2                    # purposes: the last word of a counter
DRAW_STRIDE, DRAW_FRAMES, DRAW_CROP_SIZE, DRAW_CROP_PLACE, DRAW_FLIP = (k << 16 for k in range(5))


def _philox(seed, c0, c1, c2, c3):
    """Return the first word of Philox4x32-10, for ints or for an array c0."""
    k0, k1 = seed & M32, seed >> 32 & M32
    for _ in range(10):
        p0, p1 = c0 * 0xd2511f53, c2 * 0xcd9e8d57
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & M32, p0 >> 32 ^ c3 ^ k1, p0 & M32
        k0, k1 = k0 + 0x9e3779b9 & M32, k1 + 0xbb67ae85 & M32
    return c0


def _shuffle(seed, epoch, n):
    i = np.arange(1, n, dtype=np.uint64)
    product = _philox(seed, i, i * 0, i * 0 + (epoch & M32), i * 0 + SHUFFLE) * (i + 1)
    again = (product & M32) < 2 ** 32 % (i + 1)
    to = (product >> 32).tolist()
    for k in np.flatnonzero(again).tolist():
        attempt, value = 1, None
        while value is None:
            value = _bounded(_philox(seed, k + 1, attempt, epoch & M32, SHUFFLE), k + 2)
            attempt += 1
        to[k] = value
    order = list(range(n))
    for k in range(n - 1, 0, -1):
        order[k], order[to[k - 1]] = order[to[k - 1]], order[k]
    return order


def _bounded(word, n):
    product = word * n
    return product >> 32 if product & M32 >= 2 ** 32 % n else None


class _Draws:
    """The random numbers of a clip for one purpose."""

    def __init__(self, seed, clip, draw):
        self.seed, self.clip, self.draw = seed, clip, draw

    def word(self):
        self.draw += 1
        return _philox(self.seed, self.clip & M32, self.clip >> 32, self.draw - 1, CLIP)

    def uniform(self):
        return (self.word() >> 8) * 2.0 ** -24

    def below(self, n):
        value = None
        while value is None:
            value = _bounded(self.word(), n)
        return value


SAMPLERS = ("tsm", "tsm-upstream", "dense", "ssv2", "pyslowfast", "charades", "mmaction2")


def _frames(sampler, n, t, stride, fps, r):
    """Return t of n frames by the rules of vt-clips(7)."""
    if sampler == "ssv2":
        edge = [round((n - 1) / t * i) for i in range(t + 1)]
        return [a + r.below(b - a + 1) for a, b in zip(edge, edge[1:])]
    if stride > 0:
        length = (t - 1) * stride + 1
        if sampler == "pyslowfast":
            return _window(n, t, stride * t / 30 * (fps if fps > 0 else 30), r.uniform())
        if sampler == "mmaction2":
            start = r.below(max(n - t * stride + 1, 1))
            return [(start + i * stride) % n for i in range(t)]
        if sampler == "charades" and length > n:
            start = -r.below(length - n + 1)
        else:
            start = r.below(max(n - length + 1, 1))
        return [min(max(start + i * stride, 0), n - 1) for i in range(t)]
    if sampler == "dense":
        start = r.below(n - 64) if n > 64 else 0
        return [(start + i * max(64 // t, 1)) % n for i in range(t)]
    if n >= t:
        return [i * (n // t) + r.below(n // t) for i in range(t)]
    if sampler == "tsm-upstream":
        return [0] * t
    return [int((i + r.uniform()) * n / t) for i in range(t)]


def _view_frames(sampler, n, t, stride, fps):
    """Return the t of n frames of a validation, by the rules of vt-clips(7)."""
    if sampler == "pyslowfast":
        return _window(n, t, stride * t / 30 * (fps if fps > 0 else 30), 0.5)
    if sampler == "ssv2":
        edge = [round((n - 1) / t * i) for i in range(t + 1)]
        return [(a + b) // 2 for a, b in zip(edge, edge[1:])]
    if stride > 0:
        start = max(n - (t - 1) * stride - 1, 0) // 2
        if sampler == "mmaction2":
            return [(start + i * stride) % n for i in range(t)]
        return [min(start + i * stride, n - 1) for i in range(t)]
    if sampler == "dense":
        return [(max(n - 64, 0) // 2 + i * max(64 // t, 1)) % n for i in range(t)]
    if sampler == "tsm-upstream" and n <= t:
        return [0] * t
    return [int(n / t / 2 + n / t * i) for i in range(t)]


def _window(n, t, size, u):
    """PySlowFast's window, spread from both ends in floats as torch.linspace does."""
    start = u * max(n - size, 0.0)
    first, last = np.float32(start), np.float32(start + size - 1)
    step = (last - first) / np.float32(t - 1) if t > 1 else np.float32(0)
    at = [first + step * np.float32(i) if i < t // 2 or t == 1 else
          last - step * np.float32(t - i - 1) for i in range(t)]
    return [int(min(max(f, 0), n - 1)) for f in at]


_Rule = collections.namedtuple("_Rule", "name low high inverse area scales distort positions")


def _multiscale(w, h, side, size, place, rule):
    short = min(w, h)
    sizes = [int(short * s) for s in rule.scales]
    sizes = [max(min(side, short) if abs(s - side) < 3 else s, 1) for s in sizes]
    pairs = [(sizes[j], sizes[i]) for i in range(len(sizes))
             for j in range(len(sizes)) if abs(i - j) <= rule.distort]
    cw, ch = pairs[size.below(len(pairs))]
    quarters = ((0, 0), (4, 0), (0, 4), (4, 4), (2, 2), (0, 2), (4, 2), (2, 4), (2, 0),
                (1, 1), (3, 1), (1, 3), (3, 3))
    across, down = quarters[place.below(rule.positions)]
    return across * ((w - cw) // 4), down * ((h - ch) // 4), cw, ch


def _of_scaled(w, h, to, at, side):
    across, down = w / to[0], h / to[1]
    return at[0] * across, at[1] * down, side * across, side * down


def _jitter(w, h, side, size, place, rule):
    by, u = side / 224, size.uniform()
    low = max(round(rule.low * by), side)
    high = max(round(rule.high * by if rule.name == "jitter" else rule.high), low)
    length = 1 / (1 / high + u * (1 / low - 1 / high)) if rule.inverse else low + u * (high - low)
    long = math.floor(max(w, h) / min(w, h) * round(length))
    to = (long, round(length)) if w >= h else (round(length), long)
    free = [x - side + (rule.name == "jitter") for x in to]
    return _of_scaled(w, h, to, [place.below(x) if x > 0 else 0 for x in free], side)


def _resized(w, h, side, size, place, rule):
    for _ in range(10):
        area = w * h * (rule.area + size.uniform() * (1 - rule.area))
        ratio = math.exp((2 * size.uniform() - 1) * math.log(4 / 3))
        cw, ch = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 1 <= cw <= w and 1 <= ch <= h:
            x = place.below(w - cw + 1)
            return x, place.below(h - ch + 1), cw, ch
    cw = min(round(h * (4 / 3)) if w / h > 4 / 3 else w, w)
    ch = min(round(w / (3 / 4)) if w / h < 3 / 4 else h, h)
    return (w - cw) // 2, (h - ch) // 2, cw, ch


def _centre(w, h, side, size, place, _):
    short = round(side * (256 / 224))
    long = int(short * float(max(w, h)) / min(w, h))
    to = (long, short) if w >= h else (short, long)
    return _of_scaled(w, h, to, [round((x - side) / 2) for x in to], side)


def _centre_pyslowfast(w, h, side, size, place, _):
    short = round(side * (256 / 224))
    long = math.floor(max(w, h) / min(w, h) * short)
    to = (long, short) if w >= h else (short, long)
    return _of_scaled(w, h, to, [(x - side + 1) // 2 for x in to], side)


CROP_RULES = {"multiscale": _multiscale, "jitter": _jitter, "jitter-upstream": _jitter,
              "resized": _resized, "centre": _centre}
