#ifndef WEIGHTS_FIND_H
#define WEIGHTS_FIND_H

#include "base/names.h"
#include "weights/weights.h"

/*
 * weights_find(w, name):
 * Return the tensor of that name, or NULL if absent.
 */
static inline const struct weight *
weights_find(const struct weights_file *w, const char *name)
{
	long i = names_find(w->names, name);

	return i >= 0 ? &w->tensor[i] : NULL;
}

#endif
