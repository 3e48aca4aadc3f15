#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

/*
 * A back end is a device that holds memory and runs operators.  Adding one
 * means filling in these structures; nothing above this layer names a device,
 * and nothing outside a back end reads an activation, so how activations lie
 * in memory is its own affair.
 *
 * Parameters and their gradients lie in flat buffers of elements of
 * ${elem} bytes each, in the order of the graph (graph/graph.h).
 *
 * The unit of work is a microbatch: the clips that share batch normalisation
 * statistics.  What a back end computes for a microbatch depends on nothing
 * outside it, nor on the number of threads, so that a run gives the same bits
 * however its microbatches are spread over ranks.  One that is a part of a
 * larger one (struct peers) depends on the other parts by their sums alone.
 */

#include <stddef.h>
#include <stdint.h>

#include "backend/parameters.h"
#include "backend/task.h"

/* What activations and their gradients are stored as. */
enum precision { PRECISION_FP32, PRECISION_BF16, PRECISION_FP16 };

/* What a back end is opened with. */
struct device_options {
	int threads;			/* to work with, 1 and more */
	enum precision precision;
	size_t remade;			/* bytes of an output from which on it
					 * may be made again for the backward
					 * pass and not kept; 0: by the back
					 * end's own rule */
	int ordinal;			/* which of several devices of the
					 * machine, from 0 */
};

/*
 * A back end, opened.  Several may be open in one process, of one kind or of
 * two; each keeps all of its state in a structure of its own that begins with
 * this one.
 */
struct device {
	const struct backend *backend;
	size_t elem;			/* bytes of a parameter */
	struct device_options o;	/* precision: what it came to */
	/* [OP_KINDS], of the precision.  Where open leaves this or the next
	 * NULL, it is struct backend's ops, and the name of the precision. */
	const struct op_impl *const *ops;
	const char *precision;		/* in words: "fp32", "bf16 by AMX" */
};

/* Which choices: those of tasks that were prepared on a device, or those that
 * were measured there or elsewhere. */
enum choices_kind { CHOICES_MADE, CHOICES_KNOWN, CHOICES_KINDS };

enum { DEVICE_UUID = 16 };		/* bytes of a device's UUID */

struct event;
struct replay;
struct fabric_calls;

/*
 * The groups of a back end's functions.  The functions device_* below and in
 * backend/parameters.h call them, and say what each does.  ${d} is the device
 * that open returned.  In a group that is there, no function is NULL.
 */

/* Memory, and copies between it and the host's. */
struct memory_ops {
	void *(*alloc)(struct device *d, size_t bytes);
	void (*free)(struct device *d, void *p);
	size_t (*available)(struct device *d);
	void *(*alloc_host)(struct device *d, size_t bytes);
	void (*free_host)(struct device *d, void *p);
	void (*put)(struct device *d, void *w, const double *host, size_t n);
	void (*get)(struct device *d, double *host, const void *w, size_t n);
	void (*upload)(struct device *d, void *w, const void *host,
	    size_t bytes);
	void (*download)(struct device *d, void *host, const void *w,
	    size_t bytes);
	void (*copy)(struct device *d, void *to, const void *from,
	    size_t bytes);
	void (*bring)(struct device *d, void *to, const void *host,
	    size_t bytes);
};

struct event_ops {
	struct event *(*create)(struct device *d);
	void (*free)(struct event *e);
	void (*record)(struct device *d, struct event *e, size_t from);
	void (*wait)(struct event *e, size_t from);
	void (*follow)(struct device *d, struct event *e, size_t from);
};

/* The layout of activations. */
struct layout_ops {
	size_t (*bytes)(const struct device *d, const struct dims *);
	void (*read)(struct device *d, double *host, const struct dims *,
	    const void *activation);
	void (*write)(struct device *d, void *activation, const struct dims *,
	    const double *host);
};

/* Parameters and their gradients (backend/parameters.h). */
struct param_ops {
	int portions;			/* update to track take lists of them */
	void (*add)(struct device *d, void *sum, const void *x, size_t n);
	void (*update)(struct device *d, const struct update *);
	void (*moments)(struct device *d, const struct moments *);
	void (*clamp)(struct device *d, const struct clamp *);
	void (*track)(struct device *d, const struct track *);
	void (*squares)(struct device *d, double *sum, const void *x,
	    const struct interval *part, size_t parts);
};

/* A device that checks its own step and skips it (backend/parameters.h). */
struct verdict_ops {
	void (*judge)(struct device *d, struct verdict *v,
	    const struct judgement *j);
	void (*obey)(struct device *d, const struct verdict *v);
	void (*ratios)(struct device *d, const struct ratios *r);
	void (*lost)(struct device *d, float *lost, const struct outcome *o,
	    size_t n, double most, int other);
};

