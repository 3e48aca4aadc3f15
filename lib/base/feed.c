/* The input of a network: values of targets, the default input, and shapes. */
#include <string.h>

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

double
target_class_weight(const struct target *t, int c)
{
	return t->class_weight != NULL ? t->class_weight[c] : 1;
}

const struct input_spec input_spec_default = {
	.streams = 1, .targets = 1,
	.stream = (struct stream_spec[]){ { STREAM_DEFAULT, 3 } },
	.target = (struct target_spec[]){ { TARGET_DEFAULT, 0,
	    1 << TARGET_CLASS } },
};

int
stream_unit(const char *name)
{
	return strcmp(name, STREAM_FLOW) == 0 ? 2 :
	    strcmp(name, STREAM_RGBDIFF) == 0 ? 3 : 0;
}

/*
 * Return the consecutive stored frames of ${s} that one frame of a clip reads.
 */
static int
stream_span(const struct stream_spec *s)
{
	int unit = stream_unit(s->name);

	return unit == 0 ? 1 : s->c / unit + (unit == 3);
}

int
input_spec_span(const struct input_spec *needs)
{
	int span = 1;

	for (int i = 0; i < needs->streams; i++)
		if (stream_span(&needs->stream[i]) > span)
			span = stream_span(&needs->stream[i]);
	return span;
}

void
input_spec_shapes(const struct input_spec *needs, int n, int t, int side,
    struct dims *shape)
{
	for (int i = 0; i < needs->streams; i++)
		shape[i] = (struct dims){ n, t, side, side,
			needs->stream[i].c };
}
