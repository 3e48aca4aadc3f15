#!/bin/sh
# Settings that must agree between ranks, or between a run and its checkpoint,
# end the run with status 6 or 2 and one message if they differ. Settings that
# may differ change no weight.
# tests/run: weight 23
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
mpi=no
! have_mpi || mpi=yes

# "videos" differs from "train" in its pixels only, "named" in a class name,
# "fewer" and "more" in their number of classes and samples.
"$MAKESET" "$T/train" 24 8 40 32 1 && "$MAKESET" "$T/videos" 24 8 40 32 2 &&
	"$MAKESET" "$T/val" 8 8 40 32 3 && "$MAKESET" "$T/named" 24 8 40 32 1 letter=98 &&
	"$MAKESET" "$T/fewer" 24 8 40 32 1 classes=6 && "$MAKESET" "$T/more" 32 8 40 32 1 || skip_all "no test set"
small_net 4 >"$T/net.net"
sed 's/out=4/out=6/' "$T/net.net" >"$T/wide.net"
stages '0 0 2 0 12 2 16 4 0.01 0 0' >"$T/s.tsv"
sed 's/0.01/0.02/' "$T/s.tsv" >"$T/s2.tsv"
limit="timeout -k 5 120"
program=vt-train
basic="-m $T/net.net --schedule $T/s.tsv --seed 7 --device ref --resize=bilinear --precise-bn=off"
common="$basic -q"

check_same "sets made with equal settings have one settings_id" 1 \
	"$(jq -r .settings_id "$T/train/manifest.json" "$T/videos/manifest.json" | sort -u | wc -l)"
check_same "sets with different pixels have different dataset_ids" 2 \
	"$(jq -r .dataset_id "$T/train/manifest.json" "$T/videos/manifest.json" | sort -u | wc -l)"

# ---- between ranks ----

