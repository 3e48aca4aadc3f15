/*
 * Score one clip: choose its views, decode and resize their frames on several
 * threads, run the network, and average the scores.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/pool.h"
#include "clip/fill.h"
#include "data/microbatches.h"
#include "eval/scorer.h"
#include "graph/metric.h"
#include "media/jpeg.h"
#include "train/loop/evaluator.h"
#include "train/loop/feeder.h"

struct scorer {
	const struct model *m;
	struct view_options v;		/* v.n: views in a microbatch, as
					 * planned */
	int classes;
	enum loss_kind loss;
	struct feeder feeder;
	const struct input_spec *needs;
	struct microbatch mb;		/* without labels */
	double *scratch;		/* [n][classes] */

	/* The content of the current microbatch. */
	struct frame_source (*source)[2];	/* [needs->streams] sources of
						 * each, as clips_fill_stream */
	pthread_mutex_t lock;		/* for the spool of the sources */
	struct clip_request *request;	/* [n] */
	int *frame;			/* [n][t]; request[i].frame points into
					 * it */
	int crops;			/* successive requests that show the
					 * same frames */
	char *bad;			/* [needs->streams n t]: 1 if the frame
					 * failed */

	struct pool *pool;
	struct filler **filler;		/* [threads] */
};

static size_t
scorer_frames_of(const struct scorer *r)
{
	return (size_t)r->v.n * (size_t)r->v.t;
}

/*
 * Return the size of equal microbatches, as few as ${largest} views in each
 * allow.  Ten views with ${largest} 8 become two microbatches of five, not one
 * of eight and one padded from two.  The crops of a clip stay together if they
 * fit, so that each of its frames is decoded once.
 */
static int
scorer_views_together(int clips, int crops, int largest)
{
	int unit = crops <= largest ? crops : 1;
	int units = clips * crops / unit;
	int microbatches = div_up(units, largest / unit);

	return unit * div_up(units, microbatches);
}

static void
scorer_open_microbatch(struct scorer *r)
{
	microbatch_open(r->needs, NULL, &r->mb, r->v.n);
	r->mb.n = r->v.n;
	for (int i = 0; i < r->needs->streams; i++) {
		int side = r->v.side, c = r->needs->stream[i].c;

		r->mb.stream[i] = (struct stream){ r->v.t, side, side, c,
			xcalloc(scorer_frames_of(r),
			    (size_t)side * (size_t)side * (size_t)c) };
	}
	for (struct target *t = r->mb.target; t->label != NULL; t++)
		for (int i = 0; i < r->v.n; i++)
			t->label[i] = -1;
}

struct scorer *
scorer_new(const struct model *m, const struct view_options *v, int threads,
    int *status)
{
	struct scorer *r = xcalloc(1, sizeof(*r));
	size_t frames, streams = (size_t)m->graph->needs.streams;

	r->m = m;
	r->needs = &m->graph->needs;
	r->v = *v;
	pthread_mutex_init(&r->lock, NULL);
	/* Before planning: the plan depends on the size of the microbatch. */
	r->v.n = scorer_views_together(v->clips, v->crops, v->n);
	r->classes = m->graph->head[0].classes;
	r->loss = m->graph->op[m->graph->head[0].loss].loss.kind;
	frames = scorer_frames_of(r);
	*status = EXIT_USAGE;
	r->feeder = (struct feeder){ .net = m->net, .own = &r->mb,
		.plan = evaluator_plan(m->net, &r->v) };
	if (r->feeder.plan == NULL)
		goto err;
	*status = EXIT_FAILED;
	if (net_reserve(m->net) != 0)
		goto err;
	scorer_open_microbatch(r);
	r->source = xcalloc(streams, sizeof(*r->source));
	r->scratch = xcalloc((size_t)r->v.n * (size_t)r->classes,
	    sizeof(*r->scratch));
	r->frame = xcalloc(frames, sizeof(*r->frame));
	r->request = xcalloc((size_t)r->v.n, sizeof(*r->request));
	for (int i = 0; i < r->v.n; i++)
		r->request[i].frame = r->frame + (size_t)i * (size_t)r->v.t;
	r->bad = xcalloc(streams, frames);
	r->pool = pool_new(threads);
	r->filler = xcalloc((size_t)threads, sizeof(*r->filler));
	for (int i = 0; i < threads; i++)
		r->filler[i] = filler_new(NULL);
	return r;
err:
	scorer_free(r);
	return NULL;
}

void
scorer_free(struct scorer *r)
{
	if (r == NULL)
		return;
	for (int i = 0; r->filler != NULL && i < pool_threads(r->pool); i++)
		filler_free(r->filler[i]);
	if (r->pool != NULL)
		pool_free(r->pool);
	for (int i = 0; r->mb.stream != NULL && i < r->needs->streams; i++)
		free(r->mb.stream[i].bytes);
	microbatch_close(&r->mb);
	pthread_mutex_destroy(&r->lock);
	free(r->filler);
	free(r->source);
	free(r->scratch);
	free(r->frame);
	free(r->request);
	free(r->bad);
	free(r);
}

