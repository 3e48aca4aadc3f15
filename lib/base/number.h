#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

/* Integers and fractions. */

#include <stdint.h>

/* ${num}/${den} frames per second, or ${num}/${den} seconds per tick; 0/0:
 * unknown. */
struct fraction { int num, den; };

/*
 * round_up(n, unit):
 * Return the least multiple of ${unit} that is at least ${n}.
 */
static inline uint64_t
round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * div_up(n, by):
 * Return ${n} / ${by} rounded up, for ${n} >= 0 and ${by} > 0.
 */
static inline int
div_up(int n, int by)
{
	return (n + by - 1) / by;
}

/* log2_up(n): return log2(${n}) rounded up, for ${n} > 0. */
static inline int
log2_up(int n)
{
	int k = 0;

	while (1 << k < n)
		k++;
	return k;
}

/*
 * common_divisor(a, b):
 * Return the greatest common divisor of two numbers that are not negative, ${b}
 * if ${a} is 0.
 */
static inline int64_t
common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

#endif
