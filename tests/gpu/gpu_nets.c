/* tests/run: weight 4 */
/*
 * Each task of a training step of whole networks on the cuda back end agrees
 * with ref64, in every precision, without a GPU.  The stand-in delays and
 * reorders work.  The networks are those of share/models with an eighth of
 * their channels.  Repeated steps give the same bits.  make check-gpu runs this
 * test on a GPU.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "bench/tasks.h"
#include "net/feed.h"
#include "net/parity/parity.h"

#include "gpu/standin/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, ROWS = 600 };

static const char *const say[] = { "fp32", "bf16", "fp16" };

static const struct {
	const char *name;
	int t, side;
} nets[] = {
	{ "tsm_tiny", 4, 20 },
	{ "tsm_r18", 3, 33 },
	{ "tsm_r50_nl_gaussian", 2, 32 },
	{ "tsm_mobilenet_v2", 2, 32 },
	{ "slowfast_r50_8x8_nl", 8, 32 },
	{ "x3d_s", 4, 32 },
	{ "r2plus1d_18", 4, 17 },
};

/* A step's plan on one device. */
struct half { struct device *d; struct net *net; struct plan *plan; };

/* Return 0, or -1 if the device lacks memory for the step. */
static int
half_open(struct half *h, const struct graph *g, const struct backend *b,
    enum precision p, const struct dims *in)
{
	*h = (struct half){ .d = device_open(b, &(struct device_options){
		.threads = 1, .precision = p }) };
	if (h->d == NULL || (h->net = net_new(g, h->d)) == NULL)
		exit(1);
	net_init(h->net, 5);
	if ((h->plan = net_plan(h->net, in, 1)) == NULL)
		exit(1);
	return net_reserve(h->net);
}

static void
half_close(struct half *h)
{
	net_free(h->net);
	device_close(h->d);
}

static void
test(int k, enum standin_when when, enum precision p)
{
	static struct parity row[ROWS];
	struct graph *g = read_thin(nets[k].name, CLASSES);
	struct dims *in = graph_inputs(g, 2, nets[k].t, nets[k].side);
	struct half x, key;
	struct parity_options o = { .by_norm = p != PRECISION_FP32 };
	int n, bad = 0;

	if (half_open(&x, g, standin_backend(when), p, in) != 0 ||
	    half_open(&key, g, backend_find("ref64"), p, in) != 0)
		exit(1);
	n = parity_run(x.net, x.plan, key.net, key.plan, &o, row);
	for (int i = 0; i < n; i++)
		if (!(parity_worst(&row[i]) <= parity_tolerance(p))) {
			char text[380];

			task_text(&x.plan->task[row[i].task], text,
			    sizeof(text));
			diag("%s: y %g, dx %g, dw %g from ref64: %s",
			    g->op[row[i].task].name, row[i].forward,
			    row[i].dx, row[i].dw, text);
			bad++;
		}
	ok(n > 0 && bad == 0, "%s in %s, %s: %d kinds of tasks "
	    "agree with ref64", nets[k].name, say[p], x.d->backend->name, n);
	half_close(&x);
	half_close(&key);
	free(in);
	graph_free(g);
}

/*
 * Run a step of shape ${in} four times from the same weights, the last time by
 * a CUDA graph.  Return whether the gradients have the same bits, or -1 if the
 * device lacks memory.
 */
static int
again(const struct graph *g, enum precision p, const struct dims *in)
{
	struct half x;
	void *dw;
	double *got[2];
	struct feed f;
	int same = 1;

	if (half_open(&x, g, standin_backend(STANDIN_LATE), p, in) != 0) {
		half_close(&x);
		return -1;
	}
	dw = device_alloc(x.d, g->elements * x.d->elem);
	feed_make(&f, in, &g->needs);
	for (int i = 0; i < 2; i++)
		got[i] = xcalloc(g->elements, sizeof(double));
	for (int i = 0; i < 4; i++) {
		net_forward(x.net, x.plan, &f, dw);
		plan_backward(x.plan, NULL);
		device_get(x.d, got[i > 0], dw, g->elements);
		same &= memcmp(got[0], got[i > 0], g->elements *
		    sizeof(double)) == 0;
	}
	for (int i = 0; i < 2; i++)
		free(got[i]);
	feed_free(&f, &g->needs);
	device_free(x.d, dw);
	half_close(&x);
	return same;
}

/*
 * In fp16 convolutions are fused with norms, and only this test shows that
 * their sums repeat.  With a GPU, tsm_r50 at 512 frames tests sums of many
 * partial sums.  In fp32 that needs 46 GB, so the test takes a quarter.
 */
static void
test_again(enum precision p)
{
	const int gpu = standin_absent() && !standin_pretends();
	struct graph *g = gpu ? graph_read("share/models/tsm_r50.net", CLASSES) :
	    read_thin("tsm_r50", CLASSES);
	struct dims *in = gpu ? graph_inputs(g, p == PRECISION_FP32 ? 16 : 64,
	    8, 224) : graph_inputs(g, 2, 3, 33);
	char what[128];
	int same = again(g, p, in);

	snprintf(what, sizeof(what), "%s in %s: a repeated step gives the same "
	    "gradients", g->name, say[p]);
	if (same >= 0)
		ok(same, "%s", what);
	else
		skip(what, "the device lacks memory");
	free(in);
	graph_free(g);
}

/* The stand-in has 16 GiB. */
static void
test_memory(void)
{
	struct graph *g = read_thin("tsm_r50", CLASSES);
	struct dims *in = graph_inputs(g, 512, 8, 224);

	is(again(g, PRECISION_FP32, in), -1, "a step that needs too much memory "
	    "does not end the test");
	free(in);
	graph_free(g);
}

int
main(void)
{
	for (int k = 0; k < (int)(sizeof(nets) / sizeof(nets[0])); k++)
		for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
			test(k, k % 2 ? STANDIN_LATE : STANDIN_OTHERS,
			    (enum precision)p);
	if (!standin_absent() || standin_pretends())
		test_memory();
	for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
		test_again((enum precision)p);
	return done();
}
