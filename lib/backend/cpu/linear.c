/*
 * The operator linear, at the end of a network.  It takes little time, so it
 * favors precision: it sums in double.
 */
#include <string.h>

#include "backend/cpu/cpu.h"

/*
 * ---- linear: y[row][o] = sum over i of x[row][i] w[o][i] + bias[o] ----
 *
 * One row per position.  Activations with one position per image have this form
 * already, with padded channels.  Others are copied into rows in the scratch
 * memory, and the results are copied back.
 */

struct cpu_linear_job {
	struct task *t;
	int rows;
	size_t in, out;			/* floats of a row */
	const float *x, *dy;		/* [rows][in], [rows][out] */
	float *y, *dx;
};

static size_t
cpu_linear_scratch(const struct task *t)
{
	return cpu_positions(&t->in[0]) == 1 ? 0 :
	    (2 * dims_count(&t->in[0]) + dims_count(&t->out)) * sizeof(float);
}

/*
 * Return the rows of the input, the output and the input gradient.  Copy the
 * input into rows if ${read} is not 0.
 */
static struct cpu_linear_job
cpu_linear_open(struct task *t, int read)
{
	const struct dims *in = &t->in[0], *out = &t->out;
	struct cpu_linear_job l = { t, cpu_images(out) *
		(int)cpu_positions(out), (size_t)cpu_padded(in->c),
		(size_t)cpu_padded(out->c), t->x[0], t->dy, t->y, t->dx[0] };
	float *x = t->scratch, *y = x + dims_count(in);

	if (cpu_positions(in) == 1)
		return l;
	if (read)
		cpu_rows_read(t, in, x, t->x[0]);
	l.in = (size_t)in->c;
	l.out = (size_t)out->c;
	l.x = x;
	l.y = y;
	l.dy = y;
	l.dx = t->dx[0] != NULL ? y + dims_count(out) : NULL;
	return l;
}

/* y[o] = sum over i of x[i] w[o][i] + bias[o], for one row */
static void
cpu_linear_row(int i, int thread, void *arg)
{
	struct cpu_linear_job *l = arg;
	struct task *t = l->t;
	const float *x = l->x + (size_t)i * l->in, *w = t->w[0];
	float *y = l->y + (size_t)i * l->out;
	size_t n = (size_t)t->in[0].c;

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		y[o] = (float)(cpu_k(t)->dot(x, w + (size_t)o * n, n) +
		    ((const float *)t->w[1])[o]);
	for (size_t o = (size_t)t->out.c; o < l->out; o++)
		y[o] = 0;
}

static void
cpu_linear_forward(struct task *t)
{
	struct cpu_linear_job l = cpu_linear_open(t, 1);

	cpu_run(t, l.rows, cpu_linear_row, &l);
	if (l.y != t->y)
		cpu_rows_write(t, &t->out, t->y, l.y, 0);
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
		float dy = l->dy[(size_t)i * l->out + (size_t)o];

		db += dy;
		cpu_k(t)->scale(dw, dy, l->x + (size_t)i * l->in, n, i > 0);
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
	const float *dy = l->dy + (size_t)i * l->out;
	float *dx = l->dx + (size_t)i * l->in;
	int more = l->dx == t->dx[0] && t->accumulate[0];

	(void)thread;
	for (int o = 0; o < t->out.c; o++)
		cpu_k(t)->scale(dx, dy[o], (const float *)t->w[0] + (size_t)o *
		    n, n, o > 0 || more);
	if (!more)
		memset(dx + n, 0, (l->in - n) * sizeof(float));
}

static void
cpu_linear_backward(struct task *t)
{
	struct cpu_linear_job l = cpu_linear_open(t, t->needs_weight_grad);

	if (l.dy != t->dy)
		cpu_rows_read(t, &t->out, (float *)l.dy, t->dy);
	if (t->needs_weight_grad)
		cpu_run(t, t->out.c, cpu_linear_back_out, &l);
	if (l.dx == NULL)
		return;
	cpu_run(t, l.rows, cpu_linear_back_row, &l);
	if (l.dx != t->dx[0])
		cpu_rows_write(t, &t->in[0], t->dx[0], l.dx, t->accumulate[0]);
}

const struct op_impl cpu_linear = {
	.reads = READS_X_DW, .scratch = cpu_linear_scratch,
	.forward = cpu_linear_forward, .backward = cpu_linear_backward,
};
