/*
 * The MPI transport.  Open MPI waits by spinning, which on a busy machine takes
 * the core from threads that compute.  Its collectives make progress only
 * inside its calls.  So everything is made of MPI_Isend and MPI_Irecv, and
 * waits are tests with short sleeps (comm/comm.c).
 *
 * MPI returns its errors (MPI_ERRORS_RETURN), and every call is checked.  After
 * an error the ranks cannot agree on anything: the rank that met it ends all
 * ranks, in comm_close at the latest.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/mpi/mpi.h"
#include "comm/watch.h"

#define MAX ((size_t)1 << 30)	/* bytes of a message: MPI's counts are int */

/* A request's peer, and the size that it must have. */
struct mpi_flight { int rank, bytes, receive; };

struct mpi_ranks {
	MPI_Comm mpi;
	int world;			/* 1: MPI_COMM_WORLD */
	int failed;			/* 1: an MPI call has failed */
	pthread_mutex_t *lock;		/* serializes MPI calls below
					 * MPI_THREAD_MULTIPLE, else NULL; owned
					 * by the world communicator */
};

/* The MPI requests of an exchange. */
struct mpi_flights {
	MPI_Request *request;		/* receives first, then sends */
	MPI_Status *status;
	struct mpi_flight *flight;
	size_t used, cap;
};

static const struct transport mpi_serialized, mpi_threaded;

/* Return 0, or -1 after a message that call ${what} has failed. */
static int
mpi_check(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING + 1] = "";
	int n;

	if (code == MPI_SUCCESS)
		return 0;
	if (MPI_Error_string(code, text, &n) != MPI_SUCCESS)
		text[0] = '\0';
	return fail("%s: %s", what, text);
}

/*
 * One thread exchanges gradients while the main thread may exchange statistics.
 * Below MPI_THREAD_MULTIPLE, one lock of the process serializes their MPI
 * calls.  Nonblocking exchanges hold it only for calls that do not wait.
 * MPI_Comm_split and MPI_Allreduce wait while holding it; this cannot deadlock
 * because all ranks call them in the same order.
 */
static void
mpi_enter(const struct mpi_ranks *r)
{
	if (r->lock != NULL)
		pthread_mutex_lock(r->lock);
}

static void
mpi_leave(const struct mpi_ranks *r)
{
	if (r->lock != NULL)
		pthread_mutex_unlock(r->lock);
}

/* ---- opening and closing ---- */

/*
 * Make a communicator of ${mpi}.  ${of} is the parent; NULL for the world.
 * Return NULL after a message.
 */
static struct comm *
mpi_make(MPI_Comm mpi, const struct mpi_ranks *of)
{
	struct comm *c = xcalloc(1, sizeof(*c));
	struct mpi_ranks *r = xcalloc(1, sizeof(*r));
	int level = MPI_THREAD_SINGLE;

	r->mpi = mpi;
	r->world = of == NULL;
	c->priv = r;
	if (mpi_check(MPI_Comm_rank(mpi, &c->rank), "MPI_Comm_rank") != 0 ||
	    mpi_check(MPI_Comm_size(mpi, &c->size), "MPI_Comm_size") != 0 ||
	    mpi_check(MPI_Query_thread(&level), "MPI_Query_thread") != 0) {
		free(r);
		free(c);
		return NULL;
	}
	if (of != NULL) {
		r->lock = of->lock;
	} else if (level != MPI_THREAD_MULTIPLE) {
		r->lock = xmalloc(sizeof(*r->lock));
		pthread_mutex_init(r->lock, NULL);
	}
	c->what = COMM_WAITS;
	c->t = r->lock == NULL ? &mpi_threaded : &mpi_serialized;
	return c;
}

/*
 * die() calls it: a rank that exits alone must end the others, however they
 * were started.
 */
static void
mpi_end_world(int status)
{
	MPI_Abort(MPI_COMM_WORLD, status);
}

struct comm *
comm_mpi_open(int *argc, char ***argv)
{
	int provided;
	struct comm *c;

	/* One thread communicates while others compute. */
	if (mpi_check(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE,
	    &provided),
	    "MPI_Init_thread") != 0)
		return NULL;
	die_hook(mpi_end_world);
	/* Duplicates inherit the handler. */
	if (mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD,
	    MPI_ERRORS_RETURN),
	    "MPI_Comm_set_errhandler") != 0 ||
	    (c = mpi_make(MPI_COMM_WORLD, NULL)) == NULL)
		die(EXIT_RANKS, "MPI has started, but does not work");
	if (provided < MPI_THREAD_SERIALIZED)
		die(EXIT_USAGE, "%s was built without threads",
		    comm_mpi_library());
	return c;
}

