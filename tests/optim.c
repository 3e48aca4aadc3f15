/*
 * The optimiser: its groups of parameters against the published program's, and
 * its steps, on every back end, against the formulas written down once more.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "train/optim.h"

#include "tap.h"

/* ---- groups ---- */

struct count { int tensors; size_t values; double lr, decay; };

/* What the published table calls the group of a parameter. */
static const char *
published_group(const struct graph *g, const struct param *p)
{
	int first = 0;

	while (g->op[first].kind != OP_CONV)
		first++;
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? "lr5_weight" : p->op == first ?
		    "first_conv_weight" : "normal_weight";
	case PARAM_BIAS:
		return p->head ? "lr10_bias" : p->op == first ?
		    "first_conv_bias" : "normal_bias";
	default:
		return "BN scale/shift";
	}
}

/* The parameters of ${group}, and the factors they all have, or NANs. */
static struct count
count_group(const struct graph *g, const struct group_rule *rule,
    const char *group)
{
	struct count c = { 0, 0, NAN, NAN };

	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];
		struct group of = group_of(rule, p);

		if (p->kind >= PARAM_MEAN ||
		    strcmp(published_group(g, p), group) != 0)
			continue;
		if (c.tensors++ > 0 && (of.lr != c.lr || of.decay != c.decay))
			of = (struct group){ NAN, NAN };
		c.values += p->count;
		c.lr = of.lr;
		c.decay = of.decay;
	}
	return c;
}

static void
published_groups(const struct table *t, const char *row, const char *name,
    int classes)
{
	char path[128];
	struct graph *g;
	int compared = 0;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, classes);
	for (size_t r = 0; r < t->rows; r++) {
		char *const *cell = t->cell[r];
		struct count c;
		int empty;

		if (strcmp(cell[0], row) != 0 ||
		    strcmp(cell[1], "custom_ops") == 0)
			continue;
		compared++;
		c = count_group(g, group_rule_find("tsm"), cell[1]);
		empty = atoi(cell[2]) == 0;
		ok(c.tensors == atoi(cell[2]) &&
		    c.values == strtoull(cell[3], NULL, 10) && (empty ||
		    (c.lr == atof(cell[4]) && c.decay == atof(cell[5]))),
		    "%s, %s: %s tensors of %s values, learning rate x %s, decay x %s",
		    row, cell[1], cell[2], cell[3], cell[4], cell[5]);
	}
	is(compared, 7, "all groups were compared");
	graph_free(g);
}

static void
groups(void)
{
	/*
	 * weight, bias, norm, head weight, head bias: learning rate and decay
	 */
	static const struct { const char *rule; double want[5][2]; } others[] = {
		{ "tsm", { { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 } } },
		{ "tsm-fine",
		    { { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 } } },
		{ "plain", { { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 } } },
	};
	static const struct { enum param_kind kind; int head; } kinds[5] = {
		{ PARAM_WEIGHT, 0 }, { PARAM_BIAS, 0 }, { PARAM_SCALE, 0 },
		{ PARAM_WEIGHT, 1 }, { PARAM_BIAS, 1 } };
	struct table *t = table_read(golden_path("tsm_optim_policies.tsv"));
	char said[256];

	for (size_t i = 0; i < 3; i++) {
		const struct group_rule *r = group_rule_find(others[i].rule);
		int same = 0;

		for (int k = 0; k < 5; k++) {
			struct param p = { .kind = kinds[k].kind,
				.head = kinds[k].head };
			struct group got = group_of(r, &p);

			same += got.lr == others[i].want[k][0] &&
			    got.decay == others[i].want[k][1];
		}
		is(same, 5, others[i].rule);
	}
	fail_capture(said, sizeof(said));
	ok(group_rule_find("none") == NULL, "no other rule");
	fail_capture(NULL, 0);
	ok(strstr(said, "wanted tsm, tsm-fine or plain") != NULL,
	    "and the message names those there are");
	published_groups(t, "tsm_r50_8f_k400", "tsm_r50", 400);
	published_groups(t, "tsm_r50_8f_sth", "tsm_r50", 174);
	published_groups(t, "tsn_r50_8f_k400", "tsn_r50", 400);
	table_free(t);
}

/* ---- steps ---- */

#define STEPS 10
#define LEAVES 4
#define CLIP 3.0

static const char net_text[] =
    "input x out=3\n"
    "conv c in=x out=5 k=3,3 bias=1\n"
    "bn b in=c momentum=0.25\n"
    "avgpool p in=b over=thw\n"
    "linear fc in=p out=classes std=0.5\n";

/* What the formulas are done with here: one of each for a parameter. */
struct plain { double *w, *m, *g; };

static void
draw_gradient(const struct param *p, int k, int step, double *g)
{
	/* Every third step is long enough to be clipped. */
	double size = step % 3 == 1 ? 2.0 : 0.2;

	for (size_t i = 0; i < p->count; i++) {
		g[i] = size * rng_normal(11, (uint32_t)(100 * step + k),
		    (uint32_t)i) * LEAVES;
		if (p->kind == PARAM_VAR)
			g[i] = g[i] * g[i] + 0.1;
		g[i] = (float)g[i];
	}
}

