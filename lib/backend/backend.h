#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

/*
 * A back end is a kind of device that holds memory and runs operators.  To add
 * one, fill in these structures.  No code above this layer names a device.
 * Only the back end reads activations, so it chooses their layout.
 *
 * Parameters and their gradients are flat buffers of elements of ${elem} bytes
 * each, in the order of the graph (graph/graph.h).
 *
 * The unit of work is a microbatch: the clips that share batch normalization
 * statistics.  The results for a microbatch depend on its content alone, and
 * not on the number of threads.  A run therefore gives the same bits for every
 * distribution of microbatches over ranks.  A part of a larger microbatch
 * (struct peers) depends on the other parts by their sums alone.
 *
 * Unless a comment says otherwise, one thread at a time may use a device.  A
 * device error ends the program after a message.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/parameters.h"
#include "backend/task.h"

/* Format in which activations and their gradients are stored. */
enum precision { PRECISION_FP32, PRECISION_BF16, PRECISION_FP16 };

/* Arguments of device_open. */
struct device_options {
	int threads;			/* number of threads, at least 1 */
	enum precision precision;
	/* Number of the device on this host, from 0.  -1: none, only plan. */
	int ordinal;
};

/*
 * An open device of a back end.  One process may open several, also of the same
 * kind.  Each back end defines a structure for its state that begins with this
 * one.
 */
struct device {
	const struct backend *backend;
	size_t elem;			/* bytes of a parameter */
	struct device_options o;	/* precision: the one in effect */
	/*
	 * [OP_KINDS], for this precision.  If open leaves ${ops} or
	 * ${precision} NULL, device_open sets struct backend's ops, or the name
	 * of the precision.
	 */
	const struct op_impl *const *ops;
	const char *precision;		/* name: "fp32", "bf16 by AMX" */
	/*
	 * Recompute outputs of at least this many bytes for the backward pass,
	 * instead of storing them (activation checkpointing).  0: the threshold
	 * of the back end.  Only tests of small networks set it.
	 */
	size_t recompute_min;
};

/*
 * Kinds of entries of an algorithm cache: ALGORITHMS_SELECTED, selected for
 * tasks that were prepared on this device; ALGORITHMS_MEASURED, measured here
 * or elsewhere.
 */
enum choices_kind { ALGORITHMS_SELECTED, ALGORITHMS_MEASURED, CHOICES_KINDS };

enum { DEVICE_UUID = 16 };		/* bytes of a device's UUID */

struct error;
struct event;
struct captured_graph;
struct fabric_calls;

/*
 * The functions of a back end, in groups.  ${d} is the device that open
 * returned.  If a group is present, all of its functions are.  Callers use the
 * macro device_* below a group, or a function device_* further below, which
 * documents the member without a comment here.
 */

/*
 * Device memory, and copies between it and host memory, in stream order unless
 * a comment says otherwise.
 */
struct memory_ops {
	/*
	 * Allocate ${bytes} of device memory, set to zero.  Return NULL after a
	 * message if memory is exhausted.  The caller frees it by device_free.
	 */
	void *(*alloc)(struct device *d, size_t bytes);
	void (*free)(struct device *d, void *p);
	/*
	 * Return the bytes of device memory that are free.  Return SIZE_MAX if
	 * that is unknown or the device uses host memory.
	 */
	size_t (*available)(struct device *d);
	/*
	 * Allocate ${bytes} of host memory that ${d} copies from and to at full
	 * speed: pinned memory in CUDA.  Return NULL after a message.  The
	 * caller frees it by device_free_host.
	 */
	void *(*alloc_host)(struct device *d, size_t bytes);
	void (*free_host)(struct device *d, void *p);
	/*
	 * Copy ${n} elements from ${host} to the parameters at ${w}, rounded to
	 * their type, or from there.  The caller may reuse ${host} on return.
	 */
	void (*put)(struct device *d, void *w, const double *host, size_t n);
	void (*get)(struct device *d, double *host, const void *w, size_t n);
	/*
	 * Copy ${bytes} from ${host} to device memory, or from there after the
	 * work submitted before.  The caller may reuse ${host} on return.
	 */
	void (*upload)(struct device *d, void *w, const void *host,
	    size_t bytes);
	void (*download)(struct device *d, void *host, const void *w,
	    size_t bytes);
	/* Copy ${bytes} within device memory. */
	void (*copy)(struct device *d, void *to, const void *from,
	    size_t bytes);
	/*
	 * Start an upload of ${bytes} from ${host}, memory of alloc_host.  Do
	 * not wait for it.  The caller must not change ${host} until the copy
	 * is done.
	 */
	void (*upload_async)(struct device *d, void *to, const void *host,
	    size_t bytes);
};

