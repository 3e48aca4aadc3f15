#ifndef TESTS_BLOCKED_H
#define TESTS_BLOCKED_H

/* Activations in blocks of channels, the fp32 layout of the cpu back end. */

#include "backend/cpu/cpu.h"
#include "base/mem.h"
#include "base/rng.h"

/*
 * Return the index of channel ${c} of pixel ${place} of image ${image} in the
 * blocked layout.
 */
static inline size_t
blocked_index(const struct dims *d, int image, size_t place, int c)
{
	size_t lanes = (size_t)cpu_lanes();

	return (size_t)image * cpu_image(d) + ((size_t)c / lanes *
	    cpu_positions(d) + place) * lanes + (size_t)c % lanes;
}

/*
 * Return cpu_floats(d) normal numbers drawn from ${stream}, and 0 in the
 * padding channels.  The caller frees them.
 */
static inline float *
blocked_draw(const struct dims *d, uint32_t stream)
{
	float *v = xcalloc(cpu_floats(d), sizeof(*v));
	uint32_t n = 0;

	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < cpu_positions(d); p++)
			for (int c = 0; c < d->c; c++)
				v[blocked_index(d, i, p, c)] =
				    (float)rng_normal(7, stream, n++);
	return v;
}

#endif
