/* tests/run: weight 30 */
/*
 * Steps that the cuda back end captures into CUDA graphs give the same bits as
 * steps with separate launches, without a GPU.  Two shapes alternate, and each
 * microbatch has other pixels, labels, seed and loss scale.  A step of graph
 * launches alone launches nothing else, and the host does not wait.  The test
 * detects a graph that holds an outdated address of its inputs.
 */
#include <unistd.h>

#include "backend/cuda/kernels.h"
#include "base/fail.h"
#include "net/capture_cache.h"
#include "net/feed.h"
#include "net/net.h"

#include "gpu/standin/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, STEPS = 9, PARTS = 2, HEADS = 4 };
enum { WEIGHTED = 2 };			/* last steps, whose clips have
					 * weights */

static const struct {
	const char *name;
	enum standin_when when;
	enum precision precision;
	struct { int n, t, side; } shape[2];
} rows[] = {
	{ "tsm_tiny", STANDIN_OTHERS, PRECISION_BF16,
	    { { 3, 4, 20 }, { 2, 2, 28 } } },
	{ "tsm_r18", STANDIN_LATE, PRECISION_FP32,
	    { { 2, 3, 33 }, { 2, 2, 33 } } },
	{ "tsm_mobilenet_v2", STANDIN_LATE, PRECISION_FP16,
	    { { 2, 2, 32 }, { 3, 1, 32 } } },
	{ "slowfast_r50_8x8_nl", STANDIN_LATE, PRECISION_BF16,
	    { { 2, 8, 32 }, { 1, 16, 32 } } },
	{ "x3d_s", STANDIN_OTHERS, PRECISION_FP32,
	    { { 2, 4, 32 }, { 2, 2, 32 } } },
};

enum { NETS = sizeof(rows) / sizeof(rows[0]) };

/*
 * The shape of each step.  A shape runs once without a graph, then is captured,
 * then runs as a graph.  The first step of a shape with clip weights fits no
 * graph.
 */
static const int shape_of[STEPS] = { 0, 0, 1, 0, 1, 0, 1, 0, 1 };
static const int all_graphs[STEPS] = { 0, 0, 0, 1, 0, 1, 1, 0, 0 };

/* ---- a driver that counts, and can capture outdated addresses ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int graphs;			/* 0: capture is refused */
static int stale;			/* kernel with outdated addresses in
					 * graphs; -1: none */
static int captures, launches, runs;	/* capture state; launches outside
					 * graphs; graph launches */
static struct feed_values *old_values;	/* outdated, in device memory */
static uint8_t *old_pixels;

static int
capture(struct driver *d, struct gpu_stream *s)
{
	if (!graphs)
		return -1;
	captures = 1;
	return real->capture(d, s);
}

static struct gpu_graph *
captured(struct driver *d, struct gpu_stream *s)
{
	captures = 0;
	return real->captured(d, s);
}

static void
graph_run(struct driver *d, struct gpu_stream *s, struct gpu_graph *g)
{
	runs++;
	real->graph_run(d, s, g);
}

static void
launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	struct launch k = *l;
	union {
		struct dropout dropout;
		struct loss loss;
		struct input input;
	} args;

	launches += !captures;
	if (captures && l->kernel == stale) {
		memcpy(&args, l->args, l->bytes);
		if (stale == GPU_DROPOUT)
			args.dropout.values = old_values;
		else if (stale == GPU_LOSS_BACK)
			args.loss.values = old_values;
		else
			args.input.from = old_pixels;
		k.args = &args;
		k.access.read[k.access.reads++] = stale == GPU_INPUT ?
		    (struct span){ old_pixels, args.input.pixels *
			args.input.channels } :
		    (struct span){ old_values, sizeof(*old_values) };
	}
	real->launch(d, s, &k);
}

/* ---- steps ---- */

struct run {
	double *w;			/* the weights after the last step */
	struct outcome outcome[STEPS][PARTS][HEADS];
	int faults, waits, requested, graphs;
	char said[512];
};