# lines FILE: count the messages of ranks in FILE.
lines() {
	grep -c '^vt-[a-z]*: ' "$1"
}
# differ WHAT REGEX OPTION...: rank 2 of 3 gets these extra options. No rank
# trains, and one message names the rank and both values.
differ() {
	what=$1 regex=$2
	shift 2
	# shellcheck disable=SC2086
	check_message "$what on one rank ends with 6" 6 "error: the ranks differ in $regex" \
		$limit mpirun -np 2 vt-train -i "$T/train" -o "$T/no" $common : -np 1 $program -i "$T/train" -o \
		"$T/no" $common "$@"
	check_same "$what: there is one message" 1 "$(lines "$T/err")"
	check "$what: no run folder is made" test ! -e "$T/no"
}
if [ $mpi = yes ]; then
	host=$(hostname)
	differ "another seed" "--seed: 7 on rank 0 \\($host\\) and 1 more, 8 on rank 2 \\($host\\)" --seed 8
	differ "another momentum" '--momentum: 0.9 on rank 0 .* and 1 more, 0.8 on rank 2' --momentum 0.8
	differ "validation" 'val: none on rank 0 .* and 1 more, [0-9a-f]{32} on rank 2' --val "$T/val"
	differ "another dataset" 'data: [0-9a-f]{32} on rank 0 .* and 1 more, [0-9a-f]{32} on rank 2' -i "$T/videos"
	differ "another network" '--model: ' -m "$T/wide.net"
	differ "another schedule" '--schedule: ' --schedule "$T/s2.tsv"
	differ "a dry run" '--dry-run: no on rank 0 .* and 1 more, yes on rank 2' -n
	differ "another device" '--device: ref on rank 0 .* and 1 more, ref64 on rank 2' --device ref64
	differ "other buckets" '--bucket: 0 on rank 0 .* 8192 on rank 2' --bucket 8K
	if vt-train --version -v | grep -q '^processor: avx'; then
		program="env VT_ISA=base vt-train"
		differ "another instruction set" 'isa: avx[0-9]* on rank 0 .* and 1 more, base on rank 2 .*VT_ISA='
	else
		skip "another instruction set" "no AVX"
	fi
	cp "$BUILD/vt-train" "$T/vt-train" && echo >>"$T/vt-train"
	program=$T/vt-train
	version=$(vt-train --version | sed -n '1s/.* //p')
	mine=$(printf '%s\n' "$version" | sed 's/[.+]/\\&/g')
	differ "another program of the same build" 'program: .* and 1 more, [0-9a-f]{32} on rank 2 .*same build'
	LC_ALL=C sed "s/$version/9${version#?}/g" "$BUILD/vt-train" >"$T/vt-train"
	differ "another build" "build: \"?vt $mine\"? on rank 0 .* and 1 more, \"?vt 9${mine#?}\"? on rank 2 .*same build"
	program=vt-train
	# Wrong options are found before the ranks connect.
	differ_2() {
		# shellcheck disable=SC2086
		check_exit "$1" 2 $limit mpirun -np 1 vt-train -i "$T/train" -o "$T/no" $common : \
			-np 1 vt-train -i "$T/train" -o "$T/no" $common --sede 8
	}
	differ_2 "an unknown option on one rank ends with 2"
	check_says "the message about the unknown option is printed" 'error: no option --sede'

	# A message that all ranks have is printed once.
	# shellcheck disable=SC2086
	check_exit "a dataset missing on all 3 ranks ends with 1" 1 \
		$limit mpirun -np 3 vt-train -i "$T/nowhere" -o "$T/no" $common
	check_same "the missing dataset is reported once, for all 3 ranks" \
		"vt-train: [all 3 ranks] error: $T/nowhere: no such file or folder (wanted a packed set, a folder of folders of videos, or a list of videos)" \
		"$(grep '^vt-' "$T/err")"
	# shellcheck disable=SC2086
	check_exit "a dataset missing on 2 of 3 ranks ends with 1" 1 \
		$limit mpirun -np 1 vt-train -i "$T/train" -o "$T/no" $common : \
		-np 2 vt-train -i "$T/nowhere" -o "$T/no" $common
	check_same "the missing dataset is reported once, for those 2 ranks" \
		"vt-train: [1 and 1 more] error: $T/nowhere: no such file or folder (wanted a packed set, a folder of folders of videos, or a list of videos)" \
		"$(grep '^vt-' "$T/err")"
	# shellcheck disable=SC2086
	check_exit "vt-eval: a checkpoint missing on all ranks ends with 1" 1 \
		$limit mpirun -np 3 vt-eval --checkpoint "$T/nowhere" -i "$T/val"
	check_same "vt-eval: the missing checkpoint is reported once" 1 "$(lines "$T/err")"

	# Settings that may differ between ranks.
	# shellcheck disable=SC2086
	check_exit "one rank trains" 0 vt-train -i "$T/train" -o "$T/one" $common
	cp -r "$T/train" "$T/copy"
	# shellcheck disable=SC2086
	check_exit "ranks may differ in threads, memory, paths and verbosity" 0 $limit \
		mpirun -np 1 vt-train -i "$T/train" -o "$T/two" $common : \
		-np 1 vt-train -i "$T/copy" $common -o "$T/elsewhere" -j 1 --loader-threads 1 --loader-memory 1M \
			-qq -v --progress never --trace-samples "$T/trace"
	check "different threads and paths on a rank change no weight" \
		cmp "$T/one/final.safetensors" "$T/two/final.safetensors"
	check "only rank 0 writes a run folder" test ! -e "$T/elsewhere"

	# shellcheck disable=SC2086
	check_message "vt-eval: different --clips on one rank end with 6" 6 \
		'the ranks differ in --clips: 0 on rank 0 .* 2 on rank 1' \
		$limit mpirun -np 1 vt-eval --checkpoint "$T/one/final.safetensors" -i "$T/val" --device ref : -np 1 \
		vt-eval --checkpoint "$T/one/final.safetensors" -i "$T/val" --device ref --clips 2
	# shellcheck disable=SC2086
	vt-train -i "$T/train" -o "$T/other" $basic -q --seed 8 >/dev/null
	check_message "vt-eval: a different checkpoint on one rank ends with 6" 6 'the ranks differ in checkpoint: ' \
		$limit mpirun -np 1 vt-eval --checkpoint "$T/one/final.safetensors" -i "$T/val" --device ref : -np 1 \
		vt-eval --checkpoint "$T/other/final.safetensors" -i "$T/val" --device ref
	check_exit "vt-bench: a different --max on one rank ends with 6" 6 $limit \
		mpirun -np 1 vt-bench allreduce --max 64K --runs 1 : -np 1 vt-bench allreduce --max 128K --runs 1
	check_says "vt-bench: the message names --max and both values" \
		'the ranks differ in --max: 65536 on rank 0 .* 131072 on rank 1'
