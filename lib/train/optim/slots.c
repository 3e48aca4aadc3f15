/* Optimizer state: allocation, and its collection on rank 0. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "train/optim/slots.h"

#define CHUNK 65536		/* values copied or checked at a time */

int
slot_shaped(const struct slot_kind *k)
{
	return k->extent == SLOT_ELEMENT || k->extent == SLOT_LEARNER;
}

size_t
slot_bytes(const struct slots *s, int i, int rank)
{
	const struct slot *slot = &s->slot[i];

	return slot->size * (!slot_shaped(slot->kind) ? slot->n : rank < 0 ?
	    slot->share->elements : segments_owned(slot->share, rank));
}

void *
slot_at(const struct slot *s, size_t held)
{
	return (char *)s->data + held * s->size;
}

void *
slots_element(const struct net *n, const void *flat, size_t i)
{
	return (char *)flat + i * n->device->elem;
}

/* Set all values to the initial value, through host memory. */
static void
slots_fill(struct slots *s, struct slot *slot)
{
	const struct slot_kind *k = slot->kind;
	double *v = xcalloc(CHUNK, sizeof(*v));

	for (size_t i = 0; i < CHUNK; i++)
		v[i] = k->first;
	for (size_t at = 0; at < slot->n; at += CHUNK) {
		size_t now = slot->n - at < CHUNK ? slot->n - at : CHUNK;
		void *to = slot_at(slot, at);

		if (!slot_shaped(k))
			memcpy(to, v, now * sizeof(*v));
		else if (k->type == SLOT_F64)
			device_upload(s->net->device, to, v, now * sizeof(*v));
		else
			device_put(s->net->device, to, v, now);
	}
	free(v);
}

int
slots_open(struct slots *s, const struct slot_kind *kinds, const struct net *n,
    const struct segments *share, const struct segments *learners)
{
	*s = (struct slots){ .net = n, .share = share };
	for (const struct slot_kind *k = kinds; k->name != NULL; k++) {
		struct slot *slot = &s->slot[s->n];
		size_t bytes;

		assert(s->n < SLOTS_MAX);
		assert(slot_shaped(k) || k->type == SLOT_F64);
		*slot = (struct slot){ .kind = k, .copies = 1, .share = share,
			.size = k->type == SLOT_F64 ? sizeof(double) :
			n->device->elem };
		if (k->extent == SLOT_LEARNER) {
			slot->share = learners;
			slot->copies = learners->vectors;
		}
		slot->n = slot_shaped(k) ? segments_owned(slot->share,
		    share->comm->rank) : k->extent == SLOT_PARAM ?
		    (size_t)n->graph->nparam : 1;
		/* A rank may own no element of a small network. */
		bytes = (slot->n > 0 ? slot->n : 1) * slot->size;
		slot->data = slot_shaped(k) ? device_alloc(n->device, bytes) :
		    xcalloc(bytes, 1);
		if (slot->data == NULL) {
			slots_close(s);
			return -1;
		}
		s->n++;
		if (k->first != 0)
			slots_fill(s, slot);
	}
	return 0;
}

void
slots_reset(struct slots *s, int n)
{
	for (int i = 0; i < n; i++)
		slots_fill(s, &s->slot[i]);
}

void
slots_close(struct slots *s)
{
	for (int i = 0; i < s->n; i++)
		if (slot_shaped(s->slot[i].kind))
			device_free(s->net->device, s->slot[i].data);
		else
			free(s->slot[i].data);
	s->n = 0;
}

int
slots_all_finite(const void *data, size_t n, size_t size)
{
	size_t bad = 0;

	/* Without an early exit the loop runs at memory bandwidth. */
	if (size == sizeof(double))
		for (size_t i = 0; i < n; i++)
			bad += !isfinite(((const double *)data)[i]);
	else
		for (size_t i = 0; i < n; i++)
			bad += !isfinite(((const float *)data)[i]);
	return bad == 0;
}

int
slots_finite(const struct slots *s)
{
	double *v = xcalloc(CHUNK, sizeof(*v));
	int good = 1;

	for (int i = 0; i < s->n && good; i++) {
		const struct slot *slot = &s->slot[i];

		if (!slot_shaped(slot->kind))
			good = slots_all_finite(slot->data, slot->n,
			    slot->size);
		else
			for (size_t at = 0; at < slot->n && good; at += CHUNK) {
				size_t now = slot->n - at < CHUNK ?
				    slot->n - at : CHUNK;

				device_download(s->net->device, v,
				    slot_at(slot, at), now * slot->size);
				good = slots_all_finite(v, now, slot->size);
			}
	}
	free(v);
	return good;
}

/* ---- the state of all ranks ---- */

