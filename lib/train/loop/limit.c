/* Decide what limits the speed of a run, from 90 steps. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/progress.h"
#include "train/loop/work.h"

#define FIRST 10		/* steps before the measurement: the first ones
				 * choose algorithms and fill caches */
#define LAST 100
#define WAITS 0.05		/* part of the time; less is noise */
#define MANY 1024		/* largest number of --loader-threads: steps
				 * that hardly compute would need any number */

struct limit
limit_decide(const struct limit_costs *c)
{
	double computing = c->seconds - c->waited,
	    loading = c->read + c->decode;
	struct limit l = { .kind = LIMIT_COMPUTATION,
		.needs = loading / (computing > 0 ? computing : c->seconds),
		.has = c->cores < 1 || c->threads < c->cores ? c->threads :
			c->cores,
		.wait = c->waited / c->seconds };

	if (l.wait > WAITS)
		l.kind = c->read > c->decode ? LIMIT_READING : LIMIT_DECODING;
	return l;
}

/* Return the name in log.jsonl. */
static const char *
limit_name(enum limit_kind kind)
{
	static const char *const name[] = { "computation", "decoding",
		"reading" };

	return name[kind];
}

void
limit_text(char *text, size_t size, const struct limit *l,
    const struct limit_costs *c, const char *shape)
{
	snprintf(text, size, "%s limits %s: of %d core%s the loader needs %s"
	    "%.1f, %.0f %% of that to read files", limit_name(l->kind), shape,
	    l->has, l->has == 1 ? "" : "s", l->needs > MANY ? "more than " : "",
	    fmin(l->needs, MANY), 100 * c->read / (c->read + c->decode));
}

/* Return the costs of the steps since the measurement began. */
static struct limit_costs
limit_costs(const struct trainer *t, const struct loader_stats *s)
{
	const struct limit_watch *m = &t->work->limit;
	/* The loader works ahead, so take the mean cost of all its clips. */
	double each = m->clips / t->comm->size / (double)(s->clips > 0 ?
	    s->clips : 1);

	return (struct limit_costs){ .steps = LAST - FIRST,
		.seconds = clock_seconds() - m->began,
		.waited = s->waited - m->first.waited,
		.read = s->read * each, .decode = (s->decode + s->resize) *
		each,
		.threads = t->loading.threads, .cores = t->cores };
}

static void
limit_log(struct trainer *t, const struct limit *l,
    const struct limit_costs *c, const char *shape)
{
	const struct json_member m[] = { JSON_MEMBER("cores", c->cores),
		JSON_MEMBER_TEXT("limit", limit_name(l->kind)),
		JSON_MEMBER("loader_threads", c->threads),
		JSON_MEMBER("needs", l->needs),
		JSON_MEMBER_TEXT("shape", shape),
		JSON_MEMBER("step_seconds", c->seconds / c->steps),
		JSON_MEMBER("wait", l->wait) };

	runlog_event(&t->run->log, "limit", t->state.step, m,
	    sizeof(m) / sizeof(m[0]));
}

static void
limit_report(struct trainer *t, const struct loader_stats *s)
{
	const struct cell *cell = t->work->seen.cell;
	struct limit_costs c = limit_costs(t, s);
	struct limit l = limit_decide(&c);
	char shape[40], text[200];

	snprintf(shape, sizeof(shape), "%dx%dx%d", cell->batch, cell->frames,
	    cell->crop);
	limit_text(text, sizeof(text), &l, &c, shape);
	progress_clear();
	note("%s", text);
	if (t->run != NULL)
		limit_log(t, &l, &c, shape);
}

void
limit_count(struct trainer *t, struct loader_stats stats)
{
	struct limit_watch *m = &t->work->limit;

	m->steps++;
	if (m->steps == FIRST) {
		m->began = clock_seconds();
		m->first = stats;
		m->clips = 0;
	} else if (m->steps <= LAST) {
		m->clips += t->work->seen.cell->batch;
	}
	if (m->steps == LAST && t->comm->rank == 0)
		limit_report(t, &stats);
}
