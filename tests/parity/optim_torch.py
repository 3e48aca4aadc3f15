"""Repeat the steps of tests/tools/optimdump in PyTorch and compare.

Standard input has a line for each folder of optimdump: WANTED DIR OPTIMIZER
SETTING...  WANTED is same, or other if the settings differ from those of the
folder."""
import sys

import torch

STEPS = 10


def read(folder, name, rows):
    with open(f"{folder}/{name}", "rb") as f:
        data = bytearray(f.read())
    return torch.frombuffer(data, dtype=torch.float64).reshape(rows, -1)


def apart(want, got):
    got = torch.cat([p.detach() for p in got])
    return float(((got - want).abs() / (1 + want.abs())).max())


def optimizer_of(name, parameters, rows, setting):
    groups = [{"params": [p], "weight_decay": 0.01 * float(r[3])}
              for p, r in zip(parameters, rows)]
    if name == "sgd":
        return torch.optim.SGD(groups, lr=0.1, momentum=0.9,
                               nesterov="nesterov" in setting)
    return torch.optim.AdamW(groups, lr=0.1, betas=(0.8, 0.95), eps=1e-6)


def average_of(parameters, decay):
    # The warm-up of the decay is TensorFlow's; AveragedModel does the rest.
    def mix(old, new, n):
        d = min(decay, (1 + float(n)) / (10 + float(n)))
        return d * old + (1 - d) * new
    model = torch.nn.ParameterList(parameters)
    return model, torch.optim.swa_utils.AveragedModel(model, avg_fn=mix)


def compare(folder, name, *more):
    """Return the largest difference, and the largest change of a weight in a
    step."""
    setting = dict(x.partition("=")[::2] for x in more)
    rows = [line.split("\t") for line in open(f"{folder}/params.tsv")]
    counts = [int(r[1]) for r in rows]
    w, g = read(folder, "w.f64", STEPS + 1), read(folder, "g.f64", STEPS)
    parameters = [torch.nn.Parameter(x.clone()) for x in w[0].split(counts)]
    o = optimizer_of(name, parameters, rows, setting)
    if "ema" in setting:
        model, average = average_of(parameters, float(setting["ema"]))
        averages = read(folder, "ema.f64", STEPS)
    worst = moved = 0.0
    for step in range(STEPS):
        for p, x, r, group in zip(parameters, g[step].split(counts), rows,
                                  o.param_groups):
            p.grad = x.clone()
            group["lr"] = 0.1 / (1 + step) * float(r[2])
        if "clip" in setting:
            torch.nn.utils.clip_grad_norm_(parameters, float(setting["clip"]))
        if "value" in setting:
            torch.nn.utils.clip_grad_value_(parameters,
                                            float(setting["value"]))
        o.step()
        worst = max(worst, apart(w[step + 1], parameters))
        moved = max(moved, float((w[step + 1] - w[step]).abs().max()))
        if "ema" in setting:
            average.update_parameters(model)
            worst = max(worst, apart(averages[step],
                                     list(average.parameters())))
    return worst, moved


for line in sys.stdin:
    wanted, folder, *case = line.split()
    worst, moved = compare(folder, *case)
    right = moved > 1e-3 and (worst < 1e-12) == (wanted == "same")
    print("ok" if right else "not", wanted, *case, "worst %.3g" % worst)
