/*
 * The memory of a pass of normalization, and the location of its rows in
 * unshifted and shifted activations.
 */
#include <string.h>

#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"

enum {
	PIECE = 65536,			/* bytes of x per job */
	CHUNK = 8192			/* bytes of rows that stay in L1 between
					 * their computation and their copy */
};

/* ---- layout ---- */

static size_t
norm_pass_rows_of(const struct norm_pass *s, size_t bytes)
{
	size_t rows = bytes / ((size_t)s->row * s->size);

	rows = rows > 0 ? rows : 1;
	return rows < s->hw ? rows : s->hw;
}

static struct norm_source
norm_pass_source_of(const struct norm_pass *s, const struct task *shift)
{
	struct norm_source l = { .x = shift->y, .shift = shift,
		.moved = 2 * (shift->out.c / shift->op->shift.fold) };

	l.ranges = cpu_shift_ranges(shift, s->row, l.range);
	return l;
}

/* Return a pass of ${t} without its memory. */
static struct norm_pass
norm_pass_layout(const struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &n->bn->out;
	struct norm_pass s = { .n = n, .bn = n->bn, .d = d,
		.k = norm_kernels_pick(), .size = sizeof(float),
		.lanes = cpu_lanes(), .whole = cpu_lanes(), .row = cpu_padded(
		d->c), .images = cpu_images(d), .width = cpu_lanes(),
		.stream = 1, .hw = cpu_positions(d), .rows = cpu_positions(d) };

	s.half = cpu_of(t)->half != NULL && bf16_is(d);
	if (s.half) {
		s.k = norm_bf16_kernels_pick();
		s.size = sizeof(bf16);
		s.lanes = 16;
		s.whole = 32;
		s.row = s.width = bf16_row(d);
		s.stream = s.row % 32 == 0;
		s.rows = norm_pass_rows_of(&s, PIECE);
	}
	s.blocks = s.row / s.width;
	s.cuts = (int)((s.hw + s.rows - 1) / s.rows);
	s.pieces = s.images * s.cuts * s.blocks;
	s.chunk = s.rows;
	if (n->shift != NULL) {
		s.shifted = norm_pass_source_of(&s, n->shift);
		if (s.half && !norm_whole_blocks(n->shift, s.whole))
			s.chunk = norm_pass_rows_of(&s, CHUNK);
	}
	return s;
}

/*
 * Return the index of channel ${c} at position ${place} of image ${image} in an
 * activation of ${row} channels.
 */
static size_t
norm_pass_index(const struct norm_pass *s, int row, int image, size_t place,
    int c)
{
	int width = s->half ? row : s->width;

	return (size_t)image * s->hw * (size_t)row + ((size_t)(c / width) *
	    s->hw + place) * (size_t)width + (size_t)(c % width);
}

/* ---- memory ---- */

/*
 * Mean and 1 / std of each channel.  A frozen norm saves none, because its
 * parameters hold them.
 */
static size_t
norm_pass_statistics_bytes(const struct norm_pass *s)
{
	return s->bn->needs_weight_grad ? 2 * (size_t)s->row * sizeof(float) :
	    0;
}

static size_t
norm_pass_dropped_bytes(const struct norm_pass *s)
{
	const struct norm *n = s->n;

	return n->shift == NULL || n->tail->materialized ||
	    !norm_whole_blocks(n->shift, s->whole) ? 0 : (size_t)s->d->n *
	    s->hw * (size_t)s->shifted.moved * s->size;
}

/* Saved: statistics, then dropped rows, then the mask. */
size_t
norm_saved(const struct task *t)
{
	struct norm_pass s = norm_pass_layout(t);

	return norm_pass_statistics_bytes(&s) + norm_pass_dropped_bytes(&s) +
	    (!s.n->saves_mask ? 0 : (size_t)s.images * s.hw * (size_t)s.row /
	    (size_t)s.lanes * sizeof(uint16_t));
}

/*
 * Scratch: two rows per piece, five rows of the pass, the numbers that ranks
 * exchange, a row of zeros, and a chunk per thread.
 */
