/* The grid of ranks. */
#include <stdlib.h>

#include "base/mem.h"
#include "comm/grid.h"

/* Return the number of ranks on the host of rank ${r}. */
static int
grid_beside(const int *host, int ranks, int r)
{
	int n = 0;

	for (int k = 0; k < ranks; k++)
		n += host[k] == host[r];
	return n;
}

int
grid_hosts(const int *host, int ranks)
{
	int n = 0;

	for (int r = 0; r < ranks; r++) {
		int first = 0;

		while (host[first] != host[r])
			first++;
		n += first == r;
	}
	return n;
}

int
/* The greatest common divisor of the hosts' numbers of ranks. */
grid_inside(const int *host, int ranks)
{
	int largest = 0;

	for (int r = 0; r < ranks; r++) {
		int a = grid_beside(host, ranks, r);

		while (a != 0) {
			int rest = largest % a;

			largest = a;
			a = rest;
		}
	}
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
	int n = 0;

	*g = (struct grid){ .columns = columns, .rows = ranks / columns,
		.hosts = grid_hosts(host, ranks) };
	g->rank = xcalloc((size_t)ranks, sizeof(*g->rank));
	/* Host by host, in the order of their first ranks. */
	for (int r = 0; r < ranks; r++) {
		int first = 0;

		while (host[first] != host[r])
			first++;
		for (int k = r; first == r && k < ranks; k++)
			if (host[k] == host[r])
				g->rank[n++] = k;
	}
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
