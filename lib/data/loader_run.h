#ifndef DATA_LOADER_RUN_H
#define DATA_LOADER_RUN_H

/*
 * Internal state of a loader, for loader.c, which queues microbatches, and
 * loader_clip.c, which loads their clips.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "clip/fill.h"
#include "data/loader.h"
#include "data/microbatches.h"

/* A microbatch with its memory. */
struct loader_slot {
	struct microbatch mb;	/* first, so that loader_return can cast its
				 * address */
	uint8_t *pixels;	/* memory of all its streams */
	struct loader_slot *next;	/* next slot of the queue or of the free
					 * list */
	int begun, left;	/* clips taken by threads; clips not yet done */
	struct clip_request *request;	/* [n] */
	int *frame;		/* [n][t] frame numbers of ${request} */
	char *waits;		/* [n] 1: loaded, waiting for its mixing
				 * partners */
	char *done;		/* [n] 1: loaded */
	size_t cap;		/* capacity of mb.bad */
	int failed, status;	/* the first clip that failed (${mb.n}: none),
				 * and its status */
	char error[1024];
};

/* Fields before ${lock} are constant after loader_begin, except ${stop}. */
struct loader {
	const struct dataset *d;
	struct loader_options o;
	struct fill_max max;
	struct microbatches *microbatches;
	pthread_t *thread;			/* [o.threads] */
	struct loader_slot *slot;
	int slots;
	atomic_int stop;

	pthread_mutex_t lock;	/* protects all below, and ${microbatches} */
	pthread_cond_t work, ready;
	struct loader_slot *head, *tail;		/* queue */
	struct loader_slot *loading;			/* the last one, if
							 * clips are left to
							 * begin */
	struct loader_slot *free;
	int ended;				/* 1: all microbatches were
						 * planned */
	struct bad_set bad;
	uint64_t loads;				/* number of loads begun */
	struct loader_stats stats;
};

/*
 * loader_clips_load(l, s, i, n, f):
 * Load the ${n} clips of slot ${s} from number ${i}, which share their frames
 * (microbatches_shared), with ${f}, or replacements.  The caller holds the
 * lock, which is released while loading: no other thread touches the clips.
 * Record a failure in the slot.
 */
void loader_clips_load(struct loader *l, struct loader_slot *s, int i, int n,
    struct filler *f);

/*
 * loader_clip_done(l, s, i):
 * Mark clip ${i} as loaded.  If clips are mixed, mix it with its partners once
 * all of them are loaded.  Return the number of clips that became done: 1
 * without mixing, 0 while partners are missing.  The caller holds the lock,
 * which is released while mixing: no other thread touches these clips.
 */
int loader_clip_done(struct loader *l, struct loader_slot *s, int i);

/*
 * loader_slot_replace_damaged(l, s):
 * Prepare the loaded slot ${s} for loader_next.  If a sample in it has become
 * known as damaged, load it again with replacements.  The caller holds the
 * lock.
 */
void loader_slot_replace_damaged(struct loader *l, struct loader_slot *s);

/*
 * loader_slot_stale(l, s):
 * Return 1 if a sample of ${s} is now known to be damaged.  The caller holds
 * the lock.
 */
int loader_slot_stale(const struct loader *l, const struct loader_slot *s);

/* loader_slot_begin(s): reset ${s} to nothing loaded. */
void loader_slot_begin(struct loader_slot *s);

#endif
