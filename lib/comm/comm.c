/*
 * The part of a communicator that all transports share: waiting, collectives
 * made of point-to-point messages, deferred messages, and the transport of one
 * rank.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/comm.h"
#include "comm/watch.h"

/*
 * Waiting is polling.  It starts without pauses, because 1 MiB arrives in 50 us
 * and the shortest sleep takes 70 us.  Then it sleeps for ever longer times, so
 * that a thread that computes gets the processor.  The exact exchange of 1 MiB
 * between two bound ranks took 790 us when it slept after 200 tests.
 *
 * Polling without pauses does not pay while another thread of the rank
 * computes, while the kernel takes the processor away, or while ranks share
 * processors.  sched_yield does not help: on a busy machine a call costs 3 ms
 * or more.
 */
#define SPINS 200		/* tests in any case */
#define PATIENCE_LEAST 20e-6	/* seconds of polling without a sleep */
#define PATIENCE_MAX 10e-3
#define SHORTEST 20e-6		/* seconds of sleep, doubled up to LONGEST */
#define LONGEST 500e-6

void
comm_free(struct comm *c)
{
	if (c == NULL)
		return;
	exchange_free(&c->now, c);
	collective_free(&c->list);
	rank_order_free(c->order);
	free(c->starts);
	free(c->send);
	free(c->receive);
	c->t->free(c);
}

int
comm_split(struct comm **part, struct comm *c, int color, int key,
    const char *what)
{
	int wait = watch_enter(c->watch, c->what, 1);
	int bad = c->t->split(part, c, color, key);

	watch_leave(c->watch, wait);
	if (!bad && *part != NULL) {
		(*part)->watch = c->watch;
		(*part)->spins = c->spins;
		(*part)->what = what;
	}
	return bad;
}

struct comm *
comm_dup(struct comm *c, const char *what)
{
	struct comm *d;

	return comm_split(&d, c, 0, c->rank, what) == 0 ? d : NULL;
}

void
comm_watch(struct comm *c, double seconds)
{
	struct watch *w = watch_open(seconds);

	watch_connect(w, c);
	c->watch = w;
}

void
comm_set_overlap(struct comm *c, int beside)
{
	__atomic_store_n(&c->overlap, beside, __ATOMIC_RELAXED);
}

static int
comm_overlaps(const struct comm *c)
{
	return __atomic_load_n(&c->overlap, __ATOMIC_RELAXED);
}

/* ---- exchanges ---- */

/* A failed exchange is not in flight, so that exchange_free accepts it. */
int
comm_start(struct comm *c, struct exchange *x, const struct message *send,
    int sends, const struct message *receive, int receives)
{
	int bad;

	assert(x->comm == NULL);
	x->comm = c;
	bad = c->t->start(x, send, sends, receive, receives);
	if (bad)
		x->comm = NULL;
	return bad;
}

int
comm_test(struct exchange *x)
{
	int done = x->comm == NULL ? 1 : x->comm->t->test(x);

	if (done != 0)
		x->comm = NULL;
	return done;
}

