/* Gather the taps of pixels as channels, for weight gradients (outer.h). */
#include <string.h>

#include "backend/cpu/outer.h"

enum { WIDE = 8 };			/* floats copied at a time */

/* Return the floats from one position to the next. */
static size_t
outer_gather_step(const struct outer *g)
{
	return (size_t)cpu_padded(g->in * g->k[0] * g->k[1] * g->k[2]);
}

/*
 * out[i][j] = row[i s - p + j], zero outside, for columns ${from} to ${to} of y
 * and the taps j of one kernel row.  ${row} NULL is a row of zeros.  ${wide}
 * allows writing WIDE floats, more than there are taps.
 */
static void
outer_gather_row(const struct outer *g, float *out, const float *row, int from,
    int to, int wide)
{
	size_t step = outer_gather_step(g);
	int k = g->k[2], w = g->x[2];

	for (int i = from; i < to; i++, out += step) {
		int at = i * g->s[2] - g->p[2];

		if (row != NULL && wide && at >= 0 && at + WIDE <= w) {
			memcpy(out, row + at, WIDE * sizeof(float));
			continue;
		}
		for (int j = 0; j < k; j++)
			out[j] = row != NULL && at + j >= 0 && at + j < w ?
			    row[at + j] : 0;
	}
}

/*
 * Kernel rows are written in order, so that excess floats of one are
 * overwritten by the next.
 */
void
outer_gather(const struct outer *g, float *out, const float *x, int clip,
    const int from[3], const int to[3])
{
	size_t plane = (size_t)g->x[1] * (size_t)g->x[2];
	int n = g->in * g->k[0] * g->k[1], k = g->k[2];

	for (int t = from[0]; t < to[0]; t++)
		for (int h = from[1]; h < to[1]; h++) {
			for (int q = 0; q < n; q++) {
				int channel = q / g->k[1] / g->k[0];
				int i = t * g->s[0] - g->p[0] +
				    q / g->k[1] % g->k[0];
				int j = h * g->s[1] - g->p[1] + q % g->k[1];
				const float *row = NULL;

				if (i >= 0 && i < g->x[0] && j >= 0 &&
				    j < g->x[1])
					row = x + plane * (size_t)((clip *
					    g->x[0] + i) * g->in + channel) +
					    (size_t)(j * g->x[2]);
				outer_gather_row(g, out + q * k, row, from[2],
				    to[2], k <= WIDE && q * k + WIDE <= n * k);
			}
			out += outer_gather_step(g) * (size_t)(to[2] - from[2]);
		}
}
