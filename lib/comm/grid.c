/* The grid of ranks. */
#include <stdlib.h>

#include "base/mem.h"
#include "comm/grid.h"

/* Return how many ranks each host has: [ranks] by its number.  Free it. */
static int *
grid_counts(const int *host, int ranks)
{
	int *count = xcalloc((size_t)ranks, sizeof(*count));

	for (int r = 0; r < ranks; r++)
		count[host[r]]++;
	return count;
}

int
grid_hosts(const int *host, int ranks)
{
	int *count = grid_counts(host, ranks), n = 0;

	for (int h = 0; h < ranks; h++)
		n += count[h] > 0;
	free(count);
	return n;
}

/* The greatest common divisor of the hosts' numbers of ranks. */
int
grid_inside(const int *host, int ranks)
{
	int *count = grid_counts(host, ranks), largest = 0;

	for (int h = 0; h < ranks; h++) {
		int a = count[h];

		while (a != 0) {
			int rest = largest % a;

			largest = a;
			a = rest;
		}
	}
	free(count);
	return largest;
}

int
grid_square(int ranks)
{
	int columns = 1;

	for (int d = 1; d * d <= ranks; d++)
		if (ranks % d == 0)
			columns = d;
	return columns;
}

void
grid_open(struct grid *g, const int *host, int ranks, int columns, int me)
{
	/* Hosts are numbered by their first ranks. */
	int *at = grid_counts(host, ranks), n = 0;

	*g = (struct grid){ .columns = columns, .rows = ranks / columns,
		.hosts = grid_hosts(host, ranks) };
	g->rank = xcalloc((size_t)ranks, sizeof(*g->rank));
	for (int h = 0; h < ranks; h++) {
		int count = at[h];

		at[h] = n;
		n += count;
	}
	for (int r = 0; r < ranks; r++)
		g->rank[at[host[r]]++] = r;
	free(at);
	for (int i = 0; i < ranks; i++)
		if (g->rank[i] == me)
			g->me = i;
}

void
grid_close(struct grid *g)
{
	free(g->rank);
	*g = (struct grid){ 0 };
}

struct grid_line
grid_row(const struct grid *g)
{
	int x = g->me % g->columns;

	return (struct grid_line){ g->me - x, 1, g->columns, x };
}

struct grid_line
grid_column(const struct grid *g)
{
	int y = g->me / g->columns;

	return (struct grid_line){ g->me % g->columns, g->columns, g->rows, y };
}
