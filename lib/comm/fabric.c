/*
 * Device all-reduce: the calls to the library, their order, and their failures.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/fabric.h"
#include "comm/grid.h"
#include "comm/watch.h"

/*
 * Query without a pause for SPIN seconds, then every PAUSE.  A call of the
 * library is usually accepted within SPIN, and a pause takes about 50 us longer
 * than requested, the timer slack (prctl(2)).
 */
#define SPIN	100e-6
#define PAUSE	20e-6

struct fabric {
	const struct fabric_calls *call;
	struct comm *comm;
	void *world, *row, *column;	/* links; NULL: none */
	int columns, me;		/* columns of the grid; this rank's
					 * column */
	struct watch_cleanup cleanup;
	atomic_int late, ended;		/* set by the watchdog; set once the
					 * links are aborted */
	atomic_int waiting;		/* threads in fabric_wait */
	atomic_flag aborting;
};

/* ---- waiting and aborting ---- */

/*
 * Abort the world first: that ends a split, after which the row or column may
 * be aborted.
 */
static void
fabric_abort_links(struct fabric *f)
{
	void **link[] = { &f->world, &f->row, &f->column };

	if (atomic_flag_test_and_set(&f->aborting))
		return;
	for (size_t i = 0; i < sizeof(link) / sizeof(link[0]); i++) {
		if (*link[i] != NULL)
			f->call->abort(*link[i]);
		*link[i] = NULL;
	}
	f->ended = 1;
}

/*
 * Called by the watchdog's thread before it ends all ranks.  The thread that
 * waits in fabric_wait aborts the links, which would keep the device busy.
 * Give it 1 s.  If no thread waits, abort them here.
 */
static void
fabric_too_late(void *arg)
{
	struct fabric *f = arg;

	f->late = 1;
	if (f->waiting == 0)
		fabric_abort_links(f);
	for (int i = 0; i < 100 && !f->ended; i++)
		clock_sleep(0.01);
}

/*
 * Return 1 if all links are ready, 0 if not, -1 if one has failed.  The row and
 * the column do not exist before the world has split.
 */
static int
fabric_ready(const struct fabric *f)
{
	void *const link[] = { f->world, f->row, f->column };
	int all = 1;

	for (size_t i = 0; i < sizeof(link) / sizeof(link[0]) && all > 0; i++)
		if (link[i] != NULL)
			all = f->call->ready(link[i]);
	return all;
}

int
fabric_wait(struct fabric *f, void *stream)
{
	int wait = watch_enter(f->comm->watch, f->comm->what, 1), done;
	double spin_end = clock_seconds() + SPIN;

	f->waiting++;
	for (;;) {
		done = f->late ? -1 : fabric_ready(f);
		if (done > 0 && stream != NULL)
			done = f->call->idle(stream);
		if (done != 0)
			break;
		if (clock_seconds() > spin_end)
			clock_sleep(PAUSE);
	}
	if (done < 0)
		fabric_abort_links(f);
	f->waiting--;
	watch_leave(f->comm->watch, wait);
	return done < 0 ? -1 : 0;
}

/* ---- opening ---- */

/* Make the links of rows and columns if the grid has several of both. */
static int
fabric_open_grid(struct fabric *f, int columns, const int *host)
{
	struct comm *c = f->comm;
	struct grid g;

	f->columns = c->size;
	if (columns <= 1 || columns == c->size)
		return 0;
	grid_open(&g, host, c->size, columns, c->rank);
	f->columns = columns;
	f->me = g.me % columns;
	f->row = f->call->split(f->world, g.me / columns, g.me % columns);
	if (f->row != NULL && fabric_wait(f, NULL) == 0)
		f->column = f->call->split(f->world, g.me % columns, g.me /
		    columns);
	grid_close(&g);
	return f->row == NULL || f->column == NULL ? -1 :
	    fabric_wait(f, NULL);
}

