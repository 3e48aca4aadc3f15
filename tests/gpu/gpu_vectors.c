/*
 * Variants of the norm kernels of the cuda back end, run on the host, give the
 * same bits: with a gradient through a temporal shift or direct, and with an
 * output that is shifted or not.  A multiplication finds the frame of a row.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/kernel.h"

#undef BODY
#define BODY	__attribute__((unused)) static void

#include "backend/cuda/rows.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"
#define STORED	f16
#include "backend/cuda/flat_body.h"
#include "backend/cuda/norm_body.h"
#undef STORED
#include "base/mem.h"

#include "tap.h"

enum { C = 24, T = 3, PLANE = 35, M = 4 * T * PLANE, N = M * C, FOLD = 8 };

static void
test_divided(void)
{
	static const unsigned by[] = { 1, 2, 3, 7, 49, 196, 255, 784, 3136,
		65535, 65537, 1000003, 0x7fffffff };
	int wrong = 0;

	for (size_t k = 0; k < sizeof(by) / sizeof(by[0]); k++) {
		struct divisor d = rows_divisor_of(by[k]);

		for (unsigned i = 0; i < 20000; i++) {
			unsigned q = (unsigned)((uint64_t)i * 0x7fffffff /
			    20000 / by[k]), n = q * by[k];

			wrong += walk_divided(n, d) != n / by[k];
			wrong += n > 0 && walk_divided(n - 1, d) != (n - 1) / by[k];
		}
		wrong += walk_divided(0x7fffffff, d) != 0x7fffffff / by[k];
	}
	ok(wrong == 0, "division by multiplication is exact below 2^31");
}

/* ---- norms ---- */

/* The inputs, and two of each output: without and with a shift. */
static struct {
	uint16_t x[N], dy[N], moved[N], res[N];
	float mean[C], rstd[C], scale[C], offset[C], k[3 * C];
	uint16_t y[2][N], y_moved[N], dx[2][N], dres[2][N];
	double part[2][4096];
	uint8_t bits[N / 8];
} *m;

#define EVERY(f, v)	for (size_t i_ = 0; i_ < sizeof(m->f) / \
	sizeof(m->f[0]); i_++) m->f[i_] = (v)

static uint32_t seed = 1;

static float
norm_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return ((float)(seed >> 8) + 0.5f) / (1 << 23) - 1;
}

static struct moved
norm_shift_of(void)
{
	return (struct moved){ FOLD, T, PLANE, { 1, -1 }, rows_divisor_of(PLANE),
		rows_divisor_of(T) };
}

static struct rows
norm_rows(int sums)
{
	const struct cuda c = { .type = GPU_F16 };
	const struct matrix matrix = { 1, M, C, 1, 0 };

	return sums ? rows_sum(&c, &matrix) : rows_copy(&c, &matrix);
}

#define RUN(body, a) \
	for (unsigned x_ = 0; x_ < (a).rows.parts * (a).rows.tiles; x_++) \
		body(&(a), (struct block){ .x = x_, .nx = (a).rows.parts * \
		    (a).rows.tiles, .ny = 1, .threads = THREADS })

/* Set ${to} to the shift of ${from}, which is 0 where no row moves to. */
static void
norm_shift(const uint16_t *from, uint16_t *to)
{
	struct moved s = norm_shift_of();

	for (unsigned row = 0; row < M; row++)
		for (unsigned c = 0; c < C; c++) {
			int stays;
			unsigned at = walk_moved_row(&s, row, walk_moved_by(&s, c), &stays);

			to[at * C + c] = stays ? from[row * C + c] : 0;
		}
}

static int
norm_same_apply(int add, int relu)
{
	struct norm_apply a = { .rows = norm_rows(0),
		.moved = norm_shift_of(), .x = m->x, .res = add ? m->res : NULL,
		.mean = m->mean, .rstd = m->rstd, .scale = m->scale,
		.offset = m->offset, .y = m->y[0], .y_moved = m->y_moved,
		.relu = relu };

	if (add)
		RUN(norm_apply_add_f16, a);
	else
		RUN(norm_apply_f16, a);
	norm_shift(m->y[0], m->y[1]);
	return memcmp(m->y[1], m->y_moved, sizeof(m->y_moved)) == 0;
}

/* Compare sums of a dy that is direct with those of one that comes through the
 * shift. */
