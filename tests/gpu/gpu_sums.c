/*
 * Ranks whose devices all-reduce the gradients and run the found_inf check get
 * the weights of ranks whose hosts run that check, to the bit, without GPUs.
 * The ranks are threads, each with its own stand-in, connected by a library
 * that sums in stream order as NCCL does (comm/fabric.h).  No host waits
 * between the backward pass and the update.  The cases include a rank that
 * defers a step, and runs in which all ranks stop.  A missing wait for a sum is
 * detected.  Sums in 16 bits are close to those in fp32.  The calls of the
 * library that exact sums make are counted for 2 to 1,536 ranks.
 */
#include <math.h>
#include <stdatomic.h>

#include "backend/cuda/stored.h"
#include "base/exit.h"
#include "base/mem.h"
#include "comm/fabric.h"
#include "comm/halving.h"
#include "comm/tuning.h"
#include "train/loop/trainer.h"

#include "gpu/standin/link.h"
#include "gpu/standin/standin.h"
#include "loader_set.h"
#include "models.h"
#include "optimizer_find.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { CLASSES = 3, RANKS = 3, NEVER = -1 };

static int frames_of(int i) { return (void)i, 6; }
static int side_of(int i) { return (void)i, 24; }

/* ---- a driver that is observed ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static int loss_back, update;		/* kernel numbers */
static int unfollowed;			/* 1: omit the waits for sums */
static int hesitant;			/* the step that rank 1 defers */

/* State of the thread that computes for a rank.  ${waits} counts waits for the
 * whole stream.  The thread may wait for an upload of pixels. */
static _Thread_local struct {
	int computes;
	int between;			/* between the backward pass and the
					 * update */
	int waits, updates;
} me;
static atomic_int others;		/* waits for events by other threads */

static void
launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	if (l->kernel == loss_back)
		me.between = 1;
	if (l->kernel == update) {
		/* The first step also uploads tables. */
		if (me.updates++ == 0)
			me.waits = 0;
		me.between = 0;
	}
	real->launch(d, s, l);
}

static int
wait_all(struct driver *d, struct gpu_stream *s)
{
	me.waits += me.between;
	return real->wait(d, s);
}

static int
wait_event(struct driver *d, struct gpu_event *e)
{
	others += !me.computes;
	return real->wait_event(d, e);
}

static void
follow(struct driver *d, struct gpu_stream *s, struct gpu_event *e)
{
	if (!unfollowed || !me.between)
		real->follow(d, s, e);
}

static int
no_graphs(struct driver *d, struct gpu_stream *s)
{
	(void)d, (void)s;
	return -1;
}

/* ---- a library that sums between devices ---- */

struct link {
	struct comm *comm;
	struct driver *driver;
	void *buffer;			/* pinned buffer of the last sum */
	int steps;
};

static void *
link_open(const void *id, int rank, int ranks)
{
	struct link *l = xcalloc(1, sizeof(*l));

	(void)id, (void)rank, (void)ranks;
	l->comm = comm_dup(link_comm, COMM_WAITS);
	return l;
}

/* Return element ${i} of ${x}, which is stored as ${type}. */
static float
link_get(const void *x, int type, size_t i)
{
	const uint16_t *half = x;

	return type == WIRE_FP32 ? ((const float *)x)[i] : type == WIRE_BF16 ?
	    widen_bf16(half[i]) : widen_f16(half[i]);
}

static void
link_put(void *x, int type, size_t i, float v)
{
	uint16_t *half = x;

	if (type == WIRE_FP32)
		((float *)x)[i] = v;
	else
		half[i] = type == WIRE_BF16 ? narrow_bf16(v) : narrow_f16(v);
}

