/*
 * Direct convolutions: the positions of each tile, the input that their taps
 * read, and the order of the work.
 *
 * A class is a set of output positions that use the same kernel taps.  Forward
 * has one class.  A data gradient has s[0] s[1] s[2], because each position of
 * dx uses only every s-th tap.  A class is divided into tiles of positions,
 * image after image.  A job is a block of tiles by a range of output channels.
 */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/direct.h"
#include "backend/cpu/direct_kernels.h"
#include "base/number.h"

/*
 * One axis of a class.  Its position j is output position ${first} + j ${next}.
 * Its tap i is tap ${tap} + i ${every} of the kernel, and reads input position
 * j ${step} + ${at} + i ${turn}.
 */
struct direct_axis {
	int positions, first, next;
	int taps, tap, every;
	int step, at, turn;
};

struct direct_class {
	struct direct_axis a[3];	/* t, h, w */
	int positions, taps, units;	/* positions of all clips; taps and
					 * units of each */
	size_t weights;			/* offset of its packed weights, in
					 * floats */
};

struct direct_tile {
	int n;				/* positions; the last tile may have
					 * fewer */
	float *to[DIRECT_ROWS_MAX];
	long from[DIRECT_ROWS_MAX];	/* input offset of tap 0, perhaps
					 * outside */
	int at[DIRECT_ROWS_MAX][3];
	const float *x;			/* input of the current units, gathered
					 * or in place */
	size_t step;
};

static int
direct_slices_of(const struct direct *g)
{
	return div_up(cpu_blocks(g->out.c), 2);
}

/* ---- classes ---- */

static int
direct_classes_of(const struct direct *g)
{
	return g->back ? g->s[0] * g->s[1] * g->s[2] : 1;
}

static struct direct_axis
direct_axis_of(const struct direct *g, int i, int r)
{
	const int out[3] = { g->out.t, g->out.h, g->out.w };
	int k = g->k[i], s = g->s[i], p = g->p[i], tap = (r + p) % s;

	if (!g->back)
		return (struct direct_axis){ .positions = out[i], .next = 1,
		    .taps = k,
			.every = 1, .step = s, .at = -p, .turn = 1 };
	return (struct direct_axis){ .positions = r < out[i] ?
	    div_up(out[i] - r, s) : 0,
		.first = r, .next = s, .taps = tap < k ? div_up(k - tap, s) : 0,
		.tap = tap, .every = s, .step = 1, .at = (r + p - tap) / s,
		.turn = -1 };
}

static struct direct_class
direct_class_of(const struct direct *g, int class)
{
	struct direct_class c = { .positions = g->out.n, .taps = 1 };

	for (int i = 2; i >= 0; i--) {
		c.a[i] = direct_axis_of(g, i, g->back ? class % g->s[i] : 0);
		class /= g->back ? g->s[i] : 1;
		c.positions *= c.a[i].positions;
		c.taps *= c.a[i].taps;
	}
	c.units = c.taps * cpu_blocks(g->in.c);
	return c;
}

/* Return class ${next}, which comes after ${c}, and whose weights follow. */
static struct direct_class
direct_class_after(const struct direct *g, const struct direct_class *c,
    int next)
{
	struct direct_class n = direct_class_of(g, next);

	n.weights = c->weights + (size_t)c->units * cpu_lanes() *
	    cpu_padded(g->out.c);
	return n;
}

static int
direct_tiles_of(const struct direct_class *c)
{
	return div_up(c->positions, direct_kernels_pick()->rows);
}

/* ---- splitting ---- */

#define UNITS 32		/* units of a tile per round over the tiles */

/*
 * Store outputs of at least this many bytes past the caches.  A thread then
 * writes 17 GB/s instead of 6, and reading them again is not slower.  A vector
 * of half a cache line is not streamed if another class writes the other half.
 */
#define STREAMED ((size_t)4 << 20)

/*
 * Return 1 if axis ${i} has one tap, no stride and no padding.  Such axes merge
 * with their neighbors, because consecutive positions stay consecutive.  Fewer
 * axes make the loops shorter.
 */
static int
direct_is_plain(const struct direct *g, int i)
{
	return g->k[i] == 1 && g->s[i] == 1 && g->p[i] == 0;
}

