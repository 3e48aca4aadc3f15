#ifndef TESTS_GPU_OWN_H
#define TESTS_GPU_OWN_H

/* The stand-in's own: what its files know of one another. */

#include <pthread.h>
#include <stdint.h>

#include "backend/cuda/choose.h"
#include "standin.h"

enum { LANES = 24 };			/* streams at a time, at most */

/* How much of each lane's work is over at some point, by number. */
struct clock { unsigned at[LANES]; };

/* Work by its lane and number there; number 0: the host. */
struct mark { int lane; unsigned at; const char *name; };

/* ---- memory (memory.c) ---- */

/* An allocation. */
struct room { char *at; size_t bytes; int host; };

struct memory {
	int fd;
	char *far, *near;		/* the same pages: the device's addresses,
					 * and ours */
	size_t bytes;
	struct room *room;		/* in order of address, hosts' too */
	size_t rooms, cap;
};

/* memory_open(m, bytes): -1 after a message. */
int memory_open(struct memory *m, size_t bytes);
void memory_close(struct memory *m);
/* Garbage; NULL: there is none left. */
void *memory_alloc(struct memory *m, size_t bytes);
void *memory_alloc_host(struct memory *m, size_t bytes);
/* -1: it was not allocated so. */
int memory_free(struct memory *m, void *p, int host);
/* memory_find(m, p): the allocation that ${p} is in, or NULL. */
const struct room *memory_find(const struct memory *m, const void *p);
/* memory_near(m, p): where the stand-in finds what is at ${p}. */
void *memory_near(const struct memory *m, const void *p);

/* ---- what was touched by whom (watch.c) ---- */

/* Bytes with the same past. */
struct cell {
	uintptr_t from, to;
	struct mark wrote;
	int garbage;			/* what was written is not to be read */
	unsigned read[LANES];		/* the last one of each lane since; 0 */
	const char *reader[LANES];
};

struct watch { struct cell *cell; size_t n, cap; };

/* What watch_touch found: the other party, and the bytes. */
struct meeting { int early, race; struct mark other; uintptr_t at; };

void watch_free(struct watch *w);
/* The host has written it; nobody has. */
void watch_known(struct watch *w, const void *at, size_t bytes);
void watch_forget(struct watch *w, const void *at, size_t bytes);
/*
 * watch_touch(w, who, before, a, scratch, found): ${who}, who comes after all of
 * ${before}, touches ${a}, and leaves garbage in ${scratch}.
 */
void watch_touch(struct watch *w, const struct mark *who,
    const struct clock *before, const struct access *a,
    const struct span *scratch, struct meeting *found);

/* ---- work (pieces.c) ---- */

enum kind { PIECE_LAUNCH, PIECE_COPY, PIECE_FILL, PIECE_CONV, PIECE_PRODUCT,
    PIECE_FOLLOW, PIECE_RECORD };

struct piece {
	enum kind kind;
	const char *name;
	int users;
	struct access access;
	union {
		struct { struct launch launch; };
		struct { void *to; const void *from; size_t bytes; int byte; };
		struct { struct conv_shape conv; void *x, *w, *y; int engine;
		    struct conv_beside beside; };
		struct { struct product_shape product; const void *a, *b;
		    void *c; };
		struct { int lane; unsigned at; };	/* to wait for */
		struct gpu_event *event;	/* of a graph: recorded */
	};
	struct span scratch;		/* becomes garbage */
	char args[];			/* of a launch */
};

struct standin;
/* piece_new(bytes): of arguments; piece_free: one of its users has gone. */
struct piece *piece_new(enum kind kind, const char *name, size_t bytes);
void piece_free(struct piece *p);
void piece_run(struct standin *s, const struct piece *p);

/* loops_conv, loops_product: as the shape says, of memory that can be touched. */
void loops_conv(const struct conv_shape *s, void *x, void *w, void *y,
    const struct conv_beside *beside);
void loops_product(const struct product_shape *s, const void *a, const void *b,
    void *c);
/* loops_product_bytes: of a, b and c, to the last number. */
void loops_product_bytes(const struct product_shape *s, size_t bytes[3]);

/* ---- kernels under guard (guard.c) ---- */

struct guard { char *at; size_t bytes, page; };

int guard_open(struct guard *g);
void guard_close(struct guard *g);
/* guard_run(s, p): a launch, on copies. */
void guard_run(struct standin *s, const struct piece *p);

/* ---- streams and events (streams.c), graphs (graphs.c) ---- */

