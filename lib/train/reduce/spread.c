/* Synchronized BN: the sums of statistics over the ranks of a group. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "train/reduce/spread.h"

struct spread_peers {
	struct peers peers;		/* must be the first field */
	struct spread *spread;
	struct spread_peers *next;
	struct comm *comm;		/* NULL: not opened */
	struct device *device;
	double *room;			/* [peers + 1][largest n of a sum]; the
					 * last row is the sum */
	size_t *start;			/* [peers + 1] bytes in it */
};

/*
 * x[i] = sum over ranks of x[i], in the order of ranks.  The data is a few KiB,
 * so latency counts: all-gather in one step, and add everywhere.
 */
static void
spread_sum(const struct peers *peers, struct device *d, double *x, size_t n)
{
	struct spread_peers *p = (struct spread_peers *)peers;
	double *sums = p->room + (size_t)p->peers.n * n;
	double begun = clock_seconds();

	for (int r = 0; r <= p->peers.n; r++)
		p->start[r] = (size_t)r * n * sizeof(*x);
	device_download(d, p->room + (size_t)p->comm->rank * n, x, n *
	    sizeof(*x));
	if (comm_allgatherv(p->comm, p->room, p->start) != 0)
		comm_abort(p->comm, EXIT_RANKS);
	for (size_t i = 0; i < n; i++) {
		sums[i] = p->room[i];
		for (int r = 1; r < p->peers.n; r++)
			sums[i] += p->room[(size_t)r * n + i];
	}
	device_upload(d, x, sums, n * sizeof(*x));
	p->spread->waited += clock_seconds() - begun;
}

const struct peers *
spread_peers(struct spread *s, int parts)
{
	struct spread_peers **at = &s->list;

	if (parts == 1)
		return NULL;
	while (*at != NULL && (*at)->peers.n != parts)
		at = &(*at)->next;
	if (*at == NULL) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->peers = (struct peers){ parts, spread_sum };
		(*at)->spread = s;
	}
	return &(*at)->peers;
}

int
spread_open(struct spread *s, struct comm *c, struct device *d,
    size_t channels)
{
	for (struct spread_peers *p = s->list; p != NULL; p = p->next) {
		size_t n = (size_t)p->peers.n;

		/* Ranks of a group are consecutive. */
		if (comm_split(&p->comm, c, c->rank / p->peers.n, c->rank,
		    "waiting for the ranks of its BN group") != 0)
			return -1;
		p->device = d;
		p->room = device_alloc_host(d, (n + 1) * 2 * channels *
		    sizeof(*p->room));
		if (p->room == NULL)
			return -1;
		p->start = xcalloc(n + 1, sizeof(*p->start));
	}
	return 0;
}

void
spread_close(struct spread *s)
{
	struct spread_peers *p = s->list, *next;

	for (; p != NULL; p = next) {
		next = p->next;
		if (p->comm != NULL)
			comm_free(p->comm);
		if (p->room != NULL)
			device_free_host(p->device, p->room);
		free(p->start);
		free(p);
	}
	s->list = NULL;
}

int
spread_agree(const struct peers *p, int status)
{
	return p == NULL ? status :
	    comm_agree(((const struct spread_peers *)p)->comm, status);
}
