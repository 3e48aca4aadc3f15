/*
 * weights_mutated [FILE...]: damaged weight files never crash or hang the
 * reader, and are never refused without a message.  The reader never allocates
 * more than ten times the file and 16 MiB at once.  Files made here and those
 * given are damaged in COUNT ways chosen by SEED. malloc and its kin are
 * wrapped by the linker (--wrap).
 */
#include <signal.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/rng.h"
#include "weights/weights.h"

#include "said.h"
#include "tap.h"
#include "weights_make.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);

static size_t largest;

static void
saw(size_t n)
{
	largest = n > largest ? n : largest;
}

void *
__wrap_malloc(size_t n)
{
	saw(n);
	return __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t m)
{
	saw(n * m);
	return __real_calloc(n, m);
}

void *
__wrap_realloc(void *p, size_t n)
{
	saw(n);
	return __real_realloc(p, n);
}

static char path[64];
static long file_number;

static void
hung(int signal)
{
	char text[100];
	int n = snprintf(text, sizeof(text), "Bail out! file %ld hangs: "
	    "%s\n", file_number, path);

	(void)signal;
	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

/* Numbers that are large, small or negative at any width. */
static const unsigned char odd[][8] = {
	{ 0 }, { 1 }, { 255, 255, 255, 255 }, { 255, 255, 255, 127 },
	{ 0, 0, 0, 128 }, { 255, 255, 255, 255, 255, 255, 255, 255 },
	{ 255, 255, 255, 255, 255, 255, 255, 127 }, { 0, 0, 0, 0, 0, 0, 0, 128 }
};
static const char opcodes[] = "\x80.N\x88\x89JKMGXqrhj(}])t\x85\x86" "aesucRbQ"
    "\x8a\x87\x81UTc(tR\x95\x8c" "0";

static size_t
below(uint32_t r, size_t n)
{
	return n > 0 ? (size_t)(r % n) : 0;
}

/* Make one change to ${b}; ${r} and ${q} are random. */
static void
mutate(struct buffer *b, const uint32_t *r, const uint32_t *q)
{
	/* Mostly where the structure is: in the first or the last 2 KiB. */
	size_t window = b->n > 2048 ? 2048 : b->n;
	size_t at = r[0] % 8 == 0 ? below(r[1], b->n) : r[0] % 8 < 3 ?
	    b->n - 1 - below(r[1], window) : below(r[1], window);
	size_t n = 1 + below(r[2], 8), left = b->n - at;

	n = n < left ? n : left;
	switch (r[3] % 8) {
	case 0:				/* flip a bit */
		b->data[at] ^= (char)(1 << q[0] % 8);
		break;
	case 1:				/* change a byte */
		b->data[at] = (char)q[0];
		break;
	case 2:				/* write an opcode */
		b->data[at] = opcodes[below(q[0], sizeof(opcodes) - 1)];
		break;
	case 3:				/* write a number */
		n = (size_t)1 << q[0] % 4;
		memcpy(b->data + at, odd[q[1] % 8], n < left ? n : left);
		break;
	case 4:				/* remove bytes */
		memmove(b->data + at, b->data + at + n, left - n);
		b->n -= n;
		break;
	case 5:				/* repeat bytes */
		buffer_reserve(b, n);
		memmove(b->data + at + n, b->data + at, left);
		b->n += n;
		break;
	case 6:				/* copy from elsewhere */
		memmove(b->data + at, b->data + below(q[0], b->n - n + 1), n);
		break;
	default:			/* cut, or increment */
		if (q[0] % 4 == 0)
			b->n = at;
		else
			b->data[at] = (char)(b->data[at] + 1);
	}
}

/* Return 1 if reading the bytes has a permitted outcome. */
static int
survives(const struct buffer *b)
{
	static char said[4096];
	FILE *f = fopen(path, "w");
	struct weights_file w;
	int bad, good;

	if (f == NULL || fwrite(b->data, 1, b->n, f) != b->n ||
	    fclose(f) != 0) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	said[0] = '\0';
	said_begin(said, sizeof(said));
	largest = 0;
	alarm(20);
	bad = weights_open(path, &w);
	for (size_t i = 0; bad == 0 && i < w.tensors; i++) {
		float *x = xcalloc(w.tensor[i].count, sizeof(*x));

		weights_floats(&w.tensor[i], x);
		free(x);
	}
	if (bad == 0)
		weights_close(&w);
	alarm(0);
	said_end();
	good = largest <= arena_max(b->n) + 65536 &&
	    (bad == 0 || ((bad == -2 || bad == -3) && *said != '\0'));
	if (!good)
		diag("%d, %zu bytes at once: %s", bad, largest, said);
	return good;
}

/* Keep the file that failed, for inspection. */
static void
keep(const struct buffer *b)
{
	char *name = xprintf("%s.bad", path);

	if (commit_bytes(name, b->data, b->n) == 0)
		diag("kept as %s", name);
	free(name);
}

static void
all_of(const char *name, const struct buffer *whole, uint64_t seed, long count)
{
	long bad = 0;

	for (file_number = 0; file_number < count && bad == 0; file_number++) {
		struct buffer b = { 0 };
		int changes;

		buffer_add(&b, whole->data, whole->n);
		changes = 1 + (int)(file_number % 5);
		for (int i = 0; i < changes && b.n > 0; i++) {
			struct rng_block r[2];

			for (uint32_t k = 0; k < 2; k++)
				r[k] = rng_philox(seed, (uint32_t)file_number,
				    (uint32_t)i, k, 0);
			mutate(&b, r[0].w, r[1].w);
		}
		bad += !survives(&b);
		if (bad)
			keep(&b);
		buffer_free(&b);
	}
	is(bad, 0, name);
	diag("%ld files", file_number);
}

static long
number(const char *name, long otherwise)
{
	const char *v = getenv(name);

	return v != NULL && *v != '\0' ? atol(v) : otherwise;
}

int
main(int argc, char **argv)
{
	static const char *const kinds[] = { "zip", "legacy", "safetensors",
		"arrays" };
	long count = number("COUNT", 200), seed = number("SEED", 1);
	struct buffer b = { 0 };

	snprintf(path, sizeof(path), "/tmp/vt-mutated.%d", (int)getpid());
	signal(SIGALRM, hung);
	program_quiet(1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		make_file(&b, kinds[i]);
		all_of(kinds[i], &b, (uint64_t)seed + i, count);
		buffer_free(&b);
	}
	for (int i = 1; i < argc; i++) {
		if (file_read(argv[i], &b) != 0)
			return 1;
		all_of(argv[i], &b, (uint64_t)seed + 16 + (uint64_t)i, count);
		buffer_free(&b);
	}
	/* Check the wrapper itself: an allocation is seen. */
	largest = 0;
	free(xmalloc(12345));
	ok(largest == 12345, "the wrapper sees allocations");
	unlink(path);
	return done();
}
