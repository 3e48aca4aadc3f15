/* tests/run: weight 2 */
/*
 * Pixels that are sent to the cuda back end before their pass, without a GPU, with
 * work done late: the same bits as where each pass sends its own, from two places
 * of pinned memory in turn, with nothing else to wait for than that such memory
 * may be written again; and each event that is left out is found.
 */
#include "net/feed.h"
#include "net/net.h"

#include "gpu/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, PASSES = 7, TURNS = 2 };

/* ---- a driver without some event, that looks at copies ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static struct gpu_stream *side;		/* the second one that was made */
static int streams, beside;		/* copies on it */
enum { NOTHING, LANDED, TAKEN, WAITED };
static int without;

static struct gpu_stream *
stream_new(struct driver *d, int urgent)
{
	struct gpu_stream *s = real->stream_new(d, urgent);

	if (streams++ == 0)
		side = s;
	return s;
}

static void
copy(struct driver *d, struct gpu_stream *s, void *to, const void *from,
    size_t bytes)
{
	beside += s == side;
	real->copy(d, s, to, from, bytes);
}

static void
follow(struct driver *d, struct gpu_stream *s, struct gpu_event *e)
{
	if (without != (s == side ? TAKEN : LANDED))
		real->follow(d, s, e);
}

/* ---- passes ---- */

struct run {
	double *w;
	int early, race, wait, sum, beside;
	char said[512];
};

static void
fill(struct stream *s, size_t n, int i)
{
	for (size_t k = 0; k < n; k++)
		s->bytes[k] = (uint8_t)(k * 131 + (size_t)i * (k % 7 + 29));
}

static struct run
run(const struct graph *g, enum standin_when when, int ahead)
{
	struct device *d = device_open(standin_backend(when),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(g, d);
	struct run r = { .w = xcalloc(g->elements, sizeof(double)) };
	struct dims *in = graph_inputs(g, 2, 4, 20);
	struct plan *p;
	void *dw = device_alloc(d, g->elements * d->elem), *own;
	size_t bytes = dims_count(&in[0]);
	struct stream turn[TURNS];
	struct feed f;

	real = driver->call;
	calls = *real;
	calls.stream_new = stream_new;
	calls.copy = copy;
	calls.follow = follow;
	driver->call = &calls;
	streams = beside = 0;
	side = NULL;
	net_init(n, 1);
	p = net_plan(n, in, 1);
	net_reserve(n);
	if (ahead)
		net_reserve_ahead(n);
	feed_make(&f, in, &g->needs);
	own = f.stream[0].bytes;
	for (int i = 0; i < TURNS; i++) {
		turn[i] = f.stream[0];
		turn[i].bytes = device_alloc_host(d, bytes);
	}
	fill(&turn[0], bytes, 0);
	for (int i = 0; i < PASSES; i++) {
		struct stream *now = &turn[i % TURNS];
		struct stream *next = &turn[(i + 1) % TURNS];

		if (i == 0)
			ahead_send(&n->ahead, p->tray, now, 1);
		((struct stream *)f.stream)[0].bytes = now->bytes;
		f.seed = (uint64_t)i;
		/* The third time there is a graph; and nobody waits. */
		standin_quiet(driver, i > 2);
		net_forward(n, p, &f, dw);
		plan_backward(p, NULL);
		device_update(d, &(struct update){ .w = n->w, .g = dw,
		    .n = g->elements, .lr = 1e-3, .scale = 1 });
		standin_quiet(driver, 0);
		if (without != WAITED)
			ahead_wait(&n->ahead);
		fill(next, bytes, i + 1);
		standin_quiet(driver, i > 2);
		/* What was sent and is another by now; and nothing twice. */
		if (i == 4)
			ahead_send(&n->ahead, p->tray, next, 99);
		for (int k = 0; k < 2; k++)
			ahead_send(&n->ahead, p->tray, next, (uint64_t)i + 2);
		standin_quiet(driver, 0);
	}
	device_get(d, r.w, n->w, g->elements);
	ahead_wait(&n->ahead);
	r.beside = beside;
	snprintf(r.said, sizeof(r.said), "%s", standin_said(driver));
	r.early = standin_faults(driver, FAULT_EARLY);
	r.race = standin_faults(driver, FAULT_RACE);
	r.wait = standin_faults(driver, FAULT_WAIT);
	r.sum = r.early + r.race + r.wait +
	    standin_faults(driver, FAULT_UNDECLARED) +
	    standin_faults(driver, FAULT_MISUSE);
	((struct stream *)f.stream)[0].bytes = own;
	for (int i = 0; i < TURNS; i++)
		device_free_host(d, turn[i].bytes);
	ahead_close(&n->ahead);
	driver->call = real;
	device_free(d, dw);
	feed_free(&f, &g->needs);
	net_free(n);
	free(in);
	device_close(d);
	return r;
}

static int
same(const struct run *a, const struct run *b, const struct graph *g)
{
	return memcmp(a->w, b->w, g->elements * sizeof(*a->w)) == 0;
}

static void
test(const struct graph *g, enum standin_when when, const char *say)
{
	struct run plain, ahead, less;

	without = NOTHING;
	plain = run(g, when, 0);
	ahead = run(g, when, 1);
	ok(same(&plain, &ahead, g), "%s: pixels that are sent before give the "
	    "same bits", say);
	ok(plain.beside == 0 && ahead.beside == PASSES + 2, "all of them "
	    "beside the work, and none twice (%d)", ahead.beside);
	if (!ok(ahead.sum == 0 && plain.sum == 0, "nobody waits, and nothing "
	    "else is wrong"))
		diag("%s", ahead.said);
	/* A GPU does not say what it was not told to wait for. */
	for (without = LANDED; without <= TAKEN && !standin_absent();
	    without++) {
		less = run(g, when, 1);
		if (!ok(less.race > 0, "%s: an event that is left out, of %s, is "
		    "found", say, without == LANDED ? "what has landed" :
		    "what was taken"))
			diag("%d %d %s", less.early, less.race, less.said);
		free(less.w);
	}
	/* Elsewhere copies come first whenever anybody waits. */
	if (when == STANDIN_LATE && !standin_absent()) {
		less = run(g, when, 1);
		ok(!same(&plain, &less, g), "%s: memory that is written too "
		    "early is seen", say);
		free(less.w);
	}
	free(plain.w);
	free(ahead.w);
}

int
main(void)
{
	struct graph *g = read_thin("tsm_tiny", CLASSES);

	test(g, STANDIN_LATE, "late");
	test(g, STANDIN_OTHERS, "others first");
	test(g, STANDIN_AT_ONCE, "at once");
	graph_free(g);
	return done();
}
