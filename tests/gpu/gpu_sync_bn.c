/*
 * Synchronized BN between devices gives the bits of sums by the hosts, and its
 * passes are captured into CUDA graphs, without GPUs.  The ranks are threads,
 * each with its own stand-in, connected by a library that exchanges messages in
 * stream order as NCCL does (comm/fabric.h).  If one rank cannot capture a pass,
 * no rank launches a graph.  A run whose devices sum the gradients sums its
 * statistics between them, too.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/mem.h"
#include "comm/fabric.h"
#include "net/net.h"
#include "train/loop/memory.h"
#include "train/loop/trainer.h"
#include "train/reduce/sync_bn.h"

#include "gpu/standin/link.h"
#include "gpu/standin/standin.h"
#include "loader_set.h"
#include "optimizer_find.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { CLASSES = 3, RANKS = 3, CLIPS = 2, FRAMES = 2, SIDE = 12, STEPS = 5,
    NUMBERS = 32, MESSAGES = 16 };

/* By whom the sums are taken, and which ranks capture passes. */
enum how { HOSTS, SEPARATE, GRAPHS, REFUSED, HOWS };

/* ---- a driver that is observed ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static _Thread_local struct {
	int refuses, graphs;
	int waits;			/* between a forward and a backward
					 * graph */
} me;

static int
capture(struct driver *d, struct gpu_stream *s)
{
	return me.refuses ? -1 : real->capture(d, s);
}

static void
graph_run(struct driver *d, struct gpu_stream *s, struct gpu_graph *g)
{
	me.graphs++;
	real->graph_run(d, s, g);
}

static int
wait_all(struct driver *d, struct gpu_stream *s)
{
	me.waits += me.graphs % 2;
	return real->wait(d, s);
}

static int
wait_event(struct driver *d, struct gpu_event *e)
{
	me.waits += me.graphs % 2;
	return real->wait_event(d, e);
}

/* ---- a library whose messages are a kernel of the stream ---- */

/* The arguments of the kernel: [0, sends) are sent, the others received. */
struct messages {
	struct comm *comm;
	void *data[MESSAGES];
	size_t bytes[MESSAGES];
	int rank[MESSAGES], sends, receives;
};

static struct standin_kernel *kernel;	/* [standin_kernels_n + 1]; the last
					 * exchanges messages */

static void
exchange_body(const void *args, struct block b)
{
	const struct messages *a = args;
	struct message m[MESSAGES];

	(void)b;
	for (int i = 0; i < a->sends + a->receives; i++)
		m[i] = (struct message){ a->rank[i], a->data[i], a->bytes[i] };
	if (comm_exchange(a->comm, m, a->sends, m + a->sends, a->receives) != 0)
		abort();
}

static int
link_exchange(void *link, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream)
{
	const struct link_native *s = stream;
	struct messages a = { .comm = link, .sends = sends,
		.receives = receives };
	struct launch k = { .kernel = standin_kernels_n, .grid = { 1, 1 },
		.args = &a, .bytes = sizeof(a) };

	if (sends + receives > MESSAGES)
		return -1;
	for (int i = 0; i < sends + receives; i++) {
		const struct message *m = i < sends ? &send[i] :
		    &receive[i - sends];

		a.rank[i] = m->rank;
		a.data[i] = m->data;
		a.bytes[i] = m->bytes;
		if (i < sends)
			cuda_reads(&k, m->data, m->bytes);
		else
			cuda_writes(&k, m->data, m->bytes);
	}
	s->driver->call->launch(s->driver, s->stream, &k);
	return 0;
}

static void *
link_open(const void *id, int rank, int ranks)
{
	(void)id, (void)rank, (void)ranks;
	return comm_dup(link_comm, COMM_WAITS);
}

static void
link_close(void *link)
{
	comm_free(link);
}

static const struct fabric_calls fabric = { .name = "threads", .id_bytes = 1,
	.id = link_id, .open = link_open, .exchange = link_exchange,
	.ready = link_ready, .idle = link_idle, .abort = link_close,
	.finish = link_finish, .close = link_close,
	.peer_bytes = 16 << 20 };

