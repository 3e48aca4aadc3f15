#ifndef DATA_LOADER_RUN_H
#define DATA_LOADER_RUN_H

/*
 * A loader at work, for the files that queue its microbatches (loader.c) and
 * that load one clip of them (loader_clip.c).
 */

#include <pthread.h>
#include <stdatomic.h>

#include "clip/fill.h"
#include "data/loader.h"
#include "data/microbatches.h"

struct loader_slot {
	struct microbatch mb;	/* first: loader_return gets its address */
	uint8_t *pixels;	/* of all its streams */
	struct loader_slot *next;	/* in the queue, or of those free */
	int begun, left;	/* clips: given to threads, not yet loaded */
	struct clip_request *request;	/* [n] */
	int *frame;		/* [n][t] of the requests */
	char *waits;		/* [n] 1: loaded, to be mixed with another */
	char *done;		/* [n] 1: loaded */
	size_t cap;		/* of mb.bad */
	int failed, status;	/* the first clip that failed, and how */
	char error[1024];
};

struct loader {
	const struct dataset *d;
	struct fill_max max;
	struct microbatches *microbatches;
	struct loader_room room;
	FILE *trace;
	pthread_t *thread;
	int threads;
	struct loader_slot *slot;
	int slots;
	atomic_int stop;
	int replaces;		/* damaged clips, by others */

	pthread_mutex_t lock;	/* of all below, and of ${microbatches} */
	pthread_cond_t work, ready;
	struct loader_slot *head, *tail;		/* queue */
	struct loader_slot *loading;			/* the last, if not all begun */
	struct loader_slot *free;
	int ended;				/* all microbatches are in slots */
	struct bad_set bad;
	uint64_t loads;				/* microbatches begun */
	struct loader_stats stats;
};

/*
 * clip_load(l, s, i, f): load clip ${i} of a slot with ${f}.  The lock is held,
 * and released meanwhile: no other thread touches the clip.  Note in the slot
 * what fails.
 */
void clip_load(struct loader *l, struct loader_slot *s, int i,
    struct filler *f);

/*
 * clip_done(l, s, i): the clip is loaded: mix it with its partners if they are,
 * too, and let the lock go meanwhile, since nobody else touches them.  Returns how
 * many clips are done: none until all of them are.
 */
int clip_done(struct loader *l, struct loader_slot *s, int i);

/*
 * slot_settle(l, s): all of the slot is loaded, and the trainer asks for it: what
 * has become known as damaged since then is replaced.  The lock is held.
 */
void slot_settle(struct loader *l, struct loader_slot *s);

/* slot_stale(l, s): a sample in it is known as damaged by now.  The lock is
 * held. */
int slot_stale(const struct loader *l, const struct loader_slot *s);

/* slot_begin(s): nothing of its microbatch is loaded; slot_free(s). */
void slot_begin(struct loader_slot *s);

#endif