struct fabric *
fabric_open(const struct fabric_calls *calls, struct comm *c, int columns,
    const int *host)
{
	struct fabric *f = xcalloc(1, sizeof(*f));
	void *id = xcalloc(1, calls->id_bytes);
	int64_t bad;

	f->call = calls;
	f->comm = c;
	atomic_flag_clear(&f->aborting);
	/* If rank 0 fails, all ranks must return. */
	bad = c->rank == 0 && calls->id(id) != 0;
	if (comm_max(c, &bad) != 0 || bad ||
	    comm_broadcast(c, id, calls->id_bytes, 0) != 0)
		goto err;
	f->cleanup = (struct watch_cleanup){ fabric_too_late, f, NULL };
	watch_add_cleanup(c->watch, &f->cleanup);
	if ((f->world = calls->open(id, c->rank, c->size)) == NULL ||
	    fabric_wait(f, NULL) != 0 || fabric_open_grid(f, columns,
	    host) != 0)
		goto err;
	free(id);
	return f;
err:
	free(id);
	fabric_abort_links(f);
	watch_remove_cleanup(c->watch, &f->cleanup);
	free(f);
	return NULL;
}

/*
 * Finish all links before any is freed.  A lost rank would keep the other
 * ranks' links from finishing, so the watchdog stays active until all have
 * finished.
 */
static void
fabric_finish_links(struct fabric *f)
{
	void *const link[] = { f->row, f->column, f->world };
	int bad = 0;

	for (size_t i = 0; i < sizeof(link) / sizeof(link[0]); i++)
		bad |= link[i] != NULL && f->call->finish(link[i]) != 0;
	if (bad)
		fabric_abort_links(f);
	else
		fabric_wait(f, NULL);
}

void
fabric_close(struct fabric *f)
{
	if (f == NULL)
		return;
	fabric_finish_links(f);
	watch_remove_cleanup(f->comm->watch, &f->cleanup);
	if (f->row != NULL)
		f->call->close(f->row);
	if (f->column != NULL)
		f->call->close(f->column);
	if (f->world != NULL)
		f->call->close(f->world);
	free(f);
}

/* ---- sums and messages ---- */

/*
 * Wait until the library has accepted the last call.  NCCL accepts the next
 * call on a nonblocking link only then.
 */
static int
fabric_wait_begun(struct fabric *f, int bad)
{
	if (!bad)
		return fabric_wait(f, NULL);
	fabric_abort_links(f);
	return -1;
}

/*
 * Sum by the grid.  The remainder of a division by the columns, fewer elements
 * than columns, is summed by one all-reduce.
 */
static int
fabric_sum_grid(struct fabric *f, char *x, size_t n, int type, void *stream)
{
	size_t elem = type == WIRE_FP32 ? sizeof(float) : 2;
	size_t each = n / (size_t)f->columns, whole = each *
	    (size_t)f->columns;
	const struct fabric_calls *call = f->call;

	if (each > 0 && (fabric_wait_begun(f, call->scatter(f->row, x, f->me,
	    each, type, stream)) != 0 ||
	    fabric_wait_begun(f, call->sum(f->column,
	    x + (size_t)f->me * each * elem, each, type, stream)) != 0 ||
	    fabric_wait_begun(f, call->gather(f->row, x, f->me, each, type,
	    stream)) != 0))
		return -1;
	return whole == n ? 0 : fabric_wait_begun(f,
	    call->sum(f->world, x + whole * elem, n - whole, type, stream));
}

int
fabric_sum(struct fabric *f, void *x, size_t n, int type, void *stream)
{
	if (f->world == NULL)
		return -1;		/* aborted, after a message */
	return f->row != NULL ? fabric_sum_grid(f, x, n, type, stream) :
	    fabric_wait_begun(f, f->call->sum(f->world, x, n, type, stream));
}

int
fabric_exchange(struct fabric *f, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream)
{
	if (f->world == NULL)
		return -1;		/* aborted, after a message */
	if (sends + receives == 0)
		return 0;
	return fabric_wait_begun(f, f->call->exchange(f->world, send, sends,
	    receive, receives, stream));
}