static void
direct_join_axes(struct direct *g)
{
	if (direct_is_plain(g, 0)) {
		g->in.n *= g->in.t;
		g->out.n *= g->out.t;
		g->in.t = g->out.t = 1;
	}
	if (direct_is_plain(g, 1) && direct_is_plain(g, 2)) {
		g->in.w *= g->in.h;
		g->out.w *= g->out.h;
		g->in.h = g->out.h = 1;
	}
}

/*
 * A job has at most 28 tiles, whose input stays in the cache next to the
 * weights of two output blocks.  It has at least 14 tiles, enough to pay for
 * loading weights from far away.  If that makes few jobs, each gets a range of
 * output channels only.
 */
void
direct_split(struct direct *g, int threads)
{
	int all = 0, runs = 0, slices = direct_slices_of(g), want = 4 * threads;

	direct_join_axes(g);
	for (int i = 0; i < direct_classes_of(g); i++) {
		struct direct_class c = direct_class_of(g, i);

		all += direct_tiles_of(&c);
	}
	g->tiles = div_up(all, want) < 14 ? 14 : div_up(all, want) > 28 ? 28 :
	    div_up(all, want);
	for (int i = 0; i < direct_classes_of(g); i++) {
		struct direct_class c = direct_class_of(g, i);

		runs += div_up(direct_tiles_of(&c), g->tiles);
	}
	g->windows = runs < want ? div_up(want, runs) : 1;
	g->windows = g->windows < slices ? g->windows : slices;
	g->panels = div_up(slices, g->windows);
	g->windows = div_up(slices, g->panels);
	g->jobs = runs * g->windows;
	assert(g->tiles > 0 && g->panels > 0 && g->jobs > 0);
	g->stream = cpu_blocked_image(&g->out) * (size_t)cpu_images(&g->out) *
	    sizeof(float) >= STREAMED &&
	    (cpu_lanes() == 16 || !g->back || g->s[2] == 1);
}

size_t
direct_weights(const struct direct *g)
{
	return (size_t)(g->k[0] * g->k[1] * g->k[2]) * cpu_padded(g->in.c) *
	    cpu_padded(g->out.c) * sizeof(float);
}

/* Floats that a tile gathers for one round of UNITS units. */
static size_t
direct_gathered_floats(void)
{
	return (size_t)UNITS * direct_kernels_pick()->rows * cpu_lanes();
}

size_t
direct_scratch(const struct direct *g)
{
	return (direct_gathered_floats() * sizeof(float) +
	    sizeof(struct direct_tile)) * (size_t)g->tiles;
}

/* ---- weights ---- */

int
direct_slices(const struct direct *g)
{
	return direct_slices_of(g);
}

/* Return the kernel tap that tap ${t} of a class is. */
static int
direct_tap_of(const struct direct *g, const struct direct_class *c, int t)
{
	const struct direct_axis *a = c->a;
	const int i[3] = { t / a[2].taps / a[1].taps,
		t / a[2].taps % a[1].taps, t % a[2].taps };
	int tap = 0;

	for (int j = 0; j < 3; j++)
		tap = tap * g->k[j] + a[j].tap + i[j] * a[j].every;
	return tap;
}

/*
 * Pack one tap: from a block of input channels at ${from}, to ${wide} blocks of
 * output channels at ${to}.
 */
static void
direct_order_block(const struct direct *g, const float *outer, float *inner,
    int from, int to, int wide)
{
	int lanes = cpu_lanes(), row = wide * lanes;
	int n = g->in.c - from < lanes ? g->in.c - from : lanes;
	int m = g->out.c - to < row ? g->out.c - to : row;
	size_t in = (size_t)g->in_step, out = (size_t)g->out_step;

	outer += in * (size_t)from + out * (size_t)to;
	if (n < lanes || m < row)
		memset(inner, 0, (size_t)(lanes * row) * sizeof(*inner));
	if (out == 1) {
		for (int i = 0; i < n; i++, outer += in, inner += row)
			memcpy(inner, outer, (size_t)m * sizeof(*inner));
		return;
	}
	if (in == 1 && n == lanes && m == row) {
		for (int o = 0; o < row; o += lanes)
			direct_kernels_pick()->transpose(inner + o, (size_t)row,
			    outer + out * (size_t)o, out);
		return;
	}
	for (int o = 0; o < m; o++, outer += out, inner++)
		for (int i = 0; i < n; i++)
			inner[i * row] = outer[in * (size_t)i];
}

