/*
 * Select the fastest algorithm of a convolution by timing its candidates on the
 * device.  Also time the kernels of norms that a fused pattern replaces
 * (conv_select.c).
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
 * Buffers of a fixture.  The first five are operands.  REFERENCE and BEFORE
 * hold outputs: of the reference, and of a candidate's first run.
 */
enum { OPERAND_X, OPERAND_W, OPERAND_Y, WORKSPACE, FUSED, BUSY, REFERENCE,
	BEFORE, SUMS, BUFFERS };

/*
 * The fixture of a measurement.  With a plan: x, w, y, workspace and fused
 * operands.  Without one: a kernel of ${norm} with x, its saved memory, dy or
 * y, its scratch memory, and its scale and offset.
 */
struct conv_tune_fixture {
	struct conv_algorithms *w;
	const struct conv_shape *s;
	struct conv_plan *p;		/* NULL: a kernel of ${norm} */
	struct cuda c;			/* driver and stream, for kernels */
	struct task norm;
	enum norm_part part;
	void *at[BUFFERS];
	size_t workspace;		/* grows to the largest so far */
	size_t copies;			/* of each operand; the workspace
					 * has one */
	int launches;			/* of the present round */
	int has_reference;
};

/* An output: ${n} elements at ${at}, kept at an offset of a buffer. */
struct conv_tune_output {
	enum gpu_type type;
	void *at;
	size_t n, offset;
};

/* ---- memory ---- */

/* Return the bytes of one float per channel, aligned. */
static size_t
conv_tune_row_bytes(const struct conv_shape *s)
{
	int c = s->in > s->out ? s->in : s->out;

	return round_up((size_t)c * sizeof(float), ALIGN);
}

/*
 * Return the fused operands in the buffer at ${at}: nine rows of channels, then
 * one tensor.
 */
static struct conv_operands
conv_tune_fused(const struct conv_shape *s, char *at)
{
	size_t row = conv_tune_row_bytes(s);

	return (struct conv_operands){ at, at + row,
		(const float *)(at + 2 * row), (const float *)(at + 3 * row),
		at + 9 * row, (float *)(at + 4 * row),
		(float *)(at + 6 * row) };
}

/* Return the aligned bytes of a copy of operand ${i}, except the workspace. */
static size_t
conv_tune_bytes_of(const struct conv_tune_fixture *g, int i)
{
	const struct task *t = &g->norm;
	size_t bytes;

	if (g->p == NULL)
		bytes = i == OPERAND_W ? cuda_norm_memory_bytes(t, 0) :
		    i == FUSED ? 2 * (size_t)t->out.c * sizeof(float) :
		    cuda_bytes(&g->c, &t->out);
	else
		bytes = i != FUSED ? conv_select_bytes(g->s, i) :
		    g->s->fusion == CONV_UNFUSED ? 0 :
		    9 * conv_tune_row_bytes(g->s) + conv_select_bytes(g->s, 0);
	return round_up(bytes, ALIGN);
}

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
 * Fill ${bytes} bytes at ${to} with numbers from 1/8 to 2 of either sign.  They
 * repeat after an odd number of words, so that no row of a tensor equals
 * another.
 */
static void
conv_tune_fill(struct conv_tune_fixture *g, char *to, size_t bytes,
    enum gpu_type type)
{
	enum { WORDS = 65537 };
	static const struct { uint32_t random, fixed; } bits[] = {
		[GPU_F32] = { 0x81ffffff, 0x3e000000 },
		[GPU_BF16] = { 0x81ff81ff, 0x3e003e00 },
		[GPU_F16] = { 0x8fff8fff, 0x30003000 } };
	const struct driver_calls *call = g->c.driver->call;
	uint32_t *word = xmalloc(WORDS * sizeof(*word)), r = 1;
	size_t done = WORDS * sizeof(*word);

	for (int i = 0; i < WORDS; i++) {
		r = r * 1664525 + 1013904223;	/* Numerical Recipes */
		word[i] = ((r ^ r >> 16) & bits[type].random) |
		    bits[type].fixed;
	}
	done = done < bytes ? done : bytes;
	call->copy(g->c.driver, g->c.stream, to, word, done);
	for (size_t n; done < bytes; done += n) {
		n = done < bytes - done ? done : bytes - done;
		call->copy(g->c.driver, g->c.stream, to + done, to, n);
	}
	free(word);
}

/* Allocate and fill the copies of operand ${i}. */
static int
conv_tune_open_operand(struct conv_tune_fixture *g, int i)
{
	size_t one = conv_tune_bytes_of(g, i), rows = 0;
	enum gpu_type type = g->c.type;

	if (conv_tune_alloc(g, i, g->copies * one) != 0)
		return -1;
	if (g->p == NULL && (i == OPERAND_W || i == FUSED))
		type = GPU_F32;
	conv_tune_fill(g, g->at[i], g->copies * one, type);
	if (g->p != NULL && i == FUSED && g->s->fusion == CONV_NORM_BACK)
		rows = 9 * conv_tune_row_bytes(g->s);
	for (size_t k = 0; k < g->copies && rows > 0; k++)
		conv_tune_fill(g, (char *)g->at[i] + k * one, rows, GPU_F32);
	return 0;
}

