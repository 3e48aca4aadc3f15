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
#define MANY 1024		/* largest number of --loader-threads */

struct limit
limit_decide(const struct limit_costs *c)
{
	double computing = c->seconds - c->waited, loading = c->read + c->decode;
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

/*
 * Return the needed threads rounded up, at least one more than there are and at
 * most ${MANY}.  Steps that hardly compute would need any number.
 */
static int
limit_wanted(const struct limit *l)
{
	int n = l->needs < MANY ? (int)ceil(l->needs) : MANY;

	return n > l->has ? n : l->has + 1;
}

void
limit_text(char *text, size_t size, const struct limit *l,
    const struct limit_costs *c, const char *shape)
{
	int n = limit_wanted(l);
	const char *more = l->needs > MANY ? "more than " : "";

	if (l->kind == LIMIT_COMPUTATION)
		snprintf(text, size, "computation limits %s: the loader needs "
		    "%.1f of %d core%s", shape, l->needs, l->has,
		    l->has == 1 ? "" : "s");
	else if (l->kind == LIMIT_READING)
		snprintf(text, size, "reading limits %s: %.0f %% of loading a "
		    "clip waits for files (wanted faster storage, or "
		    "--loader-threads=%d)", shape, 100 * c->read /
		    (c->read + c->decode), n);
	else if (l->has < c->cores)
		snprintf(text, size, "decoding limits %s: needs %s%d cores per "
		    "device, has %d (wanted --loader-threads=%d of %d cores)",
		    shape, more, n, l->has, n < c->cores ? n : c->cores, c->cores);
	else
		snprintf(text, size, "decoding limits %s: needs %s%d cores per "
		    "device, has %d (wanted more cores, or smaller stored "
		    "frames)", shape, more, n, l->has);
}

/* Return the costs of the steps since the measurement began. */
static struct limit_costs
limit_costs(const struct trainer *t, const struct loader_stats *s)
{
	const struct limit_watch *m = &t->work->limit;
	double clips = m->clips / t->comm->size;
	/* The loader works ahead, so take the mean cost of all its clips. */
	double each = clips / (double)(s->clips > 0 ? s->clips : 1);

	return (struct limit_costs){ .steps = LAST - FIRST,
		.seconds = clock_seconds() - m->began,
		.waited = s->waited - m->first.waited, .clips = clips,
		.read = s->read * each, .decode = (s->decode + s->resize) * each,
		.threads = t->loading.threads, .cores = t->o.cores };
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
