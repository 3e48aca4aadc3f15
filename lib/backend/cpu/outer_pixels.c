/* Gather the taps of pixels as channels, for weight gradients (outer.h). */
#include <string.h>

#include "backend/cpu/outer.h"

enum { WIDE = 8 };			/* floats copied at a time */

/*
 * out[i][j] = row[i s - p + j], zero outside, for columns ${from} to ${to} of y
 * and the taps j of one kernel row.  ${row} NULL is a row of zeros.  ${wide}
 * allows writing WIDE floats, more than there are taps.
 */
static void
outer_gather_row(const struct outer *g, float *out, size_t step,
    const float *row, int from, int to, int wide)
{
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
 * Gather the taps of all channels for row ${t}, ${h} of y.  Kernel rows are
 * written in order, so that excess floats of one are overwritten by the next.
 */
static void
outer_gather_places(const struct outer *g, float *out, size_t step,
    const float *x, int clip, int t, int h, int from, int to)
{
	size_t plane = (size_t)g->x[1] * (size_t)g->x[2];
	int n = g->in * g->k[0] * g->k[1], k = g->k[2];

	for (int q = 0; q < n; q++) {
		int channel = q / g->k[1] / g->k[0];
		int i = t * g->s[0] - g->p[0] + q / g->k[1] % g->k[0];
		int j = h * g->s[1] - g->p[1] + q % g->k[1];
		const float *row = NULL;

		if (i >= 0 && i < g->x[0] && j >= 0 && j < g->x[1])
			row = x + plane * (size_t)((clip * g->x[0] + i) *
			    g->in + channel) + (size_t)(j * g->x[2]);
		outer_gather_row(g, out + q * k, step, row, from, to,
		    k <= WIDE && (q * k + WIDE) <= n * k);
	}
}

void
outer_gather(const struct outer *g, float *out, size_t step, const float *x,
    int clip, const int from[3], const int to[3])
{
	for (int t = from[0]; t < to[0]; t++)
		for (int h = from[1]; h < to[1]; h++) {
			outer_gather_places(g, out, step, x, clip, t, h,
			    from[2], to[2]);
			out += step * (size_t)(to[2] - from[2]);
		}
}