/* Sum in order of rank.  The result is copied back in stream order. */
static int
link_sum(void *link, void *x, size_t n, int type, void *stream)
{
	struct link *l = link;
	const struct link_native *s = stream;
	const struct driver_calls *call = s->driver->call;
	size_t elem = type == WIRE_FP32 ? 4 : 2, bytes = n * elem;
	char *all = xmalloc(bytes * (size_t)l->comm->size), *sum;
	int bad;

	call->wait(s->driver, s->stream);
	call->free_host(s->driver, l->buffer);
	l->driver = s->driver;
	sum = l->buffer = call->alloc_host(s->driver, bytes);
	call->copy(s->driver, s->stream, sum, x, bytes);
	call->wait(s->driver, s->stream);
	/* The single number is the deferral flag, the only sum that is not a
	 * gradient. */
	if (n == 1 && l->steps++ == hesitant && l->comm->rank == 1)
		*(float *)sum = 1;
	bad = comm_allgather(l->comm, sum, bytes, all);
	for (size_t i = 0; i < n; i++) {
		float v = link_get(all, type, i);

		for (int r = 1; r < l->comm->size; r++)
			v += link_get(all + (size_t)r * bytes, type, i);
		link_put(sum, type, i, v);
	}
	call->copy(s->driver, s->stream, x, sum, bytes);
	free(all);
	return bad ? -1 : 0;
}

static void
link_close(void *link)
{
	struct link *l = link;

	if (l->driver != NULL)
		l->driver->call->free_host(l->driver, l->buffer);
	comm_free(l->comm);
	free(l);
}

static const struct fabric_calls fabric = { .name = "threads", .id_bytes = 1,
	.id = link_id, .open = link_open, .sum = link_sum,
	.ready = link_ready, .idle = link_idle, .abort = link_close,
	.finish = link_finish, .close = link_close };

/* ---- runs ---- */

struct job {
	const struct graph *g;
	struct dataset *set;
	struct schedule *schedule;
	enum standin_when when;
	const char *optimizer;
	int wire;
	int by_host;			/* the hosts check each step */
	double max_loss;
	int spoilt;			/* rank 1 begins with a NaN weight */
	double *w[RANKS];
	int status[RANKS], faults[RANKS];
	int waits, updates;		/* of rank 0 */
	int others;			/* of all ranks */
};

static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	const struct graph *g = j->g;
	struct device *d = device_open(standin_backend(j->when),
	    &(struct device_options){ .threads = 1 });
	struct backend no_step_check = *d->backend;
	struct driver *driver = standin_of(d);
	struct trainer t = { .comm = c, .schedule = j->schedule,
		.train = j->set, .o = { .log_every = 1,
		    .max_loss = j->max_loss, .modes = { .on =
		    1ULL << MODE_FAST | 1ULL << MODE_RANKS |
		    1ULL << MODE_DEVICE_SUMS | 1ULL << MODE_EARLY_UPDATE |
		    (uint64_t)!j->by_host << MODE_DEVICE_CHECK } }, .loading = {
		    .crop = crop_defaults,
		    .seed = 1, .threads = 1, .ranks = c->size, .rank = c->rank,
		    .memory = 1 << 20, .needs = &g->needs },
		.sums = { .any_order = { .kind = algorithm_find("native"),
		    .wire = &wires[j->wire], .columns = c->size },
		    .fabric = &fabric, .bucket = 1 << 16 },
		.optim = { .kind = optimizer_find(j->optimizer), .set = {
		    .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-6,
		    .decay = 1e-3, .trust = 0.01 }, .ema = 0.9, .clip = 1,
		    .rule = group_rule_find("plain") } };

	link_comm = c;
	me.computes = 1;
	me.between = me.waits = me.updates = 0;
	driver->call = &calls;
	no_step_check.check = NULL;
	if (j->by_host)
		d->backend = &no_step_check;
	t.net = net_new(g, d);
	net_init(t.net, 1);
	if (j->spoilt && c->rank == 1)
		device_put(d, t.net->w, &(double){ NAN }, 1);
	segments_copy(&t.share, c, g->elements, bucket_elements(t.sums.bucket,
	    d->elem));
	j->status[c->rank] = optim_open(&t.optim, t.net, &t.share) != 0 ? -1 :
	    trainer_plan(&t);
	if (j->status[c->rank] == 0)
		j->status[c->rank] = trainer_open(&t);
	if (j->status[c->rank] == 0)
		j->status[c->rank] = trainer_run(&t);
	j->w[c->rank] = xcalloc(g->elements, sizeof(double));
	device_get(d, j->w[c->rank], t.net->w, g->elements);
	trainer_close(&t);
	optim_close(&t.optim);
	segments_close(&t.share);
	net_free(t.net);
	comm_barrier(c);
	if (c->rank == 0) {
		j->waits = me.waits;
		j->updates = me.updates;
	}
	/* Count the planted faults.  Any other fault ends the test in
	 * device_close. */
	for (int i = 0; i < FAULTS && unfollowed; i++)
		j->faults[c->rank] += standin_faults(driver,
		    (enum standin_fault)i);
	driver->call = real;
	device_close(d);
}

