/* tests/run: weight 11 */
/*
 * A step whose found_inf check runs on the device gives the same bits as a step
 * that the host checks first, on the cuda back end without a GPU.  The cases
 * are each optimizer, with gradients, statistics and losses that are finite or
 * not, with clipping, weight averages, aggregated statistics and a dynamic loss
 * scale.  The host does not wait before the update is launched.  The launches
 * do not grow with the number of parameters, and no table is uploaded again.
 * With a GPU the test compares the bits alone.
 */
#include <math.h>

#include "backend/cuda/kernels.h"
#include "base/rng.h"
#include "train/optim/optim.h"

#include "gpu/standin/standin.h"
#include "optimizer_find.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, STEPS = 32, LOSSES = 3, MAX = 4 };

#define KERNEL(NAME, name, threads, args)	[GPU_ ## NAME] = #name,
static const char *const kernel_names[] = { KERNELS(KERNEL, KERNEL) };
#undef KERNEL

/* the gradient of each step */
enum { USUAL, LONG, INFINITE, STATISTIC, LOSS, LARGE };

static int
kind_of(int step)
{
	static const int first[] = { USUAL, LONG, INFINITE, STATISTIC, USUAL,
		LOSS, LARGE, USUAL };

	/* Then infinite gradients until the loss scale reaches its minimum. */
	return step < 8 ? first[step] : step < STEPS - 2 ? INFINITE : USUAL;
}

/* ---- a driver that can omit a kernel ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int without;			/* the kernel to omit; -1: none */
static int launches, copies;

static void
launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	launches++;
	if (l->kernel != without)
		real->launch(d, s, l);
}

static void
copy(struct driver *d, struct gpu_stream *s, void *to, const void *from,
    size_t bytes)
{
	copies++;
	real->copy(d, s, to, from, bytes);
}

/* ---- steps ---- */

/* The options of a trial, and the kernels that it needs. */
enum { NEEDS = 6 };
struct trial {
	const char *name, *optimizer;
	double clip, clip_value, ema;
	int nesterov, trust_clip;
	int between;			/* statistics are aggregated */
	int needs[NEEDS];
};

static const struct trial trials[] = {
	{ "sgd, clipped by norm", "sgd", 2, 0, 0, 0, 0, 0,
		{ GPU_UPDATE, GPU_TRACK, GPU_SQUARES, GPU_SQUARES_ADD } },
	{ "nesterov, averaged", "sgd", 0, 0, 0.9, 1, 0, 0, { GPU_TRACK } },
	{ "sgd, clipped by value", "sgd", 0, 0.02, 0, 0, 0, 0, { GPU_CLAMP } },
	{ "lars", "lars", 2, 0, 0.9, 0, 0, 0, { GPU_RATIOS, GPU_UPDATE } },
	{ "lars, clipped ratios", "lars", 0, 0.02, 0, 0, 1, 0, { GPU_CLAMP } },
	{ "lars outside", "lars-outside", 2, 0, 0, 0, 0, 0, { GPU_RATIOS } },
	{ "adamw", "adamw", 2, 0, 0.9, 0, 0, 0, { GPU_MOMENTS, GPU_UPDATE } },
	{ "lamb", "lamb", 0, 0.02, 0.9, 0, 0, 0, { GPU_MOMENTS, GPU_RATIOS } },
	{ "lamb, clipped ratios", "lamb", 2, 0, 0, 0, 1, 0, { GPU_SQUARES } },
	{ "aggregated", "sgd", 2, 0, 0, 0, 0, 1, { GPU_TRACK, GPU_SQUARES } },
	{ "aggregated, averaged", "lamb", 0, 0, 0.9, 0, 0, 1, { GPU_TRACK } },
};
enum { TRIALS = sizeof(trials) / sizeof(trials[0]) };

/* HOST: the host checks the gradient; ASKED: the device does; IMPATIENT: the
 * device does, and the host waits at once. */
enum way { HOST, ASKED, IMPATIENT };

/* The result of a step that ends because of its loss: as in step.c, the host
 * does not query the update. */
enum { UNHEARD = OPTIM_SKIPPED + 1 };

