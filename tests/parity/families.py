"""families.py NETDUMP FOLDER: compare networks of share/models with PyTorch.

Lines on standard input select them: NET CLASSES DEVICE N T SIDE HOW.  HOW is
"tested" for test scores only, or "trained" for losses, batch statistics and
every gradient, too.  FOLDER/NET.net is the network.

The PyTorch code is written from the publications: bottlenecks (He et al.
2016), shifts (Lin et al. 2019), kernels inflated over time (Carreira,
Zisserman 2017), attention (Wang et al. 2018), slow and fast pathways
(Feichtenhofer et al. 2019), inverted residuals (Sandler et al. 2018), gates
and swish (Feichtenhofer 2020), separated convolutions (Tran et al. 2018).
If torchvision or PyTorchVideo is installed, their modules are compared, too.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torch.nn.functional as F

import parity

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
KINETICS = (0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989)
HALF = (0.45,) * 3, (0.225,) * 3
FLOW = (0.5,), (0.226,)
RGBDIFF = (0.501960784,), (1,)
AFTER_THIRD = ((2, 0), (2, 2), (3, 0), (3, 2), (3, 4))     # as in TSM's program
AFTER_SECOND = ((2, 1), (2, 3), (3, 1), (3, 3), (3, 5))    # as in PySlowFast


class Net(parity.Net):
    """Tensors are [n, c, t, h, w].  Without stats_given the network trains and
    keeps the statistics of the batch.  Otherwise it tests with the given
    statistics."""
    stats_given = None

    def conv(self, name, x, stride=(1, 1, 1), groups=1):
        w = self.w[name + ".weight"]
        w = w.unsqueeze(2) if w.dim() == 4 else w
        return F.conv3d(x, w, self.w.get(name + ".bias"), stride, [k // 2 for k in w.shape[2:]], 1, groups)

    def bn(self, name, x, eps=1e-5):
        if self.stats_given is None:
            return super().bn(name, x)
        mean, var = (self.stats_given[name + ".running_" + s] for s in ("mean", "var"))
        return F.batch_norm(x, mean, var, self.w[name + ".weight"], self.w[name + ".bias"], training=False, eps=eps)

    def has(self, name):
        return name + ".weight" in self.w

    def shift(self, x, past=False):
        k = x.shape[1] // 8
        zero = torch.zeros_like(x[:, :k, :1])
        before = lambda part: torch.cat([zero, part[:, :, :-1]], 2)
        if past:
            return torch.cat([before(x[:, :k]), x[:, k:]], 1)
        ahead = torch.cat([x[:, :k, 1:], zero], 2)
        return torch.cat([ahead, before(x[:, k:2 * k]), x[:, 2 * k:]], 1)

    def attend(self, name, x, how):
        """Non-local block.  how contains "dot" for dot products, "soft" for a
        scaled softmax, or "even" for a softmax without a scale.  With
        "late", keys and values are pooled after their convolutions."""
        n, c, t, h, w = x.shape
        pool = lambda y: F.max_pool3d(y, (1, 2, 2))
        embed = lambda part, y: self.conv(name + part, y) if self.has(name + part) else y
        theta = embed(".theta", x)
        if "late" in how:
            phi, g = pool(embed(".phi", x)), pool(embed(".g", x))
        else:
            phi, g = embed(".phi", pool(x)), embed(".g", pool(x))
        f = torch.einsum("ncp,ncq->npq", theta.flatten(2), phi.flatten(2))
        if "dot" in how:
            f = f / f.shape[2]
        else:
            f = F.softmax(f * theta.shape[1] ** -0.5 if "soft" in how else f, 2)
        y = torch.einsum("npq,ncq->ncp", f, g.flatten(2)).view(n, -1, t, h, w)
        return x + self.bn(name + ".bn", self.conv(name + ".out", y))

    def shortcut(self, name, x, stride):
        if not self.has(name + ".downsample.0"):
            return x
        x = self.conv(name + ".downsample.0", x, stride)
        return self.bn(name + ".downsample.1", x) if self.has(name + ".downsample.1") else x

    def bottleneck(self, name, x, stride, shifted):
        y = self.shift(x) if shifted else x
        y = F.relu(self.bn(name + ".bn1", self.conv(name + ".conv1", y)))
        y = F.relu(self.bn(name + ".bn2", self.conv(name + ".conv2", y, (1, stride, stride))))
        y = self.bn(name + ".bn3", self.conv(name + ".conv3", y))
        return F.relu(y + self.shortcut(name, x, (1, stride, stride)))

    def stage(self, l, x, pre="", shifts=None, attends=(), how=None):
        i = 0
        while self.has("%slayer%d.%d.conv1" % (pre, l, i)):
            name = "%slayer%d.%d" % (pre, l, i)
            x = self.bottleneck(name, x, 2 if l > 1 and i == 0 else 1, shifts and i % shifts == 0)
            if (l, i) in attends:
                x = self.attend(name + ".nl", x, how)
            i += 1
        return x

    def stem(self, x, pre="", st=1, pool=1, pad=1):
        x = F.relu(self.bn(pre + "bn1", self.conv(pre + "conv1", x, (st, 2, 2))))
        return F.max_pool3d(x, (1, 3, 3), (pool, 2, 2), (0, pad, pad))

    def classify(self, x):
        """Return the scores of a clip from the mean of its features, which
        equals the mean of the frames' scores."""
        return F.linear(x, self.w["fc.weight"], self.w["fc.bias"])

    def resnet(self, x, shifts=None, attends=(), how=None, st=1, pool=1, between=None, pad=1):
        x = self.stem(x, "", st, pool, pad)
        for l in (1, 2, 3, 4):
            x = self.stage(l, x, "", shifts, attends, how)
            if l == 1 and between:
                x = F.max_pool3d(x, *between)
        return self.classify(x.mean((2, 3, 4)))

    def slowfast(self, x, alpha, attends=(), spread=True):
        t = x.shape[2]
        few = torch.linspace(0, t - 1, t // alpha).long() if spread else torch.arange(0, t, alpha)
        slow, fast = self.stem(x[:, :, few], "slow."), self.stem(x, "fast.")
        for l in (1, 2, 3, 4):
            side = self.conv("lateral%d.conv" % l, fast, (alpha, 1, 1))
            if self.has("lateral%d.bn" % l):
                side = F.relu(self.bn("lateral%d.bn" % l, side))
            slow = self.stage(l, torch.cat([slow, side], 1), "slow.", None, attends, "dot")
            fast = self.stage(l, fast, "fast.")
        return self.classify(torch.cat([slow.mean((2, 3, 4)), fast.mean((2, 3, 4))], 1))

    def mobilenet(self, x, past=False):
        relu6 = lambda conv, bn, x, **how: F.relu6(self.bn(bn, self.conv(conv, x, **how)))
        x = relu6("features.0.0", "features.0.1", x, stride=(1, 2, 2))
        x = relu6("features.1.conv.0", "features.1.conv.1", x, groups=x.shape[1])
        x = self.bn("features.1.conv.4", self.conv("features.1.conv.3", x))
        for i in range(2, 18):
            name = "features.%d.conv." % i
            stride = 2 if i in (2, 4, 7, 14) else 1
            beside = i not in (2, 4, 7, 11, 14, 17)
            y = relu6(name + "0", name + "1", self.shift(x, past) if beside else x)
            y = relu6(name + "3", name + "4", y, stride=(1, stride, stride), groups=y.shape[1])
            y = self.bn(name + "7", self.conv(name + "6", y))
            x = x + y if beside else y
        return self.classify(relu6("features.18.0", "features.18.1", x).mean((2, 3, 4)))

    def gate(self, name, x):
        y = F.relu(self.conv(name + ".fc1", x.mean((2, 3, 4), keepdim=True)))
        return x * torch.sigmoid(self.conv(name + ".fc2", y))

    def x3d(self, x):
        x = self.conv("conv1_xy", x, (1, 2, 2))
        x = F.relu(self.bn("bn1", self.conv("conv1_t", x, groups=x.shape[1])))
        for l in (1, 2, 3, 4):
            i = 0
            while self.has("layer%d.%d.conv1" % (l, i)):
                name = "layer%d.%d" % (l, i)
                stride = (1, 2, 2) if i == 0 else (1, 1, 1)
                y = F.relu(self.bn(name + ".bn1", self.conv(name + ".conv1", x)))
                y = self.bn(name + ".bn2", self.conv(name + ".conv2", y, stride, groups=y.shape[1]))
                y = self.gate(name + ".se", y) if i % 2 == 0 else y
                y = self.bn(name + ".bn3", self.conv(name + ".conv3", y * torch.sigmoid(y)))
                x = F.relu(y + self.shortcut(name, x, stride))
                i += 1
        x = F.relu(self.bn("bn5", self.conv("conv5", x))).mean((2, 3, 4), keepdim=True)
        return self.classify(F.relu(self.conv("lin5", x)).flatten(1))

    def pair(self, name, x, stride, inner, eps):
        """A convolution over space, and one over time."""
        x = F.relu(self.bn(name + ".0.1", self.conv(name + ".0.0", x, (1,) + stride[1:]), inner))
        return self.bn(name + ".1", self.conv(name + ".0.3", x, (stride[0], 1, 1)), eps)

    def one(self, name, x, stride, inner, eps):
        """A convolution over both."""
        return self.bn(name + ".1", self.conv(name + ".0", x, stride), eps)

    def basic(self, x, unit, st=2, inner=1e-5, eps=1e-5, pool=False):
        """Stages of basic blocks whose convolutions are of a kind.  st is the
        stride over time, inner the eps of norms within a pair."""
        x = F.relu(self.bn("stem.1", self.conv("stem.0", x, (1, 2, 2)), inner))
        if self.has("stem.3"):
            x = F.relu(self.bn("stem.4", self.conv("stem.3", x), eps))
        if pool:
            x = F.max_pool3d(x, (1, 3, 3), (1, 2, 2), (0, 1, 1))
        for l in (1, 2, 3, 4):
            i = 0
            while self.has("layer%d.%d.conv1.1" % (l, i)):
                name, stride = "layer%d.%d" % (l, i), (st, 2, 2) if l > 1 and i == 0 else (1, 1, 1)
                y = F.relu(unit(self, name + ".conv1", x, stride, inner, eps))
                y = unit(self, name + ".conv2", y, (1, 1, 1), inner, eps)
                if self.has(name + ".downsample.1"):
                    short = unit if self.has(name + ".downsample.0.0") else Net.one
                    x = short(self, name + ".downsample", x, stride, inner, eps)
                x = F.relu(y + x)
                i += 1
        return self.classify(x.mean((2, 3, 4)))


HALVED = (2, 1, 1), (2, 1, 1)                   # pool over time of C2D and I3D
NETS = {
    "tsn_r50": (IMAGENET, Net.resnet, {}),
    "tsn_r50_flow": (FLOW, Net.resnet, {}),
    "tsn_r50_flow10": (FLOW, Net.resnet, {}),
    "tsn_r50_rgbdiff": (RGBDIFF, Net.resnet, {}),
    "tsm_r50_flow": (FLOW, Net.resnet, {"shifts": 1}),
    "tsm_r50_flow10": (FLOW, Net.resnet, {"shifts": 1}),
    "resnet50": (IMAGENET, Net.resnet, {}),
    "tsm_r50": (IMAGENET, Net.resnet, {"shifts": 1}),
    "tsm_r101": (IMAGENET, Net.resnet, {"shifts": 2}),
    "tsm_r50_nl": (IMAGENET, Net.resnet, {"shifts": 1, "attends": AFTER_THIRD, "how": "even late"}),
    "tsm_r50_nl_dot": (IMAGENET, Net.resnet, {"shifts": 1, "attends": AFTER_THIRD, "how": "dot late"}),
    "tsm_r50_nl_gaussian": (IMAGENET, Net.resnet, {"shifts": 1, "attends": AFTER_THIRD, "how": "even late"}),
    "tsm_r50_tpool": (IMAGENET, Net.resnet, {"shifts": 1, "between": ((3, 1, 1), (2, 1, 1), (1, 0, 0))}),
    "tsm_mobilenet_v2": (IMAGENET, Net.mobilenet, {}),
    "tsm_mobilenet_v2_online": (IMAGENET, Net.mobilenet, {"past": True}),
    "c2d_r50": (HALF, Net.resnet, {"between": HALVED}),
    "c2d_r50_nl": (HALF, Net.resnet, {"between": HALVED, "attends": AFTER_SECOND, "how": "soft"}),
    "c2d_r50_nopool": (IMAGENET, Net.resnet, {}),
    "c2d_r50_nopool_pyslowfast": (HALF, Net.resnet, {}),
    "c2d_r50_mmaction2": (IMAGENET, Net.resnet, {"between": HALVED, "pad": 0}),
    "i3d_r50": (HALF, Net.resnet, {"between": HALVED}),
    "i3d_r50_32f": (IMAGENET, Net.resnet, {"between": HALVED, "st": 2, "pool": 2}),
    "i3d_r50_32f_nl": (IMAGENET, Net.resnet, {"between": HALVED, "st": 2, "pool": 2, "attends": AFTER_SECOND,
                                              "how": "dot late"}),
    "i3d_r50_333": (HALF, Net.resnet, {"between": HALVED}),
    "i3d_r50_nl": (HALF, Net.resnet, {"between": HALVED, "attends": AFTER_SECOND, "how": "soft"}),
    "slow_r50": (HALF, Net.resnet, {}),
    "slow_r50_mmaction2": (IMAGENET, Net.resnet, {}),
    "slow_r50_nl_mmaction2": (IMAGENET, Net.resnet, {"attends": AFTER_THIRD, "how": "soft late"}),
    "slow_r50_nl": (HALF, Net.resnet, {"attends": AFTER_SECOND, "how": "dot"}),
    "slowfast_r50_4x16": (HALF, Net.slowfast, {"alpha": 8}),
    "slowfast_r50_8x8": (HALF, Net.slowfast, {"alpha": 4}),
    "slowfast_r50_16x8": (HALF, Net.slowfast, {"alpha": 4}),
    "slowfast_r50_8x8_nl": (HALF, Net.slowfast, {"alpha": 4, "attends": AFTER_SECOND}),
    "slowfast_r50_4x16_mmaction2": (IMAGENET, Net.slowfast, {"alpha": 8, "spread": False}),
    "slowfast_r50_8x8_mmaction2": (IMAGENET, Net.slowfast, {"alpha": 4, "spread": False}),
    "slowfast_r50_8x8_mmaction2_norm": (IMAGENET, Net.slowfast, {"alpha": 4, "spread": False}),
    "x3d_s": (HALF, Net.x3d, {}),
    "x3d_m": (HALF, Net.x3d, {}),
    "x3d_m_pyslowfast": (HALF, Net.x3d, {}),
    "r2plus1d_18": (KINETICS, Net.basic, {"unit": Net.pair}),
    "r2plus1d_34": (KINETICS, Net.basic, {"unit": Net.pair, "inner": 1e-3, "eps": 1e-3}),
    "r2plus1d_34_mmaction2": (IMAGENET, Net.basic, {"unit": Net.pair, "eps": 1e-3, "pool": True}),
    "r3d_18": (KINETICS, Net.basic, {"unit": Net.one}),
    "mc3_18": (KINETICS, Net.basic, {"unit": Net.one, "st": 1}),
}


# ---- networks of other packages ----

def pytorchvideo_name(name):
    """Return PyTorchVideo's name of a parameter of x3d_m."""
    stem = {"conv1_xy": "blocks.0.conv.conv_t", "conv1_t": "blocks.0.conv.conv_xy", "bn1": "blocks.0.norm",
            "conv5": "blocks.5.pool.pre_conv", "bn5": "blocks.5.pool.pre_norm", "lin5": "blocks.5.pool.post_conv",
            "fc": "blocks.5.proj"}
    inner = {"conv1": "branch2.conv_a", "bn1": "branch2.norm_a", "conv2": "branch2.conv_b", "bn2": "branch2.norm_b.0",
             "se.fc1": "branch2.norm_b.1.block.0", "se.fc2": "branch2.norm_b.1.block.2", "conv3": "branch2.conv_c",
             "bn3": "branch2.norm_c", "downsample.0": "branch1_conv", "downsample.1": "branch1_norm"}
    op, what = name.rsplit(".", 1)
    if not op.startswith("layer"):
        return "%s.%s" % (stem[op], what)
    stage, block, part = op.split(".", 2)
    return "blocks.%s.res_blocks.%s.%s.%s" % (stage[5:], block, inner[part], what)


def ig65m(classes):
    """The R(2+1)D-34 of ig65m-pytorch: torchvision's, with the channels and the
    eps of Caffe2."""
    from torchvision.models.video import resnet as video
    model = video.VideoResNet(video.BasicBlock, [video.Conv2Plus1D] * 4, [3, 4, 6, 3], video.R2Plus1dStem, classes)
    for stage, planes in ((model.layer2, 128), (model.layer3, 256), (model.layer4, 512)):
        stage[0].conv2[0] = video.Conv2Plus1D(planes, planes, planes * 9 // 4)
    for m in model.modules():
        if isinstance(m, torch.nn.BatchNorm3d):
            m.eps = 1e-3
    return model


def published(name, classes, t, side):
    """Return the same network of another package, and a function for its names,
    or None without that package."""
    same = lambda n: n
    try:
        if name == "x3d_m":
            from pytorchvideo.models.x3d import create_x3d
            return create_x3d(input_clip_length=t, input_crop_size=side, model_num_class=classes,
                              head_activation=None), pytorchvideo_name
        if name in ("resnet50", "r2plus1d_18", "r3d_18", "mc3_18"):
            import torchvision.models as models
            make = models.resnet50 if name == "resnet50" else getattr(models.video, name)
            return make(num_classes=classes), same
        if name == "r2plus1d_34":
            return ig65m(classes), same
    except ImportError:
        return None
    return None


# ---- comparison with vt ----

tests = 0


def ok(passed, what, why):
    global tests
    tests += 1
    print("%sok %d - %s" % ("" if passed else "not ", tests, what))
    if not passed:
        print("# " + why)


def pixels(folder, n, t, side, dtype, norm):
    x = np.fromfile(folder + "/pixels.u8", np.uint8).reshape(n, t, side, side, -1)
    mean, std = (torch.tensor(v, dtype=dtype) for v in norm)
    return ((torch.tensor(x, dtype=dtype) / 255 - mean) / std).permute(0, 4, 1, 2, 3).contiguous()


def apart(a, b):
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))


