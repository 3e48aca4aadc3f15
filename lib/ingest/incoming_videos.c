/*
 * Video files, decoded ahead by threads.
 *
 * The network runs on the caller's thread, which is not one of these: a back
 * end may keep threads for each thread that calls it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "ingest/incoming_kind.h"

#define AHEAD 2			/* videos a thread may be ahead of the caller */

/* Video i has place i % window while next <= i < next + window. */
struct incoming_video { struct extraction x; int ready; };

struct incoming_videos {
	struct incoming in;
	const char *const *path;
	size_t n, window;
	const struct extract_options *how;
	pthread_t *thread;
	int threads;

	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t moved;
	struct incoming_video *place;
	size_t begun, next;
	int given;			/* the caller has video ${next} */
	int stop;
};

static void *
incoming_videos_thread(void *arg)
{
	struct incoming_videos *v = arg;
	struct extractor *e = extractor_new(v->how->quality);

	pthread_mutex_lock(&v->lock);
	for (;;) {
		struct incoming_video *to;
		size_t i;

		while (!v->stop && v->begun < v->n &&
		    v->begun - v->next >= v->window)
			pthread_cond_wait(&v->moved, &v->lock);
		if (v->stop || v->begun == v->n)
			break;
		i = v->begun++;
		to = &v->place[i % v->window];
		pthread_mutex_unlock(&v->lock);
		extract_video(v->path[i], &(struct list_part){ 0 },
		    v->how, e, &to->x);
		pthread_mutex_lock(&v->lock);
		to->ready = 1;
		pthread_cond_broadcast(&v->moved);
	}
	pthread_mutex_unlock(&v->lock);
	extractor_free(e);
	return NULL;
}

static int
incoming_videos_next(struct incoming *in, struct arrival *a)
{
	struct incoming_videos *v = (struct incoming_videos *)in;
	struct incoming_video *p;

	pthread_mutex_lock(&v->lock);
	if (v->given) {
		p = &v->place[v->next % v->window];
		extraction_free(&p->x);
		p->ready = v->given = 0;
		v->next++;
		pthread_cond_broadcast(&v->moved);
	}
	p = &v->place[v->next % v->window];
	while (v->next < v->n && !p->ready)
		pthread_cond_wait(&v->moved, &v->lock);
	v->given = v->next < v->n;
	if (v->given)
		*a = (struct arrival){ .name = v->path[v->next],
			.format = v->how->format, .x = p->x };
	pthread_mutex_unlock(&v->lock);
	return v->given;
}

static void
incoming_videos_free(struct incoming *in)
{
	struct incoming_videos *v = (struct incoming_videos *)in;

	pthread_mutex_lock(&v->lock);
	v->stop = 1;
	pthread_cond_broadcast(&v->moved);
	pthread_mutex_unlock(&v->lock);
	for (int i = 0; i < v->threads; i++)
		pthread_join(v->thread[i], NULL);
	for (size_t i = 0; i < v->window; i++)
		extraction_free(&v->place[i].x);
	pthread_mutex_destroy(&v->lock);
	pthread_cond_destroy(&v->moved);
	free(v->place);
	free(v->thread);
	free(v);
}

struct incoming *
incoming_videos(const char *const *path, size_t n,
    const struct extract_options *how, int threads)
{
	struct incoming_videos *v = xcalloc(1, sizeof(*v));

	v->in = (struct incoming){ incoming_videos_next, incoming_videos_free,
	    NULL };
	v->path = path;
	v->n = n;
	v->how = how;
	v->threads = (size_t)threads > n ? (int)n : threads;
	v->window = (size_t)v->threads * AHEAD + 1;
	v->place = xcalloc(v->window, sizeof(*v->place));
	v->thread = xcalloc((size_t)v->threads, sizeof(*v->thread));
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->moved, NULL);
	for (int i = 0; i < v->threads; i++)
		if (pthread_create(&v->thread[i], NULL, incoming_videos_thread,
		    v) != 0)
			die(EXIT_FAILED, "cannot start thread %d of %d that "
			    "decode videos", i + 1, v->threads);
	return &v->in;
}

/* ---- of every kind ---- */

int
incoming_next(struct incoming *in, struct arrival *a)
{
	return in->next(in, a);
}

const char *
incoming_settings(const struct incoming *in)
{
	return in->settings;
}

void
incoming_free(struct incoming *in)
{
	if (in != NULL)
		in->free(in);
}
