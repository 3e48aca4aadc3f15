#!/bin/sh
# vt-pack: what it writes, that others can read it, what it refuses, what it
# finds, and that a stopped pack goes on as if nothing had been.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

make_stream=$BUILD/tests/stream
golden=$PWD/tests/golden/golden.tar
cd "$T" || exit 2

# write DIR OPTION...: pack the stream a.tar with shards of 1 MiB
write() {
	d=$1
	shift
	vt-pack -o "$d" --shard-size=1M "$@" a.tar
}
# same DIR DIR: the same files with the same bytes, but for the lock
same() {
	diff -r -x .vt-pack.lock "$1" "$2"
}
# change FILE OFFSET: another byte there
change() {
	python3 - "$1" "$2" <<-'P'
	import sys
	f = open(sys.argv[1], "r+b")
	f.seek(int(sys.argv[2]))
	c = f.read(1)[0] ^ 0x41
	f.seek(int(sys.argv[2]))
	f.write(bytes([c]))
	P
}
rows() {
	grep -vc '^#' "$T/out"
}

# Samples 0 to 29, of three classes, 3.3 MB; the same in two halves.
"$make_stream" 0 30 15 3000 3 1 >a.tar
"$make_stream" 0 11 15 3000 3 1 >a1.tar
"$make_stream" 11 19 15 3000 3 1 >a2.tar
"$make_stream" 0 30 15 3000 3 0 >no-head.tar
"$make_stream" 30 3 5 3000 3 1 >b.tar

# ---- packing ----

