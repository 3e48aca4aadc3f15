/*
 * Ten steps of each optimizer on every back end agree with the formulas of the
 * papers, computed here in double.  Clipping and the moving average of weights
 * are included.
 */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/optim/optim.h"

#include "optimizer_find.h"
#include "tap.h"

#define STEPS 10
#define LEAVES 4
#define CLIP 3.0
#define VALUE 0.5
#define DECAY 0.01
#define EMA 0.4

static const char net_text[] =
    "input x out=3\n"
    "conv c in=x out=5 k=3,3 bias=1\n"
    "bn b in=c momentum=0.25\n"
    "avgpool p in=b over=thw\n"
    "linear fc in=p out=classes std=0.5\n";

struct trial {
	const char *name, *optimizer;
	int nesterov, trust_clip, by_value;
};

static const struct trial trials[] = {
	{ "sgd", "sgd", 0, 0, 0 },
	{ "sgd, Nesterov", "sgd", 1, 0, 0 },
	{ "sgd, clipped by value", "sgd", 0, 0, 1 },
	{ "lars", "lars", 0, 0, 0 },
	{ "lars, clipped by value", "lars", 0, 0, 1 },
	{ "lars, clipped trust", "lars", 0, 1, 0 },
	{ "lars-outside", "lars-outside", 0, 0, 0 },
	{ "lars-outside, clipped trust (LARC)", "lars-outside", 0, 1, 0 },
	{ "adamw", "adamw", 0, 0, 0 },
	{ "adamw, clipped by value", "adamw", 0, 0, 1 },
	{ "lamb", "lamb", 0, 0, 0 },
	{ "lamb, clipped trust", "lamb", 0, 1, 0 },
};
#define TRIALS (sizeof(trials) / sizeof(trials[0]))

static const struct optimizer_settings set = { .momentum = 0.9,
	.decay = DECAY, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6,
	.trust = 0.05 };

/* The state of the formulas, one per parameter. */
struct plain { double *w, *m, *v, *g, *average; };

static void
draw_gradient(const struct param *p, int k, int step, double *g)
{
	/* Every third step has a gradient long enough to be clipped. */
	double size = step % 3 == 1 ? 2.0 : 0.2;

	for (size_t i = 0; i < p->count; i++) {
		g[i] = size * rng_normal(11, (uint32_t)(100 * step + k),
		    (uint32_t)i) * LEAVES;
		if (p->kind == PARAM_VAR)
			g[i] = g[i] * g[i] + 0.1;
		g[i] = (float)g[i];
	}
}

static double
length(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] * v[i];
	return sqrt(sum);
}

/* Return the group of a parameter by the rule of TSM. */
static struct group
group(const struct param *p)
{
	static const double lrs[] = { 1, 2, 1, 1 }, decays[] = { 1, 0, 0, 0 };

	if (strcmp(p->name, "fc.weight") == 0)
		return (struct group){ 5, 1 };
	if (strcmp(p->name, "fc.bias") == 0)
		return (struct group){ 10, 0 };
	return (struct group){ lrs[p->kind], decays[p->kind] };
}

/*
 * d = g + decay w, m = momentum m + d, w -= lr m; with Nesterov w -= lr (d +
 * momentum m).
 */
static void
plain_sgd(struct plain *v, size_t n, double lr, double decay, int nesterov)
{
	for (size_t i = 0; i < n; i++) {
		double d = v->g[i] + decay * v->w[i];

		v->m[i] = 0.9 * v->m[i] + d;
		v->w[i] -= lr * (nesterov ? d + 0.9 * v->m[i] : v->m[i]);
	}
}

/*
 * You, Gitman and Ginsburg 2017, algorithm 1: local = eta |w| / (|g| + decay
 * |w|), v = momentum v + lr local (g + decay w), w -= v.  If ${outside}, the
 * learning rate is outside of v.  If ${cut}, the local rate is at most the
 * global one, as in Apex's LARC.
 */
static void
plain_lars(struct plain *v, size_t n, double lr, double decay, int layer,
    int outside, int cut)
{
	double w = length(v->w, n), g = length(v->g, n), local = 1;

	if (layer)
		local = 0.05 * w / (g + decay * w);
	if (layer && cut)
		local = fmin(local, lr) / lr;
	for (size_t i = 0; i < n; i++) {
		double d = local * (v->g[i] + decay * v->w[i]);

		v->m[i] = 0.9 * v->m[i] + (outside ? d : lr * d);
		v->w[i] -= outside ? lr * v->m[i] : v->m[i];
	}
}

/*
 * Loshchilov and Hutter 2019, algorithm 2, in PyTorch's form: the decay first,
 * times the learning rate.
 */