struct run {
	char *state;			/* weights and optimizer state */
	size_t bytes;
	double scale[STEPS], norm[STEPS];
	int bad[STEPS], faults, early, waits;
	int launches, copies;		/* of the last launched step */
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
		if (graph->param[p].kind == PARAM_VAR ||
		    graph->param[p].kind == PARAM_BETWEEN)
			for (size_t i = 0; i < graph->param[p].count; i++)
				g[graph->param[p].offset + i] = kind ==
				    STATISTIC && i == 3 ? INFINITY : 1;
}

static void
keep(struct run *r, struct device *d, const void *at, size_t bytes, int apart)
{
	r->state = xrealloc(r->state, r->bytes + bytes, 1);
	if (apart)
		device_download(d, r->state + r->bytes, at, bytes);
	else
		memcpy(r->state + r->bytes, at, bytes);
	r->bytes += bytes;
}

static void
keep_all(struct run *r, const struct net *n, const struct optim *o)
{
	keep(r, n->device, n->w, n->graph->elements * n->device->elem, 1);
	for (int i = 0; i < o->slots.n; i++) {
		const struct slot *s = &o->slots.slot[i];

		keep(r, n->device, s->data, s->n * s->size,
		    slot_shaped(s->kind));
	}
}

/* Launch a step.  Mark results of the last step as undefined first, so that the
 * stand-in detects a stale read. */
static void
ask(struct run *r, enum way way, struct optim *o, struct net *n, void *g,
    const struct outcome *losses, int i)
{
	struct driver *driver = standin_of(n->device);

	standin_unknown(driver, o->check, sizeof(*o->check));
	if (o->ratio != NULL)
		standin_unknown(driver, o->ratio, (size_t)n->graph->nparam *
		    sizeof(*o->ratio));
	launches = copies = 0;
	standin_quiet(driver, i > 0);
	optim_begin(o, n, g, 0.25, 0.1 / (1 + i), &(struct losses){ losses,
		LOSSES, MAX, NULL });
	if (way == IMPATIENT)
		r->bad[i] = optim_finish(o, &r->norm[i]);
	standin_quiet(driver, 0);
	r->launches = launches;
	r->copies = copies;
	if (way == ASKED && kind_of(i) != LOSS)
		r->bad[i] = optim_finish(o, &r->norm[i]);
}

