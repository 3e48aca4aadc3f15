/*
 * Optimizer steps: one launch for all owned shards of parameters, instead of
 * one for each parameter.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/* Elements per block. */
enum { BLOCK = THREADS * FLAT };

/*
 * The blocks of a launch, and the ranges of its buffers that it may touch: from
 * the first to the last element of any shard, in buffers of all parameters
 * (whole) and in buffers of owned elements only (held).
 */
struct cuda_update_range {
	struct over over;
	unsigned blocks;
	struct interval whole, held;
	const void *table;
	size_t bytes;
};

/* Extend ${*s} to contain ${n} elements at ${at}. */
static void
cuda_update_widen(struct interval *s, size_t at, size_t n)
{
	size_t end = s->at + s->n > at + n ? s->at + s->n : at + n;

	if (s->n == 0) {
		*s = (struct interval){ at, n };
		return;
	}
	s->at = at < s->at ? at : s->at;
	s->n = end - s->at;
}

/*
 * Send the shards, with offsets from the beginning of the touched ranges, and
 * behind them the first block of each.
 */
static void
cuda_update_send_shards(struct cuda *c, struct cuda_update_range *a,
    const struct owned_shard *p, size_t shards)
{
	size_t rows = shards * sizeof(*p);
	struct owned_shard *draft =
	    cuda_table_buffer(c,
	    a->bytes = rows + (shards + 1) * sizeof(size_t));
	size_t *first = (size_t *)(draft + shards);

	for (size_t i = 0; i < shards; i++) {
		cuda_update_widen(&a->whole, p[i].at, p[i].n);
		cuda_update_widen(&a->held, p[i].state_at, p[i].n);
	}
	first[0] = 0;
	for (size_t i = 0; i < shards; i++) {
		draft[i] = p[i];
		draft[i].at -= a->whole.at;
		draft[i].state_at -= a->held.at;
		first[i + 1] = first[i] + cuda_pieces(p[i].n, BLOCK);
	}
	a->blocks = (unsigned)first[shards];
	a->table = cuda_table(c, draft, a->bytes);
	a->over.shard = a->table;
	a->over.first = (const size_t *)((const char *)a->table + rows);
	a->over.shards = shards;
}

static struct cuda_update_range
cuda_update_range(struct cuda *c, size_t n, const struct owned_shard *p,
    size_t shards)
{
	struct cuda_update_range a = { .over = { .check = c->check,
		.one = { .n = n, .factor = { 1, 1 } } },
		.blocks = cuda_pieces(n, BLOCK), .whole = { 0, n },
		.held = { 0, n } };

	if (shards > 0) {
		a.whole.n = a.held.n = 0;
		cuda_update_send_shards(c, &a, p, shards);
	}
	return a;
}

/* Declare what all update kernels read. */
static void
cuda_update_reads(struct launch *k, const struct cuda_update_range *a)
{
	cuda_reads(k, a->over.check, sizeof(*a->over.check));
	cuda_reads(k, a->table, a->bytes);
}

/*
 * Declare that a kernel reads range ${s} of a flat buffer, and writes it if
 * ${changes}.  Return the address of the range, or NULL if ${flat} is NULL.
 */
static void *
cuda_update_operand(struct launch *k, const void *flat,
    const struct interval *s, int changes)
{
	void *from = flat != NULL ? (float *)flat + s->at : NULL;

	if (changes)
		cuda_touches(k, from, s->n * sizeof(float), 1);
	else
		cuda_reads(k, from, s->n * sizeof(float));
	return from;
}

/*
 * Return the ratios that the update may read: one more than the largest
 * parameter number.
 */
static size_t
cuda_update_ratios_of(const struct update *u)
{
	size_t n = 1;

	for (size_t i = 0; i < u->shards; i++)
		n = u->shard[i].param >= n ? u->shard[i].param + 1 : n;
	return n;
}

static void
cuda_update(struct device *d, const struct update *u)
{
	struct cuda *c = (struct cuda *)d;
	const struct cuda_update_range a = cuda_update_range(c, u->n,
	    u->shard, u->shards);
	struct stepping s = { *u, a.over };
	struct launch k = CUDA_KERNEL(c, GPU_UPDATE, a.blocks, 1, s);

	cuda_update_reads(&k, &a);
	cuda_reads(&k, u->ratio, cuda_update_ratios_of(u) * sizeof(*u->ratio));
	s.update.g = cuda_update_operand(&k, u->g, &a.whole, 0);
	s.update.w = cuda_update_operand(&k, u->w, &a.whole, 1);
	s.update.m = cuda_update_operand(&k, u->m, &a.held, 1);
	cuda_launch(c, &k);
}

static void
cuda_moments(struct device *d, const struct moments *m)
{
	struct cuda *c = (struct cuda *)d;
	const struct cuda_update_range a = cuda_update_range(c, m->n,
	    m->shard, m->shards);
	struct directing s = { *m, a.over };
	struct launch k = CUDA_KERNEL(c, GPU_MOMENTS, a.blocks, 1, s);

	cuda_update_reads(&k, &a);
	s.moments.w = cuda_update_operand(&k, m->w, &a.whole, 0);
	s.moments.g = cuda_update_operand(&k, m->g, &a.whole, 1);
	s.moments.m = cuda_update_operand(&k, m->m, &a.held, 1);
	s.moments.v = cuda_update_operand(&k, m->v, &a.held, 1);
	cuda_launch(c, &k);
}

static void
cuda_clamp(struct device *d, const struct clamp *l)
{
	struct cuda *c = (struct cuda *)d;
	const struct cuda_update_range a = cuda_update_range(c, l->n,
	    l->shard, l->shards);
	struct clamping s = { *l, a.over };
	struct launch k = CUDA_KERNEL(c, GPU_CLAMP, a.blocks, 1, s);

	cuda_update_reads(&k, &a);
	s.clamp.x = cuda_update_operand(&k, l->x, &a.whole, 1);
	cuda_launch(c, &k);
}

static void
cuda_track(struct device *d, const struct track *t)
{
	struct cuda *c = (struct cuda *)d;
	const struct cuda_update_range a = cuda_update_range(c, t->n,
	    t->shard, t->shards);
	struct tracking s = { *t, a.over };
	struct launch k = CUDA_KERNEL(c, GPU_TRACK, a.blocks, 1, s);

	cuda_update_reads(&k, &a);
	s.track.x = cuda_update_operand(&k, t->x, &a.whole, 0);
	s.track.w = cuda_update_operand(&k, t->w, &a.held, 1);
	cuda_launch(c, &k);
}

const struct param_ops cuda_param = {
	.takes_shards = 1, .add = cuda_accumulate, .update = cuda_update,
	.moments = cuda_moments, .clamp = cuda_clamp, .track = cuda_track,
	.squares = cuda_squares,
};
