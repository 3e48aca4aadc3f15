/*
 * Benchmark every distinct operator of a network within a training step.  Run
 * all forward passes in order, then all backward passes, and repeat the pass of
 * each measured operator in its turn.  All operators then work on the values of
 * a real step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "bench/fixture.h"
#include "bench/tasks.h"
#include "net/alike.h"
#include "net/parity/parity.h"

/* Maximum multiply-adds of a forward pass for the reference. */
#define REFERENCE_MACS 2e9

/* A distinct operator, and the number of operators of the network like it. */
struct bench_op_distinct { int task, like; struct figure forward, backward; };

struct bench_op_job {
	const struct bench_inputs *o;
	char prefix[160];		/* prefix of names: op/NET/SHAPE */
	struct fixture fixture;
	struct bench_op_distinct *d;
	int n;
	struct task *task;		/* the task that bench_op_run times */
	int backward;
	struct figure *figure;
};

static int
bench_op_run(void *arg, int counts)
{
	struct bench_op_job *j = arg;
	double seconds = task_seconds(j->task, j->backward ? task_backward :
	    task_forward);

	if (counts)
		figure_add(j->figure, seconds);
	return 0;
}

static void
bench_op_find_distinct(struct bench_op_job *j)
{
	const struct plan *p = j->fixture.plan;

	j->d = xcalloc((size_t)p->n, sizeof(*j->d));
	for (int i = 0; i < p->n; i++) {
		int k = 0;

		if (p->task[i].fused_into != i)
			continue;
		while (k < j->n && !plan_alike(p, j->d[k].task, i))
			k++;
		if (k == j->n)
			j->d[j->n++].task = i;
		j->d[k].like++;
	}
}

static struct bench_op_distinct *
bench_op_distinct_of(struct bench_op_job *j, int task)
{
	for (int k = 0; k < j->n; k++)
		if (j->d[k].task == task)
			return &j->d[k];
	return NULL;
}

static void
bench_op_time_pass(struct bench *b, struct bench_op_job *j, int i)
{
	struct bench_op_distinct *d = bench_op_distinct_of(j, i);

	j->task = &j->fixture.plan->task[i];
	if (j->task->fused_into != i)
		return;
	if (j->backward && j->task->impl->backward == NULL)
		return;
	if (d == NULL) {
		/* Not measured, but later operators need its output. */
		bench_op_run(j, 0);
		return;
	}
	j->figure = j->backward ? &d->backward : &d->forward;
	bench_repeat(b, bench_op_run, j);
}

static void
bench_op_time_all(struct bench *b, struct bench_op_job *j)
{
	struct plan *p = j->fixture.plan;

	plan_bind(p, j->fixture.net->arena, j->fixture.net->w,
	    j->fixture.gradient);
	plan_feed(p, &j->fixture.feed);
	j->backward = 0;
	for (int i = 0; i < p->n; i++)
		bench_op_time_pass(b, j, i);
	j->backward = 1;
	for (int i = p->n - 1; i >= 0; i--) {
		for (int k = plan_next_recompute(p, i, -1); k < p->n;
		    k = plan_next_recompute(p, i, k))
			task_recompute(&p->task[k]);
		bench_op_time_pass(b, j, i);
	}
}

/* ---- rows ---- */

static void
bench_op_print_pass(struct bench *b, struct bench_op_job *j,
    const struct bench_op_distinct *d, int backward, const char *note)
{
	const struct task *t = &j->fixture.plan->task[d->task];
	const struct figure *f = backward ? &d->backward : &d->forward;
	const char *pass = backward ? "backward" : "forward";
	double work = task_work(t, backward);
	struct figure ms = { 0 };

	if (f->n == 0)			/* no backward pass */
		return;
	for (size_t i = 0; i < f->n; i++)
		figure_add(&ms, 1e3 * f->v[i]);
	bench_row(b, &ms, "ms", note, "%s/%s/%s", j->prefix, t->op->name, pass);
	bench_rate(b, f, (work > 0 ? work : task_traffic(t, backward)) / 1e9,
	    work > 0 ? "GF/s" : "GB/s", NULL,
	    "%s/%s/%s/rate", j->prefix, t->op->name, pass);
	figure_free(&ms);
}

static void
bench_op_print_task(struct bench *b, struct bench_op_job *j,
    const struct bench_op_distinct *d)
{
	const struct task *t = &j->fixture.plan->task[d->task];
	char note[400], text[380];

	task_text(t, text, sizeof(text));
	snprintf(note, sizeof(note), "%d of %s", d->like, text);
	bench_op_print_pass(b, j, d, 0, note);
	bench_op_print_pass(b, j, d, 1, NULL);
}

