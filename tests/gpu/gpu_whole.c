/* tests/run: weight 3 */
/*
 * Loss and gradients of a step of whole networks on the cuda back end agree
 * with the cpu back end in fp32, from the same weights, pixels and labels.
 * Without a GPU the test runs two small networks; with one (make check-gpu)
 * those of share/models in full.
 *
 * The tolerances are by norm, over all parameters.  gpu_nets.c compares each
 * operator alone with ref64 more strictly.  Through a whole network rounding
 * grows, most of all in 16 bits, where a relu or a maximum can select another
 * input.  At small shapes gradients differ by 0.1 in fp16 and by 0.24 in bf16,
 * and by 1.4 in a wrong network.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "net/feed.h"
#include "net/net.h"

#include "losses.h"
#include "gpu/standin/standin.h"
#include "models.h"
#include "tap.h"

enum { CLASSES = 20 };

static const struct net_case { const char *name; int clips, t, side; } small[] = {
	{ "tsm_tiny", 3, 2, 31 }, { "tsn_tiny", 2, 1, 26 }, { NULL, 0, 0, 0 }
}, whole[] = {
	{ "tsm_tiny", 8, 8, 112 }, { "tsm_r18", 4, 8, 158 },
	{ "tsm_r50", 2, 8, 224 }, { "tsm_r50", 3, 1, 158 },
	{ "resnet50", 8, 1, 224 }, { "tsm_mobilenet_v2", 4, 8, 112 },
	{ "i3d_r50", 1, 8, 224 }, { "tsm_r50_nl_gaussian", 1, 8, 112 },
	{ "slowfast_r50_8x8", 1, 32, 112 }, { "x3d_s", 2, 13, 160 },
	{ "r2plus1d_18", 1, 8, 112 }, { "tsm_r50", 2, 2, 63 },
	{ "i3d_r50", 1, 8, 40 }, { "slowfast_r50_8x8", 1, 32, 34 },
	{ "x3d_s", 1, 13, 40 }, { NULL, 0, 0, 0 }
};

/* Skip ref beyond this many multiply-adds of a forward pass; its plain loops
 * take too long. */
#define REFERENCE_MACS 2e9

static const struct { const char *name; double loss, gradient; } limit[] = {
	[PRECISION_FP32] = { "fp32", 1e-4, 5e-3 },
	[PRECISION_BF16] = { "bf16", 2e-2, 0.7 },
	[PRECISION_FP16] = { "fp16", 5e-3, 0.3 },
};

struct step { double loss, *dw; };	/* dw NULL: skipped */

static struct step
step(const struct graph *g, const struct net_case *c, const struct backend *b,
    enum precision p)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2, .precision = p });
	struct dims *in = graph_inputs(g, c->clips, c->t, c->side);
	struct step s = { 0, NULL };
	struct net *n = d != NULL ? net_new(g, d) : NULL;
	struct plan *plan = n != NULL ? net_plan(n, in, 1) : NULL;
	double scale = p == PRECISION_FP16 ? 1024 : 1;
	double *losses = xcalloc((size_t)c->clips, sizeof(*losses));
	struct feed feed;
	void *dw;

	if (plan == NULL || net_reserve(n) != 0) {
		printf("Bail out! %s on %s\n", c->name, b->name);
		exit(1);
	}
	if (strcmp(b->name, "ref") == 0 && plan->macs > REFERENCE_MACS)
		goto out;
	s.dw = xcalloc(g->elements, sizeof(*s.dw));
	net_init(n, 3);
	dw = device_alloc(d, g->elements * d->elem);
	feed_make(&feed, in, &g->needs);
	feed.scale = scale;
	net_forward(n, plan, &feed, dw);
	plan_backward(plan, NULL);
	losses_read(plan, losses);
	for (int i = 0; i < c->clips; i++)
		s.loss += losses[i] / c->clips;
	device_get(d, s.dw, dw, g->elements);
	for (int i = 0; i < g->nparam; i++)
		for (size_t k = 0; k < g->param[i].count; k++)
			s.dw[g->param[i].offset + k] /= g->param[i].kind <
			    PARAM_MEAN ? scale : 1;
	feed_free(&feed, &g->needs);
	device_free(d, dw);
out:
	free(losses);
	net_free(n);
	free(in);
	device_close(d);
	return s;
}

/* Return the relative distance by norm, over trained parameters. */
static double
distance(const struct graph *g, const double *a, const double *b)
{
	double d = 0, s = 0;

	for (int i = 0; i < g->nparam; i++)
		for (size_t k = 0; k < g->param[i].count &&
		    g->param[i].kind < PARAM_MEAN; k++) {
			size_t at = g->param[i].offset + k;

			d += (a[at] - b[at]) * (a[at] - b[at]);
			s += b[at] * b[at];
		}
	return sqrt(d / s);
}

static const struct backend *
key(void)
{
	for (int i = 0; backends[i] != NULL; i++)
		if (strcmp(backends[i]->name, "cpu") == 0)
			return backends[i];
	return backend_find("ref");
}

static void
test(const struct net_case *c)
{
	struct graph *g = model_read(c->name, CLASSES);
	struct step want = step(g, c, key(), PRECISION_FP32);

	if (want.dw == NULL)
		skip(c->name, "too large for ref");
	for (int p = PRECISION_FP32; p <= PRECISION_FP16 &&
	    want.dw != NULL; p++) {
		struct step got = step(g, c, standin_backend(STANDIN_LATE),
		    (enum precision)p);
		double off = distance(g, got.dw, want.dw);
		double loss = fabs(got.loss - want.loss) / want.loss;

		ok(loss <= limit[p].loss && off <= limit[p].gradient,
		    "%s at %dx%dx%d in %s agrees with %s", c->name, c->clips,
		    c->t, c->side, limit[p].name, key()->name);
		diag("loss differs by %.2g, gradients by %.2g", loss, off);
		free(got.dw);
	}
	free(want.dw);
	graph_free(g);
}

int
main(void)
{
	const struct net_case *c = standin_absent() ? whole : small;

	for (; c->name != NULL; c++)
		test(c);
	return done();
}
