/* Measure the statistics of a population of clips, for batch normalization. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "comm/exact.h"
#include "train/guard/corrupt.h"
#include "train/loop/loop_end.h"
#include "train/loop/precise.h"
#include "train/loop/work.h"

/* The statistics of one normalization. */
struct precise_norm {
	const struct param *mean, *var;
	const struct param *between;	/* between-group variance; NULL: not
					 * tracked */
	size_t at;			/* offset of its first channel */
	double biased;			/* (n - 1) / n, for n values of a
					 * channel in a group */
};

struct precise {
	struct net *net;
	const struct dataset *d;
	struct comm *comm;
	struct schedule one;		/* one step that contains all groups */
	struct stage stage;
	struct lr_piece lr;
	struct loader_options loading;
	struct plan *plan;
	struct precise_norm *norm;
	int norms;
	size_t channels;		/* of all places together */
	struct exact exact;		/* sums of m, then of v + m^2 */
	double *host;			/* [2 * maximal channels of a place] */
};

int
precise_parse(const char *text, int64_t *clips)
{
	*clips = strcmp(text, "auto") == 0 ? PRECISE_AUTO : 0;
	if (*clips == PRECISE_AUTO || strcmp(text, "off") == 0)
		return 0;
	return text_int(text, 0, PRECISE_CLIPS_MAX, clips);
}

/*
 * Few clips suffice.  Measured with 294 training clips of six actions (tsm_r18,
 * 8x8x112, AdamW at 0.0005): the validation loss after 30, 59 and 89 steps.
 *
 *	running averages	3.96, 1.47, 1.26
 *	measured on 32 clips	1.33, 1.25, 1.12
 */
int64_t
precise_choose(const struct graph *g, uint64_t samples, int batch, int group,
    int ranks)
{
	int64_t n = samples < 8 * 1024 ? (int64_t)samples / 8 : 1024;
	int measured = 0;

	for (int i = 0; i < g->nop && !measured; i++)
		measured = g->op[i].kind == OP_BN && !g->op[i].bn.fixed;
	if (!measured)
		return 0;
	n = n < 32 ? 32 : n;
	n = n < batch ? batch : n;
	return n < (int64_t)ranks * group ? (int64_t)ranks * group : n;
}

/* Make a schedule of one step whose batch holds all groups. */
static void
precise_make_step(struct precise *p, const struct precise_options *o)
{
	int64_t groups = (o->clips + o->group - 1) / o->group;

	p->lr = (struct lr_piece){ .kind = LR_FLAT, .until = 1 };
	p->stage = (struct stage){ .epoch_end = 1, .cells = 1, .pieces = 1,
		.lr = &p->lr };
	p->stage.cell[0] = (struct cell){ .batch = (int)groups * o->group,
		.frames = o->frames, .crop = o->crop, .group = o->group,
		.stride_min = o->stride, .stride_max = o->stride };
	p->one = (struct schedule){ .path = "precise-bn", .stages = 1,
		.stage = &p->stage };
}

/* List the normalizations that use batch statistics in training. */
static void
precise_find_norms(struct precise *p)
{
	const struct graph *g = p->net->graph;
	size_t largest = 0;

	p->norm = xcalloc((size_t)g->nop + 1, sizeof(*p->norm));
	for (int i = 0; i < g->nop; i++) {
		const struct op *op = &g->op[i];
		const struct dims *out = &p->plan->task[i].out;
		struct precise_norm *at = &p->norm[p->norms];
		double n = (double)out->n * (double)dims_positions(out);

		if (op->kind != OP_BN || op->bn.fixed)
			continue;
		for (int k = 0; k < op->nparam; k++) {
			const struct param *one = &g->param[op->param + k];

			if (one->kind == PARAM_MEAN)
				at->mean = one;
			else if (one->kind == PARAM_VAR)
				at->var = one;
			else if (one->kind == PARAM_BETWEEN)
				at->between = one;
		}
		at->at = p->channels;
		at->biased = n > 1 ? (n - 1) / n : 1;
		p->channels += at->mean->count;
		largest = at->mean->count > largest ? at->mean->count : largest;
		p->norms++;
	}
	p->host = xcalloc(2 * largest + 1, sizeof(*p->host));
}

