#ifndef COMM_GRID_H
#define COMM_GRID_H

/*
 * The grid that ranks stand in for a sum: the ranks of a host beside one
 * another, in rows.
 */

struct grid {
	int columns, rows, hosts;
	int *rank;			/* [columns * rows], row after row */
	int me;				/* where this rank is among them */
};

/* Some of a grid: first, first + stride, ..., of which this rank is number
 * ${me} of ${n}. */
struct lane { int first, stride, n, me; };

/* Of host[ranks], the number of each rank's host: how many hosts there are; and
 * the most columns that never hold ranks of two hosts in a row. */
int grid_hosts(const int *host, int ranks);
int grid_inside(const int *host, int ranks);

/* grid_square(ranks): columns of the grid that is nearest to a square, and at
 * most as many as rows; 1 of a prime number. */
int grid_square(int ranks);

/* grid_open: ${columns} must divide ${ranks}. */
void grid_open(struct grid *g, const int *host, int ranks, int columns, int me);
void grid_close(struct grid *g);

/* The row, and the column, that this rank is in. */
struct lane grid_row(const struct grid *g);
struct lane grid_column(const struct grid *g);

#endif
