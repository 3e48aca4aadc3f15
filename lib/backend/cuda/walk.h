#ifndef BACKEND_CUDA_WALK_H
#define BACKEND_CUDA_WALK_H

/* Iteration over rows and images (args.h), as seen by one thread of a block. */

#include "backend/cuda/args.h"
#include "backend/cuda/kernel.h"

/* Iteration range of one thread over rows (struct rows). */
struct thread_rows {
	int there;			/* 0: the thread has nothing to do */
	unsigned group, part;
	unsigned first, lanes;		/* its first row, and the step between
					 * its rows */
	unsigned last;			/* end of its rows */
	unsigned col;			/* first column of its vector */
};

/* Return the iteration range of thread ${i}, with vectors of ${width}
 * elements. */
INLINE struct thread_rows
walk_of(const struct rows *r, struct block b, int i, const int width)
{
	struct thread_rows w;
	unsigned tile = b.x % r->tiles, rest = b.x / r->tiles;
	unsigned x = (unsigned)i % (unsigned)r->across;
	unsigned lane = (unsigned)i / (unsigned)r->across;

	w.part = rest % r->parts;
	w.group = rest / r->parts;
	w.lanes = (unsigned)b.threads / (unsigned)r->across;
	w.col = (tile * (unsigned)r->across + x) * (unsigned)width;
	w.there = lane < w.lanes && w.col < r->c;
	w.first = w.part * r->per + lane;
	w.last = (w.part + 1) * r->per < r->m ? (w.part + 1) * r->per : r->m;
	if (!w.there) {
		w.last = 0;
		w.col = 0;
	}
	return w;
}

/* Return the index of column 0 of row ${m} of the group. */
INLINE size_t
walk_row(const struct rows *r, unsigned group, unsigned m)
{
	if (r->inner_g == 1)
		return ((size_t)group * r->m + m) * r->c;
	return (((size_t)(group / r->inner_g) * (r->m / r->inner_m) +
	    m / r->inner_m) * r->inner_g * r->inner_m +
	    (size_t)(group % r->inner_g) * r->inner_m + m % r->inner_m) * r->c;
}

/*
 * Add up ${count} sums over the threads that share columns.  Thread i has
 * stored its sum k at sum[k * threads + i].  Each total replaces the sum of the
 * thread in lane 0.  Lanes are added in halves, so the order is fixed.
 */
INLINE void
walk_fold(double *sum, const struct rows *r, struct block b, const int count)
{
	int lanes = b.threads / r->across, half = 1;

	while (2 * half < lanes)
		half *= 2;
	for (; half > 0 && lanes > 1; half /= 2)
		EACH_THREAD(i) {
			int lane = i / r->across;
			double *s = sum + i;

			if (lane < half && lane + half < lanes)
				EACH(k, count)
					s[k * b.threads] += s[k * b.threads +
					    half * r->across];
		}
}

/* Return ${n} / ${d}. */
INLINE unsigned
walk_divided(unsigned n, struct divisor d)
{
	return (unsigned)((uint64_t)n * d.times >> d.shift);
}

/* Return the frames by which a shift moves channel ${c}. */
INLINE int
walk_moved_by(const struct moved *s, unsigned c)
{
	return c < s->fold ? s->by[0] : c < 2 * s->fold ? s->by[1] : 0;
}

/*
 * Return the row to which the shift moves row ${row}, and set ${*stays} to 1.
 * If the row leaves its clip, set ${*stays} to 0 and return the row at the
 * other end of the clip.  The shift moves nothing there, so callers store or
 * read zeros.
 */
INLINE unsigned
walk_moved_row(const struct moved *s, unsigned row, int by, int *stays)
{
	int all = (int)s->t, t, to;

	*stays = 1;
	if (by == 0)
		return row;
	t = (int)walk_divided(row, s->plane_of);
	t -= (int)(walk_divided((unsigned)t, s->t_of) * s->t);
	to = t + by;
	*stays = to >= 0 && to < all;
	if (!*stays)
		to = to < 0 ? all - 1 : 0;
	return row + (unsigned)(to - t) * s->plane;
}

/* ---- images ---- */

/*
 * Return vector ${k} of thread ${i} in the block's chunk of an image, in which
 * each thread has ${flat} vectors.  Return UINT32_MAX if there is none.
 */
INLINE unsigned
walk_image_vector(const struct image_grid *m, struct block b, int i, int k,
    const int flat)
{
	unsigned j = (b.x % m->pieces * (unsigned)flat + (unsigned)k) *
	    (unsigned)b.threads + (unsigned)i;

	return j < m->plane ? j : UINT32_MAX;
}

