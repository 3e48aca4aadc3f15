/*
 * Compares the tasks of a plan with those of a reference: finds the distinct
 * tasks, and lists the results.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/feed.h"
#include "net/parity/job.h"
#include "net/poison.h"

/* List the ops outside of group ${of} to which it passes input gradients. */
static void
parity_find_edges(struct parity_job *j, int of)
{
	const struct plan *p = j->x.plan;
	struct parity_group *g = &j->group[of];
	size_t cap = 0;

	for (int i = plan_next(p, of, -1); i < p->n; i = plan_next(p, of, i))
		for (int k = 0; k < p->task[i].op->nin; k++) {
			int from = p->task[i].op->in[k], e = 0;

			if (p->task[i].dx[k] == NULL ||
			    p->task[from].fused_into == of)
				continue;
			while (e < g->edges && g->edge[e].from != from)
				e++;
			if (e == g->edges) {
				g->edge = array_reserve(g->edge, (size_t)e,
				    &cap, sizeof(*g->edge));
				g->edge[g->edges++] =
					(struct parity_edge){ from, 1, NULL,
					NULL, NULL };
			}
			/*
			 * The group adds only if none of its ops overwrites the
			 * gradient.
			 */
			g->edge[e].added &= p->task[i].accumulate[k];
		}
}

/* Find the ops of each task that runs, the first equal task, and its edges. */
static void
parity_find_groups(struct parity_job *j)
{
	const struct plan *p = j->x.plan;

	for (int i = 0; i < p->n; i++) {
		struct parity_group *g = &j->group[i];
		int like = 0;

		if (p->task[i].fused_into != i)
			continue;
		g->first = plan_next(p, i, -1);
		while (p->task[like].fused_into != like || !plan_alike(p, like,
		    i))
			like++;
		g->like = like;
		/*
		 * Skip a repeated task and draw its outputs.  It must run if
		 * its outputs are recomputed or aliased.
		 */
		g->skip = like != i && p->buffers[i].recompute_before < 0;
		for (int k = g->first; k < p->n; k = plan_next(p, i, k))
			g->skip &= p->task[k].alias_of == k;
		parity_find_edges(j, i);
	}
}


static int
parity_bind(struct parity_side *s, struct feed *feed)
{
	struct device *d = s->plan->device;
	size_t bytes = s->net->graph->elements * d->elem;

	if ((s->dw = device_alloc(d, bytes)) == NULL)
		return -1;
	poison_fill(d, s->dw, bytes);
	plan_bind(s->plan, s->net->arena, s->net->w, s->dw);
	/* Parameters may have changed, so let all weights be packed again. */
	s->net->bound = NULL;
	for (int i = 0; i < s->plan->n; i++)
		s->plan->task[i].weights_changed = 1;
	poison_packed_weights(s->plan);
	plan_feed(s->plan, feed);
	return 0;
}

static int
parity_list(const struct parity_job *j, struct parity *row)
{
	int n = 0;

	for (int i = 0; i < j->n; i++)
		if (j->x.plan->task[i].fused_into == i &&
		    j->group[i].like == i) {
			row[n] = j->result[i];
			row[n].task = i;
			row[n].like = 0;
			for (int k = 0; k < j->n; k++)
				row[n].like +=
				    j->x.plan->task[k].fused_into == k &&
				    j->group[k].like == i;
			n++;
		}
	return n;
}

static void
parity_clear(struct parity_job *j)
{
	for (int i = 0; i < j->n; i++) {
		free(j->group[i].edge);
		free(j->inner[i]);
		free(j->kink[i]);
	}
	for (int i = 0; i < j->n * OP_INPUTS; i++)
		free(j->in[i]);
	free(j->group);
	free(j->result);
	free(j->in);
	free(j->inner);
	free(j->kink);
	if (j->x.dw != NULL)
		device_free(j->x.plan->device, j->x.dw);
	if (j->key.dw != NULL)
		device_free(j->key.plan->device, j->key.dw);
}

int
parity_run(struct net *net, struct plan *p, struct net *key, struct plan *q,
    const struct parity_options *o, struct parity *row)
{
	size_t n = (size_t)p->n;
	struct parity_job j = { .x = { net, p, NULL }, .key = { key, q, NULL },
		.o = o, .n = p->n, .group = xcalloc(n, sizeof(*j.group)),
		.result = xcalloc(n, sizeof(*j.result)),
		.in = xcalloc(n * OP_INPUTS, sizeof(*j.in)),
		.inner = xcalloc(n, sizeof(*j.inner)),
		.kink = xcalloc(n, sizeof(*j.kink)) };
	const struct input_spec *needs = &p->graph->needs;
	struct feed feed;
	int rows = -1;

	for (int i = 0; i < q->n; i++)
		assert(q->task[i].fused_into == i);
	feed_make(&feed, p->input, needs);
	if (parity_bind(&j.x, &feed) == 0 && parity_bind(&j.key, &feed) == 0) {
		parity_find_groups(&j);
		for (int i = 0; i < j.n; i++)
			parity_forward(&j, i);
		for (int i = j.n - 1; i >= 0; i--)
			parity_backward(&j, i);
		rows = parity_list(&j, row);
	}
	parity_clear(&j);
	feed_free(&feed, needs);
	return rows;
}

double
parity_worst(const struct parity *row)
{
	return fmax(row->forward, fmax(row->dx, row->dw));
}

double
parity_tolerance(enum precision p)
{
	return p == PRECISION_FP32 ? 1e-4 : 2e-2;
}
