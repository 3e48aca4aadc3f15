/* Operators of attention: GEMM and softmax. */
#include <math.h>

#include "backend/ref/ref.h"

/*
 * ---- bmm: y[p][q] = sum over i of A[p][i] B[i][q], for each clip ----
 *
 * An input is a matrix with a row for each position (t, h, w) and a column for
 * each channel.  A and B are inputs 0 and 1 or, with TRANSPOSE_A and
 * TRANSPOSE_B, their transposes.
 */

/* A matrix of ${size} elements a clip: A[p][i] is at p row + i column. */
struct ref_matrix { size_t size, row, column; };

struct ref_bmm { size_t p, i, q; struct ref_matrix a, b; };

static struct ref_matrix
ref_matrix(const struct dims *d, int transpose)
{
	size_t c = (size_t)d->c;

	return (struct ref_matrix){ dims_positions(d) * c, transpose ? 1 : c,
		transpose ? c : 1 };
}

static struct ref_bmm
ref_bmm_open(const struct task *k)
{
	int t = k->op->bmm.transpose;
	size_t q = (size_t)k->out.c;

	return (struct ref_bmm){ dims_positions(&k->out), t & TRANSPOSE_A ?
		dims_positions(&k->in[0]) : (size_t)k->in[0].c, q,
		ref_matrix(&k->in[0], t & TRANSPOSE_A),
		ref_matrix(&k->in[1], t & TRANSPOSE_B) };
}

static void
ref_bmm_forward(struct task *k)
{
	struct ref_bmm m = ref_bmm_open(k);
	REAL *y = k->y;

	for (int n = 0; n < k->out.n; n++) {
		const REAL *a = (const REAL *)k->x[0] + (size_t)n * m.a.size;
		const REAL *b = (const REAL *)k->x[1] + (size_t)n * m.b.size;

		for (size_t p = 0; p < m.p; p++)
			for (size_t q = 0; q < m.q; q++) {
				double sum = 0;

				for (size_t i = 0; i < m.i; i++)
					sum += (double)a[p * m.a.row +
					    i * m.a.column] * b[i * m.b.row +
					    q * m.b.column];
				*y++ = (REAL)sum;
			}
	}
}

/* dA[p][i] = sum over q of dy[p][q] B[i][q] */
static void
ref_bmm_backward_a(struct task *k, const struct ref_bmm *m, REAL *da)
{
	for (size_t n = 0; n < (size_t)k->out.n; n++)
		for (size_t p = 0; p < m->p; p++)
			for (size_t i = 0; i < m->i; i++) {
				const REAL *dy = (const REAL *)k->dy +
				    (n * m->p + p) * m->q;
				const REAL *b = (const REAL *)k->x[1] +
				    n * m->b.size + i * m->b.row;
				double sum = 0;

				for (size_t q = 0; q < m->q; q++)
					sum += (double)dy[q] * b[q *
					    m->b.column];
				da[n * m->a.size + p * m->a.row +
				    i * m->a.column] += (REAL)sum;
			}
}

/* dB[i][q] = sum over p of A[p][i] dy[p][q] */
static void
ref_bmm_backward_b(struct task *k, const struct ref_bmm *m, REAL *db)
{
	for (size_t n = 0; n < (size_t)k->out.n; n++)
		for (size_t i = 0; i < m->i; i++)
			for (size_t q = 0; q < m->q; q++) {
				const REAL *dy = (const REAL *)k->dy +
				    n * m->p * m->q + q;
				const REAL *a = (const REAL *)k->x[0] +
				    n * m->a.size + i * m->a.column;
				double sum = 0;

				for (size_t p = 0; p < m->p; p++)
					sum += (double)a[p * m->a.row] *
					    dy[p * m->q];
				db[n * m->b.size + i * m->b.row +
				    q * m->b.column] += (REAL)sum;
			}
}

