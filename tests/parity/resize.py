"""Compare resizing with Pillow and PyTorch, whose rules it follows.

resize.py compare PROGRAM...: send many images through PROGRAM
(tests/tools/resize), and through Pillow and PyTorch if they are installed.
Print for each a line "pillow|torch IMAGES worst DIFFERENCE bytes that differ N".
resize.py golden pillow|torch: print tests/golden/resize_*.tsv.
"""
import random
import subprocess
import sys

import numpy

BILINEAR, ANTIALIAS, CUT = 0, 1, 2


def noise(seed, n):
    """Return bytes of the generator that tests/unit/resize.c has, too."""
    out, state = bytearray(), seed
    for _ in range(n):
        state = (state * 1664525 + 1013904223) & 0xffffffff
        out.append(state >> 8 & 255)
    return bytes(out)


def pixels(data, w, h):
    return numpy.frombuffer(data, numpy.uint8).reshape(h, w, 3)


def pillow(m, box, to_w, to_h, cut):
    from PIL import Image

    image = Image.fromarray(m)
    rule = getattr(Image, "Resampling", Image).BILINEAR
    x, y, w, h = box
    if cut:
        image = image.crop((x, y, x + w, y + h)).resize((to_w, to_h), rule)
    else:
        image = image.resize((to_w, to_h), rule, box=(x, y, x + w, y + h))
    return numpy.asarray(image)


def torch_bilinear(m, box, to_w, to_h, cut):
    import torch

    x, y, w, h = box
    if cut:
        m = m[y:y + h, x:x + w]
    else:
        assert (x, y, h, w) == (0, 0) + m.shape[:2]
    t = torch.from_numpy(m.astype(numpy.float32)).permute(2, 0, 1)[None]
    t = torch.nn.functional.interpolate(t, size=(to_h, to_w), mode="bilinear",
                                        align_corners=False)
    return t[0].permute(1, 2, 0).numpy()


RULES = {"pillow": (pillow, ANTIALIAS), "torch": (torch_bilinear, BILINEAR)}


def cases(name, n, most):
    """Yield sizes and boxes.  Pillow also takes a part of an image that is not
    cut off."""
    r = random.Random(n)
    for i in range(n):
        w, h = r.randint(1, most), r.randint(1, most)
        x, y = r.randint(0, w - 1), r.randint(0, h - 1)
        box = x, y, r.randint(1, w - x), r.randint(1, h - y)
        cut = i % 2
        if not cut and name == "torch":
            box = 0, 0, w, h
        yield 1 + i, w, h, box, r.randint(1, most), r.randint(1, most), cut


def golden(name):
    rule, how = RULES[name]
    module = __import__({"pillow": "PIL", "torch": "torch"}[name])
    said = {"pillow": "Image.resize, BILINEAR",
            "torch": "nn.functional.interpolate, bilinear"}[name]
    print("# source: %s %s, %s, as it says it when run by tests/parity/resize.py" %
          (name, module.__version__.split("+")[0], said))
    print("seed", "from_w", "from_h", "x", "y", "w", "h", "cut", "to_w",
          "to_h", "pixels", sep="\t")
    for seed, w, h, box, to_w, to_h, cut in cases(name, 24, 17):
        got = rule(pixels(noise(seed, 3 * w * h), w, h), box, to_w, to_h, cut)
        got = numpy.floor(got + 0.5) if got.dtype != numpy.uint8 else got
        print(seed, w, h, *box, cut, to_w, to_h,
              got.astype(numpy.uint8).tobytes().hex(), sep="\t")


def compare(name, program):
    rule, how = RULES[name]
    some = list(cases(name, 300, 150)) + [
        (7, 340, 256, (13, 9, 224, 192), 224, 224, 1),
        (8, 454, 341, (0, 0, 454, 341), 256, 192, 0),
        (9, 1280, 720, (0, 0, 1280, 720), 455, 256, 0)]
    send, want = bytearray(), []
    for seed, w, h, box, to_w, to_h, cut in some:
        m = numpy.random.RandomState(seed).randint(0, 256, (h, w, 3),
                                                   numpy.uint8)
        if seed % 3 == 0:       # only black and white, the widest range
            m = (m > 127).astype(numpy.uint8) * 255
        flip = seed % 2
        send += b"%d %d %d %d %d %d %d %d %d %d\n" % (
            (how | CUT * cut, w, h) + box + (to_w, to_h, flip))
        send += m.tobytes()
        got = rule(m, box, to_w, to_h, cut)
        want.append(got[:, ::-1] if flip else got)
    out = subprocess.run([program], input=bytes(send), check=True,
                         stdout=subprocess.PIPE).stdout
    worst = differ = at = 0
    for w in want:
        got = pixels(out[at:at + w.size], w.shape[1], w.shape[0])
        at += w.size
        off = numpy.abs(got.astype(float) - w)
        worst = max(worst, off.max())
        differ += int((off >= 0.5001).sum())
    assert at == len(out)
    print(name, len(some), "worst %.3f" % worst, "bytes that differ", differ)


def main():
    if sys.argv[1] == "golden":
        golden(sys.argv[2])
        return
    for name, module in (("pillow", "PIL"), ("torch", "torch")):
        try:
            __import__(module)
        except ImportError:
            continue
        compare(name, sys.argv[2])


main()
