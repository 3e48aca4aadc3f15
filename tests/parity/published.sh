#!/bin/sh
# Weight files with the names, shapes and wrapping of other programs, loaded as --init loads
# them, give the scores of the PyTorch module that wrote the file, to 1e-4 in float.  The
# values are random.  SlowFast, which joins the channels of two pathways, MobileNets, and
# ResNet-50 keep all channels; the others have an eighth of them.
# tests/run: weight 45
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"
"$python" -c 'import numpy' 2>/dev/null || skip_all "no NumPy (Debian: python3-numpy)"
built oneDNN || skip_all "built without oneDNN"

mkdir "$T/narrow"
for net in share/models/*.net; do
	case ${net##*/} in
	slowfast* | *mobilenet* | resnet50.net) ;;
	*) narrower "$net" >"$T/narrow/${net##*/}" ;;
	esac
done
PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/published.py "$BUILD/tests/tools/netdump" "$T/narrow" >"$T/tap" 2>"$T/err" <<'CASES' ||
resnet50 torchvision_resnet50 2 1 64
tsm_r50 tsm_r50_8f_k400 2 4 64
tsm_r50_nl tsm_r50_8f_nl_k400 2 4 64
tsm_mobilenet_v2 tsm_mobilenetv2_8f_k400 2 4 64
c2d_r50 psf_C2D_8x8_R50 2 4 64 caffe2
i3d_r50 psf_I3D_8x8_R50 2 4 64 caffe2
slow_r50 psf_SLOW_8x8_R50 2 4 64 caffe2
i3d_r50_nl psf_I3D_NLN_8x8_R50 2 4 64 caffe2
slowfast_r50_8x8 psf_SLOWFAST_8x8_R50 2 16 64 caffe2
slowfast_r50_4x16 psf_SLOWFAST_4x16_R50 2 16 64 caffe2
tsn_r50 mmaction2_tsn_r50_3seg_k400 2 3 64
tsm_r50_nl mmaction2_tsm_r50_nl_embedded_gaussian_8f_k400 2 4 64
tsm_mobilenet_v2 mmaction2_tsm_mobilenetv2_8f_k400 2 4 64
i3d_r50_32f_nl mmaction2_i3d_r50_nl_dot_product_32f_k400 2 16 64
slowfast_r50_4x16_mmaction2 mmaction2_slowfast_r50_4x16_k400 2 16 64
c2d_r50 pytorchvideo 2 4 64
i3d_r50 pytorchvideo 2 4 64
slow_r50 pytorchvideo 2 4 64
slowfast_r50_4x16 pytorchvideo 2 16 64
slowfast_r50_8x8 pytorchvideo 2 16 64
x3d_m pytorchvideo 2 4 64
x3d_m_pyslowfast mmaction2 2 4 64
tsn_r50 mmaction 2 3 64
i3d_r50_32f mmaction 2 16 64
slow_r50_mmaction2 mmaction 2 4 64
slowfast_r50_4x16_mmaction2 mmaction 2 16 64
slow_r50_mmaction2 mmaction2 2 4 64
slow_r50_nl_mmaction2 mmaction2 2 4 64
c2d_r50_mmaction2 mmaction2 2 4 64
r2plus1d_34_mmaction2 mmaction2 1 8 64
c2d_r50_nopool_pyslowfast psf_C2D_8x8_R50 2 4 64 caffe2
r2plus1d_34 torchvision 1 8 64
r3d_18 torchvision 1 8 64
mc3_18 torchvision 1 8 64
CASES
	diag "$(tail -3 "$T/err")"
retell published.py "$T/tap"
plan
