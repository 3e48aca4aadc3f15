/* The sets of classes of samples. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/info.h"
#include "shard/sets.h"

struct sets {
	size_t *first;			/* [samples + 1] */
	char *has;			/* [samples] a set, maybe an empty one */
	struct class_span *span;
	size_t n, cap;
};

void
sets_free(struct sets *s)
{
	if (s == NULL)
		return;
	free(s->first);
	free(s->has);
	free(s->span);
	free(s);
}

static int
sets_add_sample(struct sets *s, const struct dataset *d, uint32_t i,
    const struct sample *m, struct buffer *b)
{
	char *what = xprintf("%s: key %s", text_quote(m->shard), m->key);
	int bad = dataset_json_read(d, i, b);
	struct info *info = bad ? NULL : info_read(what, b->data, b->n);

	if (!bad && info == NULL)
		bad = -2;
	for (int k = 0; !bad && k < info->sample.nlabels; k++) {
		const int *l = info->sample.labels[k];

		if (l[0] >= dataset_classes(d)) {
			fail("%s: label %d (there are %d classes)", what, l[0],
			    dataset_classes(d));
			bad = -2;
			break;
		}
		s->span = array_room(s->span, s->n, &s->cap, sizeof(*s->span));
		s->span[s->n++] = (struct class_span){ l[0], l[1], l[2] };
	}
	info_free(info);
	free(what);
	return bad;
}

struct sets *
sets_read(const struct dataset *d, int *bad)
{
	uint32_t n = dataset_samples(d);
	struct buffer b = { 0 };
	struct sets *s = NULL;

	*bad = 0;
	for (uint32_t i = 0; i < n && *bad == 0; i++) {
		struct sample m = dataset_sample(d, i);

		if (s == NULL && (m.flags & SHARD_LABELS)) {
			s = xcalloc(1, sizeof(*s));
			s->first = xcalloc((size_t)n + 1, sizeof(*s->first));
			s->has = xcalloc(n, 1);
		}
		if (s == NULL)
			continue;
		if (m.flags & SHARD_LABELS) {
			s->has[i] = 1;
			*bad = sets_add_sample(s, d, i, &m, &b);
		}
		s->first[i + 1] = s->n;
	}
	buffer_free(&b);
	if (*bad == 0)
		return s;
	sets_free(s);
	return NULL;
}

const struct class_span *
sets_of(const struct sets *s, uint32_t i, int *n)
{
	static const struct class_span none;

	*n = 0;
	if (s == NULL || !s->has[i])
		return NULL;
	*n = (int)(s->first[i + 1] - s->first[i]);
	return *n > 0 ? s->span + s->first[i] : &none;
}
