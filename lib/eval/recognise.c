/* From the frames of a clip to its scores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/mem.h"
#include "base/pool.h"
#include "clip/fetch.h"
#include "eval/recognise.h"
#include "graph/ensemble.h"
#include "train/loop/evaluator.h"
#include "train/loop/feeder.h"

struct recogniser {
	const struct model *m;
	struct view_options v;		/* n: of a microbatch, as planned */
	int classes;
	enum loss_kind loss;
	struct feeder feeder;
	struct stream rgb;
	struct microbatch mb;		/* without labels */
	uint8_t *pixels;		/* [n][t][side][side][3] */
	double *scratch;		/* [n][classes] */

	/* What a microbatch shows: frame j of it is frame[j] of the clip. */
	int *frame;			/* [n][t] */
	struct crop *crop;		/* [n] */
	struct buffer bytes;		/* of frame j from at[j] to at[j + 1] */
	size_t *at;			/* [n t + 1] */
	char *bad;			/* [n t] */
	const struct extraction *now;

	struct pool *pool;
	struct fetch **fetch;		/* [threads] */
};

static size_t
recognise_frames_of(const struct recogniser *r)
{
	return (size_t)r->v.n * (size_t)r->v.t;
}

/*
 * As few microbatches as ${most} views in each allow, and all alike: ten views
 * are two of five and not eight and two with six that nobody asked for.
 */
static int
recognise_views_together(int views, int most)
{
	int microbatches = (views + most - 1) / most;

	return (views + microbatches - 1) / microbatches;
}

static void
recognise_open_microbatch(struct recogniser *r)
{
	const struct needs *needs = &r->m->graph->needs;
	size_t n = (size_t)r->v.n;

	r->rgb = (struct stream){ r->v.t, r->v.side, r->v.side, 3, r->pixels,
		NULL };
	r->mb = (struct microbatch){ .n = r->v.n, .stream = &r->rgb,
		.target = xcalloc((size_t)needs->targets + 1,
		    sizeof(*r->mb.target)),
		.clip = xcalloc(n, sizeof(*r->mb.clip)) };
	for (int i = 0; i < needs->targets; i++) {
		r->mb.target[i] = (struct target){ .kind = TARGET_CLASS,
			.classes = needs->target[i].classes,
			.label = xcalloc(n, sizeof(int)) };
		for (size_t k = 0; k < n; k++)
			r->mb.target[i].label[k] = -1;
	}
}

struct recogniser *
recogniser_new(const struct model *m, const struct view_options *v, int threads,
    int *status)
{
	struct recogniser *r = xcalloc(1, sizeof(*r));
	size_t side = (size_t)v->side, frames;

	r->m = m;
	r->v = *v;
	r->v.n = recognise_views_together(v->clips * v->crops, v->n);
	r->classes = m->graph->head[0].classes;
	r->loss = m->graph->op[m->graph->head[0].loss].loss;
	frames = recognise_frames_of(r);
	*status = EXIT_USAGE;
	r->feeder = (struct feeder){ .net = m->net, .own = &r->mb,
		.plan = evaluate_plan(m->net, &r->v) };
	if (r->feeder.plan == NULL)
		goto err;
	*status = EXIT_FAILED;
	if (net_reserve(m->net) != 0)
		goto err;
	r->pixels = xcalloc(frames, 3 * side * side);
	recognise_open_microbatch(r);
	r->scratch = xcalloc((size_t)r->v.n * (size_t)r->classes,
	    sizeof(*r->scratch));
	r->frame = xcalloc(frames, sizeof(*r->frame));
	r->crop = xcalloc((size_t)r->v.n, sizeof(*r->crop));
	r->at = xcalloc(frames + 1, sizeof(*r->at));
	r->bad = xcalloc(frames, 1);
	r->pool = pool_new(threads);
	r->fetch = xcalloc((size_t)threads, sizeof(*r->fetch));
	for (int i = 0; i < threads; i++)
		r->fetch[i] = fetch_new(NULL, NULL);
	return r;
err:
	recogniser_free(r);
	return NULL;
}