static void
precise_add(void *arg, void *sum, const void *x, size_t n)
{
	double *to = sum;
	const double *from = x;

	(void)arg;
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

struct precise *
precise_new(struct net *n, const struct dataset *d, struct comm *c,
    const struct precise_options *o, const struct loader_options *loading)
{
	struct precise *p = xcalloc(1, sizeof(*p));
	struct dims *input;
	int groups;

	p->net = n;
	p->d = d;
	p->comm = c;
	precise_make_step(p, o);
	p->loading = *loading;
	/* Keep what decides frames, crops and flips.  Groups are whole, and one
	 * rank computes each, so learners and shared BN groups do not apply. */
	p->loading.transforms = (struct transforms){ .repeat = 1 };
	p->loading.trace = NULL;
	p->loading.learners = p->loading.spread = 0;
	p->loading.memory = o->memory;
	p->loading.until = 1;
	p->loading.audit = 0;
	groups = precise_groups(p);
	if (groups < c->size) {
		fail("--precise-bn=%lld makes %d groups of %d clips, too few "
		    "for %d ranks", (long long)o->clips, groups, o->group,
		    c->size);
		goto err0;
	}
	input = graph_inputs(n->graph, o->group, o->frames, o->crop);
	p->plan = net_plan(n, input, 1);
	free(input);
	if (p->plan == NULL)
		goto err0;
	precise_find_norms(p);
	exact_open(&p->exact, c, sizeof(double), precise_add, NULL,
	    2 * p->channels);
	return p;

err0:
	precise_free(p);
	return NULL;
}

void
precise_free(struct precise *p)
{
	if (p == NULL)
		return;
	exact_close(&p->exact);
	free(p->norm);
	free(p->host);
	free(p);
}

struct plan *
precise_plan(const struct precise *p)
{
	return p->plan;
}

int
precise_groups(const struct precise *p)
{
	return p->stage.cell[0].batch / p->stage.cell[0].group;
}

size_t
precise_bytes(const struct precise *p)
{
	return loader_bytes(p->d, &p->one, 0, &p->loading);
}

/*
 * Return [2 * channels] values of one group, which the caller frees: m, then
 * v + m^2.  The forward pass has left m and the unbiased variance in ${buffer}.
 */
static double *
precise_moments(const struct precise *p, const void *buffer)
{
	double *v = xcalloc(2 * p->channels + 1, sizeof(*v));
	struct device *d = p->net->device;

	for (int i = 0; i < p->norms; i++) {
		const struct precise_norm *at = &p->norm[i];
		size_t n = at->mean->count;
		double *mean = v + at->at, *square = v + p->channels + at->at;

		device_get(d, mean, slots_element(p->net, buffer,
		    at->mean->offset), n);
		device_get(d, square, slots_element(p->net, buffer,
		    at->var->offset), n);
		for (size_t c = 0; c < n; c++)
			square[c] = square[c] * at->biased + mean[c] * mean[c];
	}
	return v;
}

/*
 * Run the groups of this rank, which are leaves of tree ${t}, and add up their
 * moments.  Return 0, or an exit status, the same
 * on all ranks.
 *
 * Samples already known as damaged are replaced in the clips.  Newly found ones
 * become known only after the measurement.  So its clips are a function of the
 * state before it, on any number of ranks.
 */
static int
precise_run_groups(struct precise *p, struct tree *t, void *buffer,
    struct corrupt *c, const struct trainer *of)
{
	int first, count = exact_leaves(&p->exact, t->leaves, &first);
	struct tree_sum sums[TREE_MAX];
	struct feeder f = { .net = p->net, .plan = p->plan,
		.watch = p->comm->watch };
	struct loop_end loop;
	int status = 0, i = 0;

	feeder_open(&f, p->d, &p->one, 0, &p->loading);
	if (c != NULL)
		corrupt_apply(c, f.loader);
	/* A rank that has ended waits for the others here, so that none waits
	 * for it in the reduction. */
	loop_end_open(&loop, p->comm);
	while (!loop_end_is(&loop, i == count, &status)) {
		int n;

		status = stop_requested() ? EXIT_AGAIN : feeder_next(&f);
		if (status != 0)
			continue;
		if (c != NULL)
			corrupt_found(c, of, of->state.step, f.mb);
		feeder_forward(&f, buffer);
		feeder_prefetch(&f);
		n = tree_push(t, (struct subtree){ 0, first + i++,
		    precise_moments(p, buffer) }, sums);
		for (int k = 0; k < n; k++) {
			precise_add(NULL, sums[k].left, sums[k].right,
			    2 * p->channels);
			free((void *)sums[k].right);
		}
		feeder_done(&f);
	}
	loop_end_close(&loop);
	feeder_close(&f);
	return status;
}

/* Return 1 if all sums are finite.  All ranks have the same sums. */
static int
precise_all_finite(const struct precise *p, const double *sum)
{
	for (size_t i = 0; i < 2 * p->channels; i++)
		if (!isfinite(sum[i]))
			return 0;
	return 1;
}

/* Store the statistics of the population: mean = E[m] and
 * variance = E[v + m^2] - mean^2, at least 0. */
static void
precise_store(struct precise *p, const double *sum)
{
	struct net *n = p->net;
	double groups = precise_groups(p);

	for (int i = 0; i < p->norms; i++) {
		const struct precise_norm *at = &p->norm[i];
		size_t count = at->mean->count;
		double *mean = p->host, *var = p->host + count;

		for (size_t c = 0; c < count; c++) {
			mean[c] = sum[at->at + c] / groups;
			var[c] = sum[p->channels + at->at + c] / groups -
			    mean[c] * mean[c];
			var[c] = var[c] > 0 ? var[c] : 0;
		}
		device_put(n->device, slots_element(n, n->w, at->mean->offset),
		    mean, count);
		device_put(n->device, slots_element(n, n->w, at->var->offset),
		    var, count);
		/* The variance now contains the between-group variance. */
		memset(var, 0, count * sizeof(*var));
		if (at->between != NULL)
			device_put(n->device, slots_element(n, n->w,
			    at->between->offset), var, count);
	}
}

int
precise_measure(struct precise *p, void *buffer, struct trainer *of)
{
	struct tree t = { .leaves = precise_groups(p) };
	struct corrupt *c = of != NULL && of->loading.replaces ?
	    of->work->corrupt : NULL;
	int status;

	p->loading.replaces = c != NULL;
	status = precise_run_groups(p, &t, buffer, c, of);
	if (status == 0 && c != NULL)
		status = corrupt_share(c, of, of->state.step);
	if (status < 0)
		status = EXIT_RANKS;
	if (status == 0 && exact_allreduce(&p->exact, &t, 0, 2 * p->channels,
	    t.part[0].data) != 0)
		status = EXIT_RANKS;
	if (status == 0 && !precise_all_finite(p, t.part[0].data))
		status = EXIT_DIVERGED;
	if (status == 0)
		precise_store(p, t.part[0].data);
	if (status == 0 && c != NULL)
		corrupt_learn(c, of);
	for (int i = 0; i < t.n; i++)
		free(t.part[i].data);
	return status;
}
