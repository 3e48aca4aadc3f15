/* Sets of classes, from lists into samples. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/spans.h"

/* Seconds from the first stored frame. */
static double
spans_time_of(const struct extraction *x, int frame)
{
	return x->time != NULL ? x->time[frame] / 1e4 :
	    (double)frame * x->fps.den / x->fps.num;
}

static int
spans_within(int v, int frames)
{
	return v < 0 ? 0 : v >= frames ? frames - 1 : v;
}

/* Frames that are on from ${from} to ${to} seconds. */
static void
spans_place_seconds(const struct extraction *x, double from, double to,
    int *first, int *last)
{
	int on = 0;			/* the last one not after ${from} */

	*first = *last = -1;
	for (int f = 0; f < x->frames; f++) {
		double t = spans_time_of(x, f);

		if (t <= from)
			on = f;
		if (t < from || t > to)
			continue;
		if (*first < 0)
			*first = f;
		*last = f;
	}
	if (*first < 0)
		*first = *last = on;
}

struct label_span *
spans_place(const struct list_row *row, const struct extraction *x, int *n)
{
	struct label_span *to = xcalloc((size_t)row->nset + 1, sizeof(*to));

	*n = row->nset;
	for (int i = 0; i < row->nset; i++) {
		const struct list_label *s = &row->set[i];

		to[i] = (struct label_span){ s->class, 0, x->frames - 1 };
		if (s->unit == LIST_SECONDS && x->time == NULL &&
		    x->fps.num == 0 && x->frames > 1) {
			free(to);
			return fail_null("%s: its labels are in seconds, and its "
			    "rate is not known", text_quote(row->path));
		}
		if (s->unit == LIST_SECONDS && x->frames > 1)
			spans_place_seconds(x, s->from - row->part.start,
			    s->to - row->part.start, &to[i].first,
			    &to[i].last);
		else if (s->unit == LIST_FRAMES)
			to[i].first = spans_within((int)s->from, x->frames),
			to[i].last = spans_within((int)s->to, x->frames);
	}
	return to;
}