int
comm_mpi_close(struct comm *c)
{
	struct mpi_ranks *r = c->priv;

	if (c->t != &mpi_serialized && c->t != &mpi_threaded)
		return 0;
	if (r->failed || comm_barrier(c) != 0)
		comm_abort(c, EXIT_RANKS);
	watch_close(c->watch);
	comm_free(c);
	die_hook(NULL);
	mpi_check(MPI_Finalize(), "MPI_Finalize");
	return 1;
}

const char *
comm_mpi_library(void)
{
	static _Thread_local char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	int n;

	if (MPI_Get_library_version(text, &n) != MPI_SUCCESS)
		return "an unnamed MPI";
	text[strcspn(text, ",\n")] = '\0';
	return text;
}

static int
mpi_split(struct comm **part, struct comm *c, int color, int key)
{
	const struct mpi_ranks *r = c->priv;
	MPI_Comm mpi;
	int bad;

	*part = NULL;
	mpi_enter(r);
	bad = mpi_check(MPI_Comm_split(r->mpi, color < 0 ? MPI_UNDEFINED :
	    color, key, &mpi), "MPI_Comm_split") != 0;
	if (!bad && mpi != MPI_COMM_NULL)
		bad = mpi_check(MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN),
		    "MPI_Comm_set_errhandler") != 0 ||
		    (*part = mpi_make(mpi, r)) == NULL;
	mpi_leave(r);
	return bad ? -1 : 0;
}

static void
mpi_release(struct comm *c)
{
	struct mpi_ranks *r = c->priv;

	if (r->world) {
		if (r->lock != NULL)
			pthread_mutex_destroy(r->lock);
		free(r->lock);
	} else {
		mpi_enter(r);
		mpi_check(MPI_Comm_free(&r->mpi), "MPI_Comm_free");
		mpi_leave(r);
	}
	free(r);
	free(c);
}

static void
mpi_end_all(struct comm *c, int status)
{
	(void)c;
	MPI_Abort(MPI_COMM_WORLD, status);
	exit(status);
}

/* ---- messages ---- */

/*
 * Return the number of MPI messages for ${p} [n].  A message of 0 bytes needs
 * one.
 */
static size_t
mpi_messages(const struct message *p, int n)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i].bytes / MAX + 1;
	return sum;
}

/* Start the sends or the receives.  f->used counts the requests. */
static int
mpi_start_side(const struct mpi_ranks *r, struct mpi_flights *f,
    const struct message *p, int n, int receive)
{
	for (int i = 0; i < n; i++) {
		size_t at = 0;

		do {
			size_t left = p[i].bytes - at;
			int now = (int)(left < MAX ? left : MAX), code;
			char *data = (char *)p[i].data + at;
			MPI_Request *q = &f->request[f->used];

			f->flight[f->used++] = (struct mpi_flight){ p[i].rank,
			    now,
				receive };
			code = receive ? MPI_Irecv(data, now, MPI_BYTE,
			    p[i].rank, 0, r->mpi, q) : MPI_Isend(data, now,
			    MPI_BYTE, p[i].rank, 0, r->mpi, q);
			if (mpi_check(code, receive ? "MPI_Irecv" :
			    "MPI_Isend") != 0)
				return -1;
			at += (size_t)now;
		} while (at < p[i].bytes);
	}
	return 0;
}

/* All requests are complete: check that each message had the expected size. */
static int
mpi_check_sizes(const struct mpi_flights *all)
{
	for (size_t i = 0; i < all->used; i++) {
		const struct mpi_flight *f = &all->flight[i];
		int got;

		if (!f->receive)
			continue;
		if (mpi_check(MPI_Get_count(&all->status[i], MPI_BYTE, &got),
		    "MPI_Get_count") != 0)
			return -1;
		if (got != f->bytes)
			return fail("%d bytes came from rank %d (wanted %d): "
			    "it is at another place of the program", got,
			    f->rank, f->bytes);
	}
	return 0;
}

/*
 * Print the error of ${code}.  For MPI_ERR_IN_STATUS, name the first failed
 * message.
 */
