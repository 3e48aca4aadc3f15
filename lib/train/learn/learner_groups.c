/*
 * Averages inside groups of learners (Zhou and Cong 2019, Hier-AVG), of weights
 * and optimizer state, between the averages of all.
 *
 * The ranks that have learners of a group form a communicator.  So a group
 * whose learners are on one host sends nothing over the network.  A rank may
 * have learners of several groups; all ranks process the groups in order.
 */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "train/learn/learners_run.h"

struct learner_group {
	struct comm *comm;		/* NULL: this rank has no learner of
					 * it */
	struct exact exact;
	int first, held;		/* indices among this rank's learners */
	int at, count;			/* index of the first in the group; size
					 * of the group */
};

/*
 * Return how many of the learners ${from} to ${to} - 1 ${rank} has; set
 * ${*first} to the first of them.
 */
static int
learner_share(const struct learners *l, const struct comm *c, int rank,
    int from, int to, int *first)
{
	int n = split(l->n, rank, c->size, first), end = *first + n;

	*first = *first > from ? *first : from;
	end = end < to ? end : to;
	return end > *first ? end - *first : 0;
}

static int
learner_open_group(struct learners *l, const struct trainer *t,
    struct learner_group *g, int from, int to)
{
	struct comm *c = t->comm;
	int first, ranks = 0, *begin = xcalloc((size_t)c->size + 1,
	    sizeof(*begin)), bad;

	g->held = learner_share(l, c, c->rank, from, to, &first);
	g->first = first - l->first;
	g->at = first - from;
	g->count = to - from;
	bad = comm_split(&g->comm, c, g->held > 0 ? 0 : -1, c->rank,
	    "waiting for the learners of a group");
	for (int r = 0; r < c->size; r++) {
		int n = learner_share(l, c, r, from, to, &first);

		if (n > 0) {
			begin[ranks + 1] = begin[ranks] + n;
			ranks++;
		}
	}
	if (!bad && g->comm != NULL) {
		exact_open(&g->exact, g->comm, t->net->device->elem,
		    host_staging_add, t->net->device, t->share.bucket);
		exact_distribute(&g->exact, begin);
	}
	free(begin);
	return bad;
}

int
learner_groups_open(struct learners *l, const struct trainer *t)
{
	int n = (int)t->o.learners.groups, bad = 0;

	l->group = xcalloc((size_t)n + 1, sizeof(*l->group));
	for (int i = 0; i < n && !bad; i++) {
		l->groups = i + 1;
		bad = learner_open_group(l, t, &l->group[i], l->n / n * i,
		    l->n / n * (i + 1));
	}
	return bad;
}

void
learner_groups_close(struct learners *l)
{
	for (int i = 0; i < l->groups; i++)
		if (l->group[i].comm != NULL) {
			exact_close(&l->group[i].exact);
			comm_free(l->group[i].comm);
		}
	free(l->group);
}

/* Replace this rank's vectors of the group by the mean over the group. */
static int
learner_average_vector(struct learners *l, const struct trainer *t,
    struct learner_group *g)
{
	struct tree tree = { .leaves = g->count };
	struct tree_sum sums[TREE_MAX];
	size_t elements = t->share.elements, each = t->share.bucket;
	void **v = l->vector + g->first;

	for (int k = 0; k < g->held; k++) {
		int n = tree_push(&tree, (struct subtree){ 0, g->at + k,
		    v[k] }, sums);

		for (int i = 0; i < n; i++)
			device_add(t->net->device, sums[i].left, sums[i].right,
			    elements);
	}
	for (size_t from = 0; from < elements && g->comm->size > 1;
	    from += each)
		if (host_staging_allreduce(&l->staging, &g->exact, &tree, from,
		    from + each < elements ? from + each : elements) != 0)
			return -1;
	learners_divide(l, t, v[0], 0, elements, g->count);
	for (int k = 1; k < g->held; k++)
		learners_copy(l, t->net, v[k], v[0], elements);
	return 0;
}

static int
learner_average_group(struct learners *l, const struct trainer *t,
    struct learner_group *g)
{
	int own = learners_own_slots(t);
	int reset = t->o.learners.state == STATE_RESET;

	for (int k = 0; k < l->held; k++)
		l->vector[k] = l->learner[k].w;
	if (learner_average_vector(l, t, g) != 0)
		return -1;
	for (int k = 0; k < g->held; k++)
		learners_keep_frozen(l, t, l->vector[g->first + k]);
	for (int k = 0; k < g->held && reset; k++)
		slots_reset(&l->learner[g->first + k].optim.slots, own);
	for (int i = reset ? own : 0; i < l->slots; i++) {
		if (t->optim.slots.slot[i].kind->extent != SLOT_ELEMENT)
			continue;	/* the same in all, or not averaged */
		for (int k = 0; k < l->held; k++)
			l->vector[k] = l->learner[k].optim.slots.slot[i].data;
		if (learner_average_vector(l, t, g) != 0)
			return -1;
	}
	return 0;
}

int
learner_groups_average(struct learners *l, const struct trainer *t)
{
	int bad = 0;

	for (int i = 0; i < l->groups && !bad; i++)
		if (l->group[i].held > 0)
			bad = learner_average_group(l, t, &l->group[i]);
	return bad;
}
