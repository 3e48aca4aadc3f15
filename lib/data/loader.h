#ifndef DATA_LOADER_H
#define DATA_LOADER_H

/*
 * The loader turns step numbers into pixels.  It gives this rank's microbatches
 * (groups of clips that share BN statistics, or a part of one), one after the
 * other, in order; threads read, decode, crop and resize ahead of the trainer,
 * across changes of shape, because the schedule says what comes.  What a clip
 * shows is a function of (seed, global clip number), so nothing depends on the
 * number of threads or ranks, and the loader's whole state is the step.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/feed.h"
#include "clip/augment.h"
#include "clip/clip.h"
#include "clip/fill.h"
#include "clip/swaps.h"
#include "data/bad.h"
#include "sched/schedule.h"
#include "shard/dataset.h"

/* A sample that clip ${clip} would have been of; why it is not. */
struct bad_clip { uint64_t clip; uint32_t sample; char *why; };

/* A microbatch: n clips, ready for the network. */
struct microbatch {
	struct schedule_step at;	/* the step it belongs to */
	int index, microbatches;	/* which of how many in the step; parts
					 * count, where ranks have these */
	int n;
	int again;			/* another rank's, to be audited
					 * (data/twice.h): the step's first */
	int filled;			/* the last ${filled} clips only fill up
					 * the last microbatch of loader_views */
	struct stream *stream;		/* as the needs list them */
	struct raw_stream raw;		/* which the stream has, if it is */
	struct target *target;
	uint64_t *clip;			/* [n] global clip numbers, or views */
	uint32_t *sample;		/* [n] */
	uint32_t *past;			/* [n] how many places of the order after
					 * its own the sample is: those between
					 * are damaged */
	uint64_t load;			/* number of what it shows: as long as
					 * that is the same, so are its pixels
					 * (loader_peek) */
	int bads;
	struct bad_clip *bad;		/* [bads] samples that were found to be
					 * damaged, not known before */
};

/* Where pixels are kept that were loaded; take gives NULL after a message. */
struct loader_room {
	void *(*take)(void *of, size_t bytes);
	void (*give)(void *of, void *p);
	void *of;
};

struct loader_options {
	uint64_t seed;
	int threads;
	int rank, ranks;
	int learners;			/* a rank has the microbatches of whole
					 * ones; 0: there are none */
	int spread;			/* a rank may have a part of a microbatch
					 * (sched/parts.h) */
	enum sampler sampler;
	struct crop_options crop;
	struct effects effects;
	const struct swaps *swaps;	/* what classes are where clips are
					 * mirrored; NULL: the same */
	size_t memory;			/* bytes of pixels ahead, at most, but
					 * no less than two microbatches */
	struct loader_room room;	/* take NULL: memory as any */
	int replaces;			/* a damaged clip is replaced by one of
					 * the next whole sample of its epoch */
	int64_t audit;			/* steps between microbatches that are
					 * given to a second rank; 0: never */
	int raw;			/* clips may come raw (media/raw.h), for
					 * a device that resizes them, and do
					 * where nothing is done to their
					 * bytes */
	FILE *trace;			/* NULL, or where each clip is listed */
	const struct needs *needs;	/* what to bring, which the dataset has
					 * (loader_has); NULL: needs_default */
	uint64_t until;			/* it ends before this step; 0: with the
					 * schedule */
};

struct loader;

/*
 * loader_shows(needs, network, what): can rgb frames, which is what ${what}
 * has, be all that ${network} looks at?  0, or -1 after a message.
 */
int loader_shows(const struct needs *needs, const char *network,
    const char *what);

/*
 * loader_has(d, needs, network):
 * Can clips of ${d} feed ${network}, a name for the message, that needs these
 * streams and targets?  0, or -1 after a message.  Datasets hold rgb frames,
 * and a class for each clip or a set of classes.  A set of a clip for training is
 * what can be seen from its first frame to its last, one for testing that of the
 * whole video; where other samples have sets, a class is a set of one, and a
 * clip without any label weighs 0.
 */
int loader_has(const struct dataset *d, const struct needs *needs,
    const char *network);

/*
 * loader_can_mix(needs, s, network): can the losses of ${network} take clips that
 * are mixed, and has each microbatch of ${s} two of them?  0, or -1 after a
 * message.
 */
int loader_can_mix(const struct needs *needs, const struct schedule *s,
    const char *network);

/*
 * loader_tests(d, needs, target, network): the same for testing only, of which
 * target number ${target} alone counts: clips come without the others.
 */
int loader_tests(const struct dataset *d, const struct needs *needs, int target,
    const char *network);

