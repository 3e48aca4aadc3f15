/*
 * The loss scale multiplies gradients of parameters exactly if nothing is
 * rounded, and keeps small fp16 gradients from underflow.  A dynamic scale
 * settles at one that does not overflow.
 */
#include <string.h>

#include "base/mem.h"
#include "net/feed.h"
#include "train/optim/loss_scale.h"
#include "train/optim/optim.h"

#include "tap.h"

#define NET \
	"input x out=3 mean=0.45 std=0.225\n" \
	"conv a in=x out=8 k=3,3\n" \
	"bn b in=a\n" \
	"relu r in=b\n" \
	"conv c in=r out=8 k=3,3\n" \
	"avgpool p in=c over=thw\n" \
	"linear fc in=p out=classes std=0.1\n" \
	"loss loss in=fc weight="

struct fixture {
	struct graph *g;
	struct device *d;
	struct net *n;
	struct plan *p;
	struct feed f;
	void *gradient;
	double *got;			/* [elements] */
};

/*
 * Make a network whose loss has ${weight}, as text.  Return NULL if there is no
 * such device.
 */
static struct fixture *
fixture_new(const struct backend *b, enum precision precision, const char *weight)
{
	struct fixture *r = xcalloc(1, sizeof(*r));
	const struct dims in = { 4, 2, 12, 12, 3 };
	char text[512];

	snprintf(text, sizeof(text), NET "%s\n", weight);
	r->d = device_open(b, &(struct device_options){ .threads = 1,
		.precision = precision });
	if (r->d == NULL || r->d->o.precision != precision) {
		device_close(r->d);
		free(r);
		return NULL;
	}
	r->g = graph_parse("scale.net", text, 5);
	r->n = net_new(r->g, r->d);
	net_init(r->n, 1);
	r->p = net_plan(r->n, &in, 1);
	net_reserve(r->n);
	feed_make(&r->f, &in, &r->g->needs);
	r->gradient = device_alloc(r->d, r->g->elements * r->d->elem);
	r->got = xcalloc(r->g->elements, sizeof(*r->got));
	return r;
}

static void
fixture_free(struct fixture *r)
{
	feed_free(&r->f, &r->g->needs);
	device_free(r->d, r->gradient);
	net_free(r->n);
	graph_free(r->g);
	device_close(r->d);
	free(r->got);
	free(r);
}

/* Return the gradient of the loss times ${scale}, valid until the next call. */
static const double *
gradient(struct fixture *r, double scale)
{
	r->f.scale = scale;
	net_forward(r->n, r->p, &r->f, r->gradient);
	plan_backward(r->p, NULL);
	device_get(r->d, r->got, r->gradient, r->g->elements);
	return r->got;
}

/* Return the norm of the elements of ${v} that are trained. */
static double
length(const struct fixture *r, const double *v)
{
	double sum = 0;

	for (int k = 0; k < r->g->nparam; k++) {
		const struct param *p = &r->g->param[k];

		for (size_t i = p->offset; i < p->offset + p->count; i++)
			sum += p->kind < PARAM_MEAN ? v[i] * v[i] : 0;
	}
	return sqrt(sum);
}

static void
exact(const struct backend *b, enum precision precision)
{
	struct fixture *r = fixture_new(b, precision, "1");
	double *plain;
	int same = 1, some = 0;

	if (r == NULL) {
		skip(b->name, "no such device here");
		return;
	}
	plain = xcalloc(r->g->elements, sizeof(*plain));
	memcpy(plain, gradient(r, 0), r->g->elements * sizeof(*plain));
	gradient(r, 4096);
	for (int k = 0; k < r->g->nparam; k++) {
		const struct param *p = &r->g->param[k];
		double by = p->kind < PARAM_MEAN ? 4096 : 1;

		for (size_t i = p->offset; i < p->offset + p->count; i++) {
			same &= r->got[i] == by * plain[i];
			some += r->got[i] != 0;
		}
	}
	ok(same && some > 100, "%s, %s: the scale multiplies gradients "
	    "exactly, and leaves statistics", b->name,
	    r->d->precision);
	free(plain);
	fixture_free(r);
}

/* Gradients of activations that are too small for fp16. */
static void
small(void)
{
	const struct backend *b = backend_find("ref");
	struct fixture *r = fixture_new(b, PRECISION_FP16, "1e-8");
	struct fixture *whole = fixture_new(b, PRECISION_FP32, "1e-8");
	double want = length(whole, gradient(whole, 0)), scaled;

	ok(want > 0 && length(r, gradient(r, 0)) == 0,
	    "fp16: without a scale, gradients below 2^-25 are lost");
	scaled = length(r, gradient(r, 0x1p24)) / 0x1p24;
	if (!ok(fabs(scaled / want - 1) < 0.01,
	    "fp16: with a scale, none are lost"))
		diag("%g for %g", scaled, want);
	fixture_free(r);
	fixture_free(whole);
}

/* With this weight, 65536 times the loss overflows fp16. */
static void
dynamic(void)
{
	struct fixture *r = fixture_new(backend_find("ref"), PRECISION_FP16, "64");
	struct optim o = { .rule = group_rule_find("tsm"),
		.set = { .momentum = 0.9 }, .dynamic_scale = 1,
		.scale_every = 4 };
	double norm = 0, before = 65536, first = 0;
	int skipped = 0, made = 0, grown = 0, wrong = 0, since = 0, late = 0;

	optim_open(&o, r->n, NULL);
	is((int)optim_loss_scale(&o), 65536,
	    "a dynamic scale is 65536 initially");
	for (int i = 0; i < 40; i++) {
		double scale = optim_loss_scale(&o);
		int bad;

		grown += i > 0 && scale == 2 * before;
		/* Steps since the scale changed. */
		late += (i > 0 && scale == 2 * before) != (since == o.scale_every);
		since = i > 0 && scale != before ? 0 : since;
		wrong += i > 0 && scale != before && scale != 2 * before &&
		    scale != before / 2;
		before = scale;
		gradient(r, scale);
		bad = optim_step(&o, r->n, r->gradient, 1, 1e-5, &norm);
		skipped += bad == OPTIM_SKIPPED;
		made += bad == 0;
		since = bad == 0 ? since + 1 : 0;
		wrong += bad != 0 && bad != OPTIM_SKIPPED;
		if (bad == 0 && first == 0)
			first = norm;
	}
	is(wrong, 0, "a step is made, or it is skipped and the scale halved");
	ok(skipped >= 3 && made >= 20 && grown >= 2,
	    "steps are skipped (%d) while the scale is too large; later it "
	    "grows (%d)", skipped,
	    grown);
	is(late, 0, "the scale grows after the requested number of steps");
	optim_close(&o);
	fixture_free(r);
	r = fixture_new(backend_find("ref"), PRECISION_FP32, "64");
	ok(fabs(length(r, gradient(r, 0)) / first - 1) < 0.01,
	    "the norm is that of the unscaled gradient");
	fixture_free(r);
}

int
main(void)
{
	for (int i = 0; backends[i] != NULL; i++) {
		exact(backends[i], PRECISION_FP32);
		exact(backends[i], PRECISION_BF16);
	}
	small();
	dynamic();
	return done();
}
