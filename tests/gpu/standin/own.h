#ifndef TESTS_GPU_OWN_H
#define TESTS_GPU_OWN_H

/* Declarations shared by the stand-in's own files. */

#include <pthread.h>
#include <stdint.h>

#include "backend/cuda/conv_select.h"
#include "standin.h"

enum { LANES = 24 };			/* maximum number of streams at a
					 * time */

/* A vector clock: for each lane, the number of its last completed piece of
 * work. */
struct clock { unsigned at[LANES]; };

/* A piece of work, by its lane and its number there; number 0 is the host. */
struct mark { int lane; unsigned at; const char *name; };

/* ---- memory (memory.c) ---- */

/* An allocation in device or pinned host memory. */
struct room { char *at; size_t bytes; int host; };

struct memory {
	int fd;
	char *far, *near;		/* two mappings of the same pages:
					 * ${far} is the device's address
					 * range, inaccessible to the host;
					 * ${near} is the stand-in's */
	size_t bytes;
	struct room *buffer;		/* all allocations, by address */
	size_t rooms, cap;
};

/* memory_open(m, bytes): Return 0, or -1 after a message. */
int memory_open(struct memory *m, size_t bytes);
void memory_close(struct memory *m);
/* memory_alloc, memory_alloc_host: Allocate memory filled with garbage.  Return
 * NULL if it is exhausted. */
void *memory_alloc(struct memory *m, size_t bytes);
void *memory_alloc_host(struct memory *m, size_t bytes);
/* memory_free(m, p, host): Return 0, or -1 if ${p} is not an allocation of this
 * kind. */
int memory_free(struct memory *m, void *p, int host);
/* memory_find(m, p): Return the allocation that contains ${p}, or NULL. */
const struct room *memory_find(const struct memory *m, const void *p);
/* memory_near(m, p): Return the stand-in's address of ${p}. */
void *memory_near(const struct memory *m, const void *p);

/* ---- access history of each byte (watch.c) ---- */

/* Consecutive bytes with the same history. */
struct cell {
	uintptr_t from, to;
	struct mark wrote;
	int garbage;			/* written as scratch; a read is a
					 * fault */
	unsigned read[LANES];		/* number of the last reader in each
					 * lane since the write; 0: none */
	const char *reader[LANES];
};

struct watch { struct cell *cell; size_t n, cap; };

/* The result of watch_touch: kinds of faults, the other piece, the address. */
struct meeting { int early, race; struct mark other; uintptr_t at; };

void watch_free(struct watch *w);
/* watch_known: Mark bytes as written by the host.  watch_forget: Mark bytes as
 * never written. */
void watch_known(struct watch *w, const void *at, size_t bytes);
void watch_forget(struct watch *w, const void *at, size_t bytes);
/*
 * watch_touch(w, who, before, a, scratch, found):
 * Record that ${who} makes the accesses ${a} and leaves garbage in ${scratch}.
 * ${before} is the clock of all work ordered before it.  Describe the first
 * fault in ${found}.
 */
void watch_touch(struct watch *w, const struct mark *who,
    const struct clock *before, const struct access *a,
    const struct span *scratch, struct meeting *found);

/* ---- work (pieces.c) ---- */

enum kind { PIECE_LAUNCH, PIECE_COPY, PIECE_FILL, PIECE_CONV, PIECE_PRODUCT,
    PIECE_FOLLOW, PIECE_RECORD };

struct message {
	enum kind kind;
	const char *name;
	int users;
	struct access access;
	union {
		struct { struct launch launch; };
		struct { void *to; const void *from; size_t bytes; int byte; };
		struct { struct conv_shape conv; void *x, *w, *y; int engine; };
		struct { struct gemm_shape product; const void *a, *b;
		    void *c; };
		struct { int lane; unsigned at; };	/* the piece to wait
							 * for */
		struct gpu_event *event;	/* recorded inside a graph */
	};
	struct span scratch;		/* filled with garbage by the piece */
	char args[];			/* of a launch */
};

