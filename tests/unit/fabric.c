/*
 * Sums by a device library (comm/fabric.h): the calls of direct sums and of
 * tori are the expected ones, results are right, errors abort the links, and
 * hangs end the run.  A stand-in for the library records the calls in order and
 * executes them between threads.  Its links are not ready at once, and a row or
 * a column is unusable until the world has split.
 */
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/fabric.h"
#include "comm/watch.h"

#include "said.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { MAX = 8, UNREADY = 3 };

/* ---- the stand-in ---- */

struct link {
	struct comm *comm;
	const char *name;
	struct link *of;		/* the link that is split; NULL: none */
	int unready, elems;
};

static _Thread_local struct comm *mine;		/* this rank's communicator */
static _Thread_local struct buffer asked;	/* the calls of this rank */
static _Thread_local int links;
static _Thread_local int fails, hangs;		/* the sum that fails */
static _Thread_local int aborted;
static _Thread_local int queries;	/* until a sum is ready; 0: UNREADY */

static int
stand_id(void *id)
{
	memcpy(id, "meet", 5);
	buffer_text(&asked, "id ");
	return 0;
}

static void *
new_link(struct comm *c, const char *name, struct link *of)
{
	struct link *l = xcalloc(1, sizeof(*l));

	*l = (struct link){ c, name, of, UNREADY, 0 };
	links++;
	return l;
}

static void *
stand_open(const void *id, int rank, int ranks)
{
	struct comm *c = comm_dup(mine, COMM_WAITS);

	if (memcmp(id, "meet", 5) != 0 || c->rank != rank || c->size != ranks)
		return fail_null("strangers");
	buffer_text(&asked, "open ");
	return new_link(c, "world", NULL);
}

static void *
stand_split(void *link, int color, int key)
{
	struct link *of = link;
	struct comm *c;

	if (of->unready > 0)
		return fail_null("split before it is ready");
	if (comm_split(&c, of->comm, color, key, COMM_WAITS) != 0)
		return NULL;
	buffer_printf(&asked, "split:%d:%d ", color, key);
	of->unready = UNREADY;
	return new_link(c, links == 1 ? "row" : "column", of);
}

/* Elements are always floats here, whatever ${type} says. */
static int
all_sum(struct comm *c, float *x, size_t n)
{
	float *all = xcalloc((size_t)c->size * n, sizeof(*all));
	int bad = comm_allgather(c, x, n * sizeof(*x), all);

	memset(x, 0, n * sizeof(*x));
	for (int r = 0; r < c->size; r++)
		for (size_t i = 0; i < n; i++)
			x[i] += all[(size_t)r * n + i];
	free(all);
	return bad;
}

static int
ask(const char *what, struct link *l, size_t n, int type, void *stream)
{
	if (l->unready > 0)
		return fail("%s before it is ready", what);
	if (stream != &asked)
		return fail("another stream");
	buffer_printf(&asked, "%s:%s:%zu:%s ", what, l->name, n,
	    wires[type].name);
	l->unready = queries > 0 ? queries : UNREADY;
	return 0;
}

static int
stand_sum(void *link, void *x, size_t n, int type, void *stream)
{
	struct link *l = link;

	if (ask("sum", l, n, type, stream) != 0)
		return -1;
	if (fails > 0 && --fails == 0)
		return fail("a wire is cut");
	if (hangs) {
		l->unready = -1;
		return 0;
	}
	return all_sum(l->comm, x, n);
}

static int
stand_scatter(void *link, void *x, int rank, size_t each, int type,
    void *stream)
{
	struct link *l = link;
	size_t n = each * (size_t)l->comm->size;
	float *all = xcalloc(n, sizeof(*all));
	int bad = ask("scatter", l, each, type, stream) != 0 ||
	    rank != l->comm->rank;

	/* Only this rank's part of the result is defined. */
	memcpy(all, x, n * sizeof(*all));
	bad |= all_sum(l->comm, all, n);
	for (size_t i = 0; i < n; i++)
		((float *)x)[i] = i / each == (size_t)rank ? all[i] : NAN;
	free(all);
	return bad ? -1 : 0;
}

