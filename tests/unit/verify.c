/*
 * Verification of shards finds every flipped bit of golden.tar and every length
 * it can be cut to; findings name kind, key and offset.
 */
/* tests/run: weight 15 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "shard/verify.h"

#include "golden.h"
#include "shard_memory.h"
#include "tap.h"

static char *dir, *path;
static unsigned char image[GOLDEN_SIZE];

struct told { int n, frames; struct damage first, last; int stop; };

static int
found(void *arg, const char *name, const struct damage *d)
{
	struct told *t = arg;

	(void)name;
	if (t->n++ == 0)
		t->first = *d;
	t->last = *d;
	return t->stop ? -1 : 0;
}

static int
frame(void *arg, int thread, const char *ext, const void *data, size_t n,
    int w, int h, struct error *why)
{
	struct told *t = arg;

	(void)data;
	t->frames += thread == 0 && strcmp(ext, "jpg") == 0 && n > 0 &&
	    w == 340 && h == 256;
	return t->frames == 5 ? error_set(why, "the fifth is bad") : 0;
}

/* Verify the first ${n} bytes of the image.  Return the findings. */
static struct told
look(enum verify_depth depth, size_t n, int stop)
{
	struct told t = { .stop = stop };
	const struct verify v = { depth, found, frame, NULL, &t, &t };
	struct hash128 hash = { { 0 } };
	struct shard *s = shard_open_memory(image, n, &t.first);

	if (s == NULL) {
		t.last = t.first;
		t.n = 1;
		return t;
	}
	verify_shard(&v, "image", s, 0, &hash);
	if (t.n == 0 && depth == VERIFY_FULL &&
	    !hash128_equal(hash, hash128(image, n)))
		t.n = -1;
	shard_close(s);
	return t;
}

static void
test_every_flip(void)
{
	long flipped = 0, missed = 0, missed_all = 0;

	for (size_t i = 0; i < GOLDEN_SIZE; i++)
		for (int bit = (int)(i % 3); bit < 8; bit += 3) {
			flipped++;
			image[i] ^= (unsigned char)(1 << bit);
			missed += look(VERIFY_FULL, GOLDEN_SIZE, 1).n < 1;
			/* For some, do not stop at the first finding. */
			if ((i * 8 + (size_t)bit) % 61 == 0)
				missed_all += look(VERIFY_FULL, GOLDEN_SIZE,
				    0).n < 1;
			image[i] ^= (unsigned char)(1 << bit);
		}
	is(flipped, 103766, "two or three bits of each byte are flipped");
	is(missed, 0, "each flipped bit is found");
	is(missed_all, 0,
	    "flipped bits are found without stopping at the first finding");
}

static void
test_every_length(void)
{
	long missed = 0;

	for (size_t n = 0; n < GOLDEN_SIZE; n++)
		missed += look(VERIFY_FULL, n, 1).n < 1;
	is(missed, 0, "each of 38,912 shorter lengths is found");
}

/* Flip bit 0 of byte ${at} and check the first finding. */
static void
expect(size_t at, const char *kind, const char *key, uint64_t offset)
{
	struct told t;

	image[at] ^= 1;
	t = look(VERIFY_FULL, GOLDEN_SIZE, 0);
	image[at] ^= 1;
	ok(t.n >= 1 && strcmp(t.first.kind, kind) == 0 &&
	    strcmp(t.first.key, key) == 0 && t.first.offset == offset,
	    "the first finding for byte %zu is: %s at %llu",
	    at, kind, (unsigned long long)offset);
	if (t.n >= 1 && strcmp(t.first.kind, kind) != 0)
		diag("%s %llu %s: %s", t.first.kind,
		    (unsigned long long)t.first.offset, t.first.key,
		    t.first.detail);
}

static void
test_places(void)
{
	struct told t = look(VERIFY_FULL, GOLDEN_SIZE, 0);

	is(t.n, 0, "full: golden.tar has no findings");
	t = look(VERIFY_FAST, GOLDEN_SIZE, 0);
	is(t.n, 0, "fast: golden.tar has no findings");
	expect(3, "header", "run/v_000", 3);
	expect(512, "data", "run/v_000", 512);
	expect(512 + 700, "padding", "run/v_000", 512 + 700);
	expect(512 + 1023, "padding", "run/v_000", 512 + 700);
	expect(35840 + 3, "header", "", 35840 + 3);
	expect(36352, "index", "", 36352);
	expect(GOLDEN_SIZE - 1536, "footer", "", GOLDEN_SIZE - 1536);
	expect(GOLDEN_SIZE - 1536 + 200, "footer", "", GOLDEN_SIZE - 1536);
	expect(GOLDEN_SIZE - 1, "end", "", GOLDEN_SIZE - 1024);
	image[512] ^= 1;
	image[30000] ^= 1;
	t = look(VERIFY_FULL, GOLDEN_SIZE, 0);
	is(t.n, 2, "full: two damaged places are two findings");
	ok(strcmp(t.last.key, "run/v_003") == 0,
	    "full: the second finding is in sample 3");
	t = look(VERIFY_FAST, GOLDEN_SIZE, 0);
	is(t.n, 0, "fast: damaged data are not seen");
	image[512] ^= 1;
	image[30000] ^= 1;

	t = look(VERIFY_DECODE, GOLDEN_SIZE, 0);
	is(t.frames, 18, "decode: every frame is given to the decoder");
	is(t.n, 5,
	    "decode: a bad frame and .json members without fields are found");
	ok(strcmp(t.last.kind, "json") == 0,
	    "decode: the last finding is a .json member");
}

