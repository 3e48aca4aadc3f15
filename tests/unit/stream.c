/*
 * Reading tar streams: cut anywhere, changed in any byte, out of order or
 * hostile, they are refused with a reason.  With arguments, write a stream for
 * shell tests:
 *
 * tests/stream FIRST SAMPLES FRAMES BYTES LABELS HEAD [jpg|png]
 */
/* tests/run: weight 6 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "shard/dataset.h"
#include "shard/pack.h"
#include "shard/ustar.h"

#include "stream_make.h"
#include "said.h"
#include "tap.h"

static char *dir, *path, *out;
static char said[4000];

/* Pack the file without writing anything.  Messages go to said[]. */
static int
dry(int foreign, int skip, uint64_t max_member, struct pack_report *r)
{
	const struct pack_options o = { .dir = out, .prefix = "s",
		.shard_size = 1 << 20, .max_member = max_member,
		.foreign = foreign, .skip_foreign = skip, .dry_run = 1 };
	const char *const input = path;
	struct pack_report unused;
	int status;

	said_begin(said, sizeof(said));
	status = pack(&o, &input, 1, r ? r : &unused);
	said_end();
	free((r ? r : &unused)->classes);
	return status;
}

static void
write_file(const struct buffer *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || file_write(fd, path, b->data, b->n) != 0)
		exit(1);
	close(fd);
}

/* Return a stream as the writer makes it.  The caller frees it. */
static struct buffer
a_stream(const struct make *m)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct buffer b = { 0 };

	if (fd < 0 || make_stream(fd, m) != 0 || file_read(path, &b) != 0)
		exit(1);
	close(fd);
	return b;
}

/* ---- tar archives made here ---- */

