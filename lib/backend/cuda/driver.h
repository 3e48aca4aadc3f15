#ifndef BACKEND_CUDA_DRIVER_H
#define BACKEND_CUDA_DRIVER_H

/*
 * What the back end asks of a GPU, as a table: memory, streams, events, copies,
 * kernels, and what libraries do.  The product has one, the CUDA runtime with
 * cuDNN and cuBLASLt (runtime.c); tests have another, which does the same work
 * on the host from the same kernels, and remembers in which order it was asked
 * (tests/gpu/standin/standin.h).
 *
 * Work is put on a stream and done later, in the stream's order; between
 * streams there is no order but that of events.  Each piece of work says what
 * memory it reads and writes, so that an order that is missing can be found.
 *
 * Memory that alloc gives is the device's: the host must not touch it.  That of
 * alloc_host is the host's, pinned, so that copies need not wait.
 *
 * Functions that return int give 0, or -1 after a message; those that return a
 * pointer NULL after one.  What goes wrong in work that was put on a stream is
 * said by the next wait, and from then on by every one.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

struct driver;
struct gpu_stream;
struct gpu_event;
struct gpu_graph;
struct conv_plan;
struct product_plan;

/* What numbers are stored as. */
enum gpu_type { GPU_F32, GPU_BF16, GPU_F16, GPU_TYPES };

/* What a piece of work touches. */
enum { SPANS = 64 };
struct span { const void *at; size_t bytes; };
struct access {
	int reads, writes;
	struct span read[SPANS], write[SPANS];
};

/* A kernel at work: ${grid} blocks of it, numbered from 0. */
struct launch {
	int kernel;			/* enum gpu_kernel, of kernels.h */
	enum gpu_type type;		/* what activations are stored as */
	unsigned grid[2];
	const void *args;		/* its own structure, of ${bytes} */
	size_t bytes;
	struct access access;
};

/*
 * A convolution of images or of volumes, [n][extent...][channels] packed, with
 * weights [out][kernel...][in / groups] packed.  Sums are in fp32, and products
 * of fp32 numbers are not rounded (no TF32).
 */
enum conv_pass { CONV_FORWARD, CONV_DATA, CONV_WEIGHTS };

/*
 * What else is done on the way.  A norm is a batch normalisation with a relu, max(x
 * scale + offset, 0), that stands before the convolution: where that does its work,
 * what it gives is never in memory.
 * CONV_SUMS: forward; of y as it is stored, the sum of each channel and that of
 * its squares.
 * CONV_NORMED_SUMS: forward; x is normed first, and the same sums.
 * CONV_NORMED: weights; x is normed first.
 * CONV_NORM_BACK: data; what is written is the gradient behind the norm's relu,
 * and the sums are the gradients of its scale and its offset.
 */
enum conv_pattern { CONV_PLAIN, CONV_SUMS, CONV_NORMED_SUMS, CONV_NORMED,
	CONV_NORM_BACK, CONV_PATTERNS };

/* What a pattern has beside x, w and y: all begin at multiples of 16 bytes. */
struct conv_beside {
	const void *scale, *offset;	/* [in]; CONV_NORM_BACK: floats, of x
					 * less its mean, times ${rstd}; else as
					 * x is stored, of x itself */
	const float *mean, *rstd;	/* [in]: CONV_NORM_BACK */
	const void *normed;		/* CONV_NORM_BACK: what the norm is
					 * given, of the shape of x */
	float *sums;			/* [2][out]; CONV_NORM_BACK: [2][in] */
	float *rest;			/* CONV_NORM_BACK: [3][in]; garbage */
};

struct conv_shape {
	enum conv_pass pass;
	enum conv_pattern pattern;
	enum gpu_type type;		/* of x, w and y, and of what is made */
	int dims;			/* 2 or 3: of the extents below, the
					 * first ones */
	int n, in, out, groups;		/* images; channels */
	int from[3], to[3];		/* extents of x and of y */
	int kernel[3], stride[3], pad[3];
	int accumulate;			/* data: x += rather than x = */
};

/*
 * c = op(a) op(b), or added to c: row-major matrices, ${batch} of each; op
 * transposes.  Sums are in fp32.
 */
struct product_shape {
	int m, n, k, batch;		/* c is m x n, of sums of k products */
	int transpose_a, transpose_b, accumulate;
	size_t lda, ldb, ldc;		/* numbers from row to row, as stored */
	size_t stride_a, stride_b, stride_c;	/* from matrix to matrix */
	enum gpu_type type_ab, type_c;
};

struct driver_calls {
	const char *name;
	void (*close)(struct driver *);

	void *(*alloc)(struct driver *, size_t bytes);
	void (*free)(struct driver *, void *);
	void *(*alloc_host)(struct driver *, size_t bytes);
	void (*free_host)(struct driver *, void *);

