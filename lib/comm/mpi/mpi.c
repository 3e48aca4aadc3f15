/*
 * Ranks through MPI.  Open MPI waits by spinning, which on a busy machine takes
 * the core from whoever computes, and its collectives advance only inside its
 * calls.  So everything is made of MPI_Isend and MPI_Irecv, and waiting is
 * testing with short sleeps.
 */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "comm/mpi/mpi.h"

#define MOST ((size_t)1 << 30)	/* bytes in one message: counts are int */
#define SPINS 200		/* tests before the first sleep */
#define SHORTEST 20e-6		/* seconds of sleep, doubled up to */
#define LONGEST 500e-6

struct ranks {
	MPI_Comm mpi;
	int world;			/* not a duplicate */
	MPI_Request *request;
	size_t cap;
};

static const struct transport transport;

static struct comm *
make(MPI_Comm mpi, int world)
{
	struct comm *c = xcalloc(1, sizeof(*c));
	struct ranks *r = xcalloc(1, sizeof(*r));

	r->mpi = mpi;
	r->world = world;
	c->t = &transport;
	c->priv = r;
	MPI_Comm_rank(mpi, &c->rank);
	MPI_Comm_size(mpi, &c->size);
	return c;
}

struct comm *
comm_mpi_open(int *argc, char ***argv)
{
	int provided;

	/* A thread of its own communicates while others compute. */
	if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) !=
	    MPI_SUCCESS)
		return fail_null("MPI does not start");
	if (provided < MPI_THREAD_SERIALIZED)
		return fail_null("%s was built without threads",
		    comm_mpi_library());
	return make(MPI_COMM_WORLD, 1);
}

int
comm_mpi_close(struct comm *c)
{
	if (c->t != &transport)
		return 0;
	comm_barrier(c);
	c->t->free(c);
	MPI_Finalize();
	return 1;
}

const char *
comm_mpi_library(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	int n;

	MPI_Get_library_version(text, &n);
	text[strcspn(text, ",\n")] = '\0';
	return text;
}

static struct comm *
dup(struct comm *c)
{
	MPI_Comm mpi;

	MPI_Comm_dup(((struct ranks *)c->priv)->mpi, &mpi);
	return make(mpi, 0);
}

static void
release(struct comm *c)
{
	struct ranks *r = c->priv;

	if (!r->world)
		MPI_Comm_free(&r->mpi);
	free(r->request);
	free(r);
	free(c);
}

static size_t
messages(const struct piece *p, int n)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i].bytes / MOST + 1;
	return sum;
}

/* Start one side; the number of requests in use after it. */
static size_t
start(struct ranks *r, const struct piece *p, int n, int sending, size_t used)
{
	for (int i = 0; i < n; i++) {
		size_t at = 0;

		do {
			size_t now = p[i].bytes - at < MOST ? p[i].bytes - at :
			    MOST;
			void *data = (char *)p[i].data + at;

			if (sending)
				MPI_Isend(data, (int)now, MPI_BYTE, p[i].rank, 0,
				    r->mpi, &r->request[used++]);
			else
				MPI_Irecv(data, (int)now, MPI_BYTE, p[i].rank, 0,
				    r->mpi, &r->request[used++]);
			at += now;
		} while (at < p[i].bytes);
	}
	return used;
}

static int
exchange(struct comm *c, const struct piece *send, int sends,
    const struct piece *receive, int receives)
{
	struct ranks *r = c->priv;
	size_t need = messages(send, sends) + messages(receive, receives);
	size_t used;
	double sleep = SHORTEST;
	int done = 0;

	if (need > r->cap) {
		r->cap = need;
		r->request = xrealloc(r->request, need, sizeof(*r->request));
	}
	used = start(r, receive, receives, 0, 0);
	used = start(r, send, sends, 1, used);
	/*
	 * Errors are fatal by MPI's default handler, with a message of its
	 * own.
	 */
	for (int spin = 0;; spin++) {
		MPI_Testall((int)used, r->request, &done, MPI_STATUSES_IGNORE);
		if (done)
			return 0;
		if (spin < SPINS)
			continue;
		clock_sleep(sleep);
		sleep = sleep * 2 < LONGEST ? sleep * 2 : LONGEST;
	}
}

static int
allreduce(struct comm *c, float *x, size_t n)
{
	struct ranks *r = c->priv;

	for (size_t at = 0; at < n; at += MOST / sizeof(float)) {
		size_t now = n - at < MOST / sizeof(float) ? n - at :
		    MOST / sizeof(float);

		MPI_Allreduce(MPI_IN_PLACE, x + at, (int)now, MPI_FLOAT, MPI_SUM,
		    r->mpi);
	}
	return 0;
}

static void
end_all(struct comm *c, int status)
{
	MPI_Abort(((struct ranks *)c->priv)->mpi, status);
	exit(status);
}

static const struct transport transport = {
	"mpi", dup, release, exchange, allreduce, end_all
};
