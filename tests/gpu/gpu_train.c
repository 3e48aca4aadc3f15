/* tests/run: weight 20 */
/*
 * Runs of the trainer on the cuda back end agree with ref and have the same
 * bits at 1, 2, 3 and 4 ranks, without a GPU.  The stand-in delays work.
 * Scores do not depend on the way clips are uploaded.  In a single step the
 * host does not wait, nothing is read before it is written, and a missing
 * kernel is detected.  With a GPU (make check-gpu) the runs use the GPU.
 */
#include "base/mem.h"
#include "media/png.h"
#include "net/feed.h"
#include "train/loop/evaluator.h"
#include "train/loop/feeder.h"
#include "train/loop/trainer.h"

#include "gpu/standin/standin.h"
#include "loader_set.h"
#include "models.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { CLASSES = 3, RANKS = 4 };

static int frames_of(int i) { return 6 + i % 3; }
static int side_of(int i) { return (void)i, 24; }

static void
striped(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)(i * (sample % 3 + 1) * 9 + frame * 40 +
		    sample);
	png_encode(m, to);
	image_free(m);
}

/* ---- runs ---- */

struct job {
	const struct graph *g;
	struct dataset *set;
	struct schedule *schedule;
	const struct backend *backend;
	enum precision precision;
	double *w[RANKS], loss;		/* of rank 0 */
	size_t elements;
	int status;			/* the last nonzero status of a rank */
};

static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	const struct graph *g = j->g;
	struct device *d = device_open(j->backend, &(struct device_options){
	    .threads = 1, .precision = j->precision });
	struct trainer t = { .comm = c, .schedule = j->schedule,
		.train = j->set, .o = { .log_every = 1 }, .loading = {
		    .crop = crop_defaults,
		    .seed = 1, .threads = 1, .ranks = c->size, .rank = c->rank,
		    .memory = 1 << 20, .needs = &g->needs },
		.optim = { .set = { .momentum = 0.9 },
		    .rule = group_rule_find("plain") } };
	int status;

	t.net = net_new(g, d);
	net_init(t.net, 1);
	segments_open(&t.share, c, g->elements, bucket_elements(1 << 20,
	    d->elem));
	status = optim_open(&t.optim, t.net, &t.share) != 0 ? -1 :
	    trainer_plan(&t);
	if (status == 0)
		status = trainer_open(&t);
	if (status == 0)
		status = trainer_run(&t);
	j->w[c->rank] = xcalloc(g->elements, sizeof(double));
	device_get(d, j->w[c->rank], t.net->w, g->elements);
	if (status != 0)
		j->status = status;
	if (c->rank == 0) {
		j->elements = g->elements;
		j->loss = t.state.loss;
	}
	trainer_close(&t);
	optim_close(&t.optim);
	segments_close(&t.share);
	net_free(t.net);
	device_close(d);
}

static double
distance(const double *a, const double *b, size_t n)
{
	double d = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		d += (a[i] - b[i]) * (a[i] - b[i]);
		s += b[i] * b[i];
	}
	return sqrt(d / s);
}

static void
forget(struct job *j, int ranks)
{
	for (int r = 0; r < ranks; r++)
		free(j->w[r]);
}

static void
test_runs(const struct job *like, enum precision p, double largest)
{
	struct job want = *like, one = *like;
	double off;

	one.precision = p;
	want.backend = backend_find("ref");
	one.backend = standin_backend(STANDIN_LATE);
	comm_threads(1, rank_main, &want);
	comm_threads(1, rank_main, &one);
	is(want.status != 0 || one.status != 0, 0, "runs on ref and on the "
	    "cuda back end succeed");
	off = distance(one.w[0], want.w[0], want.elements);
	if (!ok(off <= largest && fabs(one.loss - want.loss) <= largest * want.loss,
	    "precision %d: loss and weights agree with ref", (int)p))
		diag("loss %g, ref's %g; weights differ by %g", one.loss,
		    want.loss, off);
	for (int ranks = 2; ranks <= standin_at_most(RANKS, 2); ranks++) {
		struct job j = one;
		int same = 1;

		comm_threads(ranks, rank_main, &j);
		for (int r = 0; r < ranks; r++)
			same &= memcmp(j.w[r], one.w[0], one.elements *
			    sizeof(double)) == 0;
		ok(j.status == 0 && same, "precision %d: %d ranks give the "
		    "weights of one", (int)p, ranks);
		forget(&j, ranks);
	}
	forget(&want, 1);
	forget(&one, 1);
}

/* ---- scores, with and without prefetch ---- */

enum { VIEWS = 4 };		/* a microbatch; does not divide the 72 views */

struct scoring {
	const struct graph *g;
	const struct dataset *set;
	const struct backend *backend;
	int prefetch;
	struct evaluation e;
	int status, used;
};

static void
score(struct comm *c, void *arg)
{
	struct scoring *s = arg;
	struct device *d = device_open(s->backend, &(struct device_options){
	    .threads = 1, .precision = PRECISION_BF16 });
	struct net *n = net_new(s->g, d);
	struct view_options v = { .threads = 1, .clips = 1, .crops = 3,
		.rule = VIEW_TSM, .n = VIEWS, .t = 4, .side = 20,
		.memory = 1 << 20, .needs = &s->g->needs };

	net_init(n, 1);
	s->status = evaluator_plan(n, &v) == NULL || net_reserve(n) != 0 ||
	    (s->prefetch && net_reserve_prefetch(n) != 0) ? -1 :
	    evaluator_run(n, s->set, &v, c, NULL, &s->e);
	s->used = n->prefetch.used;
	net_free(n);
	device_close(d);
}

