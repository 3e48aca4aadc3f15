/*
 * Algorithms for convolutions are chosen once for each shape, without a GPU: by
 * rule, by measurement, from known measurements, or from an earlier choice.
 * The test supplies plans and seconds.
 *
 * Timing on the stand-in takes few launches, and leaves out algorithms whose
 * results are wrong or differ between two runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/conv_select.h"
#include "base/fail.h"
#include "base/mem.h"

#include "gpu/standin/standin.h"
#include "said.h"
#include "tap.h"

struct conv_plan { struct conv_shape s; };

/* Seconds of each pass; 0 if there is no plan. */
static double seconds[3];
static int opened, tried, ruled;

static void
key_of(const struct conv_shape *s, char key[CONV_KEY])
{
	snprintf(key, CONV_KEY, "%d of %d", (int)s->pass, s->n);
}

static struct conv_plan *
open_plan(struct conv_algorithms *w, const struct conv_shape *s)
{
	struct conv_plan *p = xcalloc(1, sizeof(*p));

	(void)w;
	p->s = *s;
	opened++;
	return p;
}

static void
close_plan(struct conv_algorithms *w, struct conv_plan *p)
{
	(void)w;
	free(p);
}

static int
candidates(struct conv_algorithms *w, struct conv_plan *p, struct engine_config *c,
    int max)
{
	(void)w, (void)max;
	*c = (struct engine_config){ .engine = 1 };
	ruled += seconds[p->s.pass] > 0;
	return seconds[p->s.pass] > 0;
}

static int
use(struct conv_algorithms *w, struct conv_plan *p, const struct engine_config *c)
{
	(void)w;
	return c->engine > 0 && seconds[p->s.pass] > 0 ? 0 : -1;
}

static int
tune(struct conv_algorithms *w, struct conv_plan *p, const struct conv_shape *s,
    struct engine_config *c)
{
	(void)w, (void)p;
	*c = (struct engine_config){ .engine = 2, .seconds = seconds[s->pass] };
	tried += c->seconds > 0;
	return c->seconds > 0 ? 0 : -1;
}

static struct conv_algorithms
ways(int measures)
{
	opened = tried = ruled = 0;
	return (struct conv_algorithms){ .choices = conv_cache_new(1, "x"),
		.measures = measures, .key = key_of, .open = open_plan,
		.close = close_plan, .candidates = candidates, .use = use,
		.tune = tune };
}

static struct conv_shape
shape(enum conv_pass pass)
{
	return (struct conv_shape){ .pass = pass, .type = GPU_F16, .dims = 2,
		.n = 1, .in = 8, .out = 16, .groups = 1, .from = { 2, 2 },
		.to = { 2, 2 }, .kernel = { 1, 1 }, .stride = { 1, 1 } };
}

/* Return whether the convolution has a plan. */
static int
has(struct conv_algorithms *w, enum conv_pass pass)
{
	struct conv_shape s = shape(pass);
	struct conv_plan *p = conv_select(w, &s);
	int is = p != NULL;

	close_plan(w, p);
	return is;
}

/* Return the engine that a table names for a pass, or "" if none. */
static const char *
engine(struct conv_algorithms *w, enum choices_kind which, enum conv_pass pass)
{
	static char found[16];
	struct conv_shape s = shape(pass);
	char key[CONV_KEY], *text = conv_cache_text(w->choices, which), *at;

	key_of(&s, key);
	found[0] = '\0';
	if ((at = strstr(text, key)) != NULL)
		sscanf(at + strlen(key), "\t%15[^\t]", found);
	free(text);
	return found;
}

static void
all_take(double s)
{
	for (int i = 0; i < 3; i++)
		seconds[i] = s;
}

/* Make another device from the made choices, or from the measurements, of this
 * one. */
static struct conv_algorithms
after(const struct conv_algorithms *w, enum choices_kind which, int measures)
{
	char *text = conv_cache_text(w->choices, which);
	struct conv_algorithms next = ways(measures);

	if (conv_cache_read(next.choices, which, "a table", text, NULL) != 0)
		ok(0, "the table of another device is accepted");
	free(text);
	return next;
}

static void
test_rule(void)
{
	struct conv_algorithms w = ways(0);
	char said[256];
	int all = 0;

	all_take(9);
	for (int i = 0; i < 6; i++)
		all += has(&w, (enum conv_pass)(i % 3));
	is(all, 6, "by rule, each convolution has a plan");
	ok(ruled == 3 && tried == 0, "a choice by rule stays, and nothing is "
	    "measured");
	seconds[CONV_DATA] = 0;
	conv_cache_free(w.choices);
	w = ways(0);
	said_begin(said, sizeof(said));
	all = has(&w, CONV_DATA);
	said_end();
	ok(!all && strstr(said, "no algorithm for 1 of 1") != NULL,
	    "a convolution without an algorithm is refused");
	conv_cache_free(w.choices);
}

static void
test_measurements(void)
{
	struct conv_algorithms w = ways(1), next;

	all_take(9);
	ok(has(&w, CONV_DATA) && tried == 1 && ruled == 0,
	    "a convolution is measured once");
	ok(has(&w, CONV_DATA) && tried == 1, "the choice stays");
	ok(strcmp(engine(&w, ALGORITHMS_SELECTED, CONV_DATA), "2") == 0 &&
	    strcmp(engine(&w, ALGORITHMS_MEASURED, CONV_DATA), "2") == 0,
	    "both tables name the fastest algorithm");
	next = after(&w, ALGORITHMS_SELECTED, 0);
	ok(has(&next, CONV_DATA) && ruled == 0 && tried == 0 &&
	    strcmp(engine(&next, ALGORITHMS_SELECTED, CONV_DATA), "2") == 0,
	    "other ranks follow the table");
	conv_cache_free(next.choices);
	next = after(&w, ALGORITHMS_MEASURED, 1);
	ok(has(&next, CONV_DATA) && tried == 0, "other runs follow the "
	    "measurements and try nothing");
	ok(has(&next, CONV_WEIGHTS) && tried == 1, "only what the table lacks "
	    "is measured");
	conv_cache_free(next.choices);
	next = after(&w, ALGORITHMS_MEASURED, 0);
	ok(has(&next, CONV_DATA) && ruled == 1, "the rule ignores "
	    "measurements");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
}

