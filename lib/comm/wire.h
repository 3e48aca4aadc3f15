#ifndef COMM_WIRE_H
#define COMM_WIRE_H

/*
 * Communication dtypes: elements travel unconverted, or as 16-bit numbers that
 * the receiver adds in fp32.
 *
 * The five exponent bits of fp16 cannot represent the range of a network's
 * gradients.  So an fp16 message begins with a power of two that scales its
 * largest element just into range.  No sum over ranks overflows, and only
 * values 2^38 times smaller than the largest become zero.
 */

#include <stddef.h>

/* A communication dtype.  The functions are NULL if ${elem} is 0. */
struct wire {
	const char *name;
	size_t elem;			/* bytes of an element; 0: as in
					 * memory */
	size_t head;			/* bytes before the first element */
	/* Convert ${n} floats to a message, convert it back, or add it. */
	void (*pack)(void *to, const float *x, size_t n);
	void (*unpack)(float *x, const void *from, size_t n);
	void (*add)(float *sum, const void *from, size_t n);
};

enum { WIRE_FP32, WIRE_BF16, WIRE_FP16, WIRES };

/* indexed by WIRE_FP32 and so on */
extern const struct wire wires[WIRES];

/*
 * wire_bytes(w, elem, n): return the bytes of a message of ${n} elements, which
 * have ${elem} bytes each in memory.  It is 0 if ${n} is 0.
 */
size_t wire_bytes(const struct wire *w, size_t elem, size_t n);

/*
 * wire_sum(arg, sum, x, n): ${sum} += ${x}, ${n} floats.  ${arg} is unused.  It
 * is the addition of comm/exact.h for callers without a back end.
 */
void wire_sum(void *arg, void *sum, const void *x, size_t n);

#endif