/* A device that works beside the host, on streams. */
struct stream_ops {
	struct device *(*aside)(struct device *d);
	void (*aside_free)(struct device *d, struct device *aside);
	void *(*native)(struct device *d);
	void (*narrow)(struct device *d, void *to, const void *x, size_t n,
	    enum precision as, double scale);
	void (*widen)(struct device *d, void *x, const void *from, size_t n,
	    enum precision as, double scale);
};

/* Work that is captured once and launched many times. */
struct graph_ops {
	int (*capture)(struct device *d);
	struct replay *(*captured)(struct device *d);
	void (*replay)(struct device *d, struct replay *r);
	void (*free)(struct device *d, struct replay *r);
};

/* Algorithms that are selected by measurement. */
struct tuning_ops {
	char *(*choices)(struct device *d, enum choices_kind which);
	int (*choose)(struct device *d, enum choices_kind which,
	    const char *what, const char *text);
	void (*tune)(struct device *d, int how);
};

/* Several devices of a host, of which a rank takes one. */
struct ordinal_ops {
	const char *(*names)(void);	/* of those here, as text */
	/*
	 * Store the UUIDs of the first ${max} devices of this host.  Return
	 * their number, at most ${max}.
	 */
	int (*uuids)(unsigned char (*uuid)[DEVICE_UUID], int max);
};

/*
 * A back end.  A group, or a function, that is NULL is something that it cannot
 * do.  All have the first four groups.
 */
struct backend {
	const char *name;
	size_t elem;			/* bytes of a parameter */
	int apart;			/* its memory is not the host's: nobody
					 * but these functions touches it */
	/*
	 * The back end fills in its own part; NULL after a message.  Where
	 * there is no such precision here, it says so and lowers it.
	 */
	struct device *(*open)(struct device_options *o);
	void (*close)(struct device *d);
	const struct memory_ops *memory;
	const struct event_ops *event;
	const struct layout_ops *layout;
	const struct param_ops *param;
	const struct verdict_ops *verdict;
	const struct stream_ops *stream;
	const struct graph_ops *graph;
	const struct tuning_ops *tuning;
	const struct ordinal_ops *ordinal;
	const struct fabric_calls *(*fabric)(void);	/* backend_fabric */
	const char *(*library)(void);	/* "oneDNN 2.6.3" */
	void (*resize)(struct device *d, uint8_t *to, const uint8_t *from,
	    const size_t *at, int n, int t, int side);
	const struct op_impl *const *ops;	/* [OP_KINDS]; NULL: has none */
	/*
	 * Look at the ${n} tasks of a plan, whose shapes, wants_dx, wants_dw and
	 * idle are known, and let tasks do the work of others: set impl, into, stored,
	 * lies, lends, reads, remade and priv.  NULL: each does its own.
	 */
	void (*fuse)(struct device *d, struct task *task, int n);
};

/*
 * device_open(b, o): NULL after a message.  device_close(d): NULL is fine; all
 * that was made on ${d} must be freed before.
 */
struct device *device_open(const struct backend *b,
    const struct device_options *o);
void device_close(struct device *d);

/* Memory of the device: zeroed; NULL after a message. */
void *device_alloc(struct device *d, size_t bytes);
void device_free(struct device *d, void *p);

/* device_available(d): bytes that could still be allocated; SIZE_MAX: not known,
 * or it is the host's memory. */
size_t device_available(struct device *d);

/* Memory of the host's that copies to and from the device are fast with. */
void *device_alloc_host(struct device *d, size_t bytes);
void device_free_host(struct device *d, void *p);

/*
 * device_aside(d): ${d} again, for another thread: what is asked of it is done in
 * the order in which it is asked for, beside the work that ${d} is given; its
 * memory is the same.  A download or upload is done when it returns.  NULL after a
 * message.
 */
struct device *device_aside(struct device *d);
void device_aside_free(struct device *d, struct device *aside);

/*
 * device_stream(d): the order of the work that ${d} is given, as the libraries of
 * its maker know it, so that they can do theirs in it; NULL: there are none.
 * device_narrow(d, to, x, n, as, scale), device_widen(d, x, from, n, as, scale):
 * elements of fp32 times ${scale} to 16 bits for them, and back; only where there
 * is a stream.
 */
void *device_stream(struct device *d);
void device_narrow(struct device *d, void *to, const void *x, size_t n,
    enum precision as, double scale);
void device_widen(struct device *d, void *x, const void *from, size_t n,
    enum precision as, double scale);

