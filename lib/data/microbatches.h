#ifndef DATA_MICROBATCHES_H
#define DATA_MICROBATCHES_H

/*
 * The plan of the loader: the sequence of microbatches, before any frame is
 * read.
 */

#include "data/loader.h"
#include "sched/schedule.h"

struct microbatches;

/*
 * microbatches_of_steps(d, s, from, o):
 * Return the plan of loader_new with the same arguments.  The caller frees it
 * with microbatches_free; ${d} and ${s} must outlive it.
 */
struct microbatches *microbatches_of_steps(const struct dataset *d,
    const struct schedule *s, uint64_t from, const struct loader_options *o);

/* microbatches_of_views(d, first, count, o): the same for loader_views. */
struct microbatches *microbatches_of_views(const struct dataset *d,
    uint32_t first, uint32_t count, const struct view_options *o);

/* microbatches_free(l): free ${l}, or do nothing if it is NULL. */
void microbatches_free(struct microbatches *l);

/*
 * microbatches_max(l):
 * Return the maximum, over all microbatches to come, of each field: clips,
 * frames of a clip, side, frames of all clips, bytes of pixels.  These are 0 if
 * none is to come.  The program ends after a message if the bytes exceed the
 * address space.
 */
struct microbatch_max {
	int clips, t, side;
	int span, stacks;	/* input_spec_span; 1: some stream is a stack */
	size_t frames, bytes;
};

struct microbatch_max microbatches_max(const struct microbatches *l);

/*
 * microbatches_set_buffers(l, mb, buffer):
 * Set the streams of ${mb} to consecutive parts of the buffer ${buffer}, each
 * aligned to 64 bytes.  Return their total size in bytes.
 */
size_t microbatches_set_buffers(const struct microbatches *l,
    struct microbatch *mb, uint8_t *buffer);

/*
 * microbatches_left(l, largest):
 * Return the number of microbatches to come, at most ${largest}.
 */
int microbatches_left(const struct microbatches *l, int largest);

/*
 * microbatch_open(needs, kind, mb, clips):
 * Allocate ${mb}, except its pixels, for ${clips} clips of the input spec
 * ${needs}.  ${kind}[needs->targets] has the kinds of targets; NULL: one class
 * per clip.  The caller frees it with microbatch_close.
 */
void microbatch_open(const struct input_spec *needs,
    const enum target_kind *kind, struct microbatch *mb, int clips);

/* microbatches_open(l, mb, clips): the same for the input spec of ${l}. */
void microbatches_open(const struct microbatches *l, struct microbatch *mb,
    int clips);

/* microbatch_close(mb): free the memory of ${mb}, except its pixels. */
void microbatch_close(struct microbatch *mb);

/*
 * microbatches_next(l, to):
 * Set ${to} to the next microbatch, except targets and pixels.  Return 1, or 0
 * at the end.  One thread at a time.
 */
int microbatches_next(struct microbatches *l, struct microbatch *to);

/*
 * microbatches_assign_sample(l, mb, i, bad):
 * Assign a sample to clip ${i} of ${mb}.  Start mb->skipped[i] samples after
 * the clip's own in the order of its epoch, and take the first one that is not
 * in ${bad}.  Set mb->skipped[i] to its distance from the clip's own.  Return
 * 1, or 0 with ${mb} unchanged if none is left or ${l} is a plan of views.  One
 * thread at a time.
 */
int microbatches_assign_sample(struct microbatches *l, struct microbatch *mb,
    int i, const struct bad_set *bad);

/*
 * microbatches_shared(l, mb, i):
 * Return the number of clips of ${mb} from number ${i}, at most --repeat, that
 * have the same frames.
 */
int microbatches_shared(const struct microbatches *l,
    const struct microbatch *mb, int i);

/*
 * microbatches_choose(l, mb, i, s, r):
 * Set ${r} to the contents of clip ${i} of ${mb}, from its sample ${s}, and set
 * the clip's targets.  The caller sets ${r->frame} to t ints.  Any thread may
 * call it.
 */
void microbatches_choose(const struct microbatches *l, struct microbatch *mb,
    int i, const struct frame_source *s, struct clip_request *r);

/*
 * microbatch_clip_bytes(mb, k, i):
 * Return the address of clip ${i} in stream ${k}.
 */
uint8_t *microbatch_clip_bytes(const struct microbatch *mb, int k, int i);

/* microbatches_needs(l): return the input spec of the clips of ${l}. */
const struct input_spec *microbatches_needs(const struct microbatches *l);

/* microbatches_mixes(l): return 1 if this is training and clips are mixed. */
int microbatches_mixes(const struct microbatches *l);

/*
 * microbatches_mix(l, mb, i):
 * Mix clip ${i} and its partners, all of them loaded, in place, with their
 * targets.
 */
void microbatches_mix(const struct microbatches *l, struct microbatch *mb,
    int i);

/*
 * microbatches_print_transforms(l, mb, i, to):
 * Print the transforms of clip ${i} to ${to} as words
 * (clip/transforms.h), after "repeat=K" for clip K, from 0, of a repeated
 * sample. Print "-" if there are none.
 */
void microbatches_print_transforms(const struct microbatches *l,
    const struct microbatch *mb, int i, FILE *to);

/* An audit duplicate. */
struct audit_duplicate {
	int due;			/* 0: none in this step; ignore the
					 * others */
	int index;			/* number of the microbatch in the
					 * step */
	int rank;			/* the rank that owns it */
	int repeat_rank;		/* the rank that repeats it */
};

/*
 * audit_duplicate_at(seed, at, every, ranks):
 * Return the audit duplicate of step ${at}, if any.  Every ${every} steps,
 * counted from 1, there is one; 0: never.  The pairs of ranks alternate: within
 * ranks * (ranks - 1) audits each rank audits each other one.  A single rank
 * audits itself.  Philox draws one of the microbatches of the audited rank.  If
 * that rank has none in the step, there is no duplicate.
 */
struct audit_duplicate audit_duplicate_at(uint64_t seed,
    const struct schedule_step *at, int64_t every, int ranks);

#endif
