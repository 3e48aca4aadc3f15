/*
 * Choose the device of each rank of a host.  mpirun shows every rank all
 * devices, and the rank's number on its host selects one.  srun
 * --gpus-per-task=1, and launchers that set CUDA_VISIBLE_DEVICES, show each
 * rank only its own device, as number 0.
 *
 * Two ranks on one device would each run at half speed, and NCCL would fail
 * late.  Compare the devices' UUIDs to detect this at the start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "backend/ordinal.h"

/*
 * Return the device of rank ${rank}: its number among the ranks of its host
 * that see the same devices.  Return -1 if there are more such ranks than
 * devices.
 */
static int
ordinal_rule(const struct ordinal_view *view, int rank)
{
	const struct ordinal_view *v = &view[rank];
	int before = 0;

	for (int r = 0; r < rank; r++)
		before += strcmp(view[r].host, v->host) == 0 &&
		    view[r].devices == v->devices && memcmp(view[r].uuid,
		    v->uuid, sizeof(v->uuid)) == 0;
	if (v->devices <= 1)
		return 0;
	return before < v->devices ? before : -1;
}

int
ordinal_pick(const struct ordinal_view *view, int ranks, int rank)
{
	const struct ordinal_view *v = &view[rank];
	int mine = ordinal_rule(view, rank);

	if (mine < 0)
		return fail("rank %d: %d devices of host %s are visible, and "
		    "each has a rank already: start one rank for each device",
		    rank, v->devices, v->host);
	for (int r = 0; r < ranks && v->devices > 0; r++) {
		int other = ordinal_rule(view, r);

		if (r != rank && other >= 0 && view[r].devices > 0 &&
		    strcmp(view[r].host, v->host) == 0 &&
		    memcmp(view[r].uuid[other], v->uuid[mine],
		    DEVICE_UUID) == 0)
			return fail("ranks %d and %d: both have the same "
			    "device of host %s: start one rank for each "
			    "device, or show each rank its own "
			    "(CUDA_VISIBLE_DEVICES)", r < rank ? r : rank,
			    r < rank ? rank : r, v->host);
	}
	return mine;
}

int
ordinal_of(struct comm *c, const struct backend *b)
{
	struct ordinal_view *mine, *all;
	int ordinal;

	if (b->ordinal == NULL)
		return 0;
	mine = xcalloc(1, sizeof(*mine));
	all = xcalloc((size_t)c->size, sizeof(*all));
	gethostname(mine->host, sizeof(mine->host) - 1);
	mine->devices = b->ordinal->uuids(mine->uuid, ORDINAL_DEVICES);
	ordinal = comm_allgather(c, mine, sizeof(*mine), all) != 0 ? -2 :
	    ordinal_pick(all, c->size, c->rank);
	free(mine);
	free(all);
	return ordinal;
}