void
direct_pack(const void *state, int slice, const struct conv_buffers *o)
{
	const struct direct *g = state;
	int lanes = cpu_lanes(), blocks = cpu_blocks(g->in.c);
	int row = cpu_blocks(g->out.c) - 2 * slice > 1 ? 2 * lanes : lanes;
	struct direct_class c = { 0 };

	for (int i = 0; i < direct_classes_of(g); i++) {
		float *to;

		c = direct_class_after(g, &c, i);
		to = (float *)o->w + c.weights + (size_t)(c.units * lanes * 2 *
		    lanes) * (size_t)slice;
		for (int t = 0; t < c.taps; t++)
			for (int b = 0; b < blocks; b++, to += lanes * row)
				direct_order_block(g,
				    o->weights + direct_tap_of(g, &c, t), to,
				    b * lanes, slice * 2 * lanes, row / lanes);
	}
}

/* ---- running a job ---- */

/* A job: some tiles of a class. */
struct direct_job {
	const struct direct *g;
	const struct conv_buffers *o;
	struct direct_class c;
	struct direct_tile *tile;	/* [tiles] */
	int tiles;
};

/*
 * Fill in the tiles, from number ${from} of their class, row by row of its
 * positions.
 */
static void
direct_place_tiles(const struct direct_job *d, int from)
{
	const struct direct *g = d->g;
	const struct direct_class *c = &d->c;
	const struct direct_axis *t = &c->a[0], *h = &c->a[1], *w = &c->a[2];
	struct direct_tile *tile = d->tile;
	int to = from + d->tiles;
	int rows = direct_kernels_pick()->rows, lanes = cpu_lanes();
	int i = from * rows, end = to * rows < c->positions ? to * rows :
	    c->positions;
	int row = i / w->positions, x = i % w->positions, r = 0;

	for (; i < end; row++, x = 0) {
		int frame = row / h->positions, clip = frame / t->positions;
		int at_t = frame % t->positions, at_h = row % h->positions;
		float *y = (float *)d->o->out +
		    (long)cpu_blocked_image(&g->out) *
		    (clip * g->out.t + t->first + at_t * t->next) +
		    ((long)(h->first + at_h * h->next) * g->out.w + w->first) *
		    lanes;
		long in;

		at_t = at_t * t->step + t->at;
		at_h = at_h * h->step + h->at;
		in = (long)cpu_blocked_image(&g->in) * (clip * g->in.t + at_t) +
		    (long)at_h * g->in.w * lanes;
		for (; x < w->positions && i < end; x++, i++) {
			int at_w = x * w->step + w->at;

			tile->to[r] = y + (long)x * w->next * lanes;
			tile->from[r] = in + (long)at_w * lanes;
			tile->at[r][0] = at_t;
			tile->at[r][1] = at_h;
			tile->at[r][2] = at_w;
			tile->n = ++r;
			if (r == rows) {
				tile++;
				r = 0;
			}
		}
	}
}

/*
 * Set ${from}[r] to the input of each position of a tile for one tap, or to
 * NULL outside of the input.
 */
static void
direct_find(const struct direct_job *d, const struct direct_tile *tile,
    int tap, const float **from)
{
	const struct direct *g = d->g;
	const struct direct_class *c = &d->c;
	const struct direct_axis *t = &c->a[0], *h = &c->a[1], *w = &c->a[2];
	int a[3] = { tap / w->taps / h->taps * t->turn,
		tap / w->taps % h->taps * h->turn, tap % w->taps * w->turn };
	long more = (long)cpu_blocked_image(&g->in) * a[0] +
	    ((long)a[1] * g->in.w + a[2]) * cpu_lanes();

	for (int r = 0; r < tile->n; r++) {
		const int *at = tile->at[r];
		int inside = (unsigned)(at[0] + a[0]) < (unsigned)g->in.t &&
		    (unsigned)(at[1] + a[1]) < (unsigned)g->in.h &&
		    (unsigned)(at[2] + a[2]) < (unsigned)g->in.w;

		from[r] = inside ? (const float *)d->o->in + tile->from[r] +
		    more : NULL;
	}
}

/*
 * Set the input of a tile for units ${u} to ${end}.  If its positions are
 * contiguous and no axis has taps, use the input in place; otherwise gather it
 * into ${to}.
 */
