#ifndef OPTIMIZER_FIND_H
#define OPTIMIZER_FIND_H

#include <string.h>

#include "train/optim/optimizer.h"

/*
 * optimizer_find(name):
 * Return the row of that name in the table of optimizers, or NULL if absent.
 */
static inline const struct optimizer *
optimizer_find(const char *name)
{
	for (const struct optimizer *o = optimizers; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

#endif
