"""state_dicts.py FOLDER: write the names and shapes of the state dicts of other
programs, from their code and configurations alone, and a list of them.

Each FOLDER/keys_NAME.tsv is a table "key, shape".  FOLDER/list has a line "NAME
PROGRAM NETWORK CLASSES export|read" for each: vt's NETWORK must load it by the
names of PROGRAM, and export it unless the program only reads it or has another
network with these names.  Each line of standard output is a table of
tests/golden that has other names or shapes.

Sources: mit-han-lab/temporal-shift-module 1f6a834, facebookresearch/SlowFast
287ec00, facebookresearch/pytorchvideo f3142bb, open-mmlab/mmaction2 4d6c934,
mmaction and mmcv 0198abf, torchvision, moabitcoin/ig65m-pytorch 56b7e9d.
"""
import os
import re
import sys

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
AFTER_THIRD = ((0, 1), (2, 1), (0, 2), (2, 2), (4, 2))      # (block, stage) of non-local blocks
AFTER_SECOND = ((1, 1), (3, 1), (1, 2), (3, 2), (5, 2))
LATERAL = (16, 64, 128, 256)            # channels from the fast pathway


class State(dict):
    def conv(self, name, *shape, bias=False, norm=None):
        self[name + ".weight"] = shape
        if bias:
            self[name + ".bias"] = shape[:1]
        if norm:
            self.norm(norm, shape[0])

    def norm(self, name, channels):
        for part in ("weight", "bias", "running_mean", "running_var"):
            self["%s.%s" % (name, part)] = (channels,)
        self[name + ".num_batches_tracked"] = ()

    def linear(self, name, out, channels):
        self[name + ".weight"] = (out, channels)
        self[name + ".bias"] = (out,)


def renamed(state, rename):
    return State((rename(name), shape) for name, shape in state.items())


# ---- torchvision ----

def resnet(depth=50, colors=3, classes=400):
    d, channels = State(), 64
    d.conv("conv1", 64, colors, 7, 7, norm="bn1")
    for stage, blocks in enumerate(BLOCKS[depth]):
        wide = 64 << stage
        out = wide if depth == 18 else 4 * wide
        for block in range(blocks):
            name = "layer%d.%d." % (stage + 1, block)
            layers = [(wide, channels, 3, 3), (wide, wide, 3, 3)] if depth == 18 else \
                [(wide, channels, 1, 1), (wide, wide, 3, 3), (out, wide, 1, 1)]
            for i, shape in enumerate(layers, 1):
                d.conv("%sconv%d" % (name, i), *shape, norm="%sbn%d" % (name, i))
            if block == 0 and channels != out:
                d.conv(name + "downsample.0", out, channels, 1, 1, norm=name + "downsample.1")
            channels = out
    d.linear("fc", classes, channels)
    return d


def r2plus1d(depth=18, caffe2=False):
    d, channels = State(), 64
    d.conv("stem.0", 45, 3, 1, 7, 7, norm="stem.1")
    d.conv("stem.3", 64, 45, 3, 1, 1, norm="stem.4")
    for stage in range(4):
        out = 64 << stage
        for block in range(BLOCKS[depth][stage]):
            name = "layer%d.%d." % (stage + 1, block)
            for i, before in ((1, channels), (2, out)):
                at, c = "%sconv%d." % (name, i), before if caffe2 else channels
                mid = c * out * 27 // (c * 9 + 3 * out)
                d.conv(at + "0.0", mid, before, 1, 3, 3, norm=at + "0.1")
                d.conv(at + "0.3", out, mid, 3, 1, 1, norm=at + "1")
            if channels != out:
                d.conv(name + "downsample.0", out, channels, 1, 1, 1, norm=name + "downsample.1")
            channels = out
    d.linear("fc", 400, 512)
    return d


