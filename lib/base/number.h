#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

/* Whole numbers, and fractions of them. */

#include <stdint.h>

/* num/den frames a second, or num/den seconds a tick; 0/0: not known. */
struct fraction { int num, den; };

/* round_up(n, unit): the least multiple of ${unit} that is not below ${n}. */
static inline uint64_t
round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* div_up(n, by): how many pieces of ${by} hold ${n}, which is not below 0. */
static inline int
div_up(int n, int by)
{
	return (n + by - 1) / by;
}

/* common_divisor(a, b): the greatest, of numbers from 0 up; of 0 and b, b. */
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
