"""Read event files of TensorBoard, with an independent reader or with the
package tensorboard, and compare them with log.jsonl.

event_files.py DIR: check that the files in DIR have whole records with
checksums by an independent formula.  The start of a session drops its steps
from earlier files; the remaining values must equal those of log.jsonl.
event_files.py --package DIR: compare the values that the package tensorboard
reads.

Print lines "# ..." that count files, tags and steps, and then "ok" or the
error.
"""
import glob
import json
import os
import struct
import sys

STEP = {"loss": "loss/train", "top1": "top1/train", "lr": "schedule/lr",
        "epoch": "schedule/epoch", "batch": "schedule/batch",
        "frames": "schedule/frames", "crop": "schedule/crop",
        "grad_norm": "gradient/norm", "clips_per_s": "time/clips_per_s",
        "wait": "time/wait", "forward": "time/forward",
        "backward": "time/backward", "comm": "time/comm",
        "update": "time/update"}
VALIDATION = {"loss": "loss/validation", "top1": "top1/validation",
              "top5": "top5/validation", "map": "map/validation",
              "seconds": "time/validation"}


def single(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def of_log(path):
    """Return {tag: {step: value}}.  The log does not have the seconds of single
    steps."""
    out = {}
    for line in open(path):
        v = json.loads(line)
        names = {"step": STEP, "validation": VALIDATION}.get(v["type"], {})
        for name, tag in names.items():
            if name in v:
                out.setdefault(tag, {})[v["step"]] = single(v[name])
    return out


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        if len(data) - at < 16:
            break
        n, = struct.unpack_from("<Q", data, at)
        if len(data) - at < 16 + n:
            break
        head, body = data[at:at + 8], data[at + 12:at + 12 + n]
        for bytes_, where in ((head, at + 8), (body, at + 12 + n)):
            if masked(bytes_) != struct.unpack_from("<I", data, where)[0]:
                sys.exit("%s: offset %d: another checksum" % (path, at))
        yield body
        at += 16 + n
    if at < len(data):
        print("# %s: %d bytes of a record that is cut" % (
            os.path.basename(path), len(data) - at))


def fields(data):
    """Yield (number, value) for each field of a protocol buffer."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            byte = data[at]
            at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            v = varint()
        elif kind == 2:
            n = varint()
            v, at = data[at:at + n], at + n
        else:
            n, form = {1: (8, "<d"), 5: (4, "<f")}[kind]
            v, at = struct.unpack_from(form, data, at)[0], at + n
        yield key >> 3, v


def of_files(paths):
    out, before = {}, 0
    for path in paths:
        events = [dict(fields(r)) for r in records(path)]
        if events[0].get(3) != b"brain.Event:2":
            sys.exit("%s: no version first" % path)
        if dict(fields(events[1][7])) != {1: 1}:
            sys.exit("%s: no start of a session second" % path)
        first = events[1][2]
        for values in out.values():
            for step in [s for s in values if s >= first]:
                del values[step]
        for e in events:
            if e[1] < before:
                sys.exit("%s: a time before the last" % path)
            before = e[1]
            if 5 not in e:
                continue
            if e[2] < first:
                sys.exit("%s: step %d before the start at %d" % (path, e[2],
                                                                first))
            for number, value in fields(e[5]):
                v = dict(fields(value))
                values = out.setdefault(v[1].decode(), {})
                if number != 1 or e[2] in values:
                    sys.exit("%s: %s of step %d twice" % (path, v[1], e[2]))
                values[e[2]] = v[2]
    return out


def of_package(directory):
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.util import tensor_util
    a = event_accumulator.EventAccumulator(directory, size_guidance={
        event_accumulator.TENSORS: 0, event_accumulator.SCALARS: 0})
    a.Reload()
    out = {}
    for tag in a.Tags()["scalars"]:
        got = a.Scalars(tag)
        out[tag] = {e.step: e.value for e in got}
        if len(out[tag]) != len(got):
            sys.exit("%s: a step is there twice" % tag)
    for tag in a.Tags()["tensors"]:
        got = a.Tensors(tag)
        out[tag] = {e.step: tensor_util.make_ndarray(e.tensor_proto).item()
                    for e in got}
        if len(out[tag]) != len(got):
            sys.exit("%s: a step is there twice" % tag)
    return out


def forget_end(got, want):
    """Drop the values from the last step.  A kill may come between a line of
    the log and its events, so one of the two may lack a step."""
    ends = max(got["time/step"]), max(want["loss/train"])
    before = [s for s in want["loss/train"] if s < max(ends)]
    if min(ends) < max(before):
        sys.exit("killed: events end at step %d, the log at %d" % ends)
    for series in list(got.values()) + list(want.values()):
        for step in [s for s in series if s >= min(ends)]:
            del series[step]


def main():
    directory = sys.argv[-1]
    paths = sorted(glob.glob(os.path.join(directory, "events.out.tfevents.*")))
    got = of_package(directory) if "--package" in sys.argv else of_files(paths)
    want = of_log(os.path.join(directory, "log.jsonl"))
    if "--killed" in sys.argv:
        forget_end(got, want)
    steps = got.pop("time/step", {})
    print("# %d files, %d tags, %d steps" % (len(paths), len(got), len(steps)))
    if sorted(steps) != sorted(want["loss/train"]) or min(steps.values()) <= 0:
        sys.exit("time/step: steps %s" % sorted(steps))
    for tag in sorted(set(got) | set(want)):
        if got.get(tag) != want.get(tag):
            sys.exit("%s: %s (the log has %s)" % (tag, got.get(tag),
                                                 want.get(tag)))
    print("ok")


main()
