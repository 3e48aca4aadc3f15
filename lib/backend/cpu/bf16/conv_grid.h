#ifndef BACKEND_CPU_BF16_CONV_GRID_H
#define BACKEND_CPU_BF16_CONV_GRID_H

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

#include "backend/cpu/bf16/amx.h"
#include "backend/cpu/bf16/gemm.h"

/* Limits: phases, taps, and channels of a group. */
enum { PLACES_PHASES = 4, PLACES_TAPS = 64, PLACES_WIDEST = 512 };

/* One axis, h or w. */
struct conv_grid_axis {
	int in, out, k, s, p;
	int cells;			/* positions of a phase that taps
					 * read */
	int pitch;			/* positions of the grid per row or
					 * image */
	int phases, phase[2];		/* first input position of each phase */
};

/* The grid of a convolution. */
struct conv_grid {
	struct gemm_conv s;
	const struct amx_kernels *k;
	int pixels;			/* taps of a kernel row are columns */
	struct conv_grid_axis h, w;
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
struct conv_grid_range { int first, n; };

/*
 * conv_grid_supports(s):
 * Return 1 if ${s} is within the limits: strides of at most 2, and at most
 * PLACES_TAPS taps.  For pixels, a kernel row counts as one tap, has at most
 * AMX_COLUMNS numbers, and may have any stride over w.
 */
int conv_grid_supports(const struct gemm_conv *s);

/*
 * conv_grid_init(g, s):
 * Lay out the grid of ${s}. conv_grid_supports(${s}) must hold, and there must
 * be AMX.
 */
void conv_grid_init(struct conv_grid *g, const struct gemm_conv *s);

/*
 * conv_grid_pack_a(g, o, to, row, dy, from, n):
 * Write A: channels ${o} of the ${n} positions of ${dy} from ${from} as
 * ${to}[channel][position], with ${row} numbers between channels.  ${from} and
 * ${n} are multiples of AMX_TERMS; negative positions are 0.
 */
void conv_grid_pack_a(const struct conv_grid *g, struct conv_grid_range o,
    bf16 *to, size_t row, const bf16 *dy, long from, int n);

/*
 * conv_grid_pack_b(g, c, phase, to, run, x, from, n):
 * Write B (amx.h): columns ${c} of the ${n} positions of phase ${phase} of ${x}
 * from ${from}, with ${run} numbers between groups of 32 columns.
 */
void conv_grid_pack_b(const struct conv_grid *g, struct conv_grid_range c,
    int phase, bf16 *to, size_t run, const bf16 *x, long from, int n);

#endif
