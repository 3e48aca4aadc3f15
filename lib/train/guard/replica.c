/* The comparison of the weights of all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "train/guard/replica.h"

/* The hash of all weights of a rank. */
struct replica { uint64_t all; char host[64]; };

uint64_t
replica_param_hash(struct hasher *h, struct device *d, const struct param *p,
    const void *flat, void *piece)
{
	size_t left = p->count * d->elem, n;
	const char *from = (const char *)flat + p->offset * d->elem;

	hasher_reset(h);
	for (; left > 0; left -= n, from += n) {
		n = left < HASH_PIECE ? left : HASH_PIECE;
		device_download(d, piece, from, n);
		hasher_add(h, piece, n);
	}
	return hasher_64(h);
}

static uint64_t *
replica_hash_weights(const struct trainer *t)
{
	const struct graph *g = t->net->graph;
	uint64_t *hash = xcalloc((size_t)g->nparam + 1, sizeof(*hash));
	struct hasher *h = hasher_new();
	void *piece = xmalloc(HASH_PIECE);

	for (int p = 0; p < g->nparam; p++)
		hash[p] = replica_param_hash(h, t->net->device, &g->param[p],
		    t->net->w, piece);
	hasher_free(h);
	free(piece);
	return hash;
}

/*
 * Return the hash that most ranks have; at a tie, the one of the lowest rank.
 */
static uint64_t
replica_majority(const struct replica *r, int ranks)
{
	int largest = 0, which = 0;

	for (int i = 0; i < ranks; i++) {
		int n = 0;

		for (int k = 0; k < ranks; k++)
			n += r[k].all == r[i].all;
		if (n > largest) {
			largest = n;
			which = i;
		}
	}
	return r[which].all;
}

/*
 * Report every rank that differs from the majority.  ${hash} [ranks][nparam].
 */
static void
replica_say(const struct trainer *t, const struct replica *r,
    const uint64_t *hash)
{
	const struct graph *g = t->net->graph;
	size_t params = (size_t)g->nparam;
	uint64_t right = replica_majority(r, t->comm->size);
	int good = 0;

	while (r[good].all != right)
		good++;
	for (int k = 0; k < t->comm->size; k++) {
		int differ = 0, first = 0;
		char more[48] = "";

		if (r[k].all == right)
			continue;
		for (int p = g->nparam; p-- > 0;)
			if (hash[(size_t)k * params + (size_t)p] !=
			    hash[(size_t)good * params + (size_t)p]) {
				first = p;
				differ++;
			}
		if (differ > 1)
			snprintf(more, sizeof(more), " and %d more",
			    differ - 1);
		fail("after step %llu, rank %d on %s has another %s%s than "
		    "rank %d on %s: its memory or its processor is at fault, "
		    "or a wire", (unsigned long long)t->state.step, k,
		    r[k].host, g->param[first].name, more, good, r[good].host);
	}
}

int
replica_check(struct trainer *t)
{
	size_t params = (size_t)t->net->graph->nparam, ranks;
	struct replica mine, *all;
	uint64_t *hash, *hashes = NULL;
	int same = 1, result = -1;

	if (t->comm->size == 1)
		return 0;
	ranks = (size_t)t->comm->size;
	all = xcalloc(ranks, sizeof(*all));
	hash = replica_hash_weights(t);
	memset(&mine, 0, sizeof(mine));		/* the padding is sent, too */
	mine.all = hash64(hash, params * sizeof(*hash));
	gethostname(mine.host, sizeof(mine.host) - 1);
	if (comm_allgather(t->comm, &mine, sizeof(mine), all) != 0)
		goto out;
	for (size_t r = 1; r < ranks; r++)
		same &= all[r].all == all[0].all;
	result = same ? 0 : EXIT_RANKS;
	if (same)
		goto out;
	hashes = xcalloc(ranks * params + 1, sizeof(*hashes));
	if (comm_allgather(t->comm, hash, params * sizeof(*hash), hashes) != 0)
		result = -1;
	else if (t->comm->rank == 0)
		replica_say(t, all, hashes);
out:
	free(all);
	free(hash);
	free(hashes);
	return result;
}
