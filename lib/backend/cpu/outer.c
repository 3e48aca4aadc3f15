/*
 * Weight gradients by sums of outer products (outer.h): how the work is split,
 * and what a job does.
 */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/outer.h"
#include "backend/cpu/outer_kernels.h"
#include "base/number.h"

/*
 * The blocks of channels of a job.  A cell is the sums of one input by one
 * output block, for all taps; ${step} cells lie from one output block to the
 * next.
 */
struct outer_cells { int in, ins, out, outs, step; };

/* Positions [from, to) of t, h and w in one clip. */
struct outer_chunk { int clip, from[3], to[3]; };

/*
 * The positions of a chunk that a tap uses, and the offsets of x and y where
 * they begin, in floats.  walk.images is 0 if there are none.
 */
struct outer_overlap { struct outer_range walk; long x, y; };

/*
 * Pixels have few channels.  Each tap of each channel of a position is
 * therefore gathered as a channel of its own, which is also the order of
 * dw[o][i][tap].
 */
static int
outer_taps(const struct outer *g)
{
	return g->pixels ? 1 : g->k[0] * g->k[1] * g->k[2];
}

static int
outer_channels(const struct outer *g)
{
	return g->pixels ? g->in * g->k[0] * g->k[1] * g->k[2] : g->in;
}

static size_t
outer_places(const int d[3])
{
	return (size_t)d[0] * (size_t)d[1] * (size_t)d[2];
}

/* Floats of a cell: [tap][L][L]. */
static size_t
outer_cell(const struct outer *g)
{
	return (size_t)(outer_taps(g) * cpu_lanes() * cpu_lanes());
}

/* ---- splitting ---- */

/*
 * Positions of a chunk.  Two blocks of dy and one of x, 64 bytes per position
 * each, then fit L1.  After each chunk the sums are stored to L2.
 */
enum { PLACES = 160 };

/* Floats of a gradient that stay in L2, next to chunks of x and dy. */
enum { WINDOW = 128 << 10 };

static void
outer_cut_places(struct outer *g)
{
	const int *y = g->y;
	int plane = y[1] * y[2], bands = div_up(plane, PLACES);

	g->chunk[0] = bands > 1 ? 1 : PLACES / plane < y[0] ? PLACES / plane :
	    y[0];
	g->chunk[1] = div_up(y[1], bands);
	g->chunk[2] = g->chunk[1] > 1 ? y[2] : div_up(y[2],
	    div_up(y[2], PLACES));
}

static int
outer_chunks(const struct outer *g)
{
	int n = g->clips;

	for (int i = 0; i < 3; i++)
		n *= div_up(g->y[i], g->chunk[i]);
	return n;
}

/*
 * Return the parts that the positions are split into.  Each part writes and
 * reads a whole gradient, so large gradients get fewer.  There are at most 8
 * parts, of at least 800 positions each.
 */
static int
outer_parts_of(const struct outer *g)
{
	size_t largest = ((size_t)512 << 10) /
	    ((size_t)cpu_padded(outer_channels(g)) *
	    (size_t)cpu_padded(g->out) * (size_t)outer_taps(g));
	size_t all = outer_places(g->y) * (size_t)g->clips / 800;

	largest = largest < 8 ? largest : 8;
	largest = largest < all ? largest : all;
	largest = largest < (size_t)outer_chunks(g) ? largest :
	    (size_t)outer_chunks(g);
	return largest > 1 ? (int)largest : 1;
}

void
outer_split(struct outer *g, int threads)
{
	int ins = cpu_blocks(outer_channels(g)), outs = cpu_blocks(g->out);
	size_t x = outer_places(g->x) * (size_t)g->in;
	size_t y = outer_places(g->y) * (size_t)g->out;

	outer_cut_places(g);
	g->parts = outer_parts_of(g);
	g->in_jobs = g->out_jobs = 1;
	/*
	 * Splitting the channels of one side makes every range read the other
	 * activation again.  Split the side for which that costs less, until a
	 * range fits the cache and there are enough jobs.
	 */
	while (g->in_jobs < ins || g->out_jobs < outs) {
		size_t window = outer_cell(g) * (size_t)div_up(ins,
		    g->in_jobs) * (size_t)div_up(outs, g->out_jobs);

		if (window <= WINDOW && outer_jobs(g) >= 4 * threads)
			break;
		if (g->out_jobs < outs && (g->in_jobs >= ins ||
		    x * (size_t)g->out_jobs <= y * (size_t)g->in_jobs))
			g->out_jobs = 2 * g->out_jobs < outs ? 2 * g->out_jobs :
			    outs;
		else
			g->in_jobs = 2 * g->in_jobs < ins ? 2 * g->in_jobs :
			    ins;
	}
	assert(g->chunk[0] > 0 && g->chunk[1] > 0 && g->chunk[2] > 0);
	assert(outer_jobs(g) > 0);
}