#define device_alloc(d, n)	((d)->backend->memory->alloc(d, n))
#define device_available(d)	((d)->backend->memory->available(d))
#define device_alloc_host(d, n)	((d)->backend->memory->alloc_host(d, n))
#define device_put(d, ...)	((d)->backend->memory->put(d, __VA_ARGS__))
#define device_get(d, ...)	((d)->backend->memory->get(d, __VA_ARGS__))
#define device_upload(d, ...)	((d)->backend->memory->upload(d, __VA_ARGS__))
#define device_download(d, ...)	((d)->backend->memory->download(d, __VA_ARGS__))
#define device_copy(d, ...)	((d)->backend->memory->copy(d, __VA_ARGS__))
#define device_upload_async(d, ...) \
	((d)->backend->memory->upload_async(d, __VA_ARGS__))

/*
 * Events report the progress of a backward pass: the gradients from an element
 * to the end of the flat buffer are final.
 */
struct event_ops {
	/*
	 * Create an event.  Only multiples of ${step} are waited for, so a
	 * record that reaches no further multiple costs nothing.  The caller
	 * frees the event by device_event_free.
	 */
	struct event *(*create)(struct device *d, size_t step);
	void (*free)(struct event *e);
	/*
	 * Record in stream order that gradients from element ${from} to the end
	 * are final.  Recording the number of all elements resets the event.
	 */
	void (*record)(struct device *d, struct event *e, size_t from);
	/*
	 * Wait until the gradients from ${from} to the end are final.  Any
	 * thread may call it.
	 */
	void (*wait)(struct event *e, size_t from);
	/*
	 * Let later work of ${d} wait for the gradients from ${from} to the
	 * end, without blocking the host.  They must have been recorded.  ${e}
	 * may belong to a side stream of ${d}, or to the device whose side
	 * stream ${d} is.
	 */
	void (*follow)(struct device *d, struct event *e, size_t from);
};

#define device_event_new(d, step) ((d)->backend->event->create(d, step))
#define device_event_record(d, ...) \
	((d)->backend->event->record(d, __VA_ARGS__))
#define device_event_wait(d, ...) ((d)->backend->event->wait(__VA_ARGS__))
#define device_event_follow(d, ...) \
	((d)->backend->event->follow(d, __VA_ARGS__))

/* The layout of activations. */
struct layout_ops {
	/* Return the bytes of an activation of this shape. */
	size_t (*bytes)(const struct device *d, const struct dims *shape);
	/*
	 * Copy the logical values [n][t][h][w][c] of ${activation} to ${host},
	 * or from there, rounded to the precision of ${d}.
	 */
	void (*read)(struct device *d, double *host, const struct dims *shape,
	    const void *activation);
	void (*write)(struct device *d, void *activation,
	    const struct dims *shape, const double *host);
};

#define device_bytes(d, shape)	((d)->backend->layout->bytes(d, shape))
#define device_read(d, ...)	((d)->backend->layout->read(d, __VA_ARGS__))
#define device_write(d, ...)	((d)->backend->layout->write(d, __VA_ARGS__))

