/* What a network is fed: targets, what is usual, and shapes. */
#include <limits.h>

#include "graph/feed.h"
#include "graph/metric.h"

double
target_weight(const struct target *t, int i)
{
	if (t->kind == TARGET_CLASS && t->label[i] < 0)
		return 0;
	return t->weight != NULL ? t->weight[i] : 1;
}

double
target_share(const struct target *t, int i, int c)
{
	return t->kind == TARGET_CLASS ? c == t->label[i] :
	    t->share[(size_t)i * (size_t)t->classes + (size_t)c];
}

int
target_rank(const struct target *t, int i, const double *scores)
{
	int best = INT_MAX, largest = 0;

	if (t->kind == TARGET_CLASS)
		return t->label[i] < 0 ? INT_MAX : metric_rank(scores,
		    t->classes, t->label[i]);
	for (int c = 1; c < t->classes; c++)
		if (target_share(t, i, c) > target_share(t, i, largest))
			largest = c;
	for (int c = 0; c < t->classes; c++)
		if (t->kind == TARGET_SET ? target_share(t, i, c) > 0 :
		    c == largest) {
			int rank = metric_rank(scores, t->classes, c);

			best = rank < best ? rank : best;
		}
	return best;
}

const struct needs needs_default = {
	.streams = 1, .targets = 1,
	.stream = (struct stream_need[]){ { STREAM_DEFAULT, 3 } },
	.target = (struct target_need[]){ { TARGET_DEFAULT, 0,
	    1 << TARGET_CLASS } },
};

void
needs_shapes(const struct needs *needs, int n, int t, int side,
    struct dims *shape)
{
	for (int i = 0; i < needs->streams; i++)
		shape[i] = (struct dims){ n, t, side, side,
			needs->stream[i].c };
}
