/*
 * The shard layer: keys of paths, tar headers, streams, class names inferred
 * from keys, and the journal.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "shard/class_infer.h"
#include "shard/sample.h"
#include "shard/journal.h"
#include "shard/key.h"
#include "shard/keyset.h"
#include "shard/stream.h"
#include "shard/ustar.h"

#include "said.h"
#include "tap.h"

static void
test_keys(void)
{
	static const struct { const char *path, *key; } rows[] = {
		{ "v.mp4", "v" },
		{ "a/b.c/v.tar.gz", "a/b=2Ec/v=2Etar" },
		{ "./a//b/./v.mp4", "a/b/v" },
		{ "UCF/Bow/v_1.avi", "UCF/Bow/v_1" },
		{ ".hidden", "=2Ehidden" },
		{ "../v.mp4", "=2E=2E/v" },
		{ "a=b c\n\xc3\xa9.mp4", "a=3Db=20c=0A=C3=A9" },
		{ "-v.mp4", "-v" },
		{ "__x__/v.mp4", "=5F_x__/v" },
		{ "____.mp4", "=5F___" },
		{ "___.mp4", "___" },
		{ "no-extension", "no-extension" },
	};
	/* One byte too long. */
	static const char long_key[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaa";
	static const char *const bad[] = { "", "/a", "a/", "a//b", "a.b", "a b",
		"__x__", "a/__x__/b", "a/____", "\xc3\xa9", long_key };
	char key[KEY_MAX + 1], other[KEY_MAX + 1], path[300], said[512];
	int wrong = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is(key_from_path(rows[i].path, key), 0,
		    "key_from_path makes a key");
		is_text(key, rows[i].key, text_quote(rows[i].path));
		wrong += !key_is_valid(key);
	}
	is(wrong, 0, "keys from paths are valid");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!key_is_valid(bad[i]),
		    "an invalid key is refused: %s", text_quote(bad[i]));

	/* Paths of every length, with escapes at every position of the cut. */
	for (int n = 1; n < 200; n++) {
		memset(path, 'a', (size_t)n);
		for (int k = n - 1; k >= 0 && k > n - 12; k--)
			path[k] = " ./_"[(n + k) % 4];
		path[0] = 'a';
		path[n] = '\0';
		strcat(path, "z.mp4");
		wrong += key_from_path(path, key) != 0 ||
		    !key_is_valid(key);
		path[n] = 'y';
		wrong += key_from_path(path, other) != 0 ||
		    strcmp(key, other) == 0;
	}
	is(wrong, 0, "keys from paths of all lengths are valid and differ");
	said_begin(said, sizeof(said));
	is(key_from_path("./", key), -1, "a path without a name is refused");
	said_end();
}

/*
 * Different paths have different keys: try all folder names of up to 3 of these
 * pieces, each with the same file in it.
 */
static void
test_injective(void)
{
	static const char *const piece[] = { "a", "=", "20", " ", "=20", "_", "__",
		".", "-", "\n", "\xff", "5F", "A", "%" };
	enum { N = sizeof(piece) / sizeof(piece[0]), ALL = N + N * N + N * N * N };
	static char path[ALL][40], key[ALL][KEY_MAX + 1];
	int n = 0, same = 0, bad = 0;

	for (int i = 0; i < N; i++)
		for (int j = -1; j < N; j++)
			for (int k = -1; k < (j < 0 ? 0 : N); k++)
				sprintf(path[n++], "%s%s%s/v.mp4", piece[i],
				    j < 0 ? "" : piece[j], k < 0 ? "" : piece[k]);
	for (int i = 0; i < n; i++)
		bad += key_from_path(path[i], key[i]) != 0 ||
		    !key_is_valid(key[i]);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			same += strcmp(key[i], key[j]) == 0 &&
			    strcmp(path[i], path[j]) != 0 &&
			    strncmp(path[i], "./", 2) != 0 &&
			    strncmp(path[j], "./", 2) != 0;
	is(bad, 0, "odd names have valid keys");
	is(same, 0, "different paths have different keys");
}