static void
checksum(unsigned char *h)
{
	unsigned sum = 0;

	memset(h + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += h[i];
	sprintf((char *)h + 148, "%06o", sum & 0777777);
}

static void
put(struct buffer *b, const char *name, char type, const char *link,
    const void *data, size_t n)
{
	static const char zeros[512];
	unsigned char h[512];

	ustar_header(h, "x", n);
	memset(h, 0, 100);
	memcpy(h, name, strnlen(name, 100));
	h[156] = (unsigned char)type;
	if (link != NULL)
		strcpy((char *)h + 157, link);
	checksum(h);
	buffer_add(b, h, 512);
	buffer_add(b, data, n);
	buffer_add(b, zeros, ustar_padding(n));
}

static const char info[] = "{\"flags\":0,\"fps\":[25,1],\"frames\":2,"
    "\"height\":3,\"key\":\"a/b\",\"label\":1,\"src\":\"s\",\"src_bytes\":1,"
    "\"src_xxh3\":\"0000000000000000\",\"status\":\"ok\","
    "\"streams\":[{\"ext\":\"jpg\",\"tag\":\"rgb\"}],\"width\":4}";

static void
put_sample(struct buffer *b)
{
	put(b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(b, "a/b.000001.jpg", '0', NULL, "two", 3);
	put(b, "a/b.cls", '0', NULL, "1", 1);
	put(b, "a/b.json", '0', NULL, info, strlen(info));
}

static void
put_end(struct buffer *b)
{
	static const char zeros[1024];

	buffer_add(b, zeros, sizeof(zeros));
}

/* ---- whole, cut, changed ---- */

static void
test_cuts(void)
{
	const struct make m = { .samples = 3, .frames = 2, .bytes = 100,
		.labels = 2, .head = 1, .seed = 3 };
	struct buffer b = a_stream(&m);
	struct pack_report r;
	int wrong = 0, silent = 0;
	uint64_t complete[3], samples = 0;
	size_t end = 0;			/* offset of the end-of-stream marker */
	char want[60];

	is(dry(0, 0, 1 << 20, &r), EXIT_DONE, "a whole stream is read");
	is((long long)r.samples, 3, "all its samples are read");
	/* A sample is complete at the last byte of its .json. */
	for (size_t at = 0; at + 512 <= b.n && b.data[at] != '\0';) {
		size_t n = strtoul(b.data + at + 124, NULL, 8);

		end = at;
		if (strstr(b.data + at, ".json") != NULL)
			complete[samples++] = at + 512 + n;
		at += 512 + n + ustar_padding(n);
	}
	is((long long)samples, 3, "the ends of its samples are known");
	for (size_t n = b.n - 1; n > 0; n--) {
		if (truncate(path, (off_t)n) != 0)
			exit(1);
		wrong += dry(0, 0, 1 << 20, NULL) != EXIT_FAILED;
		samples = 0;
		while (samples < 3 && n >= complete[samples])
			samples++;
		if (n < USTAR_BLOCK)
			sprintf(want, "not a tar stream, as vt-extract writes it");
		else
			sprintf(want, "input ended after %d samples", (int)samples);
		silent += strstr(said, want) == NULL;
		if (silent == 1 && strstr(said, want) == NULL)
			diag("%zu bytes: %s: %s", n, want, said);
	}
	is(wrong, 0, "a stream cut to any length is refused");
	is(silent, 0, "the message counts the complete samples");
	if (truncate(path, 0) != 0)
		exit(1);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED, "an empty stream is refused");

	/*
	 * Change one bit of every byte, except in the end-of-stream marker,
	 * which no hash covers.
	 */
	wrong = 0;
	for (size_t i = 0; i < b.n; i++) {
		if (i == end)
			i += 1024;
		b.data[i] ^= (char)(1 << i % 8);
		write_file(&b);
		b.data[i] ^= (char)(1 << i % 8);
		if (dry(0, 0, 1 << 20, NULL) == EXIT_FAILED)
			continue;
		if (wrong++ == 0)
			diag("byte %zu of %zu", i, b.n);
	}
	is(wrong, 0, "a changed byte anywhere is refused");
	buffer_free(&b);
}

static void
test_parts(void)
{
	struct make m = { .samples = 2, .frames = 2, .bytes = 100, .labels = 2,
		.seed = 3 };
	struct buffer a = a_stream(&m), b, both = { 0 };
	struct pack_report r;

	m.first = 2;
	b = a_stream(&m);
	buffer_add(&both, a.data, a.n);
	buffer_add(&both, b.data, b.n);
	write_file(&both);
	is(dry(0, 0, 1 << 20, &r), EXIT_DONE,
	    "two concatenated streams are accepted");
	is((long long)r.samples, 4, "both streams are read");
	both.n -= 1024;
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a second stream that is cut is refused");
	both.n = 0;
	buffer_add(&both, a.data, a.n - 2048);	/* without its end-of-stream
						 * marker */
	buffer_add(&both, b.data, b.n);
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a second stream after one that is cut is refused");
	both.n = 0;
	buffer_add(&both, a.data, a.n);
	buffer_add(&both, a.data, a.n);
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED, "the same stream twice");
	ok(strstr(said, "is used already, at offset 0") != NULL,
	    "is refused for its keys");
	both.n = 0;
	buffer_add(&both, a.data, a.n);
	buffer_add(&both, "garbage", 7);
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "garbage after the end is refused");
	m.head = 1;
	buffer_free(&b);
	b = a_stream(&m);
	both.n = 0;
	buffer_add(&both, a.data, a.n);
	buffer_add(&both, b.data, b.n);
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "concatenated streams of different settings are refused");
	both.n = 0;
	buffer_add(&both, b.data, b.n);
	for (int k = 0; k < 9; k++)
		put_end(&both);
	write_file(&both);
	is(dry(0, 0, 1 << 20, NULL), EXIT_DONE,
	    "zero blocks after the end are accepted");
	buffer_free(&a);
	buffer_free(&b);
	buffer_free(&both);
}

/* ---- archives of other programs, some hostile ---- */

