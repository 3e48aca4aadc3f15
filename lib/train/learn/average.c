/* The average of learners: their weights and their optimizer state. */
#include <string.h>

#include "train/learn/learners_run.h"
#include "train/learn/noise.h"

#define CHUNK LEARNERS_CHUNK

void
learners_copy(const struct net *n, void *to, const void *from, size_t count)
{
	device_copy(n->device, to, from, count * n->device->elem);
}

/* Divide elements ${from} to ${to} - 1 of the first vector by the learners. */
static void
average_divide(struct learners *l, const struct trainer *t, size_t from,
    size_t to)
{
	struct device *d = t->net->device;

	for (size_t now; from < to; from += now) {
		void *x = slots_element(t->net, l->vector[0], from);

		now = to - from < CHUNK ? to - from : CHUNK;
		device_get(d, l->buffer, x, now);
		for (size_t k = 0; k < now; k++)
			l->buffer[k] /= l->n;
		device_put(d, x, l->buffer, now);
	}
}

/*
 * Average the vectors of all learners; l->vector has this rank's.  The mean is
 * in the first vector, valid in the elements that this rank owns; the others
 * are overwritten.
 */
static int
average_vector(struct learners *l, const struct trainer *t)
{
	struct tree tree = { .leaves = l->n };
	struct tree_sum sums[TREE_MAX];
	const struct segments *share = &t->share;

	for (int k = 0; k < l->held; k++) {
		int n = tree_push(&tree, (struct subtree){ 0, l->first + k,
		    l->vector[k] }, sums);

		for (int i = 0; i < n; i++)
			device_add(t->net->device, sums[i].left, sums[i].right,
			    share->elements);
	}
	for (size_t from = 0; from < share->elements; from += share->bucket) {
		size_t to = from + share->bucket;

		to = to < share->elements ? to : share->elements;
		if (host_staging_reduce_scatter(&l->staging, &l->exact, &tree,
		    from, to) != 0)
			return -1;
	}
	for (int i = 0; i < share->n; i++) {
		const struct segment *s = &share->segment[i];

		average_divide(l, t, s->at, s->at + s->n);
	}
	return 0;
}

/* ---- weights ---- */

/* Copy frozen parameters from the last average to ${w}, because a sum divided
 * by its count may differ in its last bit. */
static void
average_keep_frozen(const struct learners *l, const struct trainer *t, void *w)
{
	const struct net *n = t->net;

	for (const struct param *p = n->graph->param, *end = p +
	    n->graph->nparam; p < end; p++)
		if (p->frozen)
			learners_copy(n, slots_element(n, w, p->offset),
			    slots_element(n, l->mean, p->offset), p->count);
}

static int
average_weights(struct learners *l, struct trainer *t)
{
	int noise = learners_measure(t);

	for (int k = 0; k < l->held; k++)
		l->vector[k] = l->learner[k].w;
	if ((noise && noise_learners(l, t) != 0) ||
	    average_vector(l, t) != 0 || (noise && noise_average(l, t) != 0))
		return -1;
	if (allgather_run(t->optim.gather, l->vector[0]) != 0)
		return -1;
	average_keep_frozen(l, t, l->vector[0]);
	learners_copy(t->net, l->mean, l->vector[0], t->share.elements);
	return 0;
}

/* ---- optimizer state ---- */

/*
 * Copy the owned elements between the run's slot and the first vector.  ${in}
 * is 1 to copy to the slot.
 */
static void
average_move_owned(struct learners *l, const struct trainer *t,
    const struct slot *slot, int in)
{
	for (int i = 0; i < t->share.n; i++) {
		const struct segment *s = &t->share.segment[i];
		void *kept = slot_at(slot, s->held);
		void *x = slots_element(t->net, l->vector[0], s->at);

		learners_copy(t->net, in ? kept : x, in ? x : kept, s->n);
	}
}

/* Copy values that are not by element, which are the same in all learners. */
static void
average_copy_others(struct learners *l, const struct trainer *t, int i, int in)
{
	const struct slot *slot = &t->optim.slots.slot[i];
	size_t bytes = slot->n * slot->size;

	if (in)
		memcpy(slot->data, l->learner[0].optim.slots.slot[i].data,
		    bytes);
	else
		for (int k = 0; k < l->held; k++)
			memcpy(l->learner[k].optim.slots.slot[i].data,
			    slot->data, bytes);
}

/* Return the number of the optimizer's own slots, which come first. */
static int
average_own_slots(const struct trainer *t)
{
	int n = 0;

	while (t->optim.kind->slot[n].name != NULL)
		n++;
	return n;
}

/*
 * Copy state that each learner has for itself; the run's slot has a vector for
 * each.
 */
static void
average_copy_kept(struct learners *l, const struct trainer *t, int i, int in)
{
	const struct slot *slot = &t->optim.slots.slot[i];
	size_t elements = t->share.elements;

	for (int k = 0; k < l->held; k++) {
		void *kept = slot_at(slot, (size_t)k * elements);
		void *own = l->learner[k].optim.slots.slot[i].data;

		learners_copy(t->net, in ? kept : own, in ? own : kept,
		    elements);
	}
}

/*
 * With ${in}, write slot ${i} of all learners to that of the run: the mean, or
 * what is not averaged.  Otherwise copy that of the run to each learner.
 */
static int
average_slot(struct learners *l, const struct trainer *t, int i, int in)
{
	const struct slot *slot = &t->optim.slots.slot[i];

	if (slot->kind->extent == SLOT_LEARNER)
		average_copy_kept(l, t, i, in);
	else if (slot->kind->extent != SLOT_ELEMENT)
		average_copy_others(l, t, i, in);
	if (slot->kind->extent != SLOT_ELEMENT)
		return 0;
	for (int k = 0; k < l->held; k++)
		l->vector[k] = l->learner[k].optim.slots.slot[i].data;
	if (in && average_vector(l, t) != 0)
		return -1;
	average_move_owned(l, t, slot, in);
	if (!in && allgather_run(t->optim.gather, l->vector[0]) != 0)
		return -1;
	for (int k = 1; k < l->held && !in; k++)
		learners_copy(t->net, l->vector[k], l->vector[0],
		    t->share.elements);
	return 0;
}

/*
 * Update the run's state from the learners: reset the optimizer's own slots or
 * average them, and average the others.
 */
static int
average_slots(struct learners *l, struct trainer *t)
{
	int first = t->o.learners.state == STATE_RESET ?
	    average_own_slots(t) : 0, bad = 0;

	slots_reset(&t->optim.slots, first);
	for (int i = first; i < l->slots && !bad; i++)
		bad = average_slot(l, t, i, 1);
	return bad;
}

int
average_load(struct learners *l, struct trainer *t)
{
	int bad = 0;

	for (int k = 0; k < l->held; k++)
		learners_copy(t->net, l->learner[k].w, l->mean,
		    t->share.elements);
	for (int i = 0; i < l->slots && !bad; i++)
		bad = average_slot(l, t, i, 0);
	return bad;
}

int
average_store(struct learners *l, struct trainer *t)
{
	return average_weights(l, t) != 0 || average_slots(l, t) != 0 ? -1 : 0;
}