/*
 * loader_new(d, s, from, o):
 * Read dataset ${d} by schedule ${s} from step ${from} on; both stay the
 * caller's and must outlive the loader.  Dies only of memory and of threads
 * that do not start.  All pixels are allocated here.
 *
 * With ${o}->trace, loader_next writes a line for each clip of the microbatch
 * it gives: step, clip, key, frames from 0, crop as WxH+X+Y in stored pixels,
 * flip, and what else is done to it (microbatches_tell).  The lines of all
 * ranks together, and of a run and its resumption
 * one after the other, are those of one uninterrupted run of one rank, but for
 * their order within a step, after a header for each loader.
 */
struct loader *loader_new(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);

/*
 * loader_bytes, loader_views_bytes: the memory that such a loader takes, at
 * most: pixels loaded ahead, and what its threads decode into.
 */
size_t loader_bytes(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);

/* loader_most(d, s, from, o): the bytes of a microbatch's pixels, at most. */
size_t loader_most(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);

/* loader_free(l): at once, whatever the threads are doing; takes back microbatches
 * that were not returned. */
void loader_free(struct loader *l);

/*
 * loader_next(l, microbatch): the next microbatch; it is the trainer's until
 * loader_return.  1, 0 at the end of the schedule, -1 after a message: I/O,
 * -2: data damaged (the message names shard, key and frame).  An error comes
 * in the place of the microbatch it is in, and again if asked again.  Without
 * o->replaces no other clip is ever put in the place of a damaged one; with it -2
 * means that no sample is whole.
 * The trainer may keep microbatches while it asks for more, but one fewer than
 * fit into the memory allowed: one, when that is two microbatches.
 */
int loader_next(struct loader *l, struct microbatch **mb);
void loader_return(struct loader *l, struct microbatch *mb);

/*
 * loader_peek(l): what loader_next would give, if it is there already and is
 * whole; it stays the loader's, but its pixels stay as they are unless something
 * becomes known as damaged before that.  NULL: it is not.
 */
const struct microbatch *loader_peek(struct loader *l);

/*
 * loader_bad(l, sample, n): these are damaged, as all ranks know from here on:
 * they are in no microbatch that loader_next gives.
 */
void loader_bad(struct loader *l, const uint32_t *sample, size_t n);

/*
 * loader_waits(l, clip, sample): which clip the next microbatch waits for, the
 * first of those that are not loaded yet; 0 if it waits for none.  At any time.
 */
int loader_waits(struct loader *l, uint64_t *clip, uint32_t *sample);

/* What loading took so far; seconds of threads are added up. */
struct loader_stats {
	double waited;			/* seconds the trainer waited */
	double read, decode, resize;	/* seconds of threads, by the clock */
	uint64_t microbatches;		/* given to the trainer */
	uint64_t clips, frames;		/* loaded; frames decoded */
	uint64_t bytes;			/* of frames, as stored */
	int ready;			/* microbatches loaded and not yet given
					 * to the trainer */
};

/* loader_stats(l): may be called at any time; a lock and a copy. */
struct loader_stats loader_stats(struct loader *l);

/*
 * The same for testing: views of samples instead of steps.  A view is one
 * clip and one crop of a sample.  The views of a sample follow each other: the
 * crops of its first clip, then those of the second.
 */
struct view_options {
	int threads;
	enum sampler sampler;
	int validate;		/* clip_validate instead of clip_test */
	int clips, crops, full;	/* clip_test, crop_test; 1 and 1 to validate */
	enum view_rule rule;	/* crop_test */
	enum ensemble ensemble;	/* for whoever scores them */
	int n, t, side;		/* shape of a microbatch */
	size_t memory;
	int stride;		/* clip_test; 0: none */
	const struct needs *needs;	/* as in loader_options, as the next */
	struct loader_room room;
	int raw;
};

/*
 * view_choose(v, view, s, r): set ${r}, whose frame points to v->t ints, to what
 * view ${view} shows of ${s}, of which frames, width, height and fps are read.
 */
void view_choose(const struct view_options *v, int view,
    const struct frame_source *s, struct clip_request *r);

/*
 * loader_views(d, first, count, o):
 * Load microbatches of o->n views of the ${count} samples from number ${first}.
 * Fill the last microbatch with repeats of the last view, with label -1.  Clips
 * of a microbatch are numbered from 0.  Number / (clips * crops) is the sample
 * relative to ${first}; the remainder is the view.  ${at} is all 0.  ${index}
 * and ${microbatches} refer to the whole loader.
 */
struct loader *loader_views(const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o);
size_t loader_views_bytes(const struct dataset *d, uint32_t count,
    const struct view_options *o);
size_t loader_views_most(const struct dataset *d,
    const struct view_options *o);

#endif