static int
norm_same_sums(int shut)
{
	for (int k = 0; k < 2; k++) {
		struct norm_sums a = { .rows = norm_rows(1), .moved =
			norm_shift_of(), .x = m->x, .dy = k == 0 ? m->dy : NULL,
			.dy_moved = m->moved, .mean = m->mean,
			.rstd = m->rstd, .scale = m->scale, .offset =
			m->offset, .mask = m->bits, .part = m->part[k] };

		if (shut == SHUT_NEVER && k == 0)
			RUN(norm_sums_back_never_f16, a);
		else if (shut == SHUT_NEVER)
			RUN(norm_sums_back_moved_never_f16, a);
		else if (shut == SHUT_X && k == 0)
			RUN(norm_sums_back_x_f16, a);
		else if (shut == SHUT_X)
			RUN(norm_sums_back_moved_x_f16, a);
		else if (k == 0)
			RUN(norm_sums_back_mask_f16, a);
		else
			RUN(norm_sums_back_moved_mask_f16, a);
	}
	return memcmp(m->part[0], m->part[1], norm_rows(1).parts * 2 * C *
	    sizeof(double)) == 0;
}

/* Do the same for dx and dres.  ${fixed}: the statistics are fixed. */
static int
norm_same_back(int shut, int fixed, int accumulate)
{
	for (int k = 0; k < 2; k++) {
		struct norm_apply_back a = { .rows = norm_rows(0), .moved =
			norm_shift_of(), .x = m->x, .dy = k == 0 ? m->dy : NULL,
			.dy_moved = m->moved, .mean = m->mean,
			.rstd = m->rstd, .scale = m->scale, .offset =
			m->offset, .k = fixed ? NULL : m->k, .mask = m->bits,
			.dx = m->dx[k], .dres = m->dres[k],
			.accumulate = accumulate, .accumulate_res = !accumulate };

		memcpy(m->dx[k], m->res, sizeof(m->res));
		memcpy(m->dres[k], m->x, sizeof(m->x));
		if (shut == SHUT_NEVER && k == 0)
			RUN(norm_apply_back_never_f16, a);
		else if (shut == SHUT_NEVER)
			RUN(norm_apply_back_moved_never_f16, a);
		else if (shut == SHUT_X && k == 0)
			RUN(norm_apply_back_x_f16, a);
		else if (shut == SHUT_X)
			RUN(norm_apply_back_moved_x_f16, a);
		else if (k == 0)
			RUN(norm_apply_back_mask_f16, a);
		else
			RUN(norm_apply_back_moved_mask_f16, a);
	}
	return memcmp(m->dx[0], m->dx[1], sizeof(m->dx[0])) == 0 &&
	    memcmp(m->dres[0], m->dres[1], sizeof(m->dres[0])) == 0;
}

/*
 * Set dy_moved to the shifted dy, and dy to 0 where a row leaves its clip, so
 * that shifting back gives dy again.
 */
static void
norm_shift_dy(void)
{
	struct moved s = norm_shift_of();
	int stays;

	for (unsigned row = 0; row < M; row++)
		for (unsigned c = 0; c < C; c++) {
			walk_moved_row(&s, row, walk_moved_by(&s, c), &stays);
			if (!stays)
				m->dy[row * C + c] = 0;
		}
	norm_shift(m->dy, m->moved);
}

static void
test_norms(void)
{
	int same = 1;

	m = xcalloc(1, sizeof(*m));
	EVERY(x, narrow_f16(norm_random()));
	EVERY(dy, narrow_f16(norm_random()));
	EVERY(res, narrow_f16(norm_random()));
	EVERY(mean, norm_random());
	EVERY(rstd, norm_random() + 2);
	EVERY(scale, norm_random());
	EVERY(offset, norm_random());
	EVERY(k, norm_random());
	EVERY(bits, (uint8_t)(norm_random() * 1e6f));
	norm_shift_dy();
	for (int i = 0; i < 4; i++)
		same &= norm_same_apply(i & 1, i >> 1);
	ok(same, "the shifted output of a norm with a shortcut and a relu is "
	    "the shift of the other");
	for (int shut = 0; shut < SHUTS; shut++) {
		same &= norm_same_sums(shut);
		for (int i = 0; i < 4; i++)
			same &= norm_same_back(shut, i & 1, i >> 1);
	}
	ok(same, "the backward pass of a gradient through a shift has the bits "
	    "of a direct one, for each way to know the relu");
	free(m);
}

int
main(void)
{
	test_divided();
	test_norms();
	return done();
}
