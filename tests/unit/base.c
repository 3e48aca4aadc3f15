/*
 * The base layer: hashes, random numbers, text, tables, JSON, commits and
 * threads give the documented results.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/names.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/table.h"
#include "base/text.h"

#include "said.h"
#include "tap.h"

/* CRC32C bit by bit from its polynomial, as the reference. */
static uint32_t
crc32c_plain(uint32_t crc, const unsigned char *p, size_t n)
{
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

static void
test_hashes(void)
{
	static unsigned char data[20000], zero[32];
	char text[33];
	struct hasher *h = hasher_new();
	int same = 1;

	is(crc32c(0, "123456789", 9), 0xe3069283, "CRC32C of 123456789");
	is(crc32c(0, zero, 32), 0x8a9136aa, "CRC32C of 32 zero bytes");
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7919 >> 3);
	for (size_t n = 0; n < sizeof(data); n += n < 40 ? 1 : 997)
		same &= crc32c(5, data + 1, n) == crc32c_plain(5, data + 1, n);
	ok(same, "fast CRC32C equals the bitwise one at every length tried");
	is(crc32c(crc32c(0, data, 5000), data + 5000, 15000),
	    crc32c(0, data, 20000),
	    "CRC32C of two parts in sequence is that of the whole");
	is(hash_crc32(0, "123456789", 9), 0xcbf43926, "CRC-32 of 123456789");
	is_text(hash128_text(hash128("", 0), text),
	    "99aa06d3014798d86001c324468d497f", "XXH3-128 of no bytes");
	for (size_t i = 0; i < sizeof(data); i += 1000)
		hasher_add(h, data + i, 1000);
	ok(hash128_equal(hasher_128(h), hash128(data, sizeof(data))),
	    "128-bit hash in pieces is that of the whole");
	ok(hasher_64(h) == hash64(data, sizeof(data)),
	    "64-bit hash in pieces is that of the whole");
	hasher_free(h);
}

/* Messages of FIPS 180-4's examples, and of lengths around a block. */
static void
test_sha256(void)
{
	static const char *const message[][2] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		    "248d6a61d20638b8e5c026930c3e6039"
		    "a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		    "cf5b16a778af8380036ce59e7b049237"
		    "0b249b11e8f07a51afac45037afee9d1" },
	};
	static char a[1000000];
	unsigned char digest[32];
	char text[65], whole[65];
	struct sha256 s;
	int same = 1;

	for (size_t i = 0; i < sizeof(message) / sizeof(message[0]); i++)
		is_text(sha256_text(message[i][0], strlen(message[i][0]),
		    text), message[i][1], "a SHA-256 of FIPS 180-4");
	memset(a, 'a', sizeof(a));
	sha256_begin(&s);
	for (size_t i = 0, n; i < sizeof(a); i += n) {
		n = i % 201 + 1 < sizeof(a) - i ? i % 201 + 1 : sizeof(a) - i;
		sha256_add(&s, a + i, n);
	}
	sha256_end(&s, digest);
	is_text(text_hex(text, digest, 32), "cdc76e5c9914fb9281a1c7e284d73e67"
	    "f1809a48a497200e046d39ccc7112cd0",
	    "the SHA-256 of a million a, in pieces");
	for (size_t n = 0; n < 200; n++) {
		sha256_begin(&s);
		for (size_t i = 0; i < n; i++)
			sha256_add(&s, a + i, 1);
		sha256_end(&s, digest);
		same &= strcmp(text_hex(text, digest, 32),
		    sha256_text(a, n, whole)) == 0;
	}
	ok(same, "a SHA-256 by bytes is that of the whole, at each length");
}

