#ifndef WEIGHTS_PICKLE_CALLS_H
#define WEIGHTS_PICKLE_CALLS_H

/* The few classes and functions that a pickle may name, as values. */

#include "weights/pickle.h"

/*
 * pickle_call(p, class, args, to): what ${class} makes of the tuple ${args},
 * into ${to}, which is empty; a class that is not known becomes VALUE_OTHER
 * and joins p->unknown.  NULL; or what is wrong with the arguments, and "" if
 * the heap is full.
 */
const char *pickle_call(const struct pickle *p, const struct value *class,
    const struct value *args, struct value *to);

/* pickle_persistent(p, id, to): the same for the id of a storage. */
const char *pickle_persistent(const struct pickle *p, const struct value *id,
    struct value *to);

/* pickle_other(p, name, to): a value of class ${name}, which is not known. */
void pickle_other(const struct pickle *p, const char *name, struct value *to);

/* pickle_append(p, list, v): 0; -1: the heap is full. */
int pickle_append(const struct pickle *p, struct value *list,
    struct value *v);

#endif
