/*
 * Operators in which no network of share/models spends a thousandth of a step:
 * the loops of backend/ref run on copies in its layout, in fp32 and bf16.
 */
#include "backend/cpu/cpu.h"

#define REAL float
#include "backend/ref/ref.h"

/* In bf16, too, the copies are fp32: ref must not round them. */
static struct device cpu_fallback_device;

static const struct op_impl *
cpu_fallback_ref(const struct task *t)
{
	return REF(backend).ops[t->op->kind];
}

static size_t
cpu_fallback_ref_scratch(const struct task *t)
{
	const struct op_impl *ref = cpu_fallback_ref(t);

	return ref->scratch != NULL ? ref->scratch(t) : 0;
}

/* Scratch: that of ref; all activations, and their gradients. */
size_t
cpu_fallback_scratch(const struct task *t)
{
	size_t n = dims_count(&t->out);

	for (int j = 0; j < t->op->nin; j++)
		n += dims_count(&t->in[j]);
	return cpu_fallback_ref_scratch(t) + (t->no_grad ? 1 : 2) * n *
	    sizeof(float);
}

/*
 * Return memory at ${*at} for an activation of shape ${d}, with the values of
 * ${x} if ${read} is not 0; NULL if ${x} is.
 */
static void *
cpu_fallback_copy(const struct task *t, float **at, const struct dims *d,
    const void *x, int read)
{
	float *rows = *at;

	if (x == NULL)
		return NULL;
	if (read)
		cpu_rows_read(t, d, rows, x);
	*at += dims_count(d);
	return rows;
}

/* Return ${t} on copies of what a pass reads, with room for what it writes. */
static struct task
cpu_fallback_open(const struct task *t, int back)
{
	const struct op_impl *ref = cpu_fallback_ref(t);
	int x = !back || ref->reads & (READS_X | READS_X_DW);
	int y = back && ref->reads & READS_Y;
	float *at = (float *)((char *)t->scratch +
	    cpu_fallback_ref_scratch(t));
	struct task copy = *t;

	copy.device = &cpu_fallback_device;
	for (int j = 0; j < t->op->nin; j++) {
		copy.x[j] = cpu_fallback_copy(t, &at, &t->in[j], t->x[j], x);
		copy.dx[j] = back ? cpu_fallback_copy(t, &at, &t->in[j],
		    t->dx[j], t->accumulate[j]) : NULL;
	}
	copy.y = cpu_fallback_copy(t, &at, &t->out, t->y, y);
	copy.dy = back ? cpu_fallback_copy(t, &at, &t->out, t->dy, 1) : NULL;
	return copy;
}

void
cpu_fallback_forward(struct task *t)
{
	struct task copy = cpu_fallback_open(t, 0);

	cpu_fallback_ref(t)->forward(&copy);
	cpu_rows_write(t, &t->out, t->y, copy.y, 0);
}

void
cpu_fallback_backward(struct task *t)
{
	struct task copy = cpu_fallback_open(t, 1);

	cpu_fallback_ref(t)->backward(&copy);
	for (int j = 0; j < t->op->nin; j++)
		if (t->dx[j] != NULL)
			cpu_rows_write(t, &t->in[j], t->dx[j], copy.dx[j], 0);
}

static size_t
cpu_fallback_saved(const struct task *t)
{
	const struct op_impl *ref = cpu_fallback_ref(t);

	return ref->saved != NULL ? ref->saved(t) : 0;
}

static int
cpu_fallback_prepare(struct task *t)
{
	t->reads = cpu_fallback_ref(t)->reads;
	return 0;
}

const struct op_impl cpu_fallback = {
	.prepare = cpu_fallback_prepare, .saved = cpu_fallback_saved,
	.scratch = cpu_fallback_scratch, .forward = cpu_fallback_forward,
	.backward = cpu_fallback_backward,
};