size_t
norm_scratch(const struct task *t)
{
	struct norm_pass s = norm_pass_layout(t);
	size_t row = (size_t)s.row;

	return (2 * (size_t)(s.images * s.cuts) + 5) * row * sizeof(float) +
	    peers_bytes(t) + row * s.size + (s.n->shift == NULL ||
	    norm_whole_blocks(s.n->shift, s.whole) ? 0 : (size_t)pool_threads(
	    cpu_of(t)->pool) * 2 * s.chunk * (size_t)s.width * s.size);
}

struct norm_pass
norm_open(struct task *t)
{
	struct norm_pass s = norm_pass_layout(t);
	const struct norm *n = s.n;
	size_t row = (size_t)s.row, all = (size_t)(s.images * s.cuts) * row;
	size_t statistics = norm_pass_statistics_bytes(&s);
	size_t dropped = norm_pass_dropped_bytes(&s);

	s.mask = n->saves_mask ? (uint16_t *)((char *)t->saved + statistics +
	    dropped) : NULL;
	s.p = t->scratch;
	s.q = s.p + all;
	s.scale = s.q + all;
	s.offset = s.scale + row;
	s.a = s.offset + row;
	s.b = s.a + row;
	s.c = s.b + row;
	s.sync = (double *)(s.c + row);
	s.zeros = (char *)s.sync + peers_bytes(n->bn);
	s.work = s.zeros + row * s.size;
	memset(s.scale, 0, (size_t)((char *)s.sync - (char *)s.scale));
	memset(s.zeros, 0, row * s.size);
	/*
	 * A frozen norm has c = 0, which serves as the mean in the sums kernel.
	 */
	s.mean = n->bn->needs_weight_grad ? t->saved : s.c;
	s.rstd = n->bn->needs_weight_grad ? s.mean + row : NULL;
	if (dropped > 0)
		s.shifted.dropped = (char *)t->saved + statistics;
	if (n->shortcut_home != NULL) {
		struct norm_pass from = norm_pass_layout(n->shortcut_home);

		s.res = from.shifted;
		s.res.dropped = (char *)n->shortcut_home->saved +
		    norm_pass_statistics_bytes(&from);
	} else if (n->add != NULL) {
		s.res.x = n->add->x[n->res];
	}
	return s;
}

/* ---- rows ---- */

struct norm_rows
norm_piece(const struct norm_pass *s, int i)
{
	int block = i % s->blocks, cut = i / s->blocks;
	struct norm_rows p = { cut / s->cuts, (size_t)(cut % s->cuts) * s->rows,
		s->rows, block * s->width, (block + 1) * s->width,
		(size_t)i * (size_t)s->width };

	if (p.first + p.rows > s->hw)
		p.rows = s->hw - p.first;
	return p;
}

struct norm_rows
norm_last_piece(const struct norm_pass *s, int i)
{
	int block = i % s->blocks;

	return norm_piece(s, s->pieces - s->blocks - (i - block) + block);
}

int
norm_next_chunk(const struct norm_pass *s, const struct norm_rows *whole,
    struct norm_rows *p)
{
	size_t end = whole->first + whole->rows, first = p->first + p->rows;

	if (p->rows == 0)
		first = whole->first;
	*p = *whole;
	p->first = first;
	p->rows = first + s->chunk < end ? s->chunk : end - first;
	return p->rows > 0;
}

void *
norm_rows_at(const struct norm_pass *s, const void *x,
    const struct norm_rows *p)
{
	return (char *)x + norm_pass_index(s, s->row, p->image, p->first,
	    p->from) * s->size;
}

uint16_t *
norm_mask_at(const struct norm_pass *s, const struct norm_rows *p)
{
	return s->mask == NULL ? NULL : s->mask + norm_pass_index(s, s->row,
	    p->image, p->first, p->from) / (size_t)s->lanes;
}

void *
norm_work(const struct norm_pass *s, int thread)
{
	return s->work + (size_t)thread * 2 * s->chunk * (size_t)s->width *
	    s->size;
}

