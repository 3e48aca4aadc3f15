#!/usr/bin/env python3
"""torch_step.py [OPTION]...: PyTorch's time for the training step that
`vt-bench step` measures, as rows of the same table.

ResNet-50 (He et al. 2016), with a temporal shift of 1/8 of the channels either
way at the head of each residual branch (Lin et al. 2019) unless --no-shift, on
bytes: normalise, forward, cross-entropy, backward, SGD with momentum.

Each memory format of --format is timed, interleaved, in one process.  PyTorch
gives freed memory back to the system in every step unless glibc is told to keep
it, which costs it 10 to 25 %; so this script sets MALLOC_MMAP_THRESHOLD_ and
MALLOC_TRIM_THRESHOLD_ and starts again, unless they are set or --plain-malloc
is given.
"""
import argparse
import os
import resource
import statistics
import sys
import time

KEEP = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "MALLOC_TOP_PAD_": "1073741824"}


def parse():
    p = argparse.ArgumentParser(description="Time PyTorch's training step of TSM-ResNet-50.")
    p.add_argument("--shape", default="2x8x224", help="clips x frames x side (2x8x224)")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--classes", type=int, default=400)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--runs", type=int, default=10)
    p.add_argument("--format", default="default,channels-last", help="memory formats to time, between commas")
    p.add_argument("--no-shift", action="store_true", help="TSN: no temporal shift")
    p.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32", help="bf16: under autocast")
    p.add_argument("--compile", action="store_true", help="torch.compile (PyTorch 2)")
    p.add_argument("--plain-malloc", action="store_true", help="leave glibc's settings as they are")
    return p.parse_args()


def build(torch, classes, frames, shifted):
    nn = torch.nn

    def shift(x):
        nt, c, h, w = x.shape
        v = x.view(nt // frames, frames, c, h, w)
        fold = c // 8
        y = torch.zeros_like(v)
        y[:, :-1, :fold] = v[:, 1:, :fold]
        y[:, 1:, fold:2 * fold] = v[:, :-1, fold:2 * fold]
        y[:, :, 2 * fold:] = v[:, :, 2 * fold:]
        return y.view(nt, c, h, w)

    class Block(nn.Module):
        def __init__(self, cin, mid, out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(cin, mid, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(mid)
            self.conv2 = nn.Conv2d(mid, mid, 3, stride, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(mid)
            self.conv3 = nn.Conv2d(mid, out, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(out)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or cin != out:
                self.downsample = nn.Sequential(nn.Conv2d(cin, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            y = shift(x) if shifted else x
            y = self.relu(self.bn1(self.conv1(y)))
            y = self.relu(self.bn2(self.conv2(y)))
            y = self.bn3(self.conv3(y))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64),
                                      nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
            layers, cin = [], 64
            for i, n in enumerate((3, 4, 6, 3)):
                mid = 64 << i
                for k in range(n):
                    layers.append(Block(cin, mid, 4 * mid, 2 if i > 0 and k == 0 else 1))
                    cin = 4 * mid
            self.layers = nn.Sequential(*layers)
            self.dropout = nn.Dropout(0.5)
            self.fc = nn.Linear(cin, classes)

        def forward(self, x):
            x = self.layers(self.stem(x)).mean((2, 3))
            return self.fc(self.dropout(x)).view(-1, frames, classes).mean(1)

    return Net()


class Step:
    """One training step in one memory format, with its times."""

    def __init__(self, torch, o, clips, frames, side, name):
        torch.manual_seed(1)
        self.torch, self.name = torch, name
        self.format = {"default": torch.contiguous_format, "channels-last": torch.channels_last}[name]
        self.net = build(torch, o.classes, frames, not o.no_shift).to(memory_format=self.format).train()
        self.run = torch.compile(self.net) if o.compile else self.net
        settings = {"lr": 0.001, "momentum": 0.9, "weight_decay": 1e-4}
        try:                    # one pass over the parameters, where there is such a thing
            self.sgd = torch.optim.SGD(self.net.parameters(), fused=True, **settings)
        except (TypeError, RuntimeError):
            self.sgd = torch.optim.SGD(self.net.parameters(), **settings)
        self.pixels = torch.randint(0, 256, (clips * frames, side, side, 3), dtype=torch.uint8)
        self.labels = torch.arange(clips) % o.classes
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
        self.std = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
        self.bf16 = o.dtype == "bf16"
        self.times = {"step": [], "forward": [], "backward": [], "update": []}

    def once(self, counts):
        torch = self.torch
        at = [time.perf_counter()]
        x = (self.pixels.permute(0, 3, 1, 2).float().div_(255) - self.mean) / self.std
        x = x.contiguous(memory_format=self.format)
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
            sys.exit("torch_step.py: the loss is not a number")
        if counts:
            self.times["step"].append(at[3] - at[0])
            for i, name in enumerate(("forward", "backward", "update")):
                self.times[name].append(at[i + 1] - at[i])


def row(name, unit, values, note=""):
    v = sorted(values)
    p99 = v[(99 * len(v) + 99) // 100 - 1]
    print("%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t%s" % (name, unit, len(v), v[0], statistics.median(v), p99, note))


def main():
    o = parse()
    if not o.plain_malloc and not all(k in os.environ for k in KEEP):
        os.environ.update({k: v for k, v in KEEP.items() if k not in os.environ})
        os.execv(sys.executable, [sys.executable] + sys.argv)
    import torch
    clips, frames, side = (int(n) for n in o.shape.split("x"))
    torch.set_num_threads(o.threads)
    steps = [Step(torch, o, clips, frames, side, name) for name in o.format.split(",")]
    for i in range(o.warmup + o.runs):
        for s in steps:
            s.once(i >= o.warmup)
    print("# PyTorch %s, %d threads, %s%s" % (torch.__version__, o.threads, o.dtype, ", compiled" if o.compile else ""))
    print("#name\tunit\tn\tmin\tmedian\tp99\tnote")
    net = "tsn_r50" if o.no_shift else "tsm_r50"
    for s in steps:
        prefix = "torch/%s/%s/%s" % (net, o.shape, s.name)
        for name, values in s.times.items():
            row(prefix + "/" + name, "s", values)
        row(prefix + "/images", "images/s", [clips * frames / t for t in s.times["step"]])
    resident = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row("torch/%s/%s/resident" % (net, o.shape), "bytes", [resident], "of all formats together")


if __name__ == "__main__":
    main()
