/*
 * Select the fastest algorithm of a convolution by timing its candidates on the
 * device.
 *
 * Each candidate runs twice, and the second run is timed.  The FINALISTS
 * fastest run REPEATS times in each of ROUNDS rounds.  A candidate is left out
 * if it takes longer than SLOW times the fastest so far, if its two runs differ
 * in a bit, or if its results differ from those of the reference: the first
 * candidate, which is the choice by rule.  tests/gpu/gpu_nets.c compares that
 * one with the reference back end.
 *
 * Memory fills before a timed launch keep the device busy until all launches
 * are queued.  The time therefore excludes the estimated 5 to 15 us that the
 * host takes for a launch.  Operands that would stay in the L2 cache have
 * several copies, which successive launches use in turn.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "backend/cuda/conv_select.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"

enum { CANDIDATES = 12, FINALISTS = 3, ROUNDS = 2, REPEATS = 10, ALIGN = 256 };
#define SLOW		1.5
/* Norm of the difference over the norm of the reference.  Rounding to bf16
 * gives about 0.002. */
#define TOLERANCE	1e-2
/* The size of all copies together: three times the L2 cache of an H200. */
#define COPIED		((size_t)150 << 20)

/*
 * Buffers of a fixture.  The first four are operands.  REFERENCE and BEFORE
 * hold the output: of the reference, and of a candidate's first run.
 */
enum { OPERAND_X, OPERAND_W, OPERAND_Y, WORKSPACE, BUSY, REFERENCE, BEFORE,
	SUMS, BUFFERS };

/* The fixture of a measurement: x, w, y and workspace of a plan. */
struct conv_tune_fixture {
	struct conv_algorithms *w;
	const struct conv_shape *s;
	struct conv_plan *p;
	struct cuda c;			/* driver and stream, for kernels */
	void *at[BUFFERS];
	size_t workspace;		/* grows to the largest so far */
	size_t copies;			/* of each operand; the workspace
					 * has one */
	int launches;			/* of the present round */
	int has_reference;
};

/* ---- memory ---- */

/* Replace buffer ${i}.  Return -1 without a message if memory is exhausted. */
static int
conv_tune_alloc(struct conv_tune_fixture *g, int i, size_t bytes)
{
	struct driver *d = g->c.driver;

	if (g->at[i] != NULL)
		d->call->free(d, g->at[i]);
	/* alloc would report a failure. */
	g->at[i] = d->call->available != NULL && d->call->available(d) < bytes ?
	    NULL : d->call->alloc(d, bytes > 0 ? bytes : 1);
	return g->at[i] != NULL ? 0 : -1;
}

/*
 * Fill operand ${i} of ${bytes} bytes with numbers from 1/128 to 1/8 of either
 * sign, other ones for each operand.  A weight gradient sums up to millions of
 * their products, which must stay finite in fp16.  They repeat after an odd
 * number of words, so that no row of a tensor equals another.
 */
static void
conv_tune_fill(struct conv_tune_fixture *g, int i, size_t bytes)
{
	enum { WORDS = 65537 };
	static const struct { uint32_t random, fixed; } bits[] = {
		[GPU_F32] = { 0x81ffffff, 0x3c000000 },
		[GPU_BF16] = { 0x81ff81ff, 0x3c003c00 },
		[GPU_F16] = { 0x8fff8fff, 0x20002000 } };
	const struct driver_calls *call = g->c.driver->call;
	uint32_t *word = xmalloc(WORDS * sizeof(*word)), r = 1 + (uint32_t)i;
	size_t done = WORDS * sizeof(*word);
	char *to = g->at[i];

	for (int k = 0; k < WORDS; k++) {
		r = r * 1664525 + 1013904223;	/* Numerical Recipes */
		word[k] = ((r ^ r >> 16) & bits[g->c.type].random) |
		    bits[g->c.type].fixed;
	}
	done = done < bytes ? done : bytes;
	call->copy(g->c.driver, g->c.stream, to, word, done);
	for (size_t n; done < bytes; done += n) {
		n = done < bytes - done ? done : bytes - done;
		call->copy(g->c.driver, g->c.stream, to + done, to, n);
	}
	free(word);
}

/* Return the bytes of a copy of operand ${i}, aligned. */
static size_t
conv_tune_bytes_of(const struct conv_tune_fixture *g, int i)
{
	return round_up(conv_select_bytes(g->s, i), ALIGN);
}

/* ---- the output ---- */

/* Return the operand that the pass writes. */
static int
conv_tune_output(const struct conv_tune_fixture *g)
{
	static const int which[] = { [CONV_FORWARD] = OPERAND_Y,
		[CONV_DATA] = OPERAND_X, [CONV_WEIGHTS] = OPERAND_W };

	return which[g->s->pass];
}

/* Return the number of its elements. */
static size_t
conv_tune_count(const struct conv_tune_fixture *g)
{
	return conv_select_bytes(g->s, conv_tune_output(g)) /
	    cuda_size(g->c.type);
}