static void
test_randomness(void)
{
	static const uint32_t want[3][4] = {
		{ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
		{ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
		{ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } };
	static const uint32_t epoch0[] = { 1, 0, 3, 6, 9, 7, 2, 4, 5, 8 };
	static const uint32_t epoch1[] = { 8, 5, 1, 4, 2, 0, 3, 6, 7, 9 };
	struct rng_block b[3] = { rng_philox(0, 0, 0, 0, 0),
		rng_philox(~0ull, ~0u, ~0u, ~0u, ~0u),
		rng_philox(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3,
		0x13198a2e, 0x03707344) };
	uint32_t order[10], *big = malloc(239789 * sizeof(*big));
	/* The offset of the recorded digest is one digit short of FNV's own. */
	uint64_t fnv = 1469598103934665603ull;
	double sum = 0, squares = 0;
	struct rng r = rng_clip(1, 2);
	int bad = 0;

	for (int i = 0; i < 3; i++)
		ok(memcmp(b[i].w, want[i], 16) == 0,
		    "Philox4x32-10 known answer %d", i + 1);
	rng_shuffle(0x0123456789abcdef, 0, 10, order);
	ok(memcmp(order, epoch0, sizeof(order)) == 0,
	    "shuffled order of epoch 0");
	rng_shuffle(0x0123456789abcdef, 1, 10, order);
	ok(memcmp(order, epoch1, sizeof(order)) == 0,
	    "shuffled order of epoch 1");
	rng_shuffle(42, 3, 239789, big);
	for (size_t i = 0; i < 239789; i++)
		for (int k = 0; k < 4; k++)
			fnv = (fnv ^ (big[i] >> 8 * k & 0xff)) * 1099511628211ull;
	ok(fnv == 0x31be8f36b417661c, "shuffled order of 239,789 samples");
	free(big);
	for (uint32_t i = 0; i < 100000; i++) {
		double x = rng_normal(7, 3, i);

		sum += x;
		squares += x * x;
		bad += !(fabs(x) < 6);
	}
	near(sum / 1e5, 0, 0.01, "normals have mean 0");
	near(squares / 1e5, 1, 0.02, "normals have variance 1");
	is(bad, 0, "normals are finite and within 6");
	for (int i = 0; i < 1000; i++)
		bad += rng_below(&r, 7) >= 7 || rng_uniform(&r) >= 1;
	is(bad, 0, "bounded draws stay below their bound");
}

static void
test_text(void)
{
	static const struct { const char *a, *b; int same; } folded[] = {
		{ "caf\u00e9", "cafe\u0301", 1 }, { "\u00c9", "e\u0301", 1 },
		{ "\u1ead", "a\u0323\u0302", 1 }, { "\u0130", "I\u0307", 1 },
		{ "\uac01", "\u1100\u1161\u11a8", 1 }, { "\u304c", "\u304b\u3099", 1 },
		{ " a  b\t", "A\u00a0b", 0 }, { " a  b ", "A\u00a0\u3000b", 1 },
		{ "a\u200bb", "ab", 1 }, { "ab", "a b", 0 }, { "", " ", 1 },
		{ "e\u0301", "e\u0300", 0 }, { "e", "\u00e9", 0 },
		{ "\xff", "\xfe", 0 }, { "\u0430", "a", 0 },
	};
	static const double values[] = { 0.1, 1.0 / 3, 0.08000000000000002, 1e300,
		5e-324, 0.010000000000000002 };
	static const struct { const char *text, *want, *what; } quoted[] = {
		{ "\303\251t\303\251", "\303\251t\303\251",
			"text_quote: UTF-8 of two bytes is shown" },
		{ "\347\216\213 \360\237\216\276",
		    "\"\347\216\213 \360\237\216\276\"",
		    "text_quote: UTF-8 of three and four bytes is shown" },
		{ "a\302\233b", "\"a\\u009bb\"",
			"text_quote: a C1 control is escaped" },
		{ "a\177", "\"a\\177\"", "text_quote: a delete is escaped" },
		{ "a\342\200\256b", "\"a\\u202eb\"",
			"text_quote: a change of text direction is escaped" },
		{ "\342\201\246", "\"\\u2066\"",
			"text_quote: a direction isolate is escaped" },
		{ "a\342\200\250", "\"a\\u2028\"",
			"text_quote: a line separator is escaped" },
		{ "\342\200\215", "\342\200\215",
			"text_quote: a zero-width joiner is shown" },
		{ "a\233b", "\"a\\233b\"",
			"text_quote: a byte that is not UTF-8 is escaped" },
		{ "\342\200", "\"\\342\\200\"",
			"text_quote: an incomplete character is escaped" },
	};
	int64_t i;
	double x;
	char buf[32];
	int same = 1;

	is_text(text_quote("a b\n\x01"), "\"a b\\n\\001\"",
	    "text_quote: names with blanks and controls are quoted");
	is_text(text_quote("clip_1.mp4"), "clip_1.mp4",
	    "text_quote: a simple name is not quoted");
	for (size_t k = 0; k < sizeof(quoted) / sizeof(quoted[0]); k++)
		is_text(text_quote(quoted[k].text), quoted[k].want, quoted[k].what);
	is(text_chomp(strcpy(buf, "a\r")) == 0 && strcmp(buf, "a") == 0, 1,
	    "text_chomp removes a carriage return at the end of a line");
	is(text_chomp(strcpy(buf, "a\rb\r")), -1,
	    "text_chomp refuses a carriage return within a line");
	is(text_int("12x", 0, 100, &i), -1,
	    "text_int refuses trailing characters");
	is(text_int(" 12", 0, 100, &i), -1, "text_int refuses a leading blank");
	is(text_int("101", 0, 100, &i), -1,
	    "text_int refuses an integer out of range");
	is(text_real("nan", -1, 1, &x), -1, "text_real refuses NaN");
	is(text_real("0x10", -99, 99, &x), -1, "text_real refuses hexadecimal digits");
	is(text_real("1e-400", -1, 1, &x), -1, "text_real refuses a number that would become 0");
	is(text_real("0e-400", -1, 1, &x), 0, "text_real reads 0 with any exponent");
	is(text_real("1e-310", -1, 1, &x), 0, "text_real reads a denormal number");
	for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
		same &= strtod(text_real_write(buf, values[k]), NULL) == values[k];
	ok(same, "text_real_write: doubles read back the same");
	is_text(text_real_write(buf, 0.1), "0.1",
	    "text_real_write: 0.1 is written in its short form");
	for (size_t i = 0; i < sizeof(folded) / sizeof(*folded); i++) {
		char *a = text_fold(folded[i].a), *b = text_fold(folded[i].b);

		ok((strcmp(a, b) == 0) == folded[i].same,
		    "text_fold: %s and %s look %s", text_quote(folded[i].a),
		    text_quote(folded[i].b), folded[i].same ? "the same" :
		    "different");
		free(a);
		free(b);
	}
	is(text_distance("shard-size", "shard-sise"), 1,
	    "text_distance of two names with one letter changed");
}

static void
test_tables(void)
{
	/* Texts of other systems, and what the reader says of them. */
	static const struct { const char *bytes; size_t n; const char *said; }
	    encoded[] = {
#define BYTES(s) s, sizeof(s) - 1
		{ BYTES("\357\273\277#a \tb\r\n 1\t 2 \r\n  \r\n"), "" },
		{ BYTES("\377\376#\0a\0\n\0""1\0"), "standard input: UTF-16LE "
		    "(wanted UTF-8: iconv -f UTF-16LE -t UTF-8)" },
		{ BYTES("\376\377\0#\0a"), "standard input: UTF-16BE (wanted UTF-8: "
		    "iconv -f UTF-16BE -t UTF-8)" },
		{ BYTES("#\0a\0\n\0""1\0"), "standard input: UTF-16LE (wanted UTF-8: "
		    "iconv -f UTF-16LE -t UTF-8)" },
		{ BYTES("\0#\0a"), "standard input: UTF-16BE (wanted UTF-8: iconv -f "
		    "UTF-16BE -t UTF-8)" },
		{ BYTES("#a\n1\0"), "standard input: offset 4: a zero byte (wanted text)" },
		{ BYTES(""), "standard input: empty (wanted a table with a header line)" },
	};
	static const char *const bad[][2] = {
		{ "#a\tb\ta\n1\t2\t3\n", "u.tsv:1: two columns are called a" },
		{ "# t\n#a\n1\r2\n", "u.tsv:3: a carriage return within the "
		    "line" },
		{ "#a\n\\x\n", "u.tsv:2: column a: unknown escape (wanted \\t, "
		    "\\n, \\r or \\\\)" },
		{ "# only\n", "u.tsv: empty (wanted a table with a header line)" },
	};
	char *text;
	struct buffer row = { 0 };
	struct table *t = table_parse("t.tsv",
	    "# a comment\n#key\tn\nA\\tB\t3\nC\t4\n");
	char said[512];
	int64_t n = 0;
	int fd[2];

	is(t != NULL && t->rows == 2 && t->columns == 2, 1,
	    "a table with a comment and a header is read");
	is_text(table_text(t, 0, "key"), "A\tB",
	    "escapes in a cell are decoded");
	is(table_int(t, 1, "n", 0, 9, &n) == 0 && n == 4, 1,
	    "a number in a cell is read");
	said_begin(said, sizeof(said));
	is(table_int(t, 1, "n", 0, 3, &n), -1,
	    "a number out of range in a cell is refused");
	is_text(said_now(), "t.tsv:4: column n: 4 (wanted an integer from 0 to 3)",
	    "the message names file, line and column");
	said_begin(said, sizeof(said));
	ok(table_parse("u.tsv", "#a\tb\n1\n") == NULL,
	    "a row with too few cells is refused");
	is_text(said_now(), "u.tsv:2: 1 cells (wanted 2, as in the header)",
	    "the message names the line of the short row");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		said_begin(said, sizeof(said));
		ok(table_parse("u.tsv", bad[i][0]) == NULL,
		    "a table is refused: %s",
		    bad[i][1]);
		is_text(said_now(), bad[i][1],
		    "the message names the fault of the table");
	}
	for (size_t i = 0; i < sizeof(encoded) / sizeof(encoded[0]); i++) {
		table_free(t);
		if (pipe(fd) != 0 || write(fd[1], encoded[i].bytes,
		    encoded[i].n) != (ssize_t)encoded[i].n)
			exit(1);
		close(fd[1]);
		dup2(fd[0], STDIN_FILENO);
		close(fd[0]);
		said_begin(said, sizeof(said));
		t = table_read("-");
		ok(strcmp(said_now(), encoded[i].said) == 0 && (t != NULL) ==
		    (*encoded[i].said == '\0'), "table %zu of another system "
		    "is read, or refused by its encoding: %s", i, said);
		if (i == 0)
			ok(t != NULL && table_int(t, 0, "a", 1, 1, &n) == 0 &&
			    table_int(t, 0, "b", 2, 2, &n) == 0 && t->rows == 1,
			    "blanks around cells do not count");
	}
	said_end();
	table_free(t);
	table_put(&row, "a\tb\nc\rd\\");
	table_put(&row, "");
	is_text(row.data, "a\\tb\\nc\\rd\\\\\t",
	    "table_put escapes tab, newline, return and backslash");
	text = xprintf("#a\tb\n%s\r\n", row.data);
	t = table_parse("again", text);
	is_text(t != NULL ? table_text(t, 0, "a") : "", "a\tb\nc\rd\\",
	    "an escaped cell reads back, also with CRLF lines");
	table_free(t);
	free(text);
	buffer_free(&row);
}

/*
 * A message is one line without control characters, whatever its arguments
 * hold.
 */
static void
test_messages(void)
{
	char said[200];

	said_begin(said, sizeof(said));
	fail("%s", "a\033[2Jb\302\233c\342\200\256d\377e\303\251\nf");
	said_end();
	is_text(said, "a?[2Jb??c???d?e\303\251?f",
	    "a message replaces control characters and bad UTF-8");
}

static void
test_names(void)
{
	struct names *n = names_new();
	char name[32];
	long wrong = 0;

	for (int i = 0; i < 20000; i++) {
		sprintf(name, "layer%d.conv", i);
		wrong += names_find(n, name) != -1;
		wrong += names_add(n, name) != i;
	}
	for (int i = 0; i < 20000; i++) {
		sprintf(name, "layer%d.conv", i);
		wrong += names_find(n, name) != i || names_add(n, name) != -1 ||
		    strcmp(names_text(n, (size_t)i), name) != 0;
	}
	is(wrong, 0, "names_find returns the numbers of names_add");
	is((long long)names_count(n), 20000, "names_count counts the names");
	names_free(n);
}

static void
test_json(void)
{
	struct json_writer w = { 0 };
	struct json *v;
	char said[512], *again;
	const struct json *item;
	const char *key;
	int64_t n = 0;

	json_open(&w, NULL, '{');
	json_put_int(&w, "a", -5);
	json_open(&w, "b", '[');
	json_put_text(&w, NULL, "x\"\\\n\x02");
	json_put_real(&w, NULL, 0.1);
	json_close(&w);
	json_put_bool(&w, "c", 1);
	json_close(&w);
	is_text(w.out.data, "{\"a\":-5,\"b\":[\"x\\\"\\\\\\n\\u0002\",0.1],\"c\":true}",
	    "json_writer writes canonical JSON");
	v = json_parse("t", w.out.data, w.out.n);
	is(json_to_int(json_get(v, "a"), -9, 9, &n) == 0 && n == -5, 1,
	    "JSON: an integer is read back");
	is_text(json_to_text(json_at(json_get(v, "b"), 0)), "x\"\\\n\x02",
	    "JSON: a text is read back");
	again = json_print(v);
	is_text(again, w.out.data,
	    "JSON: printing what was read gives the same text");
	said_begin(said, sizeof(said));
	ok(json_parse("t", "{\"a\":1,\"a\":2}", 13) == NULL,
	    "JSON: duplicate keys are refused");
	said_end();
	free(again);
	json_free(v);

	/* The maximum depth is read and printed; one level more is refused. */
	for (int deep = JSON_DEPTH; deep <= JSON_DEPTH + 1; deep++) {
		struct buffer b = { 0 };

		for (int i = 0; i < deep; i++)
			buffer_text(&b, i % 2 ? "{\"a\":" : "[");
		buffer_text(&b, "1");
		for (int i = deep; i-- > 0;)
			buffer_text(&b, i % 2 ? "}" : "]");
		said_begin(said, sizeof(said));
		v = json_parse("t", b.data, b.n);
		said_end();
		again = v != NULL ? json_print(v) : xstrdup(said);
		is_text(again, deep == JSON_DEPTH ? b.data :
		    "t: JSON nested more than 64 deep", deep == JSON_DEPTH ?
		    "JSON: 64 brackets deep are read and "
		    "printed" : "JSON: 65 brackets deep are refused");
		free(again);
		json_free(v);
		buffer_free(&b);
	}
	v = json_parse("t", "{\"b\":1,\"a\":[[],{}]}", 19);
	is(json_depth(v), 3, "json_depth counts nested brackets");
	for (void *at = NULL; (item = json_next(v, &at, &key)) != NULL;)
		n += *key + json_is(item, '[');
	is(n, -5 + 'a' + 'b' + 1,
	    "json_next visits all members with their keys");
	json_free(v);
	buffer_free(&w.out);
}

static int
temporaries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)) != NULL)
		n += strstr(e->d_name, ".tmp.") != NULL;
	closedir(d);
	return n;
}

