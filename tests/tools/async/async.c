/*
 * Asynchronous SGD with bounded staleness, to compare K-step averaging with
 * (tests/bench/kstep).  It is an experiment and not a mode of vt-train:
 * tests/build.mk links vt-train with --wrap for learners_step.  So clips,
 * network, optimizer, schedule, log and checkpoints are those of --learners=N.
 *
 * Rank 0 has the server: the weights w_0, w_1, ..., and one optimizer state.  A
 * learner computes a gradient on the weights that it has and sends it.  The
 * server makes an update of each gradient alone, in order of arrival, and
 * answers with the new weights:
 *
 *	w_(u+1) = step(w_u, gradient of w_v),  staleness u - v
 *
 * (Dean et al. 2012, Downpour SGD, with an update of one gradient.)  Each
 * update has the learning rate of the schedule, so a step of N learners makes N
 * updates.
 *
 * No staleness exceeds the bound S (Ho et al. 2013, stale synchronous
 * parallel): a gradient that arrives too early waits, as async_fits explains.
 * Environment variables are the settings:
 *
 *	ASYNC_BOUND=S	the bound (N - 1, the least with which all can compute)
 *	ASYNC_TURNS=1	the learners take turns: update u is of learner u mod N
 *	ASYNC_DELAY=T	the last learner sleeps T seconds in each step
 *
 * On N ranks each rank has a learner, and the server is a thread of rank 0.
 * One process computes N learners in turns, and gives update u exactly the
 * staleness S as soon as there are S updates.  Both give the same bits if the
 * learners take turns and S = N - 1 (Langford et al. 2009, Slow learners are
 * fast).
 *
 * Every --average-every steps all learners wait until the server has all
 * gradients, and continue with its weights, which are validated and saved.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/learn/learners.h"
#include "train/loop/work.h"

int __wrap_learners_step(struct learners *l, struct trainer *t,
    struct step_report *s);

/* The end of a message to the server, after the gradient. */
struct tail { double lr, scale, last; };

enum peer_state { COMPUTES, ARRIVED, DONE };

/* A learner, as the server sees it. */
struct peer {
	enum peer_state state;
	uint64_t version;		/* of the weights that it has */
	uint64_t arrived;		/* number of the arrival */
	char *message, *weights;	/* buffers: from it, to it */
	struct exchange receive, send;
	atomic_int ready;		/* learner 0, of the same process: its
					 * message is complete */
};

static struct async {
	int n, bound, turns;
	double delay;
	uint64_t steps;			/* since the last wait for all */
	size_t bytes, message;		/* of the weights; of a message */
	char *mine;			/* [message] of this rank */
	char *final;			/* [bytes] weights of the server */
	/* One process: the last bound + 1 versions. */
	char *versions;
	uint64_t begin;			/* version at the last wait for all */
	/* The server. */
	struct comm *comm;		/* of the messages */
	struct device *device;
	struct net *net;
	struct optim optim;
	void *gradient;			/* in device memory */
	double norm;
	uint64_t version;		/* updates so far */
	uint64_t arrivals, stale, stale_max;
	struct peer *peer;		/* [n] */
	pthread_t thread;
} async;

static double
async_setting(const char *name, double otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? atof(text) : otherwise;
}

/* Print what was measured, at the end of the program. */
static void
async_report(void)
{
	const struct async *a = &async;

	fprintf(stderr, "async\tlearners %d\tbound %d\tupdates %llu\t"
	    "staleness %.3f\tmax %llu\n", a->n, a->bound,
	    (unsigned long long)a->version, a->version > 0 ? (double)a->stale /
	    (double)a->version : 0, (unsigned long long)a->stale_max);
}

/* Open the server: a device and a net of its own, so that it need not wait for
 * the learner of its rank. */
static void
async_open_server(struct async *a, const struct trainer *t)
{
	const struct net *n = t->net;

	optim_like(&a->optim, &t->optim);
	a->device = device_open(n->device->backend, &(struct device_options){
		.threads = 1, .precision = n->device->o.precision });
	if (a->device == NULL || (a->net = net_new(n->graph, a->device)) ==
	    NULL || optim_open(&a->optim, a->net, NULL) != 0 ||
	    (a->gradient = device_alloc(a->device, a->bytes)) == NULL)
		die(EXIT_FAILED, "cannot open the server");
	device_download(n->device, a->final, n->w, a->bytes);
	device_upload(a->device, a->net->w, a->final, a->bytes);
	a->peer = xcalloc((size_t)a->n, sizeof(*a->peer));
	for (int j = 0; j < a->n; j++) {
		a->peer[j].message = xmalloc(a->message);
		a->peer[j].weights = xmalloc(a->bytes);
	}
	atexit(async_report);
}

