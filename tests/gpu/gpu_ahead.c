/* tests/run: weight 2 */
/*
 * Prefetched pixels give the same bits as uploads by each pass on the cuda back
 * end, without a GPU.  The stand-in delays work.  Two pinned buffers alternate,
 * and the host waits only until it may write a buffer again.  The test detects
 * each missing event.  vt-bench times steps with prefetched pixels.  A download is
 * one copy.
 */
#include "base/mem.h"
#include "bench/cases.h"
#include "net/feed.h"
#include "net/net.h"

#include "gpu/standin/standin.h"
#include "tap.h"
#include "thin.h"

enum { CLASSES = 5, PASSES = 7, TURNS = 2 };
enum { CLIPS = 2, FRAMES = 4, SIDE = 20 };

/* ---- a driver that can omit an event, and counts copies ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static struct gpu_stream *side;		/* the second stream that was created */
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

/* Make the pixels of microbatch ${i}. */
static void
fill(struct stream *s, int i)
{
	for (size_t k = 0; k < CLIPS * FRAMES * 3 * SIDE * SIDE; k++)
		s->bytes[k] = (uint8_t)(k * 131 + k / 97 * (size_t)(i + 29));
}

static struct run
run(const struct graph *g, enum standin_when when, int prefetch)
{
	struct device *d = device_open(standin_backend(when),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(g, d);
	struct run r = { .w = xcalloc(g->elements, sizeof(double)) };
	struct dims *in = graph_inputs(g, CLIPS, FRAMES, SIDE);
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
	if (prefetch)
		net_reserve_prefetch(n);
	feed_make(&f, in, &g->needs);
	own = f.stream[0].bytes;
	for (int i = 0; i < TURNS; i++) {
		turn[i] = f.stream[0];
		turn[i].bytes = device_alloc_host(d, bytes);
	}
	fill(&turn[0], 0);
	for (int i = 0; i < PASSES; i++) {
		struct stream *now = &turn[i % TURNS];
		struct stream *next = &turn[(i + 1) % TURNS];

		if (i == 0)
			prefetch_send(&n->prefetch, p->staging, now, 1);
		((struct stream *)f.stream)[0] = *now;
		f.seed = (uint64_t)i;
		/* From the third pass a captured graph runs, and the host must
		 * not wait. */
		standin_quiet(driver, i > 2);
		net_forward(n, p, &f, dw);
		plan_backward(p, NULL);
		device_update(d, &(struct update){ .w = n->w, .g = dw,
		    .n = g->elements, .lr = 1e-3, .scale = 1 });
		standin_quiet(driver, 0);
		if (without != WAITED)
			prefetch_wait(&n->prefetch);
		fill(next, i + 1);
		standin_quiet(driver, i > 2);
		/* Replace a sent microbatch by another, and send each one only
		 * once. */
		if (i == 4)
			prefetch_send(&n->prefetch, p->staging, next, 99);
		for (int k = 0; k < 2; k++)
			prefetch_send(&n->prefetch, p->staging, next, (uint64_t)i + 2);
		standin_quiet(driver, 0);
	}
	device_get(d, r.w, n->w, g->elements);
	prefetch_wait(&n->prefetch);
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
	prefetch_close(&n->prefetch);
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
	struct run plain, prefetch, less;

	without = NOTHING;
	plain = run(g, when, 0);
	prefetch = run(g, when, 1);
	ok(same(&plain, &prefetch, g), "%s: prefetched pixels give the same "
	    "bits", say);
	ok(plain.beside == 0 && prefetch.beside == PASSES + 2, "all copies run "
	    "on the side stream, and each only once (%d)", prefetch.beside);
	if (!ok(prefetch.sum == 0 && plain.sum == 0, "the host does not wait, "
	    "and the stand-in finds no other fault"))
		diag("%s", prefetch.said);
	/* Only the stand-in detects a missing wait; a GPU does not report
	 * it. */
	for (without = LANDED; without <= TAKEN && !standin_absent();
	    without++) {
		less = run(g, when, 1);
		if (!ok(less.race > 0, "%s: the stand-in detects a missing "
		    "event, %s", say, without == LANDED ?
		    "after the upload" : "after the pass that reads"))
			diag("%d %d %s", less.early, less.race, less.said);
		free(less.w);
	}
	/* In the other modes every wait completes the copies first. */
	if (when == STANDIN_LATE && !standin_absent()) {
		less = run(g, when, 1);
		ok(!same(&plain, &less, g), "%s: writing a buffer too early "
		    "changes the result", say);
		free(less.w);
	}
	free(prefetch.w);
	free(plain.w);
}

/* ---- the step that vt-bench times ---- */

static struct { const char *at; size_t bytes; } inside[256];
static int insides, updates, update;
static size_t uploaded, uploaded_max;	/* per step, on the compute stream */

static void *
bench_alloc(struct driver *d, size_t bytes)
{
	void *p = real->alloc(d, bytes);

	if (p != NULL && insides < 256) {
		inside[insides].at = p;
		inside[insides++].bytes = bytes;
	}
	return p;
}

static void
bench_copy(struct driver *d, struct gpu_stream *s, void *to, const void *from,
    size_t bytes)
{
	const char *p = from;
	int i = 0;

	while (i < insides && (p < inside[i].at || p >= inside[i].at +
	    inside[i].bytes))
		i++;
	if (i == insides && s != side)
		uploaded += bytes;
	real->copy(d, s, to, from, bytes);
}

static void
bench_launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	if (l->kernel == update) {
		/* The first step also uploads tables. */
		if (updates++ > 0 && uploaded > uploaded_max)
			uploaded_max = uploaded;
		uploaded = 0;
	}
	real->launch(d, s, l);
}

