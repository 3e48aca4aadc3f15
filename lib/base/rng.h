#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/*
 * Randomness without state.  Philox4x32-10 (Salmon et al., "Parallel Random
 * Numbers: As Easy as 1, 2, 3", SC 2011) maps a key and a counter to four
 * 32-bit words.  The key is the seed; the counter says what the number is
 * for, so a draw depends neither on threads nor on ranks nor on how often a
 * run was restarted.  vt-checkpoint(5) lists the counters.
 */

/* The last word of the counter: the purpose. */
enum rng_purpose {
	RNG_SHUFFLE = 1,	/* (i, attempt, epoch) */
	RNG_CLIP = 2,		/* (clip low, clip high, draw) */
	RNG_DROPOUT = 3,	/* drawn by rng_dropout */
	RNG_WEIGHTS = 4,	/* (index, 0, tensor) */
	RNG_AUDIT = 5		/* (step low, step high) */
};

struct rng_block { uint32_t w[4]; };

struct rng_block rng_philox(uint64_t seed, uint32_t c0, uint32_t c1,
    uint32_t c2, uint32_t c3);

/* rng_unit(w): uniform in [0, 1), a multiple of 2^-24. */
static inline double
rng_unit(uint32_t w)
{
	return (w >> 8) * 0x1p-24;
}

/*
 * rng_dropout(seed, clip, op, place):
 * Return the random numbers of values ${place} to ${place} + 3 of clip ${clip}
 * in operator ${op}.  ${place} is a multiple of 4.  The counter has 38 bits for
 * the place and 18 for the operator.  Its third word holds the low 20 bits of
 * the place and the low 12 of the operator.  Its fourth word holds the others
 * above the purpose.
 */
struct rng_block rng_dropout(uint64_t seed, uint64_t clip, uint32_t op,
    uint64_t place);

/*
 * A sequence of draws for one thing: clip ${id}, or tensor ${id}.  Each draw
 * uses one counter, so the draws of a clip stay the same when a later one is
 * added.
 */
struct rng { uint64_t seed, id; uint32_t draw, purpose; };

/* rng_clip(seed, g): the draws of global clip number ${g}. */
struct rng rng_clip(uint64_t seed, uint64_t g);

double rng_uniform(struct rng *r);		/* [0, 1) */
uint32_t rng_below(struct rng *r, uint32_t n);	/* 0 to n-1, unbiased */

/*
 * rng_shuffle(seed, epoch, n, order):
 * Write the order in which ${epoch} visits samples 0 to ${n} - 1, a
 * Fisher-Yates shuffle whose draws are functions of (seed, epoch, position).
 */
void rng_shuffle(uint64_t seed, uint32_t epoch, uint32_t n, uint32_t *order);

/*
 * rng_normal(seed, tensor, i): element ${i} of a standard normal tensor, by
 * the inverse distribution (Wichura 1988, AS 241) with a logarithm of our
 * own: the same bits with every libm.
 */
double rng_normal(uint64_t seed, uint32_t tensor, uint32_t i);

#endif
