#ifndef BACKEND_CPU_WINOGRAD_TILES_H
#define BACKEND_CPU_WINOGRAD_TILES_H

/*
 * The tiles of 4 x 4 places that Winograd's algorithm cuts planes into.  Where
 * 4 does not divide a side its last tile has fewer, and does with fewer points:
 * of 0, 1, -1, 2, -2 and infinity, elements 0 to 5, three places take all but
 * -2, and two or one neither 2 nor -2.  Planes of 14 x 14 so take 0.84 of the
 * products.  Tiles are sorted by which side they end, so that those that have
 * an element follow one another.
 */

enum { WINOGRAD_MOST = 96 };		/* tiles at a time */

struct winograd_tile {
	int image, at[2];		/* in the output */
	int n[2];			/* 4, or 3 or 2 points' worth */
};

struct winograd_tiles {
	int n, last[2];			/* last: n of the last in a side */
	/* Where those that end rows, none, columns, both begin; and the end. */
	int begin[5];
	struct winograd_tile tile[WINOGRAD_MOST];
};

/* winograd_tiles_of(h, w): of a plane. */
int winograd_tiles_of(int h, int w);

/* winograd_sort(t, h, w, from, to): tiles ${from} to ${to}, WINOGRAD_MOST at
 * most, image by image of planes of ${h} x ${w} places. */
void winograd_sort(struct winograd_tiles *t, int h, int w, int from, int to);

/* winograd_range(t, e, from): how many tiles have element ${e}; they are those
 * from ${from} on. */
int winograd_range(const struct winograd_tiles *t, int e, int *from);

#endif