names=$(write set) || not_ok "packing"
check_same "the names of the shards are printed" "$(cd set && ls ./*.tar | sed 's|./||')" "$names"
check "there are some" test "$(echo "$names" | wc -l)" -ge 3
check "no shard is larger than asked" test -z "$(find set -name '*.tar' -size +1024k)"
check "xxh128sum agrees" sh -c 'cd set && xxh128sum -c SHARDS.xxh128'
check_same "classes" "c0 c1 c2" "$(tr '\n' ' ' <set/classes.txt | sed 's/ $//')"
check "the manifest is canonical JSON" python3 -c '
import json
t = open("set/manifest.json").read()
m = json.loads(t)
assert t == json.dumps(m, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
assert m["samples"] == 30 and m["options"]["extract"] == {"quality": 90}
assert m["format"] == "vtset" and m["version"] == 2 and m["generation"] == 1'
check "no work files are left" test -z "$(find set -name '.*' ! -name .vt-pack.lock -type f)"

write again >/dev/null
check "packing twice gives the same bytes" same set again
rm -r again
vt-pack -o again --shard-size=1M <a.tar >/dev/null
check "so does a pipe" same set again
rm -r again
vt-pack -o again --shard-size=1M - <a.tar >/dev/null
check "or -" same set again
rm -r again
vt-pack -o again --shard-size=1M a1.tar a2.tar >/dev/null
check "or two streams, one after the other" same set again
rm -r again
cat a1.tar a2.tar | vt-pack -o again --shard-size=1M >/dev/null
check "or the two as one" same set again
rm -r again
dd if=a.tar bs=777 2>/dev/null | vt-pack -o again --shard-size=1M >/dev/null
check "or one that comes in small pieces" same set again
rm -r again

vt-pack -o deep/er/set --prefix=x.y_z --shard-size=1M a.tar >/dev/null
check "--prefix, and directories that are made" test -f deep/er/set/x.y_z-000000.tar
vt-pack -o big a.tar >/dev/null
check_same "one shard holds all by default" 1 "$(find big -name '*.tar' | wc -l)"

# A sample larger than a shard has one to itself.
"$make_stream" 100 2 1200 8000 1 0 >long.tar
vt-pack -o long --classes=/dev/stdin --shard-size=1M no-head.tar long.tar <set/classes.txt >/dev/null
check_same "a long sample is a shard of its own" "$(($(echo "$names" | wc -l) + 2))" "$(find long -name '*.tar' | wc -l)"
check_exit "and is well" 0 vt-pack --verify -i long
check_same "the others are as without it" "$(vt-pack --list -i set | tail -n +2 | cut -f9-11)" "$(vt-pack --list -i long | sed -n 2,31p | cut -f9-11)"
rm -rf long long.tar

check_exit "a dry run" 0 vt-pack -n -o nowhere a.tar
check_says "prints the summary" "would pack 30 samples, 3 classes \\(c0: 10, c1: 10, c2: 10\\), [0-9]* frames in 1 shard, "
check "and makes nothing" test ! -e nowhere

# ---- classes ----

vt-pack -o derived no-head.tar >/dev/null
check_same "names of classes come from the keys" "c0 c1 c2" "$(tr '\n' ' ' <derived/classes.txt | sed 's/ $//')"
check "and the manifest says so" grep -q '"classes":"derived"' derived/manifest.json
printf 'run\nhigh jump\n\303\251t\303\251\n' >names.txt
vt-pack -o named --classes=names.txt no-head.tar >/dev/null
check "--classes gives them" cmp names.txt named/classes.txt
check_exit "and such a set is well" 0 vt-pack --verify -i named
printf 'run\njump\n' >few.txt
check_exit "too few classes" 1 vt-pack -o x --classes=few.txt no-head.tar
check_says "are told with the sample" "no-head.tar: offset [0-9]*: sample c2/clip_2: label 2 \(wanted one below 2, the number of classes\)"
printf 'run\nrun\n\n' >bad.txt
check_exit "a class that is there twice, or empty" 1 vt-pack -o x --classes=bad.txt no-head.tar
check_exit "no class file" 1 vt-pack -o x --classes=missing.txt a.tar
"$make_stream" 0 3 3 300 0 0 >unlabelled.tar
vt-pack -o unlabelled unlabelled.tar >/dev/null
check_same "samples without labels have no classes" 0 "$(wc -c <unlabelled/classes.txt | tr -d ' ')"
check_exit "and are well" 0 vt-pack --verify -i unlabelled

# ---- others read it ----

check_same "tar lists every member" "$(($(vt-pack --list -i set | awk -F'\t' 'NR > 1 { n += $4 + 2 } END { print n }') + $(echo "$names" | wc -l)))" \
	"$(for f in set/*.tar; do tar tf "$f"; done | wc -l | tr -d ' ')"
check "so does bsdtar" sh -c 'for f in set/*.tar; do tar tf $f >l1; bsdtar tf $f >l2; cmp l1 l2 || exit 1; done'
check "and Python" python3 -c '
import tarfile, glob
for f in sorted(glob.glob("set/*.tar")):
    t = tarfile.open(f)
    for m in t:
        assert m.isreg() and m.mtime == 0 and m.mode == 0o644 and m.uid == 0
        assert len(t.extractfile(m).read()) == m.size
    last = m
    assert last.name == "__vt__/.index"'
# webdataset takes members that follow each other and share what is before the
# first dot of the last component as one sample; __x__/ and names without a dot
# are passed over; a suffix twice in a sample is an error.
check "webdataset's rule finds the same samples" python3 -c '
import tarfile, glob, re, json
samples = 0
for f in sorted(glob.glob("set/*.tar")):
    key, sample, seen = None, {}, set()
    def done():
        global samples
        if key is None: return
        info = json.loads(sample["json"])
        assert info["key"] == key and info["frames"] == len(sample) - 2
        assert int(sample["cls"]) == info["label"]
        assert sorted(sample)[0] == "000000.jpg"
        samples += 1
    for m in tarfile.open(f):
        if re.match("__[^/]*__($|/)", m.name): continue
        g = re.match("^((?:.*/|)[^.]+)[.]([^/]*)$", m.name)
        if not g: continue
        if g.group(1) != key:
            done()
            key, sample = g.group(1), {}
            assert key not in seen
            seen.add(key)
        assert g.group(2) not in sample
        sample[g.group(2)] = tarfile.open(f).extractfile(m).read() if m.name.endswith(("json", "cls")) else b""
    done()
assert samples == 30'
mkdir unpacked && tar xf set/shard-000000.tar -C unpacked
check "unpacked, a shard leaves one odd file" test "$(find unpacked -path '*__vt__*' -type f | wc -l)" = 1

check_exit "golden.tar is well" 0 vt-pack --verify=full "$golden"
check_same "nothing is found in it" 0 "$(rows)"
check_same "its samples are listed" 4 "$(vt-pack --list "$golden" | grep -vc '^#')"

# ---- looking into it ----

key=$(vt-pack --list -i set | awk -F'\t' 'NR == 9 { print $1 }')
shard=$(vt-pack --list -i set | awk -F'\t' 'NR == 9 { print $9 }')
check "--cat prints a frame" sh -c "vt-pack --cat $key:7 -i set >f1; tar xOf set/$shard $key.000007.jpg >f2; cmp f1 f2"
vt-pack --cat "$key:" -i set >clip.tar
check_same "--cat KEY: prints the clip" "$(tar tf "set/$shard" | grep "^$key\.")" "$(tar tf clip.tar)"
vt-pack --foreign -o reborn clip.tar >/dev/null
check_exit "which can be packed again" 0 vt-pack --verify -i reborn
check_exit "no such key" 1 vt-pack --cat nothing:1 -i set
check_exit "no such frame" 1 vt-pack --cat "$key:999" -i set
check_exit "no such frame number" 2 vt-pack --cat "$key:x" -i set
check_same "--done prints the videos" "$(seq 0 29 | awk '{ print "videos/c" $1 % 3 "/clip_" $1 ".mp4" }')" "$(vt-pack --done -o set)"
check_same "with zero bytes between, too" 30 "$(vt-pack --done -0 -o set | tr -dc '\0' | wc -c | tr -d ' ')"
vt-pack -o anew --foreign --shard-size=1M set/*.tar >/dev/null
check_same "shards packed anew have the same samples" "$(vt-pack --list -i set | cut -f1-8)" "$(vt-pack --list -i anew | cut -f1-8)"

# Archives of other programs: frames on the disk, packed by tar.
mkdir tree
tar xf a.tar -C tree --exclude='__vt__*'
vt-pack --list -i set | tail -n +2 | cut -f1-8 | sort >samples
for format in gnu pax ustar; do
	tar --format=$format --sort=name -cf foreign.tar -C tree .
	check_exit "a tar of the format $format" 0 vt-pack -o foreign-$format --foreign --classes=set/classes.txt foreign.tar
	check_same "has the same samples" "$(cat samples)" "$(vt-pack --list -i foreign-$format | tail -n +2 | cut -f1-8 | sort)"
	check_exit "without --foreign" 1 vt-pack -n -o x foreign.tar
	check_says "it is told what to give" "member ./: a directory .*; --foreign takes archives of other programs"
done
rm -r foreign-*
(cd tree && find . -type f | LC_ALL=C sort -r | tar -cf ../foreign.tar -T -)
check_exit "members in another order" 1 vt-pack -n -o x --foreign foreign.tar
check_says "are told so" "tar --sort=name puts members in order"
(cd tree && find c0 -name '*.jpg' | LC_ALL=C sort | tar -cf ../foreign.tar -T -)
check_exit "frames alone" 1 vt-pack -n -o x --foreign foreign.tar
check_says "lack what closes a sample" "wanted c0/clip_0.json, without which a sample is incomplete"
gzip -c a.tar >a.tgz
LC_ALL=C sed 's/"frames":657,"samples":30,/"frames":658,"samples":30,/' a.tar >counted.tar
check_exit "another number of frames than the end of the stream says" 1 vt-pack -n -o x counted.tar
check_says "is told, with both" "end-of-stream marker: 30 samples, 658 frames \(30, 657 came\)"
check_exit "a compressed stream" 1 vt-pack -n -o x a.tgz
check_says "is told as such" "a.tgz: compressed \(wanted a tar stream: gzip -dc FILE \| vt-pack\)"
rm -r tree foreign.tar a.tgz counted.tar

# ---- verifying ----

check_exit "the set is well" 0 vt-pack --verify -i set
check_same "and nothing is found" 0 "$(rows)"
check_exit "quickly" 0 vt-pack --verify=fast -i set
check_exit "by one thread" 0 vt-pack --verify -j1 -i set
for kind in jpg png; do
	"$make_stream" 0 4 5 300 2 0 $kind >pictures.tar
	rm -rf pictures
	vt-pack -o pictures pictures.tar >/dev/null
	check_exit "$kind pictures decode" 0 vt-pack --verify=decode -i pictures
done
check_exit "bytes that are no picture do not" 4 vt-pack --verify=decode -i reborn
check "and each is told" test "$(rows)" -ge 15

damaged() {	# WHAT KIND DEPTH: set must be found damaged in this way
	check_exit "$1" 4 vt-pack --verify="$3" -i set
	if cut -f4 "$T/out" | grep -qx "$2"; then ok "as $2"; else
		not_ok "as $2"
		diag "$(cat "$T/out")"
	fi
}
cp -r set good
restore() {
	rm -rf set
	cp -r good set
}
offset=$(vt-pack --list -i set | awk -F'\t' 'NR == 5 { print $10 }')
change set/shard-000000.tar $((offset + 600))
damaged "a changed byte of a frame" data full
check "the row has the shard, the place and the key" grep -q "^shard-000000.tar	$((offset + 512))	c0/clip_3	data	" "$T/out"
check_exit "reading that frame says so too" 4 vt-pack --cat c0/clip_3:0 -i set
check_exit "the quick look does not see it" 0 vt-pack --verify=fast -i set
restore
change set/shard-000001.tar 1
damaged "a changed header" header full
restore
change set/shard-000001.tar $(($(wc -c <set/shard-000001.tar) - 1300))
damaged "a changed footer" footer fast
check_exit "listing ends there" 4 vt-pack --list -i set
restore
damaged_set good manifest
check_exit "listing with a damaged manifest does not begin" 4 vt-pack --list -i broken-manifest
change set/shard-000001.tar $(($(wc -c <set/shard-000001.tar) - 1300))
restore
change set/shard-000001.tar $(($(wc -c <set/shard-000001.tar) - 2100))
damaged "a changed index" index fast
restore
truncate -s -512 set/shard-000001.tar
damaged "a truncated shard" footer fast
restore
rm set/shard-000001.tar
damaged "a missing shard" missing fast
restore
cp set/shard-000000.tar set/shard-000001.tar
damaged "a shard in the place of another" size fast
restore
mv set/shard-000001.tar swap
mv set/shard-000000.tar set/shard-000001.tar
mv swap set/shard-000000.tar
damaged "two shards swapped" size fast
restore
echo c3 >>set/classes.txt
damaged "another class" manifest fast
restore
sed -i '1s/^./x/' set/SHARDS.xxh128
damaged "another sum" manifest fast
restore
rm set/SHARDS.xxh128
damaged "no sums" missing fast
restore
sed -i 's/"samples":30/"samples":31/' set/manifest.json
damaged "a manifest that does not add up" manifest fast
restore
sed -i 's/"c1"/"c9"/' set/manifest.json
damaged "a manifest with another class" manifest fast
restore
sed -i 's/"dataset_id":"[0-9a-f]*/"dataset_id":"00112233445566778899aabbccddeeff/' set/manifest.json
damaged "a manifest with the identity of another set" set fast
restore
echo '{' >set/manifest.json
damaged "a manifest that is none" manifest fast
restore
rm set/manifest.json
damaged "no manifest" missing fast
restore
mkdir other
vt-pack -o other --shard-size=2M a.tar >/dev/null
cp other/shard-000000.tar set/extra.tar
check_exit "an extra shard does no harm" 0 vt-pack --verify=fast -i set
check_says "but is mentioned" "warning: set/extra.tar: not in the manifest, ignored"
restore
# Two shards with one sample: packed apart, put together by hand.
check_exit "verify of single shards" 0 vt-pack --verify set/shard-000000.tar set/shard-000001.tar
check_exit "of a file that is none" 4 vt-pack --verify a.tar

# ---- stopped and resumed ----

size=$(wc -c <a.tar)
rm -rf part
head -c $((size * 3 / 4)) a.tar >cut.tar
check_exit "a stream that was cut" 1 vt-pack -o part --shard-size=1M cut.tar
check_says "is told with samples, key and offset" "cut.tar: the input ended after [0-9]* samples, last complete key c[0-9]/clip_[0-9]*, offset $((size * 3 / 4))"
check_says "and what was kept" "note: part: [0-9]* finished shards, [0-9]* samples, are kept; the same command continues after them"
finished=$(cat "$T/out")
check "finished shards were printed" test -n "$finished"
check "and are there" sh -c "for f in $(echo $finished); do cmp part/\$f set/\$f || exit 1; done"
check "without a manifest" test ! -e part/manifest.json
vt-pack --done -o part >done.txt
check "--done lists the finished part" sh -c 'n=$(wc -l <done.txt); test "$n" -gt 5 && test "$n" -lt 30'
cp -r part part2
cp -r part part3
cp -r part part4

check_exit "the same command again" 0 vt-pack -o part --shard-size=1M a.tar
check_says "says that it goes on" "note: part: holds a set that was not finished, [0-9]* shards, [0-9]* samples; the input is compared with them, and the rest added"
check "gives the same bytes" same good part
check_same "and prints all shards" "$names" "$(cat "$T/out")"
check_exit "once more it compares" 0 vt-pack -o part --shard-size=1M a.tar
check_says "and says so" "note: part: holds a finished set, [0-9]* shards, 30 samples; the input is compared with it"
check "and changes nothing" same good part
check_exit "and sees more samples" 2 vt-pack -o part --shard-size=1M a.tar b.tar
check_says "as such" "sample c0/clip_30: the set in part is finished, with 30 samples \(nothing is added to it; -f replaces it\)"
check_exit "or fewer" 2 vt-pack -o part --shard-size=1M a1.tar
check_says "as such" "the input has 11 samples, but 30 are packed \(-f starts over"
check_exit "or one that was cut" 1 vt-pack -o part --shard-size=1M cut.tar
check "and still changes nothing" same good part
cp -r part2 part5
for n in 1 2; do
	timeout 60 sh -c "dd bs=1000 if=a.tar 2>/dev/null | vt-pack -o part5 --shard-size=1M"
done >/dev/null 2>&1
check "a pipe is read again from its beginning" same good part5

n=$(wc -l <done.txt)
"$make_stream" "$n" $((30 - n)) 15 3000 3 1 >rest.tar
check_exit "--continue, an input without what is packed" 0 vt-pack -o part2 --shard-size=1M --continue rest.tar
check_says "sums up what was packed before, too" 'part2: 30 samples, 3 classes \(c0: 10, c1: 10, c2: 10\), '
check "gives the same bytes too" same good part2

printf 'C 3 1 2 torn' >>part3/.vt-pack.journal
printf 'left over' >part3/.shard-000009.tar.tmp.12ab
cp good/shard-000000.tar "part3/shard-$(printf %06d "$(echo "$finished" | wc -l)").tar"
check_exit "a torn journal, a stray shard, a work file" 0 vt-pack -o part3 --shard-size=1M a.tar
check "are dealt with" same good part3

cp -r part4 part6
check_exit "another input" 2 vt-pack -o part4 --shard-size=1M a2.tar
check_says "is refused at the first sample" "the input differs from what part4 holds at sample 0: it has c2/clip_11 \(packed is c0/clip_0\); -f starts over, --continue takes an input that lacks what is packed"
"$make_stream" 0 3 15 3000 3 1 >mixed.tar
"$make_stream" 13 17 15 3000 3 1 >>mixed.tar
check_exit "one that begins alike too" 2 vt-pack -o part4 --shard-size=1M mixed.tar
check_says "where it differs" "at sample 3: it has c1/clip_13 \(packed is c0/clip_3\)"
check_exit "another shard size" 2 vt-pack -o part4 --shard-size=2M a.tar
check_says "is refused" "cannot continue with other options: .*; -f starts over\)"
check_exit "another prefix" 2 vt-pack -o part4 --prefix=y --shard-size=1M a.tar
check_exit "other classes" 2 vt-pack -o part4 --classes=names.txt --shard-size=1M a.tar
check "and nothing was touched" same part6 part4
check_exit "-f and --continue" 2 vt-pack -o part4 -f --continue a.tar
check_exit "packed samples as the rest" 1 vt-pack -o part4 --shard-size=1M --continue a.tar
check_says "is refused" "key c0/clip_0 is packed already, as sample 0"
change part4/.vt-pack.journal 20
check_exit "a damaged journal" 1 vt-pack -o part4 --shard-size=1M a.tar
check_says "is refused" "part4/.vt-pack.journal:1: the checksum of the line is wrong"
check_exit "-f starts over" 0 vt-pack -o part4 --shard-size=1M -f a.tar
check "whatever was there" same good part4
check_exit "--continue of nothing begins" 0 vt-pack -o fresh --shard-size=1M --continue a.tar
check "as without it" same good fresh

check_exit "a finished set takes no other input" 2 vt-pack -o set --shard-size=1M a2.tar
check "and is not touched" same good set
check_exit "-f with input that fails at once" 1 sh -c 'head -c 9000 a.tar | vt-pack -o set --shard-size=1M -f'
check "leaves the old set" same good set
check_exit "-f with another stream" 0 vt-pack -o set -f b.tar
check_exit "replaces it" 0 vt-pack --verify -i set
check_same "wholly" 1 "$(find set -name '*.tar' | wc -l)"
restore

# ---- two at once, signals, full disks ----

mkfifo pipe
vt-pack -o busy --shard-size=1M pipe >/dev/null 2>first.err &
first=$!
exec 3<>pipe
for _ in $(seq 100); do
	[ -s busy/.vt-pack.lock ] && break
	sleep 0.05
done
check_exit "a second writer" 1 write busy
check_says "is told who is first" "busy: in use by another process \(host and pid: .* $first\)"
head -c $((size / 2)) a.tar >&3
kill -USR1 $first
for _ in $(seq 60); do
	grep -q 'samples, .* read' first.err && break
	sleep 0.05
done
check "SIGUSR1 makes it say how far it is" grep -q 'note: [0-9]* samples, [0-9]* shards, .* read, [0-9]* MB/s' first.err
kill -TERM $first
status=0
wait $first || status=$?
exec 3>&-
check_same "SIGTERM ends it" 143 $status
check "with a word" grep -q 'stopped by signal 15' first.err
check "and no work file" test -z "$(find busy -name '*.tmp.*')"
check_exit "and the same command goes on" 0 vt-pack -o busy --shard-size=1M a.tar
check "to the same bytes" same good busy

if [ -w /dev/full ]; then
	check_exit "standard output is full" 1 sh -c 'vt-pack -o full --shard-size=1M a.tar >/dev/full'
	check "and /dev/full is still a device" test -c /dev/full
	check_exit "listing to a full disk" 1 sh -c 'vt-pack --list -i good >/dev/full'
	check_exit "a frame to a full disk" 1 sh -c "vt-pack --cat $key:1 -i good >/dev/full"
	check_exit "findings to a full disk" 1 sh -c 'vt-pack --verify -i good >/dev/full'
fi
check_exit "a closed standard output" 1 sh -c 'vt-pack -o closed --shard-size=1M a.tar >&-'
check_exit "which nothing else was written to" 0 vt-pack -o closed --shard-size=1M a.tar
check "as the bytes show" same good closed
check_exit "a file size limit" 1 sh -c 'ulimit -f 500; vt-pack -o limited a.tar'
check_says "is an error of writing" 'File too large'
check "and leaves no work file" test -z "$(find limited -name '*.tmp.*')"
if unshare -rm sh -c "mkdir -p small && mount -t tmpfs -o size=2m x small" 2>/dev/null; then
	check "a full disk, then more room" unshare -rm sh -c '
		mount -t tmpfs -o size=2400k x small || exit 1
		vt-pack -o small --shard-size=1M a.tar >o 2>e && exit 1
		grep -q "No space left on device" e || exit 1
		find small -name "*.tmp.*" | grep -q . && exit 1
		mount -o remount,size=20m small
		vt-pack -o small --shard-size=1M a.tar >o || exit 1
		diff -r -x .vt-pack.lock small good'
	mkdir ro
	check "a directory that cannot be written" unshare -rm sh -c '
		mount -t tmpfs -o ro x ro || exit 1
		vt-pack -o ro a.tar >o 2>e; test $? = 1 && grep -q "ro/.vt-pack.lock" e'
	check "reading needs no writing" unshare -rm sh -c '
		mount --bind good ro && mount -o remount,bind,ro ro || exit 1
		vt-pack --verify -i ro && vt-pack --list -i ro && vt-pack --done -o ro'
else
	skip "a full disk, then more room" "no mount namespaces here"
fi
check_exit "a reader that goes away" 141 bash -c '
	vt-pack -o gone --shard-size=1M a.tar | true; exit "${PIPESTATUS[0]}"'

# ---- wrong use ----

for use in "a.tar" "-o" "-o never -i set a.tar" "-o never --shard-size=10 a.tar" "-o never --shard-size=3MB a.tar" \
	"-o never --prefix=a/b a.tar" "-o never --prefix= a.tar" "-o never --resume a.tar" "-o never -f --continue a.tar" \
	"--verify" "--verify=deep -i set" "--verify -i set a.tar" "--verify --list -i set" "--list" \
	"--cat=k:0" "--verif -i set" "-o never --no-such a.tar" "--list -o set" "--done"; do
	# shellcheck disable=SC2086
	check_exit "wrong use: vt-pack $use" 2 vt-pack $use
done
check_exit "wrong use: a directory to verify" 2 vt-pack --verify set
check "touches nothing" test ! -e never
check_exit "a stream that is not there" 1 vt-pack -o never missing.tar
check_says "is named" "missing.tar: cannot open: No such file or directory"
check_exit "a directory as a stream" 1 vt-pack -o never set
check_exit "a set that is not there" 1 vt-pack --list -i missing
vt-pack -o conf --shard-size=1M --print-config >conf.txt
check_exit "settings from a file" 0 vt-pack -c conf.txt a.tar
check "are those that were printed" same good conf
check_exit "-q" 0 vt-pack -q -o quiet --skip-foreign a.tar
check_exit "-qq says nothing" 1 vt-pack -qq -o never missing.tar
check_same "at all" "" "$(cat "$T/err")"
plan
