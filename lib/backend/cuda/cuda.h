#ifndef BACKEND_CUDA_CUDA_H
#define BACKEND_CUDA_CUDA_H

/*
 * What the files of the cuda back end share.
 *
 * Layout: activations and their gradients lie as they are thought of,
 * [n][t][h][w][c] packed, in the storage type of the precision; parameters,
 * their gradients and all statistics are floats, flat, in the order of the
 * graph.  Every sum has an order fixed by the shape, so a run gives the same
 * bits each time.
 *
 * Operators only put work on the compute stream.  The host waits in those
 * functions of the table that bring something back (get, download, read,
 * squares, event_wait), where memory is allocated, and where staging is full;
 * nothing else may.
 */

#include <pthread.h>

#include "backend/backend.h"
#include "backend/cuda/driver.h"

struct staging;
struct pins;
struct tables;

struct cuda {
	struct device device;		/* first */
	struct driver *driver;		/* ours */
	struct gpu_stream *stream;	/* all work, in the order it is asked for */
	enum gpu_type type;		/* what activations are stored as */
	struct staging *staging;	/* pinned memory on the way to and fro */
	struct pins *pins;		/* pinned memory of the device; a side
					 * stream shares its device's table */
	struct replay *kept;		/* being captured */
	const struct verdict *verdict;	/* what updates obey; NULL: nothing */
	int aside;			/* another one's driver: device_aside */
	struct tables *tables;		/* tables.c; NULL: none so far */
	void *room;			/* the device's, for sums of squares */
	size_t room_bytes;
};

/* The opened back end that a task is for. */
static inline struct cuda *
cuda_of(const struct task *t)
{
	return (struct cuda *)t->device;
}

/* cuda_size(type): bytes of a number as it is stored. */
static inline size_t
cuda_size(enum gpu_type type)
{
	return type == GPU_F32 ? 4 : 2;
}

/* cuda_bytes(c, d): of an activation of that shape. */
static inline size_t
cuda_bytes(const struct cuda *c, const struct dims *d)
{
	return dims_count(d) * cuda_size(c->type);
}

/* cuda_pieces(n, size): how many pieces of ${size} hold ${n}: blocks of a grid. */
static inline unsigned
cuda_pieces(size_t n, size_t size)
{
	return (unsigned)((n + size - 1) / size);
}

/* cuda_fabric(): NCCL's calls (nccl/), or NULL in a build without it (without/). */
const struct fabric_calls *cuda_fabric(void);

/*
 * A kernel on the compute stream is put together in three steps:
 *
 *	struct launch k = CUDA_KERNEL(c, GPU_RELU, blocks, 1, args);
 *	cuda_reads(&k, t->x[0], bytes);
 *	cuda_writes(&k, t->y, bytes);
 *	cuda_launch(c, &k);
 *
 * ${args} is the kernel's own structure; it is copied when launched.  Every
 * byte that the kernel touches must be named; a pointer that is NULL names
 * nothing.  What it adds to is read and written.
 */
#define CUDA_KERNEL(c, which, x, y, arguments) (struct launch){ \
	.kernel = (which), .type = (c)->type, .grid = { (x), (y) }, \
	.args = &(arguments), .bytes = sizeof(arguments) }
void cuda_reads(struct launch *k, const void *at, size_t bytes);
void cuda_writes(struct launch *k, void *at, size_t bytes);
void cuda_launch(struct cuda *c, const struct launch *k);

/*
 * cuda_copy(c, to, from, bytes), cuda_fill(c, to, byte, bytes):
 * On the compute stream, in memory of the device; what is copied may be pinned
 * memory of the host's.
 */
void cuda_copy(struct cuda *c, void *to, const void *from, size_t bytes);
void cuda_fill(struct cuda *c, void *to, int byte, size_t bytes);

/*
 * cuda_send(c, to, host, bytes):
 * Copy host memory to the device on the compute stream.  The caller may reuse
 * ${host} on return.  Wait only if the staging buffers are full.  Do not call
 * it during a capture: the graph would copy whatever staging holds at its
 * launch.
 *
 * cuda_receive(c, host, from, bytes):
 * Copy device memory to the host and wait until the copy is complete.  Copies
 * to memory from cuda_pin do not pass through staging.
 *
 * Any thread may call both.
 */
