#!/usr/bin/env python3
"""torch_step.py [OPTION]...: measure PyTorch's time for the training step that
`vt-bench step` measures, as rows of the same table.

The network is one of share/models: a ResNet (He et al. 2016), in some cases
with a temporal shift at the start of each residual branch (Lin et al. 2019)
and with attention after some blocks (Wang et al. 2018), or one of
torch_nets.py.  The step begins with bytes: normalize, forward,
cross-entropy, backward, SGD with momentum.

A mode is PRECISION/FORMAT/HOW: fp32, or bf16 under autocast; memory format
default or channels-last; eager or compile.  All requested modes are timed
alternately in one process.  By default glibc returns freed memory to the
system in every step, which costs PyTorch 10 to 25 %.  So this script sets
glibc to keep it and starts again.  --malloc=plain leaves glibc as it is, and
--malloc=tcmalloc preloads that library instead.

--serve is for step-vs-torch: for each line "MODE RUNS" on standard input,
print a line with the seconds of so many steps; "forget MODE" frees the
memory of a mode.  --peak prints the peak of resident memory of three steps
of the first mode, above that of the process after loading PyTorch. --verify
DIR compares network, loss and scores with those that tests/tools/netdump
wrote to DIR.  Several folders have the names of their networks.
"""
import argparse
import ctypes.util
import os
import re
import statistics
import sys
import time

sys.dont_write_bytecode = True          # this folder may be read-only
import torch_nets  # noqa: E402

KEEP = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "MALLOC_TOP_PAD_": "1073741824"}

# Blocks of each stage; channels of the first stage; kernel of the stem; three
# convolutions in a block or two; 1/fold of the channels are shifted in each
# direction; stages and blocks, counted from 0, that attention follows.
NETS = {
    "tsm_r50": dict(blocks=(3, 4, 6, 3), width=64, stem=7, deep=True, fold=8, dropout=0.5),
    "tsm_r50_nl": dict(blocks=(3, 4, 6, 3), width=64, stem=7, deep=True, fold=8, dropout=0.5,
                       attends=((1, 0), (1, 2), (2, 0), (2, 2), (2, 4))),
    "tsn_r50": dict(blocks=(3, 4, 6, 3), width=64, stem=7, deep=True, fold=0, dropout=0.5),
    "tsm_r18": dict(blocks=(2, 2, 2, 2), width=64, stem=7, deep=False, fold=8, dropout=0.5),
    "tsm_tiny": dict(blocks=(2, 2, 2), width=16, stem=5, deep=False, fold=3, dropout=0),
}
NAMES = sorted([*NETS, *torch_nets.CUBES, "tsm_mobilenet_v2"])
MODES = ["%s/%s/%s" % (p, f, h) for p in ("fp32", "bf16") for f in ("channels-last", "default")
         for h in ("eager", "compile")]


def check(p, o, known):
    """Check the shape, and that each mode is one of known; otherwise exit."""
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*x[1-9]\d*", o.shape):
        p.error("--shape: %s (wanted clips x frames x side)" % o.shape)
    for mode in o.modes.split(","):
        if mode not in known:
            p.error("--modes: no mode %s (wanted one of %s)" % (mode, ", ".join(known)))


def parse():
    p = argparse.ArgumentParser(description="Time PyTorch's training step of a network of share/models.",
                                epilog="Modes: " + ", ".join(MODES))
    p.add_argument("--net", choices=NAMES, default="tsm_r50")
    p.add_argument("--shape", default="2x8x224", help="clips x frames x side (2x8x224)")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--classes", type=int, default=400)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--runs", type=int, default=10)
    p.add_argument("--modes", default="fp32/channels-last/eager,fp32/default/eager", help="to time, between commas")
    p.add_argument("--malloc", choices=("keep", "tcmalloc", "plain"), default="keep")
    p.add_argument("--serve", action="store_true")
    p.add_argument("--peak", action="store_true")
    p.add_argument("--verify", metavar="DIR", nargs="+")
    o = p.parse_args()
    check(p, o, MODES)
    return o


