/* The input of a network: values of targets, the default input, and shapes. */
#include "base/feed.h"

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