int
outer_jobs(const struct outer *g)
{
	return g->parts * g->in_jobs * g->out_jobs;
}

int
outer_sums(const struct outer *g)
{
	return g->parts > 1 ? cpu_blocks(outer_channels(g)) *
	    cpu_blocks(g->out) : 0;
}

static size_t
outer_part_bytes(const struct outer *g)
{
	return outer_cell(g) * (size_t)cpu_blocks(outer_channels(g)) *
	    (size_t)cpu_blocks(g->out) * sizeof(float);
}

static size_t
outer_meet_bytes(const struct outer *g)
{
	return ((size_t)outer_taps(g) * sizeof(struct outer_overlap) + 63) /
	    64 * 64;
}

/*
 * Return 1 if x is packed: a single tap with a stride reads only some of its
 * positions.  The cache fetches lines in pairs, and x is read for each block of
 * output channels, so the copy pays.
 */
static int
outer_is_sparse(const struct outer *g)
{
	return !g->pixels && outer_taps(g) == 1 && g->s[1] * g->s[2] > 1;
}

static size_t
outer_packed_bytes(const struct outer *g)
{
	int blocks = g->pixels ? cpu_blocks(outer_channels(g)) :
	    !outer_is_sparse(g) ? 0 : div_up(cpu_blocks(outer_channels(g)),
	    g->in_jobs);

	return outer_places(g->chunk) * (size_t)(blocks * cpu_lanes()) *
	    sizeof(float);
}

size_t
outer_parts(const struct outer *g)
{
	return g->parts > 1 ? (size_t)g->parts * outer_part_bytes(g) : 0;
}

size_t
outer_scratch(const struct outer *g)
{
	size_t window = (size_t)div_up(cpu_blocks(outer_channels(g)),
	    g->in_jobs) * (size_t)div_up(cpu_blocks(g->out), g->out_jobs);

	return outer_meet_bytes(g) + outer_packed_bytes(g) + (g->parts > 1 ? 0 :
	    window * outer_cell(g) * sizeof(float));
}

/* ---- running a job ---- */

static void
outer_find_chunk(const struct outer *g, int i, struct outer_chunk *c)
{
	for (int d = 2; d >= 0; d--) {
		int n = div_up(g->y[d], g->chunk[d]);

		c->from[d] = i % n * g->chunk[d];
		c->to[d] = c->from[d] + g->chunk[d] < g->y[d] ?
		    c->from[d] + g->chunk[d] : g->y[d];
		i /= n;
	}
	c->clip = i;
}

/* Floats from one image to the next. */
static size_t
outer_image(const int d[3], int channels)
{
	return (size_t)d[1] * (size_t)d[2] * (size_t)cpu_padded(channels);
}

/* Return the offset of position ${at} of ${clip} in y. */
static long
outer_start(const struct outer *g, int clip, const int at[3])
{
	return (long)outer_image(g->y, g->out) * (clip * g->y[0] + at[0]) +
	    ((long)at[1] * g->y[2] + at[2]) * cpu_lanes();
}

/* Find the positions of chunk ${c} whose tap ${tap} reads inside the input. */
static void
outer_meet_tap(const struct outer *g, const struct outer_chunk *c, int tap,
    struct outer_overlap *m)
{
	int at[3] = { tap / g->k[2] / g->k[1], tap / g->k[2] % g->k[1],
	    tap % g->k[2] };
	int from[3], n[3], in[3], lanes = cpu_lanes();
	struct outer_range *w = &m->walk;

