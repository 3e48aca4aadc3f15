#ifndef BACKEND_CPU_WINOGRAD_KERNELS_H
#define BACKEND_CPU_WINOGRAD_KERNELS_H

/*
 * The loops of Winograd's F(4x4, 3x3), one copy for each instruction set
 * (winograd.isa.c); winograd.h says what they are for.  A tile is 4 x 4 places
 * of the output, made from 6 x 6 of the input; in between it has 36 elements.
 * With L lanes of a block of channels:
 *
 *	v [36][channels / L][tiles][L]		the input, transformed
 *	u [36][channels][2 L]			weights to 2 L output channels
 *	m [36][tiles][2 L]			v u
 *
 * Tiles are taken WINOGRAD_ROWS at a time.
 */

#include <stddef.h>

#include "backend/cpu/cpu.h"
#include "base/isa.h"

enum { WINOGRAD_ROWS = 12, WINOGRAD_ELEMENTS = 36 };

/* How outputs are written: added to what is there, or past the caches, until
 * streamed() is called. */
enum winograd_how { WINOGRAD_MORE = 1, WINOGRAD_STREAM = 2 };

struct winograd_kernels {
	/* One tile and block; ${step} from one element to the next in ${v}.
	 * ${x} [h][w][L]; the tile begins at ${at}, perhaps outside, and has
	 * ${n} rows and columns (winograd_tiles.h). */
	void (*input)(float *v, size_t step, const float *x, int h, int w,
	    const int at[2], const int n[2]);
	/* One element of WINOGRAD_ROWS tiles; ${step} from one block of
	 * channels to the next in ${v}. */
	void (*product)(float *m, const float *v, size_t step, const float *u,
	    int blocks);
	/* One tile and block of ${y} [h][w][L], which begins at ${at}. */
	void (*output)(float *y, int h, int w, const int at[2], const int n[2],
	    const float *m, size_t step, const float *bias, int how);
	void (*streamed)(void);
	/* One input channel, 3 x 3 taps to L output channels, [9][L]; ${step}
	 * from one element to the next in ${u}. */
	void (*weights)(float *u, size_t step, const float *w);
	/* For weight gradients: as input, of the 4 x 4 places of dy that a tile
	 * has, those outside 0; and one output channel to L input channels,
	 * [9][L], from sums ${step} from one element to the next. */
	void (*gradient_in)(float *v, size_t step, const float *y, int h, int w,
	    const int at[2], const int n[2]);
	void (*gradient_out)(float *w, const float *m, size_t step);
};

extern const struct winograd_kernels winograd_kernels_base,
    winograd_kernels_avx2, winograd_kernels_avx512;

const struct winograd_kernels *winograd_kernels_pick(void);

/* How many tiles before its turn one is fetched. */
enum { WINOGRAD_AHEAD = 2 };

/*
 * winograd_fetch(x, h, w, at, edge):
 * Ask for the 4 x 4 places of a plane that the tile at ${at} has and those
 * before it had not, ${edge} further on.
 */
static inline void
winograd_fetch(const float *x, int h, int w, const int at[2], int edge)
{
	x += ((long)(at[0] + edge) * w + at[1] + edge) * cpu_lanes();
	for (int i = 0; i < 4 && at[0] + edge + i < h; i++)
		for (int j = 0; j < 4; j++)
			__builtin_prefetch(x + ((long)i * w + j) * cpu_lanes());
}

#endif
