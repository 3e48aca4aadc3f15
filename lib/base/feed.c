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
target_soft_label(const struct target *t, int i, int c)
{
	return t->kind == TARGET_CLASS ? c == t->label[i] :
	    t->soft[(size_t)i * (size_t)t->classes + (size_t)c];
}

const struct input_spec input_spec_default = {
	.streams = 1, .targets = 1,
	.stream = (struct stream_spec[]){ { STREAM_DEFAULT, 3 } },
	.target = (struct target_spec[]){ { TARGET_DEFAULT, 0,
	    1 << TARGET_CLASS } },
};

void
input_spec_shapes(const struct input_spec *needs, int n, int t, int side,
    struct dims *shape)
{
	for (int i = 0; i < needs->streams; i++)
		shape[i] = (struct dims){ n, t, side, side,
			needs->stream[i].c };
}
