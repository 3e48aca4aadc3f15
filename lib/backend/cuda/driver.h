#ifndef BACKEND_CUDA_DRIVER_H
#define BACKEND_CUDA_DRIVER_H

/*
 * The operations that the back end needs of a GPU, as a table of functions:
 * memory, streams, events, copies, kernels, convolutions and GEMMs.  The
 * product has one driver: the CUDA runtime with cuDNN and cuBLASLt (runtime.c).
 * Tests have another.  It runs the same kernels on the host and records the
 * order of the calls (tests/gpu/standin/standin.h).
 *
 * Work on a stream executes later, in the order of the stream.  Only events
 * order work on different streams.  A kernel launch declares the memory that it
 * reads and writes, so that the test driver can find a missing dependency.
 *
 * The host must not access memory from alloc.  Memory from alloc_host is pinned
 * host memory, which copies read and write asynchronously.
 *
 * Functions that return int return 0, or -1 after a message.  Functions that
 * return a pointer return NULL after a message.  An error in submitted work is
 * reported by the next wait and by each later wait.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

struct driver;
struct gpu_stream;
struct gpu_event;
struct gpu_graph;
struct conv_algorithms;
struct conv_plan;
struct gemm_plan;

/* Storage types. */
enum gpu_type { GPU_F32, GPU_BF16, GPU_F16, GPU_TYPES };

/* Memory ranges that a piece of work reads and writes. */
enum { SPANS = 64 };
struct span { const void *at; size_t bytes; };
struct access {
	int reads, writes;
	struct span read[SPANS], write[SPANS];
};

/* One kernel launch of ${grid} blocks, numbered from 0. */
struct launch {
	int kernel;			/* enum gpu_kernel (kernels.h) */
	enum gpu_type type;		/* storage type of activations */
	unsigned grid[2];
	const void *args;		/* its argument structure (args.h) */
	size_t bytes;
	struct access access;
};

/*
 * Pass of a convolution over images or volumes.  Activations are packed
 * [n][extent...][channels], weights [out][kernel...][in / groups].  Sums are
 * fp32, and fp32 operands are not rounded to TF32.
 */
enum conv_pass { CONV_FORWARD, CONV_DATA, CONV_WEIGHTS };

/* One convolution pass: the shape that an algorithm is selected for. */
struct conv_shape {
	enum conv_pass pass;
	enum gpu_type type;		/* storage type of x, w and y */
	int dims;			/* 2 or 3: entries used of the arrays
					 * below */
	int n, in, out, groups;		/* images; channels; groups */
	int from[3], to[3];		/* extents of x and y */
	int kernel[3], stride[3], pad[3];
	int accumulate;			/* data: x += instead of x = */
};

/*
 * A GEMM: c = op(a) op(b), or c += op(a) op(b), for ${batch} row-major
 * matrices.  op transposes or does nothing.  Sums are fp32.
 */
struct gemm_shape {
	int m, n, k, batch;		/* c is m x n; k terms in each sum */
	int transpose_a, transpose_b, accumulate;
	size_t lda, ldb, ldc;		/* elements between rows */
	size_t stride_a, stride_b, stride_c;	/* elements between matrices */
	enum gpu_type type_ab, type_c;
};

struct driver_calls {
	const char *name;
	void (*close)(struct driver *);

	/*
	 * Device memory, and pinned host memory, of ${bytes} > 0 bytes with
	 * undefined contents.  The caller frees them.
	 */
	void *(*alloc)(struct driver *, size_t bytes);
	void (*free)(struct driver *, void *);
	void *(*alloc_host)(struct driver *, size_t bytes);
	void (*free_host)(struct driver *, void *);

	/* ${urgent}: the stream has a higher priority. */
	struct gpu_stream *(*stream_new)(struct driver *, int urgent);
	void (*stream_free)(struct driver *, struct gpu_stream *);
	struct gpu_event *(*event_new)(struct driver *);
	void (*event_free)(struct driver *, struct gpu_event *);
	/*
	 * record: let the event stand for the work submitted to the stream so
	 * far.
	 * follow: let later work of the stream wait for the event.
	 */
	void (*record)(struct driver *, struct gpu_event *,
	    struct gpu_stream *);
	void (*follow)(struct driver *, struct gpu_stream *,
	    struct gpu_event *);
	/*
	 * Wait on the host, for the recorded work or for all work of the
	 * stream.
	 */
	int (*wait_event)(struct driver *, struct gpu_event *);
	int (*wait)(struct driver *, struct gpu_stream *);

