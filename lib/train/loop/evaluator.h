#ifndef TRAIN_LOOP_EVALUATOR_H
#define TRAIN_LOOP_EVALUATOR_H

/*
 * Scores of a dataset: views of each sample (clips and crops) go through the
 * network, to its first head, with its running statistics, and the scores of a
 * sample's views are joined (graph/ensemble.h).  Samples are shared out over ranks; the result
 * is the same for every number of ranks and threads.
 */

#include "comm/comm.h"
#include "data/loader.h"
#include "net/net.h"

struct evaluation {
	uint32_t samples;
	int classes;
	enum loss_kind loss;		/* of the head */
	double *scores;			/* [samples][classes] */
	uint64_t views;			/* that were run, over all ranks */
};

/*
 * evaluate(n, d, v, c, progress, e):
 * Score every sample of ${d}.  The plan for microbatches of the shape in ${v}
 * must have been reserved (evaluate_plan).  ${progress} (NULL: none) is called
 * with the views done by this rank and all it has.  0, or the exit status of
 * what went wrong after a message.
 */
int evaluate(struct net *n, const struct dataset *d,
    const struct view_options *v, struct comm *c,
    void (*progress)(uint64_t done, uint64_t all), struct evaluation *e);
void evaluation_free(struct evaluation *e);

struct plan *evaluate_plan(struct net *n, const struct view_options *v);

/* What the scores say: of the samples that have a label, or a set of them. */
struct summary {
	uint32_t labelled;
	uint32_t ranked;		/* of these, with a class at all */
	double top1, top5;		/* of those: a set is right where the best
					 * of its classes is */
	double loss;
	int classes;			/* that a labelled sample has */
	double map;			/* mean over these of evaluation_precision;
					 * 0 if samples have one class each */
};

struct summary evaluation_summary(const struct evaluation *e,
    const struct dataset *d);

/* evaluation_precision(e, d, c): the average precision of class ${c} over the
 * labelled samples, -1 if none has it (graph/precision.h). */
double evaluation_precision(const struct evaluation *e,
    const struct dataset *d, int c);

/* evaluation_has(d, i, c): 1 if sample ${i} is of class ${c}, -1 if it has no
 * label. */
int evaluation_has(const struct dataset *d, uint32_t i, int c);

#endif
