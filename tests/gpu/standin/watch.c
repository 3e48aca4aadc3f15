/*
 * The access history of each byte: its last writer, and the readers since.  Two
 * pieces of work are ordered if the later one's clock includes the earlier one
 * (Lamport 1978; with a number for each lane, Fidge 1988 and Mattern 1989).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "own.h"

void
watch_free(struct watch *w)
{
	free(w->cell);
}

/* Return the first cell that ends after ${at}. */
static size_t
find(const struct watch *w, uintptr_t at)
{
	size_t low = 0, high = w->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (w->cell[mid].to > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void
insert(struct watch *w, size_t i, const struct cell *c)
{
	struct cell copy = *c;

	w->cell = array_reserve(w->cell, w->n, &w->cap, sizeof(*w->cell));
	memmove(w->cell + i + 1, w->cell + i, (w->n - i) * sizeof(*w->cell));
	w->cell[i] = copy;
	w->n++;
}

/* Split the cell that contains ${at}, if any.  Return the first cell at or
 * after ${at}. */
static size_t
cut(struct watch *w, uintptr_t at)
{
	size_t i = find(w, at);

	if (i < w->n && w->cell[i].from < at) {
		insert(w, i, &w->cell[i]);
		w->cell[i].to = at;
		w->cell[++i].from = at;
	}
	return i;
}

static void
drop(struct watch *w, size_t from, size_t to)
{
	if (to > from)
		memmove(w->cell + from, w->cell + to, (w->n - to) *
		    sizeof(*w->cell));
	w->n -= to - from;
}

/* Split cells at both ends of a range.  Return its first cell, and set ${*n} to
 * their number. */
static size_t
range(struct watch *w, const void *at, size_t bytes, size_t *n)
{
	size_t first = cut(w, (uintptr_t)at);

	*n = cut(w, (uintptr_t)at + bytes) - first;
	return first;
}

void
watch_forget(struct watch *w, const void *at, size_t bytes)
{
	size_t n, first = range(w, at, bytes, &n);

	drop(w, first, first + n);
}

static void
wrote(struct watch *w, const void *at, size_t bytes, const struct mark *who,
    int garbage)
{
	struct cell new = { (uintptr_t)at, (uintptr_t)at + bytes, *who, garbage,
		{ 0 }, { NULL } };

	if (bytes == 0)
		return;
	watch_forget(w, at, bytes);
	insert(w, find(w, new.from), &new);
}

void
watch_known(struct watch *w, const void *at, size_t bytes)
{
	wrote(w, at, bytes, &(struct mark){ 0, 0, "the host" }, 0);
}

static void
met(struct meeting *found, const struct mark *who, const struct clock *before,
    const struct mark *other, uintptr_t at)
{
	if (found->race || other->lane == who->lane ||
	    other->at <= before->at[other->lane])
		return;
	found->race = 1;
	found->other = *other;
	found->at = at;
}

static void
reads(struct watch *w, const struct mark *who, const struct clock *before,
    const struct span *s, struct meeting *found)
{
	uintptr_t next = (uintptr_t)s->at, end = next + s->bytes;
	size_t n, first = range(w, s->at, s->bytes, &n);

	for (size_t i = first; i < first + n; i++) {
		struct cell *c = &w->cell[i];

		if (c->from > next && !found->early++)
			found->at = next;
		if (c->garbage && !found->early++)
			found->at = c->from;
		met(found, who, before, &c->wrote, c->from);
		c->read[who->lane] = who->at;
		c->reader[who->lane] = who->name;
		next = c->to;
	}
	if (next < end && !found->early++)
		found->at = next;
}

static void
writes(struct watch *w, const struct mark *who, const struct clock *before,
    const struct span *s, int garbage, struct meeting *found)
{
	size_t n, first = range(w, s->at, s->bytes, &n);

	for (size_t i = first; i < first + n; i++) {
		const struct cell *c = &w->cell[i];

		met(found, who, before, &c->wrote, c->from);
		for (int k = 0; k < LANES; k++)
			met(found, who, before, &(struct mark){ k, c->read[k],
			    c->reader[k] }, c->from);
	}
	wrote(w, s->at, s->bytes, who, garbage);
}

void
watch_touch(struct watch *w, const struct mark *who,
    const struct clock *before, const struct access *a,
    const struct span *scratch, struct meeting *found)
{
	*found = (struct meeting){ 0 };
	for (int i = 0; i < a->reads; i++)
		reads(w, who, before, &a->read[i], found);
	for (int i = 0; i < a->writes; i++)
		writes(w, who, before, &a->write[i], 0, found);
	if (scratch->bytes > 0)
		writes(w, who, before, scratch, 1, found);
}