else
	skip "different options on one rank" "no mpirun, or built without MPI"
fi

# ---- with a checkpoint ----

go_on() {	# [OPTION]...: run or resume for one step
	# shellcheck disable=SC2086
	vt-train -i "$T/train" -o "$T/run" $common --stop-after 0.000001s "$@"
}
check_exit "a run is stopped after its first step" 75 go_on
cp -r "$T/run" "$T/begun"
check_exit "resuming with other videos is refused" 2 go_on -i "$T/videos"
check_says "resuming with other videos: the message shows both dataset ids and the way out" \
	'data was [0-9a-f]{32} and is [0-9a-f]{32} now .*--override=data allows it'
check_same "a refused resume changes neither checkpoint nor log" \
	"$(cd "$T/begun" && cat ckpt-* log.jsonl | cksum)" "$(cd "$T/run" && cat ckpt-* log.jsonl | cksum)"
check_exit "--override=data allows other videos" 75 go_on -i "$T/videos" --override data
rm -rf "$T/run" && cp -r "$T/begun" "$T/run"
check_message "resuming with another seed is refused" 2 'seed was 7 and is 8 now' go_on --seed 8
check_exit "resuming with other frozen operators is refused" 2 go_on --freeze conv1 --freeze bn1
check_says "resuming with other frozen operators: the message shows them" \
	'freeze was unset and is "conv1, bn1" now \(--override=freeze allows it\)'
check_exit "--override=freeze allows other frozen operators" 75 go_on --freeze conv1 --freeze bn1 --override freeze
check_exit "resuming with another frozen operator of two is refused" 2 go_on --freeze conv1 --freeze fc
check_says "resuming with another frozen operator of two: the message shows both" \
	'freeze was "conv1, bn1" and is "conv1, fc" now'
rm -rf "$T/run" && cp -r "$T/begun" "$T/run"
check_exit "resuming with another schedule for past steps is refused" 2 go_on --schedule "$T/s2.tsv"
check_says "resuming with another schedule for past steps: the message names the first step that differs and the way out" \
	'schedule: in step 1 \(epoch 0.00\) lr was 0.01.* and is 0.02.* now \(steps to come may change; --override=schedule allows it\)'
mv "$T/run/schedule.tsv" "$T/aside.tsv"
check_exit "another schedule is refused when the run's schedule.tsv is missing" 2 go_on --schedule "$T/s2.tsv"
check_says "the message says that past steps differ, without a step" \
	'schedule: the first 1 steps differ from those of the run \('
cp "$T/s2.tsv" "$T/run/schedule.tsv"
check_message "another schedule is refused when the run's schedule.tsv is not the one it followed" 2 \
	'schedule: the first 1 steps differ from those of the run \(' \
	go_on --schedule "$T/s2.tsv"
mv "$T/aside.tsv" "$T/run/schedule.tsv"
check_exit "resuming with another network is refused" 2 go_on -m "$T/wide.net"
check_says "resuming with another network: the message shows both network names" \
	': network was net and is wide now \(--override=network allows it\)'
mkdir "$T/elsewhere.d" && cp "$T/wide.net" "$T/elsewhere.d/net.net"
check_exit "another network of the same name is refused" 2 go_on -m "$T/elsewhere.d/net.net"
check_says "another network of the same name: the message shows the first line that differs" \
	'network net: line 2 was .*conv1 .*out=4 .* and is .*conv1 .*out=6 .* now \(--override=network'
