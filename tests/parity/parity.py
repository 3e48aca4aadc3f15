"""parity.py: compare the scores, losses and gradients in a folder with those of
PyTorch, built from the weights in it.

Lines on standard input select the folders: MODULE DIR N T SIDE FOLD f64|f32,
with MODULE parity or joins.  For each, print TAP and then "end".

The network is written from the papers' descriptions: a ResNet with basic or
bottleneck blocks (He et al. 2016), a temporal shift of 1/FOLD of the
channels in each direction at the start of each residual branch (Lin et al.
2019; none if FOLD is 0), and scores averaged over frames.
"""
import importlib
import os
import sys
import traceback

import numpy as np
import torch
import torch.nn.functional as F


def load(folder):
    params = {}
    kind = "f32" if os.path.exists(folder + "/w.f32") else "f64"
    names = ["w", "dw" if os.path.exists("%s/dw.%s" % (folder, kind)) else "w"]
    w, dw = (np.memmap("%s/%s.%s" % (folder, name, kind), kind.replace("f", "float"), "c") for name in names)
    for line in open(folder + "/params.tsv"):
        if line.startswith("#"):
            continue
        name, kind, offset, count, shape = line.rstrip("\n").split("\t")
        part = slice(int(offset), int(offset) + int(count))
        shape = [int(s) for s in shape.split(",")]
        params[name] = (int(kind), w[part].reshape(shape), dw[part].reshape(shape))
    return params


def shift(x, n, fold):
    """Shift 1/fold of the channels of x, [n * t, c, h, w], in each direction."""
    nt, c, h, w = x.shape
    x = x.view(n, nt // n, c, h, w)
    k = c // fold
    zero = torch.zeros_like(x[:, :1])
    ahead = torch.cat([x[:, 1:], zero], 1)
    after = torch.cat([zero, x[:, :-1]], 1)
    x = torch.cat([ahead[:, :, :k], after[:, :, k:2 * k], x[:, :, 2 * k:]], 2)
    return x.view(nt, c, h, w)


class Net:
    def __init__(self, params, fold, dtype):
        self.fold = fold
        self.w = {}
        self.stats = {}
        for name, (kind, w, _) in params.items():
            t = torch.tensor(w, dtype=dtype)
            if kind < 4:
                t.requires_grad_()
            self.w[name] = t

    def conv(self, name, x, stride=1):
        w = self.w[name + ".weight"]
        return F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2)

    def bn(self, name, x):
        mean = torch.zeros(x.shape[1], dtype=x.dtype)
        var = torch.ones(x.shape[1], dtype=x.dtype)
        y = F.batch_norm(x, mean, var, self.w[name + ".weight"], self.w[name + ".bias"],
                         training=True, momentum=1.0, eps=1e-5)
        self.stats[name + ".running_mean"] = mean
        self.stats[name + ".running_var"] = var
        return y

    def block(self, name, x, n, stride):
        y = shift(x, n, self.fold) if self.fold else x
        deep = name + ".conv3.weight" in self.w
        y = F.relu(self.bn(name + ".bn1", self.conv(name + ".conv1", y, 1 if deep else stride)))
        y = self.bn(name + ".bn2", self.conv(name + ".conv2", y, stride if deep else 1))
        if deep:
            y = self.bn(name + ".bn3", self.conv(name + ".conv3", F.relu(y)))
        if name + ".downsample.0.weight" in self.w:
            x = self.bn(name + ".downsample.1", self.conv(name + ".downsample.0", x, stride))
        return F.relu(x + y)

    def forward(self, x, n):
        x = F.relu(self.bn("bn1", self.conv("conv1", x, 2)))
        if self.w["conv1.weight"].shape[-1] == 7:
            x = F.max_pool2d(x, 3, 2, 1)
        stage = 1
        while "layer%d.0.conv1.weight" % stage in self.w:
            i = 0
            while "layer%d.%d.conv1.weight" % (stage, i) in self.w:
                x = self.block("layer%d.%d" % (stage, i), x, n, 2 if stage > 1 and i == 0 else 1)
                i += 1
            stage += 1
        x = x.mean((2, 3))
        x = F.linear(x, self.w["fc.weight"], self.w["fc.bias"])
        return x.view(n, -1, x.shape[-1]).mean(1)


