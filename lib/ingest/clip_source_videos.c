/*
 * A source that decodes video files ahead on its own threads.
 *
 * The network runs on the caller's thread, not on one of these, because a back
 * end may keep worker threads for each thread that calls it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ordered.h"
#include "ingest/clip_source.h"

#define AHEAD 2			/* videos that may be decoded ahead of the
				 * caller, per thread */

struct clip_source_videos {
	struct clip_source in;
	const char *const *path;
	const struct extract_options *how;
	struct extractor **extractor;	/* [threads] */
	int threads;
	struct ordered *videos;
	struct extraction *place;	/* [window]: video i at i % window */
	size_t window;
	struct extraction *given;	/* the clip that the caller has; NULL:
					 * none */
};

static void
clip_source_videos_decode(size_t i, int thread, void *arg)
{
	struct clip_source_videos *v = arg;

	extract_video(&(struct list_row){ .path = (char *)v->path[i],
	    .sample = { .source = v->path[i], .label = -1 } }, v->how,
	    v->extractor[thread], &v->place[i % v->window]);
}

static int
clip_source_videos_next(struct clip_source *in, const struct extraction **x)
{
	struct clip_source_videos *v = (struct clip_source_videos *)in;
	size_t i;

	if (v->given != NULL)
		extraction_free(v->given);
	v->given = NULL;
	if (!ordered_next(v->videos, &i))
		return 0;
	*x = v->given = &v->place[i % v->window];
	return 1;
}

static void
clip_source_videos_free(struct clip_source *in)
{
	struct clip_source_videos *v = (struct clip_source_videos *)in;

	ordered_free(v->videos);
	for (size_t i = 0; i < v->window; i++)
		extraction_free(&v->place[i]);
	for (int t = 0; t < v->threads; t++)
		extractor_free(v->extractor[t]);
	free(v->extractor);
	free(v->place);
	free(v);
}

struct clip_source *
clip_source_videos(const char *const *path, size_t n,
    const struct extract_options *how, int threads)
{
	struct clip_source_videos *v = xcalloc(1, sizeof(*v));

	v->in = (struct clip_source){ clip_source_videos_next,
	    clip_source_videos_free, NULL };
	v->path = path;
	v->how = how;
	v->threads = (size_t)threads > n ? (int)n : threads;
	/*
	 * One more than the threads may be ahead: the clip that the caller has.
	 */
	v->window = (size_t)v->threads * AHEAD + 1;
	v->place = xcalloc(v->window, sizeof(*v->place));
	v->extractor = xcalloc((size_t)v->threads, sizeof(*v->extractor));
	for (int t = 0; t < v->threads; t++)
		v->extractor[t] = extractor_new(how->quality);
	v->videos = ordered_new(n, v->threads, 0, v->window,
	    clip_source_videos_decode, v);
	return &v->in;
}

/* ---- dispatch ---- */

int
clip_source_next(struct clip_source *in, const struct extraction **x)
{
	return in->next(in, x);
}

void
clip_source_free(struct clip_source *in)
{
	if (in != NULL)
		in->free(in);
}
