/*
 * Measure the profile of training steps.
 *
 * The times of tasks, each with a device synchronization, divide the time of an
 * unsynchronized step: only their proportions are used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "bench/profile.h"
#include "bench/step_profile.h"

/* Clips of a loader run: at least this many, and two microbatches. */
#define CLIPS 64
enum { TIMED = 3 };			/* steps whose tasks are timed */

struct step_profile_job {
	struct bench *b;
	const struct bench_inputs *o;
	struct bench_shape *shape;
	size_t n, cap;
	struct bench_shape now;
	char prefix[160];
	struct fixture fixture;
	struct figure step, passes, update;
};

static void
step_profile_add(struct step_profile_job *j, const struct bench_shape *s)
{
	for (size_t i = 0; i < j->n; i++)
		if (memcmp(&j->shape[i], s, sizeof(*s)) == 0)
			return;
	j->shape = array_reserve(j->shape, j->n, &j->cap, sizeof(*j->shape));
	j->shape[j->n++] = *s;
}

static void
step_profile_shapes(struct step_profile_job *j)
{
	const struct schedule *s = j->o->schedule;

	for (size_t i = 0; s == NULL && i < j->o->shapes.n; i++)
		step_profile_add(j, &j->o->shapes.item[i]);
	for (const struct cell *c = NULL; s != NULL &&
	    (c = schedule_cell(s, c)) != NULL;)
		step_profile_add(j, &(struct bench_shape){ c->group, c->frames,
		    c->crop });
}

/* ---- rows ---- */

/*
 * Print the rows of a shape.  The passes take ${forward} and ${backward}
 * seconds; the gradients or statistics of parameter k are ready after the share
 * ready[k] of the backward pass.
 */
static void
step_profile_print(struct step_profile_job *j, double forward, double backward,
    const double *ready)
{
	const struct graph *g = j->o->graph;
	struct dims *input = graph_inputs(g, j->now.n, j->now.t, j->now.side);
	struct bench *b = j->b;

	bench_row(b, &j->step, "s", "seconds of a step", "%s/step", j->prefix);
	bench_value(b, figure_quantile(&j->step, 0.9), "s",
	    "90 % of steps take less", "%s/step/p90", j->prefix);
	bench_value(b, forward, "s", NULL, "%s/forward", j->prefix);
	bench_value(b, backward, "s", NULL, "%s/backward", j->prefix);
	bench_row(b, &j->update, "s", "of all parameters by one rank",
	    "%s/update", j->prefix);
	bench_rate(b, &j->step, j->now.n, "clips/s", NULL, "%s/clips",
	    j->prefix);
	bench_value(b, 2 * graph_macs(g, input) / j->now.n, "FLOP",
	    "of a clip, forward", "%s/flops", j->prefix);
	for (int k = g->nparam - 1; k >= 0; k--) {
		const struct param *p = &g->param[k];

		bench_value(b, (double)(p->count * sizeof(float)), "bytes",
		    NULL, "%s/%s/%s", j->prefix, p->kind < PARAM_MEAN ?
		    "gradient" : "statistic", p->name);
		bench_value(b, backward * ready[k], "s",
		    "from the start of the backward pass", "%s/ready/%s",
		    j->prefix, p->name);
	}
	free(input);
}

static void
step_profile_clear(struct step_profile_job *j)
{
	figure_free(&j->step);
	figure_free(&j->passes);
	figure_free(&j->update);
}

/* ---- from the multiply-adds ---- */

/* Print the rows of a shape at ${rate} clips per second. */
static int
step_profile_assume(struct step_profile_job *j, double rate)
{
	const struct graph *g = j->o->graph;
	struct dims *input = graph_inputs(g, j->now.n, j->now.t, j->now.side);
	struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
	double *after = xcalloc((size_t)g->nop + 1, sizeof(*after));
	double *ready = xcalloc((size_t)g->nparam + 1, sizeof(*ready));
	int bad = graph_shapes(g, input, out, NULL);

	/* after[i]: the work of operators i to the last. */
	for (int i = g->nop - 1; i >= 0 && !bad; i--) {
		const struct op *op = &g->op[i];

		after[i] = after[i + 1];
		if (op_types[op->kind].macs != NULL)
			after[i] += op_types[op->kind].macs(op,
			    &out[op->in[0]], &out[i]);
	}
	for (int k = 0; k < g->nparam && !bad; k++)
		ready[k] = after[0] > 0 ? after[g->param[k].op] / after[0] : 1;
	if (!bad) {
		double step = j->now.n / rate;

		figure_add(&j->step, step);
		figure_add(&j->update, 0);
		step_profile_print(j, step / 3, 2 * step / 3, ready);
		step_profile_clear(j);
	}
	free(ready);
	free(after);
	free(out);
	free(input);
	return bad ? EXIT_USAGE : 0;
}

