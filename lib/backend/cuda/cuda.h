#ifndef BACKEND_CUDA_CUDA_H
#define BACKEND_CUDA_CUDA_H

/*
 * Declarations shared by the files of the cuda back end.
 *
 * Layout: activations and their gradients are packed [n][t][h][w][c], in the
 * storage type of the precision.  Parameters, their gradients and all
 * statistics are flat arrays of floats, in the order of the graph.  The shape
 * alone fixes the order of every sum, so a run gives the same bits each time.
 *
 * Operators only submit work to the compute stream.  The host waits in
 * functions that return data to it: get, download, read, squares, event_wait.
 * It also waits where memory is allocated and where the staging buffers are
 * full.  No other function may wait.
 *
 * If a function returns nothing, the next wait reports a device error, and ends
 * the program.  Unless a comment says otherwise, one thread at a time may use a
 * struct cuda; another thread takes a side stream (device_side_stream).
 */

#include <pthread.h>

#include "backend/backend.h"
#include "backend/cuda/driver.h"

struct cuda_staging;
struct tables;

struct cuda {
	struct device device;		/* first */
	struct driver *driver;		/* owned by this structure */
	struct gpu_stream *stream;	/* compute stream */
	enum gpu_type type;		/* storage type of activations */
	struct cuda_staging *staging;	/* pinned staging buffers */
	struct captured_graph *capturing;	/* graph being captured, or
						 * NULL */
	const struct step_check *check;	/* updates do nothing unless it is
					 * STEP_CHECK_STEP; NULL: no check */
	int is_side_stream;		/* 1: a side stream
					 * (device_side_stream), which shares
					 * the driver */
	struct tables *tables;		/* tables.c; NULL before first use */
	void *squares_buffer;		/* device memory for sums of squares */
	size_t squares_bytes;
};

/* Return the opened back end of task ${t}. */
static inline struct cuda *
cuda_of(const struct task *t)
{
	return (struct cuda *)t->device;
}

/* cuda_size(type): return the bytes of one stored element. */
static inline size_t
cuda_size(enum gpu_type type)
{
	return type == GPU_F32 ? 4 : 2;
}

/*
 * An activation is stored as [n][t][h][w][c], with its channels padded to a
 * multiple of eight.  A vector of 16 bytes then has channels of one position,
 * and tensor cores take all of it.
 *
 * The padding is 0, in activations, gradients, packed weights, and behind the
 * last element of a parameter (PARAM_ALIGN of graph/graph.h).  Kernels compute
 * it like a channel, and it stays 0.
 *
 * cuda_padded(c): return ${c} channels with their padding.
 * cuda_count(d): return the elements of an activation of shape ${d}.
 * cuda_bytes(c, d): return its bytes.
 */
static inline int
cuda_padded(int c)
{
	return (c + 7) / 8 * 8;
}

static inline size_t
cuda_count(const struct dims *d)
{
	return (size_t)d->n * dims_positions(d) * (size_t)cuda_padded(d->c);
}

static inline size_t
cuda_bytes(const struct cuda *c, const struct dims *d)
{
	return cuda_count(d) * cuda_size(c->type);
}

/*
 * cuda_pieces(n, size): return ${n} / ${size} rounded up, for instance the
 * blocks of a grid.
 */
static inline unsigned
cuda_pieces(size_t n, size_t size)
{
	return (unsigned)((n + size - 1) / size);
}

/*
 * cuda_fabric(): return the functions of NCCL (nccl/), or NULL in a build
 * without NCCL (without/).
 */
const struct fabric_calls *cuda_fabric(void);

/*
 * Launch a kernel on the compute stream:
 *
 *	struct launch k = CUDA_KERNEL(c, GPU_RELU, blocks, 1, args);
 *	cuda_reads(&k, t->x[0], bytes);
 *	cuda_writes(&k, t->y, bytes);
 *	cuda_launch(c, &k);
 *
 * ${args} is the argument structure of the kernel (args.h).  cuda_launch copies
 * it, so the caller may reuse it on return.
 *
 * cuda_reads(k, at, bytes), cuda_writes(k, at, bytes):
 * Declare a range of device memory that the kernel reads or writes.  Declare
 * each byte that the kernel touches; memory that it accumulates into is both
 * read and written.  If ${at} is NULL or ${bytes} is 0, do nothing.  More than
 * SPANS ranges of one sort end the program.
 *
 * cuda_launch(c, k):
 * Submit the kernel.  An empty grid launches nothing.
 */
