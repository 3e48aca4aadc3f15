/*
 * A forward and a backward pass launch at most a fixed number of kernels,
 * convolutions and GEMMs, counted without a GPU.  Small kernels cost the time
 * of a launch, an estimated 2 to 4 us each, whatever they compute, so the bound
 * keeps their number from growing.  The gradients of a graph that records an event are
 * converted once for each bucket.
 */
#include "backend/cuda/kernels.h"
#include "net/feed.h"
#include "net/net.h"

#include "gpu/standin/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, BUCKETS = 6 };

static const struct {
	const char *name;
	enum precision precision;
	int max, packs;		/* maximum launches in graphs; of
					 * these, launches that pack weights */
} rows[] = {
	{ "tsm_r50", PRECISION_FP32, 497, 2 },
	{ "tsm_r50", PRECISION_BF16, 503, 2 },
	{ "tsm_r50", PRECISION_FP16, 503, 2 },
	{ "tsm_mobilenet_v2", PRECISION_BF16, 591, 2 },
	{ "slowfast_r50_8x8", PRECISION_BF16, 1027, 3 },
};

/* ---- a driver that counts ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int kernels[GPU_KERNELS], convs, products;

static void
launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	kernels[l->kernel]++;
	real->launch(d, s, l);
}

static void
conv(struct driver *d, struct gpu_stream *s, const struct conv_plan *p,
    void *const at[4])
{
	convs++;
	real->conv(d, s, p, at);
}

static void
product(struct driver *d, struct gpu_stream *s, const struct gemm_plan *p,
    const void *a, const void *b, void *c, void *workspace)
{
	products++;
	real->gemm(d, s, p, a, b, c, workspace);
}

static void
watch(struct driver *d)
{
	real = d->call;
	calls = *real;
	calls.launch = launch;
	calls.conv = conv;
	calls.gemm = product;
	d->call = &calls;
	memset(kernels, 0, sizeof(kernels));
	convs = products = 0;
}

static int
all_launches(void)
{
	int n = convs + products;

	for (int i = 0; i < GPU_KERNELS; i++)
		n += kernels[i];
	return n;
}

static int
packs(void)
{
	return kernels[GPU_WEIGHTS_PACK] + kernels[GPU_NARROW];
}

static void
tell(void)
{
	diag("%d convolutions, %d GEMMs", convs, products);
	for (int i = 0; i < GPU_KERNELS; i++)
		if (kernels[i] > 0)
			diag("%d launches of kernel %d", kernels[i], i);
}

/* ---- a step ---- */

static void
test(int row)
{
	struct graph *g = read_thin(rows[row].name, CLASSES);
	struct dims *in = graph_inputs(g, 2, 8, 32);
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .precision = rows[row].precision });
	struct net *n = net_new(g, d);
	struct plan *p = net_plan(n, in, 1);
	void *dw = device_alloc(d, g->elements * d->elem);
	struct event *final = device_event_new(d, g->elements / BUCKETS + 1);
	struct feed f;

	feed_make(&f, in, &g->needs);
	net_init(n, 1);
	if (p == NULL || net_reserve(n) != 0)
		exit(1);
	for (int i = 0; i < 3; i++) {
		/* Twice with changed weights, the second time captured into
		 * graphs. */
		watch(standin_of(d));
		n->weights_unchanged = i == 2;
		net_forward(n, p, &f, dw);
		plan_backward(p, NULL);
		standin_of(d)->call = real;
		if (i == 1 && !ok(all_launches() <= rows[row].max, "%s, %s: "
		    "%d launches (at most %d)", rows[row].name, d->precision,
		    all_launches(), rows[row].max))
			tell();
		is(packs(), i < 2 ? rows[row].packs : 0, i < 2 ? "few launches "
		    "pack weights" : "no launch packs unchanged weights");
	}
	/* Other graphs, as they record an event. */
	for (int i = 0; i < 2; i++) {
		net_forward(n, p, &f, dw);
		device_event_record(d, final, g->elements);
		watch(standin_of(d));
		plan_backward(p, final);
		standin_of(d)->call = real;
		device_event_wait(d, final, 0);
	}
	ok(kernels[GPU_WEIGHTS_RETURN] <= BUCKETS + 2, "%d buckets: %d launches "
	    "convert gradients", BUCKETS, kernels[GPU_WEIGHTS_RETURN]);
	device_event_free(d, final);
	feed_free(&f, &g->needs);
	device_free(d, dw);
	net_free(n);
	device_close(d);
	free(in);
	graph_free(g);
}

int
main(void)
{
	for (int i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
		test(i);
	return done();
}
