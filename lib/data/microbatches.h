#ifndef DATA_LEAVES_H
#define DATA_LEAVES_H

/*
 * What the microbatches of a run are, one after the other, before any frame is
 * read: the plan that the loader carries out.
 */

#include "data/loader.h"

struct microbatches;

/*
 * microbatches_of_steps, microbatches_of_views: as loader_new and
 * loader_views.
 */
struct microbatches *microbatches_of_steps(const struct dataset *d,
    const struct schedule *s, uint64_t from, const struct loader_options *o);
struct microbatches *microbatches_of_views(const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o);
void microbatches_free(struct microbatches *l);

/*
 * microbatches_most(l): the most that any microbatch to come has of each: clips,
 * frames of a clip and of all, side, bytes of pixels; 0 if there is none.  Dies
 * if that is more than can be addressed.
 */
struct microbatch_most { int clips, t, side; size_t frames, bytes; };

struct microbatch_most microbatches_most(const struct microbatches *l);

/*
 * microbatches_place(l, mb, room): the streams of ${mb} lie one after the other
 * from ${room} on, each from a multiple of 64 bytes.  Returns their bytes.
 */
size_t microbatches_place(const struct microbatches *l, struct microbatch *mb,
    uint8_t *room);

/* microbatches_left(l, most): how many are to come; ${most} if more. */
int microbatches_left(const struct microbatches *l, int most);

/*
 * microbatch_open(l, mb, clips): room in ${mb} for ${clips} clips of what is
 * needed, but for their pixels; microbatch_close(mb) frees it.
 */
void microbatch_open(const struct microbatches *l, struct microbatch *mb,
    int clips);
void microbatch_close(struct microbatch *mb);

/*
 * microbatches_next(l, to): the next microbatch, but for its targets and
 * pixels; 0 if there is none.  One thread at a time.
 */
int microbatches_next(struct microbatches *l, struct microbatch *to);

/*
 * microbatches_seat(l, mb, i, bad): the sample of clip ${i} of a step: that of its
 * place in the order of the epoch and mb->past[i] more, or the first one after it
 * that is not in ${bad}, and mb->past[i] says so; 0, and all stays, if there is
 * none.  One thread at a time.
 */
int microbatches_seat(struct microbatches *l, struct microbatch *mb, int i,
    const struct bad_set *bad);

/*
 * microbatches_choose(l, microbatch, i, frame, crop): what clip ${i} of
 * ${microbatch} shows, to ${frame}[t] and ${crop}, and its targets.  By any
 * number of threads.
 */
void microbatches_choose(const struct microbatches *l, struct microbatch *mb, int i,
    int *frame, struct crop *crop);

/*
 * What is done to the pixels that were loaded, in training.
 * microbatches_apply(l, microbatch, i, room): to clip ${i} alone; ${room} is a
 * frame's bytes.
 * microbatches_mixes(l): 1 if clips are mixed; then
 * microbatches_mix(l, microbatch, i): mix clip ${i} and its partners, once all
 * are loaded, and their targets.
 */
void microbatches_apply(const struct microbatches *l, struct microbatch *mb,
    int i, uint8_t *room);
int microbatches_mixes(const struct microbatches *l);
void microbatches_mix(const struct microbatches *l, struct microbatch *mb,
    int i);

/*
 * microbatches_tell(l, microbatch, i, to): what is done to clip ${i}, in words
 * (clip/effects_tell.h), and as "repeat=K" which of the clips in a row of its
 * sample it is, from 0; "-" for nothing.
 */
void microbatches_tell(const struct microbatches *l,
    const struct microbatch *mb, int i, FILE *to);

#endif
