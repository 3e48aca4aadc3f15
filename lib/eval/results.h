#ifndef EVAL_RESULTS_H
#define EVAL_RESULTS_H

/* What an evaluation found, as files and pictures. */

#include "eval/confusion.h"
#include "train/loop/evaluator.h"

struct results {
	const struct evaluation *e;
	const struct dataset *data;
	const char *const *class;	/* [e->classes] names */
	struct summary summary;
	const char *title;		/* of pictures */
};

/*
 * results_label(r, i, names): the label of sample ${i}, for a table: its number,
 * or, with ${names}, the name of its class; of a set those of all, with '|'
 * between them.  "" or "-1" without one.  The caller's to free.
 */
char *results_label(const struct results *r, uint32_t i, int names);

/* results_scores(r, i): the scores of sample ${i}, [classes]. */
const double *results_scores(const struct results *r, uint32_t i);

/*
 * results_best(r, i, n, class): the ${n} classes of sample ${i} that score
 * highest, the highest first; of equal ones the first.
 */
void results_best(const struct results *r, uint32_t i, int n, int *class);

/* results_print(r, json, to): a line a sample: key, label, the five highest
 * classes, the probability of the highest; or the same as JSON. */
void results_print(const struct results *r, int json, struct buffer *to);

/* Where they come from. */
struct results_of {
	const char *checkpoint, *data, *model;
	uint64_t step;
	const struct view_options *views;
};

/* results_print_summary(r, of, json, to): the line that closes them. */
void results_print_summary(const struct results *r, const struct results_of *of,
    int json, struct buffer *to);

/*
 * These commit a file.  0; -1 after a message; -2 from the sheet if a frame is
 * damaged.
 */

/* A row a sample: key, label, every class's score. */
int results_write_scores(const struct results *r, const char *path);

/*
 * A row a class: samples, top-1, top-5, what it is most confused with.  Equal scores
 * count against a label here as in the summary (metric_rank).  Where samples
 * have sets of classes, samples and average precision.
 */
int results_write_classes(const struct results *r, const char *path);

/* results_confusion(r): of the samples that have a label, each predicted as
 * the first of its highest scores; for confusion_free. */
struct confusion *results_confusion(const struct results *r);

/*
 * The confusion matrix: as a table if ${path} ends with .tsv, else as a picture
 * (draw/plot.h).  results_matrix_ready(path, classes): 0 if it can be made
 * under that name; -1 after a message, for before the work begins.
 */
struct matrix_options {
	int counts;			/* samples, not percent of a row's */
	int by_number;			/* classes in their order, not so that
					 * confused ones stand together */
};

int results_matrix_ready(const char *path, int classes);
int results_write_matrix(const struct results *r,
    const struct matrix_options *o, const char *path);

/*
 * A contact sheet as a picture: the first, middle and last frame of up to ${n}
 * samples, and what they are predicted as.  They are spread over the dataset,
 * or, with ${wrong}, the wrong predictions with the highest scores.
 */
int results_draw_sheet(const struct results *r, int n, int wrong,
    const char *path);

#endif
