"""vtshard_check.py CHECK SET ARGUMENT...: checks of share/python/vtshard.py.

read SET DIR FILE       each frame equals the file that tar unpacked to DIR, and each
                        sample is that of FILE, written by vt-pack --list
trace SET SEED FILE ARGUMENT=VALUE...
                        each clip equals the row of vt-train's trace FILE
damaged SET             the message about a frame of SET
torch SET               workers of a DataLoader give what this process reads
example SET             the example in the docstring of vtshard gives batches of arrays
"""
import ast
import glob
import json
import os
import pickle
import sys

import vtshard


def read(path, unpacked, table):
    data, frames = vtshard.Set(path), 0
    rows = [r.rstrip("\n").split("\t") for r in open(table) if not r.startswith("#")]
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
        assert sample.json == told
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
    import io
    import textwrap
    import numpy as np
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