static int
mpi_say_failure(const struct mpi_flights *f, int code)
{
	for (size_t i = 0; code == MPI_ERR_IN_STATUS && i < f->used; i++) {
		int one = f->status[i].MPI_ERROR;
		char what[64];

		if (one == MPI_SUCCESS || one == MPI_ERR_PENDING)
			continue;
		snprintf(what, sizeof(what), "message %s rank %d",
		    f->flight[i].receive ? "from" : "to", f->flight[i].rank);
		return mpi_check(one, what);
	}
	return mpi_check(code, "MPI_Testall");
}

static int
mpi_start(struct exchange *x, const struct message *send, int sends,
    const struct message *receive, int receives)
{
	struct mpi_ranks *r = x->comm->priv;
	struct mpi_flights *f = x->priv;
	size_t need = mpi_messages(send, sends) + mpi_messages(receive,
	    receives);

	if (f == NULL)
		f = x->priv = xcalloc(1, sizeof(*f));
	if (need > f->cap) {
		f->cap = need;
		f->request = xrealloc(f->request, need, sizeof(*f->request));
		f->status = xrealloc(f->status, need, sizeof(*f->status));
		f->flight = xrealloc(f->flight, need, sizeof(*f->flight));
	}
	f->used = 0;
	mpi_enter(r);
	/* Receives first, so that a message finds its buffer. */
	if (r->failed || mpi_start_side(r, f, receive, receives, 1) != 0 ||
	    mpi_start_side(r, f, send, sends, 0) != 0)
		r->failed = 1;
	mpi_leave(r);
	return r->failed ? -1 : 0;
}

static int
mpi_test(struct exchange *x)
{
	struct mpi_ranks *r = x->comm->priv;
	struct mpi_flights *f = x->priv;
	int done = 0, code;

	mpi_enter(r);
	code = MPI_Testall((int)f->used, f->request, &done, f->status);
	if (code != MPI_SUCCESS)
		r->failed = mpi_say_failure(f, code) != 0;
	else if (done)
		r->failed = mpi_check_sizes(f) != 0;
	mpi_leave(r);
	return r->failed ? -1 : done;
}

static void
mpi_forget(struct exchange *x)
{
	struct mpi_flights *f = x->priv;

	free(f->request);
	free(f->status);
	free(f->flight);
	free(f);
}

static int
mpi_allreduce(struct comm *c, float *x, size_t n)
{
	struct mpi_ranks *r = c->priv;

	for (size_t at = 0; at < n && !r->failed; at += MAX / sizeof(float)) {
		size_t now = n - at < MAX / sizeof(float) ? n - at :
		    MAX / sizeof(float);

		mpi_enter(r);
		r->failed = mpi_check(MPI_Allreduce(MPI_IN_PLACE, x + at,
		    (int)now, MPI_FLOAT, MPI_SUM, r->mpi), "MPI_Allreduce") !=
		    0;
		mpi_leave(r);
	}
	return r->failed ? -1 : 0;
}

/* ---- queries of the watchdog: an error counts as no reply ---- */

/* Nothing waits for the request: the data stays valid (transport->tell). */
static void
mpi_send_status(struct comm *c, int rank, const void *data, size_t bytes)
{
	MPI_Request q;

	if (MPI_Isend(data, (int)bytes, MPI_BYTE, rank, 0,
	    ((struct mpi_ranks *)c->priv)->mpi, &q) == MPI_SUCCESS)
		MPI_Request_free(&q);
}

static int
mpi_receive_status(struct comm *c, int *rank, void *data, size_t bytes)
{
	MPI_Comm mpi = ((struct mpi_ranks *)c->priv)->mpi;
	MPI_Status s;
	int there = 0;

	if (MPI_Iprobe(MPI_ANY_SOURCE, 0, mpi, &there, &s) != MPI_SUCCESS ||
	    !there)
		return 0;
	*rank = s.MPI_SOURCE;
	return MPI_Recv(data, (int)bytes, MPI_BYTE, *rank, 0, mpi,
	    MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

#define MPI_TRANSPORT .name = "mpi", .split = mpi_split, .free = mpi_release, \
	.start = mpi_start, .test = mpi_test, .release = mpi_forget, \
	.allreduce = mpi_allreduce, .abort = mpi_end_all

static const struct transport mpi_serialized = { MPI_TRANSPORT };
static const struct transport mpi_threaded = {
	MPI_TRANSPORT, .send_status = mpi_send_status, .receive_status =
	    mpi_receive_status
};