/* ---- runs ---- */

struct job {
	const struct graph *g;
	enum standin_when when;
	enum how how;
	double *dw[RANKS];		/* [STEPS][elements] */
	double sum[RANKS][NUMBERS];
	int graphs[RANKS], waits;
};

/* Sum doubles whose rounded sum depends on the order: the pass itself rounds
 * to float. */
static void
sum_numbers(const struct peers *peers, struct device *d, int rank, double *sum)
{
	double *x = device_alloc(d, NUMBERS * sizeof(*x));

	for (int i = 0; i < NUMBERS; i++)
		sum[i] = (1 + i) / (3. + 4 * rank) * (rank == 1 ? -1e3 : 1);
	device_upload(d, x, sum, NUMBERS * sizeof(*x));
	peers->sum(peers, d, x, NUMBERS);
	sync_bn_wait(peers);
	device_download(d, sum, x, NUMBERS * sizeof(*x));
	device_free(d, x);
}

/* Step ${k} of the net: each has other pixels. */
static void
step(struct net *n, struct plan *p, void *dw, int rank, int k, int quiet)
{
	static const int label[CLIPS] = { 1, 2 };
	const uint64_t clip[CLIPS] = { (uint64_t)(CLIPS * rank),
		(uint64_t)(CLIPS * rank + 1) };
	uint8_t pixel[CLIPS * FRAMES * SIDE * SIDE * 3];
	struct stream s = { FRAMES, SIDE, SIDE, 3, pixel };
	struct target t = { .classes = CLASSES, .label = (int *)label };
	struct feed f = { &s, &t, clip, 3, NULL, 0 };

	for (size_t i = 0; i < sizeof(pixel); i++)
		pixel[i] = (uint8_t)(i * i * 31 + i * (size_t)(7 * rank + k) +
		    (size_t)(rank + k));
	standin_quiet(standin_of(n->device), quiet);
	net_forward(n, p, &f, dw);
	plan_backward(p, NULL);
	standin_quiet(standin_of(n->device), 0);
}

