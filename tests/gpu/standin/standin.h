#ifndef TESTS_GPU_STANDIN_H
#define TESTS_GPU_STANDIN_H

/*
 * A driver without a GPU (lib/backend/cuda/driver.h): all that is asked of it is
 * done on the host, kernels from the bodies that the GPU runs.
 *
 * Its device memory has addresses that the host cannot touch; the stand-in has
 * the same pages a second time.  Work is queued, and done when somebody waits,
 * or in another order that the events allow.  A kernel sees no more than copies
 * of what it said it touches, each before memory that nobody can touch.
 *
 * And it watches: each fault is counted and its first words are kept.  What a
 * test did not ask for by standin_faults ends the program when the driver is
 * closed, so that every test that uses it looks for all of them.
 */

#include <stdio.h>

#include "backend/cuda/driver.h"
#include "backend/cuda/kernel.h"

/* A kernel on the host: one of its blocks, by the type of activations. */
struct standin_kernel {
	const char *name;
	int threads;
	size_t bytes;			/* of its arguments */
	void (*body[GPU_TYPES])(const void *args, struct block b);
};

/* When work is done. */
enum standin_when {
	STANDIN_AT_ONCE,
	STANDIN_LATE,			/* when waited for, and no more of it than
					 * that needs */
	STANDIN_OTHERS,			/* then, but the other streams' first, as
					 * far as events let them */
	STANDIN_WHENS
};

struct standin_options {
	enum standin_when when;
	/* Run each kernel a second time, its threads and blocks backwards, and
	 * on other garbage where it only writes: both must give the same. */
	int twice;
	size_t memory;			/* of the device; 0: enough */
	long breaks;			/* the piece of work that fails, from 1 on */
	int plain;			/* it has no patterns of convolutions */
	FILE *trace;			/* a line for each piece; NULL: none */
	const struct standin_kernel *kernel;	/* NULL: the back end's */
	int kernels;
};

/* What can be wrong. */
enum standin_fault {
	FAULT_EARLY,			/* read before it was written */
	FAULT_RACE,			/* two touch the same, one of them writes,
					 * and nothing orders them */
	FAULT_WAIT,			/* the host waits, or memory is allocated,
					 * where it said it would not */
	FAULT_UNDECLARED,		/* a kernel touches what it did not say */
	FAULT_MISUSE,			/* what a real driver refuses, or leaves
					 * undefined */
	FAULTS
};

struct driver *standin_open(const struct standin_options *o);

/*
 * standin_backend(when): the cuda back end on a driver of that kind, which runs
 * each kernel twice if it works at once.  Not in backends[].
 * standin_of(d): the driver of such a device.
 *
 * standin_absent(): with STANDIN=no in the environment standin_backend is the back
 * end of the product, on the GPU that is here; what follows does nothing then, and
 * finds nothing.
 */
const struct backend *standin_backend(enum standin_when when);
struct driver *standin_of(struct device *d);
int standin_absent(void);

/*
 * standin_quiet(d, on): from now on the host must not wait, nor allocate, nor
 * choose; and until ${on} is 0.
 */
void standin_quiet(struct driver *d, int on);

/* standin_unknown(d, at, bytes): as if nobody had written it. */
void standin_unknown(struct driver *d, const void *at, size_t bytes);

/*
 * standin_faults(d, which): how many there were; they are forgotten.
 * standin_said(d): of the first one since the last call, or "".
 */
int standin_faults(struct driver *d, enum standin_fault which);
const char *standin_said(struct driver *d);

/* standin_pieces(d): how much work was given to it so far.
 * standin_kernel(name): the number of one of the back end's kernels; -1: none. */
long standin_pieces(struct driver *d);
int standin_kernel(const char *name);

/*
 * It has several engines for convolutions: 0, by rule, and others that lose the
 * last bit of what is stored as fp32.  standin_fastest(d, engine): which one timing
 * finds; 1 if nothing is said.
 */
void standin_fastest(struct driver *d, int engine);

/* standin_slow(d, on): its patterns are slower than plain convolutions and kernels,
 * not faster. */
void standin_slow(struct driver *d, int on);

#endif
