/* A ref64 whose results have relative noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#include "fuzz/networks/noisy.h"

/* State of the process, because the ops have no argument for it. */
static const struct op_impl *const *noisy_exact;
static double noisy_size;		/* 0: none */
static uint32_t noisy_round;		/* chooses the noise */
static double noisy_top;		/* of all outputs and their gradients */

/*
 * The hash is SplitMix64 (Steele et al. 2014): Philox would take a sixth of the
 * time of all checks.
 */
double
noisy_factor(size_t i, uint32_t what)
{
	uint64_t z = (i + ((uint64_t)what << 32) + ((uint64_t)noisy_round << 56)) *
	    0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return 1 + noisy_size * (2 * rng_unit((uint32_t)(z >> 32)) - 1);
}

/* Return 1 if an op of kind ${k} rounds. */
static int
noisy_rounds(enum op_kind k)
{
	return k != OP_INPUT && k != OP_RELU && k != OP_RELU6 &&
	    k != OP_SHIFT && k != OP_MAXPOOL && k != OP_CONCAT &&
	    k != OP_FRAMES;
}

/* Multiply ${v}[n] by 1 + noise.  Return a copy of what it was. */
static double *
noisy_disturb(double *v, size_t n, uint32_t what)
{
	double *was = xcalloc(n, sizeof(*was));

	memcpy(was, v, n * sizeof(*was));
	for (size_t i = 0; i < n; i++)
		v[i] *= noisy_factor(i, what);
	return was;
}

static void
noisy_restore(double *v, double *was, size_t n)
{
	memcpy(v, was, n * sizeof(*v));
	free(was);
}

/*
 * Add noise to ${to}, the output of a bn or its input gradient: relative to
 * ${from} times scale / std, of each value and of each channel.
 */
static void
noisy_norm(const struct task *t, double *to, const double *from, uint32_t what)
{
	size_t c = (size_t)t->out.c, n = dims_count(&t->out);
	const double *scale = t->w[0], *rstd = (const double *)t->saved + c;

	for (size_t k = 0; k < c && to != NULL; k++) {
		double largest = 0;

		for (size_t i = k; i < n; i += c)
			largest = fmax(largest, fabs(from[i]));
		largest *= scale[k] * rstd[k];
		for (size_t i = k; i < n; i += c)
			to[i] += largest * (noisy_factor(i, what) +
			    noisy_factor(k, what + 1) - 2);
	}
}

static void
noisy_measure(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		noisy_top = fmax(noisy_top, fabs(v[i]));
}

static void
noisy_forward(struct task *t)
{
	int n = noisy_size > 0 && noisy_rounds(t->op->kind) ? t->op->nin : 0;
	double *was[OP_INPUTS];
	uint32_t what = (uint32_t)t->index * OP_INPUTS;

	for (int j = 0; j < n; j++)
		was[j] = noisy_disturb((double *)t->x[j],
		    dims_count(&t->in[j]), what + (uint32_t)j);
	noisy_exact[t->op->kind]->forward(t);
	while (--n >= 0)
		noisy_restore((double *)t->x[n], was[n], dims_count(&t->in[n]));
	if (noisy_size > 0 && t->op->kind == OP_BN)
		noisy_norm(t, t->y, t->x[0], 500000 + 2 * (uint32_t)t->index);
	noisy_measure(t->y, dims_count(&t->out));
}

static void
noisy_backward(struct task *t)
{
	size_t n = dims_count(&t->out);
	double *was;

	if (t->dy != NULL)
		noisy_measure(t->dy, n);
	if (noisy_size == 0 || t->dy == NULL) {
		noisy_exact[t->op->kind]->backward(t);
		return;
	}
	was = noisy_disturb((double *)t->dy, n, 200000 + (uint32_t)t->index);
	noisy_exact[t->op->kind]->backward(t);
	if (t->op->kind == OP_BN)
		noisy_norm(t, t->dx[0], t->dy, 600000 + 2 * (uint32_t)t->index);
	noisy_restore((double *)t->dy, was, n);
}

void
noisy_open(struct noisy *x)
{
	x->d = device_open(backend_find("ref64"), &(struct device_options){
	    .threads = 1 });
	noisy_exact = x->d->ops;
	for (int k = 0; k < OP_KINDS; k++) {
		x->impl[k] = *noisy_exact[k];
		x->impl[k].forward = noisy_forward;
		if (x->impl[k].backward != NULL)
			x->impl[k].backward = noisy_backward;
		x->ops[k] = &x->impl[k];
	}
	x->d->ops = x->ops;
}

void
noisy_set(double noise, int round)
{
	noisy_size = noise;
	noisy_round = (uint32_t)round;
	noisy_top = 0;
}

double
noisy_largest(void)
{
	return noisy_top;
}
