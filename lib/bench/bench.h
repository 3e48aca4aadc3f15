#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/*
 * The engine of vt-bench: it warms up, repeats, prints a row of a table for
 * each figure, and holds the figures against what was required of them.  A
 * case (bench/cases.h) says what a run is, times it, and checks the answer.
 *
 * The name of a row is a path, op/tsm_r50/2x8x224/conv1/forward, and the same
 * for the same measurement on every machine, so that tables can be joined.
 */

#include <stddef.h>
#include <stdio.h>

#include "base/fail.h"

/* What was measured: a value for each run. */
struct figure { double *v; size_t n, cap; };

void figure_add(struct figure *f, double v);
void figure_free(struct figure *f);	/* leaves an empty figure */

/*
 * figure_min, figure_median, figure_p99:
 * The smallest value; the middle one, or the mean of the two in the middle;
 * the smallest one that 99 % of the values do not exceed.  NaN of no values.
 */
double figure_min(const struct figure *f);
double figure_median(const struct figure *f);
double figure_p99(const struct figure *f);

/* "NAME<=X" or "NAME>=X" of a median; NAME may have *, ? and [...]. */
struct requirement { char *name; int least; double bound; size_t rows; };

struct bench {
	int warmup, runs;		/* runs that do not count, and that do */
	int check;			/* verify answers */
	int threads;			/* to work with, 1 and more */
	int json, verbose;
	FILE *out;			/* NULL: this rank prints nothing */

	struct requirement *require;
	size_t requirements, cap;
	size_t rows;			/* printed so far */
	int wrong, unmet;		/* answers; required figures */
};

/* bench_require(b, text, why): ask for a figure; -1 after a message (error_set). */
int bench_require(struct bench *b, const char *text, struct error *why);

/* bench_begin(b): print what the machine is and the table's header. */
void bench_begin(struct bench *b);

/*
 * bench_repeat(b, run, arg):
 * Call ${run}(arg, 0) b->warmup times, then ${run}(arg, 1) b->runs times, until
 * one is not 0; return what the last one returned.  The run times itself, and
 * adds to its figures only if it is told that it counts.
 */
int bench_repeat(const struct bench *b, int (*run)(void *arg, int counts),
    void *arg);

/*
 * bench_row(b, f, unit, note, fmt, ...):
 * Print figure ${f} as the row called ${fmt}.  ${note} is for people; NULL:
 * none.
 * bench_value: the same for a single value.
 * bench_rate: ${work} divided by each of the seconds in ${f}.
 */
void bench_row(struct bench *b, const struct figure *f, const char *unit,
    const char *note, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void bench_value(struct bench *b, double v, const char *unit,
    const char *note, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void bench_rate(struct bench *b, const struct figure *f, double work,
    const char *unit, const char *note, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* bench_remark(b, fmt, ...): a comment line in the table; none in JSON. */
void bench_remark(struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* bench_wrong(b, fmt, ...): an answer is wrong: say so, and go on. */
void bench_wrong(struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * bench_end(b): the last line of JSON, and the verdict: 0, or EXIT_FAILED if
 * an answer was wrong or a required figure was not reached, after messages.
 */
int bench_end(struct bench *b);
void bench_close(struct bench *b);

#endif
