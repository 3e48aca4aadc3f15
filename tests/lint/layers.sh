#!/bin/sh
# The layers hold: a file in lib/ includes only its own layer and those that the
# table allows. A vendor's header is included in one place only.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# columns: layer, the layers that it may include
layers() {
	cat <<'LAYERS'
base
media    base
draw     media base
shard    base
sched    base
graph    base
weights  base
comm     base
ingest   shard media base
clip     shard media base
data     clip shard sched base
backend  graph comm base
net      backend graph base
train    net backend graph weights data clip ingest shard draw media sched comm base
eval     train net backend graph weights data clip ingest shard draw media sched comm base
bench    train net backend graph weights data clip ingest shard draw media sched comm base
LAYERS
}

# columns: folder of a layer, the other folders of its layer that it may
# include. A folder without a row includes none. Files directly in a layer have
# the row of the layer: train/settings.h refers to settings of folders. Only other
# layers include net/parity.
folders() {
	cat <<'FOLDERS'
train          train/learn train/loop train/optim train/reduce train/run
backend/cpu    backend/ref
ingest         ingest/lists
train/reduce
train/optim    train/reduce
train/weights  train/run
train/run      train/optim train/weights
train/learn    train/loop train/run
train/guard    train/loop train/run
train/loop     train/guard train/learn train/optim train/reduce train/run train/weights
FOLDERS
}

# columns: header (an extended regular expression), the only files that may
# include it
vendors() {
	cat <<'VENDORS'
libav.*|libsw.*  lib/media/ffmpeg/ share/demo/encode.c
archive.*        lib/shard/
jpeglib\.h       lib/media/jpeg
png\.h           lib/media/png
cairo.*          lib/draw/cairo/
fontconfig/.*    lib/draw/cairo/font.c
xxhash\.h        lib/base/hash.c
zlib\.h          lib/base/hash.c
jansson\.h       lib/base/json.c
getopt\.h        lib/base/option_
oneapi/dnnl.*    lib/backend/cpu/dnnl
cu.*|.*cuda.*    lib/backend/cuda/
mpi\.h           lib/comm/mpi/
nccl\.h          lib/backend/cuda/nccl/
VENDORS
}

# includes DIR: print "file used-layer" for each of our includes below DIR.
includes() {
	find "$1" -name '*.[ch]' -o -name '*.cu' | xargs -d '\n' awk '/^#include "[a-z]*\// {
		split(substr($2, 2), p, "/")
		if (!seen[FILENAME, p[1]]++)
			print FILENAME, p[1] }'
}

# violations DIR: print the violations of the table of layers below DIR.
violations() {
	layers | while read -r layer may; do
		[ -d "$1/$layer" ] || continue
		includes "$1/$layer" | while read -r f used; do
			case " $layer $may " in
			*" $used "*) ;;
			*) echo "$f includes $used/" ;;
			esac
		done
	done
	for d in "$1"/*/; do
		d=${d%/}
		layers | grep -q "^${d##*/}\b" || echo "$d is in no layer"
	done
}

# inner_violations DIR: print the violations of the table of folders below DIR.
inner_violations() {
	folders >"$T/folders"
	# own is the folder of the file, or its layer if it is in no folder.
	find "$1" -name '*.[ch]' -o -name '*.cu' | sort | xargs -d '\n' awk -v root="$1/" '
	FILENAME == ARGV[1] { for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
	FNR == 1 { n = split(substr(FILENAME, length(root) + 1), p, "/"); own = p[1] (n > 2 ? "/" p[2] : "") }
	/^#include "[a-z]*\/[a-z]*\// {
		split(substr($2, 2), q, "/")
		used = q[1] "/" q[2]
		if (q[1] == p[1] && used != own && !((own, used) in may) && !seen[FILENAME, used]++)
			print FILENAME " includes " used "/"
	}' "$T/folders"
}

bad=$(violations lib)
check "every include points to an allowed layer" test -z "$bad"
[ -z "$bad" ] || diag "$bad"

# Plant violations, to prove that the checks can fail.
t=$(mktemp -d)
mkdir "$t/base" "$t/net"
echo '#include "net/plan.h"' >"$t/base/x.c"
echo '#include "base/fail.h"' >"$t/net/y.c"
check "a planted include of a higher layer is found" test "$(violations "$t")" = "$t/base/x.c includes net/"
mkdir -p "$t/train/reduce" "$t/train/loop"
echo '#include "train/loop/work.h"' >"$t/train/reduce/x.c"
echo '#include "train/reduce/bucket.h"' >"$t/train/loop/y.c"
check "a planted include between folders of a layer is found" \
	test "$(inner_violations "$t")" = "$t/train/reduce/x.c includes train/loop/"
rm -rf "$t"

bad=$(inner_violations lib)
check "within a layer, every include points to an allowed folder" test -z "$bad"
[ -z "$bad" ] || diag "$bad"

bad=$(vendors | while read -r header places; do
	grep -rlE "^#include <($header)>" lib cmd share --include='*.[ch]' --include='*.cu' | while read -r f; do
		for place in $places; do
			case $f in $place*) continue 2 ;; esac
		done
		echo "$f includes <$header>"
	done
done)
check "every vendor's header is included in its place only" test -z "$bad"
[ -z "$bad" ] || diag "$bad"

# Only the files of train that pack videos include ingest.
bad=$(grep -rl '#include "ingest/' lib/train | grep -v '^lib/train/loop/videos')
check "only train/loop/videos*.c include ingest" test -z "$bad"
[ -z "$bad" ] || diag "$bad"

# Randomness and time come from lib/base only.
bad=$(grep -nE '\b(rand|srand|random|drand48|lrand48)\(|[^a-z_]time\(NULL\)' -r lib cmd --include='*.[ch]' | grep -v '^lib/base/clock\.c:' || true)
check "only lib/base has sources of randomness and time" test -z "$bad"
[ -z "$bad" ] || diag "$bad"

bad=$(awk '/^[a-z].*\(.*[^;]$/{f=FNR} /^{/{infn=1} /^}/{infn=0} infn && /^#[ \t]*if.*VT_HAVE_/{print FILENAME": "FNR}' $(find lib cmd -name '*.c'))
check "no #if VT_HAVE_ stands inside a function" test -z "$bad"
[ -z "$bad" ] || diag "$bad"
plan
