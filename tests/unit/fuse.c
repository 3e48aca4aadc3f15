/* tests/run: weight 27 */
/*
 * Fused operators agree with the unfused ones of ref64 on the same network,
 * weights and clips: each output, gradient and statistic.
 *
 * With the name of a back end as argument, test that one alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/net.h"
#include "net/poison.h"

#include "backend/cuda/driver.h"
#include "losses.h"
#include "gpu/standin/standin.h"
#include "tap.h"

enum { CLASSES = 5 };

#define INPUT "input x out=3 mean=.4,.4,.4 std=.2,.2,.2\n"
#define HEAD(in) \
	"avgpool p in=" in " over=hw\n" \
	"linear l in=p out=classes std=0.3\n" \
	"avgpool q in=l over=t\n"
/* Two bns, b and d. */
#define BRANCHES(channels) \
	"conv a in=x out=" channels " k=3,3\n" \
	"bn b in=a\n" \
	"conv c in=x out=" channels " k=1,1\n" \
	"bn d in=c gamma=0.5\n"

static const struct {
	const char *name, *text;
	int fused;			/* tasks fused into another one on
					 * cpu */
} nets[] = {
	{ "bn, relu",
	  INPUT
	  "conv a in=x out=20 k=3,3\n"
	  "bn b in=a gamma=0.7\n"
	  "relu r in=b\n"
	  HEAD("r"), 1 },
	{ "bn, add",
	  INPUT
	  "conv a in=x out=16 k=3,3\n"
	  "bn b in=a\n"
	  "add s in=a,b\n"
	  HEAD("s"), 1 },
	{ "two bns added",
	  INPUT BRANCHES("16")
	  "add s in=b,d\n"
	  "relu r in=s\n"
	  HEAD("r"), 2 },
	{ "two bns added, without a relu",
	  INPUT BRANCHES("16")
	  "add s in=b,d\n"
	  "swish r in=s\n"
	  HEAD("r"), 1 },
	{ "two bns added, whose sum a relu and a shift read",
	  INPUT BRANCHES("48")
	  "add s in=d,b\n"
	  "relu r in=s\n"
	  "shift t in=s fold=3\n"
	  "add u in=r,t\n"
	  HEAD("u"), 2 },
	{ "an addition of two bns that another bn's addition reads",
	  INPUT BRANCHES("16")
	  "add s in=b,d\n"
	  "conv e in=x out=16 k=1,1\n"
	  "bn f in=e\n"
	  "add g in=f,s\n"
	  "relu h in=g\n"
	  HEAD("h"), 3 },
	{ "an output that is used twice is not fused",
	  INPUT
	  "conv a in=x out=16 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "add s in=b,r\n"
	  HEAD("s"), 0 },
	{ "shifts of whole blocks, shortcuts stored shifted",
	  INPUT
	  "conv a in=x out=48 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=3\n"
	  "conv c in=s out=48 k=1,1\n"
	  "bn d in=c\n"
	  "add e in=d,r\n"
	  "relu f in=e\n"
	  "shift g in=f fold=3\n"
	  "conv h in=g out=48 k=1,1\n"
	  "bn i in=h gamma=0.5\n"
	  "add j in=f,i\n"
	  "relu k in=j\n"
	  HEAD("k"), 7 },
	{ "a shift next to a reader of the unshifted form",
	  INPUT
	  "conv a in=x out=48 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=3\n"
	  "conv c in=s out=16 k=1,1 s=2,2\n"
	  "bn d in=c\n"
	  "conv e in=r out=16 k=1,1 s=2,2\n"
	  "bn f in=e\n"
	  "add g in=d,f\n"
	  "relu h in=g\n"
	  HEAD("h"), 4 },
	{ "shifts of whole 32s, shortcuts stored shifted by 2 folds",
	  INPUT
	  "conv a in=x out=128 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=2\n"
	  "conv c in=s out=128 k=1,1\n"
	  "bn d in=c\n"
	  "add e in=d,r\n"
	  "relu f in=e\n"
	  "shift g in=f fold=4\n"
	  "conv h in=g out=128 k=1,1\n"
	  "bn i in=h gamma=0.5\n"
	  "add j in=f,i\n"
	  "relu k in=j\n"
	  HEAD("k"), 7 },
	{ "a shift of whole 32s next to a reader of the unshifted form",
	  INPUT
	  "conv a in=x out=128 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=2\n"
	  "conv c in=s out=16 k=1,1 s=2,2\n"
	  "bn d in=c\n"
	  "conv e in=r out=16 k=1,1 s=2,2\n"
	  "bn f in=e\n"
	  "add g in=d,f\n"
	  "relu h in=g\n"
	  HEAD("h"), 4 },
	{ "a shift of whole 32s, recomputed without its unshifted form",
	  INPUT
	  "conv a in=x out=128 k=1,1\n"
	  "bn b in=a\n"
	  "shift s in=b fold=2\n"
	  "conv c in=s out=128 k=1,1\n"
	  "add e in=c,b\n"
	  HEAD("e"), 1 },
	{ "a shift that divides a block, and one next to it",
	  INPUT
	  "conv a in=x out=20 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "shift s in=r fold=3\n"
	  "conv c in=s out=20 k=3,3\n"
	  "bn d in=c\n"
	  "add e in=d,r\n"
	  "relu f in=e\n"
	  "shift g in=f fold=3\n"
	  "conv h in=g out=16 k=1,1\n"
	  HEAD("h"), 5 },
	{ "norms before convolutions, sums after them",
	  INPUT
	  "conv a in=x out=16 k=3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "conv c in=r out=32 k=3,3\n"
	  "bn d in=c gamma=0.7\n"
	  "relu e in=d\n"
	  "conv f in=e out=16 k=1,1 s=2,2\n"
	  "bn g in=f gamma=0.5\n"
	  "conv h in=x out=16 k=1,1 s=2,2\n"
	  "bn i in=h\n"
	  "add j in=g,i\n"
	  "relu k in=j\n"
	  HEAD("k"), 4 },
	{ "a norm that two convolutions read, over time, with biases",
	  INPUT
	  "conv a in=x out=16 k=3,3,3\n"
	  "bn b in=a\n"
	  "relu r in=b\n"
	  "conv c in=r out=16 k=3,1,1\n"
	  "conv d in=r out=16 k=1,1 bias=1\n"
	  "bn e in=c\n"
	  "bn f in=d\n"
	  "add g in=e,f\n"
	  "relu h in=g\n"
	  "conv i in=h out=24 k=3,1,1\n"
	  "bn j in=i\n"
	  "relu k in=j\n"
	  "conv m in=k out=24 k=3,3 bias=1\n"
	  HEAD("m"), 4 },
};
enum { NETS = sizeof(nets) / sizeof(nets[0]) };