/* A device that works asynchronously, on streams. */
struct stream_ops {
	struct device *(*side_stream)(struct device *d);
	void (*side_stream_free)(struct device *d, struct device *side_stream);
	void *(*native)(struct device *d);
	/*
	 * Set to[i] = x[i] scale, rounded to the 16-bit format ${as}, or x[i] =
	 * from[i] scale.  ${x} are ${n} fp32 elements in device memory.
	 */
	void (*narrow)(struct device *d, void *to, const void *x, size_t n,
	    enum precision as, double scale);
	void (*widen)(struct device *d, void *x, const void *from, size_t n,
	    enum precision as, double scale);
	/*
	 * Set sum[i] = row[0][i] + row[1][i] + ..., added in this order, for
	 * ${row}[rows][n] in device memory.
	 */
	void (*sum_rows)(struct device *d, double *sum, const double *row,
	    int rows, size_t n);
};

/* Only if device_stream is not NULL. */
#define device_narrow(d, ...)	((d)->backend->stream->narrow(d, __VA_ARGS__))
#define device_widen(d, ...)	((d)->backend->stream->widen(d, __VA_ARGS__))
#define device_sum_rows(d, ...) ((d)->backend->stream->sum_rows(d, __VA_ARGS__))

/*
 * Work that is captured once and launched many times, as CUDA Graphs do.  A
 * launch costs less than submitting each kernel separately.
 */
struct graph_ops {
	/* Return 0, or -1 if the device cannot capture. */
	int (*capture)(struct device *d);
	/*
	 * End the capture and return the graph.  Return NULL after a detail
	 * message if the work cannot be captured; none of it has been executed
	 * then.  The caller frees the graph by device_graph_free.
	 */
	struct captured_graph *(*capture_end)(struct device *d);
	/*
	 * Launch the graph ${r}.  It records its events as the submitted work
	 * would have.
	 */
	void (*launch)(struct device *d, struct captured_graph *r);
	void (*free)(struct device *d, struct captured_graph *r);
};

#define device_capture_end(d)	((d)->backend->graph->capture_end(d))
#define device_graph_launch(d, r) ((d)->backend->graph->launch(d, r))

/* Algorithms that are selected by measurement. */
struct tuning_ops {
	char *(*choices)(struct device *d, enum choices_kind which);
	int (*choose)(struct device *d, enum choices_kind which,
	    const char *what, const char *text, struct error *e);
	void (*tune)(struct device *d, int measures);
};

/* Several devices on one host; each rank takes one. */
struct ordinal_ops {
	/* Return the names of this host's devices as one text. */
	const char *(*names)(void);
	/*
	 * Store the UUIDs of the first ${max} devices of this host.  Return
	 * their number, at most ${max}.
	 */
	int (*uuids)(unsigned char (*uuid)[DEVICE_UUID], int max);
};

/*
 * A back end.  A group or function that is NULL is not supported.  Every back
 * end has memory, event, layout and param.
 */
struct backend {
	const char *name;
	size_t elem;			/* bytes of a parameter */
	/*
	 * 1 if device memory is separate from host memory (a discrete device).
	 * Only the functions of the back end access it then.
	 */
	int discrete;
	/*
	 * Open a device and fill in the back end's own part of struct device.
	 * If the device lacks the requested precision, warn and lower
	 * ${o->precision}.  Return NULL after a message.
	 */
	struct device *(*open)(struct device_options *o);
	void (*close)(struct device *d);
	const struct memory_ops *memory;
	const struct event_ops *event;
	const struct layout_ops *layout;
	const struct param_ops *param;
	const struct step_check_ops *check;
	const struct stream_ops *stream;
	const struct graph_ops *graph;
	const struct tuning_ops *tuning;
	const struct ordinal_ops *ordinal;
	const struct fabric_calls *(*fabric)(void);	/* see backend_fabric */
	const char *(*library)(void);	/* "oneDNN 2.6.3" */
	const struct op_impl *const *ops;	/* [OP_KINDS]; NULL where not
						 * supported */
	/*
	 * Fuse tasks of a plan of ${n} tasks.  Their shapes, needs_input_grad,
	 * needs_weight_grad and no_grad are set.  Set impl, fused_into,
	 * materialized, alias_of, reads, recompute and priv.  If NULL, no tasks
	 * are fused.
	 */
	void (*fuse)(struct device *d, struct task *task, int n);
};

