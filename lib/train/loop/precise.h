#ifndef TRAIN_LOOP_PRECISE_H
#define TRAIN_LOOP_PRECISE_H

/*
 * Precise batch normalization (Wu and Johnson, "Rethinking 'Batch' in
 * BatchNorm", 2021, section 3): measure the mean and variance of each channel
 * over many clips with the current weights.  Running averages, in contrast, mix
 * steps with other weights, crops and frames.
 *
 * The clips are the first of the training order, at one shape.  They are
 * sampled, cropped and flipped as in training, without mixing and other
 * effects.  They pass through the network in groups, each normalized by its own
 * statistics.  With m and v the mean and biased variance of a group, those of
 * the population are
 *
 *	mean = E[m]	variance = E[v + m^2] - mean^2
 *
 * Sums are doubles, added in the order of the tree of comm/exact.h, so that any
 * number of ranks gives the same bits.
 */

#include "comm/comm.h"
#include "data/loader.h"
#include "net/net.h"

struct precise;
struct trainer;

enum { PRECISE_AUTO = -1, PRECISE_CLIPS_MAX = SCHEDULE_BATCH / 2 };

/*
 * precise_parse(text, clips):
 * Parse the value of --precise-bn.  Set ${*clips} to PRECISE_AUTO for "auto",
 * to 0 for "off" and "0", or to the number.  Return 0, or -1 without a message
 * if ${text} is invalid.
 */
int precise_parse(const char *text, int64_t *clips);

/*
 * precise_choose(g, samples, batch, group, ranks):
 * Return the number of clips for PRECISE_AUTO: an eighth of ${samples}, at
 * least 32, at most 1,024.  Then increase it to ${batch}, the batch size at the
 * end of the run, and to one group of ${group} clips for each of ${ranks}.
 * Return 0 if no batch normalization of ${g} trains its statistics.
 *
 * A measurement thus costs about 1/24 of an epoch's work, and less for large
 * datasets.
 */
int64_t precise_choose(const struct graph *g, uint64_t samples, int batch,
    int group, int ranks);

/* The clips to measure. */
struct precise_options {
	int64_t clips;			/* rounded up to whole groups */
	int group;			/* clips normalized together */
	int frames, crop, stride;	/* stride 0: segments */
	size_t memory;			/* bytes of prefetched pixels */
};

/*
 * precise_new(n, d, c, o, loading):
 * Plan to measure the statistics of ${n} on dataset ${d}, by the ranks of ${c}.
 * All three must outlive the result.  Copy sampler, crops, flips, seed and
 * ranks from ${loading}.  Return NULL after a message if there are fewer
 * groups than ranks or if planning fails.  Reserve the plan (net_reserve)
 * before the first measurement.  precise_free(NULL) does nothing.
 */
struct precise *precise_new(struct net *n, const struct dataset *d,
    struct comm *c, const struct precise_options *o,
    const struct loader_options *loading);
void precise_free(struct precise *p);

/* precise_groups(p): return the number of groups of a measurement. */
int precise_groups(const struct precise *p);

/* precise_plan(p): return the plan for a group, owned by the net. */
struct plan *precise_plan(const struct precise *p);

/* precise_bytes(p): return the maximal memory of its loader, in bytes. */
size_t precise_bytes(const struct precise *p);

/*
 * precise_measure(p, buffer, t):
 * Measure, and replace the running statistics of every normalization that is
 * not frozen.  ${buffer} is a gradient buffer of the net, which is overwritten.
 * If ${t} allows damaged samples, skip them and add them to its known ones.
 * With ${t} = NULL a damaged sample is an error.
 * Return 0, or an exit status that is the same on all ranks; then no statistic
 * has changed.  Two come without a message: EXIT_DIVERGED if a statistic is
 * not finite, EXIT_AGAIN if a stop is requested (base/stop.h) on any rank.
 * Collective: all ranks call it.
 */
int precise_measure(struct precise *p, void *buffer, struct trainer *t);

#endif
