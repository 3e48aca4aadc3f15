/*
 * The operator loss, in fp32 and bf16: no network spends a thousandth of a step
 * in it.  The loops of backend/ref run on copies in its layout, [n][c].
 */
#include <string.h>

#include "backend/cpu/cpu.h"

#define REAL float
#include "backend/ref/ref.h"

/* In bf16, too, scores and losses are fp32: ref must not round them. */
static struct device cpu_loss_device;

/* Scratch: that of ref; x and y, or x and dx. */
static size_t
cpu_loss_scratch(const struct task *t)
{
	return REF(loss).scratch(t) + 2 * sizeof(float) * dims_count(&t->in[0]);
}

/* Copy an activation of one position to ${rows}, or ${back} from there. */
static void
cpu_loss_copy(const struct dims *d, void *x, float *rows, int back)
{
	size_t bytes = (size_t)d->c * sizeof(float);

	if (back)
		memset(x, 0, cpu_floats(d) * sizeof(float));
	for (int i = 0; i < d->n; i++) {
		float *at = cpu_plane(d, x, i, 0), *row = rows + i * d->c;

		memcpy(back ? at : row, back ? row : at, bytes);
	}
}

static void
cpu_loss_forward(struct task *t)
{
	struct task copy = *t;
	float *x = (float *)((char *)t->scratch + REF(loss).scratch(t));
	float *y = x + dims_count(&t->in[0]);

	cpu_loss_copy(&t->in[0], (void *)t->x[0], x, 0);
	copy.device = &cpu_loss_device;
	copy.x[0] = x;
	copy.y = y;
	REF(loss).forward(&copy);
	cpu_loss_copy(&t->out, t->y, y, 1);
}

static void
cpu_loss_backward(struct task *t)
{
	struct task copy = *t;
	float *x = (float *)((char *)t->scratch + REF(loss).scratch(t));
	float *dx = x + dims_count(&t->in[0]);

	if (t->dx[0] == NULL)
		return;
	cpu_loss_copy(&t->in[0], (void *)t->x[0], x, 0);
	cpu_loss_copy(&t->in[0], t->dx[0], dx, 0);
	copy.device = &cpu_loss_device;
	copy.x[0] = x;
	copy.dx[0] = dx;
	REF(loss).backward(&copy);
	cpu_loss_copy(&t->in[0], t->dx[0], dx, 1);
}

const struct op_impl cpu_loss = {
	.reads = READS_X, .scratch = cpu_loss_scratch,
	.forward = cpu_loss_forward, .backward = cpu_loss_backward,
};