/*
 * The result of a step: scores, losses, then the gradient of every parameter.
 */
struct result { double *v; size_t scores, n; int fused; };

static struct result
step(struct device *d, const struct graph *g, const struct dims *in,
    int training, const struct feed *f)
{
	struct net *n = net_new(g, d);
	struct plan *p = plan_new(g, d, in, training ? PLAN_ONCE :
	    PLAN_TEST);
	size_t bytes = g->elements * d->elem, k;
	void *arena = device_alloc(d, p->arena), *dw = device_alloc(d, bytes);
	struct result r = { .scores = (size_t)in->n * CLASSES };
	double *all = xcalloc(g->elements, sizeof(*all));

	net_init(n, 5);
	poison_fill(d, arena, p->arena);
	poison_fill(d, dw, bytes);
	plan_bind(p, arena, n->w, training ? dw : NULL);
	plan_forward(p, f);
	r.v = xcalloc(r.scores + (size_t)in->n + g->elements, sizeof(*r.v));
	net_scores(p, r.v);
	losses_read(p, r.v + r.scores);
	r.n = r.scores + (size_t)in->n;
	if (training) {
		plan_backward(p, NULL);
		device_get(d, all, dw, g->elements);
		for (int i = 0; i < g->nparam; i++)
			for (k = 0; k < g->param[i].count; k++)
				r.v[r.n++] = all[g->param[i].offset + k];
	}
	for (int i = 0; i < p->n; i++)
		r.fused += p->task[i].fused_into != i;
	free(all);
	device_free(d, arena);
	device_free(d, dw);
	plan_free(p);
	net_free(n);
	return r;
}

/* Return the worst relative difference of all parts, each by its own norm. */
static double
apart(const struct graph *g, const struct result *x, const struct result *key,
    int clips)
{
	size_t at = 0;
	double worst = 0;

	for (int part = -2; part < g->nparam && at < key->n; part++) {
		size_t n = part == -2 ? key->scores : part == -1 ?
		    (size_t)clips : g->param[part].count;
		double d = 0, s = 0;

		for (size_t i = at; i < at + n; i++) {
			d += (x->v[i] - key->v[i]) * (x->v[i] - key->v[i]);
			s += key->v[i] * key->v[i];
		}
		/* A bias before a normalization has a gradient of 0. */
		d = sqrt(d) / (sqrt(s) > 1e-6 ? sqrt(s) : 1);
		worst = d <= worst ? worst : isnan(d) ? INFINITY : d;
		at += n;
	}
	return worst;
}

