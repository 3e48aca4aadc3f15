/*
 * The operators linear and loss, at the end of a network.  They take little
 * time, so they favor precision: they sum in double.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "graph/metric.h"

/*
 * ---- linear: y[row][o] = sum over i of x[row][i] w[o][i] + bias[o] ----
 *
 * One row per position, of padded channels.  Activations with one position per
 * image have this form already.  Others are copied into rows in the scratch
 * memory, and the results are copied back.
 */

struct cpu_linear_job {
	struct task *t;
	int rows;
	const float *x, *dy;		/* [rows][padded channels] */
	float *y, *dx;
};

static const float *
cpu_head_row(const struct dims *d, const void *x, int i)
{
	return (const float *)x + (size_t)i * (size_t)cpu_padded(d->c);
}

static int
cpu_head_rows(const struct dims *d)
{
	return cpu_images(d) * (int)cpu_positions(d);
}

static size_t
cpu_head_row_floats(const struct dims *d)
{
	return (size_t)cpu_head_rows(d) * (size_t)cpu_padded(d->c);
}

static size_t
cpu_linear_scratch(const struct task *t)
{
	return cpu_positions(&t->in[0]) == 1 ? 0 :
	    (2 * cpu_head_row_floats(&t->in[0]) +
	    cpu_head_row_floats(&t->out)) * sizeof(float);
}

struct cpu_head_copy { const struct dims *d; float *rows; void *x; int more; };

static void
cpu_head_to_rows(int i, int thread, void *arg)
{
	const struct cpu_head_copy *k = arg;
	int positions = (int)cpu_positions(k->d);

	(void)thread;
	for (int p = 0; p < positions; p++)
		for (int c = 0; c < k->d->c; c++)
			((float *)cpu_head_row(k->d, k->rows,
			    i * positions + p))[c] = *cpu_element(k->d, k->x, i,
			    (size_t)p, c);
}

static void
cpu_head_from_rows(int i, int thread, void *arg)
{
	const struct cpu_head_copy *k = arg;
	int positions = (int)cpu_positions(k->d);

	(void)thread;
	if (!k->more)
		memset(cpu_plane(k->d, k->x, i, 0), 0, cpu_image(k->d) *
		    sizeof(float));
	for (int p = 0; p < positions; p++)
		for (int c = 0; c < k->d->c; c++)
			*cpu_element(k->d, k->x, i, (size_t)p, c) +=
			    cpu_head_row(k->d, k->rows, i * positions + p)[c];
}

/*
 * Return the rows of the input, the output and the input gradient.  Copy the
 * input into rows if ${read} is not 0.
 */
static struct cpu_linear_job
cpu_head_spread(struct task *t, int read)
{
	struct cpu_linear_job l = { t, cpu_head_rows(&t->out), t->x[0], t->dy,
	    t->y, t->dx[0] };
	float *x = t->scratch, *y = x + cpu_head_row_floats(&t->in[0]);
	struct cpu_head_copy k = { &t->in[0], x, (void *)t->x[0], 0 };

	if (cpu_positions(&t->in[0]) == 1)
		return l;
	if (read)
		cpu_run(t, cpu_images(k.d), cpu_head_to_rows, &k);
	l.x = x;
	l.y = y;
	l.dy = y;
	l.dx = t->dx[0] != NULL ? y + cpu_head_row_floats(&t->out) : NULL;
	return l;
}

/* y[o] = sum over i of x[i] w[o][i] + bias[o], for one row */
static void
cpu_linear_row(int i, int thread, void *arg)
{
	struct cpu_linear_job *l = arg;
	struct task *t = l->t;
	const float *x = cpu_head_row(&t->in[0], l->x, i), *w = t->w[0];
	float *y = (float *)cpu_head_row(&t->out, l->y, i);
	size_t n = (size_t)t->in[0].c;

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		y[o] = (float)(cpu_k(t)->dot(x, w + (size_t)o * n, n) +
		    ((const float *)t->w[1])[o]);
	for (int o = t->out.c; o < cpu_padded(t->out.c); o++)
		y[o] = 0;
}

