#ifndef GRAPH_ATTRIBUTE_H
#define GRAPH_ATTRIBUTE_H

/*
 * The attributes of operators, key=value in a .net file.  Each is one row of a
 * table, which the functions below walk.
 */

#include "graph/op.h"

enum attribute_type {
	ATTRIBUTE_INT,
	ATTRIBUTE_REAL,
	ATTRIBUTE_REALS,	/* struct reals: one value, or one a channel */
	ATTRIBUTE_CHANNELS,	/* int; "classes" is the number of classes */
	ATTRIBUTE_WINDOW,	/* int[3], as h,w or t,h,w; min stands for t */
	ATTRIBUTE_LETTERS,	/* int: bit i for letter i of words */
	ATTRIBUTE_WORD,		/* int: index in words, separated by blanks */
	ATTRIBUTE_FACTOR,	/* struct factor, as X, X/c or X/sqrt(c) */
	ATTRIBUTE_SOURCE	/* int: index of the stream or target named */
};

struct attribute {
	enum op_kind kind;		/* of the operator */
	/* In the .net file.  NULL: only the caller sets it. */
	const char *key;
	enum attribute_type type;
	size_t at;			/* offset in struct op */
	double min, max;
	double missing;			/* default; of each value of a list */
	const char *words;
	const char *want;		/* for messages; NULL: the range */
	/* Its value in messages if there is no default. */
	const char *needed;
	/*
	 * 1: operators that differ in it do the same work.  All others are
	 * compared.
	 */
	int free;
};

/*
 * attribute_next(kind, a):
 * Return the row of ${kind} after ${a}, or the first one if ${a} is NULL.
 * Return NULL at the end.
 *
 * attribute_find(kind, key):
 * Return the row of attribute ${key}, or NULL.
 */
const struct attribute *attribute_next(enum op_kind kind,
    const struct attribute *a);
const struct attribute *attribute_find(enum op_kind kind, const char *key);

/*
 * attribute_defaults(op):
 * Set all attributes of ${op}, whose kind is set, to their defaults.
 *
 * attribute_parse(a, op, value, classes):
 * Set ${a} of ${op} from ${value}, "classes" being ${classes}.  Return 0, or -1
 * without a message.  Of a source, check the name only.
 *
 * attribute_want(a, text):
 * Return the values that ${a} accepts, for a message, constant or in ${text},
 * 64 bytes.
 *
 * attribute_free(op):
 * Free the lists of ${op}.
 */
void attribute_defaults(struct op *op);
int attribute_parse(const struct attribute *a, struct op *op,
    const char *value, int classes);
const char *attribute_want(const struct attribute *a, char *text);
void attribute_free(struct op *op);

/*
 * attribute_equal(p, q):
 * Return 1 if ${p} and ${q} are of one kind, have the same number of inputs,
 * and are equal in all attributes that are not free.
 *
 * attribute_is(op, key, value):
 * Return 1 if ${op} has attribute ${key}, with the value of the text ${value}.
 */
int attribute_equal(const struct op *p, const struct op *q);
int attribute_is(const struct op *op, const char *key, const char *value);

#define NAME_RULE "up to 63 letters, digits, '_', '.' and '-'"

/* attribute_name_fits(s): return 1 if ${s} follows NAME_RULE. */
int attribute_name_fits(const char *s);

#endif
