/* Running statistics of batch normalization: the between-group variance. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/optim/running.h"
#include "train/optim/slots.h"

/* Parameters of a layer, relative to its PARAM_BETWEEN. */
enum { MEAN = -2, VAR = -1 };

static struct running_place
running_place_of(const struct graph *g, int between, size_t kept)
{
	const struct param *p = &g->param[between];
	size_t at = p[MEAN].offset;

	return (struct running_place){ .at = at, .n = p->offset + p->count - at,
		.var = p[VAR].offset - at, .between = p->offset - at,
		.count = p->count, .kept = kept,
		.rate = g->op[p->op].bn.momentum };
}

int
running_open(struct running *r, const struct net *n)
{
	const struct graph *g = n->graph;
	size_t all = 0, largest = 0;

	*r = (struct running){ .device = n->device };
	r->place = xcalloc((size_t)g->nop + 1, sizeof(*r->place));
	for (int k = 0; k < g->nparam; k++)
		if (g->param[k].kind == PARAM_BETWEEN) {
			struct running_place *p = &r->place[r->n++];

			*p = running_place_of(g, k, all);
			all += p->n;
			largest = p->n > largest ? p->n : largest;
		}
	r->was = xcalloc(largest + 1, sizeof(*r->was));
	r->now = xcalloc(largest + 1, sizeof(*r->now));
	return r->n > 0 && (r->kept = device_alloc(n->device, all *
	    n->device->elem)) == NULL ? -1 : 0;
}

void
running_close(struct running *r)
{
	device_free(r->device, r->kept);
	free(r->place);
	free(r->was);
	free(r->now);
	*r = (struct running){ 0 };
}

void
running_factors(const struct graph *g, const struct param *p, double factor[2])
{
	double m = g->op[p->op].bn.momentum;

	/* b + m (2 - m) (m / (2 - m) x - b) = (1 - m)^2 b + m^2 x */
	factor[0] = p->kind == PARAM_BETWEEN ? m * (2 - m) : m;
	factor[1] = p->kind == PARAM_BETWEEN ? m / (2 - m) : 1;
}

void
running_before(struct running *r, const struct net *n)
{
	for (int i = 0; i < r->n; i++) {
		const struct running_place *p = &r->place[i];

		device_copy(r->device, slots_element(n, r->kept, p->kept),
		    slots_element(n, n->w, p->at), p->n * r->device->elem);
	}
}

/*
 * The mean has changed from u0 to u = u0 + m (E[u] - u0).  So m^2 (E[u] -
 * u0)^2, which turns E[(u - u0)^2] into the variance between groups, is (u -
 * u0)^2.  The tracked variance still contains (1 - m) times the old b.
 */
void
running_after(struct running *r, struct net *n)
{
	for (int i = 0; i < r->n; i++) {
		const struct running_place *p = &r->place[i];
		void *at = slots_element(n, n->w, p->at);
		double *var = r->now + p->var, *between = r->now + p->between;

		device_get(r->device, r->was,
		    slots_element(n, r->kept, p->kept), p->n);
		device_get(r->device, r->now, at, p->n);
		for (size_t c = 0; c < p->count; c++) {
			double step = r->now[c] - r->was[c];

			between[c] -= step * step;
			/* Rounding can make a small variance negative. */
			between[c] = between[c] > 0 ? between[c] : 0;
			var[c] += between[c] - (1 - p->rate) *
			    r->was[p->between + c];
		}
		device_put(r->device, at, r->now, p->n);
	}
}
