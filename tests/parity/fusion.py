"""fusion.py LOSS WEIGHTS FILE...: fuse score files of vt-eval by probabilities, and
print the figures of scikit-learn for them: top1 and loss, or mAP for sets of classes.
"""
import sys

import numpy as np
from sklearn import metrics

sigmoid = sys.argv[1] == "sigmoid"
weights = [float(w) for w in sys.argv[2].split(":")]
files = []
for path in sys.argv[3:]:
    header, *rows = [line.rstrip("\n").split("\t") for line in list(open(path))[1:]]
    end = header.index("path") if "path" in header else None
    files.append((rows, np.array([[float(x) for x in row[2:end]] for row in rows])))
rows = files[0][0]
p = 0
for w, (_, s) in zip(weights, files):
    e = 1 / (1 + np.exp(-s)) if sigmoid else np.exp(s - s.max(1, keepdims=True))
    p = p + w / sum(weights) * (e if sigmoid else e / e.sum(1, keepdims=True))
kept = [i for i, row in enumerate(rows) if row[1] != "-1"]
p = p[kept]
if sigmoid:
    right = np.zeros(p.shape)
    for k, i in enumerate(kept):
        right[k, [int(c) for c in rows[i][1].split("|") if c]] = 1
    some = right.sum(0) > 0
    print("mAP %.6f" % metrics.average_precision_score(right[:, some], p[:, some], average="macro"))
else:
    right = [int(rows[i][1]) for i in kept]
    print("top1 %.6f loss %.6f" % (metrics.accuracy_score(right, p.argmax(1)),
                                   metrics.log_loss(right, p, labels=range(p.shape[1]))))
