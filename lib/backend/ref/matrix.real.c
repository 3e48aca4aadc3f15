/* Operators of matrices: GEMM, linear and softmax. */
#include <math.h>

#include "backend/ref/ref.h"

/* A matrix, whose element [i][j] is at v + i row + j column. */
struct ref_matrix { REAL *v; size_t rows, columns, row, column; };

/* Compute to = a b or, with ${more}, to += a b. */
static void
ref_matrix_multiply(struct ref_matrix to, int more, struct ref_matrix a,
    struct ref_matrix b)
{
	for (size_t p = 0; p < to.rows; p++)
		for (size_t q = 0; q < to.columns; q++) {
			REAL *y = to.v + p * to.row + q * to.column;
			double sum = 0;

			for (size_t i = 0; i < a.columns; i++)
				sum += (double)a.v[p * a.row + i * a.column] *
				    b.v[i * b.row + q * b.column];
			*y = more ? *y + (REAL)sum : (REAL)sum;
		}
}

/* Return the ${rows} x ${columns} numbers at ${v}, or their transpose. */
static struct ref_matrix
ref_matrix(const void *v, size_t rows, size_t columns, int transpose)
{
	return transpose ?
	    (struct ref_matrix){ (REAL *)v, columns, rows, 1, columns } :
	    (struct ref_matrix){ (REAL *)v, rows, columns, columns, 1 };
}

/*
 * ---- bmm: y[p][q] = sum over i of A[p][i] B[i][q], for each clip ----
 *
 * An input is a matrix with a row for each position (t, h, w) and a column for
 * each channel.  A and B are inputs 0 and 1 or, with TRANSPOSE_A and
 * TRANSPOSE_B, their transposes.
 */

static struct ref_matrix
ref_bmm_clip(const struct dims *d, const void *x, int n, int transpose)
{
	size_t rows = dims_positions(d), columns = (size_t)d->c;

	return ref_matrix((const REAL *)x + (size_t)n * rows * columns, rows,
	    columns, transpose);
}

static void
ref_bmm_forward(struct task *k)
{
	int t = k->op->bmm.transpose;

	for (int n = 0; n < k->out.n; n++)
		ref_matrix_multiply(ref_bmm_clip(&k->out, k->y, n, 0), 0,
		    ref_bmm_clip(&k->in[0], k->x[0], n, t & TRANSPOSE_A),
		    ref_bmm_clip(&k->in[1], k->x[1], n, t & TRANSPOSE_B));
}

/* dA = dy B' and dB = A' dy, where ' is the transpose */
static void
ref_bmm_backward(struct task *k)
{
	int ta = k->op->bmm.transpose & TRANSPOSE_A;
	int tb = k->op->bmm.transpose & TRANSPOSE_B;
	REAL *da = ref_gradient(k, 0), *db;

	for (int n = 0; n < k->out.n && da != NULL; n++)
		ref_matrix_multiply(ref_bmm_clip(&k->in[0], da, n, ta), 1,
		    ref_bmm_clip(&k->out, k->dy, n, 0),
		    ref_bmm_clip(&k->in[1], k->x[1], n, !tb));
	db = ref_gradient(k, 1);
	for (int n = 0; n < k->out.n && db != NULL; n++)
		ref_matrix_multiply(ref_bmm_clip(&k->in[1], db, n, tb), 1,
		    ref_bmm_clip(&k->in[0], k->x[0], n, !ta),
		    ref_bmm_clip(&k->out, k->dy, n, 0));
}

REF_OP(bmm, .reads = READS_X);

/* ---- linear: y[o] = sum over i of w[o][i] x[i] + b[o], for each row ---- */

static void
ref_linear_forward(struct task *k)
{
	int I = k->in[0].c, O = k->out.c;
	const REAL *x = k->x[0], *w = k->w[0], *b = k->w[1];
	REAL *y = k->y;

	for (size_t r = 0, n = ref_rows(&k->out); r < n; r++)
		for (int o = 0; o < O; o++) {
			double s = b[o];

			for (int i = 0; i < I; i++)
				s +=
				    (double)w[(size_t)o * I + i] * x[r * I + i];
			y[r * O + o] = (REAL)s;
		}
}

/* db = sum over rows of dy,  dw = dy' x,  dx += dy w */
static void
ref_linear_backward(struct task *k)
{
	size_t I = (size_t)k->in[0].c, O = (size_t)k->out.c;
	size_t n = ref_rows(&k->out);
	const REAL *dy = k->dy;
	REAL *db = k->dw[1], *dx = ref_gradient(k, 0);

	for (size_t o = 0; o < O && k->needs_weight_grad; o++) {
		double s = 0;

		for (size_t r = 0; r < n; r++)
			s += dy[r * O + o];
		db[o] = (REAL)s;
	}
	if (k->needs_weight_grad)
		ref_matrix_multiply(ref_matrix(k->dw[0], O, I, 0), 0,
		    ref_matrix(dy, n, O, 1), ref_matrix(k->x[0], n, I, 0));
	if (dx != NULL)
		ref_matrix_multiply(ref_matrix(dx, n, I, 0), 1,
		    ref_matrix(dy, n, O, 0), ref_matrix(k->w[0], O, I, 0));
}

REF_OP(linear, .reads = READS_X_DW);

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

static void
ref_softmax_forward(struct task *k)
{
	const struct dims *d = &k->out, g = ref_softmax_groups(k);
	size_t n = dims_count(d), groups = dims_count(&g);
	const REAL *x = k->x[0];
	REAL *y = k->y;
	double *top = k->scratch, *sum = top + groups;

	for (size_t j = 0; j < groups; j++) {
		top[j] = -INFINITY;
		sum[j] = 0;
	}
	for (size_t i = 0; i < n; i++) {
		size_t j = ref_broadcast(d, &g, i);

		top[j] = x[i] > top[j] ? x[i] : top[j];
	}
	for (size_t i = 0; i < n; i++) {
		size_t j = ref_broadcast(d, &g, i);

		sum[j] += exp(x[i] - top[j]);
	}
	for (size_t i = 0; i < n; i++) {
		size_t j = ref_broadcast(d, &g, i);

		y[i] = (REAL)(exp(x[i] - top[j]) / sum[j]);
	}
}

/* dx = y (dy - sum of y dy over the axes) */
static void
ref_softmax_backward(struct task *k)
{
	const struct dims *d = &k->out, g = ref_softmax_groups(k);
	size_t n = dims_count(d);
	const REAL *y = k->y, *dy = k->dy;
	REAL *dx = ref_gradient(k, 0);
	double *dot = k->scratch;

	memset(dot, 0, ref_softmax_scratch(k));
	for (size_t i = 0; i < n; i++)
		dot[ref_broadcast(d, &g, i)] += (double)y[i] * dy[i];
	for (size_t i = 0; i < n && dx != NULL; i++)
		dx[i] += (REAL)(y[i] * (dy[i] -
		    dot[ref_broadcast(d, &g, i)]));
}

REF_OP(softmax, .reads = READS_Y, .scratch = ref_softmax_scratch);
