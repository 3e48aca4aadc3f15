/* Operators alone: likeness, work, and comparison with the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench/tasks.h"

int
task_alike(const struct task *a, const struct task *b)
{
	const struct op *p = a->op, *q = b->op;

	return p->kind == q->kind && p->nin == q->nin &&
	    p->groups == q->groups && p->bias == q->bias &&
	    p->fold == q->fold && p->over == q->over &&
	    p->loss == q->loss && p->past == q->past && p->cut == q->cut &&
	    p->step == q->step && p->first == q->first &&
	    p->spread == q->spread && p->transpose == q->transpose &&
	    p->trained == q->trained &&
	    memcmp(p->k, q->k, sizeof(p->k)) == 0 &&
	    memcmp(p->s, q->s, sizeof(p->s)) == 0 &&
	    memcmp(p->p, q->p, sizeof(p->p)) == 0 &&
	    memcmp(a->in, b->in, sizeof(a->in)) == 0 &&
	    memcmp(&a->out, &b->out, sizeof(a->out)) == 0 &&
	    memcmp(a->wants_dx, b->wants_dx, sizeof(a->wants_dx)) == 0 &&
	    memcmp(a->accumulate, b->accumulate, sizeof(a->accumulate)) == 0;
}

double
task_work(const struct task *t, int backward)
{
	const struct op_type *type = &op_types[t->op->kind];
	int passes = !backward || type->params != NULL;

	if (type->macs == NULL)
		return 0;
	if (backward)		/* of each input, and of weights */
		for (int j = 0; j < t->op->nin; j++)
			passes += t->wants_dx[j];
	return 2 * type->macs(t->op, t->in, &t->out) * passes;
}

double
task_traffic(const struct task *t, int backward)
{
	double y = (double)device_bytes(t->device, &t->out), sum = y;
	int reads = task_impl(t)->reads;

	if (t->op->kind == OP_INPUT)		/* reads bytes */
		sum += (double)dims_count(&t->out);
	if (backward && (reads & READS_Y))
		sum += y;
	for (int j = 0; j < t->op->nin; j++) {
		double x = (double)device_bytes(t->device, &t->in[j]);

		if (!backward || (reads & READS_X))
			sum += x;
		if (backward && t->wants_dx[j])
			sum += t->accumulate[j] ? 2 * x : x;
	}
	return sum;
}

void
task_text(const struct task *t, char *buf, size_t size)
{
	const struct op *op = t->op;
	const char *name = op_types[op->kind].name;
	char in[64], out[64], window[64] = "";

	if (op->kind == OP_CONV || op->kind == OP_MAXPOOL ||
	    (op->kind == OP_AVGPOOL && op->over == 0))
		snprintf(window, sizeof(window), " %dx%dx%d stride %d",
		    op->k[0], op->k[1], op->k[2], op->s[1]);
	snprintf(buf, size, "%s%s %s%s%s", name != NULL ? name : "loss", window,
	    op->nin > 0 ? dims_text(&t->in[0], in) : "",
	    op->nin > 0 ? " to " : "", dims_text(&t->out, out));
}

/* ---- against the reference ---- */

/* Even values from -1 to 1 that a float holds exactly. */
static void
draw(double *v, size_t n, uint32_t stream)
{
	struct rng_block b = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		if (i % 4 == 0)
			b = rng_philox(7, (uint32_t)(i / 4), 0, stream,
			    RNG_WEIGHTS);
		v[i] = 2 * rng_unit(b.w[i % 4]) - 1;
	}
}

/* The two sides of a comparison. */
struct pair {
	const struct bench *b;
	struct rig *rig[2];
	struct task *task[2];
	double *v[2];			/* an answer of each */
};

/* The same random activation at ${a} on one side and at ${b} on the other. */
static void
fill(struct pair *p, const struct dims *d, const void *a, const void *b,
    uint32_t stream)
{
	draw(p->v[0], dims_count(d), stream);
	device_write(p->task[0]->device, (void *)a, d, p->v[0]);
	device_write(p->task[1]->device, (void *)b, d, p->v[0]);
}

/* Largest difference over the largest value. */
static double
difference(const struct pair *p, size_t n)
{
	double most = 0, scale = 0;

	for (size_t i = 0; i < n; i++) {
		double d = fabs(p->v[0][i] - p->v[1][i]);
		double size = fabs(p->v[1][i]);

		most = d <= most ? most : isnan(d) ? INFINITY : d;
		scale = size > scale ? size : scale;
	}
	return most / (scale > 1e-6 ? scale : 1);
}

static double
activations(struct pair *p, const struct dims *d, const void *a, const void *b)
{
	device_read(p->task[0]->device, p->v[0], d, a);
	device_read(p->task[1]->device, p->v[1], d, b);
	bench_spoil(p->b, p->v[0], sizeof(double));
	return difference(p, dims_count(d));
}

static double
parameters(struct pair *p, int j)
{
	const struct op *op = p->task[0]->op;
	size_t n = p->rig[0]->net->graph->param[op->param + j].count;

	for (int k = 0; k < 2; k++)
		device_get(p->task[k]->device, p->v[k], p->task[k]->dw[j], n);
	return difference(p, n);
}

/* The most numbers that any of the arrays of ${t} has. */
static size_t
largest(const struct rig *r, const struct task *t)
{
	size_t most = dims_count(&t->out), n;

	for (int j = 0; j < t->op->nin; j++) {
		n = dims_count(&t->in[j]);
		most = n > most ? n : most;
	}
	for (int j = 0; j < t->op->nparam; j++) {
		n = r->net->graph->param[t->op->param + j].count;
		most = n > most ? n : most;
	}
	return most;
}

/*
 * All that a pass reads and writes is alive in the arena at its time; what is
 * not may be overwritten by the next fill, so each answer is read at once.
 */
static double
compare(struct pair *p)
{
	struct task *x = p->task[0], *key = p->task[1];
	double worst = 0, d;

	for (int j = 0; j < x->op->nin; j++)
		fill(p, &x->in[j], x->x[j], key->x[j], (uint32_t)j);
	for (int k = 0; k < 2; k++)
		task_forward(p->task[k]);
	worst = activations(p, &x->out, x->y, key->y);
	if (x->dy != NULL)
		fill(p, &x->out, x->dy, key->dy, 10);
	for (int j = 0; j < x->op->nin; j++)
		if (x->dx[j] != NULL)
			fill(p, &x->in[j], x->dx[j], key->dx[j],
			    20 + (uint32_t)j);
	for (int k = 0; k < 2; k++)
		task_backward(p->task[k]);
	for (int j = 0; j < x->op->nin; j++)
		if (x->dx[j] != NULL) {
			d = activations(p, &x->in[j], x->dx[j], key->dx[j]);
			worst = d > worst ? d : worst;
		}
	for (int j = 0; j < x->op->nparam; j++) {
		d = parameters(p, j);
		worst = d > worst ? d : worst;
	}
	return worst;
}

double
tasks_compare(const struct bench *b, struct rig *x, struct rig *key, int i)
{
	struct pair p = { .b = b, .rig = { x, key },
		.task = { &x->plan->task[i], &key->plan->task[i] } };
	size_t n = largest(x, p.task[0]);
	double worst;

	for (int k = 0; k < 2; k++) {
		struct rig *r = p.rig[k];

		plan_bind(r->plan, r->net->arena, r->net->w, r->gradient);
		p.task[k]->feed = &r->feed;
		p.v[k] = xcalloc(n, sizeof(double));
	}
	worst = compare(&p);
	free(p.v[0]);
	free(p.v[1]);
	return worst;
}
