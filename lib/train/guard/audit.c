/*
 * Audits: a microbatch of some steps is computed twice, and the gradients
 * compared.  And the comparison of the weights of all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/microbatches.h"
#include "train/guard/audit.h"
#include "train/loop/work.h"

#define HASH_PIECE 65536		/* bytes */

/* A rank's result: its host, and the hash of each parameter's gradient. */
struct audit_found { char host[64]; uint64_t hash[]; };

struct audit {
	struct audit_duplicate now;	/* of the current step */
	struct audit_found *mine, *first, *second;
	size_t bytes;			/* of each of the three results */
	struct hasher *hasher;
	char *piece;			/* [HASH_PIECE] scratch */
};

/* Return the hash of the values of parameter ${p} in the flat buffer ${flat} in
 * memory of ${d}. */
static uint64_t
audit_param_hash(struct audit *a, struct device *d, const struct param *p,
    const void *flat)
{
	size_t left = p->count * d->elem, n;
	const char *from = (const char *)flat + p->offset * d->elem;

	hasher_reset(a->hasher);
	for (; left > 0; left -= n, from += n) {
		n = left < HASH_PIECE ? left : HASH_PIECE;
		device_download(d, a->piece, from, n);
		hasher_add(a->hasher, a->piece, n);
	}
	return hasher_64(a->hasher);
}

struct audit *
audit_open(const struct trainer *t)
{
	const struct graph *g = t->net->graph;
	struct audit *a = xcalloc(1, sizeof(*a));

	a->bytes = sizeof(*a->mine) + (size_t)g->nparam *
	    sizeof(a->mine->hash[0]);
	a->mine = xcalloc(1, a->bytes);
	a->first = xcalloc(1, a->bytes);
	a->second = xcalloc(1, a->bytes);
	gethostname(a->mine->host, sizeof(a->mine->host) - 1);
	a->hasher = hasher_new();
	a->piece = xmalloc(HASH_PIECE);
	return a;
}

void
audit_close(struct audit *a)
{
	if (a == NULL)
		return;
	hasher_free(a->hasher);
	free(a->piece);
	free(a->mine);
	free(a->first);
	free(a->second);
	free(a);
}

/* Frozen parameters have no gradient. */
void
audit_look(struct audit *a, struct trainer *t, void *g)
{
	const struct graph *graph = t->net->graph;

	for (int p = 0; p < graph->nparam; p++)
		a->mine->hash[p] = graph->param[p].frozen ? 0 :
		    audit_param_hash(a, t->net->device, &graph->param[p], g);
}

int
audit_begin(struct audit *a, struct trainer *t, void *g)
{
	struct feeder *f = &t->work->feeder;
	int status;

	a->now = audit_duplicate_at(t->loading.seed, &t->work->at,
	    t->loading.audit, t->comm->size);
	if (!a->now.due || a->now.repeat_rank != t->comm->rank)
		return 0;
	feeder_begin(f, NULL, optim_loss_scale(&t->optim));
	if ((status = feeder_next(f)) != 0)
		return status;
	feeder_forward(f, g);
	feeder_backward(f, NULL);
	feeder_done(f);
	audit_look(a, t, g);
	/*
	 * A single rank computes both; the first gradient follows in
	 * work_microbatches.
	 */
	if (t->comm->size == 1)
		memcpy(a->second, a->mine, a->bytes);
	return 0;
}

int
audit_due(const struct audit *a)
{
	return a->now.due;
}

int
audit_looks(const struct audit *a, const struct trainer *t, int index)
{
	return a->now.due && a->now.rank == t->comm->rank &&
	    a->now.index == index;
}

/* ---- comparison and report ---- */

/*
 * Return the number of parameters whose hashes ${a} and ${b} differ, and the
 * first in ${*first}.
 */
static int
audit_differing(const struct graph *g, const uint64_t *a, const uint64_t *b,
    int *first)
{
	int n = 0;

	for (int p = g->nparam; p-- > 0;)
		if (a[p] != b[p]) {
			n++;
			*first = p;
		}
	return n;
}

static void
audit_say(const struct audit *a, const struct trainer *t, int differ,
    const char *param)
{
	const struct audit_duplicate *w = &a->now;
	char more[48] = "", who[200], *what;

	if (differ > 1)
		snprintf(more, sizeof(more), " and %d more parameter%s",
		    differ - 1, differ > 2 ? "s" : "");
	if (w->rank == w->repeat_rank)
		snprintf(who, sizeof(who), "rank %d on %s computed "
		    "microbatch %d twice", w->rank, a->first->host, w->index);
	else
		snprintf(who, sizeof(who), "rank %d on %s and rank %d on %s "
		    "both computed microbatch %d", w->rank, a->first->host,
		    w->repeat_rank, a->second->host, w->index);
	what = xprintf("step %llu: %s, and the gradients of %s%s differ: a "
	    "processor computes wrongly", (unsigned long long)t->state.step +
	    1, who, param, more);
	if (t->o.audit_report)
		warning("%s", what);
	else
		fail("%s (vt-train --replay tells which checkpoints are sound)",
		    what);
	free(what);
}

static void
audit_log(const struct audit *a, struct trainer *t, int differ,
    const char *param)
{
	const struct json_member m[] = {
		JSON_MEMBER("again", a->now.repeat_rank),
		JSON_MEMBER_TEXT("again_host", a->second->host),
		JSON_MEMBER("differ", differ),
		JSON_MEMBER_TEXT("host", a->first->host),
		JSON_MEMBER("microbatch", a->now.index),
		JSON_MEMBER_TEXT("parameter", differ > 0 ? param : NULL),
		JSON_MEMBER("rank", a->now.rank) };

	runlog_event(&t->run->log, "audit", t->state.step + 1, m,
	    sizeof(m) / sizeof(m[0]));
}

/* Give both results to all ranks. */
static int
audit_share(struct audit *a, struct trainer *t)
{
	const struct audit_duplicate *w = &a->now;

	if (t->comm->rank == w->rank)
		memcpy(a->first, a->mine, a->bytes);
	else if (t->comm->rank == w->repeat_rank)
		memcpy(a->second, a->mine, a->bytes);
	if (comm_broadcast(t->comm, a->first, a->bytes, w->rank) != 0)
		return -1;
	return w->rank == w->repeat_rank ? 0 :
	    comm_broadcast(t->comm, a->second, a->bytes, w->repeat_rank);
}

int
audit_end(struct audit *a, struct trainer *t)
{
	const struct graph *g = t->net->graph;
	int differ, first = 0;

	if (!a->now.due)
		return 0;
	if (audit_share(a, t) != 0)
		return -1;
	differ = audit_differing(g, a->first->hash, a->second->hash, &first);
	if (t->comm->rank == 0 && differ > 0)
		audit_say(a, t, differ, g->param[first].name);
	if (t->run != NULL)
		audit_log(a, t, differ, g->param[first].name);
	return differ > 0 && !t->o.audit_report ? EXIT_RANKS : 0;
}

/* The hash of all weights of a rank. */
struct replica { uint64_t all; char host[64]; };

static uint64_t *
replica_hash_weights(const struct trainer *t)
{
	const struct graph *g = t->net->graph;
	uint64_t *hash = xcalloc((size_t)g->nparam + 1, sizeof(*hash));

	for (int p = 0; p < g->nparam; p++)
		hash[p] = audit_param_hash(t->work->audit, t->net->device,
		    &g->param[p], t->net->w);
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
		int differ, first = 0;
		char more[48] = "";

		if (r[k].all == right)
			continue;
		differ = audit_differing(g, hash + (size_t)k * params,
		    hash + (size_t)good * params, &first);
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
