/*
 * comm_open and comm_close in a build with MPI; comm/without/mpi.c has those of
 * a build without.
 */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "comm/cores.h"
#include "comm/mpi/mpi.h"
#include "comm/watch.h"

struct comm *
comm_open(int *argc, char ***argv, double seconds)
{
	struct watch *w = watch_open(seconds);
	struct comm *c;
	int wanted, wait;

	launch_rank(&wanted);
	/* A single rank does not need MPI, which would take time to start. */
	if (wanted == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL) {
		c = comm_self();
	} else {
		wait = watch_enter(w, "starting MPI", 1);
		c = comm_mpi_open(argc, argv);
		watch_leave(w, wait);
	}
	if (c == NULL || (c->size == 1 && wanted != 1)) {
		watch_close(w);
		return c == NULL ? NULL : fail_null("started as one of %d ranks, "
		    "but %s sees one: start it with the mpirun of the same MPI",
		    wanted, comm_library());
	}
	watch_connect(w, c);
	c->watch = w;
	if ((c->spins = cores_enough(c)) < 0)
		comm_abort(c, EXIT_RANKS);
	return c;
}

const char *
comm_library(void)
{
	return comm_mpi_library();
}

void
comm_close(struct comm *c)
{
	if (c == NULL || comm_mpi_close(c))
		return;
	watch_close(c->watch);
	comm_free(c);
}