static void
plain_adamw(struct plain *v, size_t n, double lr, double decay, int t)
{
	for (size_t i = 0; i < n; i++) {
		double m, s;

		v->w[i] *= 1 - lr * decay;
		v->m[i] = 0.8 * v->m[i] + 0.2 * v->g[i];
		v->v[i] = 0.95 * v->v[i] + 0.05 * v->g[i] * v->g[i];
		m = v->m[i] / (1 - pow(0.8, t));
		s = v->v[i] / (1 - pow(0.95, t));
		v->w[i] -= lr * m / (sqrt(s) + 1e-6);
	}
}

/* You et al. 2020, algorithm 2, with phi the identity. */
static void
plain_lamb(struct plain *v, size_t n, double lr, double decay, int layer,
    int cut, int t)
{
	double *r = xcalloc(n, sizeof(*r)), trust = 1;

	for (size_t i = 0; i < n; i++) {
		v->m[i] = 0.8 * v->m[i] + 0.2 * v->g[i];
		v->v[i] = 0.95 * v->v[i] + 0.05 * v->g[i] * v->g[i];
		r[i] = v->m[i] / (1 - pow(0.8, t)) /
		    (sqrt(v->v[i] / (1 - pow(0.95, t))) + 1e-6) +
		    decay * v->w[i];
	}
	if (layer)
		trust = length(v->w, n) / length(r, n);
	if (cut && trust > 1)
		trust = 1;
	for (size_t i = 0; i < n; i++)
		v->w[i] -= lr * trust * r[i];
	free(r);
}

/*
 * Make step ${t}, from 1, with the mean of the gradients.  Return their norm.
 */
static double
plain_step(const struct trial *c, const struct graph *g, struct plain *v,
    double lr, int t)
{
	double norm = 0, shorten = 1, ema = t == 1 ? 0 :
	    fmin(EMA, (double)t / (9 + t));

	for (int k = 0; k < g->nparam; k++)
		for (size_t i = 0; i < g->param[k].count; i++) {
			v[k].g[i] /= LEAVES;
			if (g->param[k].kind < PARAM_MEAN)
				norm += v[k].g[i] * v[k].g[i];
		}
	norm = sqrt(norm);
	if (norm > CLIP && !c->by_value)
		shorten = CLIP / (norm + 1e-6);
	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];
		size_t n = p->count;
		int layer = p->kind == PARAM_WEIGHT;
		struct group of;

		for (size_t i = 0; i < n && p->kind >= PARAM_MEAN; i++)
			v[k].w[i] = 0.75 * v[k].w[i] + 0.25 * v[k].g[i];
		for (size_t i = 0; i < n; i++) {
			v[k].g[i] *= shorten;
			if (c->by_value)
				v[k].g[i] = fmax(fmin(v[k].g[i], VALUE), -VALUE);
		}
		if (p->kind < PARAM_MEAN) {
			of = group(p);
			of.lr *= lr;
			of.decay *= DECAY;
			if (strcmp(c->optimizer, "sgd") == 0)
				plain_sgd(&v[k], n, of.lr, of.decay,
				    c->nesterov);
			else if (strncmp(c->optimizer, "lars", 4) == 0)
				plain_lars(&v[k], n, of.lr, of.decay, layer,
				    c->optimizer[4] != '\0', c->trust_clip);
			else if (strcmp(c->optimizer, "adamw") == 0)
				plain_adamw(&v[k], n, of.lr, of.decay, t);
			else
				plain_lamb(&v[k], n, of.lr, of.decay, layer,
				    c->trust_clip, t);
		}
		for (size_t i = 0; i < n; i++)
			v[k].average[i] = ema * v[k].average[i] + (1 - ema) *
			    v[k].w[i];
	}
	return norm;
}

/* Return the larger one, or a NaN if one is (fmax would drop it). */
static double
worse(double a, double b)
{
	return isnan(a) || a > b ? a : b;
}

/*
 * Return the largest difference of ${flat} from ${field} of ${v}, relative to 1
 * + the value.
 */
static double
difference(const struct net *n, const void *flat, const struct plain *v,
    size_t field, int statistics)
{
	double largest = 0;

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];
		double *got = xcalloc(p->count, sizeof(*got));
		const double *want = *(double *const *)((const char *)&v[k] +
		    field);

		device_get(n->device, got, (const char *)flat + p->offset *
		    n->device->elem, p->count);
		for (size_t i = 0; i < p->count; i++)
			if (p->kind < PARAM_MEAN || statistics)
				largest = worse(largest, fabs(got[i] - want[i]) /
				    (1 + fabs(want[i])));
		free(got);
	}
	return largest;
}

static struct plain *
plain_new(const struct net *n)
{
	struct plain *v = xcalloc((size_t)n->graph->nparam, sizeof(*v));

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		v[k].w = xcalloc(p->count, sizeof(double));
		v[k].m = xcalloc(p->count, sizeof(double));
		v[k].v = xcalloc(p->count, sizeof(double));
		v[k].g = xcalloc(p->count, sizeof(double));
		v[k].average = xcalloc(p->count, sizeof(double));
		device_get(n->device, v[k].w, (const char *)n->w + p->offset *
		    n->device->elem, p->count);
	}
	return v;
}

