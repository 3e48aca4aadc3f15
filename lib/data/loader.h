#ifndef DATA_LOADER_H
#define DATA_LOADER_H

/*
 * The loader turns step numbers into pixels.  It returns this rank's
 * microbatches in order.  A microbatch is a BN group: clips that share the
 * statistics of batch normalization, or a part of such a group (sched/group.h).
 *
 * Threads read, decode, crop and resize ahead of the trainer.  The schedule
 * gives all future shapes, so they prefetch across changes of shape.  The
 * content of a clip is a function of (seed, global clip number).  So nothing
 * depends on the number of threads or ranks, and the step is the loader's whole
 * state.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/feed.h"
#include "clip/augment.h"
#include "clip/clip.h"
#include "clip/fill.h"
#include "clip/flip_map.h"
#include "data/class_balance.h"
#include "data/order.h"
#include "sched/schedule.h"
#include "shard/dataset.h"

/* A damaged sample: the clip that was loaded from it, and the message. */
struct bad_clip { uint64_t clip; uint32_t sample; char *why; };

/* A microbatch: n clips, ready for the network. */
struct microbatch {
	struct schedule_step at;	/* the step it belongs to */
	int index, microbatches;	/* number in the step, and how many the
					 * step has; parts of BN groups count
					 * separately */
	int n;				/* number of clips */
	int audit_duplicate;		/* 1: audit duplicate of another rank's
					 * microbatch (data/microbatches.h).
					 * It comes first in its step. */
	int filled;			/* number of clips at the end that only
					 * pad the last microbatch of
					 * loader_views */
	struct stream *stream;		/* [needs->streams] */
	struct target *target;		/* [needs->targets], ended by all 0 */
	uint64_t *clip;			/* [n] global clip numbers; of
					 * loader_views: view numbers */
	uint32_t *sample;		/* [n] sample numbers */
	uint32_t *skipped;		/* [n] number of damaged samples skipped
					 * in the epoch's order, before the
					 * sample was found */
	uint64_t load;			/* number of the load: pixels are
					 * unchanged while it is unchanged
					 * (loader_peek) */
	int bads;
	struct bad_clip *bad;		/* [bads] samples found damaged while
					 * loading, not known before */
};

/*
 * An allocator of pixel buffers.  alloc(of, bytes) returns aligned memory, or
 * NULL after a message; release(of, p) frees it.  ${of} is passed on.
 */
struct pixel_allocator {
	void *(*alloc)(void *of, size_t bytes);
	void (*release)(void *of, void *p);
	void *of;
};

/* Options of loader_new. */
struct loader_options {
	uint64_t seed;
	int threads;
	int rank, ranks;
	int learners;			/* number of learners: each rank gets
					 * whole learners' microbatches; 0: no
					 * learners */
	int spread;			/* 1: a rank may get a part of a BN
					 * group (sched/group.h) */
	enum sampler sampler;
	struct crop_options crop;
	struct transforms transforms;
	const struct flip_map *flip_map;	/* classes of mirrored clips;
						 * NULL: unchanged */
	const struct class_balance *balance;	/* NULL: an epoch has each
						 * sample once */
	const float *class_weight;	/* of the labels of datasets; NULL: all
					 * 1 */
	size_t memory;			/* maximum bytes of prefetched
					 * pixels; two microbatches are
					 * always allowed */
	struct pixel_allocator workspace;	/* allocator; alloc NULL:
					 * huge_alloc */
	int replaces;			/* 1: replace a damaged clip by one
					 * of the next intact sample of its
					 * epoch */
	int64_t audit;			/* steps between audits; 0: no audits */
	FILE *trace;			/* list of all clips (loader_new); NULL:
					 * none */
	const struct input_spec *needs;	/* input spec, checked by
					 * loader_check_dataset; NULL:
					 * input_spec_default */
	uint64_t until;			/* end before this step; 0: at the end
					 * of the schedule */
};