static void
test_commits(void)
{
	char dir[] = "/tmp/vt-base.XXXXXX", *a, *link_name, said[512];
	struct buffer b = { 0 };
	struct stat s;
	struct commit *c;
	pid_t child;
	int lock;

	if (mkdtemp(dir) == NULL)
		exit(1);
	a = path_join(dir, "a");
	link_name = path_join(dir, "link");
	is(commit_text(a, "one"), 0, "commit: a file is written");
	c = commit_open(a, NULL);
	commit_write(c, "half", 4);
	commit_drop(c);
	is(file_read(a, &b) == 0 && strcmp(b.data, "one") == 0, 1,
	    "commit: commit_drop leaves the old file");
	if (symlink("a", link_name) != 0)
		exit(1);
	is(commit_text(link_name, "two!"), 0,
	    "commit: a symbolic link of this name is accepted");
	is(lstat(link_name, &s) == 0 && S_ISREG(s.st_mode), 1,
	    "commit: the link is replaced by a file");
	is(file_size(a), 3, "commit: its target stays");
	unlink(link_name);
	if (mkfifo(link_name, 0666) != 0)
		exit(1);
	said_begin(said, sizeof(said));
	is(commit_text(link_name, "x"), -1, "commit: a pipe is refused");
	said_end();
	ok(strstr(said, "link: a pipe or a device (wanted a regular file)") != NULL,
	    "commit: the message says what is there");
	said_begin(said, sizeof(said));
	ok(commit_open(dir, NULL) == NULL, "commit: a directory is refused");
	said_begin(said, sizeof(said));
	is(file_read("/nowhere/at/all", &b), -1,
	    "file_read: an absent file is refused");
	is_text(said_now(), "/nowhere/at/all: cannot open: No such file or directory",
	    "file_read: the message has the reason");
	c = commit_open(a, NULL);
	commit_write(c, "left behind", 11);
	is(commit_sweep(dir), 0,
	    "commit_sweep returns 0 with a temporary file present");
	is(commit_done(c), -1, "commit_done fails if the file was swept");
	c = commit_open(a, NULL);
	if ((child = fork()) == 0) {	/* the writer dies in the middle */
		commit_write(commit_open(a, NULL), "half", 4);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	is(temporaries(dir), 2,
	    "commit: a killed writer leaves its temporary file");
	is(commit_text(a, "three"), 0,
	    "commit: the next commit of the same file succeeds");
	is(temporaries(dir), 1,
	    "commit: it removes the dead writer's file, not the live one's");
	child = fork();
	if (child == 0) {
		said_begin(said, sizeof(said));
		commit_open(a, NULL);
		die(1, "out of memory");
	}
	waitpid(child, NULL, 0);
	is(temporaries(dir), 1,
	    "commit: a program that ends by die() removes its file");
	is(commit_done(c), 0, "commit: the live writer commits");
	is(temporaries(dir), 0, "commit: no temporary file remains");
	lock = dir_lock(dir, ".lock");
	ok(lock >= 0, "dir_lock: a directory is locked");
	ok(dir_lock(dir, ".lock") < 0, "dir_lock: a second lock is refused");
	is(ftruncate(lock, 0), 0,
	    "dir_lock: truncate the lock, as before its owner writes its name");
	if ((child = fork()) == 0) {
		usleep(250000);
		_exit(pwrite(lock, "node1 17\n", 9, 0) != 9);
	}
	ok(dir_lock(dir, ".lock") < 0 &&
	    strstr(said_now(), "(host and pid: node1 17)") != NULL,
	    "dir_lock: the message waits for the owner's name");
	waitpid(child, NULL, 0);
	said_begin(said, sizeof(said));
	is(file_read("/nowhere/file", &b), -1,
	    "file_read: a file in an absent directory is refused");
	is_text(said_now(), "/nowhere/file: cannot open: No such file or directory",
	    "file_read: the message has the system's reason");
	said_end();
	dir_unlock(lock);
	lock = dir_lock(dir, ".lock");
	ok(lock >= 0, "dir_lock: after unlocking the directory can be locked");
	dir_unlock(lock);
	buffer_free(&b);
	free(a);
	free(link_name);
	if (fork() == 0)
		execlp("rm", "rm", "-r", dir, (char *)NULL);
}

struct sums { atomic_int total; int per[64]; };

static void
add_part(int i, int thread, void *arg)
{
	struct sums *s = arg;

	(void)thread;
	s->per[i] += i;
	atomic_fetch_add(&s->total, i);
}

static void
test_pool(void)
{
	int bad = 0;

	for (int threads = 1; threads <= 4; threads++) {
		struct pool *p = pool_new(threads);
		struct sums s = { 0 };

		for (int k = 0; k < 500; k++)
			pool_run(p, 64, add_part, &s);
		for (int i = 0; i < 64; i++)
			bad += s.per[i] != 500 * i;
		bad += s.total != 500 * 63 * 32;
		pool_free(p);
	}
	is(bad, 0,
	    "pool_run: every part of a loop runs once, with 1 to 4 threads");
}

int
main(void)
{
	test_hashes();
	test_sha256();
	test_randomness();
	test_text();
	test_tables();
	test_messages();
	test_names();
	test_json();
	test_commits();
	test_pool();
	return done();
}
