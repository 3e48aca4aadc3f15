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
 * microbatch_open(needs, kind, mb, clips): allocate ${mb} for ${clips} clips of
 * ${needs}, except their pixels, with targets of ${kind}[needs->targets]; NULL:
 * one class a clip.
 * microbatches_open(l, mb, clips): the same as ${l} has them.
 * microbatch_close(mb): free either.
 */
void microbatch_open(const struct needs *needs, const enum target_kind *kind,
    struct microbatch *mb, int clips);
void microbatches_open(const struct microbatches *l, struct microbatch *mb,
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
 * microbatches_choose(l, mb, i, s, r): set ${r}, whose frame points to t ints, to
 * what clip ${i} of ${mb} shows of its sample, ${s}, and set the clip's targets.
 * Any number of threads may call it.
 */
void microbatches_choose(const struct microbatches *l, struct microbatch *mb, int i,
    const struct frame_source *s, struct clip_request *r);

/* microbatch_clip_bytes(mb, i): where clip ${i} of its only stream lies. */
uint8_t *microbatch_clip_bytes(const struct microbatch *mb, int i);

/*
 * microbatches_mixes(l): return 1 if clips are mixed, in training.
 * microbatches_mix(l, mb, i): then mix clip ${i} and its partners, once all are
 * loaded, and their targets.
 */
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