struct standin;
/*
 * piece_new(kind, name, bytes): Make a piece with room for ${bytes} of
 * arguments.
 * piece_free(p): Drop one reference.
 * piece_run(s, p): Execute the piece.
 */
struct message *piece_new(enum kind kind, const char *name, size_t bytes);
void piece_free(struct message *p);
void piece_run(struct standin *s, const struct message *p);

/* loops_conv, loops_product: Compute the operation of the shape, at addresses
 * that the host can access. */
void loops_conv(const struct conv_shape *s, void *x, void *w, void *y);
void loops_product(const struct gemm_shape *s, const void *a, const void *b,
    void *c);
/* loops_product_bytes(s, bytes): Set ${bytes} to the sizes of a, b and c, to
 * the end of their last element. */
void loops_product_bytes(const struct gemm_shape *s, size_t bytes[3]);

/* ---- kernels in guarded memory (guard.c) ---- */

struct guard { char *at; size_t bytes, page; };

int guard_open(struct guard *g);
void guard_close(struct guard *g);
/* guard_run(s, p): Run a launch on guarded copies. */
void guard_run(struct standin *s, const struct message *p);

/* ---- streams and events (streams.c), graphs (graphs.c) ---- */

struct gpu_stream {
	int lane;
	struct message **piece;		/* a queue; the first ${first} pieces
					 * are done */
	size_t first, n, cap;
	unsigned given, done;		/* numbers of the last queued and the
					 * last completed piece */
	struct clock clock;		/* all work ordered before the next
					 * piece */
	struct gpu_graph *graph;	/* the graph being captured, or NULL */
	int branch;			/* branch of that graph */
};

struct gpu_event {
	int set, lane, branch;
	unsigned at;
	struct clock clock;		/* of the graph's branches if it is
					 * captured */
	const struct gpu_graph *graph;	/* graph it was recorded in; only
					 * compared */
};

/* The pieces of all branches, in the order of capture. */
struct node { int branch; struct message *piece; struct clock clock; };
struct gpu_graph {
	struct node *node;
	size_t n, cap;
	int branches;
	struct gpu_stream *stream[LANES];	/* during capture the
						 * captured streams; then own
						 * streams of all branches
						 * but the first */
	unsigned given[LANES];
	struct clock clock[LANES];
};

/* give(s, t, p): Queue the piece, or append it to the graph that is captured on
 * ${t}.  Takes ${p}. */
void give(struct standin *s, struct gpu_stream *t, struct message *p);
/* queue(s, t, p): Queue the piece on a stream without a capture.  Takes
 * ${p}. */
void queue(struct standin *s, struct gpu_stream *t, struct message *p);
/* clock_merge(c, with): Set each entry to the maximum of both clocks. */
void clock_merge(struct clock *c, const struct clock *with);
/* follower(lane, at): Make a piece that waits for piece ${at} of the lane. */
struct message *follower(int lane, unsigned at);
/*
 * finish(s, t, at): Run all that is needed to complete piece ${at} of the
 * stream.
 * finish_all(s): Run all queued work.
 */
void finish(struct standin *s, struct gpu_stream *t, unsigned at);
void finish_all(struct standin *s);
/*
 * wait_for(s, lane, at, clock): Let the host wait for piece ${at} of the lane;
 * the host then knows ${clock}.  Return 0, or -1 after a message if a piece
 * failed.
 */
int wait_for(struct standin *s, int lane, unsigned at,
    const struct clock *clock);
struct gpu_stream *lane_new(struct standin *s);
void lane_free(struct standin *s, struct gpu_stream *t);
void follow(struct standin *s, struct gpu_stream *t,
    const struct gpu_event *e);
void record(struct gpu_event *e, const struct gpu_stream *t);
void follow_captured(struct standin *s, struct gpu_stream *t,
    const struct gpu_event *e);
int capture(struct standin *s, struct gpu_stream *t);
struct gpu_graph *captured(struct standin *s, struct gpu_stream *t);
void graph_replay(struct standin *s, struct gpu_stream *t,
    const struct gpu_graph *g);
void graph_drop(struct standin *s, struct gpu_graph *g);