static void
direct_gather_units(const struct direct_job *d, struct direct_tile *tile, int u,
    int end, float *to)
{
	const struct direct *g = d->g;
	const struct direct_kernels *k = direct_kernels_pick();
	size_t plane = cpu_positions(&g->in) * (size_t)cpu_lanes();
	int blocks = cpu_blocks(g->in.c), lanes = cpu_lanes(), n;
	const float *from[DIRECT_ROWS_MAX];

	if (direct_is_plain(g, 0) && direct_is_plain(g, 1) &&
	    direct_is_plain(g, 2) && tile->n == k->rows &&
	    tile->from[k->rows - 1] - tile->from[0] == (k->rows - 1) *
	    (long)lanes) {
		tile->x = (const float *)d->o->in + tile->from[0] +
		    plane * (size_t)u;
		tile->step = plane;
		return;
	}
	tile->x = to;
	tile->step = (size_t)k->rows * lanes;
	for (; u < end; u += n, to += tile->step * (size_t)n) {
		n = blocks - u % blocks < end - u ? blocks - u % blocks :
		    end - u;
		direct_find(d, tile, u / blocks, from);
		for (int r = 0; r < tile->n; r++)
			if (from[r] != NULL)
				from[r] += plane * (size_t)(u % blocks);
		k->gather(to, from, tile->n, plane, n);
	}
}

/*
 * Run the kernel over the tiles, for one pair of output blocks and some units.
 */
static void
direct_panel(const struct direct_job *d, int slice, int u, int end, int how)
{
	const struct direct *g = d->g;
	const struct direct_tile *tile = d->tile;
	const struct direct_kernels *k = direct_kernels_pick();
	int lanes = cpu_lanes(), first = slice * 2 * lanes;
	int wide = cpu_blocks(g->out.c) - slice * 2 > 1 ? 2 : 1;
	size_t plane = cpu_positions(&g->out) * (size_t)lanes;
	float start[2 * LANES_MAX] __attribute__((aligned(64))) = { 0 };
	const float *w = (const float *)d->o->w + d->c.weights +
	    (size_t)d->c.units * lanes * 2 * lanes * slice +
	    (size_t)u * lanes * wide * lanes;

	for (int o = 0; d->o->bias != NULL && o < 2 * lanes &&
	    first + o < g->out.c; o++)
		start[o] = d->o->bias[first + o];
	for (int i = 0; i < d->tiles; i++)
		k->product(tile[i].to, plane * 2 * (size_t)slice, tile[i].n,
		    plane, wide, tile[i].x, tile[i].step,
		    tile[i + 1 < d->tiles ? i + 1 : 0].x, w, end - u, start,
		    how);
}

void
direct_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct direct *g = state;
	struct direct_job d = { .g = g, .o = o, .c = direct_class_of(g, 0),
		.tile = (struct direct_tile *)((float *)o->scratch +
		    direct_gathered_floats() * (size_t)g->tiles) };
	const struct direct_class *c = &d.c;
	int slices = direct_slices_of(g), window = job % g->windows, from, end;

	job /= g->windows;
	for (int i = 1; job >= div_up(direct_tiles_of(c), g->tiles); i++) {
		job -= div_up(direct_tiles_of(c), g->tiles);
		d.c = direct_class_after(g, c, i);
	}
	from = job * g->tiles;
	d.tiles = direct_tiles_of(c) - from;
	d.tiles = d.tiles < g->tiles ? d.tiles : g->tiles;
	direct_place_tiles(&d, from);
	if (o->more && c->units == 0)	/* no tap reads anything */
		return;
	/*
	 * Go in rounds of UNITS units.  The gathered input of a round stays in
	 * the cache for all output blocks; sums wait in the output between
	 * rounds.  Without units, one round writes the bias or zeros.
	 */
	for (int u = 0; u < c->units || u == 0; u = end) {
		end = u + UNITS < c->units ? u + UNITS : c->units;
		for (int i = 0; i < d.tiles; i++)
			direct_gather_units(&d, &d.tile[i], u, end,
			    (float *)o->scratch + direct_gathered_floats() *
			    (size_t)i);
		for (int s = window * g->panels; s < slices &&
		    s < (window + 1) * g->panels; s++)
			direct_panel(&d, s, u, end, o->more || u > 0 ?
			    DIRECT_MORE : end == c->units && g->stream ?
			    DIRECT_STREAM : 0);
		if (c->units == 0)
			break;
	}
	if (g->stream)
		direct_kernels_pick()->streamed();
}
