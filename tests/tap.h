#ifndef TESTS_TAP_H
#define TESTS_TAP_H

/* Print TAP from tests in C: ok(), is(), near(), skip(), done(). */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_run, tap_failed;

/*
 * Print a line "ok" if ${pass} is not 0, else "not ok", with the description
 * ${fmt}.  Return ${pass}.
 */
__attribute__((format(printf, 2, 3), unused)) static int
ok(int pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	tap_failed += !pass;
	fflush(stdout);
	return pass;
}

__attribute__((format(printf, 1, 2), unused)) static void
diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* Check that two integers are equal.  Print both if not. */
__attribute__((unused)) static int
is(long long got, long long want, const char *what)
{
	if (!ok(got == want, "%s", what))
		diag("got %lld, wanted %lld", got, want);
	return got == want;
}

/* Check that two texts are equal.  NULL equals nothing. */
__attribute__((unused)) static int
is_text(const char *got, const char *want, const char *what)
{
	int same = got != NULL && strcmp(got, want) == 0;

	if (!ok(same, "%s", what))
		diag("got \"%s\", wanted \"%s\"", got ? got : "(null)", want);
	return same;
}

/* Check that |got - want| <= tolerance.  A NaN fails. */
__attribute__((unused)) static int
near(double got, double want, double tolerance, const char *what)
{
	int pass = fabs(got - want) <= tolerance;

	if (!ok(pass, "%s", what))
		diag("got %.17g, wanted %.17g within %g", got, want, tolerance);
	return pass;
}

/*
 * Print a skipped test with its reason ${why}.  In CI, a reason that the list
 * may_skip of tests/run lacks counts as a failure.
 */
__attribute__((unused)) static void
skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_run, what, why);
}

/*
 * golden_path(name):
 * Return the path of tests/golden/${name}.  Tests run in the root of the tree.
 * Valid until the fourth next call.
 */
__attribute__((unused)) static const char *
golden_path(const char *name)
{
	static char path[4][512];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "tests/golden/%s", name);
	return p;
}

/* Print the plan, and return the exit status of main: 1 if a test failed. */
__attribute__((unused)) static int
done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed > 0;
}

#endif
