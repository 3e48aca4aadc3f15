/* comm_open and comm_close in a build without MPI, which has one rank. */
#include "base/cpus.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "comm/watch.h"

struct comm *
comm_open(int *argc, char ***argv, double seconds)
{
	struct comm *c;
	int wanted;

	launch_rank(&wanted);
	(void)argc, (void)argv;
	if (wanted > 1)
		return fail_null("started as one of %d ranks, but this build "
		    "has no MPI; make MPI=yes", wanted);
	c = comm_self();
	comm_watch(c, seconds);
	return c;
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