/* Clear the output: a candidate must write all of it. */
static void
conv_tune_clear(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	int i = conv_tune_output(g);

	d->call->fill(d, g->c.stream, g->at[i], 0, conv_select_bytes(g->s, i));
}

/* Copy the output to buffer ${to}. */
static void
conv_tune_keep(struct conv_tune_fixture *g, int to)
{
	int i = conv_tune_output(g);

	cuda_copy(&g->c, g->at[to], g->at[i], conv_select_bytes(g->s, i));
}

/* Return the sum of squares of the output in buffer ${i}. */
static double
conv_tune_squares(struct conv_tune_fixture *g, int i)
{
	struct cuda *c = &g->c;
	float sum = NAN;

	rows_sum_run(c, &(struct sum){
		.matrix = { 1, conv_tune_count(g) / 8, 8, 1, 0 },
		.x = g->at[i], .y = g->at[i], .to = g->at[SUMS], .share = 1,
		.floats = 1, .all = 1 }, (char *)g->at[SUMS] + ALIGN);
	c->driver->call->copy(c->driver, c->stream, &sum, g->at[SUMS],
	    sizeof(sum));
	return c->driver->call->wait(c->driver, c->stream) == 0 ? sum : NAN;
}

/*
 * Subtract the output in buffer ${from} from that in buffer BEFORE.  Return
 * the sum of squares of the difference.
 */
static double
conv_tune_difference(struct conv_tune_fixture *g, int from)
{
	struct pointwise a = { .from = g->at[from], .to = g->at[BEFORE],
		.n = conv_tune_count(g), .accumulate = 1, .factor = -1 };
	size_t bytes = a.n * cuda_size(g->c.type);
	struct launch k = CUDA_KERNEL(&g->c, GPU_SCALE, cuda_flat(&g->c, a.n),
	    1, a);

	cuda_reads(&k, a.from, bytes);
	cuda_touches(&k, a.to, bytes, 1);
	cuda_launch(&g->c, &k);
	return conv_tune_squares(g, BEFORE);
}

/*
 * Check the output of a candidate after its second run.  Return NULL, or why
 * it is left out.  The first that passes becomes the reference.
 */
static const char *
conv_tune_check(struct conv_tune_fixture *g)
{
	if (!(conv_tune_difference(g, conv_tune_output(g)) == 0))
		return "two runs differ";
	conv_tune_keep(g, g->has_reference ? BEFORE : REFERENCE);
	if (g->has_reference && !(conv_tune_difference(g, REFERENCE) <=
	    TOLERANCE * TOLERANCE * conv_tune_squares(g, REFERENCE)))
		return "the result differs from that of the first";
	g->has_reference = 1;
	return NULL;
}

/* ---- opening ---- */

static void
conv_tune_close(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;

	for (int i = 0; i < BUFFERS; i++)
		if (g->at[i] != NULL)
			d->call->free(d, g->at[i]);
	if (g->c.stream != NULL)
		d->call->stream_free(d, g->c.stream);
}

static int
conv_tune_open(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	struct matrix m = { 1, conv_tune_count(g) / 8, 8, 1, 0 };
	size_t out = conv_select_bytes(g->s, conv_tune_output(g)), all = 0;

	if ((g->c.stream = d->call->stream_new(d, 0)) == NULL)
		return -1;
	for (int i = 0; i < WORKSPACE; i++)
		all += conv_tune_bytes_of(g, i);
	g->copies = COPIED / all + 1 < REPEATS ? COPIED / all + 1 : REPEATS;
	for (int i = 0; i < WORKSPACE; i++) {
		size_t bytes = g->copies * conv_tune_bytes_of(g, i);

		if (conv_tune_alloc(g, i, bytes) != 0)
			return -1;
		conv_tune_fill(g, i, bytes);
	}
	return conv_tune_alloc(g, WORKSPACE, 1) != 0 || (g->w->busy > 0 &&
	    conv_tune_alloc(g, BUSY, g->w->busy) != 0) ||
	    conv_tune_alloc(g, REFERENCE, out) != 0 ||
	    conv_tune_alloc(g, BEFORE, out) != 0 ||
	    conv_tune_alloc(g, SUMS, ALIGN + rows_sum_scratch(&g->c, &m)) != 0 ?
	    -1 : 0;
}

/*
 * Grow the workspace, if the present plan needs more.  Return 0, or -1 if
 * memory is exhausted.
 */
static int
conv_tune_grow_workspace(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	size_t bytes = d->call->conv_workspace(d, g->p);

	if (bytes <= g->workspace)
		return 0;
	g->workspace = 0;
	if (conv_tune_alloc(g, WORKSPACE, bytes) != 0)
		return -1;
	g->workspace = bytes;
	return 0;
}

/* ---- timing ---- */

