/* Decide which frames of a video are stored. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/needed.h"

/*
 * A header may be wrong by this number of frames: its duration is rounded, and
 * a frame at either end may not be displayed.
 */
enum { NEARLY = 2 };

void
needed_begin(struct needed *n, const struct extract_options *o,
    const struct extraction *x, double total, struct fraction fps)
{
	int about = (int)(total + 0.5);

	*n = (struct needed){ .all = o->need == NULL || total < 1 ||
		total > FRAME_MAX };
	if (n->all)
		return;
	n->n = (size_t)about + NEARLY;
	n->wanted = xcalloc(n->n, 1);
	/*
	 * Mark what is needed for every number of frames that is close to the
	 * declared one.
	 */
	for (int k = about - NEARLY; k <= about + NEARLY; k++)
		if (k > o->pairs)
			o->need(o->need_of, x, k - o->pairs, fps, n->wanted);
}

void
needed_reserve(struct needed *n, size_t frames)
{
	n->cap = frames;
	n->item = xrealloc(n->item, frames, sizeof(*n->item));
}

void
needed_free(struct needed *n)
{
	free(n->wanted);
	free(n->item);
	*n = (struct needed){ 0 };
}

int
needed_has(const struct needed *n)
{
	return n->all || (n->frames < n->n && n->wanted[n->frames]);
}

void
needed_add(struct needed *n, int item)
{
	n->item = array_reserve(n->item, n->frames, &n->cap, sizeof(*n->item));
	n->item[n->frames++] = item;
}

int
needed_done(struct needed *n, const struct extract_options *o,
    struct extraction *x)
{
	int missing = 0;

	if (!n->all) {
		n->n = n->frames;
		n->wanted = xrealloc(n->wanted, n->n, 1);
		memset(n->wanted, 0, n->n);
		o->need(o->need_of, x, (int)n->frames - o->pairs,
		    x->sample.fps, n->wanted);
		for (size_t k = 0; k < n->n; k++)
			missing |= n->wanted[k] && n->item[k] < 0;
	}
	if (missing) {
		n->frames = 0;
		return 0;
	}
	x->frame_item = n->item;		/* ${x} owns it now */
	n->item = NULL;
	return 1;
}
