/* Work on streams: its order, the time it runs, and waits for it. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "own.h"

void
clock_merge(struct clock *c, const struct clock *with)
{
	for (int i = 0; i < LANES; i++)
		if (with->at[i] > c->at[i])
			c->at[i] = with->at[i];
}

struct gpu_stream *
lane_new(struct standin *s)
{
	struct gpu_stream *t = xcalloc(1, sizeof(*t));

	while (t->lane < LANES && s->stream[t->lane] != NULL)
		t->lane++;
	if (t->lane == LANES) {
		free(t);
		return NULL;
	}
	t->given = t->done = s->last[t->lane];
	t->clock.at[t->lane] = t->given;
	s->stream[t->lane] = t;
	return t;
}

void
lane_free(struct standin *s, struct gpu_stream *t)
{
	finish(s, t, t->given);
	s->last[t->lane] = t->given;
	s->stream[t->lane] = NULL;
	free(t->piece);
	free(t);
}

/* ---- execution ---- */

void
finish(struct standin *s, struct gpu_stream *t, unsigned at)
{
	while (t->done < at) {
		struct message *p = t->piece[t->first];

		if (p->kind == PIECE_FOLLOW && s->stream[p->lane] != NULL)
			finish(s, s->stream[p->lane], p->at);
		piece_run(s, p);
		piece_free(p);
		t->done++;
		if (++t->first == t->n)
			t->first = t->n = 0;
	}
}

void
finish_all(struct standin *s)
{
	for (int i = LANES - 1; i >= 0; i--)
		if (s->stream[i] != NULL)
			finish(s, s->stream[i], s->stream[i]->given);
}

/* ---- queueing ---- */

static const char *const lines[] = { "launch", "copy", "fill", "convolution",
    "product", "follow", "record" };

static void
trace(const struct standin *s, const struct gpu_stream *t,
    const struct message *p)
{
	FILE *f = s->o.trace;

	if (f == NULL)
		return;
	if (p->kind == PIECE_FOLLOW) {
		fprintf(f, "%d.%u follow %d.%u\n", t->lane, t->given, p->lane,
		    p->at);
		return;
	}
	fprintf(f, "%d.%u %s %s", t->lane, t->given, lines[p->kind], p->name);
	for (int i = 0; i < p->access.reads; i++)
		fprintf(f, " reads %p+%zu", p->access.read[i].at,
		    p->access.read[i].bytes);
	for (int i = 0; i < p->access.writes; i++)
		fprintf(f, " writes %p+%zu", p->access.write[i].at,
		    p->access.write[i].bytes);
	fprintf(f, "\n");
}

/* Return whether the span is outside all allocations, or crosses the end of
 * one. */
static int
astray(const struct memory *m, const struct span *s)
{
	const struct room *r;

	if (s->bytes == 0)
		return 0;
	r = memory_find(m, s->at);
	return r == NULL ||
	    (const char *)s->at + s->bytes > r->at + r->bytes;
}

static int
all_there(struct standin *s, const struct message *p)
{
	const struct access *a = &p->access;
	int bad = astray(&s->memory, &p->scratch);

	for (int i = 0; i < a->reads; i++)
		bad |= astray(&s->memory, &a->read[i]);
	for (int i = 0; i < a->writes; i++)
		bad |= astray(&s->memory, &a->write[i]);
	if (bad)
		fault(s, FAULT_MISUSE, "%s touches memory that was not "
		    "allocated, or ends", p->name);
	return !bad;
}

static void
watch(struct standin *s, const struct gpu_stream *t, const struct message *p)
{
	struct mark who = { t->lane, t->given, p->name };
	struct meeting found;
	const struct room *r;
	ptrdiff_t off;

	if (s->pretends)
		return;
	watch_touch(&s->watch, &who, &t->clock, &p->access, &p->scratch,
	    &found);
	if (!found.early && !found.race)
		return;
	r = memory_find(&s->memory, (void *)found.at);
	off = r != NULL ? (char *)found.at - r->at : 0;
	if (found.early)
		fault(s, FAULT_EARLY, "%s (%d.%u) reads byte %td of memory of "
		    "%zu before anybody wrote it", p->name, t->lane, t->given,
		    off, r != NULL ? r->bytes : 0);
	if (found.race)
		fault(s, FAULT_RACE, "%s (%d.%u) and %s (%d.%u) both touch "
		    "byte %td of memory of %zu, and nothing orders them",
		    found.other.name, found.other.lane, found.other.at, p->name,
		    t->lane, t->given, off, r != NULL ? r->bytes : 0);
}

