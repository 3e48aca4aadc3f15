#ifndef COMM_GRID_H
#define COMM_GRID_H

/*
 * The grid of ranks for a sum.  The ranks of a host are neighbors in a row.
 */

/* A grid; grid_open makes it. */
struct grid {
	int columns, rows, hosts;
	int *rank;			/* [columns * rows] ranks, row by row */
	int me;				/* index of this rank in ${rank} */
};

/*
 * A row or a column: entries first, first + stride, ... of grid->rank.  This
 * rank is number ${me} of ${n}.
 */
struct grid_line { int first, stride, n, me; };

/*
 * grid_hosts(host, ranks): return the number of different hosts in host[ranks].
 * The number of a host is that of its first rank (cores_hosts).
 * grid_inside(host, ranks): return the largest number of columns for which no
 * row has ranks of two hosts.
 */
int grid_hosts(const int *host, int ranks);
int grid_inside(const int *host, int ranks);

/*
 * grid_square(ranks): return the columns of the grid nearest to a square, at
 * most the number of rows.  For a prime number it is 1.
 */
int grid_square(int ranks);

/*
 * grid_open(g, host, ranks, columns, me):
 * Arrange ${ranks} in ${columns}, which must divide them, host by host.
 * ${host} is as in grid_hosts, ${me} is this rank.  grid_close frees the memory
 * of ${g}.
 */
void grid_open(struct grid *g, const int *host, int ranks, int columns, int me);
void grid_close(struct grid *g);

/*
 * grid_row(g), grid_column(g): return the row or the column that contains this
 * rank.
 */
struct grid_line grid_row(const struct grid *g);
struct grid_line grid_column(const struct grid *g);

#endif