/*
 * With the mean gradient g, shortened to CLIP:  d = g + decay w,
 * m = momentum m + d,  w -= lr m, or with Nesterov lr (d + momentum m).
 */
static double
plain_step(const struct graph *g, struct plain *v, int nesterov, double lr)
{
	static const double lrs[] = { 1, 2, 1, 1 }, decays[] = { 1, 0, 0, 0 };
	double norm = 0, shorten = 1;

	for (int k = 0; k < g->nparam; k++)
		for (size_t i = 0; i < g->param[k].count; i++) {
			v[k].g[i] /= LEAVES;
			if (g->param[k].kind < PARAM_MEAN)
				norm += v[k].g[i] * v[k].g[i];
		}
	norm = sqrt(norm);
	if (norm > CLIP)
		shorten = CLIP / (norm + 1e-6);
	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];
		double up = lrs[p->kind < PARAM_MEAN ? p->kind : 0];

		if (strcmp(p->name, "fc.weight") == 0)
			up = 5;
		if (strcmp(p->name, "fc.bias") == 0)
			up = 10;
		for (size_t i = 0; i < p->count; i++) {
			double *w = &v[k].w[i], *m = &v[k].m[i], d;

			if (p->kind >= PARAM_MEAN) {
				*w = 0.75 * *w + 0.25 * v[k].g[i];
				continue;
			}
			d = v[k].g[i] * shorten + 0.01 * decays[p->kind] * *w;
			*m = 0.9 * *m + d;
			*w -= lr * up * (nesterov ? d + 0.9 * *m : *m);
		}
	}
	return norm;
}

/* The larger one, or a NaN if one is (fmax would drop it). */
static double
worse(double a, double b)
{
	return isnan(a) || a > b ? a : b;
}

/* The largest difference from what ${v} has, relative to values of size 1. */
static double
difference(const struct net *n, const void *flat, struct plain *v, int momentum)
{
	double most = 0;

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];
		double *got = xcalloc(p->count, sizeof(*got));

		device_get(n->device, got, (const char *)flat + p->offset *
		    n->device->elem, p->count);
		for (size_t i = 0; i < p->count; i++) {
			double want = momentum ? v[k].m[i] : v[k].w[i];

			most = worse(most, fabs(got[i] - want) /
			    (1 + fabs(want)));
		}
		free(got);
	}
	return most;
}

static struct plain *
plain_new(const struct net *n)
{
	struct plain *v = xcalloc((size_t)n->graph->nparam, sizeof(*v));

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		v[k].w = xcalloc(p->count, sizeof(double));
		v[k].m = xcalloc(p->count, sizeof(double));
		v[k].g = xcalloc(p->count, sizeof(double));
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
		free(v[k].g);
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
not_finite(struct optim *o, struct net *n, void *g)
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
		ok(got == 1 && same && !isfinite(norm),
		    "%s: a gradient with %g in it changes nothing",
		    n->device->backend->name, bad[i]);
	}
	free(w);
	free(m);
	free(now);
}

static void
steps(struct device *b, int nesterov)
{
	struct graph *g = graph_parse("optim.net", net_text, 3);
	struct net *n = net_new(g, b);
	struct optim o = { .rule = group_rule_find("tsm"), .momentum = 0.9,
		.decay = 0.01, .nesterov = nesterov, .clip = CLIP };
	double tolerance = b->elem == 8 ? 1e-13 : 2e-6, apart = 0, norms = 0;
	void *gradient = device_alloc(b, g->elements * b->elem);
	struct plain *v;
	int clipped = 0;

	net_init(n, 5);
	optim_open(&o, n, NULL);
	v = plain_new(n);
	for (int s = 0; s < STEPS; s++) {
		double lr = 0.1 / (1 + s), norm, want;

		put_gradient(n, gradient, v, s);
		if (optim_step(&o, n, gradient, 1.0 / LEAVES, lr, &norm) != 0)
			norm = NAN;
		want = plain_step(g, v, nesterov, lr);
		clipped += want > CLIP;
		norms = worse(norms, fabs(norm - want) / want);
		apart = worse(apart, difference(n, n->w, v, 0));
		apart = worse(apart, difference(n, o.slots.slot[0].data, v, 1));
	}
	ok(clipped > 0 && clipped < STEPS, "some steps are clipped, not all (%d)",
	    clipped);
	ok(norms <= tolerance, "%s%s: the norm before clipping", b->backend->name,
	    nesterov ? ", Nesterov" : "");
	if (!ok(apart <= tolerance, "%s%s: %d steps as by hand", b->backend->name,
	    nesterov ? ", Nesterov" : "", STEPS))
		diag("they differ by %g", apart);
	not_finite(&o, n, gradient);
	plain_free(v, g->nparam);
	optim_close(&o);
	device_free(b, gradient);
	net_free(n);
	graph_free(g);
}

int
main(void)
{
	groups();
	for (int i = 0; backends[i] != NULL; i++) {
		struct device *b = device_open(backends[i],
		    &(struct device_options){ .threads = 1 });

		if (b == NULL) {
			skip(backends[i]->name, "no such device here");
			continue;
		}
		steps(b, 0);
		steps(b, 1);
		device_close(b);
	}
	return done();
}