def set_malloc(kind):
    """Start the script again with the requested allocator, unless it is already
    active."""
    wanted = {}
    if kind == "keep":
        wanted = {k: v for k, v in KEEP.items() if k not in os.environ}
    elif kind == "tcmalloc" and "tcmalloc" not in os.environ.get("LD_PRELOAD", ""):
        found = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc")
        if found is None:
            sys.exit("torch_step.py: no tcmalloc (Debian: libtcmalloc-minimal4)")
        # ":" would admit a second preload; an existing one stays first.
        wanted = {"LD_PRELOAD": " ".join(filter(None, [os.environ.get("LD_PRELOAD"), found]))}
    if wanted:
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable] + sys.argv)


def build(torch, name, classes, frames):
    """Return the network, with parameters named as in share/models."""
    if name in torch_nets.CUBES:
        return torch_nets.CUBES[name][0](torch, classes)
    nn = torch.nn
    net = NETS.get(name, {"fold": 8})

    class Shift(torch.autograd.Function):
        """Move the first channels from the next frame, the second from the
        previous one, and leave the others.  The gradient moves in the
        opposite direction."""
        @staticmethod
        def move(x, ahead, after, k):
            v = x.view(-1, frames, *x.shape[1:])
            y = torch.empty_like(v)
            for part, step in ((slice(0, k), ahead), (slice(k, 2 * k), after)):
                if step > 0:
                    y[:, :-1, part] = v[:, 1:, part]
                    y[:, -1, part] = 0
                else:
                    y[:, 1:, part] = v[:, :-1, part]
                    y[:, 0, part] = 0
            y[:, :, 2 * k:] = v[:, :, 2 * k:]
            return y.view_as(x)

        @staticmethod
        def forward(ctx, x):
            return Shift.move(x, 1, -1, x.shape[1] // net["fold"])

        @staticmethod
        def backward(ctx, dy):
            return Shift.move(dy, -1, 1, dy.shape[1] // net["fold"])

    if name not in NETS:
        return torch_nets.tsm_mobilenet_v2(torch, classes, frames, Shift.apply)

    def conv(cin, out, k, stride=1):
        return nn.Conv2d(cin, out, k, stride, k // 2, bias=False)

    class Block(nn.Module):
        def __init__(self, cin, mid, stride, attends):
            super().__init__()
            out = 4 * mid if net["deep"] else mid
            if net["deep"]:
                self.conv1, self.conv2, self.conv3 = conv(cin, mid, 1), conv(mid, mid, 3, stride), conv(mid, out, 1)
                self.bn3 = nn.BatchNorm2d(out)
            else:
                self.conv1, self.conv2 = conv(cin, mid, 3, stride), conv(mid, out, 3)
            self.bn1, self.bn2 = nn.BatchNorm2d(mid), nn.BatchNorm2d(mid)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or cin != out:
                self.downsample = nn.Sequential(conv(cin, out, 1, stride), nn.BatchNorm2d(out))
            self.nl = torch_nets.attention(torch, out, frames) if attends else None

        def forward(self, x):
            y = Shift.apply(x) if net["fold"] else x
            y = self.relu(self.bn1(self.conv1(y)))
            y = self.bn2(self.conv2(y))
            if net["deep"]:
                y = self.bn3(self.conv3(self.relu(y)))
            y += x if self.downsample is None else self.downsample(x)
            y = self.relu(y)
            return y if self.nl is None else self.nl(y)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            cin = net["width"]
            self.conv1 = conv(3, cin, net["stem"], 2)
            self.bn1 = nn.BatchNorm2d(cin)
            self.relu = nn.ReLU(inplace=True)
            self.pool = nn.MaxPool2d(3, 2, 1) if net["stem"] == 7 else nn.Identity()
            self.stages = len(net["blocks"])
            for i, n in enumerate(net["blocks"]):
                mid = net["width"] << i
                blocks = []
                for k in range(n):
                    blocks.append(Block(cin, mid, 2 if i > 0 and k == 0 else 1, (i, k) in net.get("attends", ())))
                    cin = 4 * mid if net["deep"] else mid
                setattr(self, "layer%d" % (i + 1), nn.Sequential(*blocks))
            self.dropout = nn.Dropout(net["dropout"])
            self.fc = nn.Linear(cin, classes)

        def forward(self, x):
            x = self.pool(self.relu(self.bn1(self.conv1(x))))
            for i in range(self.stages):
                x = getattr(self, "layer%d" % (i + 1))(x)
            return self.fc(self.dropout(x.mean((2, 3)))).view(-1, frames, classes).mean(1)

    return Net()


def normalise(torch, name, frames, pixels, dtype):
    """Convert bytes [clips * frames, h, w, c] to the network's input: images,
    or clips [n, c, t, h, w]."""
    mean, std = (torch.tensor(v, dtype=dtype).view(1, 3, 1, 1)
                 for v in torch_nets.CUBES.get(name, (None, torch_nets.IMAGENET))[1])
    x = (pixels.permute(0, 3, 1, 2).to(dtype).div_(255) - mean) / std
    return x.view(-1, frames, *x.shape[1:]).transpose(1, 2) if name in torch_nets.CUBES else x


class NotANumber(Exception):
    """The loss is NaN: the mode does not work here."""


class Step:
    """Training steps in one mode, and their times."""

    def __init__(self, torch, o, mode):
        clips, frames, side = (int(n) for n in o.shape.split("x"))
        precision, layout, how = mode.split("/")
        torch.manual_seed(1)
        self.torch, self.mode, self.images = torch, mode, clips * frames
        self.name, self.frames = o.net, frames
        last = torch.channels_last_3d if o.net in torch_nets.CUBES else torch.channels_last
        self.format = last if layout == "channels-last" else torch.contiguous_format
        self.net = build(torch, o.net, o.classes, frames).to(memory_format=self.format).train()
        self.run = torch.compile(self.net) if how == "compile" else self.net
        settings = {"lr": 0.001, "momentum": 0.9, "weight_decay": 1e-4}
        try:                    # one pass over the parameters, if this version has it
            self.sgd = torch.optim.SGD(self.net.parameters(), fused=True, **settings)
        except (TypeError, RuntimeError):
            self.sgd = torch.optim.SGD(self.net.parameters(), **settings)
        self.pixels = torch.randint(0, 256, (clips * frames, side, side, 3), dtype=torch.uint8)
        self.labels = torch.arange(clips) % o.classes
        self.bf16 = precision == "bf16"
        self.times = {"step": [], "forward": [], "backward": [], "update": []}

    def once(self, counts=True):
        torch = self.torch
        at = [time.perf_counter()]
        x = normalise(torch, self.name, self.frames, self.pixels, torch.float).contiguous(memory_format=self.format)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            scores = self.run(x)
        loss = torch.nn.functional.cross_entropy(scores.float(), self.labels)
        value = loss.item()
        at.append(time.perf_counter())
        self.sgd.zero_grad(set_to_none=True)
        loss.backward()
        at.append(time.perf_counter())
        self.sgd.step()
        at.append(time.perf_counter())
        if value != value:
            raise NotANumber("torch_step.py: %s: the loss is not a number" % self.mode)
        if counts:
            self.times["step"].append(at[3] - at[0])
            for i, name in enumerate(("forward", "backward", "update")):
                self.times[name].append(at[i + 1] - at[i])
        return at[3] - at[0]


def status(field):
    """Return VmRSS or VmHWM of this process, in bytes."""
    with open("/proc/self/status") as f:
        return 1024 * int(re.search(r"^%s:\s*(\d+) kB" % field, f.read(), re.M).group(1))


def serve(torch, o):
    steps = {}
    print("PyTorch %s" % torch.__version__, flush=True)
    for line in sys.stdin:
        first, second = line.split()
        if first == "forget":
            steps.pop(second, None)
            continue
        if first not in steps:
            steps[first] = Step(torch, o, first)
        try:
            print(" ".join("%.9g" % steps[first].once() for _ in range(int(second))), flush=True)
        except NotANumber:
            print("nan", flush=True)


def row(name, unit, values, note=""):
    v = sorted(values)
    p99 = v[(99 * len(v) + 99) // 100 - 1]
    print("%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t%s" % (name, unit, len(v), v[0], statistics.median(v), p99, note))


def header(torch, o):
    print("# PyTorch %s, %d threads, malloc: %s" % (torch.__version__, o.threads, o.malloc))
    print("#name\tunit\tn\tmin\tmedian\tp99\tnote")


def peak(torch, o):
    mode = o.modes.split(",")[0]
    base = status("VmRSS")
    step = Step(torch, o, mode)
    for _ in range(3):
        step.once()
    header(torch, o)
    row("torch/%s/%s/%s/peak" % (o.net, o.shape, mode), "bytes", [status("VmHWM") - base],
        "three steps, above the %d of Python and PyTorch" % base)


def measure(torch, o):
    steps = [Step(torch, o, mode) for mode in o.modes.split(",")]
    for i in range(o.warmup + o.runs):
        for s in steps:
            s.once(i >= o.warmup)
    header(torch, o)
    for s in steps:
        prefix = "torch/%s/%s/%s" % (o.net, o.shape, s.mode)
        for name, values in s.times.items():
            row(prefix + "/" + name, "s", values)
        row(prefix + "/images", "images/s", [s.images / t for t in s.times["step"]])


def doubles(torch, path):
    with open(path, "rb") as f:
        return torch.frombuffer(bytearray(f.read()), dtype=torch.float64)


def verify(torch, o):
    for path in o.verify:
        compare(torch, o.net if len(o.verify) == 1 else os.path.basename(path), o, path)


def compare(torch, name, o, path):
    """Check that names, shapes and number of parameters are the same, and that
    the same weights and pixels give the same scores and loss in double."""
    clips, frames, side = (int(n) for n in o.shape.split("x"))
    net = build(torch, name, o.classes, frames).train()
    if hasattr(net, "dropout"):
        net.dropout.p = 0
    own = {k: v for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}
    w, theirs, count = doubles(torch, path + "/w.f64"), {}, 0
    with open(path + "/params.tsv") as f:
        for line in f:
            if line.startswith("#"):
                continue
            key, kind, offset, n, shape = line.rstrip("\n").split("\t")
            dims = [int(s) for s in shape.split(",")]
            if len(dims) == 5 and dims[2] == 1 and key in own and own[key].dim() == 4:
                del dims[2]             # a kernel over one frame; PyTorch's is over images
            theirs[key] = w[int(offset):int(offset) + int(n)].view(dims)
            count += int(n) if int(kind) < 4 else 0
    wrong = ["%s: %s here, %s there" % (k, own.get(k, torch.empty(0)).shape, theirs.get(k, torch.empty(0)).shape)
             for k in sorted(set(own) | set(theirs)) if k not in own or k not in theirs or own[k].shape != theirs[k].shape]
    if wrong:
        sys.exit("torch_step.py: %s: other parameters: " % name + "; ".join(wrong))
    net.double().load_state_dict(theirs, strict=False)
    with open(path + "/pixels.u8", "rb") as f:
        pixels = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8).view(clips * frames, side, side, 3)
    with open(path + "/labels.i32", "rb") as f:
        labels = torch.frombuffer(bytearray(f.read()), dtype=torch.int32).long()
    scores = net(normalise(torch, name, frames, pixels, torch.double))
    losses = torch.nn.functional.cross_entropy(scores, labels, reduction="none")
    losses.mean().backward()
    dw = doubles(torch, path + "/dw.f64")
    first = dict(net.named_parameters())[next(iter(theirs))].grad.flatten()
    pairs = {"scores": (scores.detach().flatten(), doubles(torch, path + "/scores.f64")),
             "losses": (losses.detach(), doubles(torch, path + "/losses.f64")),
             "gradient of the first layer": (first, dw[:first.numel()])}
    print("%s: %d parameters" % (name, count))
    for what, (a, b) in pairs.items():
        off = float((a - b).abs().max() / b.abs().max())
        print("%s: relative difference %.3g" % (what, off))
        if not off <= 1e-6:
            sys.exit("torch_step.py: %s: other %s than vt's" % (name, what))


def main():
    o = parse()
    set_malloc(o.malloc)
    import torch
    torch.set_num_threads(o.threads)
    work = verify if o.verify else serve if o.serve else peak if o.peak else measure
    try:
        work(torch, o)
    except NotANumber as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
