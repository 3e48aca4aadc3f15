/*
 * A step on the cuda back end whose verdict the device gives itself, without a
 * GPU: the same as where the host looks at the gradient first, to the bit, for
 * gradients, statistics and losses that are finite or not, with clipping and with
 * a scale of the loss that moves; and nobody waits before it is made.  With a GPU
 * the bits alone.
 */
#include <math.h>

#include "backend/cuda/kernels.h"
#include "base/rng.h"
#include "train/optim.h"

#include "gpu/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, STEPS = 32, LOSSES = 3 };

/* What is in the gradient of each step. */
enum { USUAL, LONG, INFINITE, STATISTIC, LOSS };

static int
kind_of(int step)
{
	static const int first[] = { USUAL, LONG, INFINITE, STATISTIC, USUAL,
		LOSS, USUAL, USUAL };

	/* Then until the scale of the loss cannot be smaller. */
	return step < 8 ? first[step] : step < STEPS - 2 ? INFINITE : USUAL;
}

/* ---- a driver that leaves out a verdict, or an update ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int without;

static void
launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	if (l->kernel != without)
		real->launch(d, s, l);
}

/* ---- steps ---- */

struct run {
	double *w, scale[STEPS], norm[STEPS];
	int bad[STEPS], faults, early;
	char said[512];
};

static void
make_gradient(double *g, const struct graph *graph, int step)
{
	int kind = kind_of(step);
	const struct param *last = &graph->param[graph->nparam - 1];

	for (size_t i = 0; i < graph->elements; i++)
		g[i] = (kind == LONG ? 30 : 0.1) * rng_normal(7, (uint32_t)step,
		    (uint32_t)i);
	if (kind == INFINITE)
		g[last->offset] = step % 2 ? INFINITY : NAN;
	for (int p = 0; p < graph->nparam; p++)
		if (graph->param[p].kind == PARAM_VAR)
			for (size_t i = 0; i < graph->param[p].count; i++)
				g[graph->param[p].offset + i] = kind ==
				    STATISTIC && i == 3 ? INFINITY : 1;
}

static struct run
run(const struct graph *g, enum standin_when when, int ask)
{
	struct device *d = device_open(standin_backend(when),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(g, d);
	struct optim o = { .rule = group_rule_find("tsm"), .clip = 2,
		.set = { .momentum = 0.9, .decay = 1e-4 }, .dynamic_scale = 1,
		.scale_every = 2 };
	struct outcome loss[LOSSES] = { { 0 } };
	double *host = xcalloc(g->elements, sizeof(*host));
	void *dw = device_alloc(d, g->elements * d->elem);
	struct outcome *at = device_alloc(d, sizeof(loss));
	struct run r = { .w = xcalloc(g->elements, sizeof(double)) };

	real = driver->call;
	calls = *real;
	calls.launch = launch;
	driver->call = &calls;
	net_init(n, 1);
	if (optim_open(&o, n, NULL) != 0 || !optim_asks(&o))
		ok(0, "the device gives verdicts");
	for (int i = 0; i < STEPS; i++) {
		make_gradient(host, g, i);
		device_put(d, dw, host, g->elements);
		loss[1].loss = kind_of(i) == LOSS ? NAN : 3;
		device_upload(d, at, loss, sizeof(loss));
		r.scale[i] = optim_loss_scale(&o);
		if (ask) {
			standin_unknown(driver, o.verdict, sizeof(*o.verdict));
			standin_quiet(driver, i > 0);
			optim_ask(&o, n, dw, 0.25, 0.01, at, LOSSES);
			standin_quiet(driver, 0);
			r.bad[i] = optim_hear(&o, &r.norm[i]);
		} else if (kind_of(i) == LOSS) {	/* step.c looks */
			r.bad[i] = OPTIM_GRADIENT;
			r.norm[i] = NAN;
		} else {
			r.bad[i] = optim_step(&o, n, dw, 0.25, 0.01,
			    &r.norm[i]);
		}
	}
	device_get(d, r.w, n->w, g->elements);
	snprintf(r.said, sizeof(r.said), "%s", standin_said(driver));
	r.early = standin_faults(driver, FAULT_EARLY);
	r.faults = r.early;
	for (int i = 0; i < FAULTS; i++)
		r.faults += standin_faults(driver, (enum standin_fault)i);
	driver->call = real;
	optim_close(&o);
	device_free(d, dw);
	device_free(d, at);
	net_free(n);
	device_close(d);
	free(host);
	return r;
}

static int
same_weights(const struct run *a, const struct run *b, const struct graph *g)
{
	return memcmp(a->w, b->w, g->elements * sizeof(*a->w)) == 0;
}

static void
compare(const struct run *host, const struct run *asked, const struct graph *g)
{
	int bad = 0, norm = 0, kinds[5] = { 0 };

	for (int i = 0; i < STEPS; i++) {
		kinds[host->bad[i]]++;
		bad += host->bad[i] != asked->bad[i] ||
		    host->scale[i] != asked->scale[i];
		norm += kind_of(i) != LOSS && !(host->norm[i] ==
		    asked->norm[i] || (isnan(host->norm[i]) &&
		    isnan(asked->norm[i])));
	}
	is(bad, 0, "the same verdicts, and the same scales of the loss");
	ok(kinds[0] > 3 && kinds[OPTIM_SKIPPED] > 10 &&
	    kinds[OPTIM_GRADIENT] > 1 && kinds[OPTIM_STATISTICS] == 1,
	    "of all kinds (%d made, %d skipped, %d gradients, %d statistics)",
	    kinds[0], kinds[OPTIM_SKIPPED], kinds[OPTIM_GRADIENT],
	    kinds[OPTIM_STATISTICS]);
	is(norm, 0, "the same norms, to the bit");
	ok(same_weights(host, asked, g), "and the same weights");
	if (!ok(asked->faults == 0, "nobody waits, and nothing else is wrong"))
		diag("%s", asked->said);
}

int
main(void)
{
	struct graph *g = read_thin("tsm_tiny", CLASSES);
	struct run host, asked, less;

	for (int when = 0; when < STANDIN_WHENS; when++) {
		without = -1;
		host = run(g, (enum standin_when)when, 0);
		asked = run(g, (enum standin_when)when, 1);
		compare(&host, &asked, g);
		free(host.w);
		if (when == STANDIN_LATE && !standin_absent()) {
			without = GPU_JUDGE;
			less = run(g, STANDIN_LATE, 1);
			ok(less.early > 0, "a verdict that is left out is "
			    "missed");
			free(less.w);
		}
		free(asked.w);
	}
	graph_free(g);
	return done();
}