/*
 * device_open(b, o):
 * Open a device of back end ${b}.  ${o} is copied.  Return NULL after a
 * message.  The caller closes it by device_close.
 *
 * device_close(d):
 * Close ${d}.  Free all objects that were created on it first.  Do nothing if
 * ${d} is NULL.
 */
struct device *device_open(const struct backend *b,
    const struct device_options *o);
void device_close(struct device *d);

/*
 * device_free(d, p):
 * Free ${p} after all work submitted to ${d} is done.
 *
 * device_free_host(d, p), device_event_free(d, e), device_graph_free(d, r):
 * Free host memory, an event, a captured graph.
 *
 * All do nothing if the pointer is NULL.
 */
void device_free(struct device *d, void *p);
void device_free_host(struct device *d, void *p);
void device_event_free(struct device *d, struct event *e);
void device_graph_free(struct device *d, struct captured_graph *r);

/*
 * device_side_stream(d):
 * Create a side stream of ${d}, for use by a second thread.  Work submitted to
 * it runs in order, concurrently with the work of ${d}.  Both share device
 * memory.  device_upload and device_download on it are complete on return.
 * Return ${d} itself if the back end has no streams, or NULL after a message.
 * Free it by device_side_stream_free before ${d} is closed.
 *
 * device_side_stream_free(d, side_stream):
 * Wait for the work of the side stream ${side_stream} and free it. Do nothing
 * if it is NULL or ${d}.
 */
struct device *device_side_stream(struct device *d);
void device_side_stream_free(struct device *d, struct device *side_stream);

/*
 * device_stream(d):
 * Return the native stream of ${d} (cudaStream_t), on which libraries of its
 * vendor can submit work.  Return NULL if there is none.
 */
void *device_stream(struct device *d);

/*
 * device_capture(d):
 * Capture the work that this thread submits to ${d} from now on, and do not
 * execute it.  Only operators and event records may be submitted.  Each launch
 * uses the same memory and the same values.  Return 1, or 0 if the device
 * cannot capture; work is then executed as usual.
 */
int device_capture(struct device *d);

/*
 * The algorithm cache: the algorithm of each task, as data.  Algorithms of a
 * task differ in the last bits of their results.  The device selects one when
 * the first task of a kind and shape is prepared, and never changes it.  It
 * takes the cached one, or else applies its selection rule.
 *
 * device_algorithms_text(d, which):
 * Return the cache as a table with a header and a row for each choice, the
 * oldest first.  The caller frees it.  Return NULL if ${d} has no algorithms to
 * select.
 *
 * device_algorithms_read(d, which, what, text, e):
 * Add the rows of such a table, ${text}, to the cache. Rows of
 * ALGORITHMS_SELECTED determine later selections if device and library are
 * those of ${d}. Rows of ALGORITHMS_MEASURED only say which algorithm is the
 * fastest. ${what} names the table in messages. Return 0, or -1 with a
 * message in ${e}, printed if ${e} is NULL. Do nothing if ${d} has no
 * algorithms to select.
 *
 * device_tune(d, measures):
 * Let later tasks take the fastest known algorithm, or measure the candidates,
 * if ${measures} is not 0.  Otherwise, and without a call, a fixed rule selects
 * one.
 */
char *device_algorithms_text(struct device *d, enum choices_kind which);
int device_algorithms_read(struct device *d, enum choices_kind which,
    const char *what, const char *text, struct error *e);
void device_tune(struct device *d, int measures);

/* The back ends of this build; NULL ends the list. */
extern const struct backend *const backends[];

/*
 * backend_fabric(b):
 * Return the library that sums device memory over ranks on a native stream
 * (comm/fabric.h).  Return NULL if the back end has none in this build.
 */
const struct fabric_calls *backend_fabric(const struct backend *b);

/*
 * backend_library(b):
 * Return the name and version of the library that ${b} uses, or "none".
 */
const char *backend_library(const struct backend *b);

/*
 * backend_find(name):
 * Return the back end ${name}.  Return NULL after a message that names the
 * known ones, and what a missing one needs to be built.
 */
const struct backend *backend_find(const char *name);

#endif
