/* Running statistics: as a mean over groups, or with what lies between them. */
#include <stdlib.h>

#include "base/mem.h"
#include "train/running.h"

/* A normalisation has its mean and variance before it. */
enum { MEAN = -2, VAR = -1 };

void
running_open(struct running *r, const struct graph *g)
{
	size_t all = 0, most = 0;

	*r = (struct running){ 0 };
	r->param = xcalloc((size_t)g->nop + 1, sizeof(*r->param));
	for (int k = 0; k < g->nparam; k++)
		if (g->param[k].kind == PARAM_BETWEEN) {
			size_t n = g->param[k].count;

			r->param[r->n++] = k;
			all += n;
			most = n > most ? n : most;
		}
	r->mean = xcalloc(all + 1, sizeof(*r->mean));
	r->between = xcalloc(all + 1, sizeof(*r->between));
	r->now = xcalloc(3 * most + 1, sizeof(*r->now));
}

void
running_close(struct running *r)
{
	free(r->param);
	free(r->mean);
	free(r->between);
	free(r->now);
	*r = (struct running){ 0 };
}

static void *
element(const struct net *n, const void *flat, size_t i)
{
	return (char *)flat + i * n->device->elem;
}

void
running_factors(const struct graph *g, const struct param *p, double factor[2])
{
	double m = g->op[p->op].momentum;

	/* (1 - m)^2 b + m^2 x */
	factor[0] = p->kind == PARAM_BETWEEN ? m * (2 - m) : m;
	factor[1] = p->kind == PARAM_BETWEEN ? m / (2 - m) : 1;
}

static void
get(const struct net *n, int param, double *to)
{
	const struct param *p = &n->graph->param[param];

	device_get(n->device, to, element(n, n->w, p->offset), p->count);
}

static void
put(struct net *n, int param, const double *from)
{
	const struct param *p = &n->graph->param[param];

	device_put(n->device, element(n, n->w, p->offset), from, p->count);
}

void
running_before(struct running *r, const struct net *n)
{
	size_t at = 0;

	for (int i = 0; i < r->n; i++) {
		get(n, r->param[i] + MEAN, r->mean + at);
		get(n, r->param[i], r->between + at);
		at += n->graph->param[r->param[i]].count;
	}
}

/*
 * The mean went from u0 to u = u0 + m (E[u] - u0), so m^2 (E[u] - u0)^2, which
 * turns E[(u - u0)^2] into the variance between groups, is (u - u0)^2.  The
 * variance was tracked with the old b in it, of which 1 - m is left.
 */
void
running_after(const struct running *r, struct net *n)
{
	size_t at = 0;

	for (int i = 0; i < r->n; i++) {
		const struct param *p = &n->graph->param[r->param[i]];
		double m = n->graph->op[p->op].momentum;
		double *mean = r->now, *var = mean + p->count;
		double *between = var + p->count;

		get(n, r->param[i] + MEAN, mean);
		get(n, r->param[i] + VAR, var);
		get(n, r->param[i], between);
		for (size_t c = 0; c < p->count; c++) {
			double step = mean[c] - r->mean[at + c];

			between[c] -= step * step;
			between[c] = between[c] > 0 ? between[c] : 0;
			var[c] += between[c] - (1 - m) * r->between[at + c];
		}
		put(n, r->param[i] + VAR, var);
		put(n, r->param[i], between);
		at += p->count;
	}
}
