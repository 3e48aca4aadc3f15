#ifndef COMM_WIRE_H
#define COMM_WIRE_H

/*
 * How elements travel between ranks: as they are, or as 16-bit numbers that are
 * added up in fp32 where they arrive.
 *
 * fp16 has five bits of exponent, which the gradients of a network do not fit
 * in.  A message of it begins with its own power of two, so that its largest
 * element is just in range: nothing overflows in a sum over any number of ranks,
 * and only what is 2^38 times smaller than that largest is lost.
 */

#include <stddef.h>

struct wire {
	const char *name;
	size_t elem;			/* bytes of an element; 0: as it is */
	size_t head;			/* bytes before the first */
	void (*pack)(void *to, const float *x, size_t n);
	void (*unpack)(float *x, const void *from, size_t n);
	void (*add)(float *sum, const void *from, size_t n);
};

enum { WIRE_FP32, WIRE_BF16, WIRE_FP16, WIRES };

extern const struct wire wires[WIRES];

/* wire_bytes(w, elem, n): of a message of ${n} elements that take ${elem} bytes
 * each in memory; none of none. */
size_t wire_bytes(const struct wire *w, size_t elem, size_t n);

/* wire_sum(arg, sum, x, n): ${sum} += ${x}, floats; for whoever has no back end
 * to add with (comm/exact.h). */
void wire_sum(void *arg, void *sum, const void *x, size_t n);

#endif