int
norm_in_place(const struct norm_pass *s, const struct norm_rows *p)
{
	for (int i = 0; i < s->shifted.ranges; i++) {
		int to = s->shifted.range[i].to;

		if (to > p->from && to < p->to && to % s->whole != 0)
			return 0;
	}
	return 1;
}

/*
 * Find the rows ${to} that range ${r} of the rows ${p} moves to, or comes from
 * if ${sign} is -1, and return 1.
 * If the shift drops them, return 0 and set ${to} to the rows at the other end
 * of the clip, to which nothing moves.  ${to} gets the channels of ${r} only,
 * perhaps none.
 */
static int
norm_pass_moved(const struct norm_pass *s, const struct norm_rows *p,
    const struct cpu_shift_range *r, int sign, struct norm_rows *to)
{
	int t = s->d->t, by = sign * r->by, frame = p->image % t - by;
	int lost = frame < 0 || frame >= t;

	*to = *p;
	to->image += lost ? by * (t - 1) : -by;
	to->from = r->from > p->from ? r->from : p->from;
	to->to = r->to < p->to ? r->to : p->to;
	return !lost;
}

void *
norm_window(const struct norm_pass *s, const struct norm_source *l,
    const struct norm_rows *p, int c, size_t *row, int *end)
{
	const struct cpu_shift_range *r = l->range;
	struct norm_rows to = *p;

	*row = (size_t)s->width;
	to.from = c;
	if (l->shift == NULL)
		return norm_rows_at(s, l->x, &to);
	for (; r->to <= c; r++)
		;
	*end = r->to < *end ? r->to : *end;
	if (norm_pass_moved(s, &to, r, 1, &to))
		return norm_rows_at(s, l->x, &to);
	if (l->dropped == NULL)
		return NULL;
	if (s->half)
		*row = (size_t)l->moved;
	return (char *)l->dropped + norm_pass_index(s, l->moved, p->image /
	    s->d->t, p->first, c) * s->size;
}

/*
 * Copy the channels of ${p} of its rows, or clear them if ${from} is NULL.
 */
static void
norm_pass_copy(const struct norm_pass *s, const struct norm_rows *p, char *to,
    const char *from)
{
	size_t n = (size_t)(p->to - p->from) * s->size;

	for (size_t i = 0; i < p->rows; i++) {
		size_t at = i * (size_t)s->width * s->size;

		if (from == NULL)
			memset(to + at, 0, n);
		else
			memcpy(to + at, from + at, n);
	}
}

void
norm_scatter(const struct norm_pass *s, const struct norm_rows *p,
    const void *y)
{
	struct norm_rows to;

	for (int i = 0; i < s->shifted.ranges; i++) {
		int kept = norm_pass_moved(s, p, &s->shifted.range[i], 1, &to);

		if (to.from < to.to && (!kept || y != NULL))
			norm_pass_copy(s, &to, norm_rows_at(s, s->shifted.x,
			    &to), kept ? (const char *)y + (size_t)(to.from -
			    p->from) * s->size : NULL);
	}
}

unsigned
norm_gather(const struct norm_pass *s, const struct norm_rows *p,
    const struct norm_source *l, int sign, void *to)
{
	const float *zeros = (const float *)s->zeros;
	struct norm_mix m = { .from = { zeros, zeros, zeros } };
	unsigned lanes = 0;
	int end = p->to;

	for (int i = 0, k = 0; i < s->shifted.ranges; i++) {
		struct norm_rows from;
		int kept = norm_pass_moved(s, p, &s->shifted.range[i], sign,
		    &from), at = from.from - p->from;

		if (from.from >= from.to || (!s->half && !kept))
			continue;
		if (s->half) {
			norm_pass_copy(s, &from, (char *)to + (size_t)at *
			    s->size, !kept ? NULL : norm_rows_at(s, l->x,
			    &from));
			continue;
		}
		for (; at < from.to - p->from; at++) {
			m.lane[k][at] = -1;
			lanes |= 1u << at;
		}
		from.from = p->from;
		m.from[k] = norm_window(s, l, &from, p->from, &m.row[k], &end);
		k++;
	}
	if (!s->half)
		s->k->mix(to, &m, p->rows);
	return lanes;
}