struct gpu_stream {
	int lane;
	struct piece **piece;		/* a queue, of which ${first} are done */
	size_t first, n, cap;
	unsigned given, done;		/* number of the last piece */
	struct clock clock;		/* what is over when its next one begins */
	struct gpu_graph *graph;	/* being captured */
	int branch;			/* of that graph */
};

struct gpu_event {
	int set, lane, branch;
	unsigned at;
	struct clock clock;		/* branches' of the graph, if there is one */
	const struct gpu_graph *graph;	/* recorded there; only compared */
};

/* Pieces of several branches, in the order in which they came. */
struct node { int branch; struct piece *piece; struct clock clock; };
struct gpu_graph {
	struct node *node;
	size_t n, cap;
	int branches;
	struct gpu_stream *stream[LANES];	/* each branch's, while captured;
						 * then all but the first one's */
	unsigned given[LANES];
	struct clock clock[LANES];
};

/* give(s, t, p): to the stream, or to what it is captured into; takes ${p}. */
void give(struct standin *s, struct gpu_stream *t, struct piece *p);
/* queue(s, t, p): the same, where nothing is captured. */
void queue(struct standin *s, struct gpu_stream *t, struct piece *p);
/* clock_merge(c, with): what either knows. */
void clock_merge(struct clock *c, const struct clock *with);
/* follower(lane, at): a piece that waits for that one. */
struct piece *follower(int lane, unsigned at);
/* finish(s, t, at): do what is needed for piece ${at} of the stream. */
void finish(struct standin *s, struct gpu_stream *t, unsigned at);
void finish_all(struct standin *s);
/* wait_for: the host waits for a lane to come to ${at}, which knows ${clock}. */
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

/* ---- all of it (standin.c) ---- */

/* The back end's (kernels.c). */
extern const struct standin_kernel standin_kernels[];
extern const int standin_kernels_n;

struct standin {
	struct driver driver;		/* first */
	struct standin_options o;
	pthread_mutex_t lock;
	struct memory memory;
	struct watch watch;
	struct guard guard;
	struct gpu_stream *stream[LANES];
	unsigned last[LANES];		/* number of a lane's last piece */
	struct clock host;		/* what the host has waited for */
	int quiet;
	pthread_t quieted;		/* who must not wait */
	int broken;
	int events, graphs, plans;	/* not yet freed */
	struct ways ways;		/* to do convolutions */
	int fastest;			/* the engine that timing finds */
	int slow;			/* patterns are, by timing */
	int timed;			/* how often it did */
	int asked;			/* how often for a pattern */
	long pieces;
	int faults[FAULTS];
	char said[512];
};

/* enter, leave: what a driver is called with, locked. */
struct standin *enter(struct driver *d);
void leave(struct standin *s);
/* not_here(s, what): whoever called waits, or takes long. */
void not_here(struct standin *s, const char *what);
/* fault(s, which, fmt, ...): count it. */
void fault(struct standin *s, enum standin_fault which, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* piece_reads, piece_writes: add a span to what it touches. */
void piece_reads(struct piece *p, const void *at, size_t bytes);
void piece_writes(struct piece *p, const void *at, size_t bytes);

/* The functions of the table, in the files of their kind. */
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
char *standin_choices(struct driver *d, enum choices_kind which);
int standin_choose(struct driver *d, enum choices_kind which, const char *what,
    const char *text);
void standin_tune(struct driver *d, int on);
void standin_ways(struct standin *s);
struct conv_plan *standin_conv_new(struct driver *d,
    const struct conv_shape *c);
void standin_conv_free(struct driver *d, struct conv_plan *p);
size_t standin_conv_workspace(struct driver *d, const struct conv_plan *p);
void standin_conv_describe(struct driver *d, const struct conv_plan *p,
    char *text, size_t size);
void standin_conv(struct driver *d, struct gpu_stream *t,
    const struct conv_plan *plan, void *x, void *w, void *y, void *workspace,
    const struct conv_beside *beside);
struct product_plan *standin_product_new(struct driver *d,
    const struct product_shape *m);
void standin_product_free(struct driver *d, struct product_plan *p);
size_t standin_product_workspace(struct driver *d,
    const struct product_plan *p);
void standin_product(struct driver *d, struct gpu_stream *t,
    const struct product_plan *plan, const void *a, const void *b, void *c,
    void *workspace);
int standin_capture(struct driver *d, struct gpu_stream *t);
struct gpu_graph *standin_captured(struct driver *d, struct gpu_stream *t);
void standin_record_inside(struct driver *d, struct gpu_event *e,
    struct gpu_stream *t);
void standin_graph_run(struct driver *d, struct gpu_stream *t,
    struct gpu_graph *g);
void standin_graph_free(struct driver *d, struct gpu_graph *g);

#endif
