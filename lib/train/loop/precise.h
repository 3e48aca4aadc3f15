#ifndef TRAIN_LOOP_PRECISE_H
#define TRAIN_LOOP_PRECISE_H

/*
 * Precise batch normalisation: the mean and variance of each channel over many
 * clips, with the weights as they are, in place of running averages over steps
 * whose weights, crops and frames were others (Wu and Johnson, "Rethinking
 * 'Batch' in BatchNorm", 2021, section 3).
 *
 * The clips are the first of the training order, cropped, mirrored and sampled
 * as in training but without mixing and other effects, at one shape.  They go
 * through the network in groups that normalise by their own statistics.  With
 * m and v the mean and (biased) variance of a group, the population's are
 *
 *	mean = E[m]	variance = E[v + m^2] - mean^2
 *
 * in doubles, in the order of the tree of comm/exact.h: the same bits on any
 * number of ranks.
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

/* Which clips: ${clips} of them, rounded up to whole groups. */
struct precise_options {
	int64_t clips;
	int group;			/* clips that share statistics */
	int frames, crop, stride;	/* stride 0: segments */
	size_t memory;			/* of pixels loaded ahead */
};

/*
 * precise_new(n, d, c, o, loading):
 * Plan to measure ${n} on dataset ${d} by the ranks of ${c}, which all stay the
 * caller's; of ${loading}, the draws and the ranks.  NULL after a message if the
 * groups are too few for the ranks, or there is no plan.  The plan must be
 * reserved (net_reserve) before the first measurement.
 */
struct precise *precise_new(struct net *n, const struct dataset *d,
    struct comm *c, const struct precise_options *o,
    const struct loader_options *loading);
void precise_free(struct precise *p);

/* precise_groups(p): how many groups it takes. */
int precise_groups(const struct precise *p);

/* precise_plan(p): return the plan of a group, the net's. */
struct plan *precise_plan(const struct precise *p);

/* precise_bytes(p): what its loader takes at most. */
size_t precise_bytes(const struct precise *p);

/*
 * precise_measure(p, room, t):
 * The statistics of every normalisation that is not frozen become those of
 * the population; ${room} is a gradient buffer of the net's.  Damaged samples
 * are passed over where ${t} allows it, and become known to it; NULL allows
 * none.  All ranks call it.  0, or an exit status that they share, and then
 * nothing has changed: EXIT_DIVERGED, without a message, if a statistic is not
 * finite.
 */
int precise_measure(struct precise *p, void *room, struct trainer *t);

#endif
