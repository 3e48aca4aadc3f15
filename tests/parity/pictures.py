"""Compare changes of pictures with formulas in NumPy and with torchvision.

pictures.py PROGRAM: send many pictures through PROGRAM
(tests/tools/color).  Print lines "numpy|torchvision OPERATION PICTURES
worst DIFFERENCE off PART", where PART of the bytes differ by more than 1.
"""
import math
import subprocess
import sys

import numpy as np

OPS = ["identity", "shear_x", "shear_y", "translate_x", "translate_y", "rotate",
       "brightness", "color", "contrast", "sharpness", "posterize", "solarize",
       "autocontrast", "equalize", "hue"]
VALUES = {
    "identity": [0], "shear_x": [-0.29, 0.17], "shear_y": [0.3, -0.06],
    "translate_x": [-9, 4], "translate_y": [7, -3], "rotate": [-30, 11.5],
    "brightness": [0, 0.1, 1.0, 1.9], "color": [0, 0.4, 1.7],
    "contrast": [0, 0.3, 1.6], "sharpness": [0, 0.5, 1.9],
    "posterize": [8, 5, 4], "solarize": [0, 100.5, 255], "autocontrast": [0],
    "equalize": [0], "hue": [-0.5, -0.1, 0.02, 0.33]}


def pictures():
    r = np.random.RandomState(3)
    yield r.randint(0, 256, (31, 31, 3), np.uint8)
    y, x = np.mgrid[0:40, 0:40]
    smooth = 90 + 60 * np.sin(x / 7) + 50 * np.cos(y / 5 + x / 11)
    yield np.stack([smooth, smooth[::-1] * 0.8, smooth.T], 2).clip(
        0, 255).astype(np.uint8)
    yield r.randint(40, 90, (17, 17, 3), np.uint8)
    yield np.full((8, 8, 3), 77, np.uint8)
    yield np.array([[[7, 200, 90], [0, 0, 0]],
                    [[255, 255, 255], [255, 0, 3]]], np.uint8)


def grey(m):
    return np.floor(m @ np.array([0.2989, 0.587, 0.114]) + 0.5)


def moved(m, matrix):
    """Return the picture that takes each pixel from the nearest pixel at its
    source position."""
    side = len(m)
    y, x = np.mgrid[0:side, 0:side]
    u = np.floor(matrix[0][0] * x + matrix[0][1] * y + matrix[0][2] + 0.5)
    v = np.floor(matrix[1][0] * x + matrix[1][1] * y + matrix[1][2] + 0.5)
    inside = (u >= 0) & (v >= 0) & (u < side) & (v < side)
    out = np.zeros_like(m)
    out[inside] = m[v[inside].astype(int), u[inside].astype(int)]
    return out


def turned(m, turn):
    import colorsys
    out = np.empty(m.shape)
    for i in np.ndindex(m.shape[:2]):
        h, s, v = colorsys.rgb_to_hsv(*(m[i] / 255))
        out[i] = np.array(colorsys.hsv_to_rgb((h + turn) % 1, s, v)) * 255
    return out


def by_numpy(op, v, m):
    f = m.astype(float)
    middle, a = (len(m) - 1) / 2, math.radians(v)
    c, s = math.cos(a), math.sin(a)
    if op == "identity":
        return f
    if op == "shear_x":
        return moved(m, [[1, v, 0], [0, 1, 0]])
    if op == "shear_y":
        return moved(m, [[1, 0, 0], [v, 1, 0]])
    if op == "translate_x":
        return moved(m, [[1, 0, v], [0, 1, 0]])
    if op == "translate_y":
        return moved(m, [[1, 0, 0], [0, 1, v]])
    if op == "rotate":
        return moved(m, [[c, s, middle - c * middle - s * middle],
                         [-s, c, middle + s * middle - c * middle]])
    if op == "brightness":
        return (v * f).clip(0, 255)
    if op == "color":
        return (v * f + (1 - v) * grey(f)[..., None]).clip(0, 255)
    if op == "contrast":
        return (v * f + (1 - v) * grey(f).mean()).clip(0, 255)
    if op == "sharpness":
        mean = f.copy()
        if len(m) > 2:
            total = sum(f[1 + i:len(m) - 1 + i, 1 + k:len(m) - 1 + k]
                        for i in (-1, 0, 1) for k in (-1, 0, 1))
            mean[1:-1, 1:-1] = np.floor((total + 4 * f[1:-1, 1:-1]) / 13 + 0.5)
        return (v * f + (1 - v) * mean).clip(0, 255)
    if op == "posterize":
        return m & (0xff << (8 - v) & 0xff)
    if op == "solarize":
        return np.where(f >= v, 255 - f, f)
    if op == "hue":
        return turned(m, v)
    out = f.copy()
    for k in range(3):
        channel = m[..., k]
        low, high = int(channel.min()), int(channel.max())
        if op == "autocontrast" and high > low:
            out[..., k] = (f[..., k] - low) * 255 / (high - low)
        if op == "equalize":
            count = np.bincount(channel.ravel(), minlength=256)
            step = (channel.size - count[high]) // 255
            if step > 0:
                below = np.concatenate([[0], np.cumsum(count)[:-1]])
                out[..., k] = ((below + step // 2) // step).clip(
                    0, 255)[channel]
    return out


def by_torchvision(op, v, m):
    """Return torchvision's result, or None if its center or direction differs."""
    import torch
    from torchvision.transforms import functional as F
    t = torch.from_numpy(m.copy()).permute(2, 0, 1)
    call = {"brightness": F.adjust_brightness, "color": F.adjust_saturation,
            "contrast": F.adjust_contrast, "hue": F.adjust_hue,
            "sharpness": F.adjust_sharpness}.get(op)
    if call:
        out = call(t, v)
    elif op == "posterize":
        out = F.posterize(t, v)
    elif op == "solarize":
        out = F.solarize(t, v)
    elif op == "autocontrast":
        out = F.autocontrast(t)
    elif op == "equalize":
        out = F.equalize(t)
    elif op in ("translate_x", "translate_y"):
        by = [-int(v), 0] if op == "translate_x" else [0, -int(v)]
        out = F.affine(t, angle=0, translate=by, scale=1, shear=[0, 0])
    elif op == "rotate":
        out = F.rotate(t, -v)
    elif op == "identity":
        out = t
    else:
        return None
    return out.permute(1, 2, 0).numpy().astype(float)


def main():
    cases = [(op, v, m) for op in OPS for v in VALUES[op] for m in pictures()]
    send = b"".join(b"%d %.17g %d\n" % (OPS.index(op), v, len(m)) + m.tobytes()
                    for op, v, m in cases)
    out = subprocess.run([sys.argv[1]], input=send, check=True,
                         stdout=subprocess.PIPE).stdout
    rules = {"numpy": by_numpy}
    try:
        import torchvision  # noqa: F401
        rules["torchvision"] = by_torchvision
    except ImportError:
        pass
    for name, rule in rules.items():
        said, at = {}, 0
        for op, v, m in cases:
            got = np.frombuffer(out[at:at + m.size], np.uint8).reshape(m.shape)
            at += m.size
            want = rule(op, v, m)
            if want is None:
                continue
            off = np.abs(got.astype(float) - want)
            s = said.setdefault(op, [0, 0.0, 0, 0])
            s[0] += 1
            s[1] = max(s[1], float(off.max()))
            s[2] += int((off > 1.001).sum())
            s[3] += off.size
        for op, s in said.items():
            print(name, op, s[0], "worst %.3f" % s[1], "off %.5f" % (
                s[2] / s[3]))
    assert at == len(out)


main()