def pixels(folder, n, t, side, dtype):
    """Return the pixels normalized by ImageNet's mean and deviation, or those of
    flow, [n * t, c, h, w]."""
    x = np.fromfile(folder + "/pixels.u8", np.uint8).reshape(n * t, side, side, -1)
    mean, std = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]) if x.shape[-1] == 3 else ([0.5], [0.226])
    x = torch.tensor(x, dtype=dtype) / 255
    x = (x - torch.tensor(mean, dtype=dtype)) / torch.tensor(std, dtype=dtype)
    return x.permute(0, 3, 1, 2).contiguous()


def report(folder, n, params, net, scores, exact, name, ok=None):
    """Compare scores, losses, batch statistics and gradients in folder with the
    network's, and print TAP, by ok if it is given."""
    labels = torch.tensor(np.fromfile(folder + "/labels.i32", np.int32), dtype=torch.long)
    losses = F.cross_entropy(scores, labels, reduction="none")
    losses.mean().backward()

    tests = 0

    def own_ok(passed, what, why):
        nonlocal tests
        tests += 1
        print("%sok %d - %s" % ("" if passed else "not ", tests, what))
        if not passed:
            print("# " + why)

    ok = ok or own_ok

    def relative(a, b):
        return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))

    limit = 1e-6 if exact else 1e-3
    e = relative(np.fromfile(folder + "/scores.f64").reshape(n, -1), scores.detach().double().numpy())
    ok(e <= limit, "%s: scores agree with PyTorch" % name, "relative difference %g" % e)
    e = relative(np.fromfile(folder + "/losses.f64"), losses.detach().double().numpy())
    ok(e <= limit, "%s: losses agree with PyTorch" % name, "relative difference %g" % e)
    worst, where, least, there = 0, "", 1, ""
    # A gradient that is 0 except for rounding has no direction.  An example is
    # that of the keys' biases before a softmax.
    nothing = (1e-9 if exact else 1e-5) * max(float(w.grad.abs().max()) for w in net.w.values() if w.grad is not None)
    stats, which = 0, ""
    for key, (kind, _, dw) in params.items():
        if kind >= 4:
            e = relative(dw, net.stats[key].double().numpy())
            if e > stats:
                stats, which = e, key
            continue
        dw, g = dw.astype(np.float64), net.w[key].grad.double().numpy()
        e = float(np.abs(dw - g).max() / max(np.abs(g).max(), nothing))
        if np.abs(g).max() < nothing and e < 1:
            continue
        cosine = float((dw * g).sum() / np.sqrt((dw * dw).sum() * (g * g).sum()))
        if e > worst:
            worst, where = e, key
        if cosine < least:
            least, there = cosine, key
    ok(stats <= (1e-6 if exact else 1e-3), "%s: batch statistics agree with PyTorch" % name,
       "relative difference %g at %s" % (stats, which))
    if exact:
        ok(worst <= 1e-6, "%s: every gradient agrees with PyTorch" % name,
           "relative difference %g at %s" % (worst, where))
    else:
        ok(least >= 0.998, "%s: every gradient has the direction of PyTorch's" % name,
           "cosine %g at %s" % (least, there))
    print("# worst gradient %g at %s, least cosine %.9f at %s" % (worst, where, least, there))


def compare(folder, n, t, side, fold, precision):
    dtype = torch.float64 if precision == "f64" else torch.float32
    params = load(folder)
    net = Net(params, fold, dtype)
    scores = net.forward(pixels(folder, n, t, side, dtype), n)
    report(folder, n, params, net, scores, precision == "f64", "%s, %dx%dx%d" % (precision, n, t, side))


def main():
    torch.set_num_threads(2)
    for line in sys.stdin:
        module, folder, n, t, side, fold, precision = line.split()
        try:
            importlib.import_module(module).compare(folder, int(n), int(t), int(side), int(fold), precision)
        except Exception:
            traceback.print_exc()
        print("end", flush=True)


if __name__ == "__main__":
    main()
