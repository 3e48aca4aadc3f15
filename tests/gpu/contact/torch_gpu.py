#!/usr/bin/env python3
"""torch_gpu.py [OPTION]...: measure PyTorch's time on a GPU for the training
step that `vt-bench step --device=cuda` measures, as rows of the same table.

The networks are those of tests/bench/torch_step.py.  The step begins with
bytes that are already on the device: normalize, forward, cross-entropy,
backward, and SGD with momentum in one fused kernel.  Activations are
channels-last, and cuDNN may try its kernels (cudnn.benchmark).

A mode is PRECISION/HOW.  The precisions are fp16 and bf16 under autocast,
fp16 with gradient scaling, and fp32 without TF32.  HOW is eager; graph, with
forward and backward as one CUDA graph, in fp16 with a fixed scale; compile;
reduce-overhead, which is compile with CUDA graphs; or max-autotune.  Time
one mode per command: compiling may take minutes, and a mode's memory is not
released.

With --device=cpu it runs without a GPU, for trials; graphs are refused
there.
"""
import argparse
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True          # this folder may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "bench"))
import torch_nets  # noqa: E402
import torch_step  # noqa: E402

HOW = ("eager", "graph", "compile", "reduce-overhead", "max-autotune")
MODES = ["%s/%s" % (p, h) for p in ("fp16", "bf16", "fp32") for h in HOW]
SCALE = 1024.0                          # fixed loss scale of graphs in fp16


def parse():
    p = argparse.ArgumentParser(description="Time PyTorch's training step on a GPU.",
                                epilog="Modes: " + ", ".join(MODES))
    p.add_argument("--net", choices=torch_step.NAMES, default="tsm_r50")
    p.add_argument("--shape", default="64x8x224", help="clips x frames x side (64x8x224)")
    p.add_argument("--classes", type=int, default=400)
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--modes", default="fp16/eager", help="to time, between commas")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    o = p.parse_args()
    torch_step.check(p, o, MODES)
    for mode in o.modes.split(","):
        if o.device == "cpu" and mode.split("/")[1] in ("graph", "reduce-overhead"):
            p.error("--modes: %s is for a GPU" % mode)
    return o


class Step:
    """Training steps in one mode."""

    def __init__(self, torch, o, mode):
        clips, frames, side = (int(n) for n in o.shape.split("x"))
        precision, how = mode.split("/")
        torch.manual_seed(1)
        self.torch, self.device, self.frames = torch, o.device, frames
        self.cube = o.net in torch_nets.CUBES
        self.type = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": None}[precision]
        last = torch.channels_last_3d if self.cube else torch.channels_last
        self.format = last
        self.net = torch_step.build(torch, o.net, o.classes, frames).to(o.device, memory_format=last).train()
        self.run = self.net
        if how in ("compile", "max-autotune", "reduce-overhead"):
            self.run = torch.compile(self.net, mode="default" if how == "compile" else how)
        fixed = how == "graph" and precision == "fp16"
        self.scale = SCALE if fixed else 1.0
        settings = {"lr": 0.001 / self.scale, "momentum": 0.9, "weight_decay": 1e-4}
        try:
            self.sgd = torch.optim.SGD(self.net.parameters(), fused=True, **settings)
        except (TypeError, RuntimeError):
            self.sgd = torch.optim.SGD(self.net.parameters(), foreach=True, **settings)
        self.scaler = None
        if precision == "fp16" and not fixed and o.device == "cuda":
            self.scaler = torch.amp.GradScaler("cuda", init_scale=SCALE)
        mean, sd = torch_nets.CUBES.get(o.net, (None, torch_nets.IMAGENET))[1]
        self.mean, self.sd = (torch.tensor(v, device=o.device).view(1, 3, 1, 1) for v in (mean, sd))
        self.pixels = torch.randint(0, 256, (clips * frames, side, side, 3), dtype=torch.uint8, device=o.device)
        self.labels = (torch.arange(clips) % o.classes).to(o.device)
        self.graph = self.capture() if how == "graph" else None

    def backward(self):
        """Run forward and backward.  Return the loss, on the device."""
        torch = self.torch
        x = (self.pixels.permute(0, 3, 1, 2).float().div_(255) - self.mean) / self.sd
        if self.cube:
            x = x.view(-1, self.frames, *x.shape[1:]).transpose(1, 2)
        x = x.contiguous(memory_format=self.format)
        with torch.autocast(self.device, self.type or torch.bfloat16, enabled=self.type is not None):
            scores = self.run(x)
        loss = torch.nn.functional.cross_entropy(scores.float(), self.labels)
        (self.scaler.scale(loss) if self.scaler else loss * self.scale).backward()
        return loss.detach()

    def capture(self):
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.sgd.zero_grad(set_to_none=True)
                self.backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.sgd.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.loss = self.backward()
        return graph

    def once(self):
        """Run one step.  Return the seconds until the loss is known."""
        start = time.perf_counter()
        if self.graph is not None:
            self.graph.replay()
            loss = self.loss
        else:
            self.sgd.zero_grad(set_to_none=True)
            loss = self.backward()
        if self.scaler:
            self.scaler.step(self.sgd)
            self.scaler.update()
        else:
            self.sgd.step()
        value = loss.item()
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        if value != value:
            sys.exit("torch_gpu.py: the loss is not a number")
        return time.perf_counter() - start


def row(name, unit, values, note=""):
    v = sorted(values)
    p99 = v[(99 * len(v) + 99) // 100 - 1]
    print("%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t%s" % (name, unit, len(v), v[0], statistics.median(v), p99, note), flush=True)


def main():
    o = parse()
    try:
        import torch
    except ImportError:
        sys.exit("torch_gpu.py: PyTorch is not here")
    if o.device == "cuda" and not torch.cuda.is_available():
        print("torch_gpu.py: PyTorch sees no GPU here", file=sys.stderr)
        sys.exit(2)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    clips = int(o.shape.split("x")[0])
    print("# PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda, torch.backends.cudnn.version()))
    print("#name\tunit\tn\tmin\tmedian\tp99\tnote")
    for mode in o.modes.split(","):
        if o.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        step = Step(torch, o, mode)
        for _ in range(o.warmup):
            step.once()
        times = [step.once() for _ in range(o.runs)]
        prefix = "torch/%s/%s/%s" % (o.net, o.shape, mode)
        row(prefix + "/step", "s", times)
        row(prefix + "/clips", "clips/s", [clips / t for t in times])
        if o.device == "cuda":
            row(prefix + "/memory", "bytes", [torch.cuda.max_memory_allocated()], "largest sum of allocations")


if __name__ == "__main__":
    main()