void
recogniser_free(struct recogniser *r)
{
	if (r == NULL)
		return;
	for (int i = 0; r->fetch != NULL && i < pool_threads(r->pool); i++)
		fetch_free(r->fetch[i]);
	if (r->pool != NULL)
		pool_free(r->pool);
	for (struct target *t = r->mb.target; t != NULL && t->label != NULL; t++)
		free(t->label);
	free(r->fetch);
	free(r->mb.target);
	free(r->mb.clip);
	free(r->pixels);
	free(r->scratch);
	free(r->frame);
	free(r->crop);
	buffer_free(&r->bytes);
	free(r->at);
	free(r->bad);
	free(r);
}

/* ---- pixels ---- */

/* Frame ${j} of the microbatch, on any thread. */
static int
recognise_decode_frame(struct recogniser *r, int j, int thread)
{
	const struct sample *m = &r->now->sample;
	size_t side = (size_t)r->v.side;
	struct fetch_cost cost = { 0 };

	return fetch_frame(r->fetch[thread], &(struct fetch_stored){
	    m->shard != NULL ? m->shard : "decoded",
	    m->key != NULL ? m->key : m->source, r->bytes.data + r->at[j],
	    r->at[j + 1] - r->at[j], r->frame[j], m->width, m->height,
	    strcmp(m->streams->kind[0].ext, "png") == 0 },
	    &(struct fetch_clip){ .side = r->v.side,
	    .crop = r->crop[j / r->v.t] },
	    r->pixels + (size_t)j * 3 * side * side, &cost);
}

static void
recognise_decode_part(int j, int thread, void *arg)
{
	struct recogniser *r = arg;

	r->bad[j] = recognise_decode_frame(r, j, thread) != 0;
}

/*
 * Views ${first} on to ${first} + ${n} - 1.  The bytes are copied first, on one
 * thread: what a spool gives stands until it is asked again.
 */
static int
recognise_load(struct recogniser *r, const struct extraction *a, int first,
    int n, char *why)
{
	const struct sample *m = &a->sample;
	struct clip_of of = { .total = m->frames, .fps = m->fps.den > 0 ?
		(double)m->fps.num / m->fps.den : 0 };
	int frames = n * r->v.t;

	r->now = a;
	r->bytes.n = 0;
	for (int i = 0; i < n; i++)
		view_choose(&r->v, first + i, of, m->width, m->height,
		    r->frame + i * r->v.t, &r->crop[i]);
	for (int j = 0; j < frames; j++) {
		size_t size;
		int k = a->place != NULL ? a->place[r->frame[j]] :
		    r->frame[j];
		const void *data = spool_get(a->frame, (size_t)k, &size);

		if (data == NULL)
			return -1;
		buffer_add(&r->bytes, data, size);
		r->at[j + 1] = r->bytes.n;
	}
	pool_run(r->pool, frames, recognise_decode_part, r);
	for (int j = 0; j < frames; j++)
		if (r->bad[j]) {
			recognise_decode_frame(r, j, 0);
			snprintf(why, RECOGNISE_WHY, "%s",
			    fetch_error(r->fetch[0]));
			return -2;
		}
	return 0;
}

/* ---- scores ---- */

int
recognise(struct recogniser *r, const struct extraction *a, double *scores,
    char *why)
{
	int views = r->v.clips * r->v.crops, bad;

	for (int first = 0; first < views; first += r->v.n) {
		int n = views - first < r->v.n ? views - first : r->v.n;

		if ((bad = recognise_load(r, a, first, n, why)) != 0)
			return bad;
		feeder_next(&r->feeder);
		feeder_forward(&r->feeder, NULL);
		net_scores(r->feeder.plan, r->scratch);
		feeder_done(&r->feeder);
		for (int i = 0; i < n; i++)
			ensemble_add(r->v.ensemble, r->loss, r->classes,
			    r->scratch + (size_t)i * (size_t)r->classes,
			    first + i == 0, scores);
	}
	ensemble_end(r->v.ensemble, r->loss, r->classes, views, scores);
	return 0;
}
