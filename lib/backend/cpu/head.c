/* The classifier and the loss: little work, done carefully. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/fail.h"

/*
 * ---- linear: rows of padded channels; w is [out][in] ----
 */

static int
linear_prepare(struct task *t)
{
	if (cpu_places(&t->in[0]) != 1)
		return fail("%s: the cpu back end runs linear layers after "
		    "avgpool over=hw only", t->op->name);
	return 0;
}

static const float *
row(const struct dims *d, const void *x, int i)
{
	return (const float *)x + (size_t)i * cpu_image(d);
}

/* One row of scores. */
static void
linear_row(int i, int thread, void *arg)
{
	struct task *t = arg;
	const float *x = row(&t->in[0], t->x[0], i), *w = t->w[0];
	float *y = (float *)row(&t->out, t->y, i);
	size_t n = (size_t)t->in[0].c;

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		y[o] = (float)(cpu.k->dot(x, w + (size_t)o * n, n) +
		    ((const float *)t->w[1])[o]);
	for (int o = t->out.c; o < cpu_padded(t->out.c); o++)
		y[o] = 0;
}

static void
linear_forward(struct task *t)
{
	pool_run(cpu.pool, cpu_images(&t->out), linear_row, t);
}

/* The weight gradient of one output, summed over rows in their order. */
static void
linear_back_out(int o, int thread, void *arg)
{
	struct task *t = arg;
	size_t n = (size_t)t->in[0].c;
	float *dw = (float *)t->dw[0] + (size_t)o * n;
	double db = 0;

	(void)thread;
	for (int i = 0; i < cpu_images(&t->out); i++) {
		float dy = row(&t->out, t->dy, i)[o];

		db += dy;
		cpu.k->scale(dw, dy, row(&t->in[0], t->x[0], i), n, i > 0);
	}
	((float *)t->dw[1])[o] = (float)db;
}

static void
linear_back_row(int i, int thread, void *arg)
{
	struct task *t = arg;
	size_t n = (size_t)t->in[0].c;
	const float *dy = row(&t->out, t->dy, i);
	float *dx = (float *)row(&t->in[0], t->dx[0], i);

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		cpu.k->scale(dx, dy[o], (const float *)t->w[0] + (size_t)o * n,
		    n, o > 0 || t->accumulate[0]);
	if (!t->accumulate[0])
		memset(dx + n, 0, ((size_t)cpu_padded(t->in[0].c) - n) *
		    sizeof(float));
}

static void
linear_backward(struct task *t)
{
	pool_run(cpu.pool, t->out.c, linear_back_out, t);
	if (t->dx[0] != NULL)
		pool_run(cpu.pool, cpu_images(&t->out), linear_back_row, t);
}

const struct op_impl cpu_linear = {
	.reads = READS_X, .prepare = linear_prepare,
	.forward = linear_forward, .backward = linear_backward,
};

/*
 * ---- loss: -ln softmax(x)[label] of each clip, in double ----
 */

/* ln of the sum of exp(x). */
static double
log_sum(const float *x, int n)
{
	double top = x[0], sum = 0;

	for (int c = 1; c < n; c++)
		top = x[c] > top ? x[c] : top;
	for (int c = 0; c < n; c++)
		sum += exp(x[c] - top);
	return top + log(sum);
}

static void
loss_forward(struct task *t)
{
	for (int i = 0; i < t->out.n; i++) {
		const float *x = row(&t->in[0], t->x[0], i);
		float *y = (float *)row(&t->out, t->y, i);
		int label = t->feed->label[i];

		memset(y, 0, cpu_image(&t->out) * sizeof(float));
		if (label >= 0)
			y[0] = (float)(log_sum(x, t->in[0].c) - x[label]);
	}
}

/* The gradient of the mean over the clips of the microbatch. */
static void
loss_backward(struct task *t)
{
	for (int i = 0; i < t->out.n && t->dx[0] != NULL; i++) {
		const float *x = row(&t->in[0], t->x[0], i);
		float *dx = (float *)row(&t->in[0], t->dx[0], i);
		int label = t->feed->label[i];
		double all = log_sum(x, t->in[0].c);

		if (!t->accumulate[0])
			memset(dx, 0, cpu_image(&t->in[0]) * sizeof(float));
		for (int c = 0; c < t->in[0].c && label >= 0; c++)
			dx[c] += (float)((exp(x[c] - all) - (c == label)) /
			    t->out.n);
	}
}

const struct op_impl cpu_loss = {
	.reads = READS_X, .forward = loss_forward, .backward = loss_backward,
};