/* The same from a file, in windows. */
static void
test_file(void)
{
	struct told t = { 0 };
	const struct verify v = { VERIFY_FULL, found, NULL, NULL, NULL, &t };
	struct shard *s = shard_open(path, NULL);
	struct hash128 hash;
	int fd;

	is(verify_shard(&v, path, s, 0, &hash), 0, "a file is verified");
	ok(hash128_equal(hash, hash128(image, GOLDEN_SIZE)),
	    "a verified file has its hash");
	fd = open(path, O_WRONLY);
	ok(pwrite(fd, "x", 1, 20000) == 1, "a byte of the file is overwritten");
	close(fd);
	is(verify_shard(&v, path, s, 0, &hash), 1,
	    "the overwritten byte is found");
	is((long long)t.first.offset / 512, 20000 / 512,
	    "the overwritten byte is found at its offset");
	ok(truncate(path, 30000) == 0, "the open file is truncated");
	is(verify_shard(&v, path, s, 0, &hash), 1,
	    "a truncated file ends the verification");
	is_text(t.last.kind, "io", "a truncated file is a read error");
	shard_close(s);
}

/*
 * An index with right hashes but wrong content, as from a broken or hostile
 * writer.  Nothing may crash, and all must be refused.
 */
static void
test_wrong_index(void)
{
	size_t blob = 36352, length = 1536, footer = blob + length - 512;
	int tried = 0, missed = 0;

	for (size_t i = 0; i < length - 512; i++)
		for (int how = 0; how < 3; how++) {
			unsigned char keep[GOLDEN_SIZE - 36352];
			struct shard_footer f;

			memcpy(keep, image + blob, sizeof(keep));
			image[blob + i] = (unsigned char)(how == 0 ? 0xff :
			    how == 1 ? 0x7f : image[blob + i] + 1);
			if (shard_footer_get(image + footer, &f) != NULL)
				exit(1);
			f.index_hash = hash128(image + blob, length - 512);
			shard_footer_put(image + footer, &f);
			tried++;
			/*
			 * Flags, size, rate, source and times are only in
			 * .json.
			 */
			missed += look(VERIFY_FULL, GOLDEN_SIZE, 0).n < 1 &&
			    memcmp(keep, image + blob, length - 512) != 0 &&
			    !(i < 256 && (i % 64 == 14 || i % 64 >= 40)) &&
			    !(i >= 256 && i < 672 && i % 16 >= 12);
			memcpy(image + blob, keep, sizeof(keep));
		}
	is(tried, 3072, "the index is changed in each byte and hashed again");
	is(missed, 0,
	    "a wrong index is refused wherever the tar contradicts it");
}

/* Footers with every field at an extreme. */
static void
test_wrong_footer(void)
{
	static const uint64_t extreme[] = { 0, 1, 7, 511, 512, 1ull << 31,
		UINT32_MAX, 1ull << 40, INT64_MAX, UINT64_MAX, UINT64_MAX - 511 };
	size_t footer = GOLDEN_SIZE - 1536;
	int missed = 0;

	for (size_t at = 16; at < 136; at += 8)
		for (size_t k = 0; k < sizeof(extreme) / sizeof(*extreme); k++) {
			unsigned char keep[512];
			uint32_t crc;

			memcpy(keep, image + footer, 512);
			memcpy(image + footer + at, &extreme[k], 8);
			crc = crc32c(0, image + footer, 508);
			memcpy(image + footer + 508, &crc, 4);
			missed += memcmp(keep, image + footer, 508) != 0 &&
			    look(VERIFY_FULL, GOLDEN_SIZE, 0).n < 1;
			memcpy(image + footer, keep, 512);
		}
	is(missed, 0, "a footer with a field at an extreme is refused");
}

int
main(void)
{
	char temp[] = "/tmp/vt-verify.XXXXXX";
	struct shard_sum sum;
	struct buffer b = { 0 };

	if ((dir = mkdtemp(temp)) == NULL)
		return 1;
	path = path_join(dir, "golden.tar");
	if (golden_make(path, &sum) != 0 || file_read(path, &b) != 0 ||
	    b.n != GOLDEN_SIZE)
		return 1;
	memcpy(image, b.data, GOLDEN_SIZE);
	buffer_free(&b);
	test_places();
	test_every_flip();
	test_every_length();
	test_wrong_index();
	test_wrong_footer();
	test_file();
	unlink(path);
	rmdir(dir);
	free(path);
	return done();
}
