"""shard_format.py: read the set train/ from the description in vt-shard(5)
alone.  An assertion fails if the set differs from it."""
import json
import re
import struct
import subprocess

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
assert foot[168:184].hex() == manifest["settings_id"]
shard = manifest["shards"][0]
assert shard["xxh128"] == xxh128(f) and shard["bytes"] == len(f) and shard["samples"] == ns
text = json.dumps({k: manifest[k] for k in ("classes", "options", "streams")}, sort_keys=True, separators=(",", ":"))
assert xxh128(text.encode()) == manifest["settings_id"]
shards = [[foot[136:152].hex(), foot[152:168].hex()]]
text = json.dumps({"classes": manifest["classes"], "shards": shards}, sort_keys=True, separators=(",", ":"))
assert len(manifest["shards"]) == 1 and xxh128(text.encode()) == manifest["dataset_id"]
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
assert [i for _, i in sorted(hashes)] == list(struct.unpack("<%dI" % ns, order))