static struct run
run(const struct graph *g, const struct trial *c, enum standin_when when,
    enum way way)
{
	struct device *d = device_open(standin_backend(when),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct backend no_step_check = *d->backend;
	struct net *n = net_new(g, d);
	struct optim o = { .kind = optimizer_find(c->optimizer),
		.rule = group_rule_find("tsm"), .clip = c->clip,
		.clip_value = c->clip_value, .ema = c->ema, .set = {
		.momentum = 0.9, .decay = 1e-2, .nesterov = c->nesterov,
		.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-6, .trust = 0.01,
		.trust_clip = c->trust_clip }, .dynamic_scale = 1,
		.scale_every = 2 };
	struct outcome loss[LOSSES] = { { 0 } };
	double *host = xcalloc(g->elements, sizeof(*host));
	void *dw = device_alloc(d, g->elements * d->elem);
	struct outcome *at = device_alloc(d, sizeof(loss));
	struct run r = { .state = NULL };

	real = driver->call;
	calls = *real;
	calls.launch = launch;
	calls.copy = copy;
	driver->call = &calls;
	no_step_check.check = NULL;
	if (way == HOST)
		d->backend = &no_step_check;
	net_init(n, 1);
	if (optim_open(&o, n, NULL) != 0 || (o.check == NULL) != (way == HOST))
		ok(0, "the device checks for non-finite values");
	for (int i = 0; i < STEPS; i++) {
		make_gradient(host, g, i);
		device_put(d, dw, host, g->elements);
		loss[1].loss = kind_of(i) == LOSS ? NAN : kind_of(i) == LARGE ?
		    MAX + 1 : MAX;
		device_upload(d, at, loss, sizeof(loss));
		r.scale[i] = optim_loss_scale(&o);
		r.bad[i] = UNHEARD;
		if (way != HOST)
			ask(&r, way, &o, n, dw, at, i);
		else if (kind_of(i) != LOSS)
			r.bad[i] = optim_step(&o, n, dw, 0.25, 0.1 / (1 + i),
			    &r.norm[i]);
	}
	keep_all(&r, n, &o);
	snprintf(r.said, sizeof(r.said), "%s", standin_said(driver));
	r.early = standin_faults(driver, FAULT_EARLY);
	r.waits = standin_faults(driver, FAULT_WAIT);
	r.faults = r.early + r.waits;
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
same_state(const struct run *a, const struct run *b)
{
	return a->bytes == b->bytes && memcmp(a->state, b->state, a->bytes) == 0;
}

/* Count the normalizations whose statistics are aggregated. */
static int
aggregated(const struct graph *g)
{
	int n = 0;

	for (int p = 0; p < g->nparam; p++)
		n += g->param[p].kind == PARAM_BETWEEN;
	return n;
}

static void
compare(const struct run *host, const struct run *requested, const struct graph *g,
    const char *name)
{
	int bad = 0, norm = 0, kinds[UNHEARD + 1] = { 0 };

	for (int i = 0; i < STEPS; i++) {
		kinds[host->bad[i]]++;
		bad += host->bad[i] != requested->bad[i] ||
		    host->scale[i] != requested->scale[i];
		norm += kind_of(i) != LOSS && !(host->norm[i] ==
		    requested->norm[i] || (isnan(host->norm[i]) &&
		    isnan(requested->norm[i])));
	}
	ok(bad == 0, "%s: device and host find the same steps non-finite, and "
	    "set the same loss scales",
	    name);
	ok(kinds[0] > 3 && kinds[OPTIM_SKIPPED] > 10 &&
	    kinds[OPTIM_GRADIENT] > 1 && kinds[OPTIM_STATISTICS] == 1 &&
	    kinds[UNHEARD] == 1, "the steps are of all kinds (%d made, %d "
	    "skipped, %d with bad gradients, %d with bad statistics, %d with "
	    "bad losses)", kinds[0],
	    kinds[OPTIM_SKIPPED], kinds[OPTIM_GRADIENT],
	    kinds[OPTIM_STATISTICS], kinds[UNHEARD]);
	is(norm, 0, "device and host compute the same gradient norms, to the "
	    "bit");
	ok(same_state(host, requested), "device and host give the same weights and "
	    "optimizer state");
	ok(requested->launches < 16 && requested->launches < g->nparam / 2 &&
	    requested->copies == aggregated(g), "a step takes few launches (%d), "
	    "uploads nothing, and copies only statistics (%d)", requested->launches,
	    requested->copies);
	if (!ok(requested->faults == 0, "the host does not wait, and the stand-in "
	    "finds no other fault"))
		diag("%s", requested->said);
}

/* Omit each kernel that the trial needs.  Either its output is read before it
 * is written, or the weights differ. */
static void
test_without(const struct graph *g, const struct trial *c,
    const struct run *want)
{
	for (int i = 0; i < NEEDS && c->needs[i] != 0; i++) {
		struct run less;

		without = c->needs[i];
		less = run(g, c, STANDIN_LATE, ASKED);
		without = -1;
		ok(less.early > 0 || !same_state(&less, want), "%s: the test "
		    "detects a "
		    "missing kernel %s", c->name, kernel_names[c->needs[i]]);
		free(less.state);
	}
}

static void
test_trial(const struct graph *g, const struct trial *c)
{
	for (int when = 0; when < standin_whens(); when++) {
		struct run host = run(g, c, (enum standin_when)when, HOST);
		struct run requested = run(g, c, (enum standin_when)when, ASKED);

		compare(&host, &requested, g, c->name);
		if (when == STANDIN_LATE && !standin_absent())
			test_without(g, c, &host);
		free(host.state);
		free(requested.state);
	}
}

/* Omit the found_inf check, or wait for it too early. */
static void
test_planted(const struct graph *g)
{
	struct run r;

	without = GPU_STEP_CHECK;
	r = run(g, &trials[0], STANDIN_LATE, ASKED);
	without = -1;
	ok(r.early > 0, "a missing found_inf check is detected");
	free(r.state);
	r = run(g, &trials[0], STANDIN_LATE, IMPATIENT);
	ok(r.waits > 0, "a wait for the found_inf check is detected");
	free(r.state);
}

int
main(void)
{
	struct graph *g = read_thin("tsm_tiny", CLASSES);
	struct graph *more = read_thin("tsm_tiny", CLASSES);

	graph_between(more);
	without = -1;
	for (int i = 0; i < TRIALS; i++)
		test_trial(trials[i].between ? more : g, &trials[i]);
	if (!standin_absent())
		test_planted(g);
	graph_free(g);
	graph_free(more);
	return done();
}