#define CUDA_KERNEL(c, which, x, y, arguments) (struct launch){ \
	.kernel = (which), .type = (c)->type, .grid = { (x), (y) }, \
	.args = &(arguments), .bytes = sizeof(arguments) }
void cuda_reads(struct launch *k, const void *at, size_t bytes);
void cuda_writes(struct launch *k, void *at, size_t bytes);
void cuda_launch(struct cuda *c, const struct launch *k);

/*
 * cuda_copy(c, to, from, bytes):
 * Copy on the compute stream.  ${to} is device memory; ${from} is device memory
 * or pinned host memory.  The caller must not change ${from} until the copy is
 * done.
 */
void cuda_copy(struct cuda *c, void *to, const void *from, size_t bytes);

/*
 * cuda_clear_padding(c, x, d):
 * Set the padding of ${x}, an activation of shape ${d} that the caller is about
 * to write, to 0.  The values become 0, too.  Do nothing if there is no
 * padding.
 */
void cuda_clear_padding(struct cuda *c, void *x, const struct dims *d);

/*
 * cuda_send(c, to, host, bytes):
 * Copy host memory to the device on the compute stream.  The caller may reuse
 * ${host} on return.  Wait only if the staging buffers are full.  Do not call
 * it during a capture: the graph would copy whatever staging holds at its
 * launch.
 *
 * cuda_receive(c, host, from, bytes):
 * Copy device memory to the host and wait until the copy is complete.
 *
 * Any thread may call both.
 */
void cuda_send(struct cuda *c, void *to, const void *host, size_t bytes);
void cuda_receive(struct cuda *c, void *host, const void *from, size_t bytes);

/*
 * cuda_table(c, host, bytes):
 * Return a device copy of the ${bytes} bytes at ${host}, for kernels to read.
 * Send it only if no equal table is on the device already.  ${c} owns the copy.
 * The pointer is valid until 15 further tables have been requested.
 *
 * cuda_table_buffer(c, bytes):
 * Return host memory of ${bytes} bytes in which to compose a table.  ${c} owns
 * it.  The contents are undefined.  It is valid until the next call.
 *
 * tables_free(c, t):
 * Free all tables.  ${t} may be NULL.
 */
const void *cuda_table(struct cuda *c, const void *host, size_t bytes);
void *cuda_table_buffer(struct cuda *c, size_t bytes);
void tables_free(struct cuda *c, struct tables *t);

/*
 * cuda_wait(c): wait until all submitted work is done.  A device error ends the
 * program.
 */
void cuda_wait(struct cuda *c);

/*
 * staging_new(c):
 * Allocate the staging buffers and their events.  Return NULL after a message.
 * The caller frees them by staging_free, which does nothing if ${s} is NULL.
 */
struct cuda_staging *staging_new(struct cuda *c);
void staging_free(struct cuda *c, struct cuda_staging *s);

/*
 * Groups of struct backend (backend/backend.h), in the files of their
 * functions.
 */
void cuda_fuse(struct device *d, struct task *task, int n);	/* norm.c */
extern const struct layout_ops cuda_layout;		/* parameters.c */
extern const struct param_ops cuda_param;		/* update.c */
extern const struct step_check_ops cuda_check;		/* grad_norms.c */
extern const struct tuning_ops cuda_tuning;		/* conv_cache.c */
extern const struct event_ops cuda_event;		/* graph.c */
extern const struct graph_ops cuda_graph;

/* Members of groups that stand in other files. */
void cuda_put(struct device *d, void *w, const double *host, size_t n);
void cuda_get(struct device *d, double *host, const void *w, size_t n);
void cuda_accumulate(struct device *d, void *sum, const void *x, size_t n);
void cuda_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts);
void cuda_narrow(struct device *d, void *to, const void *x, size_t n,
    enum precision as, double scale);
void cuda_widen(struct device *d, void *x, const void *from, size_t n,
    enum precision as, double scale);
void cuda_sum_rows(struct device *d, double *sum, const double *row, int rows,
    size_t n);

#define OPERATOR(KIND, name, cpu, bf16) \
	extern const struct op_impl cuda_ ## name;
#include "backend/ops.def"

#endif
