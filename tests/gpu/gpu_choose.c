/*
 * Algorithms for convolutions are chosen once for each shape, without a GPU: by
 * rule, by measurement, from known measurements, or from an earlier choice.  A
 * fused pattern without a plan is requested only once.  A pattern that is
 * slower than the unfused operations is not used.  The test supplies plans and
 * seconds.
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
#include "tap.h"

struct conv_plan { struct conv_shape s; };

/* Seconds by pass and pattern; 0 if there is no plan. */
static double seconds[3][CONV_FUSIONS];
static double norm[3];			/* seconds of kernels, by enum
					 * norm_part */
static int opened, tried, ruled;

static void
key_of(const struct conv_shape *s, char key[CONV_KEY])
{
	snprintf(key, CONV_KEY, "%d.%d of %d", (int)s->pass, (int)s->fusion, s->n);
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
	ruled += seconds[p->s.pass][p->s.fusion] > 0;
	return seconds[p->s.pass][p->s.fusion] > 0;
}

static int
use(struct conv_algorithms *w, struct conv_plan *p, const struct engine_config *c)
{
	(void)w;
	return c->engine > 0 && seconds[p->s.pass][p->s.fusion] > 0 ? 0 : -1;
}

static int
tune(struct conv_algorithms *w, struct conv_plan *p, const struct conv_shape *s,
    struct engine_config *c)
{
	(void)w, (void)p;
	*c = (struct engine_config){ .engine = 2,
		.seconds = seconds[s->pass][s->fusion] };
	tried += c->seconds > 0;
	return c->seconds > 0 ? 0 : -1;
}

static double
time_norm(struct conv_algorithms *w, const struct conv_shape *s, enum norm_part part)
{
	(void)w, (void)s;
	return norm[part];
}

static struct conv_algorithms
ways(int how)
{
	opened = tried = ruled = 0;
	return (struct conv_algorithms){ .choices = conv_cache_new(1, "x"), .how = how,
		.key = key_of, .open = open_plan, .close = close_plan,
		.candidates = candidates, .use = use, .tune = tune,
		.norm = time_norm };
}

static struct conv_shape
shape(enum conv_pass pass, enum conv_fusion pattern)
{
	return (struct conv_shape){ .pass = pass, .fusion = pattern,
		.type = GPU_F16, .dims = 2, .n = 1, .in = 8, .out = 16,
		.groups = 1, .from = { 2, 2 }, .to = { 2, 2 },
		.kernel = { 1, 1 }, .stride = { 1, 1 } };
}

/* Return whether the convolution has a plan. */
static int
has(struct conv_algorithms *w, enum conv_pass pass, enum conv_fusion pattern)
{
	struct conv_shape s = shape(pass, pattern);
	struct conv_plan *p = conv_select(w, &s);
	int is = p != NULL;

	close_plan(w, p);
	return is;
}

static int
normed(struct conv_algorithms *w)
{
	return has(w, CONV_FORWARD, CONV_NORMED_SUMS) &&
	    has(w, CONV_DATA, CONV_NORM_BACK) &&
	    has(w, CONV_WEIGHTS, CONV_NORMED);
}

static int
sums(struct conv_algorithms *w)
{
	return has(w, CONV_FORWARD, CONV_SUMS);
}

/* Return the engine that a table names for a convolution, or "" if none. */
static const char *
engine(struct conv_algorithms *w, enum choices_kind which, enum conv_pass pass,
    enum conv_fusion pattern)
{
	static char found[16];
	struct conv_shape s = shape(pass, pattern);
	char key[CONV_KEY], *text = conv_cache_text(w->choices, which), *at;

	key_of(&s, key);
	found[0] = '\0';
	if ((at = strstr(text, key)) != NULL)
		sscanf(at + strlen(key), "\t%15[^\t]", found);
	free(text);
	return found;
}

/* Let plain convolutions take 1 s, patterns ${fused} s, and kernels 1 ms. */
static void
all_take(double fused)
{
	for (int i = 0; i < 3; i++)
		norm[i] = 1e-3;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < CONV_FUSIONS; k++)
			seconds[i][k] = k == CONV_UNFUSED ? 1 : fused;
}