static int
stand_gather(void *link, void *x, int rank, size_t each, int type,
    void *stream)
{
	struct link *l = link;
	float *part = xcalloc(each, sizeof(*part));
	int bad = ask("gather", l, each, type, stream);

	memcpy(part, (float *)x + (size_t)rank * each, each * sizeof(*part));
	bad |= comm_allgather(l->comm, part, each * sizeof(*part), x);
	free(part);
	return bad;
}

static int
stand_exchange(void *link, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream)
{
	struct link *l = link;

	return ask("exchange", l, (size_t)(sends + receives), WIRE_FP32,
	    stream) != 0 ? -1 : comm_exchange(l->comm, send, sends, receive,
	    receives);
}

static int
stand_ready(void *link)
{
	struct link *l = link;

	if (l->of != NULL && l->of->unready != 0)
		return fail("%s is queried before it exists", l->name);
	l->of = NULL;
	if (l->unready > 0)
		l->unready--;
	return l->unready == 0;
}

static int
stand_idle(void *stream)
{
	static _Thread_local int looks;

	(void)stream;
	return ++looks % 3 == 0;
}

static int
stand_finish(void *link)
{
	struct link *l = link;

	buffer_printf(&asked, "finish:%s ", l->name);
	l->unready = hangs ? -1 : UNREADY;
	return 0;
}

static void
stand_close(void *link)
{
	struct link *l = link;

	buffer_printf(&asked, "close%s:%s ", l->unready != 0 ? " too early" : "",
	    l->name);
	comm_free(l->comm);
	free(l);
}

static void
stand_abort(void *link)
{
	struct link *l = link;

	buffer_printf(&asked, "abort%s:%s ", l->of != NULL &&
	    !aborted ? " too early" : "", l->name);
	aborted++;
	if (hangs)
		fprintf(stderr, "aborted\n");
	comm_free(l->comm);
	free(l);
}

static const struct fabric_calls stand_in = { "a stand-in", 5, stand_id,
	stand_open, stand_split, stand_sum, stand_scatter, stand_gather,
	stand_exchange, stand_ready, stand_idle, stand_abort, stand_finish,
	stand_close, NULL, 0 };

/* ---- sums ---- */

struct job {
	int columns, type;
	const int *host;
	size_t n;
	char *requested[MAX];		/* recorded calls by rank */
	int wrong;
};

static void
sums(struct comm *c, void *arg)
{
	struct job *j = arg;
	float *x = xcalloc(j->n, sizeof(*x));
	struct fabric *f;
	int bad = 0;

	mine = c;
	links = 0;
	asked = (struct buffer){ 0 };
	f = fabric_open(&stand_in, c, j->columns, j->host);
	for (size_t i = 0; i < j->n; i++)
		x[i] = (float)((c->rank + 1) * (int)(i + 1));
	bad |= f == NULL || fabric_sum(f, x, j->n, j->type, &asked) != 0 ||
	    fabric_wait(f, &asked) != 0;
	for (size_t i = 0; i < j->n; i++)
		bad |= x[i] != (float)(c->size * (c->size + 1) / 2 *
		    (int)(i + 1));
	fabric_close(f);
	j->requested[c->rank] = asked.data;
	__atomic_fetch_add(&j->wrong, bad, __ATOMIC_RELAXED);
	free(x);
}

/* Check the sums of all ranks, and the calls of rank ${rank}. */
static void
test(const char *what, struct job j, int ranks, int rank, const char *want)
{
	comm_threads(ranks, sums, &j);
	is(j.wrong, 0, what);
	is_text(j.requested[rank], want, "the calls are the expected ones");
	for (int r = 0; r < ranks; r++)
		free(j.requested[r]);
}

/* ---- short waits ---- */

/*
 * Count how often a thread is suspended by a sum that is ready after a few
 * microseconds.  Another process may delay some of the sums.
 */
static void
test_spin(struct comm *c, void *arg)
{
	int *least = arg;
	struct rusage before, after;
	float x[4] = { 0 };
	struct fabric *f;

	mine = c;
	asked = (struct buffer){ 0 };
	f = fabric_open(&stand_in, c, 1, NULL);
	queries = 20;
	for (int i = 0; i < 50; i++) {
		long n;

		getrusage(RUSAGE_THREAD, &before);
		fabric_sum(f, x, 4, WIRE_FP32, &asked);
		getrusage(RUSAGE_THREAD, &after);
		n = after.ru_nvcsw - before.ru_nvcsw;
		*least = n < *least ? (int)n : *least;
	}
	queries = 0;
	fabric_close(f);
	free(asked.data);
}