	struct gpu_stream *(*stream_new)(struct driver *, int urgent);
	void (*stream_free)(struct driver *, struct gpu_stream *);
	struct gpu_event *(*event_new)(struct driver *);
	void (*event_free)(struct driver *, struct gpu_event *);
	/* The work on the stream so far; the stream waits for that. */
	void (*record)(struct driver *, struct gpu_event *, struct gpu_stream *);
	void (*follow)(struct driver *, struct gpu_stream *, struct gpu_event *);
	/* The host waits: for the work that was recorded, or for all. */
	int (*wait_event)(struct driver *, struct gpu_event *);
	int (*wait)(struct driver *, struct gpu_stream *);

	/* Either end may be the host's, which must be pinned for the copy to
	 * be no wait. */
	void (*copy)(struct driver *, struct gpu_stream *, void *to,
	    const void *from, size_t bytes);
	void (*fill)(struct driver *, struct gpu_stream *, void *to, int byte,
	    size_t bytes);
	void (*launch)(struct driver *, struct gpu_stream *,
	    const struct launch *);

	/* A way to do a convolution, chosen for its shape; touches no memory
	 * of the device.  NULL without a message for a pattern that there is
	 * no way to do, or that is done without (choose.h).  The workspace is what conv needs beside. */
	struct conv_plan *(*conv_new)(struct driver *,
	    const struct conv_shape *);
	void (*conv_free)(struct driver *, struct conv_plan *);
	size_t (*conv_workspace)(struct driver *, const struct conv_plan *);
	void (*conv_describe)(struct driver *, const struct conv_plan *,
	    char *text, size_t size);
	/* Forward: y of x and w; data: x of w and y; weights: w of x and y.
	 * All begin at multiples of 16 bytes, and the workspace of 256.
	 * Beside: of a pattern; NULL: CONV_PLAIN. */
	void (*conv)(struct driver *, struct gpu_stream *,
	    const struct conv_plan *, void *x, void *w, void *y,
	    void *workspace, const struct conv_beside *beside);

	struct product_plan *(*product_new)(struct driver *,
	    const struct product_shape *);
	void (*product_free)(struct driver *, struct product_plan *);
	size_t (*product_workspace)(struct driver *,
	    const struct product_plan *);
	void (*product)(struct driver *, struct gpu_stream *,
	    const struct product_plan *, const void *a, const void *b, void *c,
	    void *workspace);

	/*
	 * What this thread puts on the stream between the two is not done, but
	 * becomes a graph, which does it all when it runs.  NULL after a message
	 * if something in it cannot be: nothing else is wrong then.
	 * record_inside: of a stream that is captured, for those who are not a
	 * part of it: each run of the graph records the event.
	 */
	int (*capture)(struct driver *, struct gpu_stream *);
	struct gpu_graph *(*captured)(struct driver *, struct gpu_stream *);
	void (*record_inside)(struct driver *, struct gpu_event *,
	    struct gpu_stream *);
	void (*graph_run)(struct driver *, struct gpu_stream *,
	    struct gpu_graph *);
	void (*graph_free)(struct driver *, struct gpu_graph *);

	/* What its maker's other libraries call a stream; NULL: none is here. */
	void *(*stream_native)(struct driver *, struct gpu_stream *);
	/* Bytes that could still be allocated; NULL: it is not known. */
	size_t (*available)(struct driver *);

	/* How convolutions are done, as data: device_choices, device_choose and
	 * device_tune.  choices may be NULL: it is by rule alone. */
	char *(*choices)(struct driver *, enum choices_kind which);
	int (*choose)(struct driver *, enum choices_kind which, const char *what,
	    const char *text);
	void (*tune)(struct driver *, int how);
};

/* Begins the driver's own structure. */
struct driver { const struct driver_calls *call; };

/*
 * runtime_open(ordinal): the device of that number.  NULL after a message that
 * says what is missing: a device, or a driver of the system's that is new enough.
 */
struct driver *runtime_open(int ordinal);

/*
 * runtime_described(json): a driver that only makes plans for convolutions, for
 * a device that is described as cuDNN wants it
 * (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), by cuDNN's guess; all calls but
 * those for plans and choices are NULL.
 */
struct driver *runtime_described(const char *json);

/* runtime_library(): "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0".
 * runtime_devices(): the names of this host's devices, or "none here".
 * runtime_uuids(uuid, max): see uuids of struct backend. */
const char *runtime_library(void);
const char *runtime_devices(void);
int runtime_uuids(unsigned char (*uuid)[DEVICE_UUID], int max);

/* cuda_open_on(driver, o): the back end on any driver, which becomes its own,
 * and is closed where this fails; NULL after a message. */
struct device *cuda_open_on(struct driver *driver, struct device_options *o);

#endif
