#ifndef BACKEND_REF_REF_H
#define BACKEND_REF_REF_H

/*
 * The reference back end: plain loops over [n][t][h][w][c], one thread.  It
 * exists to be obviously right; the other back ends are tested against it.
 *
 * Each NAME.real.c is compiled twice, with REAL as the type of what is stored:
 * float is the back end ref, double ref64.  Sums are double in both.  What a
 * file shows to the others is called REF(name), so that both can be linked.
 * Opened with a precision of 16 bits, either keeps activations and their
 * gradients as numbers that have these: the answer key for devices that store
 * so.
 */

#include <stddef.h>
#include <string.h>

#include "backend/backend.h"

#define REF_JOIN(name, real)	ref_ ## name ## _ ## real
#define REF_AS(name, real)	REF_JOIN(name, real)
#define REF(name)		REF_AS(name, REAL)

/*
 * An operator of ref_NAME_forward and ref_NAME_backward; then what else it has.  What
 * they store is rounded to the device's precision once it is whole.
 */
#define REF_OP(name, ...) \
	static void ref_ ## name ## _forward_rounded(struct task *k) \
	{ \
		ref_ ## name ## _forward(k); \
		REF(round_output)(k); \
	} \
	static void ref_ ## name ## _backward_rounded(struct task *k) \
	{ \
		ref_ ## name ## _backward(k); \
		REF(round_gradients)(k); \
	} \
	const struct op_impl REF(name) = { \
		.forward = ref_ ## name ## _forward_rounded, \
		.backward = ref_ ## name ## _backward_rounded, __VA_ARGS__ }

/*
 * REF(round_output)(k), REF(round_gradients)(k):
 * Round the output, or the input gradients, of a task.  A loss is a result and
 * no activation, and stays as it is, like parameters, their gradients and the
 * statistics of bn.
 */
void REF(round_output)(struct task *k);
void REF(round_gradients)(struct task *k);

#define OPERATOR(KIND, name, half) extern const struct op_impl REF(name);
#include "backend/ops.def"

/* Offset of channel 0 at a place. */
static inline size_t
ref_at(const struct dims *d, int n, int t, int h, int w)
{
	return ((((size_t)n * d->t + t) * d->h + h) * d->w + w) * d->c;
}

/* Channels are the last axis: an activation is rows of c numbers. */
static inline size_t
ref_rows(const struct dims *d)
{
	return dims_count(d) / d->c;
}

/* Make ready to add to an input gradient: clear it if nobody wrote it yet. */
static inline REAL *
ref_gradient(struct task *k, int j)
{
	if (k->dx[j] != NULL && !k->accumulate[j])
		memset(k->dx[j], 0, dims_count(&k->in[j]) * sizeof(REAL));
	return k->dx[j];
}

/* The place in the input that tap (a, b, c) of output (t, h, w) reads. */
static inline int
ref_source(const struct task *k, const int out[3], const int tap[3],
    int in[3])
{
	const int size[3] = { k->in[0].t, k->in[0].h, k->in[0].w };

	for (int i = 0; i < 3; i++) {
		in[i] = out[i] * k->op->s[i] - k->op->p[i] + tap[i];
		if (in[i] < 0 || in[i] >= size[i])
			return 0;
	}
	return 1;
}

#endif
