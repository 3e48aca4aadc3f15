/* Synchronized BN: the sums of statistics over the ranks of a group. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "train/reduce/reducer.h"
#include "train/reduce/sync_bn.h"

struct sync_bn_group {
	struct peers peers;		/* must be the first field */
	struct sync_bn *spread;
	struct sync_bn_group *next;
	struct comm *comm;		/* NULL: not opened */
	struct reducer_link link;	/* without fabric the hosts sum */
	double *buffer;			/* [peers + 1][largest n of a sum], in
					 * host memory; the last row is the
					 * sum.  With a fabric [peers][largest
					 * n], in device memory */
	size_t *start;			/* [peers + 1] bytes in it */
	struct collective gather;	/* list of the last sum by the fabric */
};

static void
sync_bn_set_rows(struct sync_bn_group *p, size_t n)
{
	for (int r = 0; r <= p->peers.n; r++)
		p->start[r] = (size_t)r * n * sizeof(*p->buffer);
}

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

	sync_bn_set_rows(p, n);
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

/* ---- sums by the devices ---- */

/*
 * The same sum on the device: queue the all-gather's messages and the additions
 * on its stream.  Sums of gradients run concurrently on another stream, by
 * other links; the blocks of both fit the device together.
 */
static void
sync_bn_sum_queued(const struct peers *peers, struct device *d, double *x,
    size_t n)
{
	struct sync_bn_group *p = (struct sync_bn_group *)peers;
	void *buffer[] = { p->buffer };
	struct collective_memory m = { .buffer = buffer, .elem = sizeof(*x),
		.arg = &p->link, .device = &reducer_on_device };

	sync_bn_set_rows(p, n);
	device_copy(d, p->buffer + (size_t)p->comm->rank * n, x, n *
	    sizeof(*x));
	p->gather.n = 0;
	collective_gather_all(&p->gather, p->comm->rank, p->peers.n, p->start);
	if (collective_run(p->comm, &p->gather, &m) != 0)
		comm_abort(p->comm, EXIT_RANKS);
	device_sum_rows(d, x, p->buffer, p->peers.n, n);
}

/* Return 1 if ${yes} is 1 on all peers. */
static int
sync_bn_all(const struct peers *peers, int yes)
{
	const struct sync_bn_group *p = (const struct sync_bn_group *)peers;
	int64_t no = !yes;

	if (comm_max(p->comm, &no) != 0)
		comm_abort(p->comm, EXIT_RANKS);
	return !no;
}

void
sync_bn_wait(const struct peers *peers)
{
	const struct sync_bn_group *p = (const struct sync_bn_group *)peers;

	if (p != NULL && p->link.fabric != NULL && fabric_wait(p->link.fabric,
	    device_stream(p->link.device)) != 0)
		comm_abort(p->comm, EXIT_RANKS);
}

/* ---- process groups ---- */

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
		(*at)->peers = (struct peers){ .n = parts,
			.sum = sync_bn_sum };
		(*at)->spread = s;
	}
	return &(*at)->peers;
}

int
sync_bn_peers(const struct sync_bn *s)
{
	int n = 0;

	for (const struct sync_bn_group *p = s->list; p != NULL; p = p->next)
		n += collective_peers(p->peers.n, 2);
	return n;
}

/* Allocate the buffer for sums of up to ${n} numbers, and choose the sum. */
static int
sync_bn_open_sum(struct sync_bn_group *p, const struct fabric_calls *fabric,
    size_t n)
{
	size_t row = n * sizeof(*p->buffer), rows = (size_t)p->peers.n;

	p->start = xcalloc(rows + 1, sizeof(*p->start));
	if (fabric == NULL) {
		p->buffer = device_alloc_host(p->link.device, (rows + 1) * row);
		return p->buffer != NULL ? 0 : -1;
	}
	p->peers.sum = sync_bn_sum_queued;
	p->peers.agree = sync_bn_all;
	p->link.fabric = fabric_open(fabric, p->comm, p->comm->size, NULL);
	if (p->link.fabric != NULL)
		p->buffer = device_alloc(p->link.device, rows * row);
	return p->buffer != NULL ? 0 : -1;
}

int
sync_bn_open(struct sync_bn *s, struct comm *c, struct device *d,
    const struct fabric_calls *fabric, size_t channels)
{
	for (struct sync_bn_group *p = s->list; p != NULL; p = p->next) {
		/* Ranks of a group are consecutive. */
		if (comm_split(&p->comm, c, c->rank / p->peers.n, c->rank,
		    "waiting for the ranks of its BN group") != 0)
			return -1;
		p->link.device = d;
		if (sync_bn_open_sum(p, fabric, 2 * channels) != 0)
			return -1;
	}
	return 0;
}

static void
sync_bn_group_free(struct sync_bn_group *p)
{
	fabric_close(p->link.fabric);
	if (p->peers.agree != NULL)
		device_free(p->link.device, p->buffer);
	else
		device_free_host(p->link.device, p->buffer);
	comm_free(p->comm);
	collective_free(&p->gather);
	free(p->start);
	free(p);
}

void
sync_bn_close(struct sync_bn *s)
{
	struct sync_bn_group *p = s->list, *next;

	for (; p != NULL; p = next) {
		next = p->next;
		sync_bn_group_free(p);
	}
	s->list = NULL;
}

int
sync_bn_agree(const struct peers *p, int status)
{
	return p == NULL ? status :
	    comm_agree(((const struct sync_bn_group *)p)->comm, status);
}
