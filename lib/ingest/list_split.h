#ifndef INGEST_LIST_SPLIT_H
#define INGEST_LIST_SPLIT_H

/*
 * Division of a list into subsets for training, validation and test.
 *
 * The subset of a row is a function of the seed and of its unit: the value of
 * its group if the list has groups, otherwise the key of its whole video, so
 * that no two subsets show parts of one video.  Rows can be added, removed and
 * reordered, and no other row moves.
 *
 * A stratified split gives each class its proportions by permuted blocks, as
 * clinical trials do (Zelen, "The randomization and stratification of patients
 * to clinical trials", J. Chron. Dis. 27, 1974).  No rule can do that without
 * regard to the other rows: if the subset of a row never changes while rows are
 * added anywhere, it is a function of the row alone, and then the counts are
 * random.  The subset therefore also depends on the number of units of the
 * class before it.  Rows added at the end move nothing.
 */

#include "ingest/list.h"

#define LIST_SPLIT_PARTS 3
#define LIST_SPLIT_MAX 1000	/* of a proportion */

struct list_split {
	int n;			/* 2: train, test; 3: train, val, test */
	int part[LIST_SPLIT_PARTS];	/* proportions, without common
					 * divisor */
	uint64_t seed;
	int stratify;			/* 1: permuted blocks of each class */
};

/*
 * list_split_parse(text, s):
 * Set the proportions of ${s} from ${text}, such as "8:1:1".  Return 0, or -1
 * without a message if these are not two or three integers from 1 to
 * LIST_SPLIT_MAX.
 */
int list_split_parse(const char *text, struct list_split *s);

/*
 * list_split_name(s, i):
 * Return the name of subset ${i}.  It is static.
 */
const char *list_split_name(const struct list_split *s, int i);

/*
 * list_split_names(s):
 * Return all names for a message, such as "train, val or test".  Static.
 */
const char *list_split_names(const struct list_split *s);

/*
 * list_split(l, s):
 * Set the subset of each row of ${l}, whose rows have keys, and print a note
 * with the number of videos in each subset.  Warn if groups divide a video.
 * A group is one unit, and belongs to the class of its first row.  A set of
 * classes counts as its first class.
 */
void list_split(struct list *l, const struct list_split *s);

/*
 * list_keep(l, subset):
 * Remove the rows of other subsets.  Return 0, or -1 after a message if no row
 * remains.
 */
int list_keep(struct list *l, const char *subset);

#endif
