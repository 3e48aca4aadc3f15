#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/*
 * Random numbers without state.  Philox4x32-10 (Salmon et al., "Parallel Random
 * Numbers: As Easy as 1, 2, 3", SC 2011) maps a key and a counter to four
 * 32-bit words.  The key is the seed, and the counter identifies the draw.  A
 * draw therefore does not depend on threads, on ranks or on restarts.
 * vt-checkpoint(5) lists the counters.  Any thread may call these functions,
 * but two threads must not share a struct rng.
 */

/* The last word of the counter is the purpose; the comments list the other
 * words. */
enum rng_purpose {
	RNG_SHUFFLE = 1,	/* (i, attempt, epoch) */
	RNG_CLIP = 2,		/* (clip low, clip high, draw) */
	RNG_DROPOUT = 3,	/* see rng_dropout */
	RNG_WEIGHTS = 4,	/* (index, 0, tensor) */
	RNG_AUDIT = 5,		/* (step low, step high, 0) */
	RNG_CLASS = 6		/* (first + i, attempt, pass) */
};

struct rng_block { uint32_t w[4]; };

/*
 * rng_philox(seed, c0, c1, c2, c3):
 * Return the four words for the key ${seed} and the counter (c0, c1, c2, c3).
 */
struct rng_block rng_philox(uint64_t seed, uint32_t c0, uint32_t c1,
    uint32_t c2, uint32_t c3);

/* rng_unit(w): Map ${w} to a multiple of 2^-24, uniform in [0, 1). */
static inline double
rng_unit(uint32_t w)
{
	return (w >> 8) * 0x1p-24;
}

/*
 * rng_dropout(seed, clip, op, place):
 * Return the words for values ${place} to ${place} + 3 of global clip number
 * ${clip} in operator ${op}.  ${place} is a multiple of 4; ${place} / 4 is the
 * block.  The counter has 38 bits for the block and 18 for the operator:
 *
 *	c0, c1	the clip
 *	c2	bits 0-11 of the operator, bits 0-19 of the block
 *	c3	bits 12-17 of the operator, bits 20-37 of the block, the purpose
 */
struct rng_block rng_dropout(uint64_t seed, uint64_t clip, uint32_t op,
    uint64_t place);

/*
 * A sequence of draws for clip or tensor number ${id}.  Each draw uses one
 * counter, so adding a later draw does not change the earlier ones.
 */
struct rng { uint64_t seed, id; uint32_t draw, purpose; };

/*
 * rng_clip(seed, g):
 * Return the sequence of draws of global clip number ${g}.
 */
struct rng rng_clip(uint64_t seed, uint64_t g);

/* rng_uniform(r): Return the next draw, uniform in [0, 1). */
double rng_uniform(struct rng *r);

/*
 * rng_below(r, n):
 * Return the next draw from 0 to ${n} - 1, unbiased.  ${n} > 0.
 */
uint32_t rng_below(struct rng *r, uint32_t n);

/*
 * rng_shuffle(seed, epoch, n, order):
 * Write the order in which ${epoch} visits the samples 0 to ${n} - 1 to
 * ${order}[n].  It is a Fisher-Yates shuffle whose draws are functions of
 * (seed, epoch, position).
 */
void rng_shuffle(uint64_t seed, uint32_t epoch, uint32_t n, uint32_t *order);

/*
 * rng_shuffle_class(seed, pass, first, n, order):
 * Do the same for the order in which ${pass} visits the ${n} samples of a
 * class.  ${first} samples are of classes before it.
 */
void rng_shuffle_class(uint64_t seed, uint32_t pass, uint32_t first, uint32_t n,
    uint32_t *order);

/*
 * rng_normal(seed, tensor, i):
 * Return element ${i} of a standard normal tensor, by inversion of the
 * distribution (Wichura 1988, AS 241).  The logarithm is our own, so every libm
 * gives the same bits.
 */
double rng_normal(uint64_t seed, uint32_t tensor, uint32_t i);

#endif