/*
 * loader_threads(cores, discrete):
 * Return a number of threads for a rank of ${cores} processors, 1 or more: one
 * for each.  A discrete device leaves one of them to the trainer, which
 * launches its kernels; a device that computes on these processors needs no
 * decoder while it computes, and all of them while it waits.
 */
int loader_threads(int cores, int discrete);

/*
 * A loader.  Except where a function says otherwise, one thread calls its
 * functions.
 */
struct loader;

/*
 * loader_check_streams(l, what, needs, network):
 * Check that the stored streams ${l} have those that ${network} reads: rgb of 3
 * channels, of which rgbdiff is made, or x and y, of which flow is made.
 * ${what}, which has them, and the name are for the message.  Return 0, or -1
 * after a message.
 */
int loader_check_streams(const struct stream_list *l, const char *what,
    const struct input_spec *needs, const char *network);

/*
 * loader_check_dataset(d, needs, network):
 * Check that clips of ${d} can feed ${network}, which has the input spec
 * ${needs}.  The name is for the message.  Return 0, or -1 after a message.
 *
 * Datasets have for each sample a class or a set of classes.
 * The set of a training clip has the classes visible between its first and its
 * last frame; the set of a test clip has those of the whole video.  If any
 * sample has a set, a single class counts as a set of one, and a clip without
 * labels has weight 0.
 */
int loader_check_dataset(const struct dataset *d,
    const struct input_spec *needs, const char *network);

/*
 * loader_check_mixing(needs, s, network):
 * Check that the losses of ${network} accept soft labels, and that each
 * microbatch of ${s} has at least two clips.  Return 0, or -1 after a message.
 */
int loader_check_mixing(const struct input_spec *needs,
    const struct schedule *s, const char *network);

/*
 * loader_check_transforms(needs, t, network):
 * Check that ${network} reads no stack (base/feed.h) if ${t} changes the pixels
 * of single clips.  Return 0, or -1 after a message.
 */
int loader_check_transforms(const struct input_spec *needs,
    const struct transforms *t, const char *network);

/*
 * loader_check_testing(d, needs, target, network):
 * As loader_check_dataset, for testing: only target number ${target} must
 * exist. Clips come without the others.
 */
int loader_check_testing(const struct dataset *d,
    const struct input_spec *needs, int target, const char *network);

/*
 * loader_new(d, s, from, o):
 * Return a loader of dataset ${d} by schedule ${s}, starting at step ${from}.
 * The caller owns both, which must outlive the loader.  All pixels are
 * allocated here.  The program ends if memory is exhausted or a thread does not
 * start.
 *
 * With ${o}->trace, each loader writes a header.  loader_next then writes a
 * line for each clip that it returns: step, clip, key, frames from 0, crop as
 * WxH+X+Y in stored pixels, flip, and transforms
 * (microbatches_print_transforms). The lines of all ranks and resumptions
 * together equal those of one uninterrupted run on one rank. Only their order
 * within a step may differ.
 */
struct loader *loader_new(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);

/*
 * loader_bytes(d, s, from, o):
 * Return the maximum memory, in bytes, of loader_new with these arguments:
 * prefetched pixels, and the buffers of its decoders.
 */
size_t loader_bytes(const struct dataset *d, const struct schedule *s,
    uint64_t from, const struct loader_options *o);

/*
 * loader_free(l):
 * Stop the threads in the middle of their clips, and free ${l} with all its
 * microbatches, returned or not.  Do nothing if ${l} is NULL.
 */
void loader_free(struct loader *l);

/*
 * loader_next(l, mb):
 * Set ${*mb} to the next microbatch, which the caller owns until loader_return.
 * Wait until it is loaded.  Return 1, or 0 at the end.  Return after a message
 * -1 on an I/O error, or -2 if data are damaged; the message names shard, key
 * and frame.  The error of a microbatch comes in its place, and again in each
 * later call.
 *
 * Without o->replaces no clip is ever replaced.  With it, -2 means that no
 * intact sample is left.
 * The caller may hold microbatches while it asks for more: at most one fewer
 * than fit into the allowed memory, so one if two fit.
 */