/* ---- errors ---- */

static void
cut_wire(struct comm *c, void *arg)
{
	int *wrong = arg;
	float x[4] = { 0 };
	struct fabric *f;

	mine = c;
	links = aborted = 0;
	asked = (struct buffer){ 0 };
	f = fabric_open(&stand_in, c, c->size, NULL);
	fails = 1;
	if (fabric_sum(f, x, 4, WIRE_FP32, &asked) != -1 || aborted != 1 ||
	    fabric_sum(f, x, 4, WIRE_FP32, &asked) != -1)
		__atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
	fails = 0;
	fabric_close(f);
	free(asked.data);
}

/*
 * Run in a child process.  The other rank never answers: a sum hangs, or with
 * ${closing} the end of a link.
 */
static void
hang(struct comm *c, void *closing)
{
	float x[4] = { 0 };
	struct fabric *f;

	mine = c;
	comm_watch(c, 0.5);
	watch_phase(c->watch, NULL, 1);
	f = fabric_open(&stand_in, c, c->size, NULL);
	hangs = 1;
	if (closing == NULL)
		fabric_sum(f, x, 4, WIRE_FP32, &asked);
	else if (c->rank == 0)
		fabric_close(f);
	clock_sleep(60);
}

static void
deadline(void *closing, const char *what)
{
	char said[4096] = "";
	int to[2], status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(to) != 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		dup2(to[1], 2);
		close(to[0]);
		comm_threads(2, hang, closing);
		_exit(0);
	}
	close(to[1]);
	while ((got = read(to[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	close(to[0]);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_RANKS,
	    "%s ends the ranks", what);
	ok(strstr(said, "aborted") != NULL, "the links are aborted first");
	ok(strstr(said, "--step-timeout allows") != NULL,
	    "the message names --step-timeout");
}

int
main(void)
{
	static const int two_hosts[] = { 0, 0, 2, 2 };
	static const int crossed[] = { 0, 1, 0, 1 };
	static const int three[] = { 0, 0, 0, 3, 3, 3 };
	int wrong = 0, suspended = INT_MAX;

	test("two ranks: one sum", (struct job){ .columns = 2, .n = 7 }, 2, 0,
	    "id open sum:world:7:fp32 finish:world close:world ");
	test("three ranks: a sum in 16 bits",
	    (struct job){ .columns = 3, .type = WIRE_BF16,
	    .n = 5 }, 3, 1, "open sum:world:5:bf16 finish:world close:world ");
	test("four ranks on two hosts: a torus",
	    (struct job){ .columns = 2, .n = 8,
	    .host = two_hosts }, 4, 3, "open split:1:1 split:1:1 "
	    "scatter:row:4:fp32 sum:column:4:fp32 gather:row:4:fp32 "
	    "finish:row finish:column finish:world "
	    "close:row close:column close:world ");
	test("four ranks: elements that the columns do not divide",
	    (struct job){ .columns = 2, .n = 9,
	    .host = crossed }, 4, 1, "open split:1:0 split:0:1 "
	    "scatter:row:4:fp32 sum:column:4:fp32 gather:row:4:fp32 "
	    "sum:world:1:fp32 finish:row finish:column finish:world "
	    "close:row close:column close:world ");
	test("six ranks: fewer elements than columns",
	    (struct job){ .columns = 3, .n = 2,
	    .type = WIRE_FP16, .host = three }, 6, 0, "id open split:0:0 "
	    "split:0:0 sum:world:2:fp16 finish:row finish:column finish:world "
	    "close:row close:column close:world ");
	test("one column: a direct sum",
	    (struct job){ .columns = 1, .n = 3 }, 4, 2,
	    "open sum:world:3:fp32 finish:world close:world ");
	comm_threads(1, test_spin, &suspended);
	is(suspended, 0, "a short wait does not suspend the thread");
	said_begin((char [256]){ 0 }, 256);
	comm_threads(2, cut_wire, &wrong);
	said_end();
	is(wrong, 0, "an error aborts the links, and later sums fail");
	deadline(NULL, "a sum that never ends");
	deadline(&asked, "a link that never closes");
	return done();
}
