/* Losses of scores and targets. */
#include <limits.h>
#include <math.h>

#include "backend/ref/ref.h"
#include "graph/metric.h"

/*
 * ---- loss: y = w l with x the scores of a clip, q its soft labels, w its
 * weight ----
 *
 *	softmax:  l = sum over c of q[c] (ln(sum of exp x) - x[c])
 *	focal:    l = sum over c of q[c] (1 - p[c])^gamma (-ln p[c]),
 *		  p = softmax(x)
 *	sigmoid:  l = mean over c of ln(1 + exp x[c]) - q[c] x[c]
 *
 * In softmax and focal losses q[c] has the weight of class c as a factor.
 *
 * The gradient is that of the mean over the clips of the microbatch.  The mean
 * divides by their number, not by their weights.  The weight of the loss and
 * the loss scale of the feed multiply the gradient.
 */

static size_t
ref_loss_scratch(const struct task *k)
{
	return 2 * (size_t)k->in[0].c * sizeof(double);	/* x, q */
}

/*
 * Write the scores and the smoothed and weighted labels of clip ${n} to ${x}
 * and ${q}.  Return its weight.
 */
static double
ref_loss_clip(struct task *k, int n, double *x, double *q)
{
	const struct op *op = k->op;
	const struct target *t = &k->feed->target[op->loss.target];
	int C = k->in[0].c;

	for (int c = 0; c < C; c++) {
		x[c] = ((const REAL *)k->x[0])[(size_t)n * C + c];
		q[c] = target_soft_label(t, n, c) * (1 - op->loss.smooth) +
		    op->loss.smooth / C;
		if (op->loss.kind == LOSS_SOFTMAX)
			q[c] *= target_class_weight(t, c);
	}
	return target_weight(t, n);
}

static double
ref_loss_value(const struct op_loss *op, const double *x, const double *q,
    int C)
{
	double all = metric_logsumexp(x, C), l = 0, value, slope;

	for (int c = 0; c < C; c++)
		if (op->kind == LOSS_SIGMOID) {
			l += metric_binary(x[c], q[c]);
		} else if (q[c] > 0 && op->focus > 0) {
			metric_focal(op->focus, x[c] - all, &value, &slope);
			l += q[c] * value;
		} else if (q[c] > 0) {
			l += q[c] * (all - x[c]);
		}
	return op->kind == LOSS_SIGMOID ? l / C : l;
}

static void
ref_loss_forward(struct task *k)
{
	int C = k->in[0].c, N = k->out.n;
	double *x = k->scratch, *q = x + C;
	struct outcome o = { 0 };
	REAL *y = k->y;

	for (int n = 0; n < N; n++) {
		double w = ref_loss_clip(k, n, x, q);
		int rank = target_rank(&k->feed->target[k->op->loss.target],
		    n, x);

		y[n] = (REAL)(w != 0 ? w * ref_loss_value(&k->op->loss, x, q,
		    C) : 0);
		o.loss += (double)y[n] / N;
		o.top1 += rank < 1;
		o.top5 += rank < 5;
		o.ranked += rank < INT_MAX;
	}
	if (k->feed->outcome != NULL)
		k->feed->outcome[k->op->loss.head] = o;
}

/* Multiply each q by the slope of its focal loss (graph/metric.h). */
static void
ref_loss_focus(double gamma, const double *x, double *q, int C)
{
	double all = metric_logsumexp(x, C), value, slope;

	for (int c = 0; c < C; c++) {
		if (!(q[c] > 0))
			continue;
		metric_focal(gamma, x[c] - all, &value, &slope);
		q[c] *= slope;
	}
}

/*
 * softmax:  dx[c] += w / N (softmax(x)[c] (sum of q) - q[c])
 * focal:    the same, with q[c] times the slope of its class
 * sigmoid:  dx[c] += w / N (sigmoid(x[c]) - q[c]) / C
 *
 * Here w includes the weight of the loss and the loss scale.
 */
static void
ref_loss_backward(struct task *k)
{
	int C = k->in[0].c, N = k->out.n;
	double *x = k->scratch, *q = x + C;
	REAL *dx = ref_gradient(k, 0);

	if (dx == NULL)
		return;
	for (int n = 0; n < N; n++, dx += C) {
		double w = ref_loss_clip(k, n, x, q) * k->op->loss.weight *
		    feed_scale(k->feed);
		double all = metric_logsumexp(x, C), whole = 0;

		if (k->op->loss.focus > 0)
			ref_loss_focus(k->op->loss.focus, x, q, C);
		for (int c = 0; c < C; c++)
			whole += q[c];
		for (int c = 0; c < C && w != 0; c++)
			dx[c] += (REAL)((k->op->loss.kind == LOSS_SIGMOID ?
			    (1 / (1 + exp(-x[c])) - q[c]) / C :
			    exp(x[c] - all) * whole - q[c]) / N * w);
	}
}

REF_OP(loss, .reads = READS_X, .scratch = ref_loss_scratch);