static void
rank_main(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct device *d = device_open(standin_backend(j->when),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct net *n = net_new(j->g, d);
	struct sync_bn spread = { 0 };
	struct dims in = { CLIPS, FRAMES, SIDE, SIDE, 3 };
	const struct peers *peers = sync_bn_group(&spread, RANKS);
	void *dw = device_alloc(d, j->g->elements * d->elem);
	struct plan *p;

	driver->call = &calls;
	standin_use_kernels(driver, kernel, standin_kernels_n + 1);
	link_comm = c;
	me.graphs = 0;
	me.refuses = j->how == SEPARATE || (j->how == REFUSED && c->rank == 1);
	net_init(n, 5);
	p = net_plan_part(n, &in, peers);
	net_reserve(n);
	if (sync_bn_open(&spread, c, d, j->how == HOSTS ? NULL : &fabric, 16) !=
	    0)
		abort();
	j->dw[c->rank] = xcalloc(STEPS * j->g->elements, sizeof(double));
	for (int k = 0; k < STEPS; k++) {
		/* A graph launch alone does not wait. */
		step(n, p, dw, c->rank, k, j->how == GRAPHS && k > 1);
		sync_bn_wait(peers);
		device_get(d, j->dw[c->rank] + (size_t)k * j->g->elements, dw,
		    j->g->elements);
	}
	sum_numbers(peers, d, c->rank, j->sum[c->rank]);
	j->graphs[c->rank] = me.graphs;
	if (c->rank == 0)
		j->waits = standin_faults(driver, FAULT_WAIT);
	sync_bn_close(&spread);
	device_free(d, dw);
	net_free(n);
	driver->call = real;
	device_close(d);
}

static struct job
run(const struct graph *g, enum standin_when when, enum how how)
{
	struct job j = { .g = g, .when = when, .how = how };

	comm_threads(RANKS, rank_main, &j);
	return j;
}

static int
same(const struct job *a, const struct job *b)
{
	int same = 1;

	for (int r = 0; r < RANKS; r++)
		same &= memcmp(a->sum[r], b->sum[0], sizeof(a->sum[r])) == 0 &&
		    memcmp(a->dw[r], b->dw[r], STEPS * a->g->elements *
		    sizeof(double)) == 0;
	return same;
}

static void
forget(struct job *j)
{
	for (int r = 0; r < RANKS; r++)
		free(j->dw[r]);
}

static void
test(const struct graph *g, enum standin_when when)
{
	static const char *const say[HOWS] = { "hosts", "separate launches",
		"graphs", "one rank that cannot capture" };
	struct job hosts = run(g, when, HOSTS);

	for (enum how how = SEPARATE; how < HOWS; how++) {
		struct job j = run(g, when, how);
		int each = how == GRAPHS ? 2 * (STEPS - 1) : 0;

		ok(same(&j, &hosts), "order %d, %s: gradients and statistics "
		    "have the bits of sums by the hosts", when, say[how]);
		for (int r = 0; r < RANKS; r++)
			ok(j.graphs[r] == each, "%s: rank %d launches %d graphs "
			    "(wanted %d)", say[how], r, j.graphs[r], each);
		ok(j.waits == 0, "%s: no host waits in a graph launch",
		    say[how]);
		forget(&j);
	}
	for (int r = 0; r < RANKS; r++)
		is(hosts.graphs[r], 0, "sums by the hosts are not captured");
	forget(&hosts);
}

/* ---- runs ---- */

/*
 * A run of a trainer.  Its gradients are summed exactly, because the library
 * here only sends messages.
 */
struct training {
	const struct graph *g;
	struct dataset *set;
	struct schedule *schedule;
	const struct fabric_calls *fabric;	/* NULL: the hosts sum */
	double *w[RANKS];
	int status[RANKS], graphs[RANKS], waits[RANKS];
	size_t messages[RANKS];		/* planned bytes of the library */
};

static int frames_of(int i) { return (void)i, 4; }
static int side_of(int i) { return (void)i, 24; }

/* Return the bytes of the memory plan for messages between devices. */
static size_t
planned_messages(struct trainer *t)
{
	const struct fabric_calls *calls = t->sums.fabric;
	struct fabric_calls none = *calls;
	struct memory with = memory_plan(t, t->comm->rank), without;

	none.peer_bytes = 0;
	t->sums.fabric = &none;
	without = memory_plan(t, t->comm->rank);
	t->sums.fabric = calls;
	return with.item[MEMORY_GRADIENTS] - without.item[MEMORY_GRADIENTS];
}

static void
training_main(struct comm *c, void *arg)
{
	struct training *j = arg;
	const struct graph *g = j->g;
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	/*
	 * One bucket: the stand-in runs work of one stream at a time, so the
	 * messages of two streams could block each other.
	 */
	struct trainer t = { .comm = c, .schedule = j->schedule,
		.train = j->set, .o = { .log_every = 1, .max_loss = 100,
		    .modes = { .on = 1ULL << MODE_RANKS | 1ULL << MODE_SHARDED |
		    1ULL << MODE_SYNC_BN | (uint64_t)(j->fabric != NULL) <<
		    MODE_DEVICE_SUMS } },
		.loading = { .crop = crop_defaults, .seed = 1,
		    .threads = 1, .ranks = c->size,
		    .rank = c->rank, .memory = 1 << 20, .needs = &g->needs,
		    .spread = 1 },
		.sums = { .fabric = j->fabric, .bucket = 1 << 20 },
		.optim = { .kind = optimizer_find("sgd"), .set = {
		    .momentum = 0.9 }, .rule = group_rule_find("plain") } };
	int *status = &j->status[c->rank];

	driver->call = &calls;
	standin_use_kernels(driver, kernel, standin_kernels_n + 1);
	link_comm = c;
	me.graphs = me.refuses = me.waits = 0;
	t.net = net_new(g, d);
	net_init(t.net, 1);
	segments_open(&t.share, c, g->elements, bucket_elements(t.sums.bucket,
	    d->elem));
	*status = optim_open(&t.optim, t.net, &t.share) != 0 ? -1 :
	    trainer_plan(&t);
	if (*status == 0 && j->fabric != NULL)
		j->messages[c->rank] = planned_messages(&t);
	if (*status == 0)
		*status = trainer_open(&t);
	if (*status == 0)
		*status = trainer_run(&t);
	j->w[c->rank] = xcalloc(g->elements, sizeof(double));
	device_get(d, j->w[c->rank], t.net->w, g->elements);
	j->graphs[c->rank] = me.graphs;
	j->waits[c->rank] = me.waits;
	trainer_close(&t);
	optim_close(&t.optim);
	segments_close(&t.share);
	net_free(t.net);
	driver->call = real;
	device_close(d);
}

static void
test_training(const struct graph *g)
{
	char root[] = "/tmp/vt-gpu.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1,
		.samples = 12, .frames = frames_of, .width = side_of,
		.height = side_of, .frame = set_plain };
	struct table *rows = table_parse("test", "#stage\tepoch_begin\tepoch_end\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t2\t0\t6\t2\t16\t6\t0.01\t0\t0\n");
	struct schedule *schedule = schedule_from_table(rows);
	struct training hosts = { .g = g, .set = set_open(&set, root),
		.schedule = schedule }, devices = hosts;
	size_t bytes = g->elements * sizeof(double);

	devices.fabric = &fabric;
	comm_threads(RANKS, training_main, &hosts);
	comm_threads(RANKS, training_main, &devices);
	for (int r = 0; r < RANKS; r++) {
		ok(hosts.status[r] == 0 && devices.status[r] == 0 &&
		    memcmp(devices.w[r], hosts.w[0], bytes) == 0 &&
		    memcmp(hosts.w[r], hosts.w[0], bytes) == 0, "a run, rank "
		    "%d: devices give the weights of hosts", r);
		ok(devices.graphs[r] > 0 && devices.waits[r] == 0,
		    "a run, rank %d: the host does not wait between passes, "
		    "which are graphs (%d; %d waits)", r, devices.graphs[r],
		    devices.waits[r]);
		/* Two peers by the gradients, and two by the statistics. */
		is((long long)devices.messages[r], 4 * (16 << 20),
		    "the memory plan includes the messages");
	}
	for (int r = 0; r < RANKS; r++) {
		free(hosts.w[r]);
		free(devices.w[r]);
	}
	set_close((struct dataset *)hosts.set, root);
	schedule_free(schedule);
	table_free(rows);
}

