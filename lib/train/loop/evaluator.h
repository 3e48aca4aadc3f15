#ifndef TRAIN_LOOP_EVALUATOR_H
#define TRAIN_LOOP_EVALUATOR_H

/*
 * Score a dataset.  The views of each sample (clips and crops) pass through the
 * network with its running statistics.  The scores of the first head are
 * combined over the views of a sample (graph/metric.h).  Ranks share the
 * samples; the result has the same bits for any number of ranks and threads.
 */

#include "comm/comm.h"
#include "data/loader.h"
#include "net/net.h"

struct evaluation {
	uint32_t samples;
	int classes;
	enum loss_kind loss;		/* of the first head */
	double *scores;			/* [samples][classes] */
	uint64_t views;			/* computed, by all ranks together */
	struct sample *sample;		/* [samples] keys and labels, owned by
					 * the dataset; other fields are
					 * unspecified */
	int label_sets;			/* 1: samples have sets of classes */
};

/*
 * evaluator_run(n, d, v, c, progress, e):
 * Score every sample of ${d} into ${e}, on every rank of ${c}.  The plan that
 * evaluator_plan(n, v) makes must be reserved (net_reserve).  Unless
 * ${progress} is NULL, call it after each microbatch: ${done} of this rank's
 * ${all} views.  Return 0, or an exit status that is the same on all ranks,
 * after a message:  EXIT_FAILED, EXIT_DAMAGE, EXIT_RANKS, or EXIT_DIVERGED if a
 * score is not finite; EXIT_AGAIN, without a message, if a stop is requested
 * (base/stop.h) on any rank.  After 0 the caller calls evaluation_free.
 * Collective: all ranks call it.
 */
int evaluator_run(struct net *n, const struct dataset *d,
    const struct view_options *v, struct comm *c,
    void (*progress)(uint64_t done, uint64_t all), struct evaluation *e);
void evaluation_free(struct evaluation *e);

/* evaluator_plan(n, v): return the forward plan for microbatches of ${v}, owned
 * by ${n}, or NULL after a message. */
struct plan *evaluator_plan(struct net *n, const struct view_options *v);

/*
 * The metrics of an evaluation.  The printed summaries, log.jsonl, TensorBoard
 * and the choice of the best checkpoint walk these rows.
 */
enum { METRIC_TOP1, METRIC_TOP5, METRIC_LOSS, METRIC_MAP, METRICS };

struct metric {
	const char *name;		/* in JSON and in checkpoints */
	const char *text;		/* in tables */
	const char *tag;		/* of validations, in TensorBoard */
	int better;			/* 1 if larger values are better, else
					 * -1 */
	int fraction;			/* 1: 0 to 1, a terminal has percents */
};

extern const struct metric metrics[METRICS];

/* Metrics over the samples that have a class, or a set of classes. */
struct summary {
	uint32_t labeled;		/* samples with a label */
	uint32_t ranked;		/* labeled samples whose set of classes
					 * is not empty */
	int classes;			/* classes of at least one labeled
					 * sample; 0 if samples have one class
					 * each */
	/*
	 * NAN if absent.  Top-k: part of the ranked samples; a set counts by
	 * its best class.  Loss: mean over the labeled samples of metric_loss,
	 * so without the exponent of a focal loss.  Mean average precision: the
	 * mean of evaluation_precision over ${classes}.
	 */
	double value[METRICS];
};

/* evaluation_summary(e): return the metrics of ${e}. */
struct summary evaluation_summary(const struct evaluation *e);

/*
 * evaluation_precision(e, c):
 * Return the average precision of class ${c} over the labeled samples, 0 to 1
 * (graph/metric.h), or -1 if no sample has this class.
 */
double evaluation_precision(const struct evaluation *e, int c);

/* evaluation_has(m, c): return 1 if sample ${m} has class ${c}, 0 if it does
 * not, or -1 if it has no label. */
int evaluation_has(const struct sample *m, int c);

#endif