static void
async_open(struct async *a, struct trainer *t)
{
	int ranks = t->comm->size;

	a->n = (int)t->o.learners.n;
	a->bound = (int)async_setting("ASYNC_BOUND", a->n - 1);
	a->turns = (int)async_setting("ASYNC_TURNS", 0);
	a->delay = async_setting("ASYNC_DELAY", 0);
	if (t->state.step > 0 || (ranks > 1 && ranks != a->n) || (ranks > 1 &&
	    a->bound < a->n - 1) || a->bound < 0)
		die(EXIT_USAGE, "%d learners, staleness up to %d, %d ranks, "
		    "step %llu (wanted 1 rank or one for each learner, which "
		    "need a bound of %d or more, and a new run)", a->n,
		    a->bound, ranks, (unsigned long long)t->state.step,
		    a->n - 1);
	a->bytes = t->net->graph->elements * t->net->device->elem;
	a->message = a->bytes + sizeof(struct tail);
	a->mine = xmalloc(a->message);
	a->final = xmalloc(a->bytes);
	a->comm = comm_dup(t->comm, COMM_WAITS);
	if (a->comm == NULL)
		comm_abort(t->comm, EXIT_RANKS);
	if (t->comm->rank == 0)
		async_open_server(a, t);
	if (ranks > 1)
		return;
	a->versions = xcalloc((size_t)a->bound + 1, a->bytes);
	memcpy(a->versions, a->final, a->bytes);
}

/* Compute the gradient of learner ${j} on the weights of the net, into the
 * message. */
static void
async_compute(struct async *a, struct trainer *t, int j, int count, int last)
{
	struct trainer_work *w = t->work;
	size_t heads = (size_t)t->net->graph->heads;
	struct tree tree = { .leaves = count };
	struct tail tail = { w->at.lr, 1.0 / count, last };
	int first = j * count, held = t->comm->size == 1 ? first : 0, status;

	feeder_begin(&w->feeder, w->buffers.outcome + (size_t)held * heads,
	    optim_loss_scale(&t->optim));
	status = work_microbatches(t, &tree, 0, first, count, NULL, 0);
	if (status != 0)
		comm_abort(t->comm, status);
	device_download(t->net->device, a->mine, tree.part[0].data, a->bytes);
	memcpy(a->mine + a->bytes, &tail, sizeof(tail));
	if (a->delay > 0 && j == a->n - 1)
		usleep((useconds_t)(a->delay * 1e6));
}

/*
 * The server: update its weights by ${message}, whose gradient is of the
 * weights ${from}.
 */
static void
async_update(struct async *a, const char *message, uint64_t from)
{
	uint64_t stale = a->version - from;
	struct tail tail;

	memcpy(&tail, message + a->bytes, sizeof(tail));
	device_upload(a->device, a->gradient, message, a->bytes);
	if (optim_step(&a->optim, a->net, a->gradient, tail.scale, tail.lr,
	    &a->norm) != 0) {
		fail("update %llu: the gradient is not finite: the run has "
		    "diverged", (unsigned long long)a->version);
		comm_abort(a->comm, EXIT_DIVERGED);
	}
	a->version++;
	a->stale += stale;
	a->stale_max = stale > a->stale_max ? stale : a->stale_max;
}

/* ---- the server's thread ---- */

/*
 * Return 1 if an update by peer ${j} lets all others keep the bound.  If they
 * then come in the order of their versions, the one that i others precede has
 * the staleness version + 1 + i - its version.
 */
static int
async_fits(const struct async *a, int j)
{
	const struct peer *p = a->peer;

	for (int k = 0; k < a->n; k++) {
		uint64_t before = 0;

		if (k == j || p[k].state == DONE)
			continue;
		for (int m = 0; m < a->n; m++)
			before += m != j && p[m].state != DONE &&
			    (p[m].version < p[k].version ||
			    (p[m].version == p[k].version && m < k));
		if (a->version + 1 + before - p[k].version >
		    (uint64_t)a->bound)
			return 0;
	}
	return 1;
}

/* Return the peer whose gradient is next: the first that arrived and fits, or
 * whose turn it is.  Return -1 if there is none yet. */
static int
async_choose(const struct async *a)
{
	const struct peer *p = a->peer;
	int best = -1;

	for (int j = 0; j < a->n; j++)
		if (p[j].state == ARRIVED && (a->turns ? a->version %
		    (uint64_t)a->n == (uint64_t)j : async_fits(a, j)) &&
		    (best < 0 || p[j].arrived < p[best].arrived))
			best = j;
	return best;
}

/* Expect a message of peer ${j}. */
static void
async_expect(struct async *a, int j)
{
	struct peer *p = &a->peer[j];
	const struct message m = { j, p->message, a->message };

	p->state = COMPUTES;
	p->version = a->version;
	if (j > 0 && comm_start(a->comm, &p->receive, NULL, 0, &m, 1) != 0)
		comm_abort(a->comm, EXIT_RANKS);
}

/* Send the weights to peer ${j}.  A message of it has shown that it has those
 * before. */
static void
async_answer(struct async *a, int j)
{
	struct peer *p = &a->peer[j];
	const struct message m = { j, p->weights, a->bytes };

	if (comm_wait(&p->send) != 0)
		comm_abort(a->comm, EXIT_RANKS);
	device_download(a->device, p->weights, a->net->w, a->bytes);
	async_expect(a, j);
	if (j == 0)
		atomic_store(&p->ready, 0);
	else if (comm_start(a->comm, &p->send, &m, 1, NULL, 0) != 0)
		comm_abort(a->comm, EXIT_RANKS);
}