/* Launch number ${k}, on a copy of the operands. */
static int
conv_tune_launch(struct conv_tune_fixture *g, size_t k)
{
	void *at[4];

	for (int i = 0; i < WORKSPACE; i++)
		at[i] = (char *)g->at[i] + k % g->copies *
		    conv_tune_bytes_of(g, i);
	at[WORKSPACE] = g->at[WORKSPACE];
	return g->w->run(g->w, g->p, g->c.stream, at);
}

static int
conv_tune_launch_all(void *arg)
{
	struct conv_tune_fixture *g = arg;
	int bad = 0;

	for (int k = 0; k < g->launches && !bad; k++)
		bad = conv_tune_launch(g, (size_t)k);
	return bad;
}

/* Return the seconds of one of ${launches} launches, or -1 if one fails. */
static double
conv_tune_round(struct conv_tune_fixture *g, int launches)
{
	struct driver *d = g->c.driver;
	double seconds;

	g->launches = launches;
	for (int i = 0; i <= launches / 2 && g->w->busy > 0; i++)
		d->call->fill(d, g->c.stream, g->at[BUSY], i, g->w->busy);
	seconds = g->w->seconds(g->w, g->c.stream, conv_tune_launch_all, g);
	return seconds > 0 ? seconds / launches : -1;
}

/* Return the seconds of one launch in the faster round, or -1 if one fails. */
static double
conv_tune_rounds(struct conv_tune_fixture *g)
{
	double least = conv_tune_round(g, REPEATS), next;

	for (int i = 1; i < ROUNDS && least > 0; i++) {
		next = conv_tune_round(g, REPEATS);
		least = next < least ? next : least;
	}
	return least;
}

/*
 * Run candidate ${c} twice.  Return the seconds of the second run, or -1 if it
 * is left out.  ${best} is the least time so far, or 0.
 */
static double
conv_tune_try(struct conv_tune_fixture *g, const char *key,
    const struct engine_config *c, double best)
{
	const char *why;
	double seconds;

	/* A kernel that faults makes the device unusable.  This is then the
	 * last line before the error message. */
	detail("%s: trying engine %lld", key, (long long)c->engine);
	if (g->w->use(g->w, g->p, c) != 0 || conv_tune_grow_workspace(g) != 0)
		return -1;
	conv_tune_clear(g);
	if (conv_tune_launch(g, 0) != 0)
		return -1;
	conv_tune_keep(g, BEFORE);
	conv_tune_clear(g);
	seconds = conv_tune_round(g, 1);
	if (seconds <= 0 || (best > 0 && seconds > SLOW * best))
		return -1;
	if ((why = conv_tune_check(g)) == NULL)
		return seconds;
	detail("%s: engine %lld is left out: %s", key, (long long)c->engine,
	    why);
	return -1;
}

static int
conv_tune_compare(const void *a, const void *b)
{
	double x = ((const struct engine_config *)a)->seconds;
	double y = ((const struct engine_config *)b)->seconds;

	return (x > y) - (x < y);
}

/* Store the fastest of ${n} candidates in ${*c}, and use it. */
static int
conv_tune_search(struct conv_tune_fixture *g, struct engine_config *found,
    int n, struct engine_config *c)
{
	struct conv_algorithms *w = g->w;
	char key[CONV_KEY];
	double best = 0;
	int kept = 0;

	w->key(g->s, key);
	for (int i = 0; i < n; i++) {
		found[kept] = found[i];
		found[kept].seconds = conv_tune_try(g, key, &found[i], best);
		if (found[kept].seconds <= 0)
			continue;
		if (best == 0 || found[kept].seconds < best)
			best = found[kept].seconds;
		kept++;
	}
	if (kept == 0)
		note("%s: no algorithm passes the checks; cuDNN's first one is "
		    "used", key);
	qsort(found, (size_t)kept, sizeof(*found), conv_tune_compare);
	c->seconds = 0;
	for (int i = 0; i < kept && i < FINALISTS && found[i].seconds <= SLOW *
	    best; i++) {
		found[i].seconds = w->use(w, g->p, &found[i]) == 0 ?
		    conv_tune_rounds(g) : -1;
		if (found[i].seconds > 0 && (c->seconds <= 0 ||
		    found[i].seconds < c->seconds))
			*c = found[i];
	}
	return c->seconds > 0 ? w->use(w, g->p, c) : -1;
}

int
conv_tune(struct conv_algorithms *w, struct conv_plan *p,
    const struct conv_shape *s, struct engine_config *c)
{
	struct engine_config found[CANDIDATES];
	struct conv_tune_fixture g = { .w = w, .p = p, .s = s,
		.c = { .driver = w->driver, .type = s->type } };
	int n = w->candidates(w, p, found, CANDIDATES), bad = -1;

	if (n > 0) {
		if (conv_tune_open(&g) == 0)
			bad = conv_tune_search(&g, found, n, c);
		conv_tune_close(&g);
	}
	return bad;
}