static void
test_header(void)
{
	unsigned char h[USTAR_BLOCK];
	char text[33], name[USTAR_NAME + 1];
	uint64_t size;

	ustar_header(h, "run/v_000.000000.jpg", 700);
	is_text(hash128_text(hash128(h, sizeof(h)), text),
	    "a5d918eb0baaa051e92eccadf29bb688",
	    "the header of golden.tar's first member");
	is(ustar_read(h, name, &size) == 0 && strcmp(name,
	    "run/v_000.000000.jpg") == 0 && size == 700, 1, "it is read");
	h[130] = '8';
	is(ustar_read(h, name, &size), -1, "a wrong digit is an error");
}

/* Write a stream of two samples. */
static void
write_stream(const char *path)
{
	static const uint32_t time[] = { 0, 333, 700 };
	char *names[] = { (char[]){ "run" }, (char[]){ "jump high" } };
	const struct class_list classes = { names, 2, 2 };
	static const struct stream_list jpg = { 1, { { "rgb", "jpg" } } };
	struct sample a = { .key = "run/v_0", .streams = &jpg, .label = 0,
		.frames = 2, .width = 340, .height = 256,
		.fps = { 30000, 1001 }, .status = "ok", .source = "run/v_0.mp4",
		.source_bytes = 77, .source_hash = 0xfedcba9876543210 };
	struct sample b = { .key = "x", .streams = &jpg, .label = -1,
		.frames = 3, .width = 1, .height = 2, .status = "truncated",
		.flags = SHARD_TRUNCATED, .source = "back\\slash \xff.mp4",
		.time = time };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stream_writer *w = stream_open(fd, path, "test 1");
	int bad = stream_head(w, &classes, 0, "{\"quality\":90}");

	bad |= stream_begin(w, &a);
	bad |= stream_frame(w, "12345", 5);
	bad |= stream_frame(w, "123", 3);
	bad |= stream_commit(w);
	bad |= stream_begin(w, &b);
	for (int i = 0; i < 3; i++)
		bad |= stream_frame(w, "xyz", 3);
	bad |= stream_commit(w);
	bad |= stream_end(w, "ok");
	is(bad, 0, "a stream is written");
	close(fd);
}

static const char *
member(const struct buffer *b, size_t *at, char *name)
{
	const char *h = b->data + *at;
	size_t size = strtoul(h + 124, NULL, 8);

	sprintf(name, "%.100s", h);
	*at += USTAR_BLOCK + size + ustar_padding(size);
	return h + USTAR_BLOCK;
}