static void
test_scores(const struct job *like)
{
	struct scoring s[2];
	size_t bytes;

	for (int i = 0; i < 2; i++) {
		s[i] = (struct scoring){ .g = like->g, .set = like->set,
			.backend = standin_backend(STANDIN_LATE),
			.prefetch = i };
		comm_threads(1, score, &s[i]);
	}
	bytes = (size_t)s[0].e.samples * CLASSES * sizeof(double);
	ok(s[0].status == 0 && s[1].status == 0 && bytes > 0 &&
	    memcmp(s[1].e.scores, s[0].e.scores, bytes) == 0,
	    "scores are the same with pixels prefetched or not");
	ok(!s[0].used && s[1].used, "the runs prefetched as requested");
	for (int i = 0; i < 2; i++)
		evaluation_free(&s[i].e);
}

/* ---- a step ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int launches, without;		/* the launch to omit; -1: none */

static void
count_launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	if (launches++ != without)
		real->launch(d, s, l);
}

static int
no_graphs(struct driver *d, struct gpu_stream *s)
{
	(void)d;
	(void)s;
	return -1;
}

/*
 * Run two steps without graphs (gpu_graphs.c tests these), in memory of
 * undefined content; the host must not wait in the second one.  Return the
 * faults that the stand-in found.
 */
static void
step(const struct graph *g, int faults[FAULTS], char *said, size_t size)
{
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1,
		.precision = PRECISION_BF16 });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(g, d);
	struct dims *in = graph_inputs(g, 2, 4, 20);
	struct plan *p;
	struct feed feed;
	struct event *e = device_event_new(d, 1);
	size_t bytes = g->elements * d->elem;
	void *dw = device_alloc(d, bytes), *m = device_alloc(d, bytes);
	struct update u = { .m = m, .g = dw, .n = g->elements, .lr = 0.1,
		.momentum = 0.9, .scale = 1 };

	real = driver->call;
	calls = *real;
	calls.launch = count_launch;
	calls.capture = no_graphs;
	driver->call = &calls;
	net_init(n, 1);
	u.w = n->w;
	p = net_plan(n, in, 1);
	net_reserve(n);
	feed_make(&feed, in, &g->needs);
	for (int k = 0; k < 2; k++) {
		standin_unknown(driver, n->arena, n->arena_bytes);
		standin_quiet(driver, k);
		launches = k == 1 ? 0 : -1000000;
		net_forward(n, p, &feed, dw);
		device_event_record(d, e, g->elements);
		plan_backward(p, e);
		device_update(d, &u);
		standin_quiet(driver, 0);
		device_event_wait(d, e, 0);
	}
	snprintf(said, size, "%s", standin_said(driver));
	for (int i = 0; i < FAULTS; i++)
		faults[i] = standin_faults(driver, (enum standin_fault)i);
	driver->call = real;
	feed_free(&feed, &g->needs);
	device_event_free(d, e);
	device_free(d, dw);
	device_free(d, m);
	net_free(n);
	free(in);
	device_close(d);
}

static void
test_step(const struct graph *g)
{
	int faults[FAULTS], all, missed = 0, sum = 0;
	char said[512];

	if (standin_absent()) {
		skip("the stand-in "
		    "observes a step", "a GPU does not report faults");
		return;
	}
	without = -1;
	step(g, faults, said, sizeof(said));
	all = launches;
	for (int i = 0; i < FAULTS; i++)
		sum += faults[i];
	if (!ok(sum == 0, "a step of %d kernels waits for nothing and reads "
	    "nothing early", all))
		diag("%s", said);
	/*
	 * Omit some kernels of the forward half.  If an output replaces an
	 * earlier one in the same memory, the stand-in cannot detect the
	 * omission.
	 */
	for (without = 0; without < all / 2; without += all / 16 + 1) {
		step(g, faults, said, sizeof(said));
		missed += faults[FAULT_EARLY] > 0;
	}
	ok(missed > 4, "missing kernels are detected");
}

int
main(void)
{
	char root[] = "/tmp/vt-gpu.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1,
		.samples = 24, .frames = frames_of, .width = side_of,
		.height = side_of, .frame = striped };
	struct table *rows = table_parse("test", "#stage\tepoch_begin\tepoch_end\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t2\t0\t12\t4\t20\t3\t0.01\t0\t0\n");
	struct graph *g = model_read("tsm_tiny", CLASSES);
	struct job like = { .g = g };

	test_step(g);
	like.schedule = schedule_from_table(rows);
	like.set = set_open(&set, root);
	test_runs(&like, PRECISION_FP32, 1e-4);
	test_runs(&like, PRECISION_BF16, 2e-2);
	test_runs(&like, PRECISION_FP16, 2e-2);
	test_scores(&like);
	schedule_free((struct schedule *)like.schedule);
	table_free(rows);
	set_close((struct dataset *)like.set, root);
	graph_free(g);
	return done();
}
