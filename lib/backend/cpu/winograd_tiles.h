#ifndef BACKEND_CPU_WINOGRAD_TILES_H
#define BACKEND_CPU_WINOGRAD_TILES_H

/*
 * The tiles of 4 x 4 outputs that planes are divided into.
 *
 * If 4 does not divide a side, its last tile has fewer outputs and needs fewer
 * interpolation points.  Elements 0 to 5 of an axis belong to the points 0, 1,
 * -1, 2, -2 and infinity.  Three outputs do not need -2; two or one need
 * neither 2 nor -2.  Planes of 14 x 14 thus take 0.84 of the multiplications.
 *
 * Tiles are sorted: short in w only, full, short in h only, short in both.
 * The tiles that have a given element are then consecutive.
 */

enum { WINOGRAD_TILES_MAX = 96 };		/* tiles of a call */

struct winograd_tile {
	int image, at[2];		/* position h, w in the output */
	int n[2];			/* outputs that are computed: 4, but a
					 * short last tile has 3 or 2 */
};

struct winograd_tiles {
	int n, last[2];			/* last: n of the last tile, h and w */
	/*
	 * First tile that is short in w only, in neither, in h only, in both;
	 * and the end.
	 */
	int begin[5];
	struct winograd_tile tile[WINOGRAD_TILES_MAX];
};

/* winograd_tiles_of(h, w): return the tiles of a plane. */
int winograd_tiles_of(int h, int w);

/*
 * winograd_sort(t, h, w, from, to):
 * Fill in ${t} with tiles [${from}, ${to}), at most WINOGRAD_TILES_MAX, of
 * planes of ${h} x ${w} outputs. Tiles are numbered row by row and image by
 * image.
 */
void winograd_sort(struct winograd_tiles *t, int h, int w, int from, int to);

/*
 * winograd_range(t, e, from):
 * Return how many tiles have element ${e}, 0 to 35.  They are consecutive and
 * begin at ${*from}.
 */
int winograd_range(const struct winograd_tiles *t, int e, int *from);

#endif