/*
 * Choose again if an engine in the table is gone.  Rows without an engine, of
 * fused patterns of an earlier version, are ignored.
 */
static void
test_gone(void)
{
	static const char table[] =
	    "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n"
	    "1\tx\t1 of 1\t0\t-\t0\n1\tx\t0 of 1, sums\t-\t-\t0\n";
	struct conv_algorithms w = ways(0);

	all_take(1);
	ok(conv_cache_read(w.choices, ALGORITHMS_SELECTED, "a table", table,
	    NULL) == 0 && has(&w, CONV_DATA) && ruled == 1, "an engine in the "
	    "table that does not exist is chosen again");
	is(strcmp(engine(&w, ALGORITHMS_SELECTED, CONV_FORWARD), ""), 0,
	    "a row without an engine is ignored");
	conv_cache_free(w.choices);
}

/* ---- timing on the stand-in ---- */

enum { ENGINES = 12, LAUNCHES = ENGINES * 2 + 3 * 20 };

/* The result of a search for one convolution. */
struct searched {
	int engine;			/* chosen */
	int launches;			/* of convolutions */
	int wrong, varies;		/* 1: a detail says so of engine 1 */
};

/* Read what was written to ${f}, the messages of a search. */
static void
read_messages(FILE *f, struct searched *r)
{
	char line[512];

	rewind(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		r->wrong |= strstr(line, "engine 1 is left out: the result "
		    "differs") != NULL;
		r->varies |= strstr(line, "engine 1 is left out: two runs "
		    "differ") != NULL;
	}
}

static struct searched
search(const struct conv_shape *s, size_t memory, int wrong, int varies)
{
	struct searched r = { .engine = -1 };
	FILE *trace = tmpfile(), *messages = tmpfile();
	int before = dup(STDERR_FILENO);
	struct driver *d = standin_open(&(struct standin_options){
		.memory = memory, .trace = trace });
	struct conv_plan *p;
	char line[4096], *text;

	dup2(fileno(messages), STDERR_FILENO);
	standin_engines(d, ENGINES, wrong, varies);
	d->algorithms->measures = 1;
	p = d->call->conv_new(d, s);
	dup2(before, STDERR_FILENO);
	close(before);
	read_messages(messages, &r);
	text = conv_cache_text(d->algorithms->choices, ALGORITHMS_SELECTED);
	if (p != NULL)
		sscanf(strchr(text, '\n') + 1, "%*[^\t]\t%*[^\t]\t%*[^\t]\t%d",
		    &r.engine);
	free(text);
	rewind(trace);
	while (fgets(line, sizeof(line), trace) != NULL)
		r.launches += strstr(line, " convolution ") != NULL;
	if (p != NULL)
		d->call->conv_free(d, p);
	d->call->close(d);
	fclose(trace);
	fclose(messages);
	return r;
}

static void
test_search(void)
{
	int all = 0, slow = 0, wrong = 0, varies = 0, named = 0, rule = 0;
	int long_searches = 0;

	program_verbose(1);
	for (int i = 0; i < 4 * GPU_TYPES; i++) {
		struct conv_shape s = shape((enum conv_pass)(i % 3));
		struct searched r;

		s.type = (enum gpu_type)(i / 4);
		s.accumulate = i % 4 == 3;
		if (s.accumulate)
			s.pass = CONV_DATA;
		s.n = 3;
		s.from[0] = s.to[0] = 5;
		s.kernel[0] = 3;
		s.pad[0] = 1;
		r = search(&s, 0, 0, 0);
		all++;
		slow += r.engine != 1;
		long_searches += r.launches > LAUNCHES || r.launches < 80;
		r = search(&s, 0, 1, 0);
		wrong += r.engine != 2;
		named += r.wrong && !r.varies;
		r = search(&s, 0, 0, 1);
		varies += r.engine != 2;
		named += r.varies && !r.wrong;
		r = search(&s, 4096, 0, 0);
		rule += r.engine == 0 && r.launches == 0;
	}
	program_verbose(0);
	is(slow, 0, "timing finds the fastest algorithm");
	is(long_searches, 0, "a search takes at most 12 x 2 + 3 x 20 launches");
	is(wrong, 0, "a fastest algorithm with wrong results is not used");
	is(varies, 0, "one whose runs differ in a bit is not used");
	is(named, 2 * all, "details name both");
	is(rule, all, "without memory to time, the rule decides");
}

/*
 * A weight gradient of many positions of equal channels stays finite in fp16,
 * so that its algorithms can be compared.
 */
static void
test_finite(void)
{
	struct conv_shape s = shape(CONV_WEIGHTS);
	struct searched r;

	s.out = s.in;
	s.n = 64;
	s.from[0] = s.to[0] = s.from[1] = s.to[1] = 64;
	program_verbose(1);
	r = search(&s, 0, 0, 0);
	program_verbose(0);
	is(r.engine, 1, "a sum of 262,144 products is timed in fp16");
}

int
main(void)
{
	test_rule();
	test_measurements();
	test_gone();
	test_search();
	test_finite();
	return done();
}
