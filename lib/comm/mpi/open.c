/*
 * comm_open and comm_close in a build with MPI; comm/without/mpi.c has those of
 * a build without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "comm/cores.h"
#include "comm/mpi/mpi.h"
#include "comm/watch.h"

#define SINGLE_COPY "OMPI_MCA_btl_vader_single_copy_mechanism"

/*
 * Return 1 if this process may not read the memory of the host's other ranks: a
 * seccomp filter refuses the call, or the rank has a container of its own, a
 * user or PID namespace other than that of mpirun.
 */
static int
open_may_not_read(void)
{
	char from = 0, to, path[64], mine[64] = "", other[64] = "";
	struct iovec local = { &to, 1 }, remote = { &from, 1 };
	struct stat st;

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1 ||
	    getppid() == 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d", (int)getppid());
	/* Other users' processes, such as slurmstepd, do not show theirs. */
	if (stat(path, &st) != 0 || st.st_uid != geteuid())
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)getppid());
	return readlink("/proc/self/ns/user", mine, sizeof(mine) - 1) > 0 &&
	    (readlink(path, other, sizeof(other) - 1) < 0 ||
	    strcmp(mine, other) != 0);
}

/* Open MPI 4 prints a line for each message that it cannot read. */
static void
open_copy_twice(int rank)
{
	if (getenv(SINGLE_COPY) != NULL || !open_may_not_read())
		return;
	setenv(SINGLE_COPY, "none", 1);
	if (rank == 0)
		note("ranks may not read each other's memory here, so messages "
		    "within a host are copied twice (" SINGLE_COPY "=none)");
}

struct comm *
comm_open(int *argc, char ***argv, double seconds)
{
	struct watch *w = watch_open(seconds);
	struct comm *c;
	int wanted, wait, rank = launch_rank(&wanted);

	/* A single rank does not need MPI, which would take time to start. */
	if (wanted == 1 && getenv("OMPI_COMM_WORLD_SIZE") == NULL) {
		c = comm_self();
	} else {
		open_copy_twice(rank);
		wait = watch_enter(w, "starting MPI", 1);
		c = comm_mpi_open(argc, argv);
		watch_leave(w, wait);
	}
	if (c == NULL || (c->size == 1 && wanted != 1)) {
		watch_close(w);
		return c == NULL ? NULL : fail_null("started as one of %d "
		    "ranks, but %s sees one: start it with the mpirun of the "
		    "same MPI", wanted, comm_library());
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
