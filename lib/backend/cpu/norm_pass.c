/*
 * The memory of a pass of normalization, and the location of its planes in
 * unshifted and shifted activations.
 */
#include <string.h>

#include "backend/cpu/norm_pass.h"
#include "backend/peers.h"

/* Return the blocks of channels that move in one direction. */
static int
norm_pass_fold_blocks(const struct task *shift)
{
	return shift->out.c / shift->op->shift.fold / cpu_lanes();
}

size_t
norm_plane_floats(const struct dims *d)
{
	return cpu_positions(d) * (size_t)cpu_lanes();
}

static size_t
norm_pass_side_floats(const struct norm *n)
{
	return n->shift == NULL || n->tail->materialized ? 0 :
	    (size_t)n->bn->out.n * 2 * (size_t)norm_pass_fold_blocks(n->shift) *
	    norm_plane_floats(&n->bn->out);
}

static size_t
norm_pass_mask_bytes(const struct norm *n)
{
	const struct dims *d = &n->bn->out;

	return !n->saves_mask ? 0 : (size_t)cpu_images(d) *
	    (size_t)cpu_blocks(d->c) * cpu_positions(d) * sizeof(uint16_t);
}

/*
 * Mean and 1 / std of each channel.  A frozen norm saves none, because its
 * parameters hold them.
 */
static size_t
norm_pass_statistics_floats(const struct norm *n)
{
	return n->bn->needs_weight_grad ? 2 * (size_t)cpu_padded(n->bn->out.c) :
	    0;
}

/* Saved: statistics, then dropped planes, then the mask. */
size_t
norm_saved(const struct task *t)
{
	const struct norm *n = t->priv;

	return (norm_pass_statistics_floats(n) + norm_pass_side_floats(n)) *
	    sizeof(float) + norm_pass_mask_bytes(n);
}

float *
norm_dropped(const struct task *t)
{
	return (float *)t->saved + norm_pass_statistics_floats(t->priv);
}

/*
 * Scratch: two sums per plane and lane, five rows of channels, a plane of
 * zeros, and the numbers that ranks exchange.
 */
size_t
norm_scratch(const struct task *t)
{
	size_t row = (size_t)cpu_padded(t->out.c);

	return (2 * row * (size_t)cpu_images(&t->out) + 5 * row +
	    norm_plane_floats(&t->out)) * sizeof(float) + peers_bytes(t);
}

struct norm_pass
norm_open(struct task *t)
{
	const struct norm *n = t->priv;
	const struct dims *d = &n->bn->out;
	struct norm_pass s = { .n = n, .bn = n->bn, .d = d,
		.k = cpu_of(t)->norm, .row = cpu_padded(d->c),
		.blocks = cpu_blocks(d->c), .images = cpu_images(d),
		.hw = cpu_positions(d) };
	size_t planes = (size_t)s.row * (size_t)s.images;

	s.dropped = norm_dropped(t);
	s.mask = n->saves_mask ?
	    (uint16_t *)(s.dropped + norm_pass_side_floats(n)) : NULL;
	s.p = t->scratch;
	s.q = s.p + planes;
	s.scale = s.q + planes;
	s.offset = s.scale + s.row;
	s.a = s.offset + s.row;
	s.b = s.a + s.row;
	s.c = s.b + s.row;
	s.zeros = s.c + s.row;
	s.sync = (double *)(s.zeros + norm_plane_floats(d));
	/*
	 * A frozen norm has c = 0, which serves as the mean in
	 * norm_kernels.sums.
	 */
	s.mean = n->bn->needs_weight_grad ? t->saved : s.c;
	s.rstd = n->bn->needs_weight_grad ? s.mean + s.row : NULL;
	return s;
}

int
norm_channels_to(const struct norm_pass *s, int b)
{
	int to = (b + 1) * cpu_lanes();

	return to < s->d->c ? to : s->d->c;
}

float *
norm_plane(const struct norm_pass *s, const void *x, int i)
{
	return cpu_plane(s->d, x, i / s->blocks, i % s->blocks);
}

size_t
norm_sums_at(const struct norm_pass *s, int i)
{
	return (size_t)(i / s->blocks) * (size_t)s->row +
	    (size_t)(i % s->blocks) * (size_t)cpu_lanes();
}

/* ---- where a shifted activation has a plane ---- */

/*
 * Return how many frames a plane of ${block} moves: -1, 1 or 0.  All channels
 * of the block must move alike.
 */
static int
norm_pass_frame_shift(const struct task *shift, int block)
{
	int c = shift->out.c / shift->op->shift.fold;
	int first = block * cpu_lanes();

	return first < c ? -1 : first < 2 * c ? 1 : 0;
}

float *
norm_shifted_plane(const struct norm_pass *s, const struct task *shift,
    const void *shifted, int i)
{
	int image = i / s->blocks, block = i % s->blocks;
	int frame = image % s->d->t + norm_pass_frame_shift(shift, block);

	if (frame < 0 || frame >= s->d->t)
		return NULL;
	return cpu_plane(s->d, shifted, image + norm_pass_frame_shift(shift,
	    block), block);
}

int
norm_lanes_of(const struct task *shift, int b, struct norm_mix *m)
{
	int c = shift->out.c / shift->op->shift.fold, seen[3] = { 0 };

	for (int l = 0; l < cpu_lanes(); l++) {
		int at = b * cpu_lanes() + l, k = at < c ? 0 : at < 2 * c ? 1 :
		    2;

		for (int i = 0; i < 3; i++)
			m->lane[i][l] = i == k ? -1 : 0;
		seen[k] = 1;
	}
	return seen[0] + seen[1] + seen[2] > 1;
}

void
norm_mix_planes(const struct norm_pass *s, const void *x, int i, int sign,
    struct norm_mix *m)
{
	const int by[3] = { sign, -sign, 0 };
	int image = i / s->blocks, frame = image % s->d->t;

	for (int k = 0; k < 3; k++) {
		int f = frame + by[k];

		m->from[k] = f < 0 || f >= s->d->t ? s->zeros :
		    cpu_plane(s->d, x, image + by[k], i % s->blocks);
	}
}

float *
norm_dropped_plane(const struct norm_pass *s, const struct task *shift,
    float *side, int i)
{
	int clip = i / s->blocks / s->d->t, block = i % s->blocks;

	return side + ((size_t)clip * 2 * (size_t)norm_pass_fold_blocks(shift) +
	    (size_t)block) * norm_plane_floats(s->d);
}

void
norm_clear_end(const struct norm_pass *s, int i)
{
	const struct task *shift = s->n->shift;
	int image = i / s->blocks, block = i % s->blocks, t = s->d->t;
	int other = image - norm_pass_frame_shift(shift, block) * (t - 1);

	memset(cpu_plane(s->d, shift->y, other, block), 0,
	    norm_plane_floats(s->d) * sizeof(float));
}
