/*
 * The memory of a pass of bf16 normalization, and the location of its rows in
 * unshifted and shifted activations.
 */
#include <string.h>

#include "backend/cpu/bf16/norm_rows.h"
#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"

enum {
	PIECE = 65536,			/* bytes of x per job */
	CHUNK = 8192			/* bytes of rows that stay in L1 between
					 * their computation and their copy */
};

static size_t
bf16_norm_rows_of(const struct dims *d, size_t bytes)
{
	size_t rows = bytes / ((size_t)bf16_row(d) * sizeof(bf16));

	rows = rows > 0 ? rows : 1;
	return rows < cpu_positions(d) ? rows : cpu_positions(d);
}

static int
bf16_norm_cuts_of(const struct dims *d)
{
	size_t rows = bf16_norm_rows_of(d, PIECE);

	return (int)((cpu_positions(d) + rows - 1) / rows);
}

/* ---- memory ---- */

static struct bf16_source
bf16_norm_source_of(const struct task *shift, const void *x, int row)
{
	struct bf16_source l = { .x = x, .shift = shift };

	l.ranges = bf16_ranges(shift, row, l.range);
	for (int i = 0; i < l.ranges; i++)
		if (l.range[i].by != 0)
			l.moved += l.range[i].to - l.range[i].from;
	return l;
}

static size_t
bf16_norm_side_bytes(const struct norm *n)
{
	const struct dims *d = &n->bn->out;

	return n->shift == NULL || n->tail->materialized ||
	    !norm_whole_blocks(n->shift, 32) ? 0 : (size_t)d->n *
	    cpu_positions(d) * (size_t)bf16_norm_source_of(n->shift, NULL,
	    bf16_row(d)).moved * sizeof(bf16);
}

/*
 * Mean and 1 / std of each channel.  A frozen norm saves none, because its
 * parameters hold them.
 */
static size_t
bf16_norm_statistics_bytes(const struct norm *n)
{
	return n->bn->needs_weight_grad ? 2 * (size_t)bf16_row(&n->bn->out) *
	    sizeof(float) : 0;
}

/* Saved: statistics, then dropped rows, then the mask. */
size_t
bf16_norm_saved(const struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &t->out;

	return bf16_norm_statistics_bytes(n) + bf16_norm_side_bytes(n) +
	    (n->saves_mask ? (size_t)cpu_images(d) * bf16_image(d) / 16 *
	    sizeof(uint16_t) : 0);
}

static bf16 *
bf16_norm_sides(const struct task *t)
{
	return (bf16 *)((char *)t->saved + bf16_norm_statistics_bytes(t->priv));
}

/*
 * Scratch: two rows per piece, five rows of the pass, the numbers that ranks
 * exchange, a row of zeros, and a chunk per thread.
 */
size_t
bf16_norm_scratch(const struct task *t)
{
	const struct dims *d = &t->out;
	size_t row = (size_t)bf16_row(d),
	    pieces = (size_t)bf16_norm_cuts_of(d) * (size_t)cpu_images(d);

	return (2 * pieces + 5) * row * sizeof(float) + peers_bytes(t) +
	    row * sizeof(bf16) + (size_t)pool_threads(cpu_of(t)->pool) *
	    bf16_norm_rows_of(d, CHUNK) * row * sizeof(bf16);
}

struct bf16_pass
bf16_norm_open(struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &n->bn->out;
	struct bf16_pass s = { .n = n, .bn = n->bn, .d = d,
		.k = bf16_norm_kernels_pick(), .row = bf16_row(d),
		.images = cpu_images(d), .cuts = bf16_norm_cuts_of(d),
		.stream = bf16_row(d) % 32 == 0, .hw = cpu_positions(d),
		.rows = bf16_norm_rows_of(d, PIECE),
		.chunk = bf16_norm_rows_of(d, PIECE) };
	size_t all = (size_t)s.cuts * (size_t)s.images * (size_t)s.row;

	s.mask = n->saves_mask ? (uint16_t *)((char *)bf16_norm_sides(t) +
	    bf16_norm_side_bytes(n)) : NULL;
	s.p = t->scratch;
	s.q = s.p + all;
	s.scale = s.q + all;
	s.offset = s.scale + s.row;
	s.a = s.offset + s.row;
	s.b = s.a + s.row;
	s.c = s.b + s.row;
	s.sync = (double *)(s.c + s.row);
	s.zeros = (bf16 *)((char *)s.sync + peers_bytes(n->bn));
	s.work = s.zeros + s.row;
	/*
	 * A frozen norm has c = 0, which serves as the mean in the sums kernel.
	 */
	s.mean = n->bn->needs_weight_grad ? t->saved : s.c;
	s.rstd = n->bn->needs_weight_grad ? s.mean + s.row : NULL;
	if (n->shift != NULL) {
		s.windows = norm_whole_blocks(n->shift, 32);
		if (!s.windows)
			s.chunk = bf16_norm_rows_of(d, CHUNK);
		s.shifted = bf16_norm_source_of(n->shift, n->shift->y, s.row);
		s.shifted.dropped = bf16_norm_side_bytes(n) > 0 ?
		    bf16_norm_sides(t) : NULL;
	}
	if (n->shortcut_home != NULL) {
		const struct norm *from = n->shortcut_home->priv;

		s.res = bf16_norm_source_of(from->shift, from->shift->y, s.row);
		s.res.dropped = bf16_norm_sides(n->shortcut_home);
	} else if (n->add != NULL) {
		s.res.x = n->add->x[n->res];
	}
	return s;
}

