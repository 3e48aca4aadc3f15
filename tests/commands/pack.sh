#!/bin/sh
# vt-pack: the files it writes, which other programs read, the input it refuses,
# the damage it finds, and stopped packs, which resume to the same bytes.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

make_stream=$BUILD/tests/stream
golden=$PWD/tests/golden/golden.tar
cd "$T" || exit 2

# write DIR OPTION...: pack the stream a.tar with shards of 1 MiB.
write() {
	d=$1
	shift
	vt-pack -o "$d" --shard-size=1M "$@" a.tar
}
# same DIR DIR: succeed if both have the same files and bytes, except the lock.
same() {
	diff -r -x .vt-pack.lock "$1" "$2"
}
# change FILE OFFSET: change the byte there.
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

# Samples 0 to 29, of three classes, 3.3 MB; the same in two halves; and others.
"$make_stream" 0 30 15 3000 3 1 >a.tar
"$make_stream" 0 11 15 3000 3 1 >a1.tar
"$make_stream" 11 19 15 3000 3 1 >a2.tar
"$make_stream" 0 30 15 3000 3 0 >no-head.tar
"$make_stream" 30 3 5 3000 3 1 >b.tar

# ---- packing ----

names=$(write set) || not_ok "vt-pack packs"
check_same "the names of the shards are printed" "$(cd set && ls ./*.tar | sed 's|./||')" "$names"
check "there are at least 3 shards" test "$(echo "$names" | wc -l)" -ge 3
check "no shard is larger than --shard-size" test -z "$(find set -name '*.tar' -size +1024k)"
check "xxh128sum accepts the checksums of the shards" sh -c 'cd set && xxh128sum -c SHARDS.xxh128'
check_same "classes.txt has the classes of the stream" \
	"c0 c1 c2" "$(tr '\n' ' ' <set/classes.txt | sed 's/ $//')"
