"""The networks of share/models that are not ResNets of images, and the
attention of tsm_r50_nl, in PyTorch, for torch_step.py.  Parameters are named
as in share/models.

The code is written for speed in PyTorch: whole modules, in-place
activations, one call for each operator.
"""

HALF = (0.45,) * 3, (0.225,) * 3
KINETICS = (0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989)
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def conv(nn, cin, out, k, stride=(1, 1, 1), groups=1, bias=False):
    return nn.Conv3d(cin, out, k, stride, [n // 2 for n in k], groups=groups, bias=bias)


def projection(nn, cin, out, stride, norm=True):
    layers = [conv(nn, cin, out, (1, 1, 1), stride)]
    return nn.Sequential(*layers, nn.BatchNorm3d(out)) if norm else nn.Sequential(*layers)


def bottlenecks(torch):
    """Return a path of blocks of He et al. 2016 whose first convolution may
    span frames."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, cin, mid, kt, s):
            super().__init__()
            out = 4 * mid
            self.conv1, self.bn1 = conv(nn, cin, mid, (kt, 1, 1)), nn.BatchNorm3d(mid)
            self.conv2, self.bn2 = conv(nn, mid, mid, (1, 3, 3), (1, s, s)), nn.BatchNorm3d(mid)
            self.conv3, self.bn3 = conv(nn, mid, out, (1, 1, 1)), nn.BatchNorm3d(out)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = projection(nn, cin, out, (1, s, s)) if s != 1 or cin != out else None

        def forward(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)))
            y = self.bn3(self.conv3(y))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    class Path(nn.Module):
        """A stem and four stages; more is the number of channels that are
        concatenated to the input of each stage."""
        def __init__(self, width, stem_kt, kts, more=(0, 0, 0, 0)):
            super().__init__()
            self.conv1 = conv(nn, 3, width, (stem_kt, 7, 7), (1, 2, 2))
            self.bn1, self.relu = nn.BatchNorm3d(width), nn.ReLU(inplace=True)
            self.pool = nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1))
            cin = width
            for i, n in enumerate((3, 4, 6, 3)):
                mid, blocks = width << i, []
                cin += more[i]
                for k in range(n):
                    blocks.append(Block(cin, mid, kts[i][k % len(kts[i])], 2 if i > 0 and k == 0 else 1))
                    cin = 4 * mid
                setattr(self, "layer%d" % (i + 1), nn.Sequential(*blocks))

        def stem(self, x):
            return self.pool(self.relu(self.bn1(self.conv1(x))))

    return Path


def i3d_r50(torch, classes):
    nn = torch.nn

    class Net(bottlenecks(torch)):
        def __init__(self):
            super().__init__(64, 5, ((3,), (3, 1), (3, 1), (1, 3)))
            self.halve = nn.MaxPool3d((2, 1, 1), (2, 1, 1))
            self.dropout, self.fc = nn.Dropout(0.5), nn.Linear(2048, classes)

        def forward(self, x):
            x = self.halve(self.layer1(self.stem(x)))
            x = self.layer4(self.layer3(self.layer2(x)))
            return self.fc(self.dropout(x.mean((2, 3, 4))))

    return Net()


def slowfast_r50_8x8(torch, classes):
    nn = torch.nn
    path = bottlenecks(torch)

    class Lateral(nn.Module):
        def __init__(self, cin):
            super().__init__()
            self.conv = conv(nn, cin, 2 * cin, (7, 1, 1), (4, 1, 1))
            self.bn, self.relu = nn.BatchNorm3d(2 * cin), nn.ReLU(inplace=True)

        def forward(self, x):
            return self.relu(self.bn(self.conv(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.slow = path(64, 1, ((1,), (1,), (3,), (3,)), (16, 64, 128, 256))
            self.fast = path(8, 5, ((3,), (3,), (3,), (3,)))
            for i, c in enumerate((8, 32, 64, 128)):
                setattr(self, "lateral%d" % (i + 1), Lateral(c))
            self.dropout, self.fc = nn.Dropout(0.5), nn.Linear(2304, classes)

        def forward(self, x):
            t = x.shape[2]
            few = torch.linspace(0, t - 1, t // 4).long()
            slow, fast = self.slow.stem(x.index_select(2, few)), self.fast.stem(x)
            for i in ("1", "2", "3", "4"):
                slow = torch.cat([slow, getattr(self, "lateral" + i)(fast)], 1)
                slow, fast = getattr(self.slow, "layer" + i)(slow), getattr(self.fast, "layer" + i)(fast)
            return self.fc(self.dropout(torch.cat([slow.mean((2, 3, 4)), fast.mean((2, 3, 4))], 1)))

    return Net()


def x3d_m(torch, classes):
    nn = torch.nn

    class Gate(nn.Module):
        def __init__(self, c, few):
            super().__init__()
            self.fc1, self.fc2 = conv(nn, c, few, (1, 1, 1), bias=True), conv(nn, few, c, (1, 1, 1), bias=True)

        def forward(self, x):
            y = nn.functional.relu(self.fc1(x.mean((2, 3, 4), keepdim=True)))
            return x * torch.sigmoid(self.fc2(y))

    class Block(nn.Module):
        def __init__(self, cin, mid, out, few, s):
            super().__init__()
            self.conv1, self.bn1 = conv(nn, cin, mid, (1, 1, 1)), nn.BatchNorm3d(mid)
            self.conv2, self.bn2 = conv(nn, mid, mid, (3, 3, 3), (1, s, s), mid), nn.BatchNorm3d(mid)
            self.conv3, self.bn3 = conv(nn, mid, out, (1, 1, 1)), nn.BatchNorm3d(out)
            self.relu, self.swish = nn.ReLU(inplace=True), nn.SiLU()
            self.se = Gate(mid, few) if few else nn.Identity()
            self.downsample = projection(nn, cin, out, (1, s, s), cin != out) if s != 1 else None

        def forward(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.swish(self.se(self.bn2(self.conv2(y))))
            y = self.bn3(self.conv3(y))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1_xy = conv(nn, 3, 24, (1, 3, 3), (1, 2, 2))
            self.conv1_t = conv(nn, 24, 24, (5, 1, 1), groups=24)
            self.bn1, self.relu = nn.BatchNorm3d(24), nn.ReLU(inplace=True)
            cin = 24
            for i, (n, out, few) in enumerate(((3, 24, 8), (5, 48, 8), (11, 96, 16), (7, 192, 32))):
                blocks = []
                for k in range(n):
                    blocks.append(Block(cin, out * 9 // 4, out, few if k % 2 == 0 else 0, 2 if k == 0 else 1))
                    cin = out
                setattr(self, "layer%d" % (i + 1), nn.Sequential(*blocks))
            self.conv5, self.bn5 = conv(nn, 192, 432, (1, 1, 1)), nn.BatchNorm3d(432)
            self.lin5 = conv(nn, 432, 2048, (1, 1, 1))
            self.dropout, self.fc = nn.Dropout(0.5), nn.Linear(2048, classes)

        def forward(self, x):
            x = self.relu(self.bn1(self.conv1_t(self.conv1_xy(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            x = self.relu(self.bn5(self.conv5(x))).mean((2, 3, 4), keepdim=True)
            return self.fc(self.dropout(self.relu(self.lin5(x)).flatten(1)))

    return Net()


def r2plus1d_18(torch, classes):
    nn = torch.nn

    def apart(cin, mid, out, s):
        return nn.Sequential(conv(nn, cin, mid, (1, 3, 3), (1, s, s)), nn.BatchNorm3d(mid), nn.ReLU(inplace=True),
                             conv(nn, mid, out, (3, 1, 1), (s, 1, 1)))

    class Block(nn.Module):
        def __init__(self, cin, out, s):
            super().__init__()
            mid = 27 * cin * out // (9 * cin + 3 * out)
            self.conv1 = nn.Sequential(apart(cin, mid, out, s), nn.BatchNorm3d(out), nn.ReLU(inplace=True))
            self.conv2 = nn.Sequential(apart(out, mid, out, 1), nn.BatchNorm3d(out))
            self.relu = nn.ReLU(inplace=True)
            self.downsample = projection(nn, cin, out, (s, s, s)) if s != 1 else None

        def forward(self, x):
            y = self.conv2(self.conv1(x))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(conv(nn, 3, 45, (1, 7, 7), (1, 2, 2)), nn.BatchNorm3d(45), nn.ReLU(inplace=True),
                                      conv(nn, 45, 64, (3, 1, 1)), nn.BatchNorm3d(64), nn.ReLU(inplace=True))
            cin = 64
            for i in range(4):
                out = 64 << i
                setattr(self, "layer%d" % (i + 1),
                        nn.Sequential(Block(cin, out, 2 if i > 0 else 1), Block(out, out, 1)))
                cin = out
            self.fc = nn.Linear(512, classes)

        def forward(self, x):
            x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
            return self.fc(x.mean((2, 3, 4)))

    return Net()


def tsm_mobilenet_v2(torch, classes, frames, shift):
    nn = torch.nn

    def unit(cin, out, k=1, s=1, groups=1):
        return [nn.Conv2d(cin, out, k, s, k // 2, groups=groups, bias=False), nn.BatchNorm2d(out),
                nn.ReLU6(inplace=True)]

    class Inverted(nn.Module):
        def __init__(self, cin, out, s, wide):
            super().__init__()
            mid = cin * wide
            self.beside = s == 1 and cin == out
            self.conv = nn.Sequential(*(unit(cin, mid) if wide > 1 else []), *unit(mid, mid, 3, s, mid),
                                      *unit(mid, out)[:2])

        def forward(self, x):
            return x + self.conv(shift(x)) if self.beside else self.conv(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layers, cin = [nn.Sequential(*unit(3, 32, 3, 2))], 32
            for wide, out, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                    (6, 160, 3, 2), (6, 320, 1, 1)):
                for i in range(n):
                    layers.append(Inverted(cin, out, s if i == 0 else 1, wide))
                    cin = out
            layers.append(nn.Sequential(*unit(cin, 1280)))
            self.features = nn.Sequential(*layers)
            self.dropout, self.fc = nn.Dropout(0.5), nn.Linear(1280, classes)

        def forward(self, x):
            x = self.features(x).mean((2, 3))
            return self.fc(self.dropout(x)).view(-1, frames, classes).mean(1)

    return Net()


def attention(torch, cin, frames):
    """The non-local block of tsm_r50_nl (Wang et al. 2018) for images [n * t,
    c, h, w]: each pixel attends to all pixels of the clip."""
    nn = torch.nn
    mid = cin // 2
    # Flash attention takes at most 256 features on a GPU, and PyTorch 1 does
    # not have it.  Stages with more features have few pixels, so unfused
    # products write little.
    fused = getattr(nn.functional, "scaled_dot_product_attention", None) if mid <= 256 else None

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.theta, self.phi, self.g = (nn.Conv2d(cin, mid, 1) for _ in range(3))
            self.pool = nn.MaxPool2d(2)
            self.out, self.bn = nn.Conv2d(mid, cin, 1), nn.BatchNorm2d(cin)
            nn.init.zeros_(self.bn.weight)

        def forward(self, x):
            def places(y):              # [n, 1, t * h * w, mid]; no copy if channels-last
                return y.permute(0, 2, 3, 1).reshape(y.shape[0] // frames, 1, -1, mid)

            q, k, v = places(self.theta(x)), places(self.pool(self.phi(x))), places(self.pool(self.g(x)))
            y = fused(q, k, v, scale=1.0) if fused else torch.softmax(q @ k.transpose(2, 3), 3) @ v
            y = y.reshape(x.shape[0], *x.shape[2:], mid).permute(0, 3, 1, 2)
            return x + self.bn(self.out(y))

    return Attention()


# Networks of clips [n, c, t, h, w]: the constructor, and mean and deviation of
# the input.
CUBES = {"i3d_r50": (i3d_r50, HALF), "slowfast_r50_8x8": (slowfast_r50_8x8, HALF), "x3d_m": (x3d_m, HALF),
         "r2plus1d_18": (r2plus1d_18, KINETICS)}