/* ---- outputs ---- */

/* Store the outputs of a convolution in ${o}.  Return their number. */
static int
conv_tune_outputs(const struct conv_tune_fixture *g,
    struct conv_tune_output o[3])
{
	static const int which[] = { [CONV_FORWARD] = OPERAND_Y,
		[CONV_DATA] = OPERAND_X, [CONV_WEIGHTS] = OPERAND_W };
	const struct conv_shape *s = g->s;
	int i = which[s->pass];
	size_t n = (size_t)(s->fusion == CONV_NORM_BACK ? s->in : s->out);
	size_t sums = conv_tune_bytes_of(g, i);

	o[0] = (struct conv_tune_output){ s->type, g->at[i],
		conv_select_bytes(s, i) / cuda_size(s->type), 0 };
	if (s->fusion == CONV_UNFUSED || s->fusion == CONV_NORMED)
		return 1;
	o[1] = (struct conv_tune_output){ GPU_F32,
		conv_tune_fused(s, g->at[FUSED]).sums, n, sums };
	o[2] = (struct conv_tune_output){ GPU_F32, (float *)o[1].at + n, n,
		sums + n * sizeof(float) };
	return 3;
}

/* Clear the outputs: a candidate must write all of them. */
static void
conv_tune_clear(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	struct conv_tune_output o[3];

	for (int i = conv_tune_outputs(g, o) - 1; i >= 0; i--)
		d->call->fill(d, g->c.stream, o[i].at, 0, o[i].n *
		    cuda_size(o[i].type));
}

/* Copy the outputs to buffer ${to}. */
static void
conv_tune_keep(struct conv_tune_fixture *g, int to)
{
	struct conv_tune_output o[3];

	for (int i = conv_tune_outputs(g, o) - 1; i >= 0; i--)
		cuda_copy(&g->c, (char *)g->at[to] + o[i].offset, o[i].at,
		    o[i].n * cuda_size(o[i].type));
}

/* Return the sum of squares of output ${o} in buffer ${i}. */
static double
conv_tune_squares(const struct conv_tune_fixture *g,
    const struct conv_tune_output *o, int i)
{
	const void *x = (char *)g->at[i] + o->offset;
	struct cuda c = g->c;
	float sum = NAN;

	c.type = o->type;
	rows_sum_run(&c, &(struct sum){ .matrix = { 1, o->n / 8, 8, 1, 0 },
		.x = x, .y = x, .to = g->at[SUMS], .share = 1, .floats = 1,
		.all = 1 },
		(char *)g->at[SUMS] + ALIGN);
	c.driver->call->copy(c.driver, c.stream, &sum, g->at[SUMS],
	    sizeof(sum));
	return c.driver->call->wait(c.driver, c.stream) == 0 ? sum : NAN;
}

/*
 * Subtract ${from} from output ${o} in buffer BEFORE.  Return the sum of
 * squares of the difference.
 */
static double
conv_tune_difference(const struct conv_tune_fixture *g,
    const struct conv_tune_output *o, const void *from)
{
	struct cuda c = g->c;
	struct pointwise a = { .from = from, .to = (char *)g->at[BEFORE] +
		o->offset, .n = o->n, .accumulate = 1, .factor = -1 };
	size_t bytes = o->n * cuda_size(o->type);
	struct launch k;

	c.type = o->type;
	k = CUDA_KERNEL(&c, GPU_SCALE, cuda_flat(&c, o->n), 1, a);
	cuda_reads(&k, from, bytes);
	cuda_touches(&k, a.to, bytes, 1);
	cuda_launch(&c, &k);
	return conv_tune_squares(g, o, BEFORE);
}

/*
 * Check the outputs of a candidate after its second run.  Return NULL, or why
 * it is left out.  The first that passes becomes the reference.
 */
