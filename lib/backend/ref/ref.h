#ifndef BACKEND_REF_REF_H
#define BACKEND_REF_REF_H

/*
 * The reference back end: direct loops over [n][t][h][w][c] in one thread.  It
 * is simple rather than fast, and tests compare the other back ends with it.
 *
 * Each NAME.real.c is compiled twice, with REAL as the stored type: float for
 * the back end ref, double for ref64.  Both add in double.  A symbol used by
 * other files is named REF(name), so that both variants can be linked.
 *
 * With a 16-bit precision, activations and their gradients are rounded to it
 * but stored as REAL.  They are the expected results for devices that store 16
 * bits.
 */

#include <stddef.h>
#include <string.h>

#include "backend/backend.h"

#define REF_JOIN(name, real)	ref_ ## name ## _ ## real
#define REF_AS(name, real)	REF_JOIN(name, real)
#define REF(name)		REF_AS(name, REAL)

/*
 * Define the operator REF(name) by ref_NAME_forward and ref_NAME_backward,
 * followed by other fields of struct op_impl.  Outputs and input gradients are
 * rounded to the device's precision when they are complete.
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
 * Round the output, or the input gradients, of task ${k} to the precision of
 * its device.  Losses, parameters, their gradients and the statistics of bn are
 * not rounded.
 */
void REF(round_output)(struct task *k);
void REF(round_gradients)(struct task *k);

/*
 * REF(clamp)(d, c), REF(track)(d, t): the functions of struct param_ops, whose
 * results in float the back end cpu has, too.  ${d} is not used.
 */
void REF(clamp)(struct device *d, const struct clamp *c);
void REF(track)(struct device *d, const struct track *t);

#define OPERATOR(KIND, name, cpu, bf16) extern const struct op_impl REF(name);
#include "backend/ops.def"
extern const struct backend REF(backend);

/* Return the offset of channel 0 at position (t, h, w) of clip ${n}. */
static inline size_t
ref_at(const struct dims *d, int n, int t, int h, int w)
{
	return ((((size_t)n * d->t + t) * d->h + h) * d->w + w) * d->c;
}

/*
 * Return the element of an activation of shape ${to} that belongs to element
 * ${i} of one of shape ${d}.  Each axis of ${to} has the length of ${d}, or 1.
 */
static inline size_t
ref_broadcast(const struct dims *d, const struct dims *to, size_t i)
{
	int c = (int)(i % (size_t)d->c), w = (int)((i /= (size_t)d->c) %
	    (size_t)d->w), h = (int)((i /= (size_t)d->w) % (size_t)d->h);
	int t = (int)((i /= (size_t)d->h) % (size_t)d->t);

	return ref_at(to, (int)(i / (size_t)d->t) % to->n, t % to->t, h % to->h,
	    w % to->w) + (size_t)(c % to->c);
}

/*
 * Return the number of rows: channels are the last axis, so an activation is
 * rows of c numbers.
 */
static inline size_t
ref_rows(const struct dims *d)
{
	return dims_count(d) / d->c;
}

/*
 * Return input gradient ${j} for adding to it, or NULL if it is not needed.
 * Clear it first if this task is its first writer.
 */
static inline REAL *
ref_gradient(struct task *k, int j)
{
	if (k->dx[j] != NULL && !k->accumulate[j])
		memset(k->dx[j], 0, dims_count(&k->in[j]) * sizeof(REAL));
	return k->dx[j];
}

/*
 * REF(visit)(k, visit, finish, arg):
 * Call visit(k, output row, input row, tap, ${arg}) for each output position in
 * order, and for each tap of the kernel inside the input.  Then call ${finish}
 * for the position, unless it is NULL.
 */
void REF(visit)(struct task *k, void (*visit)(struct task *, size_t y, size_t x,
    int tap, void *), void (*finish)(struct task *, size_t y, void *),
    void *arg);

/*
 * Set ${in} to the input position that tap (a, b, c) of output (t, h, w) reads.
 * Return 1 if it is inside the input.
 */
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
