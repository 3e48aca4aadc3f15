#ifndef BACKEND_CUDA_ARGS_H
#define BACKEND_CUDA_ARGS_H

/*
 * What each kernel is given.  Pointers are the device's: to numbers of the type
 * that is stored where they are void, else as they say.
 */

#include <stddef.h>
#include <stdint.h>

/* Vectors that a thread takes of numbers that are taken as they lie: a block
 * takes this many times its threads. */
enum { FLAT = 4 };

enum { CURVE_RELU };

/* A function of each of ${n} numbers, or its gradient: dx = or += dy f'(from),
 * of its input or its output. */
struct curve {
	const void *from, *dy;
	void *to;			/* y or dx */
	size_t n;
	int accumulate;
};

#endif