void cuda_send(struct cuda *c, void *to, const void *host, size_t bytes);
void cuda_receive(struct cuda *c, void *host, const void *from, size_t bytes);

/*
 * cuda_pin(c, bytes), cuda_unpin(c, p):
 * Allocate and free page-locked host memory, and record it in the device's
 * table.  cuda_pin returns NULL after a message.
 */
void *cuda_pin(struct cuda *c, size_t bytes);
void cuda_unpin(struct cuda *c, void *p);

/*
 * cuda_table(c, host, bytes): the same in memory of the device, which is the
 * caller's until the next few tables; sent only where it is not there already.
 * cuda_draft(c, bytes): room of the host's to write one in; until the next.
 */
const void *cuda_table(struct cuda *c, const void *host, size_t bytes);
void *cuda_draft(struct cuda *c, size_t bytes);
void tables_free(struct cuda *c, struct tables *t);

/* cuda_wait(c): until all work is done; what has gone wrong ends the program. */
void cuda_wait(struct cuda *c);

/* What staging.c keeps; NULL after a message. */
struct staging *staging_new(struct cuda *c);
void staging_free(struct cuda *c, struct staging *s);

/* pins_new(): return an empty table of the memory that cuda_pin page-locks.
 * The caller frees it by pins_free, after cuda_unpin of each block. */
struct pins *pins_new(void);
void pins_free(struct pins *p);

/* The functions of parameters.c: what the table of a back end does to flat
 * buffers, and to activations as doubles. */
void cuda_put(struct device *d, void *w, const double *host, size_t n);
void cuda_get(struct device *d, double *host, const void *w, size_t n);
void cuda_accumulate(struct device *d, void *sum, const void *x, size_t n);
void cuda_read(struct device *d, double *host, const struct dims *shape,
    const void *activation);
void cuda_write(struct device *d, void *activation, const struct dims *shape,
    const double *host);

/* Those of update.c. */
void cuda_update(struct device *d, const struct update *u);
void cuda_moments(struct device *d, const struct moments *m);
void cuda_clamp(struct device *d, const struct clamp *l);
void cuda_track(struct device *d, const struct track *t);

/* Those of squares.c. */
void cuda_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts);
void cuda_judge(struct device *d, struct verdict *v, const struct judgement *j);
void cuda_obey(struct device *d, const struct verdict *v);
void cuda_ratios(struct device *d, const struct ratios *q);
void cuda_lost(struct device *d, float *lost, const struct outcome *o,
    size_t n, double most, int other);

/* Those of choices.c. */
char *cuda_choices(struct device *d, enum choices_kind which);
int cuda_choose(struct device *d, enum choices_kind which, const char *what,
    const char *text);
void cuda_tune(struct device *d, int how);		/* enum tuning */

/* Those of replay.c. */
struct event *cuda_event_new(struct device *d);
void cuda_event_free(struct event *e);
void cuda_event_record(struct device *d, struct event *e, size_t from);
void cuda_event_wait(struct event *e, size_t from);
void cuda_event_follow(struct device *d, struct event *e, size_t from);
int cuda_capture(struct device *d);
struct replay *cuda_captured(struct device *d);
void cuda_replay(struct device *d, struct replay *r);
void cuda_replay_free(struct device *d, struct replay *r);

/* Those of exchange.c. */
void cuda_narrow(struct device *d, void *to, const void *x, size_t n,
    enum precision as, double scale);
void cuda_widen(struct device *d, void *x, const void *from, size_t n,
    enum precision as, double scale);

/* That of resize.c. */
void cuda_resize(struct device *d, uint8_t *to, const uint8_t *from,
    const size_t *at, int n, int t, int side);

#define OPERATOR(KIND, name, half) extern const struct op_impl cuda_ ## name;
#include "backend/ops.def"

#endif