/* Return whether the patterns of a norm are used if kernel ${part} takes
 * ${kernel} seconds. */
static int
normed_if(enum norm_part part, double kernel)
{
	double was = norm[part];
	struct conv_algorithms w = ways(TUNE_MEASURE);
	int used;

	norm[part] = kernel;
	used = normed(&w);
	norm[part] = was;
	conv_cache_free(w.choices);
	return used;
}

/* Make another device from the made choices, or from the measurements, of this
 * one. */
static struct conv_algorithms
after(const struct conv_algorithms *w, enum choices_kind which, int how)
{
	char *text = conv_cache_text(w->choices, which);
	struct conv_algorithms next = ways(how);

	if (conv_cache_read(next.choices, which, "a table", text, NULL) != 0)
		ok(0, "the table of another device is accepted");
	free(text);
	return next;
}

static void
test_rule(void)
{
	struct conv_algorithms w = ways(0), next;

	all_take(9);
	ok(normed(&w) && sums(&w) && has(&w, CONV_DATA, CONV_UNFUSED),
	    "by rule, each pattern with a plan is used");
	is(ruled, 5, "by rule, each convolution is chosen once");
	ok(normed(&w) && ruled == 5 && tried == 0, "a choice by rule stays, "
	    "and nothing is measured");
	seconds[CONV_DATA][CONV_NORM_BACK] = 0;
	next = ways(0);
	ok(!normed(&next) && !normed(&next), "if one pattern of a norm has no "
	    "plan, none is used");
	is(opened, 3, "a missing plan is requested only once");
	ok(strcmp(engine(&next, ALGORITHMS_SELECTED, CONV_DATA, CONV_NORM_BACK),
	    "-") == 0, "a missing plan is listed as \"-\" in the table");
	conv_cache_free(w.choices);
	w = after(&next, ALGORITHMS_SELECTED, 0);
	ok(!has(&w, CONV_DATA, CONV_NORM_BACK) && opened == 0,
	    "another device takes the missing plan from the table and does not "
	    "request it");
	conv_cache_free(next.choices);
	next = after(&w, ALGORITHMS_MEASURED, TUNE_MEASURE);
	ok(!has(&next, CONV_DATA, CONV_NORM_BACK) && opened == 1,
	    "a table of measurements without this pattern leads to a new "
	    "request");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
}

/* Compare a norm and its convolution, fused and unfused. */
static void
test_norms(void)
{
	struct conv_algorithms w, next;

	all_take(1.25);			/* 3.75 s fused, 3 s unfused */
	w = ways(TUNE_MEASURE);
	ok(!normed(&w), "patterns that are slower than the unfused operations "
	    "are not used");
	ok(strcmp(engine(&w, ALGORITHMS_SELECTED, CONV_FORWARD, CONV_NORMED_SUMS),
	    "-") == 0, "the table lists a slower pattern as \"-\"");
	next = after(&w, ALGORITHMS_SELECTED, 0);
	ok(!normed(&next) && opened == 0, "other ranks follow the table and "
	    "make no plans");
	conv_cache_free(next.choices);
	next = after(&w, ALGORITHMS_MEASURED, TUNE_MEASURE);
	ok(!normed(&next) && tried == 0, "other runs follow the measurements "
	    "and try nothing");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
	seconds[CONV_FORWARD][CONV_SUMS] = 9;
	for (int i = 0; i < 3; i++)
		ok(!normed_if(i, 0.74) && normed_if(i, 0.76), "the time of "
		    "each kernel decides (%d)", i);
	ok(normed_if(PART_APPLY, 0), "a kernel that takes 0 s, not measured, "
	    "decides nothing");
	seconds[CONV_FORWARD][CONV_SUMS] = 1.25;
	norm[PART_SUMS_BACK] = 0.76;
	w = ways(TUNE_MEASURE);
	ok(normed(&w), "patterns that are faster than the unfused operations "
	    "are used");
	next = after(&w, ALGORITHMS_MEASURED, TUNE_MEASURE);
	ok(normed(&next) && tried == 0, "other runs use the faster patterns "
	    "and try nothing");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
	/* If sums cost nothing in the convolution, no kernel needs to compute
	 * them. */
	seconds[CONV_FORWARD][CONV_SUMS] = 1;
	norm[PART_SUMS] = 9;
	norm[PART_SUMS_BACK] = 0.74;
	w = ways(TUNE_MEASURE);
	ok(!normed(&w), "unfused operations take sums from the convolution if "
	    "that is faster than a kernel");
	conv_cache_free(w.choices);
}

