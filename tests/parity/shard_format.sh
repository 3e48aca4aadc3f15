#!/bin/sh
# A reader in Python, written from vt-shard(5) alone, finds every byte of a
# shard as described.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD

for need in python3 xxh128sum; do
	command -v $need >/dev/null || skip_all "no $need"
done
mkdir "$T/scratch" && cd "$T/scratch" || exit 2
"$BUILD/tests/stream" 0 6 3 200 3 1 jpg >stream.tar
check_exit "a set is packed" 0 vt-pack -o train stream.tar
check_exit "the independent reader reads the set" 0 python3 "$root/tests/parity/shard_format.py"
printf x | dd of=train/shard-000000.tar bs=1 seek=700 conv=notrunc 2>/dev/null
check_exit "the independent reader refuses the set after one byte changes" 1 python3 "$root/tests/parity/shard_format.py"
plan