/* Frames and ${training} of test(). */
static const struct way { int training, frames; } ways[] = {
	{ 1, 4 }, { 1, 1 }, { 0, 4 }, { 2, 4 } };
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/*
 * Results of ref64 for small and large clips, and of the less fused device in
 * bf16 and fp16.  Each is computed once.
 */
static struct result known[4][NETS][WAYS];

/*
 * Compare ${d} with ${key}.  ${rounded} is a device that fuses less, in the
 * precision of ${d}.  Fused operators round less often, so their error must not
 * be larger than that of ${rounded}.
 * In a way with training 2, bn uses the running statistics.
 */
static void
test(struct device *d, struct device *key, struct device *rounded, int k,
    int way)
{
	int training = ways[way].training, t = ways[way].frames;
	struct graph *g = graph_parse(nets[k].name, nets[k].text, CLASSES);
	int large = d->o.precision != PRECISION_FP32;
	struct dims in = { 3, t, large ? 25 : 9, large ? 21 : 7, 3 };
	size_t pixels = dims_count(&in);
	uint8_t *pixel = xmalloc(pixels);
	int label[] = { 1, 4, 0 };
	uint64_t clip[] = { 0, 1, 2 };
	struct stream stream = { t, in.h, in.w, 3, pixel };
	struct target target = { .classes = CLASSES, .label = label };
	/* In fp16 small gradients would underflow. */
	struct feed f = { &stream, &target, clip, 3, NULL,
		d->o.precision == PRECISION_FP16 ? 1024 : 0 };
	struct result x, *want = &known[large][k][way];
	struct result *like = &known[1 + d->o.precision][k][way];
	double worst, largest = 1e-4;

	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN)
			g->op[i].bn.fixed = training == 2;
	for (size_t i = 0; i < pixels; i++)
		pixel[i] = (uint8_t)rng_philox(2, (uint32_t)i, 0, 0, 99).w[0];
	x = step(d, g, &in, training, &f);
	if (want->v == NULL)
		*want = step(key, g, &in, training, &f);
	worst = apart(g, &x, want, in.n);
	if (large) {
		if (like->v == NULL)
			*like = step(rounded, g, &in, training, &f);
		largest = 1.5 * apart(g, like, want, in.n) + 3e-3;
	}
	if (!ok(worst <= largest,
	    "%s in %s, %d frames%s: %s", d->backend->name, d->precision, t,
	    training == 2 ? ", fixed" : training ? "" : ", testing",
	    nets[k].name))
		diag("worst relative difference from ref64 %g, wanted "
		    "%g", worst, largest);
	is(want->fused, 0, "ref64 fuses nothing");
	if (strcmp(d->backend->name, "cpu") == 0)
		is(x.fused, nets[k].fused,
		    "cpu: the expected number of tasks is fused");
	free(x.v);
	free(pixel);
	graph_free(g);
}

static void
test_on(const struct backend *b, const struct backend *like,
    enum precision precision)
{
	struct device *key = device_open(backend_find("ref64"),
	    &(struct device_options){ .threads = 1 });
	struct device *rounded = device_open(like,
	    &(struct device_options){ .threads = 1,
	    .precision = precision });
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2, .precision = precision });
	int here = d != NULL && d->o.precision == precision;

	if (here)
		d->recompute_min = 1;
	else
		skip(b->name, "no such device here");
	for (int k = 0; k < NETS && here; k++)
		for (int way = 0; way < (precision == PRECISION_FP16 ? 2 :
		    WAYS); way++)
			test(d, key, rounded, k, way);
	device_close(d);
	device_close(key);
	device_close(rounded);
}

/* ---- NaN ---- */

static int
find_op(const struct graph *g, const char *name)
{
	int i = 0;

	while (strcmp(g->op[i].name, name) != 0)
		i++;
	return i;
}

/* Return the index of the beta of channel 1 of the first bn, "b". */
static size_t
beta_of(const struct graph *g)
{
	int i = 0;

	while (g->param[i].kind != PARAM_OFFSET)
		i++;
	return g->param[i].offset + 1;
}

/* Set that beta to NaN, so that the channel becomes NaN. */
static void
spoil(struct net *n)
{
	const struct graph *g = n->graph;
	double *w = xcalloc(g->elements, sizeof(*w));

	device_get(n->device, w, n->w, g->elements);
	w[beta_of(g)] = NAN;
	device_put(n->device, (void *)n->w, w, g->elements);
	free(w);
}