def r3d(over=3):
    """r3d_18, or with one frame behind the first stage mc3_18."""
    d, channels = State(), 64
    d.conv("stem.0", 64, 3, 3, 7, 7, norm="stem.1")
    for stage in range(4):
        out = 64 << stage
        for block in range(2):
            name = "layer%d.%d." % (stage + 1, block)
            for i, before in ((1, channels), (2, out)):
                at = "%sconv%d." % (name, i)
                d.conv(at + "0", out, before, over if stage else 3, 3, 3, norm=at + "1")
            if channels != out:
                d.conv(name + "downsample.0", out, channels, 1, 1, 1, norm=name + "downsample.1")
            channels = out
    d.linear("fc", 400, 512)
    return d


# ---- MobileNetV2 of torchvision, TSM, its online demo, and MMAction2 ----

def mobilenet(program, classes=400):
    d, number, channels = State(), 1, 32
    first = {"mmaction2": ("backbone.conv1.conv", "backbone.conv1.bn")}.get(program, ("features.0.0", "features.0.1"))
    last = {"mmaction2": ("backbone.conv2.conv", "backbone.conv2.bn")}.get(program, ("features.18.0", "features.18.1"))
    d.conv(first[0], 32, 3, 3, 3, norm=first[1])
    for layer, (expand, out, blocks, stride) in enumerate(((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                           (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)), 1):
        for block in range(blocks):
            hidden, beside = channels * expand, channels == out and (stride == 1 or block > 0)
            shapes = [(hidden, channels, 1, 1)] * (expand > 1) + [(hidden, 1, 3, 3), (out, hidden, 1, 1)]
            for i, shape in enumerate(shapes):
                net = ".net" if beside and i == 0 else ""       # behind a shift
                if program == "mmaction2":
                    at = "backbone.layer%d.%d.conv.%d%s." % (layer, block, i, net)
                    names = at + "conv", at + "bn"
                elif program == "torchvision":
                    at, end = "features.%d.conv." % number, i == len(shapes) - 1
                    names = (at + "%d" % i, at + "%d" % (i + 1)) if end else (at + "%d.0" % i, at + "%d.1" % i)
                else:
                    at = "features.%d.conv." % number
                    names = at + "%d%s" % (3 * i, net if program == "tsm" else ""), at + "%d" % (3 * i + 1)
                d.conv(names[0], *shape, norm=names[1])
            number, channels = number + 1, out
    d.conv(last[0], 1280, 320, 1, 1, norm=last[1])
    d.linear({"mmaction2": "cls_head.fc_cls", "torchvision": "classifier.1", "tsm": "new_fc", "online": "classifier"}[program],
             classes, 1280)
    return renamed(d, lambda n: "base_model." + n if program == "tsm" and n.startswith("features") else n)


# ---- TSM ----

def tsm(depth=50, colors=3, classes=400, shift=True, nonlocal_=False, tpool=False):
    def rename(name):
        if name.startswith("fc."):
            return "new_" + name
        m = re.match(r"layer(\d)\.(\d+)\.(.*)", name)
        if m:
            stage, block, rest = int(m[1]), int(m[2]), m[3]
            if shift and rest == "conv1.weight" and (depth != 101 or block % 2 == 0):
                rest = "conv1.net.weight"
            inside = "block." if nonlocal_ and (block, stage - 1) in AFTER_THIRD else ""
            name = "layer%d.%s%d.%s%s" % (stage, "net." if tpool and stage == 2 else "", block, inside, rest)
        return "base_model." + name

    d = renamed(resnet(depth, colors, classes), rename)
    for block, stage in AFTER_THIRD if nonlocal_ else ():
        at, c = "base_model.layer%d.%d.nl." % (stage + 1, block), 256 << stage
        for part in ("g.0", "theta", "phi.0"):
            d.conv(at + part, c // 2, c, 1, 1, 1, bias=True)
        d.conv(at + "W.0", c, c // 2, 1, 1, 1, bias=True, norm=at + "W.1")
    return d


# ---- PySlowFast ----

KERNELS = {"c2d": (1, (1,), (1,), (1,), (1,)), "i3d": (5, (3,), (3, 1), (3, 1), (1, 3)),     # over time, of each stage
           "slow": (1, (1,), (1,), (3,), (3,)), "fast": (5, (3,), (3,), (3,), (3,))}


def psf(arch, classes=400, attend=False, fuse=0):
    d = State()
    paths = [(0, arch, 1)] if not fuse else [(0, "slow", 1), (1, "fast", 8)]
    for path, kind, thin in paths:
        channels = 64 // thin
        at = "s1.pathway%d_stem." % path
        d.conv(at + "conv", channels, 3, KERNELS[kind][0], 7, 7, norm=at + "bn")
        for stage, blocks in enumerate(BLOCKS[50]):
            inner, out = (64 << stage) // thin, (256 << stage) // thin
            channels += LATERAL[stage] if fuse and path == 0 else 0
            for block in range(blocks):
                at = "s%d.pathway%d_res%d." % (stage + 2, path, block)
                over = KERNELS[kind][stage + 1]
                if block == 0:
                    d.conv(at + "branch1", out, channels, 1, 1, 1, norm=at + "branch1_bn")
                d.conv(at + "branch2.a", inner, channels, over[block % len(over)], 1, 1, norm=at + "branch2.a_bn")
                d.conv(at + "branch2.b", inner, inner, 1, 3, 3, norm=at + "branch2.b_bn")
                d.conv(at + "branch2.c", out, inner, 1, 1, 1, norm=at + "branch2.c_bn")
                if attend and path == 0 and (block, stage) in AFTER_SECOND:
                    at = "s%d.pathway0_nonlocal%d." % (stage + 2, block)
                    for part in ("theta", "phi", "g"):
                        d.conv(at + "conv_" + part, out // 2, out, 1, 1, 1, bias=True)
                    d.conv(at + "conv_out", out, out // 2, 1, 1, 1, bias=True, norm=at + "bn")
                channels = out
    for i, c in enumerate(LATERAL if fuse else (), 1):
        d.conv("s%d_fuse.conv_f2s" % i, c, c // 2, fuse, 1, 1, norm="s%d_fuse.bn" % i)
    d.linear("head.projection", classes, 2304 if fuse else 2048)
    return d


def psf_x3d():
    d, channels = State(), 24
    d.conv("s1.pathway0_stem.conv_xy", 24, 3, 1, 3, 3)
    d.conv("s1.pathway0_stem.conv", 24, 1, 5, 1, 1, norm="s1.pathway0_stem.bn")
    for stage, blocks in enumerate((3, 5, 11, 7)):
        out = 24 << stage
        inner = out * 9 // 4
        for block in range(blocks):
            at = "s%d.pathway0_res%d." % (stage + 2, block)
            if block == 0:
                d.conv(at + "branch1", out, channels, 1, 1, 1, norm=at + "branch1_bn")
            d.conv(at + "branch2.a", inner, channels, 1, 1, 1, norm=at + "branch2.a_bn")
            d.conv(at + "branch2.b", inner, 1, 3, 3, 3, norm=at + "branch2.b_bn")
            if block % 2 == 0:
                few = max(8, int(inner / 16 + 4) // 8 * 8)
                few += 8 if few < 0.9 * inner / 16 else 0
                d.conv(at + "branch2.se.fc1", few, inner, 1, 1, 1, bias=True)
                d.conv(at + "branch2.se.fc2", inner, few, 1, 1, 1, bias=True)
            d.conv(at + "branch2.c", out, inner, 1, 1, 1, norm=at + "branch2.c_bn")
            channels = out
    d.conv("head.conv_5", 432, 192, 1, 1, 1, norm="head.conv_5_bn")
    d.conv("head.lin_5", 2048, 432, 1, 1, 1)
    d.linear("head.projection", 400, 2048)
    return d


def caffe2(state):
    """Invert the renaming of PySlowFast's utils/c2_model_loading.py."""
    d = State()
    for key, shape in state.items():
        name, leaf = key.rsplit(".", 1)
        if leaf == "num_batches_tracked":
            continue
        scale = leaf == "weight" and len(shape) == 1
        leaf = {"weight": "s" if scale else "w", "bias": "b", "running_mean": "rm", "running_var": "riv"}[leaf]
        for pattern, to in ((r"^s1\.pathway(\d)_stem\.conv$", r"<\1>conv1"), (r"^s1\.pathway(\d)_stem\.bn$", r"<\1>res_conv1_bn"),
                            (r"^s1_fuse\.(conv_f2s|bn)$", r"t_pool1_subsample\1"),
                            (r"^s2_fuse\.(conv_f2s|bn)$", r"t_res2_2_branch2c_bn_subsample\1"),
                            (r"^s3_fuse\.(conv_f2s|bn)$", r"t_res3_3_branch2c_bn_subsample\1"),
                            (r"^s4_fuse\.(conv_f2s|bn)$", r"t_res4_5_branch2c_bn_subsample\1"),
                            (r"(?<=subsample)(conv_f2s|bn)$", lambda m: "_bn" if m[1] == "bn" else ""),
                            (r"^s(\d)\.pathway(\d)_res(\d)\.branch(1|2)\.?(\w*)$", r"<\2>res\1_\3_branch\4\5"),
                            (r"^s(\d)\.pathway0_nonlocal(\d)\.(?:conv_)?(\w+)$", r"nonlocal_conv\1_\2_\3"),
                            ("^head.projection$", "pred"), ("<0>", ""), ("<1>", "t_")):
            name = re.sub(pattern, to, name)
        d["%s_%s" % (name, leaf)] = shape
        if leaf in "wbs":
            d["%s_%s_momentum" % (name, leaf)] = shape
    d["model_iter"] = d["lr"] = (1,)
    return d


# ---- PyTorchVideo ----

def ptv(state, pool=False, prefix=""):
    """Rename a state dict of PySlowFast.  With the pool behind the first stage
    (hub/resnet.py), the numbers of further blocks are larger by one."""
    def rename(key):
        name, leaf = key.rsplit(".", 1)
        fused = any("fuse" in other for other in state)
        deep = any(other.startswith("head.conv_5") for other in state)
        def stage(m):
            n = int(m[1]) - 1
            path = "multipathway_blocks.%s." % m[2] if fused else ""
            return "blocks.%d.%sres_blocks.%s." % (n + (pool and n > 1), path, m[3])
        stem = r"blocks.0.multipathway_blocks.\1." if fused else "blocks.0."
        for pattern, to in ((r"^s(\d)\.pathway(\d)_res(\d+)\.", stage),
                            (r"branch1_bn$", "branch1_norm"), (r"branch1$", "branch1_conv"),
                            (r"branch2\.([abc])_bn$", r"branch2.norm_\1"), (r"branch2\.([abc])$", r"branch2.conv_\1"),
                            (r"branch2\.se\.fc1$", "branch2.norm_b.1.block.0"), (r"branch2\.se\.fc2$", "branch2.norm_b.1.block.2"),
                            (r"norm_b$", "norm_b.0" if deep else "norm_b"),
                            # create_x3d_stem has the two convolutions under each other's names
                            (r"^s1\.pathway0_stem\.conv_xy$", "blocks.0.conv.conv_t"),
                            (r"^s1\.pathway(\d)_stem\.conv$", "blocks.0.conv.conv_xy" if deep else stem + "conv"),
                            (r"^s1\.pathway(\d)_stem\.bn$", stem + "norm"),
                            (r"^s(\d)_fuse\.conv_f2s$", lambda m: "blocks.%d.multipathway_fusion.conv_fast_to_slow" % (int(m[1]) - 1)),
                            (r"^s(\d)_fuse\.bn$", lambda m: "blocks.%d.multipathway_fusion.norm" % (int(m[1]) - 1)),
                            (r"^head\.conv_5$", "blocks.5.pool.pre_conv"), (r"^head\.conv_5_bn$", "blocks.5.pool.pre_norm"),
                            (r"^head\.lin_5$", "blocks.5.pool.post_conv"),
                            (r"^head\.projection$", "blocks.%d.proj" % (6 if pool or fused else 5))):
            name = re.sub(pattern, to, name)
        return "%s%s.%s" % (prefix, name, leaf)
    return renamed(state, rename)


def ptv_x3d():
    """Without the norm of the first projection."""
    return ptv(State((name, shape) for name, shape in psf_x3d().items() if "pathway0_res0.branch1_bn" not in name or
                     not name.startswith("s2.")))


# ---- MMAction2 ----

def mm_nonlocal(d, at, c, mode):
    d.conv(at + ".g.0.conv", c // 2, c, 1, 1, 1, bias=True)
    d.conv(at + ".conv_out.conv", c, c // 2, 1, 1, 1, norm=at + ".conv_out.bn")
    for part in ("theta", "phi.0") if mode != "gaussian" else ():
        d.conv("%s.%s.conv" % (at, part), c // 2, c, 1, 1, 1, bias=True)


def mm_2d(depth=50, colors=3, shift=False, mode=None):
    def rename(name):
        name = re.sub(r"(^|\.)(conv|bn)(\d)\.", lambda m: "%sconv%s.%s." % (m[1], m[3], m[2]), name)
        name = name.replace("downsample.0", "downsample.conv").replace("downsample.1", "downsample.bn")
        m = re.match(r"layer(\d)\.(\d+)\.(.*)", name)
        if m:
            stage, block, rest = int(m[1]), int(m[2]), m[3]
            if shift and rest == "conv1.conv.weight" and (depth != 101 or block % 2 == 0):
                rest = "conv1.conv.net.weight"
            name = "layer%d.%d.%s%s" % (stage, block, "block." if mode and (block, stage - 1) in AFTER_THIRD else "", rest)
        return name.replace("fc.", "cls_head.fc_cls.") if name.startswith("fc.") else "backbone." + name

    d = renamed(resnet(depth, colors), rename)
    for block, stage in AFTER_THIRD if mode else ():
        mm_nonlocal(d, "backbone.layer%d.%d.non_local_block" % (stage + 1, block), 256 << stage, mode)
    return d


def mm_path(d, at, base, stem, inflate, lateral=(0, 0, 0, 0), attend=()):
    d.conv(at + "conv1.conv", base, 3, stem, 7, 7, norm=at + "conv1.bn")
    channels = base
    for stage, blocks in enumerate(BLOCKS[50]):
        inner, out = base << stage, base << stage + 2
        channels += lateral[stage]
        for block in range(blocks):
            name, over = "%slayer%d.%d." % (at, stage + 1, block), inflate[stage]
            for i, shape in enumerate(((inner, channels, 3 if over[block % len(over)] else 1, 1, 1), (inner, inner, 1, 3, 3),
                                       (out, inner, 1, 1, 1)), 1):
                d.conv("%sconv%d.conv" % (name, i), *shape, norm="%sconv%d.bn" % (name, i))
            if block == 0:
                d.conv(name + "downsample.conv", out, channels, 1, 1, 1, norm=name + "downsample.bn")
            if (block, stage) in attend:
                mm_nonlocal(d, name + "non_local_block", out, "dot")
            channels = out


def mm_3d(stem, inflate, attend=()):
    d = State()
    mm_path(d, "backbone.", 64, stem, inflate, attend=attend)
    d.linear("cls_head.fc_cls", 400, 2048)
    return d


def mm_i3d(attend=()):
    return mm_3d(5, ((1, 1, 1), (1, 0, 1, 0), (1, 0, 1, 0, 1, 0), (0, 1, 0)), attend)


def mm_slowfast(fuse, norm=False):
    d, slow = State(), "backbone.slow_path."
    mm_path(d, slow, 64, 1, ((0,), (0,), (1,), (1,)), LATERAL)
    mm_path(d, "backbone.fast_path.", 8, 5, ((1,),) * 4)
    for name, c in zip(("conv1", "layer1", "layer2", "layer3"), LATERAL):
        at = slow + name + "_lateral."
        d.conv(at + "conv", c, c // 2, fuse, 1, 1, norm=at + "bn" if norm else None)
    d.linear("cls_head.fc_cls", 400, 2304)
    return d


def mm_r2plus1d():
    d, channels = State(), 64

    def pair(at, out, before, over, side):
        mid = 3 * before * out * side * side // (before * side * side + 3 * out)
        d.conv(at + ".conv.conv_s", mid, before, 1, side, side, norm=at + ".conv.bn_s")
        d.conv(at + ".conv.conv_t", out, mid, over, 1, 1, norm=at + ".bn")

    pair("backbone.conv1", 64, 3, 3, 7)
    for stage, blocks in enumerate(BLOCKS[34]):
        out = 64 << stage
        for block in range(blocks):
            name = "backbone.layer%d.%d." % (stage + 1, block)
            pair(name + "conv1", out, channels, 3, 3)
            pair(name + "conv2", out, out, 3, 3)
            if channels != out:
                pair(name + "downsample", out, channels, 1, 1)
            channels = out
    d.linear("cls_head.fc_cls", 400, 512)
    return d


def mm_x3d():
    """Rename the X3D of PySlowFast (backbones/x3d.py, heads/x3d_head.py)."""
    def rename(key):
        for pattern, to in ((r"^s1\.pathway0_stem\.conv_xy", "conv1_s.conv"), (r"^s1\.pathway0_stem\.conv\.", "conv1_t.conv."),
                            (r"^s1\.pathway0_stem\.bn", "conv1_t.bn"), (r"^head\.conv_5_bn", "conv5.bn"),
                            (r"^head\.conv_5", "conv5.conv"),
                            (r"^s(\d)\.pathway0_res(\d+)\.", lambda m: "layer%d.%s." % (int(m[1]) - 1, m[2])),
                            (r"branch1_bn", "downsample.bn"), (r"branch1", "downsample.conv"), (r"branch2\.se", "se_module"),
                            (r"branch2\.([abc])_bn", lambda m: "conv%d.bn" % ("abc".index(m[1]) + 1)),
                            (r"branch2\.([abc])\.", lambda m: "conv%d.conv." % ("abc".index(m[1]) + 1))):
            key = re.sub(pattern, to, key)
        return key if key.startswith("head") else "backbone." + key

    d = State((name, shape) for name, shape in renamed(psf_x3d(), rename).items() if not name.startswith("head"))
    d["cls_head.fc1.weight"] = (2048, 432)
    d.linear("cls_head.fc2", 400, 2048)
    return d


# ---- MMAction, before MMAction2 ----

def mma(state):
    """Rename a state dict of MMAction2: layers have the names of torchvision."""
    def rename(key):
        key = re.sub(r"conv(\d|1_lateral)\.conv\.", r"conv\1.", key)
        key = re.sub(r"conv(\d)\.bn\.", r"bn\1.", key)
        key = key.replace("_lateral.conv.", "_lateral.")
        return key.replace("downsample.conv.", "downsample.0.").replace("downsample.bn.", "downsample.1.")
    return renamed(state, rename)


SLOWONLY = 1, ((0,), (0,), (1,), (1,))


# ---- the list ----

PSF = [("c2d_r50", psf("c2d"), "C2D_8x8_R50"), ("i3d_r50", psf("i3d"), "I3D_8x8_R50"), ("slow_r50", psf("slow"), "SLOW_8x8_R50"),
       ("c2d_r50_nl", psf("c2d", attend=True), "C2D_NLN_8x8_R50"), ("i3d_r50_nl", psf("i3d", attend=True), "I3D_NLN_8x8_R50"),
       ("slow_r50_nl", psf("slow", attend=True), "SLOW_NLN_8x8_R50"),
       ("slowfast_r50_4x16", psf("slowfast", fuse=5), "SLOWFAST_4x16_R50"),
       ("slowfast_r50_8x8", psf("slowfast", fuse=7), "SLOWFAST_8x8_R50"), ("slowfast_r50_16x8", psf("slowfast", fuse=7), None),
       ("slowfast_r50_8x8_nl", psf("slowfast", attend=True, fuse=5), "SLOWFAST_NLN_8x8_R50")]
# Network, state dict, table of tests/golden, and classes if not 400.
WRITTEN = {
    "pyslowfast": PSF + [
        ("slow_r50", psf("slow"), "SLOW_4x16_R50"), ("c2d_r50_nopool", psf("c2d"), None),
        ("resnet50", psf("c2d", 1000), "RES_R50_IN1K", 1000),
        ("slowfast_r50_16x8", psf("slowfast", 174, fuse=7), "SLOWFAST_16x8_R50_SSv2", 174),
        ("slowfast_r50_16x8", psf("slowfast", 157, fuse=7), "SLOWFAST_16x8_R50_Charades", 157),
        ("x3d_m_pyslowfast", psf_x3d(), "X3D_M"), ("x3d_s_pyslowfast", psf_x3d(), None),
        ("c2d_r50_nopool_pyslowfast", psf("c2d"), None)],
    "tsm": [
        ("tsm_r50", tsm(), "r50_8f_k400"), ("tsm_r50", tsm(), "r50_16f_k400"), ("tsm_r18", tsm(18), None),
        ("tsm_r50", tsm(classes=174), "r50_8f_sth", 174), ("tsm_r101", tsm(101), "r101_8f_k400"),
        ("tsm_r50_nl", tsm(nonlocal_=True), "r50_8f_nl_k400"), ("tsm_r50_tpool", tsm(tpool=True), "r50_8f_tpool_k400"),
        ("tsn_r50", tsm(shift=False), "tsn_r50_8f_k400"), ("tsn_r18", tsm(18, shift=False), None),
        ("tsm_r18_flow", tsm(18, 10), None), ("tsm_r50_flow", tsm(colors=10), None),
        ("tsn_r18_flow", tsm(18, 10, shift=False), None), ("tsn_r50_flow", tsm(colors=10, shift=False), None),
        ("tsn_r50_rgbdiff", tsm(colors=15, shift=False), None), ("tsm_mobilenet_v2", mobilenet("tsm"), "mobilenetv2_8f_k400"),
        ("tsm_mobilenet_v2_online", mobilenet("online", 27), "online_mobilenetv2_jester", 27)],
    "torchvision": [
        ("resnet50", resnet(classes=1000), "resnet50", 1000), ("tsn_r50", resnet(), None), ("tsn_r18", resnet(18), None),
        ("r2plus1d_18", r2plus1d(), None), ("r2plus1d_34", r2plus1d(34, True), None), ("r3d_18", r3d(), None),
        ("mc3_18", r3d(1), None)],
    "mmaction2": [
        ("tsn_r50", mm_2d(), "tsn_r50_3seg_k400"), ("tsn_r18", mm_2d(18), None), ("tsn_r50_flow", mm_2d(colors=10), None),
        ("c2d_r50_nopool", mm_2d(), "c2d_nopool_8f_k400"), ("tsm_r50", mm_2d(shift=True), "tsm_r50_8f_k400"),
        ("tsm_r101", mm_2d(101, shift=True), None),
        ("tsm_r50_nl", mm_2d(shift=True, mode="embedded"), "tsm_r50_nl_embedded_gaussian_8f_k400"),
        ("tsm_r50_nl_dot", mm_2d(shift=True, mode="dot"), "tsm_r50_nl_dot_product_8f_k400"),
        ("tsm_r50_nl_gaussian", mm_2d(shift=True, mode="gaussian"), "tsm_r50_nl_gaussian_8f_k400"),
        ("tsm_mobilenet_v2", mobilenet("mmaction2"), "tsm_mobilenetv2_8f_k400"),
        ("i3d_r50_32f", mm_i3d(), "i3d_r50_32f_k400"),
        ("i3d_r50_32f_nl", mm_i3d(AFTER_SECOND), "i3d_r50_nl_dot_product_32f_k400"),
        ("slow_r50", mm_3d(*SLOWONLY), None), ("slow_r50_mmaction2", mm_3d(*SLOWONLY), None),
        ("slow_r50_nl_mmaction2", mm_3d(*SLOWONLY, AFTER_THIRD), None), ("c2d_r50_mmaction2", mm_2d(), None),
        ("slowfast_r50_4x16_mmaction2", mm_slowfast(5), "slowfast_r50_4x16_k400"),
        ("slowfast_r50_8x8_mmaction2", mm_slowfast(7), "slowfast_r50_8x8_k400"),
        ("slowfast_r50_8x8_mmaction2_norm", mm_slowfast(7, True), "slowfast_r50_8x8_multigrid_lateralnorm_k400")],
}
READ = {
    "caffe2": [(net, caffe2(state)) for net, state, _ in PSF] + [("c2d_r50_nopool", caffe2(psf("c2d")))],
    "torchvision": [("tsm_mobilenet_v2", mobilenet("torchvision", 400))],
    "mmaction2": [("r2plus1d_34_mmaction2", mm_r2plus1d()), ("x3d_s_pyslowfast", mm_x3d()), ("x3d_m_pyslowfast", mm_x3d())],
    "pytorchvideo": [("c2d_r50", ptv(psf("c2d"), True)), ("i3d_r50", ptv(psf("i3d"), True)), ("slow_r50", ptv(psf("slow"))),
                     ("slowfast_r50_4x16", ptv(psf("slowfast", fuse=5))), ("slowfast_r50_8x8", ptv(psf("slowfast", fuse=7))),
                     ("x3d_s", ptv_x3d()), ("x3d_m", ptv_x3d()), ("slow_r50", ptv(psf("slow"), prefix="model."))],
    "mmaction": [("tsn_r50", mma(mm_2d())), ("i3d_r50_32f", mma(mm_i3d())), ("slow_r50_mmaction2", mma(mm_3d(*SLOWONLY))),
                 ("slowfast_r50_4x16_mmaction2", mma(mm_slowfast(5)))],
}
PREFIX = {"pyslowfast": "psf_", "mmaction2": "mmaction2_", "torchvision": "torchvision_", "tsm": "tsm_"}


def text(shape):
    return "x".join(str(n) for n in shape) or "scalar"


def golden(name):
    lines = (line.rstrip("\n").split("\t") for line in open("tests/golden/keys_%s.tsv" % name) if line[0] != "#")
    return {key: shape for key, shape, kind in lines if kind != "kind"}


# The programs of share/weights/known.tsv, and whose names their files have.
PROGRAMS = {"ig65m-pytorch": ["torchvision"], "moments_models": ["torchvision"], "pyslowfast": ["pyslowfast", "caffe2"],
            "pyslowfast with pytorchvideo": ["pytorchvideo"], "mmaction (old)": ["mmaction"], "mmaction2 1.x": ["mmaction2"],
            "mmaction2 0.x": ["mmaction2", "mmaction"]}


def unlisted():
    """Return the networks of known.tsv without a state dict of their program."""
    pairs = {(row[0], program) for programs in (WRITTEN, READ) for program, rows in programs.items() for row in rows}
    lines = [line.split("\t") for line in open("share/weights/known.tsv") if not line.startswith("# ")]
    name, network, program = (lines[0].index(column) for column in ("#name", "network", "program"))
    return sorted({row[name] for row in lines[1:] if row[network] and not any(
        (row[network], names) in pairs for names in PROGRAMS.get(row[program], [row[program]]))})


def main():
    checked = set()
    with open(sys.argv[1] + "/list", "w") as listed:
        for export, programs in (("export", WRITTEN), ("read", READ)):
            for program, rows in programs.items():
                for number, (net, state, *more) in enumerate(rows):
                    name = "%s_%s_%s%d" % (net, program, export, number)
                    with open("%s/keys_%s.tsv" % (sys.argv[1], name), "w") as f:
                        f.writelines("%s\t%s\n" % (key, text(shape)) for key, shape in state.items())
                    listed.write("%s %s %s %d %s\n" % (name, program, net, more[1] if len(more) > 1 else 400, export))
                    if more and more[0]:
                        table = PREFIX[program] + more[0]
                        table = table.replace("tsm_tsn", "tsmrepo_tsn")
                        checked.add("keys_%s.tsv" % table)
                        if golden(table) != {key: text(shape) for key, shape in state.items()}:
                            print(table)
    for file in sorted(set(f for f in os.listdir("tests/golden") if f.startswith("keys_")) - checked):
        print(file + " is not in the list")
    for name in unlisted():
        print(name + " of known.tsv has no state dict")


if __name__ == "__main__":
    main()