static void
cpu_linear_forward(struct task *t)
{
	struct cpu_linear_job l = cpu_head_spread(t, 1);

	cpu_run(t, l.rows, cpu_linear_row, &l);
	if (l.y != t->y) {
		struct cpu_head_copy k = { &t->out, l.y, t->y, 0 };

		cpu_run(t, cpu_images(k.d), cpu_head_from_rows, &k);
	}
}

/*
 * dw[o][i] = sum over rows of dy[o] x[i], dbias[o] = sum over rows of dy[o], in
 * the order of the rows
 */
static void
cpu_linear_back_out(int o, int thread, void *arg)
{
	struct cpu_linear_job *l = arg;
	struct task *t = l->t;
	size_t n = (size_t)t->in[0].c;
	float *dw = (float *)t->dw[0] + (size_t)o * n;
	double db = 0;

	(void)thread;
	for (int i = 0; i < l->rows; i++) {
		float dy = cpu_head_row(&t->out, l->dy, i)[o];

		db += dy;
		cpu_k(t)->scale(dw, dy, cpu_head_row(&t->in[0], l->x, i), n,
		    i > 0);
	}
	((float *)t->dw[1])[o] = (float)db;
}

/* dx[i] (+)= sum over o of dy[o] w[o][i], for one row */
static void
cpu_linear_back_row(int i, int thread, void *arg)
{
	struct cpu_linear_job *l = arg;
	struct task *t = l->t;
	size_t n = (size_t)t->in[0].c;
	const float *dy = cpu_head_row(&t->out, l->dy, i);
	float *dx = (float *)cpu_head_row(&t->in[0], l->dx, i);
	int more = l->dx == t->dx[0] && t->accumulate[0];

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		cpu_k(t)->scale(dx, dy[o], (const float *)t->w[0] + (size_t)o *
		    n, n, o > 0 || more);
	if (!more)
		memset(dx + n, 0, ((size_t)cpu_padded(t->in[0].c) - n) *
		    sizeof(float));
}

static void
cpu_linear_backward(struct task *t)
{
	struct cpu_linear_job l = cpu_head_spread(t, t->needs_weight_grad);

	if (l.dy != t->dy) {
		struct cpu_head_copy k = { &t->out, (float *)l.dy,
		    (void *)t->dy, 0 };

		cpu_run(t, cpu_images(k.d), cpu_head_to_rows, &k);
	}
	if (t->needs_weight_grad)
		cpu_run(t, t->out.c, cpu_linear_back_out, &l);
	if (l.dx == NULL)
		return;
	cpu_run(t, l.rows, cpu_linear_back_row, &l);
	if (l.dx != t->dx[0]) {
		struct cpu_head_copy k = { &t->in[0], l.dx, t->dx[0],
		    t->accumulate[0] };

		cpu_run(t, cpu_images(k.d), cpu_head_from_rows, &k);
	}
}

const struct op_impl cpu_linear = {
	.reads = READS_X_DW, .scratch = cpu_linear_scratch,
	.forward = cpu_linear_forward, .backward = cpu_linear_backward,
};

/*
 * ---- loss ----
 *
 * The formulas are those of backend/ref, in double.  x is the scores of a clip
 * and q its smoothed soft labels; both are in the scratch memory.
 *
 *	softmax	w sum over c of q[c] (log(sum of exp(x)) - x[c])
 *	focal	w sum over c of q[c] metric_focal of log(softmax(x)[c])
 *	sigmoid	w mean over c of the binary cross-entropy of x[c] and q[c]
 *
 * In softmax and focal losses q[c] has the weight of class c as a factor.
 */

static size_t
cpu_loss_scratch(const struct task *t)
{
	return 2 * (size_t)t->in[0].c * sizeof(double);
}

/* Load x and q of clip ${i} and return its weight. */
static double
cpu_loss_clip(struct task *t, int i, double *x, double *q)
{
	const struct target *target = &t->feed->target[t->op->loss.target];
	const float *from = cpu_head_row(&t->in[0], t->x[0], i);
	int n = t->in[0].c;

	for (int c = 0; c < n; c++) {
		x[c] = from[c];
		q[c] = target_soft_label(target, i, c) *
		    (1 - t->op->loss.smooth) + t->op->loss.smooth / n;
		if (t->op->loss.kind == LOSS_SOFTMAX)
			q[c] *= target_class_weight(target, c);
	}
	return target_weight(target, i);
}