check "the manifest is canonical JSON" python3 -c '
import json
t = open("set/manifest.json").read()
m = json.loads(t)
assert t == json.dumps(m, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
assert m["samples"] == 30 and m["options"]["extract"] == {"quality": 90}
assert m["format"] == "vtset" and m["version"] == 2 and m["generation"] == 1'
check "no temporary files are left" test -z "$(find set -name '.*' ! -name .vt-pack.lock -type f)"

write again >/dev/null
check "packing twice gives the same bytes" same set again
rm -r again
vt-pack -o again --shard-size=1M <a.tar >/dev/null
check "a pipe gives the same bytes" same set again
rm -r again
vt-pack -o again --shard-size=1M - <a.tar >/dev/null
check "the operand - gives the same bytes" same set again
rm -r again
vt-pack -o again --shard-size=1M a1.tar a2.tar >/dev/null
check "two streams, one after the other, give the same bytes" same set again
rm -r again
cat a1.tar a2.tar | vt-pack -o again --shard-size=1M >/dev/null
check "two joined streams give the same bytes" same set again
rm -r again
dd if=a.tar bs=777 2>/dev/null | vt-pack -o again --shard-size=1M >/dev/null
check "a pipe with small pieces gives the same bytes" same set again
rm -r again

vt-pack -o deep/er/set --prefix=x.y_z --shard-size=1M a.tar >/dev/null
check "--prefix names shards, and missing directories are made" test -f deep/er/set/x.y_z-000000.tar
vt-pack -o big a.tar >/dev/null
check_same "by default one shard contains all samples" 1 "$(find big -name '*.tar' | wc -l)"

# A sample larger than a shard has a shard of its own.
"$make_stream" 100 2 1200 8000 1 0 >long.tar
vt-pack -o long --classes=/dev/stdin --shard-size=1M no-head.tar long.tar <set/classes.txt >/dev/null
check_same "a sample larger than --shard-size has a shard of its own" \
	"$(($(echo "$names" | wc -l) + 2))" "$(find long -name '*.tar' | wc -l)"
check_exit "a set with a large sample is intact" 0 vt-pack --verify -i long
check_same "other samples are packed as without the large one" \
	"$(vt-pack --list -i set | tail -n +2 | cut -f9-11)" "$(vt-pack --list -i long | sed -n 2,31p | cut -f9-11)"
rm -rf long long.tar

check_exit "-n packs nothing and ends with 0" 0 vt-pack -n -o nowhere a.tar
check_says "-n prints samples, classes, frames and shards" \
	"would pack 30 samples, 3 classes \\(c0: 10, c1: 10, c2: 10\\), [0-9]* frames in 1 shard, "
check "-n writes nothing" test ! -e nowhere

# ---- classes ----

vt-pack -o derived no-head.tar >/dev/null
check_same "without a head, classes come from the keys" \
	"c0 c1 c2" "$(tr '\n' ' ' <derived/classes.txt | sed 's/ $//')"
check "the manifest marks inferred classes" grep -q '"classes":"derived"' derived/manifest.json
printf 'run\nhigh jump\n\303\251t\303\251\n' >names.txt
vt-pack -o named --classes=names.txt no-head.tar >/dev/null
check "--classes names the classes" cmp names.txt named/classes.txt
check_exit "a set with --classes is intact" 0 vt-pack --verify -i named
printf 'run\njump\n' >few.txt
check_exit "fewer classes than labels end with 1" 1 vt-pack -o x --classes=few.txt no-head.tar
check_says "fewer classes than labels: the message shows sample, label and number of classes" \
	"no-head.tar: offset [0-9]*: sample c2/clip_2: label 2 \(wanted one below 2, the number of classes\)"
printf 'run\nrun\n\n' >bad.txt
check_exit "a class file with a duplicate or empty class ends with 1" 1 \
	vt-pack -o x --classes=bad.txt no-head.tar
check_exit "a missing class file ends with 1" 1 vt-pack -o x --classes=missing.txt a.tar
"$make_stream" 0 3 3 300 0 0 >unlabelled.tar
vt-pack -o unlabelled unlabelled.tar >/dev/null
check_same "a set without labels has no classes" 0 "$(wc -c <unlabelled/classes.txt | tr -d ' ')"
check_exit "a set without labels is intact" 0 vt-pack --verify -i unlabelled

# ---- other programs read it ----

check_same "tar lists all members" \
	"$(($(vt-pack --list -i set | awk -F'\t' 'NR > 1 { n += $4 + 2 } END { print n }') + $(echo "$names" | wc -l)))" \
	"$(for f in set/*.tar; do tar tf "$f"; done | wc -l | tr -d ' ')"
check "bsdtar lists the same members" \
	sh -c 'for f in set/*.tar; do tar tf $f >l1; bsdtar tf $f >l2; cmp l1 l2 || exit 1; done'
check "Python's tarfile reads all members" python3 -c '
import tarfile, glob
for f in sorted(glob.glob("set/*.tar")):
    t = tarfile.open(f)
    for m in t:
        assert m.isreg() and m.mtime == 0 and m.mode == 0o644 and m.uid == 0
        assert len(t.extractfile(m).read()) == m.size
    last = m
    assert last.name == "__vt__/.index"'
# webdataset joins adjacent members with the same name before the first dot of
# the last component into one sample. It skips __x__/ and names without a dot. A
# suffix that occurs twice in a sample is an error.
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
check "an unpacked shard has one file besides its samples" \
	test "$(find unpacked -path '*__vt__*' -type f | wc -l)" = 1

check_exit "golden.tar is intact" 0 vt-pack --verify=full "$golden"
check_same "--verify prints no finding for golden.tar" 0 "$(rows)"
check_same "golden.tar has 4 samples" 4 "$(vt-pack --list "$golden" | grep -vc '^#')"

# ---- --cat, --list, --done ----

key=$(vt-pack --list -i set | awk -F'\t' 'NR == 9 { print $1 }')
shard=$(vt-pack --list -i set | awk -F'\t' 'NR == 9 { print $9 }')
check "--cat prints a frame" sh -c "vt-pack --cat $key:7 -i set >f1; tar xOf set/$shard $key.000007.jpg >f2; cmp f1 f2"
vt-pack --cat "$key:" -i set >clip.tar
check_same "--cat KEY: prints the clip" "$(tar tf "set/$shard" | grep "^$key\.")" "$(tar tf clip.tar)"
vt-pack --foreign -o reborn clip.tar >/dev/null
check_exit "the clip of --cat can be packed again" 0 vt-pack --verify -i reborn
check_exit "--cat with an unknown key ends with 1" 1 vt-pack --cat nothing:1 -i set
check_exit "--cat with a frame after the last ends with 1" 1 vt-pack --cat "$key:999" -i set
check_exit "--cat with a malformed frame number ends with 2" 2 vt-pack --cat "$key:x" -i set
check_same "--done prints the packed videos" \
	"$(seq 0 29 | awk '{ print "videos/c" $1 % 3 "/clip_" $1 ".mp4" }')" "$(vt-pack --done -o set)"
check_same "--done -0 separates them by zero bytes" 30 \
	"$(vt-pack --done -0 -o set | tr -dc '\0' | wc -c | tr -d ' ')"
vt-pack -o repacked --foreign --shard-size=1M set/*.tar >/dev/null
check_same "shards that are packed again have the same samples" \
	"$(vt-pack --list -i set | cut -f1-8)" "$(vt-pack --list -i repacked | cut -f1-8)"

# Archives of other programs: frames in a folder, packed by tar.
mkdir tree
tar xf a.tar -C tree --exclude='__vt__*'
vt-pack --list -i set | tail -n +2 | cut -f1-8 | sort >samples
for format in gnu pax ustar; do
	tar --format=$format --sort=name -cf foreign.tar -C tree .
	check_exit "a $format archive is packed with --foreign" 0 \
		vt-pack -o foreign-$format --foreign --classes=set/classes.txt foreign.tar
	check_same "a $format archive has the same samples" \
		"$(cat samples)" "$(vt-pack --list -i foreign-$format | tail -n +2 | cut -f1-8 | sort)"
	check_exit "a $format archive without --foreign ends with 1" 1 vt-pack -n -o x foreign.tar
	check_says "a $format archive: the message names --foreign" \
		"member ./: a directory .*; vt-pack --foreign takes archives of other programs"
done
rm -r foreign-*
(cd tree && find . -type f | LC_ALL=C sort -r | tar -cf ../foreign.tar -T -)
check_message "members in another order end with 1" 1 "tar --sort=name puts members in order" \
	vt-pack -n -o x --foreign foreign.tar
(cd tree && find c0 -name '*.jpg' | LC_ALL=C sort | tar -cf ../foreign.tar -T -)
check_exit "frames alone" 1 vt-pack -n -o x --foreign foreign.tar
check_says "lack what closes a sample" "wanted c0/clip_0.json, without which a sample is incomplete"
gzip -c a.tar >a.tgz
LC_ALL=C sed 's/"frames":657,"samples":30,/"frames":658,"samples":30,/' a.tar >counted.tar
check_exit "an end-of-stream marker with other counts ends with 1" 1 vt-pack -n -o x counted.tar
check_says "an end-of-stream marker with other counts: the message shows both counts" \
	"end-of-stream marker: 30 samples, 658 frames \(read 30, 657\)"
check_message "a compressed stream ends with 1" 1 "a.tgz: compressed \(wanted a tar stream: gzip -dc FILE \| vt-pack\)" \
	vt-pack -n -o x a.tgz
rm -r tree foreign.tar a.tgz counted.tar

# ---- --verify ----

check_exit "--verify finds the set intact" 0 vt-pack --verify -i set
check_same "--verify prints no finding" 0 "$(rows)"
check_exit "--verify=fast finds the set intact" 0 vt-pack --verify=fast -i set
check_exit "--verify -j1 finds the set intact" 0 vt-pack --verify -j1 -i set
for kind in jpg png; do
	"$make_stream" 0 4 5 300 2 0 $kind >pictures.tar
	rm -rf pictures
	vt-pack -o pictures pictures.tar >/dev/null
	check_exit "--verify=decode decodes $kind pictures" 0 vt-pack --verify=decode -i pictures
done
check_exit "--verify=decode refuses bytes that are not a picture" 4 vt-pack --verify=decode -i reborn
check "--verify=decode prints a finding for each picture" test "$(rows)" -ge 15

damaged() {	# WHAT KIND DEPTH: check that --verify=DEPTH finds KIND
	check_exit "$1" 4 vt-pack --verify="$3" -i set
	if cut -f4 "$T/out" | grep -qx "$2"; then ok "$1 is found as $2"; else
		not_ok "$1 is found as $2"
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
check "the finding has shard, offset, key and kind" \
	grep -q "^shard-000000.tar	$((offset + 512))	c0/clip_3	data	" "$T/out"
check_exit "--cat of the changed frame ends with 4" 4 vt-pack --cat c0/clip_3:0 -i set
check_exit "--verify=fast does not read frames" 0 vt-pack --verify=fast -i set
restore
change set/shard-000001.tar 1
damaged "a changed header" header full
restore
change set/shard-000001.tar $(($(wc -c <set/shard-000001.tar) - 1300))
damaged "a changed footer" footer fast
check_exit "--list with a changed footer ends with 4" 4 vt-pack --list -i set
restore
damaged_set good manifest
check_exit "--list with a damaged manifest ends with 4" 4 vt-pack --list -i broken-manifest
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
check_exit "an extra shard is no damage" 0 vt-pack --verify=fast -i set
check_says "a warning names the extra shard" "warning: set/extra.tar: not in the manifest, ignored"
restore
# Verify single shards and a file that is not a shard.
check_exit "--verify of single shards" 0 vt-pack --verify set/shard-000000.tar set/shard-000001.tar
check_exit "--verify of a file that is not a shard ends with 4" 4 vt-pack --verify a.tar

# ---- stopped and resumed ----

size=$(wc -c <a.tar)
rm -rf part
head -c $((size * 3 / 4)) a.tar >cut.tar
check_exit "a stream that was cut" 1 vt-pack -o part --shard-size=1M cut.tar
check_says "is told with samples, key and offset" "cut.tar: the input ended after [0-9]* samples, last complete key c[0-9]/clip_[0-9]*, offset $((size * 3 / 4))"
check_says "and what was kept" "note: part: [0-9]* finished shards, [0-9]* samples, are kept; the same command continues after them"
finished=$(cat "$T/out")
check "the finished shards are printed" test -n "$finished"
check "the finished shards have the right bytes" \
	sh -c "for f in $(echo $finished); do cmp part/\$f set/\$f || exit 1; done"
check "a stopped pack has no manifest" test ! -e part/manifest.json
vt-pack --done -o part >done.txt
check "--done lists the videos of the finished shards" \
	sh -c 'n=$(wc -l <done.txt); test "$n" -gt 5 && test "$n" -lt 30'
cp -r part part2
cp -r part part3
cp -r part part4

check_exit "the same command resumes a stopped pack" 0 vt-pack -o part --shard-size=1M a.tar
check_says "a note says that the input is compared and the rest added" \
	"note: part: holds a set that was not finished, [0-9]* shards, [0-9]* samples; the input is compared with them, and the rest added"
check "a resumed pack has the same bytes" same good part
check_same "a resumed pack prints all shards" "$names" "$(cat "$T/out")"
check_exit "the same command on a finished set" 0 vt-pack -o part --shard-size=1M a.tar
check_says "a note says that the input is compared with the set" \
	"note: part: holds a finished set, [0-9]* shards*, 30 samples; the input is compared with it"
check "comparing changes no byte" same good part
mkdir loop
ln -s manifest.json loop/manifest.json
check_exit "a manifest that cannot be opened" 1 vt-pack --list -i loop
check_says "a manifest that cannot be opened: the message has the reason" 'loop/manifest.json: cannot open: Too many levels'
check_exit "more samples than a finished set end with 2" 2 vt-pack -o part --shard-size=1M a.tar b.tar
check_says "more samples than a finished set: the message shows the additional sample and -f" \
	"sample c0/clip_30: the set in part is finished, with 30 samples \(nothing is added to it; -f replaces it\)"
check_exit "fewer samples than a finished set end with 2" 2 vt-pack -o part --shard-size=1M a1.tar
check_says "fewer samples than a finished set: the message shows both numbers and -f" \
	"the input has 11 samples, but 30 are packed \(-f starts over"
check_exit "a truncated stream on a finished set ends with 1" 1 vt-pack -o part --shard-size=1M cut.tar
check "refused input changes no byte of the set" same good part
cp -r part2 part5
for n in 1 2; do
	timeout 60 sh -c "dd bs=1000 if=a.tar 2>/dev/null | vt-pack -o part5 --shard-size=1M"
done >/dev/null 2>&1
check "a pipe is resumed by reading it from its beginning" same good part5

n=$(wc -l <done.txt)
"$make_stream" "$n" $((30 - n)) 15 3000 3 1 >rest.tar
check_message "--continue takes input without the packed samples" 0 \
	'part2: 30 samples, 3 classes \(c0: 10, c1: 10, c2: 10\), ' \
	vt-pack -o part2 --shard-size=1M --continue rest.tar
check "--continue gives the same bytes" same good part2

printf 'C 3 1 2 torn' >>part3/.vt-pack.journal
printf 'left over' >part3/.shard-000009.tar.tmp.12ab
cp good/shard-000000.tar "part3/shard-$(printf %06d "$(echo "$finished" | wc -l)").tar"
check_exit "a torn journal, a stray shard and a temporary file" 0 vt-pack -o part3 --shard-size=1M a.tar
check "resuming repairs them and gives the same bytes" same good part3

cp -r part4 part6
check_exit "resuming with another stream ends with 2" 2 vt-pack -o part4 --shard-size=1M a2.tar
check_says "resuming with another stream: the message shows the first sample that differs and the ways out" \
	"the input differs from what part4 holds at sample 0: it has c2/clip_11 \(packed is c0/clip_0\); -f starts over, --continue takes an input that lacks what is packed"
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
check_message "a damaged journal ends with 1" 1 "part4/.vt-pack.journal:1: the checksum of the line is wrong" \
	vt-pack -o part4 --shard-size=1M a.tar
check_exit "-f starts over" 0 vt-pack -o part4 --shard-size=1M -f a.tar
check "-f gives the same bytes" same good part4
check_exit "--continue without a set starts one" 0 vt-pack -o fresh --shard-size=1M --continue a.tar
check "--continue without a set gives the same bytes" same good fresh

check_exit "another stream for a finished set ends with 2" 2 vt-pack -o set --shard-size=1M a2.tar
check "another stream changes no byte of the finished set" same good set
check_exit "-f with a truncated stream ends with 1" 1 \
	sh -c 'head -c 9000 a.tar | vt-pack -o set --shard-size=1M -f'
check "-f with a truncated stream keeps the old set" same good set
check_exit "-f with another stream" 0 vt-pack -o set -f b.tar
check_exit "-f with another stream gives an intact set" 0 vt-pack --verify -i set
check_same "-f with another stream leaves no old shard" 1 "$(find set -name '*.tar' | wc -l)"
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
check_exit "a second vt-pack on the same set ends with 1" 1 write busy
check_says "a second vt-pack on the same set: the message names host and process of the first" \
	"busy: in use by another process \(host and pid: .* $first\)"
head -c $((size / 2)) a.tar >&3
kill -USR1 $first
for _ in $(seq 60); do
	grep -q 'samples, .* read' first.err && break
	sleep 0.05
done
check "SIGUSR1 prints the progress" \
	grep -q 'note: [0-9]* samples, [0-9]* shards, .* read, [0-9]* MB/s' first.err
kill -TERM $first
status=0
wait $first || status=$?
exec 3>&-
check_same "SIGTERM ends vt-pack with 143" 143 $status
check "a message names the signal" grep -q 'stopped by signal 15' first.err
check "SIGTERM leaves no temporary file" test -z "$(find busy -name '*.tmp.*')"
check_exit "the same command resumes after SIGTERM" 0 vt-pack -o busy --shard-size=1M a.tar
check "resuming after SIGTERM gives the same bytes" same good busy

if [ -w /dev/full ]; then
	check_exit "full standard output ends with 1" 1 sh -c 'vt-pack -o full --shard-size=1M a.tar >/dev/full'
	check "/dev/full stays a device" test -c /dev/full
	check_exit "--list to a full disk ends with 1" 1 sh -c 'vt-pack --list -i good >/dev/full'
	check_exit "--cat to a full disk ends with 1" 1 sh -c "vt-pack --cat $key:1 -i good >/dev/full"
	check_exit "--verify to a full disk ends with 1" 1 sh -c 'vt-pack --verify -i good >/dev/full'
fi
check_exit "a closed standard output ends with 1" 1 sh -c 'vt-pack -o closed --shard-size=1M a.tar >&-'
check_exit "the same command completes the set" 0 vt-pack -o closed --shard-size=1M a.tar
check "a closed standard output wrote nothing into the set" same good closed
check_message "a file size limit ends with 1" 1 'File too large' sh -c 'ulimit -f 500; vt-pack -o limited a.tar'
check "a file size limit leaves no temporary file" test -z "$(find limited -name '*.tmp.*')"
if unshare -rm sh -c "mkdir -p small && mount -t tmpfs -o size=2m x small" 2>/dev/null; then
	check "a full disk ends with 1, and resumes with more space" unshare -rm sh -c '
		mount -t tmpfs -o size=2400k x small || exit 1
		vt-pack -o small --shard-size=1M a.tar >o 2>e && exit 1
		grep -q "No space left on device" e || exit 1
		find small -name "*.tmp.*" | grep -q . && exit 1
		mount -o remount,size=20m small
		vt-pack -o small --shard-size=1M a.tar >o || exit 1
		diff -r -x .vt-pack.lock small good'
	mkdir ro
	check "a read-only directory ends with 1 and names the lock" unshare -rm sh -c '
		mount -t tmpfs -o ro x ro || exit 1
		vt-pack -o ro a.tar >o 2>e; test $? = 1 && grep -q "ro/.vt-pack.lock" e'
	check "reading a set writes nothing" unshare -rm sh -c '
		mount --bind good ro && mount -o remount,bind,ro ro || exit 1
		vt-pack --verify -i ro && vt-pack --list -i ro && vt-pack --done -o ro'
else
	skip "a full disk ends with 1, and resumes with more space" "no mount namespaces here"
fi
check_exit "a reader that closes the pipe ends vt-pack by SIGPIPE" 141 bash -c '
	vt-pack -o gone --shard-size=1M a.tar | true; exit "${PIPESTATUS[0]}"'

# ---- wrong usage ----

for use in "a.tar" "-o" "-o never -i set a.tar" "-o never --shard-size=10 a.tar" "-o never --shard-size=3MB a.tar" \
	"-o never --prefix=a/b a.tar" "-o never --prefix= a.tar" "-o never --resume a.tar" "-o never -f --continue a.tar" \
	"--verify" "--verify=deep -i set" "--verify -i set a.tar" "--verify --list -i set" "--list" \
	"--cat=k:0" "--verif -i set" "-o never --no-such a.tar" "--list -o set" "--done"; do
	# shellcheck disable=SC2086
	check_exit "wrong use: vt-pack $use" 2 vt-pack $use
done
check_exit "--verify of a directory as operand ends with 2" 2 vt-pack --verify set
check "wrong usage makes nothing" test ! -e never
check_message "a missing stream ends with 1" 1 "missing.tar: cannot open: No such file or directory" \
	vt-pack -o never missing.tar
check_exit "a directory as a stream ends with 1" 1 vt-pack -o never set
check_exit "--list of a missing set ends with 1" 1 vt-pack --list -i missing
vt-pack -o conf --shard-size=1M --print-config >conf.txt
check_exit "a pack with printed settings" 0 vt-pack -c conf.txt a.tar
check "printed settings give the same bytes" same good conf
check_exit "-q packs" 0 vt-pack -q -o quiet --skip-foreign a.tar
check_exit "-qq with a missing stream ends with 1" 1 vt-pack -qq -o never missing.tar
check_same "-qq prints no error" "" "$(cat "$T/err")"
plan