# A comment in front of the same operators.
{ echo "# another comment"; sed '1a # and one more' "$T/net.net"; } >"$T/elsewhere.d/net.net"
cp -r "$T/run" "$T/before"
check_exit "the network is compared without comments" 75 go_on -m "$T/elsewhere.d/net.net"
rm -r "$T/run" && mv "$T/before" "$T/run"
{ echo "# another comment"; cat "$T/wide.net"; } >"$T/elsewhere.d/net.net"
check_exit "another network with other comments is refused" 2 go_on -m "$T/elsewhere.d/net.net"
check_says "another network with other comments: the message has the number of the line" \
	'network net: line 3 was .*conv1 .*out=4 .* and is .*conv1 .*out=6 .* now'
check_message "resuming with other class names is refused" 2 ': class 0 was a and is b now \(--override=classes' \
	go_on -i "$T/named"
check_message "resuming with fewer classes is refused" 2 ': class 6 was g and is missing now \(--override=classes' \
	go_on -i "$T/fewer"
check_message "resuming with more samples is refused" 2 'schedule: an epoch had 24 samples and has 32 now \(' \
	go_on -i "$T/more"
# Several columns differ, in a step after the first.
stages '0 0 1 0 12 2 16 4 0.01 0 0' '1 1 2 0 24 2 16 4 0.01 0 0' >"$T/s3.tsv"
rm -rf "$T/three" && vt-train -i "$T/train" -o "$T/three" $common --schedule "$T/s3.tsv" >/dev/null
check_exit "a schedule that differs in a later step is refused" 2 vt-train -i "$T/train" -o "$T/three" $common
check_says "a schedule that differs in a later step: the message names that later step" \
	'schedule: in step 3 \(epoch 1.00\) batch was 24 and is 12 now \('
sed 's/^0\t0\t1/0\t0\t2/; 3d' "$T/s3.tsv" | sed 's/^0\t0\t2/0\t0\t1/' >"$T/s4.tsv"
check_message "a schedule that ends before the run's last step is refused" 2 \
	'schedule: ends after step 2 now, but the run did 3 steps \(' \
	vt-train -i "$T/train" -o "$T/three" $common --schedule "$T/s4.tsv"
if vt-train --version -v | grep -q '^processor: avx'; then
	check_message "resuming with another instruction set is refused" 2 \
		'isa was avx[0-9]* and is base now .*--override=isa' \
		env VT_ISA=base vt-train -i "$T/train" -o "$T/run" $common
else
	skip "another instruction set" "no AVX"
fi
check_exit "--override of an unknown name is refused" 2 go_on --override bogus
check_says "--override of an unknown name: the message lists the names that --override takes" \
	'--override=bogus \(wanted one of results, isa, library, precision, network, classes, data, schedule, order, .*seed.*\)'
check_exit "--override of a setting that may change anyway is refused" 2 go_on --override threads

# checkpoint FILE NAME=VALUE...: set metadata of FILE and make its footer again.
# An empty VALUE removes the name.
cat >"$T/meta.py" <<'PY'
import ctypes, json, struct, sys
class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
xxh128 = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
xxh128.restype, xxh128.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
b = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", b[:8])
h = json.loads(b[8:8 + n])
data = b[8 + n:-64]
for change in sys.argv[2:]:
    name, value = change.split("=", 1)
    h["__metadata__"].pop("vt." + name, None)
    if value: h["__metadata__"]["vt." + name] = value
