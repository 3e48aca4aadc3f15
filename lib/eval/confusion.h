#ifndef EVAL_CONFUSION_H
#define EVAL_CONFUSION_H

/* Which classes are predicted as which. */

#include <stddef.h>

struct confusion {
	int classes;
	double *count;		/* [label][predicted] samples */
	double *samples;	/* [label] */
};

struct confusion *confusion_new(int classes);
void confusion_free(struct confusion *c);
void confusion_add(struct confusion *c, int label, int predicted);

/*
 * confusion_order(c, order):
 * An order of the classes in which those that are confused stand together, into
 * ${order}[classes].  Average linkage: every class begins as a group; the two
 * groups whose classes are confused most, by the mean over their pairs of what
 * share of each is predicted as the other, become one, and so on until no group
 * is confused with another.  Each keeps its order when it is joined, turned so
 * that the classes that meet are as confused as can be.  Of equals the lowest
 * class numbers go first, so that the same counts give the same order, and
 * counts without confusion that of the numbers.
 */
void confusion_order(const struct confusion *c, int *order);

/*
 * confusion_worst(c, most, pair):
 * The pairs of different classes with the most samples of ${label} predicted as
 * ${predicted}, most first, into ${pair}[${most}]; how many.  Of equal ones the
 * larger share of its label first, then the lower numbers.
 */
struct confused { int label, predicted; };

int confusion_worst(const struct confusion *c, int most,
    struct confused *pair);

#endif
