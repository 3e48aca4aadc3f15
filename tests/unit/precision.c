/*
 * Average precision equals sums computed by hand, with ties and without
 * positives.
 */
#include <math.h>

#include "graph/metric.h"
#include "tap.h"

static void
check(const char *what, const struct scored *s, size_t n, double want)
{
	struct scored copy[8];
	double got;

	memcpy(copy, s, n * sizeof(*s));
	got = metric_average_precision(copy, n);
	if (!ok(fabs(got - want) < 1e-15, "%s", what))
		diag("got %.17g, wanted %.17g", got, want);
}

int
main(void)
{
	static const struct scored first[] = { { 3, 1 }, { 2, 1 }, { 1, 0 } },
	    last[] = { { 1, 1 }, { 2, 0 }, { 3, 0 }, { 4, 0 } },
	    mixed[] = { { .9, 1 }, { .1, 1 }, { .5, 0 }, { .7, 0 }, { .6, 1 } },
	    equal[] = { { 1, 0 }, { 1, 1 }, { 1, 0 }, { 1, 1 } },
	    turned[] = { { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 0 } },
	    some[] = { { 2, 0 }, { 2, 1 }, { 1, 1 }, { 3, 1 } },
	    none[] = { { 2, 0 }, { 1, 0 } };

	check("all positives first", first, 3, 1);
	check("the positive is the last of four", last, 4, 1.0 / 4);
	check("positives are first, third and fifth", mixed, 5,
	    (1.0 / 1 + 2.0 / 3 + 3.0 / 5) / 3);
	check("equal scores are one threshold", equal, 4, 2.0 / 4);
	check("equal scores in another order give the same",
	    turned, 4, 2.0 / 4);
	check("equal scores among others",
	    some, 4, (1 + 2.0 / 3 + 3.0 / 4) / 3);
	check("without positives the result is -1", none, 2, -1);
	check("without samples the result is -1", none, 0, -1);
	return done();
}
