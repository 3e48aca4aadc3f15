#ifndef BACKEND_CPU_HALF_PLACES_H
#define BACKEND_CPU_HALF_PLACES_H

/*
 * Which places of a convolution's input and output meet, for the gradients of
 * its weights (weights.h).
 *
 * Places of dy and of x lie in one grid, image after image, row after row, with
 * so much room behind each row and image that a tap is a distance: place q of x
 * meets place q - shift of dy.  With strides, places of x are in one grid for
 * each phase, and a tap reads one of them.  What is not there is 0.
 *
 * Of pixels, whose channels are few, the taps of a row are columns together:
 * they are what lies side by side in memory.
 */

#include "backend/cpu/half/amx.h"
#include "backend/cpu/half/product.h"

enum { PLACES_PHASES = 4, PLACES_TAPS = 64, PLACES_WIDEST = 512 };

/* Of two sides of the grid one. */
struct places_side {
	int in, out, k, s, p;
	int cells;			/* of a phase, that a tap reads */
	int pitch;			/* of the grid */
	int phases, phase[2];		/* the first of the input's places */
};

struct places {
	struct product_shape s;
	const struct amx_kernels *k;
	int pixels;			/* taps of a row are columns */
	struct places_side h, w;
	int phases, taps;
	struct { int phase; long shift; } tap[PLACES_TAPS];
	int columns;			/* of B: channels of the input, or more */
	int before, after;		/* places of dy beside those of x */
	long n;				/* of the grid */
};

/* A group of channels or columns. */
struct places_group { int first, n; };

/* places_can(s): is there room for what a tap reads of the input, apart? */
int places_can(const struct product_shape *s);

void places_init(struct places *g, const struct product_shape *s);

/*
 * places_turn(g, o, to, row, dy, from, n):
 * A: channels ${o} of places ${from} to ${from} + ${n} of dy, [channel][row]; a
 * multiple of AMX_TERMS both, ${from} perhaps before the first.
 */
void places_turn(const struct places *g, struct places_group o, bf16 *to,
    size_t row, const bf16 *dy, long from, int n);

/*
 * places_pair(g, c, phase, to, run, x, from, n):
 * B: columns ${c} of places of x, as amx.h has them; ${run} numbers from 32
 * columns to the next.
 */
void places_pair(const struct places *g, struct places_group c, int phase,
    bf16 *to, size_t run, const bf16 *x, long from, int n);

#endif
