#ifndef BACKEND_CPU_HALF_PLACES_H
#define BACKEND_CPU_HALF_PLACES_H

/*
 * The positions of dy and x that taps connect, as operands of GEMMs, for weight
 * gradients (weights.h).
 *
 * dy and x use one numbering of positions, the grid: image after image and row
 * after row.  Empty positions, which are 0, follow each row and image, so that
 * a tap is a constant distance: position q of x meets position q - shift of dy.
 * With strides, x has one grid for each phase, and each tap reads one of them.
 *
 * Pixels have few channels.  For them the taps of a kernel row are columns of B
 * together, because these are contiguous in memory.
 */

#include "backend/cpu/half/amx.h"
#include "backend/cpu/half/product.h"

/* Limits: phases, taps, and channels of a group. */
enum { PLACES_PHASES = 4, PLACES_TAPS = 64, PLACES_WIDEST = 512 };

/* One axis, h or w. */
struct places_side {
	int in, out, k, s, p;
	int cells;			/* positions of a phase that taps
					 * read */
	int pitch;			/* positions of the grid per row or
					 * image */
	int phases, phase[2];		/* first input position of each phase */
};

/* The grid of a convolution. */
struct places {
	struct product_shape s;
	const struct amx_kernels *k;
	int pixels;			/* taps of a kernel row are columns */
	struct places_side h, w;
	int phases, taps;
	/*
	 * For each tap, the phase of x that it reads and the distance in the
	 * grid.
	 */
	struct { int phase; long shift; } tap[PLACES_TAPS];
	int columns;			/* columns of B: input channels, or
					 * more */
	int before, after;		/* positions of dy to add before and
					 * after those of x */
	long n;				/* positions of the grid */
};

/* Channels or columns [first, first + n). */
struct places_group { int first, n; };

/*
 * places_can(s):
 * Return 1 if ${s} is within the limits: strides of at most 2, and at most
 * PLACES_TAPS taps.  For pixels, a kernel row counts as one tap, has at most
 * AMX_COLUMNS numbers, and may have any stride over w.
 */
int places_can(const struct product_shape *s);

/*
 * places_init(g, s):
 * Lay out the grid of ${s}.  places_can(${s}) must hold, and there must be AMX.
 */
void places_init(struct places *g, const struct product_shape *s);

/*
 * places_turn(g, o, to, row, dy, from, n):
 * Write A: channels ${o} of the ${n} positions of ${dy} from ${from} as
 * ${to}[channel][position], with ${row} numbers between channels.  ${from} and
 * ${n} are multiples of AMX_TERMS; negative positions are 0.
 */
void places_turn(const struct places *g, struct places_group o, bf16 *to,
    size_t row, const bf16 *dy, long from, int n);

/*
 * places_pair(g, c, phase, to, run, x, from, n):
 * Write B (amx.h): columns ${c} of the ${n} positions of phase ${phase} of ${x}
 * from ${from}, with ${run} numbers between groups of 32 columns.
 */
void places_pair(const struct places *g, struct places_group c, int phase,
    bf16 *to, size_t run, const bf16 *x, long from, int n);

#endif
