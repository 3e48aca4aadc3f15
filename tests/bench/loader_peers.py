"""loader_peers.py PROGRAM SECONDS WORKERS PATH...: frames per second that another
program delivers in batches of 8 clips of 8 frames of 224x224, for tests/bench/loader-vs.
PROGRAM is pillow or torchvision, with webdataset, where PATH is a shard of vt-pack;
or decord or torchcodec, where PATHs are videos."""
import importlib, io, multiprocessing, random, sys, time

import numpy as np

T, B, SIDE = 8, 8, 224


def chosen(n):
    """A random frame of each of T segments, as TSN and TSM choose."""
    return [min(n - 1, int((i + random.random()) * n / T)) for i in range(T)]


def crop(w, h):
    """A crop of TSM's multi-scale rule: x, y, width, height."""
    short = min(w, h)
    i = random.randrange(4)
    j = min(3, max(0, i + random.randrange(-1, 2)))
    scale = (1, .875, .75, .66)
    cw, ch = int(short * scale[i]), int(short * scale[j])
    return random.randint(0, w - cw), random.randint(0, h - ch), cw, ch


def pillow(jpegs):
    from PIL import Image
    frames, box = [], None
    for data in jpegs:
        m = Image.open(io.BytesIO(data)).convert("RGB")
        if box is None:
            x, y, w, h = crop(*m.size)
            box = (x, y, x + w, y + h)
        frames.append(np.asarray(m.crop(box).resize((SIDE, SIDE), Image.BILINEAR)))
    return np.stack(frames)


def torchvision(jpegs):
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.functional import resized_crop
    frames = [decode_jpeg(torch.frombuffer(bytearray(d), dtype=torch.uint8), ImageReadMode.RGB) for d in jpegs]
    x, y, w, h = crop(frames[0].shape[2], frames[0].shape[1])
    return resized_crop(torch.stack(frames), y, x, h, w, [SIDE, SIDE], antialias=True).permute(0, 2, 3, 1).numpy()


def stored(program, paths):
    import webdataset
    decode = pillow if program == "pillow" else torchvision
    for sample in webdataset.WebDataset(paths * 1000, shardshuffle=False, nodesplitter=None, workersplitter=None):
        names = sorted(k for k in sample if k.endswith("jpg"))
        if names:
            yield decode([sample[names[i]] for i in chosen(len(names))])


def videos(program, paths):
    while True:
        path = random.choice(paths)
        if program == "decord":
            import decord
            v = decord.VideoReader(path, num_threads=1)
            yield v.get_batch(chosen(len(v))).asnumpy()
        else:
            from torchcodec.decoders import VideoDecoder
            v = VideoDecoder(path, num_ffmpeg_threads=1)
            yield v.get_frames_at(chosen(v.metadata.num_frames)).data.numpy()


def work(program, paths, seconds, seed, out):
    try:
        import torch
        torch.set_num_threads(1)
    except ImportError:
        pass
    random.seed(seed)
    clips = (stored if program in ("pillow", "torchvision") else videos)(program, paths)
    next(clips)
    start, n, batch = time.time(), 0, []
    while time.time() - start < seconds:
        batch.append(next(clips))
        n += T
        if len(batch) == B and program in ("pillow", "torchvision"):
            np.stack(batch)
        if len(batch) == B:
            batch = []
    out.put(n / (time.time() - start))


if __name__ == "__main__":
    program, seconds, workers = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    # A worker that lacks a module would leave the queue empty for ever.
    for module in {"pillow": ("webdataset", "PIL"), "torchvision": ("webdataset", "torchvision")}.get(program, (program,)):
        importlib.import_module(module)
    out = multiprocessing.Queue()
    all_workers = [multiprocessing.Process(target=work, args=(program, sys.argv[4:], seconds, i, out))
                   for i in range(workers)]
    for w in all_workers:
        w.start()
    print("%.0f" % sum(out.get() for _ in all_workers))
