/* Operators that move frames and channels. */
#include <string.h>

#include "backend/ref/ref.h"

/*
 * ---- shift: the first c / fold channels come from the next frame, the next
 * c / fold from the one before, zeros beyond the ends ----
 */

/* Add (or set) y[t] from x[t + by] for channels first to last. */
static void
shift_channels(const struct dims *d, const REAL *x, REAL *y, int first,
    int last, int by)
{
	size_t plane = (size_t)d->h * d->w;

	for (int n = 0; n < d->n; n++)
		for (int t = 0; t < d->t; t++)
			for (size_t p = 0; p < plane; p++) {
				REAL *to = y + at(d, n, t, 0, 0) + p * d->c;
				const REAL *from = t + by < 0 || t + by >= d->t ?
				    NULL : x + at(d, n, t + by, 0, 0) + p * d->c;

				for (int c = first; c < last && from; c++)
					to[c] += from[c];
			}
}

static void
shift_by(const struct task *k, const REAL *x, REAL *y, int sign)
{
	int fold = k->out.c / k->op->fold;

	shift_channels(&k->out, x, y, 0, fold, sign);
	shift_channels(&k->out, x, y, fold, 2 * fold, -sign);
	shift_channels(&k->out, x, y, 2 * fold, k->out.c, 0);
}

static void
shift_forward(struct task *k)
{
	memset(k->y, 0, dims_count(&k->out) * sizeof(REAL));
	shift_by(k, k->x[0], k->y, 1);
}

static void
shift_backward(struct task *k)
{
	REAL *dx = gradient(k, 0);

	if (dx == NULL)
		return;
	shift_by(k, k->dy, dx, -1);
}

REF_OP(shift);