void
queue(struct standin *s, struct gpu_stream *t, struct message *p)
{
	clock_merge(&t->clock, &s->host);
	t->piece = array_reserve(t->piece, t->n, &t->cap, sizeof(*t->piece));
	t->piece[t->n++] = p;
	t->clock.at[t->lane] = ++t->given;
	trace(s, t, p);
	if (p->kind != PIECE_FOLLOW) {
		s->broken |= ++s->pieces == s->o.breaks;
		watch(s, t, p);
	}
	if (s->o.when == STANDIN_AT_ONCE)
		finish(s, t, t->given);
}

void
give(struct standin *s, struct gpu_stream *t, struct message *p)
{
	struct gpu_graph *g = t->graph;

	if (p->kind != PIECE_FOLLOW && !all_there(s, p)) {
		piece_free(p);
		return;
	}
	if (g == NULL) {
		queue(s, t, p);
		return;
	}
	g->clock[t->branch].at[t->branch] = ++g->given[t->branch];
	g->node = array_reserve(g->node, g->n, &g->cap, sizeof(*g->node));
	g->node[g->n++] = (struct node){ t->branch, p, g->clock[t->branch] };
}

/* ---- events ---- */

void
record(struct gpu_event *e, const struct gpu_stream *t)
{
	const struct gpu_graph *g = t->graph;

	*e = (struct gpu_event){ .set = 1, .lane = t->lane,
		.branch = t->branch, .graph = g };
	e->at = g != NULL ? g->given[t->branch] : t->given;
	e->clock = g != NULL ? g->clock[t->branch] : t->clock;
}

struct message *
follower(int lane, unsigned at)
{
	struct message *p = piece_new(PIECE_FOLLOW, "follow", 0);

	p->lane = lane;
	p->at = at;
	return p;
}

void
follow(struct standin *s, struct gpu_stream *t, const struct gpu_event *e)
{
	if (!e->set)
		return;		/* as in CUDA */
	if (e->graph != NULL) {
		follow_captured(s, t, e);
	} else if (t->graph != NULL) {
		fault(s, FAULT_MISUSE, "a stream that is captured follows what "
		    "is not");
	} else {
		clock_merge(&t->clock, &e->clock);
		give(s, t, follower(e->lane, e->at));
	}
}

/* ---- functions of the driver ---- */

struct gpu_stream *
standin_stream_new(struct driver *d, int urgent)
{
	struct standin *s = enter(d);
	struct gpu_stream *t;

	(void)urgent;
	not_here(s, "a stream is made");
	if ((t = lane_new(s)) == NULL)
		fail("the stand-in has no more than %d streams", LANES);
	leave(s);
	return t;
}

void
standin_stream_free(struct driver *d, struct gpu_stream *t)
{
	struct standin *s = enter(d);

	if (t != NULL)
		lane_free(s, t);
	leave(s);
}

struct gpu_event *
standin_event_new(struct driver *d)
{
	struct standin *s = enter(d);

	s->events++;
	leave(s);
	return xcalloc(1, sizeof(struct gpu_event));
}

void
standin_event_free(struct driver *d, struct gpu_event *e)
{
	struct standin *s = enter(d);

	s->events -= e != NULL;
	free(e);
	leave(s);
}

void
standin_record(struct driver *d, struct gpu_event *e, struct gpu_stream *t)
{
	struct standin *s = enter(d);

	record(e, t);
	leave(s);
}

void
standin_follow(struct driver *d, struct gpu_stream *t, struct gpu_event *e)
{
	struct standin *s = enter(d);

	follow(s, t, e);
	leave(s);
}

int
wait_for(struct standin *s, int lane, unsigned at, const struct clock *clock)
{
	if (s->stream[lane] != NULL && s->stream[lane]->done < at)
		not_here(s, "the host waits");
	if (s->o.when == STANDIN_OTHERS)
		for (int i = LANES - 1; i >= 0; i--)
			if (i != lane && s->stream[i] != NULL)
				finish(s, s->stream[i], s->stream[i]->given);
	if (s->stream[lane] != NULL)
		finish(s, s->stream[lane], at);
	for (int i = 0; i < LANES; i++)
		if (clock->at[i] > s->host.at[i])
			s->host.at[i] = clock->at[i];
	return s->broken ? fail("the stand-in's work failed, as requested by "
	    "the test") :
	    0;
}

int
standin_wait_event(struct driver *d, struct gpu_event *e)
{
	struct standin *s = enter(d);
	int rc = 0;

	if (e->graph != NULL)
		fault(s, FAULT_MISUSE, "the host waits for an event of a graph");
	else if (e->set)
		rc = wait_for(s, e->lane, e->at, &e->clock);
	leave(s);
	return rc;
}

int
standin_wait(struct driver *d, struct gpu_stream *t)
{
	struct standin *s = enter(d);
	int rc = 0;

	if (t->graph != NULL)
		fault(s, FAULT_MISUSE, "the host waits for a stream that is "
		    "captured");
	else
		rc = wait_for(s, t->lane, t->given, &t->clock);
	leave(s);
	return rc;
}
