/*
 * Frozen operators: gradients that only they need are not computed, and tensors
 * that only these gradients read are not kept.  Trained parameters get the same
 * bits as when everything is computed and the optimizer skips frozen
 * parameters.
 */
#include "base/mem.h"
#include "base/text.h"
#include "net/feed.h"
#include "net/net.h"
#include "train/optim/optim.h"
#include "train/weights/freeze.h"

#include "losses.h"
#include "tap.h"

enum { STEPS = 3, CLASSES = 5 };

/*
 * All operators with parameters, and normalizations with everything that is
 * fused with them.
 */
static const char net_text[] =
    "input x out=3 mean=0.4,0.4,0.4 std=0.2,0.2,0.2\n"
    "conv a in=x out=32 k=3,3 s=2,2\n"
    "bn b in=a\n"
    "relu r in=b\n"
    "shift s in=r fold=2\n"
    "conv c in=s out=32 k=1,1\n"
    "bn d in=c\n"
    "add e in=d,r\n"
    "relu f in=e\n"
    "conv g in=f out=32 k=3,1,1 p=1,0,0 groups=2 bias=1\n"
    "bn h in=g\n"
    "relu i in=h\n"
    "scale j in=i by=0.7 trained=1\n"
    "maxpool m in=j k=2,2 s=2,2\n"
    "linear n in=m out=32 std=0.2\n"
    "avgpool p in=n over=thw\n"
    "dropout o in=p rate=0.3\n"
    "linear l in=o out=classes std=0.1\n";

static const struct {
	const char *pattern[3];
	const char *passes;		/* first letters of the operators
					 * with a backward pass, except the
					 * loss */
	int less;			/* needs less memory; not if saved
					 * tensors are dead at the peak */
} cases[] = {
	{ { "backbone" }, "l", 1 },
	{ { "[a-d]" }, "ghijmnpol", 1 },
	{ { "partial-bn" }, "abrscdefghijmnpol", 0 },
	{ { "[acg]", "j" }, "brscdefghijmnpol", 0 },
	{ { "[cdghjn]" }, "abrscdefghijmnpol", 1 },
	{ { "[nl]" }, "abrscdefghijmnpol", 0 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static struct graph *
frozen(int k)
{
	struct graph *g = graph_parse("freeze.net", net_text, CLASSES);
	const char *item[3];
	struct option_list what = { item, 0, 0 };

	for (; what.n < 3 && cases[k].pattern[what.n] != NULL; what.n++)
		item[what.n] = cases[k].pattern[what.n];
	if (g == NULL || freeze_apply(g, &what) != 0) {
		printf("Bail out! cannot freeze the operators\n");
		exit(1);
	}
	return g;
}

/*
 * Set the frozen flag of all parameters to ${to}, 0 if NULL.  Write the old
 * flags to ${was} unless NULL.
 */
static void
set_frozen(struct graph *g, const char *to, char *was)
{
	for (int i = 0; i < g->nparam; i++) {
		if (was != NULL)
			was[i] = (char)g->param[i].frozen;
		g->param[i].frozen = to != NULL ? to[i] : 0;
	}
}

/* A network trained for some steps. */
struct training {
	struct graph *graph;
	struct net *net;
	struct plan *plan;
	void *dw;
	size_t bytes;			/* of its parameters */
	char *w;			/* parameters after the last step */
	double norm[STEPS];
	int stray;			/* bytes written to gradients of
					 * frozen parameters */
};

/*
 * Fill gradients of frozen parameters with NaN.  If ${look}, count their
 * changed bytes instead.
 */
static int
poison(struct training *t, int look)
{
	struct device *d = t->net->device;
	int stray = 0;

	for (int i = 0; i < t->graph->nparam; i++) {
		const struct param *p = &t->graph->param[i];
		char *at = (char *)t->dw + p->offset * d->elem;
		size_t n = p->count * d->elem;
		unsigned char *host = xmalloc(n);

		memset(host, 0xff, n);
		if (p->frozen && look)
			device_download(d, host, at, n);
		else if (p->frozen)
			device_upload(d, at, host, n);
		for (size_t k = 0; k < n; k++)
			stray += host[k] != 0xff;
		free(host);
	}
	return stray;
}

/* Train STEPS steps.  If ${whole}, the plan computes all gradients. */
static struct training
train(struct device *d, int k, int whole, int repeats)
{
	struct training t = { .graph = frozen(k) };
	struct graph *g = t.graph;
	struct dims in = { 2, 4, 16, 16, 3 };
	struct optim o = { .rule = group_rule_find("tsm"), .set = {
		.momentum = 0.9, .decay = 1e-3 } };
	char *was = xmalloc((size_t)g->nparam);
	struct feed feed;

	t.bytes = g->elements * d->elem;
	t.net = net_new(g, d);
	t.net->repeats = repeats;
	net_init(t.net, 3);
	set_frozen(g, NULL, was);
	if (!whole)
		set_frozen(g, was, NULL);
	t.plan = net_plan(t.net, &in, 1);
	set_frozen(g, was, NULL);
	net_reserve(t.net);
	optim_open(&o, t.net, NULL);
	feed_make(&feed, &in, &g->needs);
	t.dw = device_alloc(d, t.bytes);
	poison(&t, 0);
	for (int i = 0; i < STEPS; i++) {
		net_forward(t.net, t.plan, &feed, t.dw);
		plan_backward(t.plan, NULL);
		if (optim_step(&o, t.net, t.dw, 1, 0.1, &t.norm[i]) != 0)
			t.norm[i] = NAN;
	}
	t.stray = poison(&t, 1);
	t.w = xmalloc(t.bytes);
	device_download(d, t.w, t.net->w, t.bytes);
	feed_free(&feed, &g->needs);
	optim_close(&o);
	free(was);
	return t;
}

static void
release(struct training *t)
{
	device_free(t->net->device, t->dw);
	net_free(t->net);
	graph_free(t->graph);
	free(t->w);
}

/*
 * Return the first letter of each operator with a backward pass.  Valid until
 * the next call.
 */
static const char *
passes(const struct plan *p)
{
	static char text[64];
	int n = 0;

	for (int i = 0; i < p->n && n < 63; i++)
		if (!p->task[i].no_grad && p->task[i].op->kind != OP_LOSS)
			text[n++] = p->task[i].op->name[0];
	text[n] = '\0';
	return text;
}

/* Count what the plan still has for backward passes that do not happen. */
static int
leftovers(const struct plan *p)
{
	int bad = 0;

	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];

		if (t->no_grad)
			bad += p->buffers[i].has_dy || task_reads(t) != 0 ||
			    t->recompute;
		for (int j = 0; j < t->op->nparam; j++)
			bad += (t->dw[j] != NULL) == p->graph->param[
			    t->op->param + j].frozen;
	}
	return bad;
}