static double
cpu_loss_sigmoid(const double *x, const double *q, int n)
{
	double sum = 0;

	for (int c = 0; c < n; c++)
		sum += metric_binary(x[c], q[c]);
	return sum / n;
}

static double
cpu_loss_softmax(const double *x, const double *q, int n)
{
	double all = metric_logsumexp(x, n), sum = 0;

	for (int c = 0; c < n; c++)
		if (q[c] > 0)
			sum += q[c] * (all - x[c]);
	return sum;
}

/*
 * Return the focal loss of exponent ${gamma}.  Multiply each q by the slope of
 * its class, for the gradient.
 */
static double
cpu_loss_focal(double gamma, const double *x, double *q, int n)
{
	double all = metric_logsumexp(x, n), sum = 0, value, slope;

	for (int c = 0; c < n; c++) {
		if (!(q[c] > 0))
			continue;
		metric_focal(gamma, x[c] - all, &value, &slope);
		sum += q[c] * value;
		q[c] *= slope;
	}
	return sum;
}

static double
cpu_loss_value(const struct op *op, const double *x, double *q, int n)
{
	return op->loss.kind == LOSS_SIGMOID ? cpu_loss_sigmoid(x, q, n) :
	    op->loss.focus > 0 ? cpu_loss_focal(op->loss.focus, x, q, n) :
	    cpu_loss_softmax(x, q, n);
}

static void
cpu_loss_forward(struct task *t)
{
	int n = t->in[0].c;
	double *x = t->scratch, *q = x + n;
	struct outcome o = { 0 };

	for (int i = 0; i < t->out.n; i++) {
		float *y = (float *)cpu_head_row(&t->out, t->y, i);
		double w = cpu_loss_clip(t, i, x, q);
		int rank = target_rank(&t->feed->target[t->op->loss.target],
		    i, x);

		memset(y, 0, cpu_image(&t->out) * sizeof(float));
		if (w != 0)
			y[0] = (float)(w * cpu_loss_value(t->op, x, q, n));
		o.loss += (double)y[0] / t->out.n;
		o.top1 += rank < 1;
		o.top5 += rank < 5;
		o.ranked += rank < INT_MAX;
	}
	if (t->feed->outcome != NULL)
		t->feed->outcome[t->op->loss.head] = o;
}

/*
 * The gradient of the loss, a mean over the n clips of the microbatch.  w is
 * the weight of the clip, times that of the loss and the loss scale:
 *
 *	softmax	dx[c] = w / n (exp(x[c]) / sum of exp(x) * sum of q - q[c])
 *	focal	the same, with q[c] times the slope of its class
 *	sigmoid	dx[c] = w / n (1 / (1 + exp(-x[c])) - q[c]) / classes
 */
static void
cpu_loss_backward(struct task *t)
{
	int n = t->in[0].c;
	double *x = t->scratch, *q = x + n;

	for (int i = 0; i < t->out.n && t->dx[0] != NULL; i++) {
		float *dx = (float *)cpu_head_row(&t->in[0], t->dx[0], i);
		double w = cpu_loss_clip(t, i, x, q) * t->op->loss.weight *
		    feed_scale(t->feed), all, whole = 0;

		if (!t->accumulate[0])
			memset(dx, 0, cpu_image(&t->in[0]) * sizeof(float));
		if (w == 0)
			continue;
		if (t->op->loss.focus > 0)
			cpu_loss_focal(t->op->loss.focus, x, q, n);
		all = metric_logsumexp(x, n);
		for (int c = 0; c < n; c++)
			whole += q[c];
		for (int c = 0; c < n; c++)
			dx[c] += (float)((t->op->loss.kind == LOSS_SIGMOID ?
			    (1 / (1 + exp(-x[c])) - q[c]) / n :
			    exp(x[c] - all) * whole - q[c]) / t->out.n * w);
	}
}

const struct op_impl cpu_loss = {
	.reads = READS_X, .scratch = cpu_loss_scratch,
	.forward = cpu_loss_forward, .backward = cpu_loss_backward,
};
