#ifndef WEIGHTS_KEY_MAP_H
#define WEIGHTS_KEY_MAP_H

/*
 * Key mapping: how other programs name the parameters of a network.  A mapping
 * is a table of patterns, share/weights/NAME.tsv; vt-weights(5) describes its
 * columns.
 */

#include <stddef.h>

#include "base/table.h"

/* A row: an operator's name in the other program and in vt. */
struct rename {
	const char *theirs, *ours;
	const char *when;		/* condition on the network; "-":
					 * none */
	const char *how;		/* "-", "2d", "3d", "read", "end",
					 * "lacks", "turn NAME" or "fold
					 * NAME" */
};

struct key_map {
	char *name;			/* such as "tsm" */
	struct table *table;
	size_t renames, prefixes, ends, lacks;
	struct rename *rename;
	const char **prefix;		/* prefixes that wrappers add to every
					 * name */
	struct rename *end;		/* suffixes of parameter names; if there
					 * are no rows, ".weight" and so on, as
					 * in vt */
	struct rename *lack;		/* operators of vt that no network of
					 * the other program has */
};

/*
 * The question that a mapping asks about a network: has(network, op) returns 1
 * if the network has the operator ${op}, "NAME" or "NAME ATTRIBUTE=VALUE ...",
 * and the operator has these attributes (vt-weights(5)).
 */
struct key_map_network {
	int (*has)(const void *network, const char *op);
	const void *network;		/* first argument of ${has} */
};

enum { KEY_MAP_TEXT = 256 };		/* capacity for one name, in bytes */

/* The mappings that come with vt; NULL ends the list. */
extern const char *const key_map_known[];

/*
 * key_map_open(name):
 * Read the mapping called ${name}, or the file of that path.  Return NULL after
 * a message.  The caller frees it with key_map_close.
 */
struct key_map *key_map_open(const char *name);

/* key_map_close(n): Free the mapping.  NULL does nothing. */
void key_map_close(struct key_map *n);

/*
 * key_map_to_ours(n, of, theirs, ours):
 * Translate ${theirs}, an operator's name in the other program.  Write the name
 * of the operator in the network to ${ours}[KEY_MAP_TEXT].
 * Return the first row that matches and whose operator the network has, or NULL
 * without a message.  If the row is for reading only, its condition holds for
 * the network.  The row belongs to ${n}.
 */
const struct rename *key_map_to_ours(const struct key_map *n,
    const struct key_map_network *of, const char *theirs, char *ours);

/*
 * key_map_knows(n, theirs):
 * Return 1 if a row matches ${theirs}, whether or not a network has that
 * operator, 0 otherwise.
 */
int key_map_knows(const struct key_map *n, const char *theirs);

/*
 * key_map_can_write(n):
 * Return 1 if names can be translated from vt to the other program with
 * key_map_to_theirs; 0 if all rows are for reading only.
 */
int key_map_can_write(const struct key_map *n);

/*
 * key_map_to_theirs(n, of, ours, theirs):
 * Translate ${ours}, the name of an operator of the network, to the other
 * program's name, written to ${theirs}[KEY_MAP_TEXT].
 * Return the first row that is not for reading only, that matches, and whose
 * condition holds for the network; or NULL without a message.  The row belongs
 * to ${n}.
 */
const struct rename *key_map_to_theirs(const struct key_map *n,
    const struct key_map_network *of, const char *ours, char *theirs);

/*
 * key_map_lacks(n, of, ours):
 * Return the first "lacks" row that matches ${ours}, an operator of the
 * network, and whose condition holds: the other program has no such network.
 * Return NULL without a message if there is none.  The row belongs to ${n}.
 */
const struct rename *key_map_lacks(const struct key_map *n,
    const struct key_map_network *of, const char *ours);

/*
 * key_map_how(r, verb, ours, name):
 * Return 1 if column "how" of row ${r}, which matched operator ${ours}, is
 * "${verb}" or "${verb} NAME".  In the second case write NAME, with its
 * wildcards filled in from ${ours}, to ${name}[KEY_MAP_TEXT]; in the first
 * leave ${name} as it is. Return 0 otherwise.
 */
int key_map_how(const struct rename *r, const char *verb, const char *ours,
    char *name);

/*
 * key_map_unwrap(n, name):
 * Return the part of ${name} after all prefixes of wrappers, such as "module.".
 */
const char *key_map_unwrap(const struct key_map *n, const char *name);

/*
 * key_map_suffix(n, name, end):
 * Find where the operator's name ends in ${name}, the name of a parameter.
 * Return a pointer to the suffix, inside ${name}.
 * Set ${*end} to the suffix as vt writes it, or to NULL if the tensor is
 * training state that vt does not read.  If the table has no "end" rows, the
 * suffix starts at the last dot and ${*end} is the suffix itself.
 * Return NULL without a message if ${name} has no known suffix; ${*end} is then
 * NULL.
 */
const char *key_map_suffix(const struct key_map *n, const char *name,
    const char **end);

#endif
