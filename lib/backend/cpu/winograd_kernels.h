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
 * streamed() is called (fp32 only). */
enum winograd_how { WINOGRAD_MORE = 1, WINOGRAD_STREAM = 2 };

/* A block of channels of an image: L numbers at each of h x w places, which are
 * ${step} numbers apart, in fp32 or in bf16. */
struct winograd_plane {
	void *at;
	int is_bf16, h, w;
	size_t step;
};

/* winograd_plane(x, is_bf16, c, h, w, image, block):
 * Block ${block} of image ${image} of the activation ${x} of ${c} channels: in
 * fp32 blocks lie one after the other, in bf16 side by side at each place. */
static inline struct winograd_plane
winograd_plane(const void *x, int is_bf16, int c, int h, int w, int image,
    int block)
{
	size_t row = is_bf16 ? round_up((uint64_t)c, 16) : (size_t)cpu_lanes();
	size_t places = (size_t)h * (size_t)w, at = is_bf16 ?
	    (size_t)image * places * row + (size_t)(block * cpu_lanes()) :
	    (size_t)(image * cpu_blocks(c) + block) * places * row;

	return (struct winograd_plane){ (char *)x + at * (is_bf16 ? 2 : 4),
		is_bf16, h, w, row };
}

struct winograd_kernels {
	/* One tile and block of ${x}; ${step} from one element to the next in
	 * ${v}.  The tile begins at ${at}, perhaps outside, and has ${n} rows
	 * and columns (winograd_tiles.h). */
	void (*input)(float *v, size_t step, const struct winograd_plane *x,
	    const int at[2], const int n[2]);
	/* One element of WINOGRAD_ROWS tiles; ${step} from one block of
	 * channels to the next in ${v}. */
	void (*product)(float *m, const float *v, size_t step, const float *u,
	    int blocks);
	/* One tile and block of ${y}; the tile begins at ${at}. */
	void (*output)(const struct winograd_plane *y, const int at[2],
	    const int n[2], const float *m, size_t step, const float *bias,
	    int how);
	void (*streamed)(void);
	/* One input channel, 3 x 3 taps to L output channels, [9][L]; ${step}
	 * from one element to the next in ${u}. */
	void (*weights)(float *u, size_t step, const float *w);
	/* For weight gradients: as input, of the 4 x 4 places of dy that a tile
	 * has, those outside 0; and one output channel to L input channels,
	 * [9][L], from sums ${step} from one element to the next. */
	void (*gradient_in)(float *v, size_t step,
	    const struct winograd_plane *y, const int at[2], const int n[2]);
	void (*gradient_out)(float *w, const float *m, size_t step);
};

extern const struct winograd_kernels winograd_kernels_base,
    winograd_kernels_avx2, winograd_kernels_avx512;

const struct winograd_kernels *winograd_kernels_pick(void) ISA_CONST;

/* How many tiles before its turn one is fetched. */
enum { WINOGRAD_AHEAD = 2 };

/*
 * winograd_fetch(x, at, edge):
 * Ask for the 4 x 4 places of a plane that the tile at ${at} has and those
 * before it had not, ${edge} further on.
 */
static inline void
winograd_fetch(const struct winograd_plane *x, const int at[2], int edge)
{
	size_t step = x->step * (x->is_bf16 ? 2 : 4);
	const char *from = (const char *)x->at +
	    ((long)(at[0] + edge) * x->w + at[1] + edge) * (long)step;

	for (int i = 0; i < 4 && at[0] + edge + i < x->h; i++)
		for (int j = 0; j < 4; j++)
			__builtin_prefetch(from + ((size_t)i * (size_t)x->w +
			    (size_t)j) * step);
}

#endif