static int
bench_capture(struct driver *d, struct gpu_stream *s)
{
	(void)d, (void)s;
	return -1;
}

static void
test_bench(const struct graph *g)
{
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct bench_shape shape = { CLIPS, FRAMES, SIDE };
	struct bench b = { .warmup = 2, .runs = 3, .threads = 1 };
	struct bench_inputs in = { .graph = (struct graph *)g, .device = d,
		.shapes = { &shape, 1, 1 } };
	size_t pixels = (size_t)CLIPS * FRAMES * SIDE * SIDE * 3;
	int status;

	real = driver->call;
	calls = *real;
	calls.stream_new = stream_new;
	calls.alloc = bench_alloc;
	calls.copy = bench_copy;
	calls.launch = bench_launch;
	calls.capture = bench_capture;
	driver->call = &calls;
	streams = 0;
	side = NULL;
	update = standin_kernel("update");
	status = bench_case_step.run(&b, &in);
	ok(status == 0 && b.wrong == 0 && updates >= b.warmup + b.runs,
	    "vt-bench runs its steps without an error: %d", updates);
	ok(uploaded_max < pixels / 2, "no step waits for its pixels: %zu "
	    "bytes copied on the compute stream (pixels: %zu)", uploaded_max,
	    pixels);
	driver->call = real;
	bench_close(&b);
	device_close(d);
}

/* ---- downloads ---- */

static int downloads;
static const void *downloaded;

static void
download_copy(struct driver *d, struct gpu_stream *s, void *to,
    const void *from, size_t bytes)
{
	downloads++;
	downloaded = to;
	real->copy(d, s, to, from, bytes);
}

/* Download into pinned and pageable memory, through the compute stream and a
 * side stream. */
static void
test_download(void)
{
	enum { BYTES = 17 << 20 };
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	struct device *side_stream = device_side_stream(d);
	struct driver *driver = standin_of(d);
	char *w = device_alloc(d, BYTES), *pinned = device_alloc_host(d, BYTES);
	char *plain = xcalloc(BYTES, 1);

	for (size_t i = 0; i < BYTES; i++)
		plain[i] = (char)(i * 7 + i / 999);
	device_upload(d, w, plain, BYTES);
	real = driver->call;
	calls = *real;
	calls.copy = download_copy;
	driver->call = &calls;
	downloads = 0;
	device_download(d, pinned, w, BYTES);
	ok(downloads == 1 && downloaded == pinned && memcmp(pinned, plain,
	    BYTES) == 0, "a download into pinned memory is one copy");
	memset(pinned, 0, BYTES);
	device_download(side_stream, pinned + 5, w + 5, BYTES - 5);
	ok(downloads == 2 && downloaded == pinned + 5 && memcmp(pinned + 5,
	    plain + 5, BYTES - 5) == 0, "a download on a side stream, "
	    "into the middle of a pinned buffer, is one copy");
	memset(plain, 0, BYTES);
	device_download(d, plain, w, BYTES);
	ok(downloads == 3 && memcmp(plain + 5, pinned + 5, BYTES - 5) == 0,
	    "a download into pageable memory is one copy");
	driver->call = real;
	free(plain);
	device_free_host(d, pinned);
	device_free(d, w);
	device_side_stream_free(d, side_stream);
	device_close(d);
}

int
main(void)
{
	struct graph *g = read_thin("tsm_tiny", CLASSES);

	for (int when = 0; when < standin_whens(); when++)
		test(g, (enum standin_when)when,
		    standin_backend((enum standin_when)when)->name);
	test_bench(g);
	test_download();
	graph_free(g);
	return done();
}