/* ---- the driver itself (standin.c) ---- */

/* The back end's kernels (kernels.c). */

struct standin {
	struct driver driver;		/* must be the first field */
	struct standin_options o;
	pthread_mutex_t lock;
	struct memory memory;
	struct watch watch;
	struct guard guard;
	struct gpu_stream *stream[LANES];
	unsigned last[LANES];		/* number of each lane's last piece */
	struct clock host;		/* all work that the host has waited
					 * for */
	int quiet;
	pthread_t quieted;		/* the thread that must not wait */
	int pretends;			/* see standin_pretends */
	int broken;
	int events, graphs, plans;	/* number not yet freed */
	struct conv_algorithms algorithms;		/* choice of convolution algorithms */
	int fastest;			/* engine that timing finds fastest */
	int engines;			/* number of candidates */
	int wrong, varies;		/* engines with such results; 0: none */
	unsigned runs;			/* of the engine that varies */
	double seconds;			/* of all queued work, as modeled */
	long pieces;
	int faults[FAULTS];
	char said[512];
};

/* enter(d): Lock and return the stand-in.  leave(s): Unlock it. */
struct standin *enter(struct driver *d);
void leave(struct standin *s);
/* not_here(s, what): Report a FAULT_WAIT if the calling thread must not wait;
 * ${what} names the wait or the slow call. */
void not_here(struct standin *s, const char *what);
/* fault(s, which, fmt, ...): Count a fault; keep the text of the first one. */
void fault(struct standin *s, enum standin_fault which, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* piece_reads, piece_writes: Add a span to the accesses of the piece. */
void piece_reads(struct message *p, const void *at, size_t bytes);
void piece_writes(struct message *p, const void *at, size_t bytes);

/* The functions of struct driver_calls (backend/cuda/driver.h). */
struct gpu_stream *standin_stream_new(struct driver *d, int urgent);
void standin_stream_free(struct driver *d, struct gpu_stream *t);
struct gpu_event *standin_event_new(struct driver *d);
void standin_event_free(struct driver *d, struct gpu_event *e);
void standin_record(struct driver *d, struct gpu_event *e,
    struct gpu_stream *t);
void standin_follow(struct driver *d, struct gpu_stream *t,
    struct gpu_event *e);
int standin_wait_event(struct driver *d, struct gpu_event *e);
int standin_wait(struct driver *d, struct gpu_stream *t);
void standin_copy(struct driver *d, struct gpu_stream *t, void *to,
    const void *from, size_t bytes);
void standin_fill(struct driver *d, struct gpu_stream *t, void *to, int byte,
    size_t bytes);
void standin_launch(struct driver *d, struct gpu_stream *t,
    const struct launch *l);
void standin_ways(struct standin *s);
struct conv_plan *standin_conv_new(struct driver *d,
    const struct conv_shape *c);
void standin_conv_free(struct driver *d, struct conv_plan *p);
size_t standin_conv_workspace(struct driver *d, const struct conv_plan *p);
void standin_conv_describe(struct driver *d, const struct conv_plan *p,
    char *text, size_t size);
void standin_conv(struct driver *d, struct gpu_stream *t,
    const struct conv_plan *plan, void *const at[4]);
struct gemm_plan *standin_product_new(struct driver *d,
    const struct gemm_shape *m);
void standin_product_free(struct driver *d, struct gemm_plan *p);
size_t standin_product_workspace(struct driver *d,
    const struct gemm_plan *p);
void standin_product(struct driver *d, struct gpu_stream *t,
    const struct gemm_plan *plan, const void *a, const void *b, void *c,
    void *workspace);
int standin_capture(struct driver *d, struct gpu_stream *t);
struct gpu_graph *standin_captured(struct driver *d, struct gpu_stream *t);
void standin_record_inside(struct driver *d, struct gpu_event *e,
    struct gpu_stream *t);
void standin_graph_run(struct driver *d, struct gpu_stream *t,
    struct gpu_graph *g);
void standin_graph_free(struct driver *d, struct gpu_graph *g);

#endif