/* Sum the medians by kind of operator, each times its number of occurrences. */
static void
bench_op_print_totals(struct bench *b, struct bench_op_job *j)
{
	double sum[2][OP_KINDS] = { { 0 } }, all = 0;

	for (int k = 0; k < j->n; k++) {
		const struct bench_op_distinct *d = &j->d[k];
		int kind = (int)j->fixture.plan->task[d->task].op->kind;

		for (int pass = 0; pass < 2; pass++) {
			const struct figure *f = pass ? &d->backward :
			    &d->forward;
			double ms = f->n == 0 ? 0 : 1e3 * d->like *
			    figure_median(f);

			sum[pass][kind] += ms;
			all += ms;
		}
	}
	for (int kind = 0; kind < OP_KINDS; kind++)
		for (int pass = 0; pass < 2; pass++)
			if (sum[pass][kind] > 0)
				bench_value(b, sum[pass][kind], "ms", NULL,
				    "%s/total/%s/%s", j->prefix,
				    op_types[kind].name != NULL ?
				    op_types[kind].name : "loss",
				    pass ? "backward" : "forward");
	bench_value(b, all, "ms", "medians of all operators, added up",
	    "%s/total", j->prefix);
}

/* ---- checking ---- */

/* Halve the shape until the reference can compute it in reasonable time. */
static struct bench_shape
bench_op_reduced(const struct bench_inputs *o, struct bench_shape s)
{
	for (;;) {
		struct dims *input = graph_inputs(o->graph, s.n, s.t, s.side);
		double macs = graph_macs(o->graph, input);

		free(input);
		if (macs <= REFERENCE_MACS || (s.n == 1 && s.t <= 2))
			return s;
		if (s.n > 1)
			s.n = (s.n + 1) / 2;
		else
			s.t = (s.t + 1) / 2;
	}
}

static void
bench_op_print_difference(struct bench *b, const struct bench_op_job *j,
    const struct parity *r, double tolerance, const char *note)
{
	const char *name = j->o->graph->op[r->task].name;
	double off = parity_worst(r);

	bench_value(b, off, "relative", note, "%s/%s/difference", j->prefix,
	    name);
	if (!(off <= tolerance))
		bench_wrong(b, "%s/%s: differs from ref64 by %.2g (wanted at "
		    "most %g)", j->prefix, name, off, tolerance);
}

static int
bench_op_check(struct bench *b, struct bench_op_job *j,
    struct bench_shape shape)
{
	const struct backend *ref = backend_find("ref64");
	enum precision precision = j->o->device->o.precision;
	struct device *exact = NULL;
	struct bench_shape s = bench_op_reduced(j->o, shape);
	struct fixture x = { 0 }, key = { 0 };
	/* In 16 bits single elements may differ much: compare norms. */
	struct parity_options o = { .by_norm = precision != PRECISION_FP32 };
	struct parity *row = xcalloc((size_t)j->o->graph->nop, sizeof(*row));
	char note[80], text[40];
	int n = -1;

	snprintf(note, sizeof(note), "from ref64, at %s", shape_text(&s, text));
	if (ref != NULL && (exact = device_open(ref, &(struct device_options){
	    .threads = 1, .precision = precision })) != NULL &&
	    fixture_open(&x, j->o->graph, j->o->device, &s) == 0 &&
	    fixture_open(&key, j->o->graph, exact, &s) == 0)
		n = parity_run(x.net, x.plan, key.net, key.plan, &o, row);
	for (int i = 0; i < n; i++)
		bench_op_print_difference(b, j, &row[i],
		    parity_tolerance(precision), note);
	fixture_close(&x);
	fixture_close(&key);
	device_close(exact);
	free(row);
	return n < 0 ? EXIT_FAILED : 0;
}

static int
bench_op_measure(struct bench *b, const struct bench_inputs *o,
    struct bench_shape shape)
{
	struct bench_op_job j = { .o = o };
	char text[40];
	int status = 0;

	snprintf(j.prefix, sizeof(j.prefix), "op/%s/%s", o->graph->name,
	    shape_text(&shape, text));
	if (fixture_open(&j.fixture, o->graph, o->device, &shape) != 0) {
		status = EXIT_FAILED;
	} else {
		bench_op_find_distinct(&j);
		bench_op_time_all(b, &j);
		for (int k = 0; k < j.n; k++)
			bench_op_print_task(b, &j, &j.d[k]);
		bench_op_print_totals(b, &j);
	}
	/* Free the memory first: the check opens two fixtures of its own. */
	fixture_close(&j.fixture);
	if (status == 0 && b->check)
		status = bench_op_check(b, &j, shape);
	for (int k = 0; k < j.n; k++) {
		figure_free(&j.d[k].forward);
		figure_free(&j.d[k].backward);
	}
	free(j.d);
	return status;
}

static int
bench_op(struct bench *b, const struct bench_inputs *o)
{
	int status = 0;

	for (size_t i = 0; i < o->shapes.n && status == 0; i++)
		status = bench_op_measure(b, o, o->shapes.item[i]);
	return status;
}

const struct bench_case bench_case_op = { .run = bench_op,
	.shapes = "2x8x224", .device = 1 };
