/*
 * Convolutions and GEMMs by plain loops, in double.  Outputs are rounded to
 * fp32 and then to their type, as libraries do.  Norms and sums that are fused
 * into a convolution use the rounded values.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "number.h"
#include "own.h"

static double *
load(const void *p, size_t n, enum gpu_type t)
{
	double *v = xmalloc(n * sizeof(*v) + 1);

	for (size_t i = 0; i < n; i++)
		v[i] = number_get(p, i, t);
	return v;
}

static void
store(void *p, const double *v, size_t n, enum gpu_type t)
{
	for (size_t i = 0; i < n; i++)
		number_put(p, i, t, (float)v[i]);
}

/* sum += by * v.  Nearly all time is spent here, so the loop is written for
 * vectors. */
static void
axpy(double *restrict sum, double by, const double *restrict v, int n)
{
	int i = 0;

	for (; i + 8 <= n; i += 8)
		for (int k = 0; k < 8; k++)
			sum[i + k] += by * v[i + k];
	for (; i < n; i++)
		sum[i] += by * v[i];
}

/* Process one pixel of y and the pixel of x that kernel position ${k} connects
 * to it. */
static void
join(const struct conv_shape *s, double *x, double *w, double *y, size_t k,
    size_t kernels)
{
	int in = s->in / s->groups, out = s->out / s->groups;

	for (int g = 0; g < s->groups; g++, x += in, y += out)
		if (s->pass == CONV_FORWARD)
			/* weights [group][k][in][out] */
			for (int i = 0; i < in; i++)
				axpy(y, x[i], w + ((((size_t)g * kernels + k) *
				    (size_t)in) + (size_t)i) * (size_t)out,
				    out);
		else
			for (int o = 0; o < out; o++) {
				double *at = w + (((size_t)g * (size_t)out +
				    (size_t)o) * kernels + k) * (size_t)in;

				if (s->pass == CONV_DATA)
					axpy(x, y[o], at, in);
				else
					axpy(at, y[o], x, in);
			}
}

/* Transpose weights [out][k][in] to [group][k][in][out of the group]. */
static double *
turned(const struct conv_shape *s, const double *w, size_t kernels)
{
	size_t in = (size_t)(s->in / s->groups);
	size_t out = (size_t)(s->out / s->groups);
	double *v = xmalloc((size_t)s->out * kernels * in * sizeof(*v));

	for (size_t o = 0; o < (size_t)s->out; o++)
		for (size_t k = 0; k < kernels; k++)
			for (size_t i = 0; i < in; i++)
				v[((o / out * kernels + k) * in + i) * out +
				    o % out] = w[(o * kernels + k) * in + i];
	return v;
}

/* Return the pixel of x that kernel position ${k} reads for pixel ${to} of y,
 * or -1 in the padding. */
static long
meets(const struct conv_shape *s, long to, long k)
{
	long at = 0, unit = 1;

	for (int d = s->dims - 1; d >= 0; d--) {
		long x = to % s->to[d] * s->stride[d] - s->pad[d] +
		    k % s->kernel[d];

		if (x < 0 || x >= s->from[d])
			return -1;
		at += x * unit;
		unit *= s->from[d];
		to /= s->to[d];
		k /= s->kernel[d];
	}
	return at;
}

void
loops_conv(const struct conv_shape *s, void *x, void *w, void *y)
{
	size_t from = 1, to = 1, kernels = 1, nx, ny, nw;
	double *vx, *vw, *vy, *other = NULL;

	for (int d = 0; d < s->dims; d++) {
		from *= (size_t)s->from[d];
		to *= (size_t)s->to[d];
		kernels *= (size_t)s->kernel[d];
	}
	nx = (size_t)s->n * from * (size_t)s->in;
	ny = (size_t)s->n * to * (size_t)s->out;
	nw = kernels * (size_t)s->out * (size_t)(s->in / s->groups);
	vx = s->pass == CONV_DATA && !s->accumulate ? xcalloc(nx, sizeof(*vx)) :
	    load(x, nx, s->type);
	vw = s->pass == CONV_WEIGHTS ? xcalloc(nw, sizeof(*vw)) :
	    load(w, nw, s->type);
	vy = s->pass == CONV_FORWARD ? xcalloc(ny, sizeof(*vy)) :
	    load(y, ny, s->type);
	if (s->pass == CONV_FORWARD)
		other = turned(s, vw, kernels);
	for (size_t n = 0; n < (size_t)s->n; n++)
		for (size_t i = 0; i < to; i++)
			for (size_t k = 0; k < kernels; k++) {
				long at = meets(s, (long)i, (long)k);

				if (at >= 0)
					join(s, vx + (n * from + (size_t)at) *
					    (size_t)s->in, other != NULL ?
					    other : vw, vy + (n * to + i) *
					    (size_t)s->out, k, kernels);
			}
	if (s->pass == CONV_FORWARD)
		store(y, vy, ny, s->type);
	else if (s->pass == CONV_DATA)
		store(x, vx, nx, s->type);
	else
		store(w, vw, nw, s->type);
	free(vx);
	free(vw);
	free(vy);
	free(other);
}

void
loops_product_bytes(const struct gemm_shape *s, size_t bytes[3])
{
	size_t rows[3] = { (size_t)(s->transpose_a ? s->k : s->m),
		(size_t)(s->transpose_b ? s->n : s->k), (size_t)s->m };
	size_t columns[3] = { (size_t)(s->transpose_a ? s->m : s->k),
		(size_t)(s->transpose_b ? s->k : s->n), (size_t)s->n };
	size_t ld[3] = { s->lda, s->ldb, s->ldc };
	size_t stride[3] = { s->stride_a, s->stride_b, s->stride_c };

	for (int i = 0; i < 3; i++)
		bytes[i] = ((size_t)(s->batch - 1) * stride[i] +
		    (rows[i] - 1) * ld[i] + columns[i]) *
		    type_bytes(i < 2 ? s->type_ab : s->type_c);
}

void
loops_product(const struct gemm_shape *s, const void *a, const void *b,
    void *c)
{
	size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
	double *row = xmalloc(n * sizeof(*row));
	double *vb = xmalloc(k * n * sizeof(*vb));

	for (size_t z = 0; z < (size_t)s->batch; z++) {
		for (size_t i = 0; i < k; i++)
			for (size_t j = 0; j < n; j++)
				vb[i * n + j] = number_get(b, z * s->stride_b +
				    (s->transpose_b ? j * s->ldb + i :
				    i * s->ldb + j), s->type_ab);
		for (size_t i = 0; i < m; i++) {
			size_t at = z * s->stride_c + i * s->ldc;

			for (size_t j = 0; j < n; j++)
				row[j] = s->accumulate ? number_get(c, at + j,
				    s->type_c) : 0;
			for (size_t q = 0; q < k; q++)
				axpy(row, number_get(a, z * s->stride_a +
				    (s->transpose_a ? q * s->lda + i :
				    i * s->lda + q), s->type_ab), vb + q * n,
				    (int)n);
			for (size_t j = 0; j < n; j++)
				number_put(c, at + j, s->type_c,
				    (float)row[j]);
		}
	}
	free(row);
	free(vb);
}
