#ifndef TESTS_FUZZ_NETWORKS_RANDOM_NET_H
#define TESTS_FUZZ_NETWORKS_RANDOM_NET_H

/* A random network with its shape: lines of a .net file that can be changed
 * one by one. */

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

enum { NET_LINES = 200, NET_LINE = 200, NET_CLASSES = 8 };

struct random_net {
	uint64_t seed;
	int clips, frames, side;	/* of a microbatch */
	int repeats;			/* 1: several microbatches a step */
	int soft;			/* 1: soft targets, if the losses take
					 * them */
	char freeze[64];		/* item of --freeze; "": none */
	int lines;
	char line[NET_LINES][NET_LINE];
};

/*
 * random_net_make(n, seed):
 * Make network number ${seed}: the same one each time, on each machine.
 */
void random_net_make(struct random_net *n, uint64_t seed);

/*
 * random_net_text(n, text, size):
 * Write the .net file to ${text}.  Return ${text}.
 *
 * random_net_read(n, path):
 * Read a file that fuzz-networks printed: a .net file, whose first lines may be
 * comments "# key value" with the fields of struct random_net.  Return 0, or -1
 * after a message.
 *
 * random_net_graph(n):
 * Parse and freeze ${n}.  Return NULL, with a message, if that is not possible.
 * The caller frees the graph.
 */
char *random_net_text(const struct random_net *n, char *text, size_t size);
int random_net_read(struct random_net *n, const char *path);
struct graph *random_net_graph(const struct random_net *n);

/*
 * random_net_kinds(n):
 * Return the kinds of its operators, a sum of bits 1 << OP_*.
 */
unsigned random_net_kinds(const struct random_net *n);

#endif
