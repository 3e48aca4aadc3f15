#ifndef TESTS_MODELS_H
#define TESTS_MODELS_H

/* Read the networks of share/models. */

#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"

/*
 * model_read(name, classes):
 * Return the graph of share/models/${name}.net.  On failure, end the test with
 * "Bail out!".  The caller frees it.
 */
static inline struct graph *
model_read(const char *name, int classes)
{
	char path[128];
	struct graph *g;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, classes);
	if (g == NULL) {
		printf("Bail out! %s cannot be read\n", path);
		exit(1);
	}
	return g;
}

#endif
