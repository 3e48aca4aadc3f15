#ifndef EVAL_CONFUSION_H
#define EVAL_CONFUSION_H

/* The confusion matrix of an evaluation. */

#include <stddef.h>

struct confusion {
	int classes;
	double *count;		/* [label][predicted] samples */
	double *samples;	/* [label] samples with this label */
};

/*
 * confusion_new(classes):
 * Return an empty matrix for ${classes} classes.  The caller frees it.
 */
struct confusion *confusion_new(int classes);

/* confusion_free(c): Free the matrix.  NULL does nothing. */
void confusion_free(struct confusion *c);

/*
 * confusion_add(c, label, predicted):
 * Count one sample.  Both classes are 0 to classes - 1.
 */
void confusion_add(struct confusion *c, int label, int predicted);

/* confusion_count(c, label, predicted): Return the number of these samples. */
double confusion_count(const struct confusion *c, int label, int predicted);

/*
 * confusion_order(c, order):
 * Write an order of the classes to ${order}[classes] in which confused classes
 * are adjacent.
 * Method: average linkage.  The similarity of two classes is the sum of the
 * shares of each that are predicted as the other.  Each class starts as a
 * group; repeatedly merge the two groups with the largest mean similarity,
 * until all remaining similarities are 0.  Groups keep their order or are
 * reversed when they are merged, so that the adjacent classes are as similar as
 * possible.
 * Ties go to the lowest class numbers, so the order is a function of the
 * counts.  Without confusion it is the order of the numbers.
 */
void confusion_order(const struct confusion *c, int *order);

/*
 * A pair of different classes: samples of ${label} predicted as ${predicted}.
 */
struct confused { int label, predicted; };

/*
 * confusion_worst(c, largest, pair):
 * Write the pairs with the most samples to ${pair}[largest], the most
 * frequent pair first.
 * For equal counts, the pair with the larger share of its label comes first,
 * then the one with lower class numbers.  Return the number of pairs, at most
 * ${largest}.
 */
int confusion_worst(const struct confusion *c, int largest,
    struct confused *pair);

#endif