int
main(void)
{
	const char *net = "input x out=3 mean=0.5 std=0.25\n"
	    "conv a in=x out=16 k=3,3 s=2,2\nbn b in=a\nrelu r in=b\n"
	    "conv c in=r out=8 k=1,1\nbn d in=c\n"
	    "avgpool p in=d over=thw\nlinear fc in=p out=classes\n";
	struct graph *g = graph_parse("t.net", net, CLASSES);
	struct device *d;

	if (standin_absent()) {
		skip("devices sum statistics",
		    "one GPU cannot stand for several");
		graph_free(g);
		return done();
	}
	d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	real = standin_of(d)->call;
	device_close(d);
	calls = *real;
	calls.capture = capture;
	calls.graph_run = graph_run;
	calls.wait = wait_all;
	calls.wait_event = wait_event;
	calls.stream_native = link_stream_native;
	kernel = xcalloc((size_t)standin_kernels_n + 1, sizeof(*kernel));
	memcpy(kernel, standin_kernels, sizeof(standin_kernels[0]) *
	    (size_t)standin_kernels_n);
	kernel[standin_kernels_n] = (struct standin_kernel){ "exchange", 1,
		sizeof(struct messages), { exchange_body } };
	for (enum standin_when when = 0; when < STANDIN_WHENS; when++)
		test(g, when);
	test_training(g);
	free(kernel);
	graph_free(g);
	return done();
}
