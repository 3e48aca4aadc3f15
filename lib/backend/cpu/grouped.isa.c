/*
 * Kernels of convolutions in groups: one row of a kernel over one row of
 * positions; grouped_kernels.h has the formulas.
 */
#include <stddef.h>

#include "backend/cpu/grouped_kernels.h"
#include "backend/cpu/vec.h"
#include "backend/cpu/wide.h"

/*
 * The ${n} positions of y whose tap ${k} reads inside the row of x.  They begin
 * at ${o}, which reads position ${x}.
 */
struct grouped_span { int o, x, n; };

INLINE struct grouped_span
grouped_kernel_span_of(const struct grouped_row *r, int k)
{
	int o = r->p > k ? (r->p - k + r->s - 1) / r->s : 0;
	int last = r->x_w - 1 + r->p - k;
	int end = last < 0 ? 0 : last / r->s + 1;

	end = end < r->y_w ? end : r->y_w;
	return (struct grouped_span){ o, o * r->s - r->p + k, end - o };
}

/* v[c] = at[from[c]] if ${mixed}, otherwise at[c] */
INLINE void
grouped_kernel_read(vec *v, const float *at, const int *from, const int mixed)
{
	vec got = AT(at, 0);

	if (mixed)
		LANES(c)
			got[c] = at[from[c]];
	*v = got;
}

/* to[i] += w in[i], for one input channel per lane and one tap */
INLINE void
grouped_kernel_spread(float *to, int to_step, const float *in, int in_step,
    const int *from, const int mixed, const float *w, int n)
{
	const vec tap = AT(w, 0);

	for (int i = 0; i < n; i++, to += to_step * L, in += in_step * L) {
		vec v;

		grouped_kernel_read(&v, in, from, mixed);
		*(vec *)to = FMA(tap, v, *(vec *)to);
	}
}

/* y += w x or, if ${back}, dx += w dy, over the taps of a row */
INLINE void
grouped_kernel_pass(const struct grouped_row *r, const float *in,
    const float *w, float *to, const int back, const int mixed)
{
	for (int k = 0; k < r->k; k++) {
		struct grouped_span s = grouped_kernel_span_of(r, k);

		for (int j = 0; j < r->each; j++, w += L) {
			const int *from = mixed ? r->from + j * L : NULL;

			if (back)
				grouped_kernel_spread(to + s.x * L, r->s,
				    in + s.o * L, 1, from, mixed, w, s.n);
			else
				grouped_kernel_spread(to + s.o * L, 1,
				    in + s.x * L, r->s, from, mixed, w, s.n);
		}
	}
}

/* y[p] += sum over tap, j of w[tap][j] x[p s - pad + tap][j] */
static void
grouped_kernel_forward(const struct grouped_row *r, const float *x,
    const float *w, float *y)
{
	if (r->from == NULL)
		grouped_kernel_pass(r, x, w, y, 0, 0);
	else
		grouped_kernel_pass(r, x, w, y, 0, 1);
}

/* dx[p s - pad + tap] += sum over j of w[tap][j] dy[p][j] */
static void
grouped_kernel_back(const struct grouped_row *r, const float *dy,
    const float *w, float *dx)
{
	if (r->from == NULL)
		grouped_kernel_pass(r, dy, w, dx, 1, 0);
	else
		grouped_kernel_pass(r, dy, w, dx, 1, 1);
}

/*
 * to += sum over i of dy[i] x[i].  Two running sums hide the latency of an
 * addition.
 */
INLINE void
grouped_kernel_dot(float *to, const float *dy, const float *x, int step,
    const int *from, const int mixed, int n)
{
	vec sum = AT(to, 0), more = { 0 }, v;
	int i = 0;

	for (; i + 1 < n; i += 2, dy += 2 * L, x += 2 * step) {
		grouped_kernel_read(&v, x, from, mixed);
		sum = FMA(AT(dy, 0), v, sum);
		grouped_kernel_read(&v, x + step, from, mixed);
		more = FMA(AT(dy, 1), v, more);
	}
	if (i < n) {
		grouped_kernel_read(&v, x, from, mixed);
		sum = FMA(AT(dy, 0), v, sum);
	}
	*(vec *)to = sum + more;
}

/* dw[k][j] += sum over positions of dy x, for each tap and input channel */
INLINE void
grouped_kernel_sums(const struct grouped_row *r, const float *x,
    const float *dy, float *dw, const int mixed)
{
	for (int k = 0; k < r->k; k++) {
		struct grouped_span s = grouped_kernel_span_of(r, k);

		for (int j = 0; j < r->each && s.n > 0; j++)
			grouped_kernel_dot(dw + j * L, dy + s.o * L,
			    x + s.x * L, r->s * L,
			    mixed ? r->from + j * L : NULL, mixed, s.n);
		dw += r->each * L;
	}
}

/* dw[tap][j] += sum over p of dy[p] x[p s - pad + tap][j] */
static void
grouped_kernel_gradient(const struct grouped_row *r, const float *x,
    const float *dy, float *dw)
{
	if (r->from == NULL)
		grouped_kernel_sums(r, x, dy, dw, 0);
	else
		grouped_kernel_sums(r, x, dy, dw, 1);
}

const struct grouped_kernels ISA_PASTE(grouped_kernels, VT_ISA) = {
	.forward = grouped_kernel_forward, .back = grouped_kernel_back,
	.gradient = grouped_kernel_gradient,
};