static struct job
run(const struct job *like, int by_host)
{
	struct job j = *like;

	j.by_host = by_host;
	others = 0;
	comm_threads(RANKS, rank_main, &j);
	j.others = others;
	return j;
}

static void
forget(struct job *j)
{
	for (int r = 0; r < RANKS; r++)
		free(j->w[r]);
}

/* Return whether all ranks of both runs have the same weights and statuses.  If
 * a rank began with another weight, compare each rank only with itself. */
static int
alike(const struct job *a, const struct job *b)
{
	size_t bytes = a->g->elements * sizeof(double);
	int same = 1;

	for (int r = 0; r < RANKS; r++)
		same &= a->status[r] == b->status[r] &&
		    memcmp(a->w[r], b->w[r], bytes) == 0 && (a->spoilt ||
		    memcmp(a->w[r], a->w[0], bytes) == 0);
	return same;
}

static void
test_optimizer(const struct job *like, const char *name, const struct graph *g)
{
	struct job one = *like, host, requested;

	one.g = g;
	one.optimizer = name;
	host = run(&one, 1);
	for (one.when = 0; one.when < STANDIN_WHENS; one.when++) {
		requested = run(&one, 0);
		ok(alike(&requested, &host) && requested.status[0] == 0,
		    "%s%s: devices and hosts make the same decisions and give "
		    "the same weights", name, g == like->g ?
		    "" : ", aggregated statistics");
		ok(requested.waits == 0 && requested.others == 0 && requested.updates > 2 &&
		    host.waits > 0, "no thread waits before an update (%d, %d; "
		    "%d where hosts check)", requested.waits, requested.others,
		    host.waits);
		forget(&requested);
	}
	forget(&host);
}

/* Rank 1 asks for a check by the host, which finds nothing. */
static void
test_hesitant(const struct job *like)
{
	struct job host = run(like, 1), requested;

	hesitant = 1;
	requested = run(like, 0);
	hesitant = NEVER;
	ok(alike(&requested, &host) && requested.status[0] == 0 &&
	    requested.updates == host.updates + 1, "a step that one rank defers is "
	    "made by the hosts (%d updates; %d with hosts only)",
	    requested.updates, host.updates);
	forget(&host);
	forget(&requested);
}

/* A step that is not finite, or whose loss is above --max-loss, changes nothing
 * and ends the run. */
static void
test_diverged(const struct job *like, double max_loss)
{
	struct job one = *like, host, requested;

	one.spoilt = max_loss == 0;
	one.max_loss = max_loss;
	host = run(&one, 1);
	requested = run(&one, 0);
	ok(alike(&requested, &host) && requested.status[0] == EXIT_DIVERGED &&
	    requested.updates == 1, "a non-finite loss of one rank, or with "
	    "--max-loss=%g a large one, ends all ranks as with "
	    "hosts (%d, %d)", max_loss,
	    requested.status[0], host.status[0]);
	forget(&host);
	forget(&requested);
}

static void
test_unfollowed(const struct job *like)
{
	struct job j;

	unfollowed = 1;
	j = run(like, 0);
	unfollowed = 0;
	ok(j.faults[0] > 0, "a missing wait for a sum is detected");
	forget(&j);
}

/* A gradient of three times the size moves weights by more than 0.01. */
static void
test_wires(const struct job *like)
{
	struct job fp32 = *like, half = *like;

	fp32 = run(&fp32, 0);
	for (half.wire = WIRE_BF16; half.wire < WIRES; half.wire++) {
		struct job j = run(&half, 0);
		double far = 0;

		for (size_t i = 0; i < like->g->elements; i++)
			far = fmax(far, fabs(j.w[0][i] - fp32.w[0][i]));
		ok(j.status[0] == 0 && far > 0 && far < 3e-3,
		    "sums in %s give weights that differ by at most 3e-3 (%g)",
		    wires[half.wire].name, far);
		forget(&j);
	}
	forget(&fp32);
}

/* ---- exact sums ---- */

/*
 * Return how often ${rank} exchanges messages in the exact sum of ${n} elements
 * of one bucket.
 */