/* ---- rows ---- */

struct bf16_rows
bf16_piece(const struct bf16_pass *s, int i)
{
	struct bf16_rows p = { i / s->cuts, (size_t)(i % s->cuts) * s->rows,
		s->rows };

	if (p.first + p.rows > s->hw)
		p.rows = s->hw - p.first;
	return p;
}

int
bf16_next_chunk(const struct bf16_pass *s, const struct bf16_rows *whole,
    struct bf16_rows *p)
{
	size_t end = whole->first + whole->rows;

	if (p->rows == 0)
		*p = (struct bf16_rows){ whole->image, whole->first, 0 };
	p->first += p->rows;
	p->rows = p->first + s->chunk < end ? s->chunk : end - p->first;
	return p->rows > 0;
}

bf16 *
bf16_rows_at(const struct bf16_pass *s, const void *x,
    const struct bf16_rows *p)
{
	return bf16_at(s->d, x, p->image, p->first);
}

uint16_t *
bf16_mask_at(const struct bf16_pass *s, const struct bf16_rows *p)
{
	return s->mask == NULL ? NULL : s->mask + ((size_t)p->image * s->hw +
	    p->first) * (size_t)(s->row / 16);
}

bf16 *
bf16_work(const struct bf16_pass *s, int thread)
{
	return s->work + (size_t)thread * s->chunk * (size_t)s->row;
}

/*
 * Find the rows ${to} that range ${r} of the rows ${p} moves to, and return 1.
 * If the shift drops them, return 0 and set ${to} to the rows at the other end
 * of the clip, to which nothing moves.
 */
static int
bf16_norm_moved_rows(const struct bf16_pass *s, const struct bf16_rows *p,
    const struct bf16_range *r, struct bf16_rows *to)
{
	int t = s->d->t, frame = p->image % t - r->by;
	int lost = frame < 0 || frame >= t;

	*to = *p;
	to->image += lost ? r->by * (t - 1) : -r->by;
	return !lost;
}

bf16 *
bf16_window(const struct bf16_pass *s, const struct bf16_source *l,
    const struct bf16_rows *p, int c, size_t *row, int *end)
{
	const struct bf16_range *r = l->range;
	struct bf16_rows to;
	size_t before = 0, wide = (size_t)l->moved;

	*row = (size_t)s->row;
	if (l->shift == NULL)
		return bf16_rows_at(s, l->x, p) + c;
	for (; r->to <= c; r++)
		if (r->by != 0)
			before += (size_t)(r->to - r->from);
	*end = r->to < *end ? r->to : *end;
	if (bf16_norm_moved_rows(s, p, r, &to))
		return bf16_rows_at(s, l->x, &to) + c;
	if (l->dropped == NULL)
		return NULL;
	*row = wide;
	return l->dropped + ((size_t)(p->image / s->d->t) * s->hw + p->first) *
	    wide + before + (size_t)(c - r->from);
}

/* Copy a range of channels of ${rows} rows, or clear it if ${from} is NULL. */
static void
bf16_norm_copy_range(const struct bf16_pass *s, const struct bf16_range *r,
    size_t rows, bf16 *to, const bf16 *from)
{
	size_t n = (size_t)(r->to - r->from) * sizeof(*to);

	for (size_t i = 0; i < rows; i++) {
		size_t at = i * (size_t)s->row + (size_t)r->from;

		if (from == NULL)
			memset(to + at, 0, n);
		else
			memcpy(to + at, from + at, n);
	}
}

void
bf16_clear_ends(const struct bf16_pass *s, const struct bf16_rows *p)
{
	struct bf16_rows to;

	for (int i = 0; i < s->shifted.ranges; i++)
		if (!bf16_norm_moved_rows(s, p, &s->shifted.range[i], &to))
			bf16_norm_copy_range(s, &s->shifted.range[i], p->rows,
			    bf16_rows_at(s, s->shifted.x, &to), NULL);
}

void
bf16_scatter(const struct bf16_pass *s, const struct bf16_rows *p,
    const bf16 *y)
{
	for (int i = 0; i < s->shifted.ranges; i++) {
		const struct bf16_range *r = &s->shifted.range[i];
		struct bf16_rows to;
		int kept = bf16_norm_moved_rows(s, p, r, &to);

		bf16_norm_copy_range(s, r, p->rows,
		    bf16_rows_at(s, s->shifted.x, &to), kept ? y : NULL);
	}
}

void
bf16_gather(const struct bf16_pass *s, const struct bf16_rows *p, bf16 *to)
{
	for (int i = 0; i < s->shifted.ranges; i++) {
		const struct bf16_range *r = &s->shifted.range[i];
		struct bf16_rows from;
		int kept = bf16_norm_moved_rows(s, p, r, &from);

		bf16_norm_copy_range(s, r, p->rows, to, kept ?
		    bf16_rows_at(s, s->n->shift->dy, &from) : NULL);
	}
}
