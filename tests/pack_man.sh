#!/bin/sh
# vt-pack(1) and vt-shard(5): the options are those of the command, the messages
# are in the source, the examples run, and a reader made from the description
# alone reads a shard.
# tests/run: weight 3
cd "${0%/*}/.." || exit 2
. tests/lib.sh
root=$PWD
page=$root/man/vt-pack.1

vt-pack --complete-spec | cut -f1,2 | grep -v '	no-' |
	awk '{ print ($1 == "-" ? "" : "-" $1 " ") "--" $2 }' | sort >"$T/command"
sed -n 's/^\.It Fl //p' "$page" |
	sed 's/ Ns .*//; s/ , Fl -/ --/; s/^-/--/; s/^\([a-zA-Z0-9]\) /-\1 /' | sort >"$T/page"
check_same "the page has the options of the command" "$(cat "$T/command")" "$(cat "$T/page")"
if command -v mandoc >/dev/null; then
	for p in vt-pack.1 vt-shard.5; do
		check_same "mandoc has nothing to say of $p" "" \
			"$(mandoc -Tlint -Wwarning "man/$p" 2>&1 | grep -v 'referenced manual not found')"
	done
else
	skip "mandoc has nothing to say" "no mandoc"
fi
# What stands between numbers, names and keys is in the source.
cat lib/shard/*.c lib/base/file.c cmd/vt-pack.c | tr -d '\n\t' | sed 's/" *"//g' >"$T/source"
sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh SEE/s/^\.It //p' "$page" >"$T/diagnostics"
while read -r d; do
	longest=$(echo "$d" | sed 's/ [A-Z]\>/ \n/g; s/ FILE/\n/; s/other options/other \n/; s/holds a set/holds a \n/' |
		awk '{ if (length > n) { n = length; s = $0 } } END { gsub(/^[, ]+|[, ]+$/, "", s); print s }')
	check "message: $d" grep -qF -- "$longest" "$T/source"
done <"$T/diagnostics"

mkdir "$T/scratch" && cd "$T/scratch" || exit 2
"$BUILD/tests/stream" 0 6 3 200 3 1 jpg >stream.tar
mkdir -p videos/walk videos/fall videos/run
vt-pack -o train stream.tar >/dev/null
vt-pack -o val stream.tar >/dev/null
have_videos=
if command -v vt-extract >/dev/null && command -v ffmpeg >/dev/null &&
	vt-extract --version | grep -q '^Built with:.*FFmpeg'; then
	have_videos=yes
	for c in walk fall run; do
		ffmpeg -v error -nostdin -f lavfi -i "testsrc2=s=96x80:r=25:d=0.2" -pix_fmt yuv420p videos/$c/$c.mp4 </dev/null
	done
fi
sed -n '/^\.Sh EXAMPLES/,/^\.Sh DIAG/s/^\.Dl //p' "$page" >"$T/lines"
check "there are examples" test "$(wc -l <"$T/lines")" -ge 8
while read -r line; do
	case $have_videos$line in
	vt-extract*) skip "example: $line" "needs vt-extract, FFmpeg and its command" ;;
	*) check_exit "example: $line" 0 bash -c "set -euo pipefail; $line" </dev/null ;;
	esac
done <"$T/lines"

# A reader from the description, in another language.
check "a reader made from vt-shard(5)" python3 -c '
import struct, json, subprocess, re
f = open("train/shard-000000.tar", "rb").read()
table = []
for i in range(256):
    for _ in range(8): i = (i >> 1) ^ (0x82f63b78 if i & 1 else 0)
    table.append(i)
def crc(b):
    c = 0xffffffff
    for x in b: c = table[(c ^ x) & 255] ^ (c >> 8)
    return c ^ 0xffffffff
assert crc(b"123456789") == 0xe3069283
def xxh128(b):
    return subprocess.run(["xxh128sum"], input=b, stdout=subprocess.PIPE).stdout[:32].decode()
assert len(f) % 512 == 0 and f[-1024:] == bytes(1024)
foot = f[-1536:-1024]
assert foot[:8] == b"VTSHARD1" and foot[504:508] == b"VEND"
assert struct.unpack("<I", foot[508:])[0] == crc(foot[:508])
major, minor, size, at, length, ns, nr, frames = struct.unpack("<HHIQQIIQ", foot[8:48])
assert (major, minor, size) == (1, 0, 512) and at + length == len(f) - 1024
section = [struct.unpack("<QQ", foot[48 + 16 * i:64 + 16 * i]) for i in range(5)]
data_length, = struct.unpack("<Q", foot[128:136])
assert foot[136:152].hex() == xxh128(f[:data_length]) and data_length == at - 512
index = f[at:at + length]
assert foot[152:168].hex() == xxh128(index[:-512])
samples, records, order, strings, meta = (index[a:a + n] for a, n in section)
assert json.loads(meta)["streams"] == [{"ext": "jpg", "tag": "rgb"}]
manifest = json.load(open("train/manifest.json"))
assert foot[168:184].hex() == manifest["dataset_id"]
shard = manifest["shards"][0]
assert shard["xxh128"] == xxh128(f) and shard["bytes"] == len(f) and shard["samples"] == ns
text = json.dumps({k: manifest[k] for k in ("classes", "options", "streams")}, sort_keys=True, separators=(",", ":"))
assert xxh128(text.encode()) == manifest["dataset_id"]
def header(name, n):
    h = bytearray(512)
    h[:len(name)] = name.encode()
    h[100:108] = b"0000644\0"
    h[108:124] = b"0000000\0" * 2
    h[124:136] = b"%011o\0" % n
    h[136:148] = b"0" * 11 + b"\0"
    h[148:156] = b" " * 8
    h[156] = 48
    h[257:265] = b"ustar\0" b"00"
    h[329:345] = b"0000000\0" * 2
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)
place, total, hashes = 0, 0, []
for i in range(ns):
    (hash, key_at, key_n, flags, blk, blocks, first, n, s, aux, zero, label, w, h, num, den, zero2,
     source) = struct.unpack("<QIHHIIIIBBHiHHIIIQ", samples[64 * i:64 * i + 64])
    key = strings[key_at:key_at + key_n].decode()
    assert re.fullmatch("[A-Za-z0-9_=-]+(/[A-Za-z0-9_=-]+)*", key) and blk * 512 == place
    hashes.append((hash, i))
    total += n
    for k in range(n * s + aux):
        data, size, want, time = struct.unpack("<IIII", records[16 * (first + k):16 * (first + k) + 16])
        d = f[data * 512:data * 512 + size]
        assert crc(d) == want
        name = key + (".%06d.jpg" % k if k < n else ".json" if k == n * s + aux - 1 else ".cls")
        assert f[place:place + 512] == header(name, size) and data * 512 == place + 512
        place += 512 + (size + 511) // 512 * 512
        if k < n: assert time == (k * 10000 * den * 2 + num) // (2 * num) and d[:2] == b"\xff\xd8"
        elif name.endswith("cls"): assert int(d) == label
    info = json.loads(d)
    assert info["key"] == key and info["frames"] == n and int(info["src_xxh3"], 16) == source
    assert (info["width"], info["height"], info["fps"]) == (w, h, [num, den])
assert place == data_length and total == frames and f[place:at] == header("__vt__/.index", length)
assert [i for _, i in sorted(hashes)] == list(struct.unpack("<%dI" % ns, order))'
plan