	/*
	 * Each end is device or host memory.  Only copies of pinned host memory
	 * are asynchronous.
	 */
	void (*copy)(struct driver *, struct gpu_stream *, void *to,
	    const void *from, size_t bytes);
	void (*fill)(struct driver *, struct gpu_stream *, void *to, int byte,
	    size_t bytes);
	void (*launch)(struct driver *, struct gpu_stream *,
	    const struct launch *);

	/*
	 * conv_new selects an algorithm for the shape (conv_select.h) and
	 * accesses no device memory.  It returns NULL after a message.
	 * conv_workspace returns the bytes of scratch memory that conv needs.
	 * conv_describe writes the algorithm and its workspace to ${text}.
	 */
	struct conv_plan *(*conv_new)(struct driver *,
	    const struct conv_shape *);
	void (*conv_free)(struct driver *, struct conv_plan *);
	size_t (*conv_workspace)(struct driver *, const struct conv_plan *);
	void (*conv_describe)(struct driver *, const struct conv_plan *,
	    char *text, size_t size);
	/*
	 * Run with x, w, y and the workspace ${at}: forward computes y from x
	 * and w, data x from w and y, weights w from x and y.  Each begins at a
	 * multiple of 16 bytes, the workspace at a multiple of 256.
	 */
	void (*conv)(struct driver *, struct gpu_stream *,
	    const struct conv_plan *, void *const at[4]);

	/*
	 * GEMMs, with the same rules.  gemm_new returns NULL after a message.
	 * The workspace of gemm has gemm_workspace bytes.
	 */
	struct gemm_plan *(*gemm_new)(struct driver *,
	    const struct gemm_shape *);
	void (*gemm_free)(struct driver *, struct gemm_plan *);
	size_t (*gemm_workspace)(struct driver *,
	    const struct gemm_plan *);
	void (*gemm)(struct driver *, struct gpu_stream *,
	    const struct gemm_plan *, const void *a, const void *b, void *c,
	    void *workspace);

	/*
	 * Between capture and captured, the work that this thread submits to
	 * the stream is not executed but becomes a graph.  captured returns
	 * NULL after a detail message if some of the work cannot be captured;
	 * the stream stays usable.  record_inside: while a stream is captured,
	 * add the record of an event that others may wait for; each launch of
	 * the graph records it.
	 */
	int (*capture)(struct driver *, struct gpu_stream *);
	struct gpu_graph *(*captured)(struct driver *, struct gpu_stream *);
	void (*record_inside)(struct driver *, struct gpu_event *,
	    struct gpu_stream *);
	void (*graph_run)(struct driver *, struct gpu_stream *,
	    struct gpu_graph *);
	void (*graph_free)(struct driver *, struct gpu_graph *);

	/*
	 * The cudaStream_t of a stream, for NCCL.  NULL if the driver has none.
	 */
	void *(*stream_native)(struct driver *, struct gpu_stream *);
	/* Bytes of device memory that are free.  NULL if unknown. */
	size_t (*available)(struct driver *);
};

/* First member of the structure of each driver. */
struct driver {
	const struct driver_calls *call;
	struct conv_algorithms *algorithms;	/* conv_select.h */
};

/*
 * runtime_open(ordinal):
 * Open CUDA device number ${ordinal} with cuDNN and cuBLASLt.  Return NULL
 * after a message that names what is missing: a device, a recent driver, or a
 * library.  The caller closes it by call->close.
 */
struct driver *runtime_open(int ordinal);

/*
 * runtime_open_described(json):
 * Open a driver that only plans, for the device that ${json} describes
 * (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), or for an H100 if it is NULL.
 * It needs no GPU, and selects algorithms by the heuristics of cuDNN.  Its
 * memory is that of the host.  The functions that compute are NULL.  Return
 * NULL after a message.  The caller closes it by call->close.
 */
struct driver *runtime_open_described(const char *json);

/*
 * runtime_library():
 * Return the versions as text: "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0".  The
 * text is static, and the same at each call.
 *
 * runtime_devices():
 * Return the names and memory sizes of the devices of this host as text, or
 * "none here".  The text is static, and overwritten by the next call.
 *
 * runtime_uuids(uuid, max):
 * uuids of struct ordinal_ops (backend.h).
 */
const char *runtime_library(void);
const char *runtime_devices(void);
int runtime_uuids(unsigned char (*uuid)[DEVICE_UUID], int max);

/*
 * cuda_open_on(driver, o):
 * Open the back end on ${driver}.  Take ownership of the driver: close it with
 * the device, or at once on failure.  Return NULL after a message.
 */
struct device *cuda_open_on(struct driver *driver, struct device_options *o);

#endif