/* ---- measured ---- */

static int
step_profile_run(void *arg, int counts)
{
	struct step_profile_job *j = arg;
	double seconds[2];
	int status = profile_step(j->b, &j->fixture, j->prefix, seconds);

	if (counts) {
		figure_add(&j->step, seconds[0] + seconds[1]);
		figure_add(&j->passes, seconds[0]);
		figure_add(&j->update, seconds[1]);
	}
	return status;
}

/*
 * Time the tasks.  Return the share of the forward pass in both passes.  Set
 * ready[k] to the share of the backward pass after which the gradients of
 * parameter k are final: the trainer reduces the end of the flat buffer as it
 * grows.
 */
static double
step_profile_tasks(struct step_profile_job *j, double *ready)
{
	const struct plan *p = j->fixture.plan;
	const struct graph *g = j->o->graph;
	size_t n = (size_t)p->n;
	double *seconds[2] = { xcalloc(n, sizeof(double)), xcalloc(n,
	    sizeof(double)) }, *back = xcalloc(n, sizeof(*back));
	double forward = 0, backward = 0, at = 0;
	int k = g->nparam - 1;

	for (int i = 0; i < TIMED; i++) {
		profile_tasks(&j->fixture, seconds);
		for (size_t t = 0; t < n; t++) {
			forward += seconds[0][t];
			backward += seconds[1][t];
			back[t] += seconds[1][t];
		}
	}
	for (int i = p->n - 1; i >= 0; i--) {
		at += back[i];
		for (; k >= 0 && g->param[k].offset >= p->buffers[i].final_from;
		    k--)
			ready[k] = at / backward;
	}
	for (; k >= 0; k--)
		ready[k] = 1;
	free(seconds[0]);
	free(seconds[1]);
	free(back);
	return forward / (forward + backward);
}

/* Measure the clips per second of one loader thread. */
static int
step_profile_loader(struct step_profile_job *j)
{
	struct figure rate = { 0 };
	int batches = 2 + CLIPS / j->now.n;
	int status = fixture_open_loader(&j->fixture, j->o->data, &j->now, 1);

	if (status != 0)
		return status;
	/* The first clips were loaded in advance; do not time them. */
	for (int run = -1; run < j->b->runs && status == 0; run++) {
		double start = clock_seconds();

		for (int i = 0; i < batches && status == 0; i++) {
			status = feeder_next(&j->fixture.feeder);
			feeder_done(&j->fixture.feeder);
		}
		if (run >= 0 && status == 0)
			figure_add(&rate, batches * j->now.n /
			    (clock_seconds() - start));
	}
	fixture_close_loader(&j->fixture);
	if (status == 0)
		bench_row(j->b, &rate, "clips/s", "by one thread", "%s/loader",
		    j->prefix);
	figure_free(&rate);
	return status;
}

static int
step_profile_measure(struct step_profile_job *j)
{
	double *ready, share, passes;
	int status;

	if (fixture_shape(&j->fixture, &j->now) != 0)
		return EXIT_FAILED;
	if ((status = bench_repeat(j->b, step_profile_run, j)) != 0)
		return status;
	ready = xcalloc((size_t)j->o->graph->nparam + 1, sizeof(*ready));
	share = step_profile_tasks(j, ready);
	passes = figure_median(&j->passes);
	step_profile_print(j, share * passes, (1 - share) * passes, ready);
	free(ready);
	bench_value(j->b, (double)j->fixture.plan->arena, "bytes",
	    "activations and their gradients", "%s/activations", j->prefix);
	return j->o->data != NULL ? step_profile_loader(j) : 0;
}

static int
bench_profile(struct bench *b, const struct bench_inputs *o)
{
	struct step_profile_job j = { .b = b, .o = o };
	int status = 0, wrong = b->wrong;

	step_profile_shapes(&j);
	if (o->rate == 0 && (fixture_open(&j.fixture, o->graph, o->device,
	    &j.shape[0]) != 0 || fixture_open_optim(&j.fixture) != 0))
		status = EXIT_FAILED;
	for (size_t i = 0; i < j.n && status == 0; i++) {
		char text[40];

		j.now = j.shape[i];
		snprintf(j.prefix, sizeof(j.prefix), "profile/%s/%s",
		    o->graph->name, shape_text(&j.now, text));
		status = o->rate > 0 ? step_profile_assume(&j, o->rate) :
		    step_profile_measure(&j);
		step_profile_clear(&j);
	}
	free(j.shape);
	fixture_close(&j.fixture);
	return b->wrong > wrong ? 0 : status;
}

const struct bench_case bench_case_profile = { .run = bench_profile,
	.shapes = "2x8x224", .device = 1 };
