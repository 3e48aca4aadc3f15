#ifndef WEIGHTS_PICKLE_CALLS_H
#define WEIGHTS_PICKLE_CALLS_H

/* The classes and functions that a pickle may name. */

#include "weights/pickle.h"

/*
 * pickle_call(p, class, args, to):
 * Call ${class} with the tuple ${args} and store the result in ${to}, which is
 * empty before.  An unknown class gives a VALUE_OTHER, and its name is added to
 * p->unknown.
 * Return NULL, or the text of an error in the arguments; "" if the arena is
 * full.  The text is static, and no message was printed.
 */
const char *pickle_call(const struct pickle *p, const struct value *class,
    const struct value *args, struct value *to);

/*
 * pickle_persistent(p, id, to):
 * Store the storage with persistent id ${id} in ${to} and add it to
 * p->storages.  An unknown class gives a VALUE_OTHER as above.  Return as
 * pickle_call does.
 */
const char *pickle_persistent(const struct pickle *p, const struct value *id,
    struct value *to);

/*
 * pickle_other(p, name, to):
 * Make ${to} a VALUE_OTHER of the unknown class ${name} and add the name to
 * p->unknown.
 */
void pickle_other(const struct pickle *p, const char *name, struct value *to);

/*
 * pickle_append(p, list, v):
 * Append ${v} to the list, dict or tuple ${list}; a dict takes keys and values
 * alternately.  Return 0, or -1 without a message if the arena is full.
 */
int pickle_append(const struct pickle *p, struct value *list,
    struct value *v);

#endif
