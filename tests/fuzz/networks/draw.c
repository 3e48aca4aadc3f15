/* Draws the clips, targets and weights of a check. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "net/feed.h"

#include "fuzz/networks/job.h"

static uint32_t
check_word(const struct check_job *j, uint32_t i, uint32_t what)
{
	return rng_philox(j->n->seed, i, what, (uint32_t)j->data, 77).w[0];
}

static void
check_draw_targets(const struct check_job *j, struct target *t, int n)
{
	static const float class_weight[NET_CLASSES] = { 1, 0.5f, 2, 1, 0.25f, 1,
		1.5f, 3 };

	if (j->n->seed % 5 == 0 && n > 1)
		t->label[n - 1] = -1;
	if (j->n->seed % 7 == 0) {
		t->weight = xcalloc((size_t)n, sizeof(*t->weight));
		for (int i = 0; i < n; i++)
			t->weight[i] = 0.5f + (float)i;
	}
	if (j->n->seed % 11 == 0)
		t->class_weight = class_weight;
}

/*
 * Fill the clips of ${f}, and its labels, or soft targets if the losses take
 * them.  Some networks have clips without a label, and weights of clips and
 * classes.
 */
static void
check_draw_feed(struct check_job *j, struct feed *f, const struct dims *in,
    uint32_t what)
{
	const struct input_spec *needs = &j->g->needs;
	struct target *t;

	feed_make(f, in, needs);
	for (int s = 0; s < needs->streams; s++)
		for (size_t i = 0; i < dims_count(&in[s]); i++)
			f->stream[s].bytes[i] = (uint8_t)check_word(j, (uint32_t)i,
			    what + (uint32_t)s);
	t = (struct target *)f->target;
	for (int i = 0; i < in->n; i++)
		t->label[i] = (int)(check_word(j, (uint32_t)i, what + 8) %
		    NET_CLASSES);
	check_draw_targets(j, t, in->n);
	if (!j->n->soft || (needs->target[0].kinds & ~(1u << TARGET_CLASS)) == 0)
		return;
	t->kind = needs->target[0].kinds & 1 << TARGET_SOFT ? TARGET_SOFT :
	    TARGET_SET;
	t->soft = xcalloc((size_t)in->n * NET_CLASSES, sizeof(*t->soft));
	for (int i = 0; i < in->n && t->label[i] >= 0; i++) {
		t->soft[i * NET_CLASSES + t->label[i]] += t->kind == TARGET_SOFT ?
		    0.75f : 1;
		t->soft[i * NET_CLASSES + i % NET_CLASSES] +=
		    t->kind == TARGET_SOFT ? 0.25f : 0;
	}
}

static void
check_free_feed(struct check_job *j, struct feed *f)
{
	if (f->target != NULL) {
		free(f->target->soft);
		free(f->target->weight);
	}
	feed_free(f, &j->g->needs);
}

/*
 * Draw weights that a float holds.  Scales, offsets and statistics vary, so that
 * an unused one shows.
 */
static void
check_draw_weights(struct check_job *j)
{
	const struct graph *g = j->g;

	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];
		double spread = p->std > 0 ? p->std : 0.1;

		for (size_t i = 0; i < p->count; i++) {
			double v = spread * rng_normal(j->n->seed +
			    (uint64_t)j->data, (uint32_t)k, (uint32_t)i);

			if (p->kind == PARAM_VAR)
				v = fabs(v);
			j->w[p->offset + i] = (float)(v +
			    (p->std > 0 ? 0 : p->fill));
		}
	}
}

void
check_draw(struct check_job *j, int data)
{
	check_free_feed(j, &j->feed);
	check_free_feed(j, &j->later);
	j->data = data;
	check_draw_feed(j, &j->feed, j->in, 100);
	check_draw_feed(j, &j->later, j->next, 200);
	check_draw_weights(j);
}