static void
ref_bmm_backward(struct task *k)
{
	struct ref_bmm m = ref_bmm_open(k);
	REAL *d = ref_gradient(k, 0);

	if (d != NULL)
		ref_bmm_backward_a(k, &m, d);
	d = ref_gradient(k, 1);
	if (d != NULL)
		ref_bmm_backward_b(k, &m, d);
}

REF_OP(bmm, .reads = READS_X);

/*
 * ---- softmax: y = exp(x) / (sum of exp(x) over some axes) ----
 *
 * The maximum of x is subtracted first, so that exp does not overflow.
 */

/* Shape of the sums: the axes that are summed over have length 1. */
static struct dims
ref_softmax_groups(const struct task *k)
{
	int over = k->op->softmax.axes;
	const struct dims *d = &k->out;

	return (struct dims){ d->n, over & OVER_T ? 1 : d->t,
		over & OVER_H ? 1 : d->h, over & OVER_W ? 1 : d->w,
		over & OVER_C ? 1 : d->c };
}

static size_t
ref_softmax_scratch(const struct task *k)
{
	struct dims g = ref_softmax_groups(k);

	return 2 * dims_count(&g) * sizeof(double);
}

/* Call visit(k, i, index of its sum, v) for each element i in order. */
static void
ref_softmax_visit(struct task *k, void (*visit)(struct task *, size_t i,
    size_t g, double *), double *v)
{
	const struct dims *d = &k->out;
	struct dims g = ref_softmax_groups(k);
	size_t i = 0;

	for (int n = 0; n < d->n; n++)
	for (int t = 0; t < d->t; t++)
	for (int h = 0; h < d->h; h++)
	for (int w = 0; w < d->w; w++)
		for (int c = 0; c < d->c; c++, i++)
			visit(k, i, ref_at(&g, n, t % g.t, h % g.h, w % g.w) +
			    (size_t)(c % g.c), v);
}

static void
ref_softmax_top(struct task *k, size_t i, size_t g, double *top)
{
	double x = ((const REAL *)k->x[0])[i];

	top[g] = x > top[g] ? x : top[g];
}

static void
ref_softmax_sum(struct task *k, size_t i, size_t g, double *v)
{
	struct dims groups = ref_softmax_groups(k);

	v[dims_count(&groups) + g] += exp(((const REAL *)k->x[0])[i] - v[g]);
}

static void
ref_softmax_share(struct task *k, size_t i, size_t g, double *v)
{
	struct dims groups = ref_softmax_groups(k);

	((REAL *)k->y)[i] = (REAL)(exp(((const REAL *)k->x[0])[i] - v[g]) /
	    v[dims_count(&groups) + g]);
}

static void
ref_softmax_forward(struct task *k)
{
	struct dims g = ref_softmax_groups(k);
	double *v = k->scratch;

	for (size_t i = 0, n = dims_count(&g); i < n; i++) {
		v[i] = -INFINITY;
		v[n + i] = 0;
	}
	ref_softmax_visit(k, ref_softmax_top, v);
	ref_softmax_visit(k, ref_softmax_sum, v);
	ref_softmax_visit(k, ref_softmax_share, v);
}

static void
ref_softmax_dot(struct task *k, size_t i, size_t g, double *v)
{
	v[g] += (double)((const REAL *)k->y)[i] * ((const REAL *)k->dy)[i];
}

/* dx = y (dy - sum of y dy over the axes) */
static void
ref_softmax_slope(struct task *k, size_t i, size_t g, double *v)
{
	((REAL *)k->dx[0])[i] += (REAL)(((const REAL *)k->y)[i] *
	    (((const REAL *)k->dy)[i] - v[g]));
}

static void
ref_softmax_backward(struct task *k)
{
	if (ref_gradient(k, 0) == NULL)
		return;
	memset(k->scratch, 0, ref_softmax_scratch(k));
	ref_softmax_visit(k, ref_softmax_dot, k->scratch);
	ref_softmax_visit(k, ref_softmax_slope, k->scratch);
}

REF_OP(softmax, .reads = READS_Y, .scratch = ref_softmax_scratch);