text = json.dumps(h, separators=(",", ":"), ensure_ascii=False).encode()
text += b" " * (-(8 + len(text)) % 64)
b = struct.pack("<Q", len(text)) + text + data
hash = xxh128(b, len(b))
b += b"VTCKPT1\0" + struct.pack("<Q", len(b)) + struct.pack(">QQ", hash.high, hash.low) + bytes(32)
open(sys.argv[1], "wb").write(b)
PY
change() {
	rm -rf "$T/run" && cp -r "$T/begun" "$T/run"
	python3 "$T/meta.py" "$(ls "$T"/run/ckpt-*.safetensors)" "$@"
}
if command -v python3 >/dev/null; then
	change build="vt 0.0.9"
	check_exit "a checkpoint of another build is resumed" 75 go_on
	change results=
	check_exit "a checkpoint without a results number is damaged" 4 go_on
	change results=999
	check_exit "another results number is refused" 2 go_on
	check_says "another results number: the message shows both results numbers" \
		'results was 999 and is 1 now \(.*other weights.*; --override=results allows it\)'
	check_exit "--override=results allows another results number" 75 go_on --override results
	change library="oneDNN 1.0"
	check_message "another version of a library is refused" 2 'library was "?oneDNN 1.0"? and is none now' go_on
	for was in yes no; do
		change config="$(printf '%s\n' 'seed = 7' 'resize = bilinear' 'precise-bn = 0' "tensorboard = $was" 'device = ref')"
		check_exit "a run with tensorboard = $was resumes without --tensorboard" 75 go_on
		check_exit "a run with tensorboard = $was resumes with --tensorboard" 75 go_on --tensorboard
	done
else
	skip "other results" "no python3"
fi

# ---- options that do not affect weights ----

# meta FILE NAME: print the metadata NAME of a checkpoint.
meta() {
	header "$1" | jq -r ".__metadata__[\"$2\"]"
}
# shellcheck disable=SC2086
[ -e "$T/one/final.safetensors" ] || vt-train -i "$T/train" -o "$T/one" $common >/dev/null
build="vt $(vt-train --version | sed -n '1s/.* //p')"
check_same "checkpoint and log name the build, and the checkpoint its results number" "$build, $build, 1" \
	"$(meta "$T/one/final.safetensors" vt.build), $(jq -r 'select(.type == "start").build' "$T/one/log.jsonl"), $(
	meta "$T/one/final.safetensors" vt.results)"
# List a new option here if it decides the weights. Otherwise do not store it
# (OPTION_FREE_RESUME in its row).
check_same "a checkpoint keeps the settings that decide the weights, and no others" "$(sort <<-NAMES
	loss
	freeze
	seed
	sampler
	$(sed -n '/^#define OPTION_CLIPS/,/^$/s/.*{ 0, "\([a-z-]*\)".*/\1/p' cmd/options/clips.h)
	optimizer
	momentum
	nesterov
	beta1
	beta2
	epsilon
	trust-coefficient
	trust-clip
	weight-decay
	clip-grad
	clip-value
	loss-scale
	ema
	label-smoothing
	param-groups
	dropout
	bn-running
	balance
	level
	focal-gamma
	learners
	average-every
	average-state
	batch-growth-max
	batch-growth-factor
	batch-growth-threshold
	batch-growth-patience
	precise-bn
	device
	deterministic
	comm-dtype
	NAMES
)" "$(meta "$T/one/final.safetensors" vt.config | sed -n 's/^\(# \)\{0,1\}\([a-z][a-z0-9-]*\) = .*/\2/p' | sort)"
# same OPTION...: check that a run with these extra options ends with the same
# bytes.
same() {
	rm -rf "$T/same"
	# shellcheck disable=SC2086
	check_exit "$*" 0 vt-train -i "$T/train" -o "$T/same" $common "$@"
	check "$*: its last checkpoint is the same file" \
		cmp "$T/one/final.safetensors" "$T/same/final.safetensors"
}
same --tensorboard
same --threads=3 --loader-threads=1 --loader-memory=1M --bucket=8K
same --log-every=1 --keep-best=loss --verbose --progress=never --trace-samples="$T/trace2"
same --save-every=0 --save-steps=1 --keep=1 --stop-after=1h --step-timeout=1h
same --max-loss=100 --on-nan=skip:3 --on-corrupt=skip:0.5 --audit=1 --audit-report
same --resume=never --autotune=rule --precision=fp32 --val-frames=3 --val-crop=24 --val-every=2
rm -rf "$T/same"
check_exit "a run with --tensorboard is stopped" 75 go_on --tensorboard -o "$T/same"
check_exit "a run with --tensorboard resumes without it" 0 vt-train -i "$T/train" -o "$T/same" $common
check "a run resumed without --tensorboard ends with the same file" \
	cmp "$T/one/final.safetensors" "$T/same/final.safetensors"
plan
