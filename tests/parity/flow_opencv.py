"""Compare tvl1_flow with OpenCV's DualTVL1OpticalFlow on videos.

flow_opencv.py PROGRAM VIDEO...: send the first frames of each video through
PROGRAM (tests/tools/tvl1) and through OpenCV, and print for each a line
"NAME difference MEAN flow MEAN times RATIO": the mean end-point difference and
the mean length of OpenCV's flow in pixels, and how many times OpenCV's
processor time is that of PROGRAM.
"""
import os
import resource
import subprocess
import sys
import time

import cv2
import numpy

WIDTH, HEIGHT, FRAMES = 320, 240, 3


def frames(path):
    video, found = cv2.VideoCapture(path), []
    while len(found) < FRAMES:
        good, frame = video.read()
        if not good:
            break
        frame = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        found.append(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
    return numpy.stack(found)


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


cv2.setNumThreads(1)
solver = cv2.optflow.DualTVL1OpticalFlow_create()
for path in sys.argv[2:]:
    f = frames(path)
    start = time.process_time()
    want = numpy.stack([solver.calc(a, b, None) for a, b in zip(f, f[1:])])
    theirs = time.process_time() - start
    start = spent()
    out = subprocess.run([sys.argv[1], str(WIDTH), str(HEIGHT)],
                         input=f.tobytes(), stdout=subprocess.PIPE, check=True)
    ours = spent() - start
    got = numpy.frombuffer(out.stdout, numpy.float32)
    got = got.reshape(len(f) - 1, 2, HEIGHT, WIDTH).transpose(0, 2, 3, 1)
    length = numpy.sqrt((want ** 2).sum(-1)).mean()
    difference = numpy.sqrt(((got - want) ** 2).sum(-1)).mean()
    print("%s difference %.4f flow %.2f times %.1f" % (
        os.path.basename(path), difference, length, theirs / ours))