/*
 * Return the gradient of that beta if the gradient of each output of the
 * following relu, "r", is 1.  It is the number of values that pass the relu.
 */
static double
passed(struct net *n, struct plan *p, const void *dw)
{
	const struct graph *g = n->graph;
	int r = find_op(g, "r"), b = p->task[find_op(g, "b")].fused_into;
	const struct dims *out = &p->task[r].out;
	double *ones = xcalloc(dims_count(out), sizeof(*ones));
	double *all = xcalloc(g->elements, sizeof(*all)), sum;

	for (size_t k = 0; k < dims_count(out); k++)
		ones[k] = 1;
	device_write(n->device, (void *)p->task[r].dy, out, ones);
	for (int k = r; k >= b; k--)
		if (p->task[k].fused_into == k)
			task_backward(&p->task[k]);
	device_get(n->device, all, dw, g->elements);
	sum = all[beta_of(g)];
	free(ones);
	free(all);
	return sum;
}

/*
 * Count finite scores, though a NaN channel precedes them.  In the first and
 * third network, also check that the relu blocks no gradient of NaN.
 */
static int
wrong_nans(struct device *d, int k, int training)
{
	struct graph *g = graph_parse(nets[k].name, nets[k].text, CLASSES);
	struct dims in = { 2, 4, 9, 7, 3 };
	uint8_t *pixel = xcalloc(dims_count(&in), 1);
	int label[] = { 1, 4 }, bad = 0;
	uint64_t clip[] = { 0, 1 };
	struct stream stream = { in.t, in.h, in.w, 3, pixel };
	struct target target = { .classes = CLASSES, .label = label };
	struct feed f = { &stream, &target, clip, 3, NULL, 0 };
	double scores[2 * CLASSES];
	struct net *n = net_new(g, d);
	struct plan *p;
	void *arena, *dw = device_alloc(d, g->elements * d->elem);

	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN)
			g->op[i].bn.fixed = training == 2;
	for (size_t i = 0; i < dims_count(&in); i++)
		pixel[i] = (uint8_t)rng_philox(2, (uint32_t)i, 0, 0, 99).w[0];
	p = plan_new(g, d, &in, training ? PLAN_ONCE : PLAN_TEST);
	arena = device_alloc(d, p->arena);
	net_init(n, 5);
	spoil(n);
	plan_bind(p, arena, n->w, training ? dw : NULL);
	plan_forward(p, &f);
	net_scores(p, scores);
	for (int i = 0; i < 2 * CLASSES; i++)
		bad += !isnan(scores[i]);
	if (training && (k == 0 || k == 2))
		bad += passed(n, p, dw) != 2 * 4 * 9 * 7;
	device_free(d, arena);
	device_free(d, dw);
	plan_free(p);
	net_free(n);
	graph_free(g);
	free(pixel);
	return bad;
}

static void
test_nans(const struct backend *b, enum precision precision)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2, .precision = precision });
	int bad = 0;

	for (int k = 0; k < NETS && d != NULL && d->o.precision == precision;
	    k++)
		for (int training = 0; training < 3; training++) {
			int was = bad;

			bad += wrong_nans(d, k, training);
			if (bad > was)
				diag("%s, %d", nets[k].name, training);
		}
	if (d != NULL && d->o.precision == precision)
		ok(bad == 0, "%s in %s: NaN and its gradient pass through "
		    "fused operators", b->name, d->precision);
	device_close(d);
}

/* Test each back end in each precision, or the one named ${only}. */
static void
test_all(const char *only)
{
	for (int p = PRECISION_FP32; p <= PRECISION_BF16; p++)
		for (int i = 0; backends[i] != NULL; i++)
			if (only == NULL || strcmp(backends[i]->name, only) == 0)
				test_on(backends[i], backend_find("ref64"),
				    (enum precision)p);
	/* The cuda back end without a GPU. */
	if (only == NULL)
		test_on(standin_backend(STANDIN_OTHERS), backend_find("ref64"),
		    PRECISION_FP16);
	for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
		for (int i = 0; backends[i] != NULL; i++)
			if (only == NULL || strcmp(backends[i]->name, only) == 0)
				test_nans(backends[i], (enum precision)p);
}

int
main(int argc, char **argv)
{
	test_all(argc > 1 ? argv[1] : NULL);
	if (argc > 1)
		return done();
	for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
		test_nans(standin_backend(STANDIN_AT_ONCE), (enum precision)p);
	return done();
}
