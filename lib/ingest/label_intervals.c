/* Convert the label intervals of a list to frames of a sample. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/label_intervals.h"

/* Return the time of a frame, in seconds from the first stored one. */
static double
label_intervals_time_of(const struct sample *m, int frame)
{
	return m->time != NULL ? m->time[frame] / 1e4 :
	    (double)frame * m->fps.den / m->fps.num;
}

static int
label_intervals_within(int v, int frames)
{
	return v < 0 ? 0 : v >= frames ? frames - 1 : v;
}

/* Find the frames displayed from ${from} to ${to}, in seconds. */
static void
label_intervals_place_seconds(const struct sample *m, double from, double to,
    int *first, int *last)
{
	int on = 0;			/* the last frame not after ${from} */

	*first = *last = -1;
	for (int f = 0; f < m->frames; f++) {
		double t = label_intervals_time_of(m, f);

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

struct label_interval *
label_intervals_place(const struct list_row *row, const struct sample *m)
{
	struct label_interval *to = xcalloc((size_t)m->nlabels + 1,
	    sizeof(*to));
	double begin = row->part.unit == LIST_SECONDS ? row->part.begin : 0;

	for (int i = 0; i < m->nlabels; i++) {
		const struct list_label *s = &row->label[i];

		to[i] = (struct label_interval){ m->labels[i].class, 0,
			m->frames - 1 };
		if (s->unit == LIST_SECONDS && m->time == NULL &&
		    m->fps.num == 0 && m->frames > 1) {
			free(to);
			return fail_null("%s: labels in seconds, but its frame "
			    "rate is unknown", text_quote(row->path));
		}
		/*
		 * Times in a list count from the beginning of the video, those
		 * of a sample from its first frame.
		 */
		if (s->unit == LIST_SECONDS && m->frames > 1) {
			label_intervals_place_seconds(m,
			    s->from - begin, s->to - begin,
			    &to[i].first, &to[i].last);
		} else if (s->unit == LIST_FRAMES) {
			to[i].first = label_intervals_within((int)s->from,
			    m->frames);
			to[i].last = label_intervals_within((int)s->to,
			    m->frames);
		}
	}
	return to;
}
