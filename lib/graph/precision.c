/* Computes average precision from the scores of samples. */
#include <stdlib.h>

#include "graph/precision.h"

static int
precision_by_score(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

double
average_precision(struct scored *s, size_t n)
{
	double all = 0, right = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += s[i].right;
	if (all == 0)
		return -1;
	qsort(s, n, sizeof(*s), precision_by_score);
	for (size_t i = 0; i < n;) {
		double threshold = s[i].score, more = 0;

		/* Equal scores pass one threshold together. */
		for (; i < n && s[i].score == threshold; i++)
			more += s[i].right;
		right += more;
		sum += more / all * (right / (double)i);
	}
	return sum;
}