static void
test_sums(void)
{
	struct conv_algorithms w;

	all_take(1.25);
	norm[PART_SUMS] = 0.24;
	w = ways(TUNE_MEASURE);
	ok(!sums(&w), "sums in the convolution that are slower than a kernel "
	    "are not used");
	conv_cache_free(w.choices);
	norm[PART_SUMS] = 0.26;
	w = ways(TUNE_MEASURE);
	ok(sums(&w), "sums in the convolution that are faster than a kernel "
	    "are used");
	conv_cache_free(w.choices);
	/* A pattern that was measured for another decision is decided, too. */
	norm[PART_SUMS] = 0.24;
	w = ways(TUNE_MEASURE);
	ok(!normed(&w) && !sums(&w), "sums measured for the decision on a norm "
	    "are not used if they are slower");
	ok(strcmp(engine(&w, ALGORITHMS_MEASURED, CONV_FORWARD, CONV_SUMS), "-") == 0,
	    "the measured decision on sums is in the table of measurements");
	conv_cache_free(w.choices);
}

static void
test_plain(void)
{
	struct conv_algorithms w, next;
	char *known;

	all_take(0.1);
	w = ways(TUNE_MEASURE | TUNE_UNFUSED);
	ok(!normed(&w) && !sums(&w) && has(&w, CONV_DATA, CONV_UNFUSED),
	    "TUNE_PLAIN: only plain convolutions are used");
	is(tried, 1, "TUNE_PLAIN: no patterns are tried");
	known = conv_cache_text(w.choices, ALGORITHMS_MEASURED);
	ok(strstr(known, "\t-\t-\t") == NULL, "TUNE_PLAIN: the table of "
	    "measurements rules out no pattern for other runs");
	free(known);
	next = after(&w, ALGORITHMS_SELECTED, TUNE_MEASURE);
	ok(!normed(&next) && !sums(&next), "TUNE_PLAIN: the table of choices "
	    "keeps this run on plain convolutions");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
	w = ways(TUNE_MEASURE);
	ok(normed(&w), "a run with patterns begins");
	next = after(&w, ALGORITHMS_SELECTED, TUNE_UNFUSED);
	ok(normed(&next), "a run that began with patterns continues with them "
	    "under TUNE_PLAIN");
	conv_cache_free(next.choices);
	conv_cache_free(w.choices);
}

/* Choose again if an engine in the table is gone.  A plain convolution cannot
 * be left out. */
static void
test_gone(void)
{
	static const char table[] =
	    "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n"
	    "1\tx\t1.0 of 1\t-\t-\t0\n1\tx\t1.4 of 1\t0\t-\t0\n";
	struct conv_algorithms w = ways(0);

	all_take(1);
	ok(conv_cache_read(w.choices, ALGORITHMS_SELECTED, "a table", table,
	    NULL) == 0 &&
	    has(&w, CONV_DATA, CONV_UNFUSED) && has(&w, CONV_DATA,
	    CONV_NORM_BACK) && ruled == 2, "engines in the table that no "
	    "longer exist are chosen again");
	conv_cache_free(w.choices);
}

/* ---- timing on the stand-in ---- */

enum { ENGINES = 12, LAUNCHES = ENGINES * 2 + 3 * 20 };