/* Position of a vector: clip, frame, row and column, first channel. */
struct spot {
	int there;
	size_t clip;
	int at[3];
	unsigned c;
};

/*
 * Return the position of the thread's vector of ${width} channels in images of
 * ${size}.
 */
INLINE struct spot
walk_spot_of(const struct image_grid *m, const int *size, unsigned c,
    struct block b, int i, const int width)
{
	struct spot s;
	unsigned j = walk_image_vector(m, b, i, 0, 1);
	unsigned image = b.x / m->pieces, vectors = c / (unsigned)width;

	s.there = j != UINT32_MAX;
	s.clip = image / (unsigned)size[0];
	s.at[0] = (int)(image % (unsigned)size[0]);
	s.c = j % vectors * (unsigned)width;
	j /= vectors;
	s.at[2] = (int)(j % (unsigned)size[2]);
	s.at[1] = (int)(j / (unsigned)size[2]);
	return s;
}

/* Return the index of an element of [clip][size][c]. */
INLINE size_t
walk_number_at(size_t clip, const int *size, unsigned c, int t, int h, int w,
    unsigned channel)
{
	return (((clip * (size_t)size[0] + (size_t)t) * (size_t)size[1] +
	    (size_t)h) * (size_t)size[2] + (size_t)w) * c + channel;
}

/* Work of one thread of kernel depth_sums. */
struct depth_part {
	int there;
	unsigned part, c;		/* block's chunk of strips; first
					 * channel */
	unsigned first, lanes, last;	/* iteration range over strips */
	int t, h, v;			/* first of its taps */
};

/*
 * Store the range of taps along ${axis} that output ${o} has inside the image:
 * [first, last).
 */
INLINE void
walk_window_taps(const struct pool_window *w, int axis, int o, int *first,
    int *last)
{
	int from = o * w->s[axis] - w->p[axis];

	*first = from < 0 ? -from : 0;
	*last = w->in[axis] - from < w->k[axis] ? w->in[axis] - from :
	    w->k[axis];
}

/*
 * Store the range of outputs along ${axis} whose windows contain input ${x}:
 * [first, last).  Output o has the inputs o s - p to o s - p + k - 1.
 */
INLINE void
walk_window_holds(const struct pool_window *w, int axis, int x, int *first,
    int *last)
{
	int far = x + w->p[axis], s = w->s[axis], k = w->k[axis];

	*first = far < k ? 0 : (far - k) / s + 1;
	*last = far / s + 1 < w->out[axis] ? far / s + 1 : w->out[axis];
}

/* Do the same along all three axes. */
INLINE void
walk_window_of_output(const struct pool_window *w, const int *at, int *first,
    int *last)
{
	EACH(k, 3)
		walk_window_taps(w, k, at[k], &first[k], &last[k]);
}

INLINE void
walk_window_of_input(const struct pool_window *w, const int *at, int *first,
    int *last)
{
	EACH(k, 3)
		walk_window_holds(w, k, at[k], &first[k], &last[k]);
}

/* Loop over the positions from ${first} to ${last} - 1, column fastest. */
#define EACH_PLACE(t, h, v, first, last) \
	for (int t = (first)[0]; t < (last)[0]; t++) \
	for (int h = (first)[1]; h < (last)[1]; h++) \
	for (int v = (first)[2]; v < (last)[2]; v++)

/*
 * Return the tap by which the window of output (t, h, v) contains the input at
 * ${at}.
 */
INLINE unsigned
walk_window_tap(const struct pool_window *w, const int *at, int t, int h, int v)
{
	return (unsigned)(((at[0] + w->p[0] - t * w->s[0]) * w->k[1] +
	    at[1] + w->p[1] - h * w->s[1]) * w->k[2] +
	    at[2] + w->p[2] - v * w->s[2]);
}

/* Return the index of the input under tap (t, h, v) of the output at ${s}. */
INLINE size_t
walk_window_number(const struct pool_window *w, const struct spot *s,
    unsigned c, int t, int h, int v)
{
	return walk_number_at(s->clip, w->in, c, s->at[0] * w->s[0] - w->p[0] +
	    t, s->at[1] * w->s[1] - w->p[1] + h, s->at[2] * w->s[2] - w->p[2] +
	    v, s->c);
}

/* Return the index of position ${s} in [clip][size][c]. */
INLINE size_t
walk_spot_number(const struct spot *s, const int *size, unsigned c)
{
	return walk_number_at(s->clip, size, c, s->at[0], s->at[1], s->at[2],
	    s->c);
}

#endif
