/*
 * Profile a training step: the time of each kind of task, and of each
 * convolution within the step compared with the same convolution alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "bench/profile.h"
#include "bench/tasks.h"
#include "net/alike.h"

enum { LINE = 64 };			/* bytes of a cache line */
enum { WORST = 5 };			/* convolutions with the worst ratio to
					 * list */

/* Tasks of one kind.  The name lists the fused operators, such as bn+relu. */
struct profile_kind {
	char name[128];
	struct figure pass[2];		/* forward, backward */
	int none[2];			/* 1: no such pass */
};

struct profile_conv {
	int task;
	struct figure inside, alone, ratio;
};

struct profile_job {
	struct bench *b;
	struct fixture *fixture;
	const struct profile_options *o;
	int *of;			/* [n] kind of each task */
	struct profile_kind *kind;
	int kinds;
	struct profile_conv *conv;
	int convs;
	double *seconds[2];		/* [n] of the last step, by pass */
	struct figure step, inside, alone, ratio;
};

/* ---- tasks ---- */

static int
profile_find_kind(struct profile_job *j, const char *name)
{
	for (int k = 0; k < j->kinds; k++)
		if (strcmp(j->kind[k].name, name) == 0)
			return k;
	snprintf(j->kind[j->kinds].name, sizeof(j->kind->name), "%s", name);
	return j->kinds++;
}

static void
profile_open(struct profile_job *j)
{
	const struct plan *p = j->fixture->plan;
	size_t n = (size_t)p->n;

	j->of = xcalloc(n, sizeof(*j->of));
	j->kind = xcalloc(n, sizeof(*j->kind));
	j->conv = xcalloc(n, sizeof(*j->conv));
	for (int back = 0; back < 2; back++)
		j->seconds[back] = xcalloc(n, sizeof(double));
	for (int i = 0; i < p->n; i++) {
		char name[sizeof(j->kind->name)];

		if (p->task[i].fused_into != i)
			continue;
		plan_kinds(p, i, name, sizeof(name));
		j->of[i] = profile_find_kind(j, name);
		j->kind[j->of[i]].none[1] = p->task[i].impl->backward == NULL;
		if (p->task[i].op->kind == OP_CONV)
			j->conv[j->convs++].task = i;
	}
}

/* ---- steps, and convolutions alone ---- */

int
profile_step(struct bench *b, struct fixture *r, const char *name,
    double seconds[2])
{
	double start = clock_seconds(), middle, loss, norm;

	fixture_pass(r);
	loss = fixture_loss(r);
	middle = clock_seconds();
	optim_step(&r->optim, r->net, r->gradient, 1, FIXTURE_RATE, &norm);
	seconds[0] = middle - start;
	seconds[1] = clock_seconds() - middle;
	if (!b->check || (loss >= 0 && loss < 1e6 && norm >= 0))
		return 0;
	bench_wrong(b, "%s: a loss of %g, a gradient of norm %g", name, loss,
	    norm);
	return EXIT_FAILED;
}

void
profile_tasks(struct fixture *r, double *seconds[2])
{
	struct plan *p = r->plan;
	double norm;

	r->feed.outcome = r->outcome;
	plan_bind(p, r->net->arena, r->net->w, r->gradient);
	plan_feed(p, &r->feed);
	for (int i = 0; i < p->n; i++) {
		seconds[0][i] = p->task[i].fused_into != i ? 0 :
		    task_seconds(&p->task[i], task_forward);
		seconds[1][i] = 0;
	}
	for (int i = p->n - 1; i >= 0; i--) {
		for (int k = plan_next_recompute(p, i, -1); k < p->n;
		    k = plan_next_recompute(p, i, k))
			seconds[1][k] += task_seconds(&p->task[k],
			    task_recompute);
		if (p->task[i].fused_into == i)
			seconds[1][i] += task_seconds(&p->task[i],
			    task_backward);
	}
	optim_step(&r->optim, r->net, r->gradient, 1, FIXTURE_RATE, &norm);
}

/*
 * Evict ${bytes} at ${p} from the caches of all cores, if the instruction set
 * can.  The caches of a discrete device are not evicted.
 */
static void
profile_evict(const struct device *d, const void *p, size_t bytes)
{
	if (d->backend->discrete)
		return;
#if defined(__x86_64__)
	for (size_t i = 0; p != NULL && i < bytes; i += LINE)
		__builtin_ia32_clflush((const char *)p + i);
	__builtin_ia32_mfence();
#else
	(void)p;
	(void)bytes;
#endif
}

static void
profile_evict_operands(const struct profile_job *j, const struct task *t)
{
	const struct graph *g = j->fixture->net->graph;
	size_t elem = t->device->elem;

	for (int k = 0; k < t->op->nin; k++) {
		profile_evict(t->device, t->x[k],
		    device_bytes(t->device, &t->in[k]));
		profile_evict(t->device, t->dx[k],
		    device_bytes(t->device, &t->in[k]));
	}
	profile_evict(t->device, t->y, device_bytes(t->device, &t->out));
	profile_evict(t->device, t->dy, device_bytes(t->device, &t->out));
	for (int k = 0; k < t->op->nparam; k++) {
		size_t bytes = g->param[t->op->param + k].count * elem;

		profile_evict(t->device, t->w[k], bytes);
		profile_evict(t->device, t->dw[k], bytes);
	}
}

/*
 * Run both passes of each convolution alone, in the order of the step, with
 * operands evicted from the caches.  By now the arena holds values without
 * meaning; only their size matters.
 */