/* The result of a search for one convolution and those it is compared with. */
struct searched {
	int engine;			/* chosen */
	int sessions, launches;		/* of convolutions */
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
	d->algorithms->how = TUNE_MEASURE;
	p = d->call->conv_new(d, s);
	dup2(before, STDERR_FILENO);
	close(before);
	read_messages(messages, &r);
	text = conv_cache_text(d->algorithms->choices, ALGORITHMS_MEASURED);
	for (char *at = strchr(text, '\n'); at[1] != '\0';
	    at = strchr(at + 1, '\n'))
		r.sessions++;
	free(text);
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
	static const enum conv_pass pass[] = { [CONV_SUMS] = CONV_FORWARD,
		[CONV_NORMED_SUMS] = CONV_FORWARD, [CONV_NORMED] = CONV_WEIGHTS,
		[CONV_NORM_BACK] = CONV_DATA };
	int all = 0, slow = 0, wrong = 0, varies = 0, named = 0, rule = 0;
	int long_searches = 0;

	program_verbose(1);
	for (int i = 0; i < 3 * GPU_TYPES + CONV_FUSIONS; i++) {
		int fused = i - 3 * GPU_TYPES;
		struct conv_shape s = fused > 0 ? shape(pass[fused],
		    (enum conv_fusion)fused) : shape((enum conv_pass)(i % 3),
		    CONV_UNFUSED);
		struct searched r;

		s.type = fused > 0 ? GPU_F16 : (enum gpu_type)(i / 3 %
		    GPU_TYPES);
		s.accumulate = fused == 0;
		if (fused == 0)
			s.pass = CONV_DATA;
		s.n = 3;
		s.from[0] = s.to[0] = 5;
		s.kernel[0] = 3;
		s.pad[0] = 1;
		r = search(&s, 0, 0, 0);
		all++;
		slow += r.engine != 1;
		long_searches += r.sessions < 1 || r.launches > LAUNCHES *
		    r.sessions || r.launches < 80 * r.sessions;
		r = search(&s, 0, 1, 0);
		wrong += r.engine != 2;
		named += r.wrong && !r.varies;
		r = search(&s, 0, 0, 1);
		varies += r.engine != 2;
		named += r.varies && !r.wrong;
		r = search(&s, 4096, 0, 0);
		rule += r.engine == 0 && r.sessions == 0 && r.launches == 0;
	}
	program_verbose(0);
	is(slow, 0, "timing finds the fastest algorithm");
	is(long_searches, 0, "a search takes at most 12 x 2 + 3 x 20 launches");
	is(wrong, 0, "a fastest algorithm with wrong results is not used");
	is(varies, 0, "one whose runs differ in a bit is not used");
	is(named, 2 * all, "details name both");
	is(rule, all, "without memory to time, the rule decides");
}

/* Time one kernel, in the memory that it declares.  The stand-in ends the
 * program if the kernel touches other memory. */
static void
test_kernels(void)
{
	for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++) {
		struct device *d = device_open(standin_backend(STANDIN_AT_ONCE),
		    &(struct device_options){ .precision = p });
		struct task t = { .device = d, .materialized = 1,
			.out = { 2, 3, 5, 5, 24 } };
		size_t bytes[] = { device_bytes(d, &t.out),
			cuda_norm_memory_bytes(&t, 0), device_bytes(d, &t.out),
			cuda_norm_memory_bytes(&t, 1), 24 * 4, 24 * 4 };
		void *at[6];
		long before;

		for (int i = 0; i < 6; i++)
			at[i] = device_alloc(d, bytes[i]);
		t.x[0] = at[0];
		t.saved = at[1];
		t.y = at[2];
		t.dy = at[2];
		t.scratch = at[3];
		t.w[0] = at[4];
		t.w[1] = at[5];
		before = standin_pieces(standin_of(d));
		for (int i = 0; i < 3; i++)
			cuda_norm_part(&t, (enum norm_part)i);
		is(standin_pieces(standin_of(d)) - before, 3,
		    "timing runs one kernel at a time");
		for (int i = 0; i < 6; i++)
			device_free(d, at[i]);
		device_close(d);
	}
}

int
main(void)
{
	test_kernels();
	test_rule();
	test_norms();
	test_sums();
	test_plain();
	test_gone();
	test_search();
	return done();
}