/* ---- pixels ---- */

/*
 * Fill frame ${j} / streams of the microbatch in stream ${j} % streams, in all
 * crops that show it, as clips of one frame.  May run on any thread.
 */
static int
scorer_fill_frame(struct scorer *r, int j, int thread)
{
	int of = j % r->needs->streams, frame = j / r->needs->streams;
	int first = frame / r->v.t * r->crops, at = frame % r->v.t;
	const struct stream *s = &r->mb.stream[of];
	struct clip_request one[CLIPS_MAX];
	struct clip_out out[CLIPS_MAX];

	for (int k = 0; k < r->crops; k++) {
		one[k] = r->request[first + k];
		one[k].frame += at;
		one[k].t = 1;
		out[k] = (struct clip_out){ .bytes = microbatch_clip_bytes(
			&r->mb, of, first + k) + (size_t)at * (size_t)s->h *
			(size_t)s->w * (size_t)s->c };
	}
	return clips_fill_stream(r->filler[thread], &r->needs->stream[of],
	    r->source[of], one, out, r->crops);
}

static void
scorer_fill_part(int j, int thread, void *arg)
{
	struct scorer *r = arg;

	r->bad[j] = scorer_fill_frame(r, j, thread) != 0;
}

static unsigned
scorer_scale(const struct scorer *r, const struct clip_request *of)
{
	struct frame_level l = frame_level(r->source[0], of);

	return jpeg_decode_scale(&l.decode);
}

/*
 * Choose view ${first} and the following ones for the ${n} requests.  The crops
 * of a clip share its frames if these are then decoded at the scale of each
 * crop alone, which a packed dataset uses; so the scores are equal.
 */
static void
scorer_choose_views(struct scorer *r, int first, int n)
{
	struct clip_share share = { 0 };
	int same = r->v.n % r->v.crops == 0 && r->v.crops <= CLIPS_MAX;

	for (int i = 0; i < n; i++)
		microbatch_choose_view(&r->v, first + i, r->source[0],
		    &r->request[i]);
	for (int i = 0; i < r->v.crops && same; i++)
		clip_share_add(&share, &r->request[i].crop, r->v.side);
	for (int i = 0; i < r->v.crops && same; i++) {
		struct clip_request shared = r->request[i];

		shared.share = share;
		same = scorer_scale(r, &shared) == scorer_scale(r,
		    &r->request[i]);
	}
	for (int i = 0; i < n && same; i++)
		r->request[i].share = share;
	r->crops = same ? r->v.crops : 1;
}

/*
 * Fill ${n} views, the first of which is view ${first} of the clip.  Return as
 * scorer_run does.
 */
static int
scorer_load(struct scorer *r, int first, int n, char *why)
{
	int frames, j = 0, status;

	scorer_choose_views(r, first, n);
	frames = n / r->crops * r->v.t * r->needs->streams;
	pool_run(r->pool, frames, scorer_fill_part, r);
	while (j < frames && !r->bad[j])
		j++;
	if (j == frames)
		return 0;
	/* Repeat the first bad frame on this thread to get its message. */
	status = scorer_fill_frame(r, j, 0);
	snprintf(why, SCORER_WHY, "%s", filler_error(r->filler[0]));
	return status == -1 ? fail("%s", why) : -2;
}

/* ---- scores ---- */

/* Point the streams of the network to those of ${a}. */
static void
scorer_find_sources(struct scorer *r, const struct extraction *a)
{
	for (int i = 0; i < r->needs->streams; i++) {
		int of[2], n = fill_find_sources(a->sample.streams,
		    r->needs->stream[i].name, of);

		for (int k = 0; k < n; k++)
			r->source[i][k] = frame_source_spool(&a->sample, of[k],
			    a->frame, a->frame_item, &r->lock);
	}
}

int
scorer_run(struct scorer *r, const struct extraction *a, double *scores,
    char *why)
{
	int views = r->v.clips * r->v.crops, bad;

	scorer_find_sources(r, a);
	for (int first = 0; first < views; first += r->v.n) {
		int n = views - first < r->v.n ? views - first : r->v.n;

		if ((bad = scorer_load(r, first, n, why)) != 0)
			return bad;
		feeder_next(&r->feeder);
		feeder_forward(&r->feeder, NULL);
		net_scores(r->feeder.plan, r->scratch);
		feeder_done(&r->feeder);
		for (int i = 0; i < n; i++)
			metric_ensemble_add(r->v.ensemble, r->loss, r->classes,
			    r->scratch + (size_t)i * (size_t)r->classes,
			    first + i == 0, scores);
	}
	metric_ensemble_end(r->v.ensemble, r->loss, r->classes, views, scores);
	return 0;
}
