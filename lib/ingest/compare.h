#ifndef INGEST_COMPARE_H
#define INGEST_COMPARE_H

#include "base/json.h"
#include "ingest/extract.h"

/*
 * Comparison of a list with what was extracted, for the report: rows that were
 * not stored, videos that are shorter than stated, and rows with equal content.
 */
struct compare;

/* Numbers of findings. */
struct compare_counts {
	int64_t missing, shorter;
	int64_t rows, equal;		/* all rows, and those in groups */
	int64_t duplicates;		/* groups of rows with equal content */
	int64_t conflicts;		/* those with different labels */
};

/*
 * compare_new(l):
 * Begin the comparison of ${l}, which must outlive it.  compare_free frees it.
 */
struct compare *compare_new(const struct list *l);

/* compare_free(c): Free ${c}.  NULL does nothing. */
void compare_free(struct compare *c);

/* compare_add(c, i, x): Record ${x}, the result of row ${i}. */
void compare_add(struct compare *c, size_t i, const struct extraction *x);

/*
 * compare_put_duplicates(c, w, n), compare_put_missing(c, w, n),
 * compare_put_shorter(c, w, n):
 * Write the findings of a kind to ${w}, as an array of that name
 * (vt-extract(1)), and set their numbers in ${n}.  Groups with different labels
 * precede the other groups.  A row that was not recorded is missing.
 */
void compare_put_duplicates(const struct compare *c, struct json_writer *w,
    struct compare_counts *n);
void compare_put_missing(const struct compare *c, struct json_writer *w,
    struct compare_counts *n);
void compare_put_shorter(const struct compare *c, struct json_writer *w,
    struct compare_counts *n);

#endif
