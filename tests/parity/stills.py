"""stills.py make FOLDER: write a checkpoint of torchvision's ResNet-50 with
random weights, pictures, and PyTorch's scores of them:
    weights.pth, frames/CLASS/PICTURE/img_00001.png, tensors/NAME.f32, scores.f64
stills.py compare FOLDER EXPORTED SCORES ANSWERS: compare the tensors of a
safetensors file bit by bit, the scores of vt-eval --scores to 1e-4, and the
probabilities of the folders in vt-eval --json.
"""
import json
import os
import struct
import sys
import zlib

import numpy as np

SIDE = 64


def png(path, x):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    h, w, _ = x.shape
    rows = b"".join(b"\0" + row.tobytes() for row in x)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make(folder):
    import torch
    import published

    torch.set_num_threads(2)
    torch.manual_seed(2)
    keys, n = "torchvision_resnet50", published.CLASSES
    state = published.Written(published.shapes_of("resnet50", keys)).state_dict()
    published.save(keys, state, folder + "/weights.pth")
    os.mkdir(folder + "/tensors")
    for name, tensor in state.items():
        tensor.float().numpy().tofile("%s/tensors/%s.f32" % (folder, name))
    x = np.random.default_rng(2).integers(0, 256, (n, 1, SIDE, SIDE, 3), np.uint8)
    for i in range(n):
        at = "%s/frames/class%02d/picture%02d" % (folder, i, i)
        os.makedirs(at)
        png(at + "/img_00001.png", x[i, 0])
    x.tofile(folder + "/pixels.u8")
    published.scores("resnet50", keys, state, folder, n, 1, SIDE).tofile(folder + "/scores.f64")


def compare(folder, exported, scores, answers):
    data = open(exported, "rb").read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {k: v for k, v in json.loads(data[8:begin].decode()).items() if not k.startswith("__")}
    changed = []
    for name in os.listdir(folder + "/tensors"):
        t = tensors.pop(name[:-4], None)
        if t is not None and t["dtype"] == "I64":
            continue                    # a counter of steps
        a, b = t["data_offsets"] if t else (0, 0)
        if open("%s/tensors/%s" % (folder, name), "rb").read() != data[begin + a:begin + b]:
            changed.append(name[:-4])
    print("tensors: %d changed, %d more" % (len(changed), len(tensors)))

    rows = [line.rstrip("\n").split("\t") for line in list(open(scores))[2:]]
    rows.sort(key=lambda row: int(row[1]))
    got = np.array([[float(v) for v in row[2:-3]] for row in rows])
    want = np.fromfile(folder + "/scores.f64").reshape(got.shape)
    e = np.abs(got - want).max() / np.abs(want).max()
    print("scores: %d pictures, %s" % (len(rows), "to 1e-4" if e <= 1e-4 else "apart by %g" % e))

    share = np.exp(want - want.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    n = wrong = 0
    for line in open(answers):
        answer = json.loads(line)
        if answer["type"] != "video":
            continue
        of = share[int(answer["path"][-2:])]
        n += 1
        for name, p in zip(answer["top"], answer["probabilities"]):
            wrong += abs(of[int(name[-2:])] - p) > 1e-4
        wrong += answer["top"][0] != "class%02d" % of.argmax()
    print("folders: %d, %d wrong" % (n, wrong))


{"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