/*
 * How tasks are done, where several ways give results that differ in their last
 * bits, as data.  Each way is chosen when the first task of its kind and shape is
 * prepared, and then for good: by what was chosen before, else by rule.
 *
 * device_choices(d, which): a table, a row for each choice under a header, those
 * that are added later below those before; the caller's to free; NULL: ${d} has
 * nothing to choose.
 * device_choose(d, which, what, text): what such a table says; ${what} names it
 * in messages, and -1 after one.  CHOICES_MADE are chosen from now on, if they
 * were made for a device and a library as these are; of CHOICES_KNOWN it is
 * known which is the fastest.
 * device_tune(d, how): from now on so (backend/tuning.h); by rule, if nobody says.
 * Both do nothing where there is nothing to choose.
 */
char *device_choices(struct device *d, enum choices_kind which);
int device_choose(struct device *d, enum choices_kind which, const char *what,
    const char *text);
void device_tune(struct device *d, int how);

/* n elements between host doubles and the parameters at ${w}. */
void device_put(struct device *d, void *w, const double *host, size_t n);
void device_get(struct device *d, double *host, const void *w, size_t n);

/* Raw bytes of parameters, for exchange and checkpoints. */
void device_upload(struct device *d, void *w, const void *host, size_t bytes);
void device_download(struct device *d, void *host, const void *w,
    size_t bytes);

/* device_bring(d, to, host, bytes): device_upload from memory that
 * device_alloc_host gave, which must stay as it is until that is done: nobody
 * waits for it. */
void device_bring(struct device *d, void *to, const void *host, size_t bytes);

/* The same from one place of the device's memory to another. */
void device_copy(struct device *d, void *to, const void *from, size_t bytes);

/*
 * device_resizes(d): it can make clips of those that are raw (media/raw.h).
 * device_resize(d, to, from, at, n, t, side): ${n} of ${t} frames, clip i from
 * ${from} + ${at}[i] to ${at}[i + 1] of the device's memory, all multiples of 16;
 * into ${to}, [n][t][side][side][3] bytes, those of image_resize.
 */
int device_resizes(const struct device *d);
void device_resize(struct device *d, uint8_t *to, const uint8_t *from,
    const size_t *at, int n, int t, int side);

/* Bytes of an activation of this shape. */
size_t device_bytes(const struct device *d, const struct dims *shape);

/* The logical [n][t][h][w][c] values of an activation, out of it and into. */
void device_read(struct device *d, double *host, const struct dims *shape,
    const void *activation);
void device_write(struct device *d, void *activation,
    const struct dims *shape, const double *host);

/*
 * An event says how far a backward pass has come: gradients from element
 * ${from} of the flat buffer on are final.  device_event_record is called in
 * the order of the work given to the device, and takes effect when that work
 * is done; device_event_wait, of any thread, returns when gradients from
 * ${from} on are.  Recording the number of all elements resets the event.
 * device_event_follow(d, e, from): what ${d} is asked for from now on is done
 * after that instead, which must have been recorded; the event may be of an
 * aside of ${d}, or ${d} of its device.
 */
struct event *device_event_new(struct device *d);
void device_event_free(struct device *d, struct event *e);
void device_event_record(struct device *d, struct event *e, size_t from);
void device_event_wait(struct device *d, struct event *e, size_t from);
void device_event_follow(struct device *d, struct event *e, size_t from);

/*
 * Capture work once and launch it many times, as CUDA Graphs do.  A launch
 * costs less than submitting each piece of work separately.
 *
 * device_capture(d):
 * Capture the work that this thread submits to ${d} from now on, and do not
 * execute it.  Only operators and event records may be submitted.  Each launch
 * uses the same memory and the same values.  Return 1, or 0 if the device
 * cannot capture; work is then executed as usual.
 *
 * device_captured(d):
 * End the capture and return the graph.  Return NULL after a detail message if
 * the work cannot be captured; none of it has been executed then.  The caller
 * frees the graph by device_replay_free.
 *
 * device_replay(d, r):
 * Launch the graph ${r}.  It records its events as the submitted work would
 * have.
 */
int device_capture(struct device *d);
struct replay *device_captured(struct device *d);
void device_replay(struct device *d, struct replay *r);
void device_replay_free(struct device *d, struct replay *r);

/* backends[]: those compiled in; ends with NULL. */
extern const struct backend *const backends[];

/* backend_fabric(b): the library that sums device memory over ranks on a native
 * stream (comm/fabric.h); NULL if the back end has none in this build. */
const struct fabric_calls *backend_fabric(const struct backend *b);

/* backend_library(b): the library it is made of; "none" if there is none. */
const char *backend_library(const struct backend *b);

/*
 * backend_find(name): NULL after a message that says what is there, and what
 * a missing one would need.
 */
const struct backend *backend_find(const char *name);

#endif
