/*
 * The operator linear, at the end of a network.  It takes little time, so it
 * favors precision: it sums in double.
 */
#include <string.h>

#include "backend/cpu/cpu.h"

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
