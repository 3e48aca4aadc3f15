#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/*
 * The engine of vt-bench.  It warms up, repeats, prints a table row for each
 * figure, and checks the figures against requirements.  A case (bench/cases.h)
 * defines a run, times it, and checks the result.
 *
 * The name of a row is a path such as op/tsm_r50/2x8x224/conv1/forward.  The
 * same measurement has the same name on every machine, so tables can be joined.
 */

#include <stddef.h>
#include <stdio.h>

#include "base/fail.h"

/* A figure: one measured value per run. */
struct figure { double *v; size_t n, cap; };

/* figure_add(f, v): Append the value ${v}. */
void figure_add(struct figure *f, double v);
void figure_free(struct figure *f);	/* leaves an empty figure */

/*
 * figure_min(f), figure_median(f), figure_quantile(f, q), figure_p99(f):
 * Return the smallest value; the middle value, or the mean of the two middle
 * ones; the smallest value that at least a part ${q}, or 99 %, of the values do
 * not exceed.  NaN without values.
 */
double figure_min(const struct figure *f);
double figure_median(const struct figure *f);
double figure_quantile(const struct figure *f, double q);
double figure_p99(const struct figure *f);

/* A bound on a median, "NAME<=X" or "NAME>=X".  NAME is a glob pattern. */
struct requirement { char *name; int least; double bound; size_t rows; };

/* The state of a benchmark: its options, its requirements, and counts. */
struct bench {
	int warmup, runs;		/* runs that are not counted; runs that
					 * are */
	int check;			/* 1: verify results */
	int threads;			/* worker threads, at least 1 */
	int json, verbose;
	FILE *out;			/* NULL: this rank prints nothing */

	struct requirement *require;
	size_t requirements, cap;
	int begun;			/* 1: the header is printed */
	size_t rows;			/* rows printed so far */
	int wrong, unmet;		/* wrong results; unmet requirements */
};

/*
 * bench_require(b, text, why):
 * Add the requirement ${text}.  Return 0, or -1 with the reason in ${why}.
 */
int bench_require(struct bench *b, const char *text, struct error *why);

/*
 * bench_repeat(b, run, arg):
 * Call ${run}(arg, 0) b->warmup times, then ${run}(arg, 1) b->runs times.  The
 * run times itself, and adds to its figures only if its second argument is 1.
 * Stop at the first result that is not 0.  Return the last result.
 */
int bench_repeat(const struct bench *b, int (*run)(void *arg, int counts),
    void *arg);

/*
 * bench_row(b, f, unit, note, fmt, ...):
 * Print figure ${f} as a row called ${fmt}, and check it against the
 * requirements.  ${note} is a comment for the reader; NULL: none.
 */
void bench_row(struct bench *b, const struct figure *f, const char *unit,
    const char *note, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * bench_value(b, v, unit, note, fmt, ...):
 * Print a row for the single value ${v}.
 */
#define bench_value(b, v, ...) \
	bench_row(b, &(struct figure){ (double[]){ v }, 1, 1 }, __VA_ARGS__)

/*
 * bench_rate(b, f, work, unit, note, fmt, ...):
 * Print a row of rates: ${work} divided by each value of ${f}, which are
 * seconds.
 */
void bench_rate(struct bench *b, const struct figure *f, double work,
    const char *unit, const char *note, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * bench_remark(b, fmt, ...):
 * Print a comment line in the table; nothing in JSON.
 */
void bench_remark(struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * bench_wrong(b, fmt, ...):
 * Report and count a wrong result.  The benchmark continues.
 */
void bench_wrong(struct bench *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * bench_end(b):
 * Print the last line of JSON and report requirements that match no row.
 * Return 0, or EXIT_FAILED if a result was wrong or a requirement unmet;
 * messages were printed.
 */
int bench_end(struct bench *b);

/* bench_close(b): Free the requirements. */
void bench_close(struct bench *b);

#endif