void *
slot_of(const struct slots *s, int i, int j, int p, void *data, size_t *n)
{
	const struct slot *slot = &s->slot[i];
	const struct graph *g = s->net->graph;
	const struct param *param = &g->param[p];

	switch (slot->kind->extent) {
	case SLOT_ELEMENT:
	case SLOT_LEARNER:
		*n = param->count;
		return (char *)data + ((size_t)j * g->elements +
		    param->offset) * slot->size;
	case SLOT_PARAM:
		*n = 1;
		return (double *)data + p;
	default:
		*n = 1;
		return data;
	}
}

char *
slot_name(const struct slot_kind *k, int j, const struct param *p)
{
	return k->extent == SLOT_ONCE ? xstrdup(k->name) :
	    k->extent == SLOT_LEARNER ? xprintf("learner/%d/%s/%s", j,
	    k->name, p->name) :
	    xprintf("%s/%s", k->name, p->name);
}

int
slot_has(const struct slots *s, int i, int p)
{
	const struct slot_kind *k = s->slot[i].kind;

	return k->extent == SLOT_ONCE ? p == 0 : k->statistics ||
	    s->net->graph->param[p].kind < PARAM_MEAN;
}

struct slots_whole
slots_whole(const struct slots *s)
{
	struct slots_whole w = { { NULL } };

	for (int i = 0; i < s->n; i++) {
		size_t n = slot_bytes(s, i, -1) / s->slot[i].size;

		w.data[i] = xcalloc(n, s->slot[i].size);
		for (size_t k = 0; k < n && s->slot[i].kind->first != 0; k++)
			if (s->slot[i].size == sizeof(double))
				((double *)w.data[i])[k] =
				    s->slot[i].kind->first;
			else
				((float *)w.data[i])[k] =
				    (float)s->slot[i].kind->first;
	}
	return w;
}

void
slots_forget(struct slots_whole *w)
{
	for (int i = 0; i < SLOTS_MAX; i++)
		free(w->data[i]);
	*w = (struct slots_whole){ { NULL } };
}

/* Return the largest number of elements of a segment. */
static size_t
slots_longest(const struct slots *s)
{
	size_t largest = 0;

	for (int i = 0; i < s->n; i++) {
		const struct segments *share = s->slot[i].share;

		for (int k = 0; k < segments_count(share); k++) {
			size_t n = segments_get(share, k).n;

			largest = n > largest ? n : largest;
		}
	}
	return largest;
}

/*
 * Copy segment by segment between its owner and rank 0.  ${whole} is rank 0's
 * vector, ${in} is 1 to copy to it and 0 to copy from it. ${buffer} is a buffer
 * for one segment.  If every rank has all elements, read those of rank 0, and
 * write to those of all ranks.
 */
static int
slots_move(const struct slots *s, const struct slot *slot, char *whole, int in,
    void *buffer)
{
	const struct segments *share = slot->share;
	struct comm *c = s->share->comm;
	struct device *d = s->net->device;

	for (int i = 0; i < segments_count(share); i++) {
		struct segment g = segments_get(share, i);
		int owner = !share->copies ? g.rank : in ? 0 : c->rank;
		void *own = slot_at(slot, g.held);
		struct message p = { c->rank == 0 ? owner : 0, c->rank == 0 ?
			whole + g.at * slot->size : buffer, g.n * slot->size };
		int bad = 0;

		if (g.n == 0)
			continue;
		if (c->rank == owner && in)
			device_download(d, p.data, own, p.bytes);
		if (share->copies && !in)
			bad = comm_broadcast(c, p.data, p.bytes, 0);
		else if (c->rank == 0 && owner != 0)
			bad = comm_exchange(c, &p, !in, &p, in);
		else if (c->rank == owner && owner != 0)
			bad = comm_exchange(c, &p, in, &p, !in);
		if (bad)
			return -1;
		if (c->rank == owner && !in)
			device_upload(d, own, p.data, p.bytes);
	}
	return 0;
}

/* Copy the state of all ranks to ${w} on rank 0, or with ${in} 0 from it. */
static int
slots_move_all(const struct slots *s, const struct slots_whole *w, int in)
{
	struct comm *c = s->share->comm;
	void *buffer = xmalloc(slots_longest(s) * sizeof(double) + 1);
	int bad = 0;

	for (int i = 0; i < s->n && !bad; i++) {
		const struct slot *slot = &s->slot[i];
		void *whole = c->rank == 0 ? w->data[i] : NULL;
		size_t bytes = slot_bytes(s, i, -1);

		if (slot_shaped(slot->kind)) {
			bad = slots_move(s, slot, whole, in, buffer);
			continue;
		}
		if (c->rank == 0)
			memcpy(in ? whole : slot->data, in ? slot->data : whole,
			    bytes);
		if (!in)
			bad = comm_broadcast(c, slot->data, bytes, 0);
	}
	free(buffer);
	return bad;
}

int
slots_gather(const struct slots *s, struct slots_whole *w)
{
	return slots_move_all(s, w, 1);
}

int
slots_scatter(struct slots *s, const struct slots_whole *w)
{
	return slots_move_all(s, w, 0);
}
