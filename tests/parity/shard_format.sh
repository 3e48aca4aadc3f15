#!/bin/sh
# vt-shard(5) is enough to read a shard: a reader in another language, made
# from the description alone, finds every byte as it says.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD

for need in python3 xxh128sum; do
	command -v $need >/dev/null || skip_all "no $need"
done
mkdir "$T/scratch" && cd "$T/scratch" || exit 2
"$BUILD/tests/stream" 0 6 3 200 3 1 jpg >stream.tar
check_exit "a set is packed" 0 vt-pack -o train stream.tar
check_exit "the reader reads it" 0 python3 "$root/tests/parity/shard_format.py"
printf x | dd of=train/shard-000000.tar bs=1 seek=700 conv=notrunc 2>/dev/null
check_exit "and not if a byte is another" 1 python3 "$root/tests/parity/shard_format.py"
plan
