/* Synchronized BN: the sums of statistics over the ranks of a group. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "train/reduce/sync_bn.h"

struct sync_bn_group {
	struct peers peers;		/* must be the first field */
	struct sync_bn *spread;
	struct sync_bn_group *next;
	struct comm *comm;		/* NULL: not opened */
	struct device *device;
	double *buffer;			/* [peers + 1][largest n of a sum]; the
					 * last row is the sum */
	size_t *start;			/* [peers + 1] bytes in it */
};

/*
 * x[i] = sum over ranks of x[i], in the order of ranks.  The data is a few KiB,
 * so latency counts: all-gather in one step, and add everywhere.
 */
static void
sync_bn_sum(const struct peers *peers, struct device *d, double *x, size_t n)
{
	struct sync_bn_group *p = (struct sync_bn_group *)peers;
	double *sums = p->buffer + (size_t)p->peers.n * n;
	double begun = clock_seconds();

	for (int r = 0; r <= p->peers.n; r++)
		p->start[r] = (size_t)r * n * sizeof(*x);
	device_download(d, p->buffer + (size_t)p->comm->rank * n, x, n *
	    sizeof(*x));
	if (comm_allgatherv(p->comm, p->buffer, p->start) != 0)
		comm_abort(p->comm, EXIT_RANKS);
	for (size_t i = 0; i < n; i++) {
		sums[i] = p->buffer[i];
		for (int r = 1; r < p->peers.n; r++)
			sums[i] += p->buffer[(size_t)r * n + i];
	}
	device_upload(d, x, sums, n * sizeof(*x));
	p->spread->waited += clock_seconds() - begun;
}

const struct peers *
sync_bn_group(struct sync_bn *s, int parts)
{
	struct sync_bn_group **at = &s->list;

	if (parts == 1)
		return NULL;
	while (*at != NULL && (*at)->peers.n != parts)
		at = &(*at)->next;
	if (*at == NULL) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->peers = (struct peers){ parts, sync_bn_sum };
		(*at)->spread = s;
	}
	return &(*at)->peers;
}

int
sync_bn_open(struct sync_bn *s, struct comm *c, struct device *d,
    size_t channels)
{
	for (struct sync_bn_group *p = s->list; p != NULL; p = p->next) {
		size_t n = (size_t)p->peers.n;

		/* Ranks of a group are consecutive. */
		if (comm_split(&p->comm, c, c->rank / p->peers.n, c->rank,
		    "waiting for the ranks of its BN group") != 0)
			return -1;
		p->device = d;
		p->buffer = device_alloc_host(d, (n + 1) * 2 * channels *
		    sizeof(*p->buffer));
		if (p->buffer == NULL)
			return -1;
		p->start = xcalloc(n + 1, sizeof(*p->start));
	}
	return 0;
}

void
sync_bn_close(struct sync_bn *s)
{
	struct sync_bn_group *p = s->list, *next;

	for (; p != NULL; p = next) {
		next = p->next;
		if (p->comm != NULL)
			comm_free(p->comm);
		if (p->buffer != NULL)
			device_free_host(p->device, p->buffer);
		free(p->start);
		free(p);
	}
	s->list = NULL;
}

int
sync_bn_agree(const struct peers *p, int status)
{
	return p == NULL ? status :
	    comm_agree(((const struct sync_bn_group *)p)->comm, status);
}