	if (g->pixels) {
		size_t row = (size_t)cpu_padded(outer_channels(g));

		for (int d = 0; d < 3; d++)
			n[d] = c->to[d] - c->from[d];
		*w = (struct outer_range){ .images = n[0], .rows = n[1],
			.cols = n[2], .x = { row * (size_t)(n[1] * n[2]),
			    row * (size_t)n[2], row },
			.y = { outer_image(g->y, g->out),
			(size_t)(g->y[2] * lanes),
			    (size_t)lanes } };
		m->x = 0;
		m->y = outer_start(g, c->clip, c->from);
		return;
	}
	for (int d = 0; d < 3; d++) {
		int before = g->p[d] - at[d], to, s = g->s[d];

		from[d] = before > 0 ? div_up(before, s) : 0;
		to = g->x[d] - 1 + before;
		to = to < 0 ? 0 : to / s + 1;
		from[d] = from[d] > c->from[d] ? from[d] : c->from[d];
		to = to < c->to[d] ? to : c->to[d];
		n[d] = to > from[d] ? to - from[d] : 0;
		in[d] = from[d] * s - before;
	}
	if (n[0] * n[1] * n[2] == 0) {
		*m = (struct outer_overlap){ .walk = { .images = 0 } };
		return;
	}
	*w = (struct outer_range){ .images = n[0], .rows = n[1], .cols = n[2],
		.x = { outer_image(g->x, g->in) * (size_t)g->s[0],
		    (size_t)(g->x[2] * g->s[1] * lanes),
		    (size_t)(g->s[2] * lanes) },
		.y = { outer_image(g->y, g->out), (size_t)(g->y[2] * lanes),
		    (size_t)lanes } };
	m->x = (long)outer_image(g->x, g->in) * (c->clip * g->x[0] + in[0]) +
	    ((long)in[1] * g->x[2] + in[2]) * lanes;
	m->y = outer_start(g, c->clip, from);
	if (w->x[1] == w->x[2] * (size_t)w->cols &&
	    w->y[1] == w->y[2] * (size_t)w->cols) {
		w->cols *= w->rows;
		w->rows = 1;
	}
}

/* A running job: its cells, its sums, and its packed or gathered copy of x. */
struct outer_job {
	const struct outer *g;
	struct outer_cells v;
	const struct conv_buffers *o;
	float *sums, *close;
};

/* Copy a chunk of one block of x into ${to}, positions one after the other. */
static void
outer_pack(float *to, const float *x, const struct outer_range *w)
{
	size_t lanes = (size_t)cpu_lanes();

	for (size_t i = 0; i < (size_t)w->images; i++)
		for (size_t j = 0; j < (size_t)w->rows; j++)
			for (size_t k = 0; k < (size_t)w->cols; k++) {
				memcpy(to, x + w->x[0] * i + w->x[1] * j +
				    w->x[2] * k, lanes * sizeof(float));
				to += lanes;
			}
}

/*
 * Add a chunk to the sums of the job.  The first block of output channels
 * prefetches the ${next} chunk of x, and each output block prefetches its next
 * chunk of y.  Without this, a thread that reaches about 90 GF/s waits a fifth
 * of its time.
 */
static void
outer_add_chunk(const struct outer_job *job, const struct outer_overlap *meet,
    const struct outer_overlap *next, int more)
{
	const struct outer_kernels *k = outer_kernels_pick();
	const struct outer *g = job->g;
	const struct outer_cells *v = &job->v;
	size_t lanes = (size_t)cpu_lanes();
	size_t x_block = g->pixels ? lanes : (size_t)(g->x[1] * g->x[2]) *
	    lanes;
	size_t y_block = (size_t)(g->y[1] * g->y[2]) * lanes;
	size_t near = outer_places(g->chunk) * lanes;
	const float *x = (g->pixels ? job->close : (const float *)job->o->in) +
	    x_block * (size_t)v->in;
	const float *y = (const float *)job->o->dy + y_block * (size_t)v->out;

	for (int i = 0; outer_is_sparse(g) && i < v->ins; i++)
		outer_pack(job->close + near * (size_t)i, x + meet->x +
		    x_block * (size_t)i, &meet->walk);
	for (int j = 0; j < v->outs * v->ins * outer_taps(g); j++) {
		int tap = j % outer_taps(g), i = j / outer_taps(g) % v->ins;
		int o = j / outer_taps(g) / v->ins;
		const struct outer_overlap *a = &meet[tap];
		const float *in = x + x_block * (size_t)i;
		const float *out = y + y_block * (size_t)o, *prefetch = NULL;
		struct outer_range w = a->walk;
		float *m = job->sums + outer_cell(g) *
		    (size_t)(o * v->step + i) + lanes * lanes * (size_t)tap;

		if (more && w.images == 0)
			continue;
		if (next != NULL && i == (o + 1) % v->ins && tap == 0)
			prefetch = out + next->y;
		else if (next != NULL && o == 0 && !g->pixels)
			prefetch = in + next->x + (a->x - meet->x);
		in += a->x;
		if (outer_is_sparse(g)) {
			in = job->close + near * (size_t)i;
			w.x[2] = lanes;
			w.x[1] = w.x[2] * (size_t)w.cols;
			w.x[0] = w.x[1] * (size_t)w.rows;
		}
		k->sum(m, in, out + a->y, &w, more, prefetch, i == (o + 1) %
		    v->ins && tap == 0 ? a->walk.y : a->walk.x);
	}
}