/* Note which messages have arrived. */
static void
async_listen(struct async *a)
{
	for (int j = 0; j < a->n; j++) {
		struct peer *p = &a->peer[j];
		int got;

		if (p->state != COMPUTES)
			continue;
		got = j == 0 ? atomic_load(&p->ready) : comm_test(&p->receive);
		if (got < 0)
			comm_abort(a->comm, EXIT_RANKS);
		if (got) {
			p->state = ARRIVED;
			p->arrived = a->arrivals++;
		}
	}
}

/* Serve all learners until each has sent its last gradient. */
static void *
async_serve(void *arg)
{
	struct async *a = arg;
	int open = a->n, j;

	for (j = 0; j < a->n; j++)
		async_expect(a, j);
	while (open > 0) {
		struct tail tail;

		async_listen(a);
		if ((j = async_choose(a)) < 0) {
			usleep(50);
			continue;
		}
		memcpy(&tail, a->peer[j].message + a->bytes, sizeof(tail));
		async_update(a, a->peer[j].message, a->peer[j].version);
		if (tail.last) {
			a->peer[j].state = DONE;
			open--;
		} else {
			async_answer(a, j);
		}
	}
	return NULL;
}

/* ---- a step ---- */

/* Send the message of this rank, and take new weights if it is not the last. */
static void
async_send(struct async *a, struct trainer *t, int last)
{
	const struct message send = { 0, a->mine, a->message };
	const struct message receive = { 0, a->final, a->bytes };
	struct peer *p = a->peer;

	if (t->comm->rank == 0) {
		memcpy(p->message, a->mine, a->message);
		atomic_store(&p->ready, 1);
		while (!last && atomic_load(&p->ready))
			usleep(50);
		if (!last)
			memcpy(a->final, p->weights, a->bytes);
	} else if (comm_exchange(a->comm, &send, 1, &receive, !last) != 0) {
		comm_abort(a->comm, EXIT_RANKS);
	}
	if (!last)
		device_upload(t->net->device, t->net->w, a->final, a->bytes);
}

/* One process: the gradients of all learners, in turn. */
static void
async_all(struct async *a, struct trainer *t, int count, int last)
{
	size_t ring = (size_t)a->bound + 1;

	for (int j = 0; j < a->n; j++) {
		uint64_t from = a->version > a->begin + (uint64_t)a->bound ?
		    a->version - (uint64_t)a->bound : a->begin;

		device_upload(t->net->device, t->net->w, a->versions +
		    from % ring * a->bytes, a->bytes);
		async_compute(a, t, j, count, last);
		async_update(a, a->mine, from);
		device_download(a->device, a->versions + a->version % ring *
		    a->bytes, a->net->w, a->bytes);
	}
	if (last)
		a->begin = a->version;
}

/* All ranks: wait for the server, and take its weights. */
static void
async_wait(struct async *a, struct trainer *t)
{
	if (t->comm->rank == 0) {
		if (t->comm->size > 1) {
			pthread_join(a->thread, NULL);
			atomic_store(&a->peer[0].ready, 0);
		}
		device_download(a->device, a->final, a->net->w, a->bytes);
	}
	if (comm_broadcast(t->comm, a->final, a->bytes, 0) != 0)
		comm_abort(t->comm, EXIT_RANKS);
	device_upload(t->net->device, t->net->w, a->final, a->bytes);
}

int
__wrap_learners_step(struct learners *l, struct trainer *t,
    struct step_report *s)
{
	struct async *a = &async;
	const struct cell *c = t->work->at.cell;
	int microbatches = c->batch / c->group, count, last;

	(void)l;
	if (a->n == 0)
		async_open(a, t);
	if (a->steps == 0 && t->comm->size > 1 && t->comm->rank == 0 &&
	    pthread_create(&a->thread, NULL, async_serve, a) != 0)
		die(EXIT_FAILED, "cannot start the server's thread");
	count = microbatches / a->n;
	last = ++a->steps == (uint64_t)t->o.learners.every ||
	    schedule_next(t->schedule, dataset_samples(t->train),
	    &t->work->at).cell == NULL;
	if (t->comm->size == 1) {
		async_all(a, t, count, last);
	} else {
		async_compute(a, t, t->comm->rank, count, last);
		async_send(a, t, last);
	}
	/* In other steps, only one process knows the loss of all. */
	s->loss = t->state.loss;
	if ((t->comm->size == 1 || last) && work_join_reports(t, microbatches,
	    s) != 0)
		comm_abort(t->comm, s->status);
	/* Only after async_wait does the server's thread write no norm. */
	s->norm = t->comm->size == 1 ? a->norm : 0;
	s->not_averaged = !last;
	work_count(t, s->loss);
	if (!last)
		return 0;
	async_wait(a, t);
	s->norm = a->norm;
	a->steps = 0;
	t->work->saving.unsaved = 1;
	return 0;
}
