"""vtshard_check.py CHECK SET ARGUMENT...: checks of share/python/vtshard.py.

read SET DIR FILE       each frame equals the file that tar unpacked to DIR, and each
                        sample is that of FILE, written by vt-pack --list
trace SET SEED FILE ARGUMENT=VALUE...
                        each clip equals the row of vt-train's trace FILE
view SET SCORES WEIGHTS NAMES ARGUMENT=VALUE...
                        a linear layer of the means of the views gives the SCORES of
                        vt-eval; weightdump wrote WEIGHTS and NAMES
damaged SET             the message about a frame of SET
torch SET               workers of a DataLoader give what this process reads
example SET             the example in the docstring of vtshard gives batches of arrays
"""
import ast
import glob
import io
import json
import math
import os
import pickle
import sys

import numpy as np

import vtshard


def read(path, unpacked, table):
    data, frames = vtshard.Set(path), 0
    rows = [r.rstrip(b"\n").split(b"\t") for r in open(table, "rb") if r[:1] != b"#"]
    rows = [[c.decode() for c in r[:11]] + r[11:] for r in rows]
    assert len(rows) == len(data) > 0
    for sample, row in zip(data, rows):
        key, label, _, n, width, height, fps, flags = row[:8]
        n, label = int(n), int(label)
        assert (sample.key, len(sample), sample.label, sample.flags) == (key, n, label, int(flags))
        assert (sample.width, sample.height) == (int(width), int(height))
        num, den = map(int, fps.split("/"))
        assert (sample.fps is None) == (den == 0)
        assert den == 0 or sample.fps.numerator * den == num * sample.fps.denominator
        at = os.path.join(unpacked, key)
        told = json.load(open(at + ".json"))
        assert sample.json == told and os.fsencode(sample.source) == row[11]
        labels = [[label, 0, n - 1]] if label >= 0 else []
        assert [list(x) for x in sample.labels] == told.get("labels", labels)
        if told.get("src_bytes"):       # makeset.c has no source, and other times
            times = [(f * 20000 * den + num) // (2 * num) if num else 0 for f in range(n)]
            assert [round(t * 10000) for t in sample.times] == told.get("t", times)
        assert len(sample.times) == n and sample.streams == data.streams
        for tag, s in zip(data.streams, data.manifest["streams"]):
            name = at + ".%06d" + ("" if tag == "rgb" else "." + tag) + "." + s["ext"]
            want = [open(name % f, "rb").read() for f in range(n)]
            assert sample.frames(range(n), tag) == want
            assert sample.frames([n - 1, 0, 0], tag) == [want[-1], want[0], want[0]]
            frames += n
    stored = [f for f in glob.glob(unpacked + "/**", recursive=True) if f[-4:] in (".jpg", ".png")]
    assert frames == len(stored) > 0
    assert data.classes == open(os.path.join(path, "classes.txt")).read().splitlines()
    assert data[-1].key == data[len(data) - 1].key
    for wrong in (lambda: data[len(data)], lambda: data[0].frames([len(data[0])]),
                  lambda: data[0].frames([-1])):
        try:
            wrong()
        except IndexError:
            continue
        assert False
    for again in pickle.loads(pickle.dumps(data))[0], pickle.loads(pickle.dumps(data[0])):
        assert again.frames([0]) == data[0].frames([0])


def trace(path, seed, file, *arguments):
    data, rows = vtshard.Set(path), 0
    rules = {k: ast.literal_eval(v) for k, v in (a.split("=", 1) for a in arguments)}
    for line in open(file):
        if line.startswith("#"):
            continue
        _, number, *want, _ = line.rstrip("\n").split("\t")
        c = data.clip(int(seed), int(number), **rules)
        crop = "%.9gx%.9g+%.9g+%.9g" % (c.crop.width, c.crop.height, c.crop.x, c.crop.y)
        got = [c.sample.key, ",".join(map(str, c.frames)), crop, str(int(c.flip))]
        assert got == want, (number, got, want)
        rows += 1
    assert rows > 2 * len(data) and c.number == int(number), rows
    clips = vtshard.Clips(data, int(seed), count=rows, first=1, **rules)
    assert clips[0][2:] == data.clip(int(seed), 1, **rules)[2:] and len(clips) == rows


def resized(pixels, at, length, side, antialias):
    """Return pixels resized along the first axis from at, length long, to side."""
    scale = length / side
    support = max(scale, 1) if antialias else 1
    centre = at + (np.arange(side) + 0.5) * scale - 0.5
    near = np.arange(-int(support) - 2, int(support) + 3)
    place = np.floor(centre)[:, None] + near
    share = np.maximum(0, 1 - abs(place - centre[:, None]) / support)
    inside = (place >= 0) & (place < len(pixels))
    if antialias:
        share *= inside
    share /= share.sum(1, keepdims=True)
    place = np.clip(place, 0, len(pixels) - 1).astype(int)
    return np.einsum("sn,sn...->s...", share, pixels[place])


def view(path, scores, weights, names, *arguments):
    from PIL import Image
    data, at, layer = vtshard.Set(path), 0, {}
    rules = {k: ast.literal_eval(v) for k, v in (a.split("=", 1) for a in arguments)}
    values = np.fromfile(weights, np.float32)
    for name, _, shape in (line.split("\t")[:3] for line in open(names)):
        shape = [int(n) for n in shape.strip().split("x")]
        layer[name] = values[at:at + math.prod(shape)].reshape(shape)
        at += math.prod(shape)
    matrix, bias = (next(v for k, v in layer.items() if k.startswith("model/") and k.endswith(e))
                    for e in ("weight", "bias"))
    antialias = rules.get("crop_rule", "multiscale") == "multiscale"
    rows, worst = [line.rstrip("\n").split("\t") for line in list(open(scores))[2:]], 0
    for i, row in enumerate(rows):
        c, means = data.view(i, **rules), []
        for frame in c.read():
            pixels = np.asarray(Image.open(io.BytesIO(frame)).convert("RGB"), float)
            pixels = resized(pixels, c.crop.y, c.crop.height, rules["crop"], antialias)
            pixels = resized(pixels.swapaxes(0, 1), c.crop.x, c.crop.width, rules["crop"], antialias)
            means.append(pixels.mean((0, 1)) / 255)
        got = matrix.reshape(len(bias), 3) @ np.mean(means, 0) + bias
        worst = max(worst, abs(got - [float(v) for v in row[2:-3]]).max())
        assert c.sample.key == row[0] and len(c.frames) == rules["frames"] and not c.flip
    assert len(rows) == len(data) and worst < 5e-3, worst


def damaged(path):
    try:
        for sample in vtshard.Set(path):
            sample.frames(range(len(sample)))
    except vtshard.Damaged as e:
        print(e)
        return
    assert False, "no damage found"


def item(clip):
    return clip.sample.key, clip.read(), clip.flip


def whole(sample):
    return sample[0].key, sample[0].frames([0])


def torch(path):
    from torch.utils.data import DataLoader
    data = vtshard.Set(path)
    clips = vtshard.Clips(data, 7, count=2 * len(data), transform=item, frames=4, crop=24)
    want = [clips[i] for i in range(len(clips))]
    for how in "fork", "spawn":
        got = DataLoader(clips, batch_size=3, num_workers=2, collate_fn=list,
                         multiprocessing_context=how)
        assert [x for batch in got for x in batch] == want
    got = list(DataLoader(data, num_workers=2, collate_fn=whole))
    assert got == [whole([s]) for s in data] and len(got) == len(data)


def example(path):
    import textwrap
    from PIL import Image
    from torch.utils.data import DataLoader
    text = vtshard.__doc__
    text = text[text.index("    def pixels"):text.index("The module")]
    names = dict(vtshard=vtshard, data=vtshard.Set(path), io=io, np=np, Image=Image,
                 DataLoader=DataLoader, batches=[])
    exec(textwrap.dedent(text) + "    batches.append((array.shape, len(label)))", names)
    assert sum(n for _, n in names["batches"]) == len(names["data"])
    assert names["batches"][0] == ((8, 8, 224, 224, 3), 8)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