/* Give each microbatch its own pixels, labels, clip numbers, seed and loss
 * scale. */
static void
change_feed(struct feed *f, const struct dims *in, int i)
{
	for (size_t k = 0; k < dims_count(&in[0]); k += 7)
		f->stream[0].bytes[k] = (uint8_t)(f->stream[0].bytes[k] + 31 *
		    (i + 1));
	for (int k = 0; k < in->n; k++) {
		f->target[0].label[k] = (k + i) % CLASSES;
		((uint64_t *)f->clip)[k] = (uint64_t)(100 * i + k);
	}
	f->seed = (uint64_t)i / 3;
	f->scale = (double)(1 << i % 4);
}

static void
make_step(struct run *r, struct net *n, int row, int k, void *const *dw,
    struct event *final, struct outcome *o)
{
	static float weight[] = { 2, 0.5f, 4 };
	struct device *d = n->device;
	struct driver *driver = standin_of(d);
	const struct graph *g = n->graph;
	struct dims *in = graph_inputs(g, rows[row].shape[shape_of[k]].n,
	    rows[row].shape[shape_of[k]].t, rows[row].shape[shape_of[k]].side);
	struct plan *p = net_plan(n, in, 1);

	standin_unknown(driver, n->arena, n->arena_bytes);
	for (int i = 0; i < PARTS; i++) {
		struct feed f;
		int last = i == PARTS - 1;

		feed_make(&f, in, &g->needs);
		change_feed(&f, in, PARTS * k + i);
		if (k >= STEPS - WEIGHTED)
			((struct target *)f.target)->weight = weight;
		f.outcome = o + i * g->heads;
		n->weights_unchanged = i > 0;
		launches = 0;
		standin_quiet(driver, all_graphs[k]);
		net_forward(n, p, &f, dw[i]);
		if (last)
			device_event_record(d, final, g->elements);
		plan_backward(p, last ? final : NULL);
		standin_quiet(driver, 0);
		if (all_graphs[k])
			r->requested += launches;
		device_add(d, dw[PARTS], dw[i], g->elements);
		if (last)
			device_event_wait(d, final, 0);
		device_update(d, &(struct update){ .w = n->w, .g = dw[i],
		    .n = g->elements, .lr = 1e-3, .scale = 1 / f.scale });
		feed_free(&f, &g->needs);
	}
	device_download(d, r->outcome[k], o, sizeof(*o) * PARTS *
	    (size_t)g->heads);
	free(in);
}

static struct run
make_steps(const struct graph *g, int row)
{
	struct device *d = device_open(standin_backend(rows[row].when),
	    &(struct device_options){ .threads = 1,
		.precision = rows[row].precision });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(g, d);
	struct run r = { .w = xcalloc(g->elements, sizeof(double)) };
	struct outcome *o = device_alloc(d, sizeof(*o) * PARTS * HEADS);
	struct event *final = device_event_new(d, 1);
	void *dw[PARTS + 1];

	old_values = device_alloc(d, sizeof(*old_values));
	old_pixels = device_alloc(d, 1 << 20);
	real = driver->call;
	calls = *real;
	calls.capture = capture;
	calls.captured = captured;
	calls.graph_run = graph_run;
	calls.launch = launch;
	driver->call = &calls;
	runs = 0;
	net_init(n, 1);
	n->repeats = 1;
	for (int i = 0; i < 2; i++) {
		struct dims *in = graph_inputs(g, rows[row].shape[i].n,
		    rows[row].shape[i].t, rows[row].shape[i].side);

		net_plan(n, in, 1);
		free(in);
	}
	net_reserve(n);
	for (int i = 0; i <= PARTS; i++)
		dw[i] = device_alloc(d, g->elements * d->elem);
	for (int k = 0; k < STEPS; k++)
		make_step(&r, n, row, k, dw, final, o);
	device_get(d, r.w, n->w, g->elements);
	r.graphs = runs;
	snprintf(r.said, sizeof(r.said), "%s", standin_said(driver));
	r.waits = standin_faults(driver, FAULT_WAIT);
	for (int i = 0; i < FAULTS; i++)
		r.faults += standin_faults(driver, (enum standin_fault)i);
	driver->call = real;
	for (int i = 0; i <= PARTS; i++)
		device_free(d, dw[i]);
	device_free(d, old_values);
	device_free(d, old_pixels);
	device_free(d, o);
	device_event_free(d, final);
	net_free(n);
	device_close(d);
	return r;
}