/* Write a cell to dw[o][i][tap]. */
static void
outer_put(const struct outer *g, float *dw, const float *m, int in, int out)
{
	int lanes = cpu_lanes(), n = outer_taps(g);
	int outs = g->out - out * lanes, ins = outer_channels(g) - in * lanes;

	outs = outs < lanes ? outs : lanes;
	ins = ins < lanes ? ins : lanes;
	for (int o = 0; o < outs; o++) {
		float *to = dw + ((size_t)(out * lanes + o) *
		    (size_t)outer_channels(g) + (size_t)(in * lanes)) *
		    (size_t)n;

		if (n == 1) {
			memcpy(to, m + o * lanes, (size_t)ins * sizeof(float));
			continue;
		}
		for (int i = 0; i < ins; i++)
			for (int t = 0; t < n; t++)
				*to++ = m[(t * lanes + o) * lanes + i];
	}
}

void
outer_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct outer *g = state;
	int windows = g->in_jobs * g->out_jobs, part = job / windows;
	int a = job % windows % g->in_jobs, b = job % windows / g->in_jobs;
	int from = (int)((long)outer_chunks(g) * part / g->parts);
	int to = (int)((long)outer_chunks(g) * (part + 1) / g->parts);
	int ins = cpu_blocks(outer_channels(g)), outs = cpu_blocks(g->out);
	struct outer_cells v = { .in = ins * a / g->in_jobs,
		.ins = ins * (a + 1) / g->in_jobs - ins * a / g->in_jobs,
		.out = outs * b / g->out_jobs,
		.outs = outs * (b + 1) / g->out_jobs - outs * b / g->out_jobs };
	struct outer_overlap *meet = o->scratch, next;
	float *close = (float *)((char *)o->scratch + outer_meet_bytes(g));
	struct outer_job j = { .g = g, .v = v, .o = o, .close = close,
		.sums = close + outer_packed_bytes(g) / sizeof(float) };
	struct outer_chunk c;

	j.v.step = v.ins;
	if (g->parts > 1) {
		j.v.step = ins;
		j.sums = o->parts + outer_part_bytes(g) / sizeof(float) *
		    (size_t)part + outer_cell(g) * (size_t)(v.out * ins + v.in);
	}
	for (int i = from; i < to; i++) {
		outer_find_chunk(g, i, &c);
		for (int tap = 0; tap < outer_taps(g); tap++)
			outer_meet_tap(g, &c, tap, &meet[tap]);
		if (g->pixels)
			outer_gather(g, close, o->in, c.clip, c.from, c.to);
		outer_find_chunk(g, i + 1, &c);
		if (i + 1 < to)
			outer_meet_tap(g, &c, 0, &next);
		outer_add_chunk(&j, meet, i + 1 < to ? &next : NULL, i > from);
	}
	for (int i = 0; g->parts == 1 && i < v.ins * v.outs; i++)
		outer_put(g, o->out, j.sums + outer_cell(g) * (size_t)i,
		    v.in + i % v.ins, v.out + i / v.ins);
}

void
outer_add(const void *state, int job, const struct conv_buffers *o)
{
	const struct outer *g = state;
	float *sum = o->parts + outer_cell(g) * (size_t)job;

	for (int i = 1; i < g->parts; i++)
		kernels_pick()->add(sum, sum, sum + outer_part_bytes(g) /
		    sizeof(float) * (size_t)i, outer_cell(g));
	outer_put(g, o->out, sum, job % cpu_blocks(outer_channels(g)), job /
	    cpu_blocks(outer_channels(g)));
}
