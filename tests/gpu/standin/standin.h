#ifndef TESTS_GPU_STANDIN_H
#define TESTS_GPU_STANDIN_H

/*
 * A CUDA driver without a GPU (lib/backend/cuda/driver.h).  All work runs on
 * the host, with kernels compiled from the bodies that the GPU runs.
 *
 * The stand-in gives out addresses of device memory that the host cannot
 * access, and maps the same pages a second time for itself.  Work is queued.
 * It runs when a thread waits for it, or in another order that the events
 * allow.  A kernel sees only copies of the spans that it declared; an
 * inaccessible page follows each copy.
 *
 * The stand-in counts faults and keeps the text of the first one.  When the
 * driver is closed, it ends the program if there is a fault that the test did
 * not fetch by standin_faults.  Therefore each test that uses it detects all
 * kinds of faults.
 */

#include <stdio.h>

#include "backend/cuda/driver.h"
#include "backend/cuda/kernel.h"

/* A kernel on the host: ${body} runs one block, by the type of the
 * activations. */
struct standin_kernel {
	const char *name;
	int threads;
	size_t bytes;			/* of the arguments */
	void (*body[GPU_TYPES])(const void *args, struct block b);
};

/* The time at which queued work runs. */
enum standin_when {
	STANDIN_AT_ONCE,
	STANDIN_LATE,			/* only when waited for, and no more
					 * of it than needed */
	STANDIN_OTHERS,			/* when waited for, but first the
					 * work of other streams, as far as
					 * events allow */
	STANDIN_WHENS
};

struct standin_options {
	enum standin_when when;
	/*
	 * Run each kernel a second time, with threads and blocks in reverse
	 * order, and with other garbage in memory that it only writes.  Both
	 * runs must give the same output.
	 */
	int twice;
	size_t memory;			/* bytes of device memory; 0: 16 GiB */
	long breaks;			/* number of the piece of work that
					 * fails, counted from 1; 0: none */
	FILE *trace;			/* one line for each piece of work;
					 * NULL: none */
	const struct standin_kernel *kernel;	/* NULL: the back end's
						 * kernels */
	int kernels;
};

/* The kinds of faults. */
enum standin_fault {
	FAULT_EARLY,			/* a read before the write */
	FAULT_RACE,			/* two pieces access the same bytes
					 * without an order, and one of them
					 * writes */
	FAULT_WAIT,			/* a wait or an allocation between
					 * standin_quiet(d, 1) and
					 * standin_quiet(d, 0) */
	FAULT_UNDECLARED,		/* a kernel accesses memory that it
					 * did not declare */
	FAULT_MISUSE,			/* a call that a real driver refuses
					 * or leaves undefined */
	FAULTS
};

struct driver *standin_open(const struct standin_options *o);

/*
 * standin_backend(when):
 * Return the cuda back end on a stand-in of that kind.  With STANDIN_AT_ONCE
 * each kernel runs twice.  The back end is not in backends[].
 *
 * standin_of(d):
 * Return the driver of such a device.
 *
 * standin_absent():
 * Return whether STANDIN=no is in the environment.  Then standin_backend
 * returns the product's back end on a real GPU, and the functions below do
 * nothing and report no faults.
 *
 * standin_pretends():
 * Return whether STANDIN=gpu is in the environment.  The stand-in then passes
 * for a real GPU, so that the suite runs what tests do on a GPU:
 * standin_absent is true, devices expose a stream, kernels access memory
 * without guards, and faults are not counted.
 *
 * standin_at_most(n, max):
 * Return ${n}, or with STANDIN=gpu at most ${max}.  Sizes for a GPU are too
 * large for the stand-in.
 *
 * standin_whens():
 * Return the number of different kinds of standin_backend: 1 if
 * standin_absent, else STANDIN_WHENS.
 */
const struct backend *standin_backend(enum standin_when when);
struct driver *standin_of(struct device *d);
int standin_absent(void);
int standin_pretends(void);
int standin_at_most(int n, int max);
int standin_whens(void);

/*
 * standin_quiet(d, on):
 * While ${on} is not 0, a wait, an allocation or a choice of algorithms by the
 * calling thread is a FAULT_WAIT.
 */
void standin_quiet(struct driver *d, int on);

/* standin_unknown(d, at, bytes): Mark these bytes as never written. */
void standin_unknown(struct driver *d, const void *at, size_t bytes);

/*
 * standin_faults(d, which):
 * Return the number of faults of this kind, and set it to 0.
 *
 * standin_said(d):
 * Return the text of the first fault since the last call, or "".  It is valid
 * until the thread's next call.
 */
int standin_faults(struct driver *d, enum standin_fault which);
const char *standin_said(struct driver *d);

/*
 * standin_pieces(d): Return how many pieces of work were queued so far.
 * standin_kernel(name): Return the number of a kernel of the back end, or -1.
 */
long standin_pieces(struct driver *d);
int standin_kernel(const char *name);

/*
 * standin_kernels: the back end's kernels, [standin_kernels_n].
 * standin_use_kernels(d, kernel, n): Run kernels of table ${kernel} [n], which
 * the caller keeps until ${d} is closed.
 */
extern const struct standin_kernel standin_kernels[];
extern const int standin_kernels_n;
void standin_use_kernels(struct driver *d, const struct standin_kernel *kernel,
    int n);

/*
 * standin_fastest(d, engine):
 * Set the engine for convolutions that timing finds to be the fastest (1).
 * Engine 0 is the choice by rule.  All others clear the last bit of outputs in
 * fp32, so that tests can tell them apart.
 */
void standin_fastest(struct driver *d, int engine);

/*
 * standin_engines(d, engines, wrong, varies):
 * Set the number of candidates (2): engine 0, which takes twice the time of the
 * fastest; the fastest; and engines numbered from there, each slower by a tenth
 * of the fastest's time.  Engine ${wrong} leaves a part of its output 0.  Two
 * runs of engine ${varies} differ in a bit.  0: none.
 */
void standin_engines(struct driver *d, int engines, int wrong, int varies);

#endif