/* Return how often the kernel has preempted this thread. */
static long
comm_losses(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

/*
 * Poll without sleeping.  The time limit doubles after each wait without a
 * preemption and halves after each wait with one.
 */
static int
comm_spin(struct exchange *x)
{
	struct comm *c = x->comm;
	double limit = c->spins ? PATIENCE_MAX : PATIENCE_LEAST, start;
	double largest = c->patience > 0 ? c->patience : limit;
	long lost;
	int done = 0;

	for (int i = 0; i < SPINS && done == 0; i++)
		done = comm_test(x);
	if (done != 0 || comm_overlaps(c))
		return done;
	lost = comm_losses();
	start = clock_seconds();
	while (done == 0 && clock_seconds() - start < largest &&
	    !comm_overlaps(c))
		done = comm_test(x);
	largest *= comm_losses() > lost ? 0.5 : 2;
	c->patience = largest < PATIENCE_LEAST ? PATIENCE_LEAST :
	    largest < limit ? largest : limit;
	return done;
}

int
comm_wait(struct exchange *x)
{
	int done = comm_test(x), wait;
	struct watch *watch;
	double sleep = SHORTEST;

	if (done != 0)
		return done > 0 ? 0 : -1;
	watch = x->comm->watch;
	wait = watch_enter(watch, x->comm->what, 1);
	done = comm_spin(x);
	while (done == 0) {
		clock_sleep(sleep);
		sleep = sleep * 2 < LONGEST ? sleep * 2 : LONGEST;
		done = comm_test(x);
	}
	watch_leave(watch, wait);
	return done > 0 ? 0 : -1;
}

void
exchange_free(struct exchange *x, struct comm *c)
{
	assert(x->comm == NULL);
	if (x->priv != NULL)
		c->t->release(x);
	x->priv = NULL;
}

int
comm_exchange(struct comm *c, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	return comm_start(c, &c->now, send, sends, receive, receives) != 0 ?
	    -1 : comm_wait(&c->now);
}

_Noreturn void
comm_abort(struct comm *c, int status)
{
	fail_flush();
	c->t->abort(c, status);
	abort();
}

const struct rank_order *
comm_order(struct comm *c)
{
	if (c->order == NULL)
		c->order = rank_order_new(c->size);
	return c->order;
}

/* Return the communicator's scratch list, emptied. */
static struct collective *
comm_list(struct comm *c)
{
	c->list.n = 0;
	return &c->list;
}

/* Execute the scratch list on ${data}. */
static int
comm_run(struct comm *c, void *data)
{
	return collective_run(c, &c->list, &(struct collective_memory){
	    .buffer = &data });
}

int
comm_barrier(struct comm *c)
{
	collective_barrier(comm_list(c), c->rank, c->size);
	return comm_run(c, NULL);
}

int
comm_broadcast(struct comm *c, void *data, size_t bytes, int root)
{
	collective_broadcast(comm_list(c), c->rank, c->size, root, bytes);
	return comm_run(c, data);
}

int
comm_allgatherv_start(struct comm *c, struct exchange *x, void *data,
    const size_t *start)
{
	struct collective *l = comm_list(c);

	collective_gather_all(l, c->rank, c->size, start);
	return collective_start(c, x, l, &(struct collective_memory){
	    .buffer = &data });
}

int
comm_allgatherv(struct comm *c, void *data, const size_t *start)
{
	return comm_allgatherv_start(c, &c->now, data, start) != 0 ? -1 :
	    comm_wait(&c->now);
}

int
comm_allgather(struct comm *c, const void *mine, size_t bytes, void *all)
{
	size_t *start = xcalloc((size_t)c->size + 1, sizeof(*start));
	int result;

	for (int r = 0; r <= c->size; r++)
		start[r] = (size_t)r * bytes;
	memcpy((char *)all + start[c->rank], mine, bytes);
	result = comm_allgatherv(c, all, start);
	free(start);
	return result;
}

static void
comm_larger(void *arg, void *sum, const void *x, size_t n)
{
	int64_t *a = sum;
	const int64_t *b = x;

	(void)arg, (void)n;
	*a = *b > *a ? *b : *a;
}

int
comm_max(struct comm *c, int64_t *v)
{
	struct collective *l = comm_list(c);
	int64_t other;

	collective_spread(l, c->rank, c->size, sizeof(*v));
	return collective_run(c, l, &(struct collective_memory){
	    .buffer = (void *[]){ v, &other }, .elem = sizeof(*v),
	    .add = comm_larger });
}

/* ---- messages of all ranks, each printed once ---- */

/* Return 1 if ${text} contains the line of ${n} bytes at ${line}. */
static int
comm_has_line(const char *text, const char *line, size_t n)
{
	for (; *text != '\0'; text += strcspn(text, "\n") + 1)
		if (strcspn(text, "\n") == n && memcmp(text, line, n) == 0)
			return 1;
	return 0;
}

/*
 * Print ${line} once, for ${r}, the lowest rank that has it, and count the
 * other ranks that have it.
 */
static void
comm_say_line(const char *all, size_t largest, int size, int r,
    const char *line)
{
	size_t n = strcspn(line, "\n");
	char *text = xstrndup(line, n), who[64];
	int more = 0;

	for (int k = r + 1; k < size; k++)
		more += comm_has_line(all + (size_t)k * largest, line, n);
	if (more + 1 == size)
		snprintf(who, sizeof(who), "all %d ranks", size);
	else if (more > 0)
		snprintf(who, sizeof(who), "%d and %d more", r, more);
	else
		snprintf(who, sizeof(who), "%d", r);
	fail_say(who, text);
	free(text);
}

/*
 * The lines of rank r begin at all + r * largest.  Print each distinct line
 * once, by comparing it with those of all lower ranks.
 */
static void
comm_say_all(const char *all, size_t largest, int size)
{
	for (int r = 0; r < size; r++) {
		const char *line = all + (size_t)r * largest;

		for (; *line != '\0'; line += strcspn(line, "\n") + 1) {
			int said = 0;

			for (int k = 0; k < r && !said; k++)
				said = comm_has_line(all + (size_t)k * largest,
				    line, strcspn(line, "\n"));
			if (!said)
				comm_say_line(all, largest, size, r, line);
		}
	}
}

/* Gather the deferred messages of all ranks and print them on rank 0. */
static int
comm_say_held(struct comm *c)
{
	char *mine = fail_held(), *padded = NULL, *all = NULL;
	int64_t largest = mine != NULL ? (int64_t)strlen(mine) + 1 : 0;
	int bad = comm_max(c, &largest);

	if (!bad && largest > 0) {
		padded = xcalloc((size_t)largest, 1);
		all = xcalloc((size_t)c->size, (size_t)largest);
		if (mine != NULL)
			strcpy(padded, mine);
		bad = comm_allgather(c, padded, (size_t)largest, all);
		if (!bad && c->rank == 0)
			comm_say_all(all, (size_t)largest, c->size);
	}
	free(mine);
	free(padded);
	free(all);
	return bad;
}

int
comm_agree(struct comm *c, int status)
{
	int64_t worst = status;

	if (comm_max(c, &worst) != 0 || (c->holds && comm_say_held(c) != 0))
		return EXIT_RANKS;
	return (int)worst;
}

void
comm_hold(struct comm *c)
{
	c->holds = c->size > 1;
	if (c->holds)
		fail_hold();
}

void
comm_unhold(struct comm *c)
{
	c->holds = 0;
	fail_flush();
}

/* ---- the transport of one rank ---- */

static int
comm_self_start(struct exchange *x, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	(void)x, (void)send, (void)receive;
	return sends == 0 && receives == 0 ? 0 :
	    fail("a communicator of one rank exchanges no messages");
}

static int
comm_self_test(struct exchange *x)
{
	(void)x;
	return 1;
}

static void
comm_self_free(struct comm *c)
{
	free(c);
}

static void
comm_self_abort(struct comm *c, int status)
{
	(void)c;
	exit(status);
}

static int
comm_self_split(struct comm **part, struct comm *c, int color, int key)
{
	(void)c, (void)key;
	*part = color < 0 ? NULL : comm_self();
	return 0;
}

static const struct transport self = {
	.name = "self", .split = comm_self_split, .free = comm_self_free,
	.start = comm_self_start, .test = comm_self_test,
	.abort = comm_self_abort
};

struct comm *
comm_self(void)
{
	struct comm *c = xcalloc(1, sizeof(*c));

	*c = (struct comm){ .rank = 0, .size = 1, .t = &self,
		.what = COMM_WAITS };
	return c;
}

/* Its transport refuses messages, so planning cannot depend on other ranks. */
struct comm *
comm_planned(int ranks)
{
	struct comm *c = comm_self();

	c->size = ranks;
	return c;
}
