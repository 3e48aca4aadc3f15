#ifndef INGEST_EXTRACT_BUDGET_H
#define INGEST_EXTRACT_BUDGET_H

#include "ingest/extract.h"

/*
 * Extraction by worker processes with limits (ingest/extract_worker.h), so that
 * a crash, a loop or a growing decoder costs one video.  Each thread of the
 * caller has one worker, which is used for its next video if it survives, and
 * replaced if not: a start takes 45 ms of a processor, most of it for FFmpeg's
 * libraries.  The result is that of extract_video.
 */

/* The limits of a video; 0: none. */
struct extract_budget {
	double cpu, wall;		/* seconds */
	int64_t memory;			/* resident bytes of the worker */
};

/*
 * extract_budget_parse(text, b, why):
 * Set ${b} from ${text}, such as "cpu:60s,wall:5m,memory:2G", in which each
 * limit may be missing, but not all, and none may occur twice.  Return 0, or -1
 * with the reason in ${why}.
 */
int extract_budget_parse(const char *text, struct extract_budget *b,
    struct error *why);

struct extract_pool;

/*
 * extract_pool_new(o, b, threads, flow_threads):
 * Return a pool of ${threads} workers that extract as ${o} says, each with
 * ${flow_threads} threads for optical flow.  They are started when they are
 * needed.  ${o} and ${b} must not change; o->stopped is polled in the caller's
 * process, and o->need must be NULL.  extract_pool_free frees it.
 */
struct extract_pool *extract_pool_new(const struct extract_options *o,
    const struct extract_budget *b, int threads, int flow_threads);

/*
 * extract_pool_video(p, row, thread, x):
 * Do what extract_video does for ${row}, in the worker of ${thread}.  If the
 * worker ends or exceeds a limit, x->message names the signal or the limit.
 * x->lost is 1 if no worker can be started, or if the frames could not be
 * spooled or read back.
 */
void extract_pool_video(struct extract_pool *p, const struct list_row *row,
    int thread, struct extraction *x);

/*
 * extract_pool_free(p):
 * End all workers and wait for them.  No thread may be in extract_pool_video.
 * NULL does nothing.
 */
void extract_pool_free(struct extract_pool *p);

#endif