static void
test_stream(void)
{
	static const char *const want[][2] = {
		{ "__vt__/.head", "{\"classes\":[\"run\",\"jump high\"],"
		    "\"options\":{\"quality\":90}}" },
		{ "run/v_0.000000.jpg", "12345" },
		{ "run/v_0.000001.jpg", "123" },
		{ "run/v_0.cls", "0" },
		{ "run/v_0.json", "{\"flags\":0,\"fps\":[30000,1001],\"frames\":2,"
		    "\"height\":256,\"key\":\"run/v_0\",\"label\":0,"
		    "\"src\":\"run/v_0.mp4\",\"src_bytes\":77,"
		    "\"src_xxh3\":\"fedcba9876543210\",\"status\":\"ok\","
		    "\"streams\":[{\"ext\":\"jpg\",\"tag\":\"rgb\"}],"
		    "\"width\":340}" },
		{ "x.000000.jpg", "xyz" },
		{ "x.000001.jpg", "xyz" },
		{ "x.000002.jpg", "xyz" },
		{ "x.json", "{\"flags\":5,\"fps\":[0,0],\"frames\":3,\"height\":2,"
		    "\"key\":\"x\",\"label\":-1,"
		    "\"src\":\"back\\\\\\\\slash \\\\xff.mp4\",\"src_bytes\":0,"
		    "\"src_xxh3\":\"0000000000000000\",\"status\":\"truncated\","
		    "\"streams\":[{\"ext\":\"jpg\",\"tag\":\"rgb\"}],"
		    "\"t\":[0,333,700],\"width\":1}" },
	};
	char dir[] = "/tmp/vt-shard.XXXXXX", name[101], *path, end[200];
	struct buffer b = { 0 };
	struct sample *s;
	size_t at = 0;

	if (mkdtemp(dir) == NULL)
		exit(1);
	path = path_join(dir, "s.tar");
	write_stream(path);
	is(file_read(path, &b), 0, "the stream is read");
	for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		const char *data = member(&b, &at, name);

		is_text(name, want[k][0], "a member has its name");
		ok(memcmp(data, want[k][1], strlen(want[k][1]) + 1) == 0,
		    "a member has its content");
	}
	snprintf(end, sizeof(end), "{\"frames\":5,\"samples\":2,"
	    "\"status\":\"ok\",\"tool\":\"test 1\",\"xxh3\":\"%016llx\"}",
	    (unsigned long long)hash64(b.data, at));
	is_text(member(&b, &at, name), end,
	    "the end-of-stream marker has counts and the hash");
	is(b.n - at, 1024, "two zero blocks end the stream");
	s = sample_read("x.json", want[8][1], strlen(want[8][1]), NULL, NULL);
	is_text(s->source, "back\\slash \xff.mp4",
	    "a path with odd bytes reads back");
	is(s->time[2], 700, "frame times read back");
	is(s->flags, 5, "flags read back");
	sample_free(s);
	unlink(path);
	rmdir(dir);
	free(path);
	buffer_free(&b);
}

/*
 * Check the class names inferred from keys: the first component that has one
 * name per label.
 */
static void
derive_from(const char *const (*sample)[2], int n, size_t least,
    const char *want, const char *what)
{
	struct class_infer *d = class_infer_new();
	struct class_list c = { 0 };
	struct buffer b = { 0 };

	for (int i = 0; i < n; i++)
		if (*sample[i][1] == '+')
			class_infer_add(d, &(struct sample){ .label = -1,
				.labels = &(struct label_interval){
				atoi(sample[i][1]), 0, 0 }, .nlabels = 1 });
		else
			class_infer_add(d, &(struct sample){ .key = sample[i][0],
				.label = atoi(sample[i][1]) });
	class_infer_least(d, least);
	class_infer_classes(d, &c);
	class_text(&c, &b);
	is_text(b.data, want, what);
	class_list_free(&c);
	buffer_free(&b);
	class_infer_free(d);
}

static void
test_derive(void)
{
	static const char *const first[][2] = { { "run/a", "0" },
		{ "jump/a", "1" }, { "run/b", "0" } };
	static const char *const second[][2] = { { "train/run/a", "0" },
		{ "train/jump=20high/a", "1" }, { "val/run/b", "0" } };
	static const char *const none[][2] = { { "a", "0" }, { "b", "2" } };
	static const char *const mixed[][2] = { { "run/a", "0" },
		{ "run/b", "1" } };
	static const char *const moved[][2] = { { "run/a", "0" },
		{ "jump/b", "0" }, { "run/c", "1" } };
	static const char *const hole[][2] = { { "run/a", "0" },
		{ "jump/b", "3" }, { "x", "-1" } };
	static const char *const clash[][2] = { { "run/a", "0" },
		{ "1/b", "2" } };
	static const char *const several[][2] = { { "run/a", "0" },
		{ "", "+2" } };
	static const char *const control[][2] = { { "r=0A/a", "0" },
		{ "s/a", "1" } };

	derive_from(first, 3, 0, "run\njump\n",
	    "class names come from the first component");
	derive_from(second, 3, 0, "run\njump high\n",
	    "class names come from the second component");
	derive_from(none, 2, 0, "0\n1\n2\n",
	    "without a component, labels are the names");
	derive_from(mixed, 2, 0, "0\n1\n",
	    "one name for two labels is not a class name");
	derive_from(moved, 3, 0, "0\n1\n",
	    "two names for one label are not class names");
	derive_from(hole, 3, 0, "run\n1\n2\njump\n",
	    "missing labels are named by their number");
	derive_from(clash, 2, 0, "0\n1\n2\n",
	    "a name equal to a missing label's number is refused");
	derive_from(several, 2, 0, "0\n1\n2\n",
	    "samples with several labels give no names");
	derive_from(control, 2, 0, "0\n1\n",
	    "a name with a control character is refused");
	derive_from(NULL, 0, 0, "", "no samples give no classes");
	derive_from(first, 3, 4, "run\njump\n2\n3\n",
	    "classes that are not seen are named by their number");
}

