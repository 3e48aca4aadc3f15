/* CUDA graphs: capture of work on streams, and its replay. */
#include <stdlib.h>

#include "base/mem.h"
#include "own.h"

/* A stream that follows a captured event joins the capture. */
void
follow_captured(struct standin *s, struct gpu_stream *t,
    const struct gpu_event *e)
{
	struct gpu_graph *g = t->graph;

	for (int i = 0; i < LANES && g == NULL; i++)
		if (s->stream[i] != NULL && s->stream[i]->graph == e->graph) {
			g = t->graph = s->stream[i]->graph;
			t->branch = g->branches++;
			g->stream[t->branch] = t;
		}
	if (g == NULL || g != e->graph) {
		fault(s, FAULT_MISUSE, "a stream follows what was recorded "
		    "into another graph");
		return;
	}
	clock_merge(&g->clock[t->branch], &e->clock);
	give(s, t, follower(e->branch, e->at));
}

int
capture(struct standin *s, struct gpu_stream *t)
{
	if (t->graph != NULL) {
		fault(s, FAULT_MISUSE, "a capture within a capture");
		return -1;
	}
	t->graph = xcalloc(1, sizeof(*t->graph));
	t->graph->branches = 1;
	t->graph->stream[0] = t;
	t->branch = 0;
	return 0;
}

struct gpu_graph *
captured(struct standin *s, struct gpu_stream *t)
{
	struct gpu_graph *g = t->graph;

	if (g == NULL || t->branch != 0) {
		fault(s, FAULT_MISUSE, "the end of a capture that did not begin "
		    "on this stream");
		return NULL;
	}
	for (int i = 0; i < g->branches; i++) {
		g->stream[i]->graph = NULL;
		if (g->clock[0].at[i] < g->given[i])
			fault(s, FAULT_MISUSE, "the end of a capture does not "
			    "follow all that was captured");
		g->stream[i] = i > 0 ? lane_new(s) : NULL;
		if (i > 0 && g->stream[i] == NULL)
			abort();
	}
	s->graphs++;
	return g;
}

static void
branch_off(struct standin *s, struct gpu_stream *t, struct gpu_stream *from)
{
	clock_merge(&t->clock, &from->clock);
	queue(s, t, follower(from->lane, from->given));
}

/* Queue all pieces again.  The first branch runs on ${t}, each other one on a
 * stream of its own. */
void
graph_replay(struct standin *s, struct gpu_stream *t, const struct gpu_graph *g)
{
	struct gpu_stream *on[LANES];
	unsigned base[LANES];

	if (t->graph != NULL) {
		fault(s, FAULT_MISUSE, "a graph runs within a capture");
		return;
	}
	for (int i = 0; i < g->branches; i++) {
		on[i] = i == 0 ? t : g->stream[i];
		if (i > 0)
			branch_off(s, on[i], t);
		base[i] = on[i]->given;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct gpu_stream *to = on[g->node[i].branch];
		struct message *p = g->node[i].piece;

		if (p->kind == PIECE_RECORD) {
			record(p->event, to);
			continue;
		}
		if (p->kind == PIECE_FOLLOW) {
			p = follower(on[p->lane]->lane, base[p->lane] + p->at);
			for (int k = 0; k < g->branches; k++) {
				unsigned at = base[k] + g->node[i].clock.at[k];

				if (g->node[i].clock.at[k] > 0 &&
				    at > to->clock.at[on[k]->lane])
					to->clock.at[on[k]->lane] = at;
			}
		} else {
			p->users++;
		}
		queue(s, to, p);
	}
}

void
graph_drop(struct standin *s, struct gpu_graph *g)
{
	for (int i = 1; i < g->branches; i++)
		lane_free(s, g->stream[i]);
	for (size_t i = 0; i < g->n; i++)
		piece_free(g->node[i].piece);
	free(g->node);
	free(g);
	s->graphs--;
}

/* ---- functions of the driver ---- */

int
standin_capture(struct driver *d, struct gpu_stream *t)
{
	struct standin *s = enter(d);
	int rc = capture(s, t);

	leave(s);
	return rc;
}

struct gpu_graph *
standin_captured(struct driver *d, struct gpu_stream *t)
{
	struct standin *s = enter(d);
	struct gpu_graph *g;

	not_here(s, "a graph is made");
	g = captured(s, t);
	leave(s);
	return g;
}

void
standin_record_inside(struct driver *d, struct gpu_event *e,
    struct gpu_stream *t)
{
	struct standin *s = enter(d);
	struct message *p;

	if (t->graph == NULL) {
		fault(s, FAULT_MISUSE, "an event is recorded in a graph that "
		    "nobody captures");
	} else {
		p = piece_new(PIECE_RECORD, "record", 0);
		p->event = e;
		give(s, t, p);
	}
	leave(s);
}

void
standin_graph_run(struct driver *d, struct gpu_stream *t, struct gpu_graph *g)
{
	struct standin *s = enter(d);

	graph_replay(s, t, g);
	leave(s);
}

void
standin_graph_free(struct driver *d, struct gpu_graph *g)
{
	struct standin *s = enter(d);

	if (g != NULL)
		graph_drop(s, g);
	leave(s);
}
