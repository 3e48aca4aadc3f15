/*
 * Synchronized BN between devices gives the bits of sums by the hosts, and its
 * passes are captured into CUDA graphs, without GPUs.  The ranks are threads,
 * each with its own stand-in, connected by a library that exchanges messages in
 * stream order as NCCL does (comm/fabric.h).  If one rank cannot capture a pass,
 * no rank launches a graph.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/kernels.h"
#include "base/mem.h"
#include "comm/fabric.h"
#include "net/net.h"
#include "train/reduce/sync_bn.h"

#include "gpu/standin/link.h"
#include "gpu/standin/standin.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { CLASSES = 3, RANKS = 3, CLIPS = 2, FRAMES = 2, SIDE = 12, STEPS = 5,
    NUMBERS = 32 };

/* By whom the sums are taken, and which ranks capture passes. */
enum how { HOSTS, SEPARATE, GRAPHS, REFUSED, HOWS };

/* ---- a driver that is observed ---- */

static struct driver_calls calls;
static const struct driver_calls *real;
static _Thread_local struct { int refuses, graphs; } me;

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

/* ---- a library whose messages are a kernel of the stream ---- */

/* The arguments of the kernel: [0, sends) are sent, the others received. */
struct messages {
	struct comm *comm;
	void *data[4];
	size_t bytes[4];
	int rank[4], sends, receives;
};

static struct standin_kernel kernel[GPU_KERNELS + 1];

static void
exchange_body(const void *args, struct block b)
{
	const struct messages *a = args;
	struct message m[4];

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
	struct launch k = { .kernel = GPU_KERNELS, .grid = { 1, 1 },
		.args = &a, .bytes = sizeof(a) };

	if (sends + receives > 4)
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
	.finish = link_finish, .close = link_close };

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
	standin_use_kernels(driver, kernel, GPU_KERNELS + 1);
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
	calls.stream_native = link_stream_native;
	memcpy(kernel, standin_kernels, sizeof(standin_kernels[0]) *
	    GPU_KERNELS);
	kernel[GPU_KERNELS] = (struct standin_kernel){ "exchange", 1,
		sizeof(struct messages), { exchange_body } };
	for (enum standin_when when = 0; when < STANDIN_WHENS; when++)
		test(g, when);
	graph_free(g);
	return done();
}