static void
test_keyset(void)
{
	struct keyset *k = keyset_new();
	char key[32];
	uint32_t source = 0;
	uint64_t offset;
	int wrong = 0;

	for (int i = 0; i < 50000; i++) {
		sprintf(key, "c/%d", i);
		offset = (uint64_t)i;
		wrong += keyset_add(k, key, &source, &offset) != 1;
	}
	for (int i = 0; i < 50000; i++) {
		sprintf(key, "c/%d", i);
		offset = 0;
		wrong += keyset_add(k, key, &source, &offset) != 0 ||
		    offset != (uint64_t)i;
	}
	is(wrong, 0, "keyset finds duplicate keys, with their offsets");
	is(keyset_add(k, "c/50000", &source, &offset), 1,
	    "keyset accepts a new key");
	keyset_free(k);
}

/* Write without the slow fsync of a commit. */
static void
put_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || pwrite(fd, data, n, 0) != (ssize_t)n ||
	    ftruncate(fd, (off_t)n) != 0)
		exit(1);
	close(fd);
}

/* Cut the journal at every length, and change every byte. */
static void
test_journal(void)
{
	char dir[] = "/tmp/vt-shard.XXXXXX", said[300], *path;
	struct journal_shard s = { .sum = { .bytes = 512, .samples = 3,
	    .frames = 4, .hash = { { 1, 2, 3 } } }, .first = "a/b",
	    .last = "c" };
	struct journal *j;
	struct buffer b = { 0 };
	int bad, wrong = 0, lost = 0;

	if (mkdtemp(dir) == NULL)
		exit(1);
	path = path_join(dir, JOURNAL_NAME);
	j = journal_create(dir, "{\"a b\":1}");
	is(journal_add(j, &s) | journal_add(j, &s), 0, "a journal is written");
	journal_free(j);
	file_read(path, &b);
	j = journal_read(dir, &bad);
	ok(j != NULL && j->shards == 2 && j->shard[1].sum.frames == 4 &&
	    strcmp(j->shard[1].first, "a/b") == 0 &&
	    strcmp(j->settings, "{\"a b\":1}") == 0, "a journal is read");
	journal_free(j);
	for (size_t n = 0; n < b.n; n++) {
		size_t lines = 0;

		for (size_t i = 0; i < n; i++)
			lines += b.data[i] == '\n';
		put_file(path, b.data, n);
		j = journal_read(dir, &bad);
		wrong += bad || (j == NULL) != (lines == 0) ||
		    (j != NULL && j->shards != lines - 1);
		journal_free(j);
	}
	is(wrong, 0, "a journal cut in a line ends before that line");
	for (size_t i = 0; i < b.n; i++) {
		b.data[i] ^= 1;
		put_file(path, b.data, b.n);
		b.data[i] ^= 1;
		said_begin(said, sizeof(said));
		j = journal_read(dir, &bad);
		said_end();
		/*
		 * The last lines may be lost; their shards are written again.
		 */
		lost += j != NULL && j->shards >= 2;
		journal_free(j);
	}
	is(lost, 0, "a changed byte is damage, or loses the last lines");
	unlink(path);
	rmdir(dir);
	free(path);
	buffer_free(&b);
}

int
main(void)
{
	test_derive();
	test_keyset();
	test_journal();
	test_keys();
	test_injective();
	test_header();
	test_stream();
	return done();
}
