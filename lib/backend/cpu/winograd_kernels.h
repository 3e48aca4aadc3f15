#ifndef BACKEND_CPU_WINOGRAD_KERNELS_H
#define BACKEND_CPU_WINOGRAD_KERNELS_H

/*
 * Kernels of Winograd's F(4x4, 3x3) (winograd.h); winograd.isa.c is compiled
 * once per instruction set.  A tile has 4 x 4 outputs, computed from 6 x 6
 * inputs by 36 products per channel, its elements.  L is cpu_lanes().
 *
 *	v [36][channels / L][tiles][L]		transformed input
 *	u [36][channels][2 L]			weights to 2 L output channels
 *	m [36][tiles][2 L]			products v u
 *
 * The kernel processes WINOGRAD_ROWS tiles at a time.
 */

#include <stddef.h>

#include "backend/cpu/cpu.h"
#include "base/isa.h"

enum { WINOGRAD_ROWS = 12, WINOGRAD_ELEMENTS = 36 };

/*
 * How outputs are written: WINOGRAD_MORE adds to them, and WINOGRAD_STREAM,
 * fp32 only, stores past the caches.  Streamed stores are visible to others
 * after streamed().
 */
enum winograd_how { WINOGRAD_MORE = 1, WINOGRAD_STREAM = 2 };

/*
 * A block of L channels of an image of h x w positions, ${step} numbers apart,
 * in fp32 or bf16.
 */
struct winograd_plane {
	void *at;
	int is_bf16, h, w;
	size_t step;
};

/*
 * winograd_plane(x, is_bf16, c, h, w, image, block):
 * Return block ${block} of image ${image} of the activation ${x} of ${c}
 * channels.  In fp32 blocks lie one after the other; in bf16 the channels of a
 * position are contiguous.
 */
static inline struct winograd_plane
winograd_plane(const void *x, int is_bf16, int c, int h, int w, int image,
    int block)
{
	size_t row = is_bf16 ? round_up((uint64_t)c, 16) : (size_t)cpu_lanes();
	size_t positions = (size_t)h * (size_t)w, at = is_bf16 ?
	    (size_t)image * positions * row + (size_t)(block * cpu_lanes()) :
	    (size_t)(image * cpu_blocks(c) + block) * positions * row;

	return (struct winograd_plane){ (char *)x + at * (is_bf16 ? 2 : 4),
		is_bf16, h, w, row };
}

struct winograd_kernels {
	/*
	 * v = B' x B for one tile and block of ${x}.  Elements of ${v} are
	 * ${step} floats apart.  The tile begins at ${at}, perhaps outside of
	 * the plane, where x is 0.  ${n} is that of struct winograd_tile.
	 */
	void (*input)(float *v, size_t step, const struct winograd_plane *x,
	    const int at[2], const int n[2]);
	/*
	 * m[r][o] = sum over c of v[r][c] u[c][o], for one element and
	 * WINOGRAD_ROWS tiles.  Blocks of channels of ${v} are ${step} floats
	 * apart.
	 */
	void (*product)(float *m, const float *v, size_t step, const float *u,
	    int blocks);
	/*
	 * y = A' m A + bias, or y += A' m A with WINOGRAD_MORE, for one tile
	 * and block of ${y} at ${at}.  Outputs beyond the plane are dropped.
	 * ${bias}[L] may be NULL.
	 */
	void (*output)(const struct winograd_plane *y, const int at[2],
	    const int n[2], const float *m, size_t step, const float *bias,
	    int how);
	/* Order the streamed stores of this thread before its later stores. */
	void (*streamed)(void);
	/*
	 * u = G w G' for one input and L output channels, w [9][L].  Elements
	 * of ${u} are ${step} floats apart.
	 */
	void (*weights)(float *u, size_t step, const float *w);
	/*
	 * For weight gradients: v = A dy A' for the 4 x 4 outputs of a tile, 0
	 * beyond the plane; arguments as for input.
	 */
	void (*gradient_in)(float *v, size_t step,
	    const struct winograd_plane *y, const int at[2], const int n[2]);
	/*
	 * w = G' m G for one output and L input channels, w [9][L].  Elements
	 * of ${m} are ${step} floats apart.
	 */
	void (*gradient_out)(float *w, const float *m, size_t step);
};

extern const struct winograd_kernels winograd_kernels_base,
    winograd_kernels_avx2, winograd_kernels_avx512;

/*
 * winograd_kernels_pick(): return the kernels for this processor (base/isa.h).
 */
const struct winograd_kernels *winograd_kernels_pick(void) ISA_CONST;

/* Prefetch a tile this many tiles before it is read. */
enum { WINOGRAD_AHEAD = 2 };

/*
 * winograd_prefetch(x, at, edge):
 * Prefetch the 4 x 4 positions of ${x} that the tile at ${at} reads and earlier
 * tiles did not.  They begin ${edge} positions further on in h and w.
 */
static inline void
winograd_prefetch(const struct winograd_plane *x, const int at[2], int edge)
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