def compare(name, classes, device, n, t, side, how, folder):
    dtype = torch.float64 if device == "ref64" else torch.float32
    what = "%s on %s, %dx%dx%d" % (name, device, n, t, side)
    norm, forward, details = NETS[name]
    params = parity.load(folder)
    net = Net(params, 0, dtype)
    x = pixels(folder, n, t, side, dtype, norm)
    if how == "trained":
        parity.report(folder, n, params, net, forward(net, x, **details), dtype == torch.float64, what, ok)
    net.stats_given = {k: torch.tensor(w, dtype=dtype) for k, (kind, w, _) in params.items() if kind >= 4}
    tested = np.fromfile(folder + "/tested.f64").reshape(n, classes)
    limit = 1e-6 if dtype == torch.float64 else 1e-4
    with torch.no_grad():
        e = apart(tested, forward(net, x, **details).double().numpy())
    ok(e <= limit, what + ": test scores agree with PyTorch", "relative difference %g" % e)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = published(name, classes, t, side)
    if theirs is None or dtype == torch.float64:
        return
    model, rename = theirs
    state = {rename(k): net.stats_given.get(k, v).detach() for k, v in net.w.items()}
    counts = {k: v for k, v in model.state_dict().items() if k.endswith("num_batches_tracked")}
    model.load_state_dict({**state, **counts})
    with torch.no_grad():
        x = x[:, :, 0] if name == "resnet50" else x
        e = apart(tested, model.eval()(x).double().numpy())
    ok(e <= limit, what + ": test scores agree with the module of another package", "relative difference %g" % e)


def main():
    netdump, nets = sys.argv[1:]
    torch.set_num_threads(2)
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for line in sys.stdin:
        name, classes, device, n, t, side, how = line.split()
        folder = tempfile.mkdtemp(prefix="vt-test.", dir=shm)
        try:
            subprocess.run([netdump, "%s/%s.net" % (nets, name), classes, device, n, t, side, folder] + ["-"] * (how == "tested"),
                           check=True)
            compare(name, int(classes), device, int(n), int(t), int(side), how, folder)
        except subprocess.CalledProcessError as e:
            ok(False, "%s on %s" % (name, device), "netdump: exit status %d" % e.returncode)
        finally:
            shutil.rmtree(folder)
    print("1..%d" % tests)


if __name__ == "__main__":
    main()
