/* Which transport a run uses: the one place where it is chosen by #if. */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "comm/cores.h"
#include "comm/mpi/mpi.h"
#include "comm/watch.h"

#ifdef VT_HAVE_MPI

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

#else

struct comm *
comm_open(int *argc, char ***argv)
{
	int wanted;

	launch_rank(&wanted);
	(void)argc, (void)argv;
	if (wanted > 1)
		return fail_null("started as one of %d ranks, but this build has "
		    "no MPI; make MPI=yes", wanted);
	return comm_self();
}

const char *
comm_library(void)
{
	return "one process (no MPI in this build)";
}

void
comm_close(struct comm *c)
{
	if (c != NULL)
		watch_close(c->watch);
	comm_free(c);
}

#endif
