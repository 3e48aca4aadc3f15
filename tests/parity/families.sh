#!/bin/sh
# Every network of share/models agrees with PyTorch built from the same weights, in test
# scores, and for one network of each kind also in losses, batch statistics and every
# gradient.  The test runs in double with few channels, and in float, in part with all
# channels.
# tests/run: weight 60
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
find_torch || skip_all "no PyTorch (Debian: python3-torch)"
"$python" -c 'import numpy' 2>/dev/null || skip_all "no NumPy (Debian: python3-numpy)"

mkdir "$T/full" "$T/narrow"
for net in share/models/*.net; do
	name=${net##*/}
	# No dropout.  Residual branches begin small, as in most published
	# files.  Through a hundred layers of equal weight, rounding errors
	# would grow a thousandfold, in PyTorch too.
	sed -e 's/rate=[0-9.]*/rate=0/' -e '/^bn .*\.bn3 .*conv3$/s/$/ gamma=0.2/' \
		-e '/^bn .*\.conv2\.1 /s/$/ gamma=0.1/' "$net" >"$T/full/$name"
	# An eighth of the channels, where the number is whole.
	narrower "$T/full/$name" >"$T/narrow/$name"
done

# beside NETS: compare the cases on standard input
beside() {
	PYTHONDONTWRITEBYTECODE=1 "$python" tests/parity/families.py "$BUILD/tests/tools/netdump" "$1" >"$T/tap" 2>"$T/err" ||
		diag "$(tail -3 "$T/err")"
	retell families.py "$T/tap"
}

beside "$T/narrow" <<'CASES'
tsm_r50_nl 11 ref64 2 4 64 trained
tsm_mobilenet_v2 11 ref64 2 3 64 trained
i3d_r50 11 ref64 2 4 64 trained
i3d_r50_333 11 ref64 2 4 64 trained
i3d_r50_nl 11 ref64 2 4 79 trained
slowfast_r50_8x8 11 ref64 2 16 64 trained
x3d_m 11 ref64 2 3 64 trained
r2plus1d_18 11 ref64 2 5 56 trained
CASES
if ! built oneDNN; then
	skip "networks in float agree with PyTorch" "built without oneDNN"
	plan
	exit 0
fi
# Trained networks, and those that other packages have, keep all channels.
for net in share/models/*.net; do
	[ ! -L "$net" ] || continue	# a link names the same network with other clips
	net=${net##*/} net=${net%.net}
	shape='1 8 64' how=tested width=narrow
	case $net in
	*_r18 | *_r18_flow* | *_tiny) continue ;;	# tests/parity/parity.sh has these
	slowfast* | *_32f*) shape='1 16 64' ;;
	slow_r50_nl_mmaction2) shape='1 4 64' ;;
	resnet50) shape='2 1 96' width=full ;;
	r3d_18 | mc3_18 | r2plus1d_34) width=full ;;
	x3d* | *mobilenet*) shape='1 4 64' ;;
	esac
	case $net in
	i3d_r50_nl | slowfast_r50_8x8 | x3d_m | r2plus1d_18 | tsm_mobilenet_v2) how=trained shape=2${shape#1} width=full ;;
	esac
	echo "$net 11 cpu $shape $how" >>"$T/$width.cases"
done
beside "$T/narrow" <"$T/narrow.cases"
beside "$T/full" <"$T/full.cases"
plan