int loader_next(struct loader *l, struct microbatch **mb);

/*
 * loader_return(l, mb):
 * Give ${mb} back to the loader, which reuses its memory.
 */
void loader_return(struct loader *l, struct microbatch *mb);

/*
 * loader_peek(l):
 * Return the microbatch that loader_next would return, if it is loaded without
 * error, or NULL.  The loader owns it.  Its pixels stay unchanged until
 * loader_next, or until loader_bad names one of its samples.
 */
const struct microbatch *loader_peek(struct loader *l);

/*
 * loader_bad(l, sample, n):
 * Mark ${n} samples as damaged, with the same arguments on all ranks.  With
 * o->replaces later microbatches of loader_next do not contain them.
 */
void loader_bad(struct loader *l, const uint32_t *sample, size_t n);

/*
 * loader_pending_clip(l, clip, sample):
 * Set ${*clip} and ${*sample} to the first clip of the next microbatch that is
 * not loaded yet.  Return 1, or 0 if there is none.  Any thread may call it.
 */
int loader_pending_clip(struct loader *l, uint64_t *clip, uint32_t *sample);

/* Statistics of loading so far. */
struct loader_stats {
	double waited;			/* seconds the trainer waited */
	double read, decode, resize;	/* seconds, summed over threads */
	uint64_t microbatches;		/* returned by loader_next */
	uint64_t clips, frames;		/* clips loaded; frames decoded */
	uint64_t bytes;			/* stored bytes of these frames */
	int ready;			/* microbatches loaded and not yet
					 * returned */
};

/*
 * loader_stats(l):
 * Return the statistics.  Any thread may call it; it only locks and copies.
 */
struct loader_stats loader_stats(struct loader *l);

/*
 * Options of loader_views.  It loads views of samples instead of steps.  A view
 * is one clip and one crop of a sample.  The views of a sample follow each
 * other: the crops of its first clip, then those of the second.
 */
struct view_options {
	int threads;
	enum sampler sampler;
	int validate;		/* clip_validate instead of clip_test */
	int clips, crops, full;	/* arguments of clip_test and crop_test; 1 and 1
				 * to validate */
	enum view_rule rule;	/* argument of crop_test */
	enum ensemble ensemble;	/* for the code that scores views */
	int n, t, side;		/* shape of a microbatch */
	size_t memory;
	int stride;		/* argument of clip_test; 0: none */
	int largest;		/* 1: always read the largest level */
	const struct input_spec *needs;	/* this and the next ones: as in
					 * loader_options */
	struct pixel_allocator workspace;
};

/*
 * microbatch_choose_view(v, view, s, r):
 * Set ${r} to the contents of view ${view} of the video ${s}.  The caller sets
 * ${r->frame} to v->t ints.  Only the frames, width, height and fps of ${s} are
 * read.
 */
void microbatch_choose_view(const struct view_options *v, int view,
    const struct frame_source *s, struct clip_request *r);

/*
 * loader_views(d, first, count, o):
 * Load microbatches of o->n views of the ${count} samples from number ${first}.
 * Fill the last microbatch with repeats of the last view, with label -1.  Clips
 * of a microbatch are numbered from 0.  Number / (clips * crops) is the sample
 * relative to ${first}; the remainder is the view.  In struct microbatch, at
 * is all 0, and index and microbatches refer to the whole loader.
 */
struct loader *loader_views(const struct dataset *d, uint32_t first,
    uint32_t count, const struct view_options *o);

/*
 * loader_views_bytes(d, count, o):
 * Return the maximum memory, in bytes, of loader_views for ${count} samples.
 */
size_t loader_views_bytes(const struct dataset *d, uint32_t count,
    const struct view_options *o);

#endif
