#ifndef TRAIN_RESULTS_H
#define TRAIN_RESULTS_H

/* What an evaluation found, as files and pictures. */

#include "train/evaluator.h"

struct results {
	const struct evaluation *e;
	const struct dataset *data;
	const char *const *class;	/* [e->classes] names */
	struct summary summary;
	const char *title;		/* of pictures */
};

/* results_scores(r, i): the scores of sample ${i}, [classes]. */
const double *results_scores(const struct results *r, uint32_t i);

/*
 * results_best(r, i, n, class): the ${n} classes of sample ${i} that score
 * highest, the highest first; of equal ones the first.
 */
void results_best(const struct results *r, uint32_t i, int n, int *class);

/*
 * These commit a file.  0; -1 after a message; -2 from the sheet if a frame is
 * damaged.
 */

/* A row a sample: key, label, every class's score. */
int results_write_scores(const struct results *r, const char *path);

/*
 * A row a class: samples, top-1, top-5, what it is taken for.  Equal scores
 * count against a label here as in the summary (metric_rank).
 */
int results_write_classes(const struct results *r, const char *path);

/* The confusion matrix as a PNG. */
int results_draw_matrix(const struct results *r, const char *path);

/*
 * A sheet of ${n} samples, spread over the set, as a PNG: the first, middle and
 * last frame of each and what it is taken for.
 */
int results_draw_sheet(const struct results *r, int n, const char *path);

#endif
