"""Compare the losses of tests/tools/lossdump, on standard input, with PyTorch.

Cross-entropies are torch.nn.functional.cross_entropy with weight and
label_smoothing; the focal loss is written out.  Print a line for each case: its
name, and the largest differences of loss and gradient."""
import sys

import torch
from torch.nn.functional import cross_entropy, log_softmax, one_hot


def cases():
    case = None
    for line in sys.stdin:
        name, *words = line.split()
        if name == "case":
            case = {"name": words}
        else:
            case[name] = torch.tensor([float(w) for w in words],
                                      dtype=torch.float64)
        if name == "dx":
            yield case


def loss_of(x, target, soft, gamma, smooth, weight):
    if not soft:
        target = target.long()
    if gamma == 0:
        # The mean divides by the number of clips.
        return cross_entropy(x, target, weight=weight, reduction="sum",
                             label_smoothing=smooth) / len(x)
    q = target if soft else one_hot(target, x.shape[1]).double()
    q = q * (1 - smooth) + smooth / x.shape[1]
    log_p = log_softmax(x, 1)
    each = -q * (1 - log_p.exp()) ** gamma * log_p
    return (each if weight is None else each * weight).sum() / len(x)


for case in cases():
    kind, gamma, smooth, weighted = case["name"]
    classes = len(case["weight"])
    x = case["x"].reshape(-1, classes).requires_grad_()
    target = case["target"]
    soft = kind == "soft"
    loss = loss_of(x, target.reshape(-1, classes) if soft else target, soft,
                   float(gamma), float(smooth),
                   case["weight"] if weighted == "1" else None)
    loss.backward()
    print(" ".join(case["name"]),
          float((loss - case["loss"][0]).abs()),
          float((x.grad.flatten() - case["dx"]).abs().max()), sep="\t")
