"""joins.py: the network joins.net in PyTorch, for parity.py.  It has two
pathways with attention, gates and pools over time.

Written from the publications: slow and fast frames, laterals (Feichtenhofer
et al. 2019), non-local blocks with softmax and with dot products (Wang et
al. 2018), inverted residuals with a shift from the past (Lin et al. 2019),
squeeze and excitation with swish (Feichtenhofer 2020).
"""
import torch
import torch.nn.functional as F

import parity


class Net(parity.Net):
    """Tensors are [n, c, t, h, w]."""

    def conv(self, name, x, stride=1, groups=1):
        w = self.w[name + ".weight"]
        w = w.unsqueeze(2) if w.dim() == 4 else w
        pad = [k // 2 for k in w.shape[2:]]
        return F.conv3d(x, w, self.w.get(name + ".bias"), stride, pad, 1, groups)

    def unit(self, name, x, **how):
        return self.bn(name + ".bn", self.conv(name + ".conv", x, **how))

    def attend(self, name, x, dot):
        n, c, t, h, w = x.shape
        small = F.max_pool3d(x, (1, 2, 2))
        theta = self.conv(name + ".theta", x).flatten(2)
        phi = self.conv(name + ".phi", small).flatten(2)
        g = self.conv(name + ".g", small).flatten(2)
        f = torch.einsum("ncp,ncq->npq", theta, phi)
        f = f / f.shape[2] if dot else F.softmax(f * theta.shape[1] ** -0.5, 2)
        y = torch.einsum("npq,ncq->ncp", f, g).view(n, -1, t, h, w)
        return x + self.unit(name + ".out", y) * self.w[name + ".share.weight"]

    def past(self, x, fold):
        k = x.shape[1] // fold
        zero = torch.zeros_like(x[:, :k, :1])
        return torch.cat([torch.cat([zero, x[:, :k, :-1]], 2), x[:, k:]], 1)

    def forward(self, x):
        t = x.shape[2]
        few = torch.linspace(0, t - 1, t // 4).long()
        fast = F.relu(self.unit("fast1", x, stride=(1, 2, 2)))
        slow = F.relu(self.unit("slow1", x[:, :, few], stride=(1, 2, 2)))
        slow = torch.cat([slow, F.relu(self.unit("lateral", fast, stride=(4, 1, 1)))], 1)
        slow = self.attend("soft", slow, False)
        slow = F.max_pool3d(slow, (2, 1, 1))
        slow = self.attend("dot", slow, True)
        y = F.relu6(self.unit("widen", self.past(slow, self.fold)))
        y = F.relu6(self.unit("deep", y, groups=y.shape[1]))
        slow = slow + self.unit("narrow", y)
        fast = F.max_pool3d(fast, (3, 3, 3), (2, 2, 2), 1)
        gate = F.relu(self.conv("squeeze", fast.mean((2, 3, 4), keepdim=True)))
        fast = fast * torch.sigmoid(self.conv("excite", gate))
        fast = fast * torch.sigmoid(fast)
        fast = F.avg_pool3d(fast, (3, 1, 1), (2, 1, 1), (1, 0, 0))
        fast = F.avg_pool3d(fast, (1, 3, 3), (1, 2, 2), (0, 1, 1), count_include_pad=False)
        x = torch.cat([slow.mean((2, 3, 4)), fast.mean((2, 3, 4))], 1)
        return F.linear(x, self.w["fc.weight"], self.w["fc.bias"])


def compare(folder, n, t, side, fold, precision):
    dtype = torch.float64 if precision == "f64" else torch.float32
    params = parity.load(folder)
    net = Net(params, fold, dtype)
    x = parity.pixels(folder, n, t, side, dtype)
    x = x.view(n, t, 3, side, side).permute(0, 2, 1, 3, 4).contiguous()
    parity.report(folder, n, params, net, net.forward(x), precision == "f64",
                  "%s, %dx%dx%d" % (precision, n, t, side))