static int
same(const struct run *a, const struct run *b, const struct graph *g)
{
	return memcmp(a->w, b->w, g->elements * sizeof(*a->w)) == 0 &&
	    memcmp(a->outcome, b->outcome, sizeof(a->outcome)) == 0;
}

static int
has(const struct graph *g, enum op_kind kind)
{
	int n = 0;

	for (int i = 0; i < g->nop; i++)
		n += g->op[i].kind == kind;
	return n > 0;
}

static void
test(int row)
{
	static const struct { int kernel; enum op_kind op; const char *say; }
	    plants[] = {
		{ GPU_DROPOUT, OP_DROPOUT, "the dropout seed" },
		{ GPU_LOSS_BACK, OP_LOSS, "the loss scale" },
		{ GPU_INPUT, OP_INPUT, "pixels" },
	};
	struct graph *g = read_thin(rows[row].name, CLASSES);
	struct run eager, kept, other;

	stale = -1;
	graphs = 0;
	eager = make_steps(g, row);
	graphs = 1;
	kept = make_steps(g, row);
	ok(eager.graphs == 0, "%s: no graph is launched if "
	    "capture is refused", rows[row].name);
	/* All but the first step of each shape, and the first with weights. */
	is(kept.graphs, (STEPS - 2 - WEIGHTED) * PARTS * 2, "all later steps "
	    "launch graphs");
	ok(same(&kept, &eager, g), "steps with graphs give the same bits as "
	    "without");
	ok(kept.requested == 0 && eager.requested > 0, "a step of graphs launches no "
	    "single kernel (%d; %d without graphs)", kept.requested, eager.requested);
	if (!ok(kept.waits == 0 && kept.faults == 0, "the host does not wait, "
	    "and the stand-in finds no other fault"))
		diag("%s", kept.said);
	for (int i = 0; i < 3; i++) {
		if (row > 0 && i > 0)
			continue;
		if (!has(g, plants[i].op))
			continue;
		stale = plants[i].kernel;
		other = make_steps(g, row);
		ok(!same(&other, &eager, g), "the test detects a graph that "
		    "reads %s from an outdated address", plants[i].say);
		free(other.w);
	}
	free(eager.w);
	free(kept.w);
	graph_free(g);
}

/* ---- the cache ---- */

static void
count(void *arg)
{
	(*(int *)arg)++;
}

/*
 * The cache captures 32 of 33 different passes.  It runs the last one each time,
 * and notes that once.
 */
static void
test_cache(void)
{
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	struct capture_cache *c = capture_cache_new();
	FILE *f = tmpfile();
	char line[256], place[33];
	int ran = 0, notes = 0, err = dup(STDERR_FILENO);

	program_verbose(1);
	dup2(fileno(f), STDERR_FILENO);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 33; i++)
			capture_cache_run(c, d, &(struct capture_key){
			    .w = &place[i] }, NULL, count, &ran);
	dup2(err, STDERR_FILENO);
	program_verbose(0);
	rewind(f);
	while (fgets(line, sizeof(line), f) != NULL)
		notes += strstr(line, "without CUDA graphs") != NULL;
	/* Each before and in its capture, and the last in every round. */
	is(ran, 33 + 33 + 1, "the 33rd pass of a plan runs without a graph");
	is(notes, 1, "one note says so");
	fclose(f);
	close(err);
	capture_cache_free(c, d);
	device_close(d);
}

int
main(void)
{
	test_cache();
	for (int row = 0; row < standin_at_most(NETS, 2); row++)
		test(row);
	return done();
}