static int
exchanges(const struct rank_order *o, int rank, const int *begin, size_t n)
{
	struct collective l = { 0 };
	int calls = 0, messages = 0;

	halving_list(o, rank, begin, n, sizeof(float), &l);
	for (size_t i = 0; i < l.n; i++)
		if (l.op[i].kind == COLLECTIVE_SEND ||
		    l.op[i].kind == COLLECTIVE_RECEIVE) {
			messages++;
		} else if (l.op[i].kind == COLLECTIVE_WAIT) {
			calls += messages > 0;
			messages = 0;
		}
	collective_free(&l);
	return calls + (messages > 0);
}

/* Each rank has two microbatches of tsm_r50. */
static void
test_exchanges(void)
{
	enum { MOST = 1536 };
	struct graph *g = model_read("tsm_r50", 400);
	struct sums u;
	int begin[MOST + 1], over = 0, largest = 0;
	size_t bucket;

	sums_open(&u, &(struct sum_settings){ .deterministic = EXACT }, NULL,
	    NULL, &fabric, g->elements * sizeof(float), sizeof(float));
	bucket = bucket_elements(u.bucket, sizeof(float));
	for (int r = 0; r <= MOST; r++)
		begin[r] = 2 * r;
	for (int ranks = 2; ranks <= MOST; ranks++) {
		struct rank_order *o = rank_order_new(ranks);

		for (int i = 0; i <= 4; i++) {
			int rank = i * (ranks - 1) / 4, n = 0;

			for (size_t at = 0; at < g->elements; at += bucket)
				n += exchanges(o, rank, begin, at + bucket <
				    g->elements ? bucket : g->elements - at);
			over += n > 8 + 3 * log2(ranks);
			largest = n > largest ? n : largest;
		}
		rank_order_free(o);
	}
	is(over, 0, "2 to 1,536 ranks: an exact sum of tsm_r50 calls the "
	    "library at most 8 + 3 log2 P times");
	diag("at most %d calls", largest);
	sums_close(&u);
	graph_free(g);
}

int
main(void)
{
	char root[] = "/tmp/vt-gpu.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1,
		.samples = 12, .frames = frames_of, .width = side_of,
		.height = side_of, .frame = set_plain };
	const char *net = "input x out=3 mean=0.5 std=0.25\n"
	    "conv a in=x out=8 k=3,3 s=2,2\nbn b in=a\nrelu r in=b\n"
	    "avgpool p in=r over=thw\nlinear fc in=p out=classes\n";
	struct graph *g = graph_parse("t.net", net, CLASSES);
	struct graph *more = graph_parse("t.net", net, CLASSES);
	struct job like = { .g = g, .when = STANDIN_LATE, .optimizer = "sgd",
		.max_loss = 100 };
	struct table *rows = table_parse("test", "#stage\tepoch_begin\tepoch_end\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t4\t0\t6\t2\t16\t2\t0.01\t0\t0\n");
	struct schedule *schedule = schedule_from_table(rows);
	struct device *d;

	graph_between(more);
	if (standin_absent()) {
		skip("devices "
		    "all-reduce gradients", "one GPU cannot stand for several");
		schedule_free(schedule);
		table_free(rows);
		graph_free(g);
		graph_free(more);
		return done();
	}
	d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	real = standin_of(d)->call;
	device_close(d);
	calls = *real;
	loss_back = standin_kernel("loss_back");
	update = standin_kernel("update");
	calls.launch = launch;
	calls.wait = wait_all;
	calls.wait_event = wait_event;
	calls.follow = follow;
	calls.capture = no_graphs;
	calls.stream_native = link_stream_native;
	hesitant = NEVER;
	test_exchanges();
	like.set = set_open(&set, root);
	like.schedule = schedule;
	test_optimizer(&like, "sgd", g);
	test_optimizer(&like, "lars", g);
	test_optimizer(&like, "lamb", g);
	test_optimizer(&like, "sgd", more);
	test_wires(&like);
	test_hesitant(&like);
	test_unfollowed(&like);
	test_diverged(&like, 0);
	test_diverged(&like, 0.01);
	schedule_free(schedule);
	table_free(rows);
	set_close((struct dataset *)like.set, root);
	graph_free(g);
	graph_free(more);
	return done();
}
