#ifndef EVAL_RESULTS_H
#define EVAL_RESULTS_H

/* The results of an evaluation as text, tables and pictures. */

#include "base/options.h"
#include "eval/confusion.h"
#include "eval/output.h"
#include "eval/protocol.h"
#include "train/loop/evaluator.h"

struct results {
	const struct evaluation *e;
	const char *const *class;	/* [e->classes] names */
	const struct protocol *protocol;
	const struct dataset *data;	/* has the frames of the contact
					 * sheet */
	const uint32_t *in_data;	/* [e->samples] number of each sample in
					 * ${data}; NULL: the same */
	struct summary summary;
	const char *title;		/* title of pictures */
};

/*
 * results_label(r, i, names):
 * Return the label of sample ${i} for a table: its class number or, with
 * ${names}, its class name.  A set of labels is separated by '|'.  Without a
 * label, return "-1" or, with ${names}, "".  The caller frees the text.
 */
char *results_label(const struct results *r, uint32_t i, int names);

/*
 * results_put_video(r, i, to):
 * Append the cells path, begin and end of sample ${i}, empty where unknown.
 */
void results_put_video(const struct results *r, uint32_t i, struct buffer *to);

/*
 * results_scores(r, i):
 * Return the scores of sample ${i}, [classes], owned by r->e.
 */
const double *results_scores(const struct results *r, uint32_t i);

/*
 * results_best(scores, classes, n, class):
 * Write the ${n} classes with the highest of ${scores}[classes] to ${class}[n],
 * highest first; equal scores in order of class number.  ${n} is at most
 * ${classes}.
 */
void results_best(const double *scores, int classes, int n, int *class);

/*
 * results_print(r, json, to):
 * Append one line per sample to ${to}: key, label, the five best classes, the
 * probability of the best, the path and the part; or the same as JSON.
 */
void results_print(const struct results *r, int json, struct buffer *to);

/*
 * results_print_summary(r, json, to):
 * Append the summary line to ${to}.  It has those settings that the protocol
 * has.
 */
void results_print_summary(const struct results *r, int json,
    struct buffer *to);

/*
 * ---- files and pictures ----
 *
 * The functions results_write_* and results_draw_* commit a file.  They return
 * 0, or -1 after a message.
 */

/*
 * results_write_classes(r, path):
 * Write a table with a row per class: samples, top-1, top-5, and the class it
 * is most confused with.  Equal scores count against a label, as in the summary
 * (metric_rank).  If samples have sets of classes, write samples and average
 * precision.
 */
int results_write_classes(const struct results *r, const char *path);

/*
 * results_confusion(r):
 * Return the confusion matrix of the samples that have a label.  A sample is
 * predicted as its best class, the first of equal ones.  The caller frees it
 * with confusion_free.
 */
struct confusion *results_confusion(const struct results *r);

/* Options of the confusion matrix. */
struct matrix_options {
	int counts;			/* 1: samples, 0: percent of the row */
	int by_number;			/* 1: class order, 0: confused classes
					 * adjacent (confusion_order) */
};

/*
 * results_matrix_ready(path, classes):
 * Check, before the work begins, that a matrix of ${classes} classes can be
 * written to ${path}.  Return 0, or -1 after a message.
 */
int results_matrix_ready(const char *path, int classes);

/*
 * results_write_matrix(r, o, path):
 * Write the confusion matrix: as a table if ${path} ends in .tsv, otherwise as
 * a picture (draw/plot.h).
 */
int results_write_matrix(const struct results *r,
    const struct matrix_options *o, const char *path);

/*
 * results_draw_sheet(r, n, wrong, path):
 * Draw a contact sheet: the first, middle and last frame of up to ${n} samples,
 * and their predictions.  The samples are evenly spaced over the dataset; with
 * ${wrong}, they are the wrong predictions with the highest probability.
 * Return 0, -1 after a message, or -2 after a message if a frame is damaged.
 */
int results_draw_sheet(const struct results *r, int n, int wrong,
    const char *path);

/*
 * ---- all outputs ----
 */

/*
 * Files to write in addition to the main output.  NULL or an empty list: none.
 */
struct results_files {
	const char *scores, *per_class, *sheet;
	struct option_list matrix;
	struct matrix_options matrix_options;
	int sheet_samples, sheet_wrong;
};

/*
 * results_check_labels(f, path, label_sets, labeled):
 * Check that the files suit the labels in ${path}: ${label_sets} is 1 if
 * samples have sets of classes, ${labeled} is 1 if a sample has a label.
 * Return 0, or EXIT_USAGE after a message.
 */
int results_check_labels(const struct results_files *f, const char *path,
    int label_sets, int labeled);

/*
 * results_check_files(f, classes, output, rank):
 * Check before the work begins that the files and the main output can be
 * written; a NULL ${output} is standard output.  Only rank 0 tries to create
 * them.  Return 0, or an exit status after a message.
 */
int results_check_files(const struct results_files *f, int classes,
    const char *output, int rank);

/*
 * results_title(p, path):
 * Return a title for pictures: the network and its step, or the fusion.  If the
 * protocol has neither, it is ${path}.  The caller frees it.
 */
char *results_title(const struct protocol *p, const char *path);

/*
 * results_write(r, f, path, json, output):
 * Write the files and then the main output.  ${path} names the samples in
 * warnings.  ${json} selects JSON lines instead of a table.  Return 0, or an
 * exit status after a message.
 */
int results_write(const struct results *r, const struct results_files *f,
    const char *path, int json, struct output *output);

#endif
