#ifndef WEIGHTS_NAMING_H
#define WEIGHTS_NAMING_H

/*
 * How other programs name what a network's operators own: tables of patterns,
 * share/weights/NAME.tsv, which vt-weights(5) describes.
 */

#include <stddef.h>

#include "base/table.h"

/* A row: what an operator of ours is called there. */
struct rename {
	const char *theirs, *ours;
	const char *when;		/* the network must have; "-": nothing */
	const char *how;		/* "-", "2d", "3d", "read", "end", "lacks",
					 * "turn NAME" or "fold NAME" */
};

struct naming {
	char *name;			/* "tsm" */
	struct table *table;
	size_t renames, prefixes, ends, lacks;
	struct rename *rename;
	const char **prefix;		/* that wrappers put before all names */
	struct rename *end;		/* what parameters of an operator have
					 * behind its name; none: ".weight" and
					 * so on, as here */
	struct rename *lack;		/* operators that no network of the
					 * other program has */
};

/* What a network is asked: has it an operator of this name; with ${past}, one
 * that shifts from the past only. */
struct naming_of {
	int (*has)(const void *network, const char *op, int past);
	const void *network;
};

enum { NAMING_TEXT = 256 };		/* room for a name */

/* The programs that come with vt, and a NULL. */
extern const char *const naming_known[];

/* naming_open(name): the table of that program, or of that file; NULL after a
 * message. */
struct naming *naming_open(const char *name);
void naming_close(struct naming *n);

/*
 * naming_ours(n, of, theirs, ours): the operator of the network that ${theirs}
 * is the name of, into ${ours}[NAMING_TEXT], by the row that is returned; NULL
 * without a message if there is none.
 */
const struct rename *naming_ours(const struct naming *n,
    const struct naming_of *of, const char *theirs, char *ours);

/* naming_writes(n): 0 if there is no other way. */
int naming_writes(const struct naming *n);

/* naming_theirs(n, of, ours, theirs): the other way. */
const struct rename *naming_theirs(const struct naming *n,
    const struct naming_of *of, const char *ours, char *theirs);

/*
 * naming_lacks(n, of, ours):
 * Return 1 if a row "lacks" of the table says that no network of the other
 * program has the operator that we call ${ours}; 0 otherwise.
 */
int naming_lacks(const struct naming *n, const struct naming_of *of,
    const char *ours);

/*
 * naming_how(r, verb, ours, name): 1 if the row of operator ${ours} says
 * "${verb} NAME" or just "${verb}"; NAME then goes to ${name}[NAMING_TEXT].
 */
int naming_how(const struct rename *r, const char *verb, const char *ours,
    char *name);

/* naming_unwrap(n, name): behind all prefixes of wrappers. */
const char *naming_unwrap(const struct naming *n, const char *name);

/*
 * naming_end(n, name, end): where the operator's name ends in ${name}, which is
 * of a parameter; what follows is ${*end} here, or NULL if it is a state of
 * training.  NULL without a message if ${name} has no such end.
 */
const char *naming_end(const struct naming *n, const char *name,
    const char **end);

#endif