static void
test_foreign(void)
{
	struct buffer b = { 0 };
	struct pack_report r;

	put_sample(&b);
	put_end(&b);
	write_file(&b);
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a tar without an end-of-stream marker is refused");
	ok(strstr(said, "a whole tar archive, of 1 samples, but without the "
	    "end-of-stream marker of vt-extract (--foreign takes") != NULL,
	    "the message tells it from a truncated one: %s", said);
	is(dry(1, 0, 1 << 20, &r), EXIT_DONE, "--foreign accepts it");
	is((long long)r.samples, 1, "--foreign reads its sample");
	b.n -= 512;
	write_file(&b);
	is(dry(1, 0, 1 << 20, NULL), EXIT_FAILED,
	    "--foreign refuses it without its two zero blocks");
	ok(strstr(said, "the pipe broke") != NULL,
	    "the message says that the pipe broke: %s", said);
	buffer_free(&b);
	put(&b, "./", '5', NULL, "", 0);
	put(&b, "./a", '5', NULL, "", 0);
	put(&b, "./a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "./a/b.000001.jpg", '0', NULL, "two", 3);
	put(&b, "./a/b.cls", '0', NULL, "1", 1);
	put(&b, "./a/b.json", '0', NULL, info, strlen(info));
	put_end(&b);
	write_file(&b);
	is(dry(1, 0, 1 << 20, &r), EXIT_DONE,
	    "--foreign accepts directories and ./");
	is((long long)r.samples, 1,
	    "--foreign reads the sample of such an archive");
	is(dry(0, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a directory in a stream is refused");
	ok(strstr(said, "a directory (wanted a regular file); vt-pack --foreign takes "
	    "archives of other programs") != NULL,
	    "the message names --foreign: %s", said);
	buffer_free(&b);
	buffer_add(&b, "\x1f\x8b\x08\0\0\0\0\0\0\3 compressed", 21);
	write_file(&b);
	is(dry(1, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a compressed stream is refused");
	ok(strstr(said, "compressed (wanted a tar stream: gzip -dc FILE | "
	    "vt)") != NULL, "the message says how to decompress: %s", said);
	buffer_free(&b);
	put_sample(&b);
	put(&b, "__vt__/.index", '0', NULL, "a shard's index", 15);
	put_end(&b);
	write_file(&b);
	is(dry(1, 0, 1 << 20, NULL), EXIT_DONE, "--foreign accepts a shard");
	buffer_free(&b);
}

/*
 * A member that does not belong is an error, and left out with --skip-foreign.
 */
static void
stranger(const char *name, char type, const char *link, const char *data,
    const char *why)
{
	struct buffer b = { 0 };
	struct pack_report r;
	int status;

	put(&b, name, type, link, data, strlen(data));
	put_sample(&b);
	put_end(&b);
	write_file(&b);
	status = dry(1, 0, 1 << 20, NULL);
	if (!ok(status == EXIT_FAILED && strstr(said, why) != NULL &&
	    strstr(said, "offset 0") != NULL,
	    "a foreign member is refused: %s", why))
		diag("%d: %s", status, said);
	status = dry(1, 1, 1 << 20, &r);
	if (!ok(status == EXIT_SKIPPED && r.samples == 1 && r.skipped == 1,
	    "--skip-foreign leaves it out: %s", why))
		diag("%d: %s", status, said);
	buffer_free(&b);
}

/* Check that an archive is refused whatever is allowed. */
static void
refused(struct buffer *b, const char *why)
{
	int status[2];

	put_end(b);
	write_file(b);
	status[0] = dry(1, 0, 1 << 20, NULL);
	status[1] = dry(1, 1, 1 << 20, NULL);
	if (!ok(status[0] == EXIT_FAILED && status[1] == EXIT_FAILED &&
	    strstr(said, why) != NULL, "an archive is refused: %s", why))
		diag("%d %d: %s", status[0], status[1], said);
	buffer_free(b);
}

static void
test_hostile(void)
{
	static const char *const bad_names[] = { "../a.000000.jpg",
		"/a.000000.jpg", "a/../b.000000.jpg", ".a.000000.jpg",
		"a//b.000000.jpg", "a b.000000.jpg", "a\nb.000000.jpg",
		"\xff.000000.jpg", "__a__/b.000000.jpg", ".000000.jpg" };
	static const char *const not_frames[] = { "readme", "a.txt",
		"a.00000.jpg", "a.0000000.jpg", "a.000000", "a.json.gz",
		"a.cls.1", "__vt__/.other", "a.00000x.jpg", "a.-00001.jpg" };
	char longest[101], pax[200];
	struct buffer b = { 0 };

	for (size_t i = 0; i < sizeof(bad_names) / sizeof(*bad_names); i++)
		stranger(bad_names[i], '0', NULL, "x",
		    i == 9 || i == 0 || i == 3 || i == 2 ? "not" :
		    "key is not valid");
	for (size_t i = 0; i < sizeof(not_frames) / sizeof(*not_frames); i++)
		stranger(not_frames[i], '0', NULL, "x", "not");
	stranger("a.000000.exe", '0', NULL, "x", "not a kind of frame");
	stranger("a.000000.rgb.jpg", '0', NULL, "x", "the tag rgb");
	stranger("a.000000.toolongtag.jpg", '0', NULL, "x", "the tag is not");
	memset(longest, 'a', 100);
	longest[100] = '\0';
	stranger(longest, '0', NULL, "x", "not the name");
	stranger("a.000000.jpg", '1', "/etc/passwd", "", "a hard link");
	stranger("a.000000.jpg", '2', "/etc/passwd", "", "a symbolic link");
	stranger("a.000000.jpg", '3', NULL, "", "a device");
	stranger("a.000000.jpg", '4', NULL, "", "a device");
	stranger("a.000000.jpg", '6', NULL, "", "a device");
	for (const char *t = "7SZN"; *t != '\0'; t++)
		stranger("a.000000.jpg", *t, NULL, "x",
		    "a member of another type");

	/* Extended headers that change the name or size in the next header. */
	sprintf(pax, "29 path=../../etc/x.00000.jpg\n");
	put(&b, "pax", 'x', NULL, pax, 30);
	put(&b, "a.000000.jpg", '0', NULL, "x", 1);
	put_sample(&b);
	put_end(&b);
	write_file(&b);
	is(dry(1, 0, 1 << 20, NULL), EXIT_FAILED,
	    "a pax path that leads out of the folder is refused");
	buffer_free(&b);
	sprintf(pax, "%s", "../../../etc/passwd");
	put(&b, "././@LongLink", 'L', NULL, pax, strlen(pax) + 1);
	put(&b, "a.000000.jpg", '0', NULL, "x", 1);
	refused(&b, "");
	sprintf(pax, "%s", "20 size=99999999999\n");
	put(&b, "pax", 'x', NULL, pax, strlen(pax));
	put(&b, "a.000000.jpg", '0', NULL, "x", 1);
	refused(&b, "wanted at most 1048576");

	/* Sizes in base 256: 2^40, 2^63 - 1, and a negative one. */
	for (int i = 0; i < 3; i++) {
		put(&b, "a.000000.jpg", '0', NULL, "x", 1);
		memset(b.data + 124, i == 2 ? 0xff : 0, 12);
		b.data[124] = (char)(i == 2 ? 0xff : 0x80);
		if (i == 0)
			b.data[130] = 1;
		if (i == 1)
			memset(b.data + 128, 0xff, 8), b.data[128] = 0x7f;
		checksum((unsigned char *)b.data);
		refused(&b, "");
	}
}

/* Members of samples that do not fit together. */
static void
test_order(void)
{
	struct buffer b = { 0 };
	char text[1000];

	put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
	refused(&b, "wanted the first frame of a sample");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000002.jpg", '0', NULL, "two", 3);
	refused(&b, "wanted a/b.000001.jpg, after a/b.000000.jpg at offset 0");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	refused(&b, "wanted a/b.000001.jpg");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/c.000000.jpg", '0', NULL, "one", 3);
	refused(&b, "wanted a/b.json, without which a sample is incomplete, after "
	    "a/b.000000.jpg at offset 0 (tar --sort=name puts");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
	refused(&b, "the archive ends, but sample a/b has no .json");
	put(&b, "a/b.000000.jpg", '0', NULL, "", 0);
	refused(&b, "a frame that is not empty");
	put_sample(&b);
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	refused(&b, "key a/b is used already, at offset 0");
	put_sample(&b);
	put(&b, "a/b.json", '0', NULL, info, strlen(info));
	refused(&b, "wanted the first frame of a sample");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
	put(&b, "a/b.cls", '0', NULL, "1", 1);
	put(&b, "a/b.cls", '0', NULL, "1", 1);
	refused(&b, "wanted a/b.json");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
	put(&b, "a/b.json", '0', NULL, info, strlen(info));
	refused(&b, "\"label\" is 1, but a/b.cls is missing");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.cls", '0', NULL, "1", 1);
	put(&b, "a/b.json", '0', NULL, info, strlen(info));
	refused(&b, "\"frames\" is 2, but the stream has 1");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.cls", '0', NULL, "1\n", 2);
	refused(&b, "a label");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.cls", '0', NULL, "-1", 2);
	refused(&b, "a label");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.json", '0', NULL, "{", 1);
	refused(&b, "not valid JSON");
	/* JSON of the maximum depth is accepted, with unknown fields. */
	for (int deep = 62; deep <= 64; deep++) {
		struct buffer j = { 0 };

		buffer_add(&j, info, strlen(info) - 1);
		buffer_text(&j, ",\"more\":");
		for (int i = 0; i < deep; i++)
			buffer_text(&j, "[");
		for (int i = 0; i < deep; i++)
			buffer_text(&j, "]");
		buffer_text(&j, "}");
		put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
		put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
		put(&b, "a/b.cls", '0', NULL, "1", 1);
		put(&b, "a/b.json", '0', NULL, j.data, j.n);
		if (deep < 64) {
			put_end(&b);
			write_file(&b);
			is(dry(1, 0, 1 << 20, NULL), EXIT_DONE,
			    "KEY.json within the maximum depth is accepted");
			buffer_free(&b);
		} else {
			refused(&b, "a/b.json: JSON nested more than 64 deep");
		}
		buffer_free(&j);
	}
	for (int deep = 32; deep <= 33; deep++) {
		struct buffer j = { 0 };

		buffer_text(&j, "{\"options\":");
		for (int i = 0; i < deep; i++)
			buffer_text(&j, "{\"a\":");
		buffer_text(&j, "1");
		for (int i = 0; i <= deep; i++)
			buffer_text(&j, "}");
		put(&b, "__vt__/.head", '0', NULL, j.data, j.n);
		put_sample(&b);
		if (deep == 32) {
			put_end(&b);
			write_file(&b);
			is(dry(1, 0, 1 << 20, NULL), EXIT_DONE,
			    "a head within the maximum depth is accepted");
			buffer_free(&b);
		} else {
			refused(&b, "\"options\" nested more than 32 deep");
		}
		buffer_free(&j);
	}
	put(&b, "__vt__/.head", '0', NULL, "{\"classes\":[\"a\xe2\x80\xae\"]}", 20);
	put_sample(&b);
	refused(&b, "class 0: \"a\\u202e\" holds a control character");
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.json", '0', NULL, "[]", 2);
	refused(&b, "not a JSON object");
	/* Each field missing in turn. */
	for (const char *s = info; (s = strstr(s, "\":")) != NULL; s++) {
		size_t at = (size_t)(s - info) - 1;

		strcpy(text, info);
		text[at] = '_';
		put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
		put(&b, "a/b.000001.jpg", '0', NULL, "two", 3);
		put(&b, "a/b.cls", '0', NULL, "1", 1);
		put(&b, "a/b.json", '0', NULL, text, strlen(text));
		refused(&b, "");
	}
	/* A second sample with other streams than the first. */
	put_sample(&b);
	put(&b, "a/c.000000.png", '0', NULL, "one", 3);
	refused(&b, "wanted a/c.000000.jpg");
	/* Two streams must alternate frame by frame. */
	put(&b, "a/b.000000.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000000.flow.png", '0', NULL, "one", 3);
	put(&b, "a/b.000001.flow.png", '0', NULL, "one", 3);
	refused(&b, "wanted a/b.000001.jpg");
}

/* Two streams, several labels and separate times are packed and read back. */
static void
test_all_the_way(void)
{
	static const char json[] = "{\"flags\":36,\"fps\":[0,0],\"frames\":2,"
	    "\"height\":3,\"key\":\"a/b\",\"label\":-1,"
	    "\"labels\":[[2,0,0],[0,0,1]],\"later\":[1.5,null,true],"
	    "\"src\":\"s\",\"src_bytes\":1,"
	    "\"src_xxh3\":\"00000000000000ff\",\"status\":\"ok\","
	    "\"streams\":[{\"ext\":\"jpg\",\"tag\":\"x\"},"
	    "{\"ext\":\"png\",\"tag\":\"y\"}],\"t\":[0,777],\"width\":4}";
	const struct pack_options o = { .dir = out, .prefix = "s",
		.shard_size = 1 << 20, .max_member = 1 << 20, .foreign = 1 };
	const char *const input = path;
	char *command = xprintf("rm -r '%s'", out);
	static const int frame[] = { 1, 0, 1 };
	struct pack_report r;
	struct dataset *d;
	struct buffer b = { 0 }, memory = { 0 };
	size_t at[4];

	put(&b, "a/b.000000.x.jpg", '0', NULL, "one", 3);
	put(&b, "a/b.000000.y.png", '0', NULL, "uno", 3);
	put(&b, "a/b.000001.x.jpg", '0', NULL, "two!", 4);
	put(&b, "a/b.000001.y.png", '0', NULL, "due", 3);
	put(&b, "a/b.json", '0', NULL, json, strlen(json));
	put_end(&b);
	write_file(&b);
	is(pack(&o, &input, 1, &r), EXIT_DONE, "two streams are packed");
	d = dataset_open(out, NULL);
	ok(d != NULL, "the dataset opens");
	is(dataset_streams(d)->n, 2, "the dataset has two streams");
	is_text(dataset_ext(d, 1), "png",
	    "the second stream has its kind of frames");
	is(dataset_sample(d, 0).label, -1, "the sample has no single label");
	is((int)dataset_sample(d, 0).flags, 36, "the sample has its flags");
	is(dataset_classes(d), 3,
	    "the number of classes follows from the labels");
	is(dataset_frames_read(d, 0, 1,
	    &(struct frame_read){ frame, 3, &b, at, &memory }, NULL), 0,
	    "frames of stream 1 are read");
	is_text(b.data, "dueunodue", "frames of stream 1 are those written");
	is(dataset_frames_read(d, 0, 0,
	    &(struct frame_read){ frame, 3, &b, at, &memory }, NULL), 0,
	    "frames of stream 0 are read");
	is_text(b.data, "two!onetwo!", "frames of stream 0 are those written");
	is(dataset_json_read(d, 0, &b), 0, "the .json is read");
	is_text(b.data, json, "the .json is kept with its unknown fields");
	free(r.classes);
	dataset_free(d);
	buffer_free(&b);
	buffer_free(&memory);
	ok(system(command) == 0, "the dataset is removed");
	free(command);
}

int
main(int argc, char **argv)
{
	char temp[] = "/tmp/vt-stream.XXXXXX";

	if (argc >= 7) {
		const struct make m = { .first = atoi(argv[1]),
			.samples = atoi(argv[2]), .frames = atoi(argv[3]),
			.bytes = atoi(argv[4]), .labels = atoi(argv[5]),
			.head = atoi(argv[6]), .pictures = argv[7],
			.seed = 1 };

		return make_stream(STDOUT_FILENO, &m) != 0;
	}
	if ((dir = mkdtemp(temp)) == NULL)
		return 1;
	/* In memory, because ext4 writes a replaced file out each time. */
	path = xprintf("/proc/self/fd/%d", memfd_create("s.tar", 0));
	out = path_join(dir, "out");
	test_cuts();
	test_parts();
	test_foreign();
	test_hostile();
	test_order();
	ok(access(out, F_OK) != 0, "a dry run writes nothing");
	test_all_the_way();
	rmdir(dir);
	free(path);
	free(out);
	return done();
}