static const char *
conv_tune_check(struct conv_tune_fixture *g)
{
	struct conv_tune_output o[3];
	int n = conv_tune_outputs(g, o);

	for (int i = 0; i < n; i++)
		if (!(conv_tune_difference(g, &o[i], o[i].at) == 0))
			return "two runs differ";
	conv_tune_keep(g, g->has_reference ? BEFORE : REFERENCE);
	for (int i = 0; i < n && g->has_reference; i++)
		if (!(conv_tune_difference(g, &o[i], (char *)g->at[REFERENCE] +
		    o[i].offset) <= TOLERANCE * TOLERANCE *
		    conv_tune_squares(g, &o[i], REFERENCE)))
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

/* Allocate the buffers for the outputs of ${g}. */
static int
conv_tune_open_outputs(struct conv_tune_fixture *g)
{
	struct conv_tune_output o[3];
	int n = conv_tune_outputs(g, o);
	size_t bytes = 0, scratch = 0;

	for (int i = 0; i < n; i++) {
		struct matrix m = { 1, o[i].n / 8, 8, 1, 0 };
		struct cuda c = { .type = o[i].type };
		size_t some = rows_sum_scratch(&c, &m);

		bytes = o[i].offset + o[i].n * cuda_size(o[i].type);
		scratch = some > scratch ? some : scratch;
	}
	return conv_tune_alloc(g, REFERENCE, bytes) != 0 ||
	    conv_tune_alloc(g, BEFORE, bytes) != 0 ||
	    conv_tune_alloc(g, SUMS, ALIGN + scratch) != 0 ? -1 : 0;
}

static int
conv_tune_open(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	size_t all = 0;

	if ((g->c.stream = d->call->stream_new(d, 0)) == NULL)
		return -1;
	for (int i = 0; i <= FUSED; i++)
		all += i != WORKSPACE ? conv_tune_bytes_of(g, i) : 0;
	g->copies = COPIED / all + 1 < REPEATS ? COPIED / all + 1 : REPEATS;
	for (int i = 0; i <= FUSED; i++)
		if (i != WORKSPACE && conv_tune_open_operand(g, i) != 0)
			return -1;
	return conv_tune_alloc(g, WORKSPACE, 1) != 0 || (g->w->busy > 0 &&
	    conv_tune_alloc(g, BUSY, g->w->busy) != 0) || (g->p != NULL &&
	    conv_tune_open_outputs(g) != 0) ? -1 : 0;
}

/*
 * Grow the workspace, if the present plan or kernel needs more.  Return 0, or
 * -1 if memory is exhausted.
 */
static int
conv_tune_grow_workspace(struct conv_tune_fixture *g)
{
	struct driver *d = g->c.driver;
	size_t bytes = g->p != NULL ? d->call->conv_workspace(d, g->p) :
	    cuda_norm_memory_bytes(&g->norm, 1);

	if (bytes <= g->workspace)
		return 0;
	g->workspace = 0;
	if (conv_tune_alloc(g, WORKSPACE, bytes) != 0)
		return -1;
	g->workspace = bytes;
	return 0;
}

/* ---- timing ---- */

/* Launch the kernel of a norm on the operands ${at}. */
static void
conv_tune_launch_norm(struct conv_tune_fixture *g, void *const at[5])
{
	struct task *t = &g->norm;

	t->x[0] = at[OPERAND_X];
	t->saved = at[OPERAND_W];
	t->y = at[OPERAND_Y];
	t->dy = at[OPERAND_Y];
	t->scratch = at[WORKSPACE];
	t->w[0] = at[FUSED];
	t->w[1] = (float *)at[FUSED] + t->out.c;
	cuda_norm_part(t, g->part);
}

/* Launch number ${k}, on a copy of the operands. */
static int
conv_tune_launch(struct conv_tune_fixture *g, size_t k)
{
	struct conv_operands fused;
	void *at[5];

	for (int i = 0; i < 5; i++)
		at[i] = (char *)g->at[i] + (i == WORKSPACE ? 0 : k % g->copies *
		    conv_tune_bytes_of(g, i));
	if (g->p == NULL) {
		conv_tune_launch_norm(g, at);
		return 0;
	}
	fused = conv_tune_fused(g->s, at[FUSED]);
	return g->w->run(g->w, g->p, g->c.stream, at,
	    g->s->fusion != CONV_UNFUSED ? &fused : NULL);
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

/* The shape of x, or of y if ${of} is 2. */
static struct dims
conv_tune_dims_of(const struct conv_shape *s, int of)
{
	const int *extent = of == 2 ? s->to : s->from;

	return (struct dims){ s->n, s->dims == 3 ? extent[0] : 1,
		extent[s->dims - 2], extent[s->dims - 1],
		of == 2 ? s->out : s->in };
}

double
conv_tune_norm(struct conv_algorithms *w, const struct conv_shape *s,
    enum norm_part part)
{
	struct conv_tune_fixture g = { .w = w, .s = s, .part = part,
		.c = { .driver = w->driver, .type = s->type } };
	double seconds = -1;

	g.norm = (struct task){ .device = &g.c.device, .materialized = 1,
		.out = conv_tune_dims_of(s, part == PART_SUMS ? 2 : 0) };
	if (conv_tune_open(&g) == 0 && conv_tune_grow_workspace(&g) == 0 &&
	    conv_tune_launch(&g, 0) == 0)
		seconds = conv_tune_rounds(&g);
	conv_tune_close(&g);
	return seconds > 0 ? seconds : 0;
}
