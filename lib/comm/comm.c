/* What every transport shares: collectives made of exchanges. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/comm.h"
#include "comm/watch.h"

void
comm_free(struct comm *c)
{
	if (c != NULL)
		c->t->free(c);
}

struct comm *
comm_dup(struct comm *c, const char *what)
{
	int wait = watch_enter(c->watch, c->what, 1);
	struct comm *d = c->t->dup(c);

	watch_leave(c->watch, wait);
	if (d != NULL) {
		d->watch = c->watch;
		d->what = what;
	}
	return d;
}

void
comm_watch(struct comm *c, double seconds)
{
	c->watch = watch_open(c, seconds);
}

int
comm_exchange(struct comm *c, const struct piece *send, int sends,
    const struct piece *receive, int receives)
{
	int wait = watch_enter(c->watch, c->what, 1);
	int bad = c->t->exchange(c, send, sends, receive, receives);

	watch_leave(c->watch, wait);
	return bad;
}

_Noreturn void
comm_abort(struct comm *c, int status)
{
	c->t->abort(c, status);
	abort();
}

/* Everyone tells everyone: log2(size) rounds of one empty message each. */
int
comm_barrier(struct comm *c)
{
	for (int step = 1; step < c->size; step *= 2) {
		struct piece to = { (c->rank + step) % c->size, NULL, 0 };
		struct piece from = { (c->rank - step + c->size) % c->size,
			NULL, 0 };

		if (comm_exchange(c, &to, 1, &from, 1) != 0)
			return -1;
	}
	return 0;
}

/* Down a binomial tree, with ranks counted from the root. */
int
comm_broadcast(struct comm *c, void *data, size_t bytes, int root)
{
	int me = (c->rank - root + c->size) % c->size, step = 1;

	for (; step < c->size; step *= 2) {
		struct piece p = { 0, data, bytes };
		int bad = 0;

		if (me < step && me + step < c->size) {
			p.rank = (me + step + root) % c->size;
			bad = comm_exchange(c, &p, 1, NULL, 0);
		} else if (me >= step && me < 2 * step) {
			p.rank = (me - step + root) % c->size;
			bad = comm_exchange(c, NULL, 0, &p, 1);
		}
		if (bad)
			return -1;
	}
	return 0;
}

int
comm_allgatherv(struct comm *c, void *data, const size_t *start)
{
	size_t others = (size_t)c->size - 1;
	struct piece *send = xcalloc(others, sizeof(*send));
	struct piece *receive = xcalloc(others, sizeof(*receive));
	int n = 0, result;

	for (int step = 1; step < c->size; step++, n++) {
		int to = (c->rank + step) % c->size;
		int from = (c->rank - step + c->size) % c->size;

		send[n] = (struct piece){ to, (char *)data + start[c->rank],
			start[c->rank + 1] - start[c->rank] };
		receive[n] = (struct piece){ from, (char *)data + start[from],
			start[from + 1] - start[from] };
	}
	result = n == 0 ? 0 : comm_exchange(c, send, n, receive, n);
	free(send);
	free(receive);
	return result;
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

int
comm_max(struct comm *c, int64_t *v)
{
	int64_t *all = xcalloc((size_t)c->size, sizeof(*all));
	int result = comm_allgather(c, v, sizeof(*v), all);

	for (int r = 0; r < c->size && result == 0; r++)
		*v = all[r] > *v ? all[r] : *v;
	free(all);
	return result;
}

int
comm_agree(struct comm *c, int status)
{
	int64_t worst = status;

	return comm_max(c, &worst) != 0 ? EXIT_RANKS : (int)worst;
}

/* ---- one rank ---- */

static int
self_exchange(struct comm *c, const struct piece *send, int sends,
    const struct piece *receive, int receives)
{
	(void)c, (void)send, (void)receive;
	return sends == 0 && receives == 0 ? 0 :
	    fail("one rank has nobody to talk to");
}

static void
self_free(struct comm *c)
{
	free(c);
}

static void
self_abort(struct comm *c, int status)
{
	(void)c;
	exit(status);
}

static struct comm *
self_dup(struct comm *c)
{
	(void)c;
	return comm_self();
}

static const struct transport self = {
	"self", self_dup, self_free, self_exchange, NULL, NULL, NULL,
	self_abort
};

struct comm *
comm_self(void)
{
	struct comm *c = xcalloc(1, sizeof(*c));

	*c = (struct comm){ .rank = 0, .size = 1, .t = &self,
		.what = COMM_WAITS };
	return c;
}
