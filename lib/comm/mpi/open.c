/* The ranks of a run, by MPI; comm/without has the same for builds without. */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "comm/cores.h"
#include "comm/mpi/mpi.h"
#include "comm/watch.h"

struct comm *
comm_open(int *argc, char ***argv)
{
	int wanted;
	struct comm *c;

	/* Alone, MPI would only cost time to start. */
	launch_rank(&wanted);
	if (wanted == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL)
		return comm_self();
	c = comm_mpi_open(argc, argv);
	if (c != NULL && c->size != wanted && c->size == 1)
		return fail_null("started as one of %d ranks, but %s sees one: "
		    "start it with the mpirun of the same MPI", wanted,
		    comm_library());
	if (c != NULL && (c->spins = cores_enough(c)) < 0)
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