static void
plain_free(struct plain *v, int n)
{
	for (int k = 0; k < n; k++) {
		free(v[k].w);
		free(v[k].m);
		free(v[k].v);
		free(v[k].g);
		free(v[k].average);
	}
	free(v);
}

static void
put_gradient(const struct net *n, void *g, struct plain *v, int step)
{
	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		draw_gradient(p, k, step, v[k].g);
		device_put(n->device, (char *)g + p->offset * n->device->elem,
		    v[k].g, p->count);
	}
}

/* A gradient that is not finite must change nothing at all. */
static void
not_finite(struct optim *o, struct net *n, void *g, const char *name)
{
	size_t bytes = n->graph->elements * n->device->elem;
	void *w = xmalloc(bytes), *m = xmalloc(bytes), *now = xmalloc(bytes);
	const double bad[2] = { INFINITY, NAN };
	double norm;

	device_download(n->device, w, n->w, bytes);
	device_download(n->device, m, o->slots.slot[0].data, bytes);
	for (int i = 0; i < 2; i++) {
		int got, same = 1;

		device_put(n->device, g, &bad[i], 1);
		got = optim_step(o, n, g, 1, 0.1, &norm);
		device_download(n->device, now, n->w, bytes);
		same &= memcmp(now, w, bytes) == 0;
		device_download(n->device, now, o->slots.slot[0].data, bytes);
		same &= memcmp(now, m, bytes) == 0;
		ok(got == OPTIM_GRADIENT && same && !isfinite(norm),
		    "%s, %s: a gradient that holds %g changes nothing",
		    n->device->backend->name, name, bad[i]);
	}
	free(w);
	free(m);
	free(now);
}

/* Return the largest difference of all state from the formulas. */
static double
apart(const struct optim *o, const struct net *n, const struct plain *v)
{
	double largest = difference(n, n->w, v, offsetof(struct plain, w), 1);

	largest = worse(largest, difference(n, o->slots.slot[0].data, v,
	    offsetof(struct plain, m), 0));
	if (strcmp(o->kind->slot[1].name != NULL ? o->kind->slot[1].name : "",
	    "optim/exp_avg_sq") == 0)
		largest = worse(largest, difference(n, o->slots.slot[1].data, v,
		    offsetof(struct plain, v), 0));
	return worse(largest, difference(n, o->slots.slot[o->ema_slot].data, v,
	    offsetof(struct plain, average), 1));
}

static void
steps(struct device *b, const struct trial *c)
{
	struct graph *g = graph_parse("optim.net", net_text, 3);
	struct net *n = net_new(g, b);
	struct optim o = { .kind = optimizer_find(c->optimizer),
		.rule = group_rule_find("tsm"), .set = set,
		.clip = c->by_value ? 0 : CLIP, .clip_value = c->by_value ?
		VALUE : 0, .ema = EMA };
	double tolerance = b->elem == 8 ? 1e-13 : 2e-6, largest = 0, norms = 0;
	void *gradient = device_alloc(b, g->elements * b->elem);
	struct plain *v;
	int clipped = 0;

	o.set.nesterov = c->nesterov;
	o.set.trust_clip = c->trust_clip;
	net_init(n, 5);
	optim_open(&o, n, NULL);
	v = plain_new(n);
	for (int s = 0; s < STEPS; s++) {
		double lr = 0.1 / (1 + s), norm, want;

		put_gradient(n, gradient, v, s);
		if (optim_step(&o, n, gradient, 1.0 / LEAVES, lr, &norm) != 0)
			norm = NAN;
		want = plain_step(c, g, v, lr, s + 1);
		clipped += want > CLIP;
		norms = worse(norms, fabs(norm - want) / want);
		largest = worse(largest, apart(&o, n, v));
	}
	ok(clipped > 0 && clipped < STEPS,
	    "some steps are clipped, not all (%d)",
	    clipped);
	ok(norms <= tolerance,
	    "%s, %s: the norm before clipping is that of the formulas",
	    b->backend->name, c->name);
	if (!ok(largest <= tolerance, "%s, %s: %d steps and the moving average "
	    "are those of the formulas", b->backend->name, c->name, STEPS))
		diag("they differ by %g", largest);
	not_finite(&o, n, gradient, c->name);
	plain_free(v, g->nparam);
	optim_close(&o);
	device_free(b, gradient);
	net_free(n);
	graph_free(g);
}

int
main(void)
{
	for (int i = 0; backends[i] != NULL; i++) {
		struct device *b = device_open(backends[i],
		    &(struct device_options){ .threads = 1 });

		if (b == NULL) {
			skip(backends[i]->name, "no such device here");
			continue;
		}
		for (size_t k = 0; k < TRIALS; k++)
			steps(b, &trials[k]);
		device_close(b);
	}
	ok(optimizer_find("adam") == NULL, "an unknown optimizer is absent");
	return done();
}