static void
test(struct device *d, int k, int repeats)
{
	struct training some = train(d, k, 0, repeats);
	struct training all = train(d, k, 1, repeats);
	char what[128], a[32], b[32];
	int same = memcmp(some.w, all.w, some.bytes) == 0;

	snprintf(what, sizeof(what), "%s in %s, --freeze=%s%s",
	    d->backend->name, d->precision, cases[k].pattern[0],
	    repeats ? ", several microbatches" : "");
	for (int i = 0; i < STEPS; i++)
		same &= isfinite(some.norm[i]) && some.norm[i] == all.norm[i];
	ok(same, "%s: same bits as with all gradients", what);
	is_text(passes(some.plan), cases[k].passes,
	    "only these operators have a backward pass");
	is_text(passes(all.plan), "abrscdefghijmnpol",
	    "with all gradients, all operators have a backward pass");
	is(some.stray, 0, "no gradient of a frozen parameter is written");
	ok(all.stray > 0, "with all gradients, frozen parameters get theirs");
	is(leftovers(some.plan), 0,
	    "the plan has no leftovers of the omitted backward passes");
	if (cases[k].less)
		ok(some.plan->arena < all.plan->arena,
		    "less memory is needed (%s, %s)",
		    text_bytes(a, (double)some.plan->arena),
		    text_bytes(b, (double)all.plan->arena));
	release(&some);
	release(&all);
}

/* ---- finite differences ---- */

static double
loss(struct net *n, struct plan *p, const struct feed *f, void *dw)
{
	double v[8], sum = 0;

	net_forward(n, p, f, dw);
	losses_read(p, v);
	for (int i = 0; i < p->input->n; i++)
		sum += v[i] / p->input->n;
	return sum;
}

/*
 * Return the worst relative error of some derivatives of each trained
 * parameter.
 */
static double
worst_derivative(struct training *t, const struct feed *f)
{
	struct device *d = t->net->device;
	const double h = 1e-6;
	double worst = 0;

	for (int i = 0; i < t->graph->nparam; i++) {
		const struct param *p = &t->graph->param[i];

		if (p->frozen || p->kind >= PARAM_MEAN)
			continue;
		for (size_t k = 0; k < p->count; k += p->count / 3 + 1) {
			size_t at = (p->offset + k) * d->elem;
			double was, to, dw, up, down;

			device_get(d, &was, (char *)t->net->w + at, 1);
			device_get(d, &dw, (char *)t->dw + at, 1);
			device_put(d, (char *)t->net->w + at,
			    (to = was + h, &to), 1);
			up = loss(t->net, t->plan, f, t->dw);
			device_put(d, (char *)t->net->w + at,
			    (to = was - h, &to), 1);
			down = loss(t->net, t->plan, f, t->dw);
			device_put(d, (char *)t->net->w + at, &was, 1);
			worst = fmax(worst, fabs((up - down) / (2 * h) - dw) /
			    fmax(fabs(dw), 1e-2));
		}
	}
	return worst;
}

static void
derivatives(struct device *d, int k)
{
	struct training t = train(d, k, 0, 0);
	struct feed feed;
	double worst;

	feed_make(&feed, t.plan->input, &t.graph->needs);
	net_forward(t.net, t.plan, &feed, t.dw);
	plan_backward(t.plan, NULL);
	worst = worst_derivative(&t, &feed);
	if (!ok(worst < 1e-5, "--freeze=%s: the other gradients agree with "
	    "finite differences", cases[k].pattern[0]))
		diag("worst error %g", worst);
	feed_free(&feed, &t.graph->needs);
	release(&t);
}

/*
 * Test all back ends, with outputs kept (${remade} 0) or recomputed whenever
 * possible (1).
 */
static void
test_all(enum precision precision, size_t recompute)
{
	for (int i = 0; backends[i] != NULL; i++) {
		struct device *d = device_open(backends[i],
		    &(struct device_options){ .threads = 2,
			.precision = precision });

		if (d != NULL)
			d->recompute_min = recompute;
		if (d == NULL || d->o.precision != precision)
			skip(backends[i]->name, d == NULL ?
			    "no such device "
			    "here" : "not of this precision here");
		else
			for (int k = 0; k < CASES; k++)
				test(d, k, k % 2);
		device_close(d);
	}
}

int
main(void)
{
	struct device *key = device_open(backend_find("ref64"),
	    &(struct device_options){ .threads = 1 });

	for (int k = 0; k < CASES; k++)
		derivatives(key, k);
	device_close(key);
	test_all(PRECISION_FP32, 0);
	test_all(PRECISION_BF16, 0);
	test_all(PRECISION_FP32, 1);
	test_all(PRECISION_BF16, 1);
	return done();
}