static void
profile_run_alone(struct profile_job *j, int counts)
{
	double *sum = xcalloc((size_t)j->convs, sizeof(*sum)), all = 0, in = 0;

	for (int i = 0; i < 2 * j->convs; i++) {
		int back = i >= j->convs, k = back ? 2 * j->convs - 1 - i : i;
		struct task *t = &j->fixture->plan->task[j->conv[k].task];

		profile_evict_operands(j, t);
		sum[k] += task_seconds(t, back ? task_backward : task_forward);
	}
	for (int k = 0; k < j->convs && counts; k++) {
		struct profile_conv *c = &j->conv[k];
		double inside = j->seconds[0][c->task] + j->seconds[1][c->task];

		figure_add(&c->inside, inside);
		figure_add(&c->alone, sum[k]);
		figure_add(&c->ratio, inside / sum[k]);
		in += inside;
		all += sum[k];
	}
	if (counts && j->convs > 0) {
		figure_add(&j->inside, in);
		figure_add(&j->alone, all);
		figure_add(&j->ratio, in / all);
	}
	free(sum);
}

static void
profile_count_kinds(struct profile_job *j)
{
	const struct plan *p = j->fixture->plan;

	for (int back = 0; back < 2; back++) {
		double *sum = xcalloc((size_t)j->kinds, sizeof(*sum));

		for (int i = 0; i < p->n; i++)
			if (p->task[i].fused_into == i)
				sum[j->of[i]] += j->seconds[back][i];
		for (int k = 0; k < j->kinds; k++)
			figure_add(&j->kind[k].pass[back], sum[k]);
		free(sum);
	}
}

static int
profile_run(void *arg, int counts)
{
	struct profile_job *j = arg;
	double start = clock_seconds();

	profile_tasks(j->fixture, j->seconds);
	if (counts) {
		figure_add(&j->step, clock_seconds() - start);
		profile_count_kinds(j);
	}
	if (j->o->convs)
		profile_run_alone(j, counts);
	return 0;
}

/* ---- rows ---- */

static void
profile_print_kinds(struct profile_job *j)
{
	static const char *const pass[] = { "forward", "backward" };
	struct figure other = { 0 };

	for (int k = 0; k < j->kinds; k++)
		for (int back = 0; back < 2; back++)
			if (!j->kind[k].none[back])
				bench_row(j->b, &j->kind[k].pass[back], "s",
				    NULL, "%s/%s/%s", j->o->prefix, pass[back],
				    j->kind[k].name);
	for (size_t i = 0; i < j->step.n; i++) {
		double conv = 0;

		for (int k = 0; k < j->kinds; k++)
			if (strncmp(j->kind[k].name, "conv", 4) == 0)
				conv += j->kind[k].pass[0].v[i] +
				    j->kind[k].pass[1].v[i];
		figure_add(&other, 1 - conv / j->step.v[i]);
	}
	bench_row(j->b, &other, "share", "of the step that is not convolution",
	    "%s/other", j->o->prefix);
	figure_free(&other);
}

static int
profile_by_ratio(const void *a, const void *b)
{
	double x = figure_median(&((const struct profile_conv *)a)->ratio);
	double y = figure_median(&((const struct profile_conv *)b)->ratio);

	return (x < y) - (x > y);
}

static void
profile_print_convs(struct profile_job *j)
{
	struct bench *b = j->b;
	const char *prefix = j->o->prefix;

	for (int k = 0; k < j->convs; k++) {
		const struct profile_conv *c = &j->conv[k];
		const struct task *t = &j->fixture->plan->task[c->task];
		char text[380];

		task_text(t, text, sizeof(text));
		bench_row(b, &c->inside, "s", text, "%s/conv/%s/inside",
		    prefix, t->op->name);
		bench_row(b, &c->alone, "s", NULL, "%s/conv/%s/alone", prefix,
		    t->op->name);
		bench_row(b, &c->ratio, "times", NULL, "%s/conv/%s/ratio",
		    prefix, t->op->name);
	}
	if (j->convs == 0)
		return;
	bench_row(b, &j->inside, "s", "all convolutions, in their places",
	    "%s/conv/inside", prefix);
	bench_row(b, &j->alone, "s", "each alone, operands out of cache",
	    "%s/conv/alone", prefix);
	bench_row(b, &j->ratio, "times", NULL, "%s/conv/ratio", prefix);
	/* Sort last: the rows above are in the order of the network. */
	qsort(j->conv, (size_t)j->convs, sizeof(*j->conv), profile_by_ratio);
	for (int k = 0; k < j->convs && k < WORST; k++)
		bench_row(b, &j->conv[k].ratio, "times",
		    j->fixture->plan->task[j->conv[k].task].op->name,
		    "%s/conv/worst/%d", prefix, k + 1);
}

static void
profile_clear(struct profile_job *j)
{
	for (int k = 0; k < j->kinds; k++)
		for (int back = 0; back < 2; back++)
			figure_free(&j->kind[k].pass[back]);
	for (int k = 0; k < j->convs; k++) {
		figure_free(&j->conv[k].inside);
		figure_free(&j->conv[k].alone);
		figure_free(&j->conv[k].ratio);
	}
	figure_free(&j->step);
	figure_free(&j->inside);
	figure_free(&j->alone);
	figure_free(&j->ratio);
	free(j->of);
	free(j->kind);
	free(j->conv);
	free(j->seconds[0]);
	free(j->seconds[1]);
}

int
profile_measure(struct bench *b, struct fixture *r,
    const struct profile_options *o)
{
	struct profile_job j = { .b = b, .fixture = r, .o = o };
	int status;

	profile_open(&j);
	status = bench_repeat(b, profile_run, &j);
	if (status == 0 && o->kinds)
		profile_print_kinds(&j);
	if (status == 0 && o->convs)
		profile_print_convs(&j);
	profile_clear(&j);
	return status;
}
