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

#include "graph/graph.h"

/* What a loss says of the clips of a microbatch. */
struct outcome {
	double loss;			/* mean, of clips times their weights */
	int32_t top1, top5;		/* clips that are right among them */
};

/*
 * What one microbatch brings, in host memory of the caller's, and where its
 * losses go, in the device's: nobody waits for them until the step is over.
 */
struct feed {
	const struct stream *stream;	/* as graph->needs lists them */
	const struct target *target;
	const uint64_t *clip;		/* [n] global clip numbers */
	uint64_t seed;			/* for dropout, with the clip */
	struct outcome *outcome;	/* [heads]; NULL: not asked for */
	double scale;			/* the gradients of losses are multiplied
					 * by it; 0: as they are */
};

/* Those values of a feed that operators of a device that is apart find in its
 * memory, with all else (backend/tray.h). */
struct feed_values {
	uint64_t seed;
	double scale;			/* feed_scale() */
};

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

/*
 * Ranks whose microbatches are parts of one, with as many clips each, that is
 * normalised as a whole.  All of them run the same plan at the same time, and
 * each bn of it that takes its statistics from the microbatch asks for two sums
 * a channel forward, and for two backward (Peng et al. 2018, MegDet, section
 * 3.3).
 *
 * sum: each of the ${n} numbers at ${x} becomes its sum over all peers, the same
 * bits on each.  ${x} is memory of the device's, and the sum a part of the work
 * given to it, in its order; ${d} is that device.  Where a peer cannot be reached
 * the run ends.
 */
struct peers {
	int n;				/* ranks, two and more */
	void (*sum)(const struct peers *, struct device *d, double *x,
	    size_t n);
};

/*
 * One operator bound to one shape: all its kernels need, and no decisions.
 *
 * A back end may let one task do the work of others (struct backend's fuse).
 * A task that is done by another has ${into} of that one; it is neither
 * prepared nor run.  Forward, all is done when the doing task's turn comes,
 * backward likewise: its inputs must be ready then, and the gradients of its
 * outputs complete.
 */
struct task {
	struct device *device;
	const struct op *op;
	int index;			/* of the op in the graph */
	int training;			/* batch statistics; backward follows */
	const struct peers *peers;	/* NULL: the microbatch is whole */
	const struct op_impl *impl;	/* the back end's row for op, or what
					 * it puts in its place */
	int into;			/* the task that does this one's work:
					 * itself, if nobody else does */
	int stored;			/* y is memory, not only on its way
					 * from one fused op to the next */
	int lies;			/* the task whose y holds this one's
					 * output, in a form that those who
					 * read it know: itself, if plain */
	int lends;			/* another task reads of what it saved */
	int reads;			/* READS_* of the backward pass: ask
					 * task_reads() */
	int remade;			/* y does not stay for the backward
					 * pass, but is made again before it is
					 * first read there; 0 if it never is */
	struct dims in[OP_INPUTS], out;
	int wants_dx[OP_INPUTS];	/* an input gradient will be asked for */
	int wants_dw;			/* and the parameters', which are trained;
					 * a bn that is not has running
					 * statistics */
	int idle;			/* it has no backward pass: neither it
					 * nor anything before it learns */
	int accumulate[OP_INPUTS];	/* dx += rather than dx = */
	const void *x[OP_INPUTS];	/* inputs */
	void *y;			/* output */
	void *dx[OP_INPUTS];		/* input gradients; NULL: not wanted */
	const void *dy;			/* output gradient; NULL: none comes but
					 * from what is fused with it */
	const void *w[OP_PARAMS];	/* parameters */
	void *dw[OP_PARAMS];		/* their gradients, written anew; of
					 * PARAM_MEAN and PARAM_VAR: the mean
					 * and unbiased variance of this
					 * microbatch; of PARAM_BETWEEN: how
					 * far its mean is from the running
					 * one, squared; NULL: not wanted */
	void *saved;			/* written forward, read backward */
	void *kept;			/* stays from one microbatch to the next
					 * while the parameters do */
	int renew;			/* they have changed: what is kept is
					 * to be made anew */
	int repeats;			/* several microbatches will come before
					 * they change */
	void *scratch;			/* contents die with each call */
	const struct feed *feed;	/* where the device is apart, what it
					 * points to lies there */
	const struct feed_values *values;	/* then: of the feed */
	void *priv;			/* the back end's own, for this task */
};

/* What a backward pass reads; READS_X_DW: x, but for dw alone. */
enum { READS_X = 1, READS_Y = 2, READS_X_DW = 4 };

struct op_impl {
	int reads;			/* what task.reads begins as */
	/*
	 * Choose algorithms for this shape, once, and undo it; NULL: nothing
	 * to do.  -1 after a message if the op cannot be run as it should.
	 * Preparing may put another row into the task's impl.
	 */
	int (*prepare)(struct task *);
	void (*release)(struct task *);
	/*
	 * Bytes to keep from forward to backward (and until the last reader of
	 * the output is done), and to scribble on; NULL: 0.
	 */
	size_t (*saved)(const struct task *);
	size_t (*scratch)(const struct task *);
	/* Bytes to keep while the parameters stay the same; NULL: 0. */
	size_t (*kept)(const struct task *);
	void (*forward)(struct task *);
	/*
	 * Write again what of y is remade, as forward did and to the same bits,
	 * from x and what was saved, in the backward pass; NULL: there is none.
	 */
	void (*remake)(struct task *);
	/* NULL: no gradient flows back through it. */
	void (*backward)(struct task *);
	/* What prepare chose, in words for people; NULL: there is no choice. */
	void (*describe)(const struct task *, char *text, size_t size);
};

/*
 * A step of stochastic gradient descent on part of the flat buffer: with
 * d = scale g + decay w and m = momentum m + d, w -= lr m, or with Nesterov
 * lr (d + momentum m).
 */
struct update {
	void *w, *m;			/* weights and momentum, n elements;
					 * m NULL: there is none, m = d */
	const void *g;			/* gradient */
	size_t n;
	double lr, momentum, decay;
	double scale;			/* the gradient is multiplied by it */
	int nesterov;
};

/*
 * Moments of a gradient, and the direction that follows from them (Kingma and
 * Ba 2015, algorithm 1): with d = scale g, m += (1 - beta1) (d - m) and
 * v += (1 - beta2) (d^2 - v),
 * g = m / rest1 / (sqrt(v / rest2) + eps) + decay w.
 */
struct moments {
	const void *w;			/* weights, n elements */
	void *m, *v;			/* mean and mean square of gradients */
	void *g;			/* the gradient becomes the direction */
	size_t n;
	double beta1, beta2, eps, decay, scale;
	double rest1, rest2;		/* 1 - beta^t after t steps */
};

/* Which choices: those of tasks that were prepared on a device, or those that
 * were measured there or elsewhere. */
enum choices_kind { CHOICES_MADE, CHOICES_KNOWN, CHOICES_KINDS };

/*
 * Whether a step is to be made, which a device may find out by itself, from what
 * it has: so nobody waits between a gradient and the update.  Sums of squares of
 * runs as those of device_squares, of which each parameter has some, are added up
 * in their order; the order decides the bits.
 */
enum verdict_kind { VERDICT_STEP, VERDICT_LOSS, VERDICT_GRADIENT,
    VERDICT_STATISTICS };			/* what is not finite */
struct verdict {
	int32_t what;
	int32_t statistics;		/* these are finite */
	double norm;			/* of all trained gradients */
	double scale;			/* what the gradient is multiplied by in
					 * the update */
};

enum judged { JUDGED_NOT, JUDGED_TRAINED, JUDGED_STATISTICS };
struct judgement {
	const void *g;			/* the gradient */
	const size_t *edge;		/* [runs + 1] */
	size_t runs;
	const size_t *first;		/* [params + 1] the first run of each */
	const char *kind;		/* [params] enum judged */
	size_t params;
	double scale;			/* of the gradient and its norm */
	double clip;			/* the largest norm; 0: any */
	const struct outcome *outcome;	/* of the device's: losses, which must be
					 * finite, too */
	size_t outcomes;
};

/*
 * The table of a back end; device_alloc and so on below call it.  ${d} is the
 * device that open returned.
 */
struct backend {
	const char *name;
	const char *(*library)(void);	/* "oneDNN 2.6.3"; NULL: none */
	const char *(*devices)(void);	/* those here, by name; NULL: there is
					 * nothing to choose from */
	size_t elem;			/* bytes of a parameter */
	int apart;			/* its memory is not the host's: nobody
					 * but these functions touches it */
	/*
	 * The back end fills in its own part; NULL after a message.  Where
	 * there is no such precision here, it says so and lowers it.
	 */
	struct device *(*open)(struct device_options *o);
	void (*close)(struct device *d);
	void *(*alloc)(struct device *d, size_t bytes);
	void (*free)(struct device *d, void *p);
	size_t (*available)(struct device *d);	/* if it is apart; NULL: not
						 * known */
	void *(*alloc_host)(struct device *d, size_t bytes);	/* NULL: the */
	void (*free_host)(struct device *d, void *p);		/* host's own */
	struct device *(*aside)(struct device *d);	/* NULL: itself */
	void (*aside_free)(struct device *d, struct device *aside);
	void (*put)(struct device *d, void *w, const double *host, size_t n);
	void (*get)(struct device *d, double *host, const void *w, size_t n);
	void (*upload)(struct device *d, void *w, const void *host,
	    size_t bytes);
	void (*download)(struct device *d, void *host, const void *w,
	    size_t bytes);
	void (*copy)(struct device *d, void *to, const void *from,
	    size_t bytes);			/* if it is apart, as the next */
	void (*bring)(struct device *d, void *to, const void *host,
	    size_t bytes);
	size_t (*bytes)(const struct device *d, const struct dims *);
	void (*read)(struct device *d, double *host, const struct dims *,
	    const void *activation);
	void (*write)(struct device *d, void *activation, const struct dims *,
	    const double *host);
	void *(*stream)(struct device *d);	/* NULL: none */
	void (*narrow)(struct device *d, void *to, const void *x, size_t n,
	    enum precision as, double scale);
	void (*widen)(struct device *d, void *x, const void *from, size_t n,
	    enum precision as, double scale);
	void (*add)(struct device *d, void *sum, const void *x, size_t n);
	void (*update)(struct device *d, const struct update *);
	void (*moments)(struct device *d, const struct moments *);
	void (*clamp)(struct device *d, void *x, size_t n, double most);
	void (*track)(struct device *d, void *w, const void *x, size_t n,
	    double rate, double scale);
	void (*squares)(struct device *d, double *sum, const void *x,
	    const size_t *edge, size_t runs);
	void (*judge)(struct device *d, struct verdict *v,
	    const struct judgement *j);			/* NULL: it cannot */
	void (*obey)(struct device *d, const struct verdict *v);
	struct event *(*event_new)(struct device *d);
	void (*event_free)(struct event *e);
	void (*event_record)(struct device *d, struct event *e, size_t from);
	void (*event_wait)(struct event *e, size_t from);
	void (*event_follow)(struct device *d, struct event *e, size_t from);
						/* if it is apart */
	char *(*choices)(struct device *d, enum choices_kind which);	/* NULL: it */
	int (*choose)(struct device *d, enum choices_kind which, const char *what,
	    const char *text);		/* has none, nor the next one */
	void (*tune)(struct device *d, int on);
	int (*capture)(struct device *d);	/* NULL: it keeps no work */
	struct replay *(*captured)(struct device *d);
	void (*replay)(struct device *d, struct replay *r);
	void (*replay_free)(struct device *d, struct replay *r);
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
 * device_tune(d, on): from now on by what is known, else by trying, not by rule.
 * Both do nothing where there is nothing to choose.
 */
char *device_choices(struct device *d, enum choices_kind which);
int device_choose(struct device *d, enum choices_kind which, const char *what,
    const char *text);
void device_tune(struct device *d, int on);

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
 * ${from} on are.  Recording the number of all elements begins anew.
 * device_event_follow(d, e, from): what ${d} is asked for from now on is done
 * after that instead, which must have been recorded; the event may be of an
 * aside of ${d}, or ${d} of its device.
 */
struct event;
struct event *device_event_new(struct device *d);
void device_event_free(struct device *d, struct event *e);
void device_event_record(struct device *d, struct event *e, size_t from);
void device_event_wait(struct device *d, struct event *e, size_t from);
void device_event_follow(struct device *d, struct event *e, size_t from);

/*
 * Work that a device keeps, to be done again and again, for less than asking
 * for each piece of it takes.
 *
 * device_capture(d): what is asked of ${d} from now on, by this thread, is not
 * done but kept.  It must be work of operators and events recorded, and be the
 * same each time: of the same memory, with the same values.  0: this device
 * keeps no work, and does what it is asked for.
 * device_captured(d): that was all of it.  NULL after a message: it cannot be
 * kept, and none of it has been done.
 * device_replay(d, r): do it.  Events are recorded by it as if it had been asked
 * for anew.
 */
struct replay;
int device_capture(struct device *d);
struct replay *device_captured(struct device *d);
void device_replay(struct device *d, struct replay *r);
void device_replay_free(struct device *d, struct replay *r);

/* feed_scale(f): what gradients of losses are multiplied by. */
static inline double
feed_scale(const struct feed *f)
{
	return f->scale != 0 ? f->scale : 1;
}

/* For devices whose work is done when the call returns: a flag. */
struct event *host_event_new(struct device *d);
void host_event_free(struct event *e);
void host_event_record(struct device *d, struct event *e, size_t from);
void host_event_wait(struct event *e, size_t from);

/*
 * task_impl(t): the operator's row in the back end's table; NULL: it has none.
 * task_forward, task_backward: run it; no backward pass is fine.
 */
const struct op_impl *task_impl(const struct task *t);
void task_forward(struct task *t);
void task_backward(struct task *t);

/* task_reads(t): what the backward pass of this op reads, of READS_X and
 * READS_Y; nothing, if it has none. */
int task_reads(const struct task *t);

/* task_remake(t): of one whose impl has it. */
void task_remake(struct task *t);

/* task_release(t): undo its prepare; fine where there was none. */
void task_release(struct task *t);

/* sum += x, n elements; from any thread, also during other work.  ${device}
 * is a struct device, of any type so that the exchange can be given it. */
void device_add(void *device, void *sum, const void *x, size_t n);

void device_update(struct device *d, const struct update *u);
void device_moments(struct device *d, const struct moments *m);

/* device_clamp(d, x, n, most): what is above ${most} becomes that, and what is
 * below -${most} that. */
void device_clamp(struct device *d, void *x, size_t n, double most);

/* w += rate * (x * scale - w): running statistics. */
void device_track(struct device *d, void *w, const void *x, size_t n,
    double rate, double scale);

/*
 * Sums of squares: ${sum}[i] of elements ${edge}[i] to ${edge}[i + 1] - 1, for
 * each of ${runs}, in an order fixed by its length alone.  Into host memory.
 */
void device_squares(struct device *d, double *sum, const void *x,
    const size_t *edge, size_t runs);

/*
 * device_judges(d): it can find out whether a step is to be made.
 * device_judge(d, v, j): into ${v}, of the device's memory; nobody waits.
 * device_obey(d, v): from now on device_update and device_track do something only
 * if ${v} is VERDICT_STEP then, the former with its scale and not their own;
 * NULL: as usual.
 */
int device_judges(const struct device *d);
void device_judge(struct device *d, struct verdict *v,
    const struct judgement *j);
void device_obey(struct device *d, const struct verdict *v);

/* backends[]: those compiled in; ends with NULL. */
extern const struct backend *const backends[];

/* backend_library(b): the library it is made of; "none" if there is none. */
const char *backend_library(const struct backend *b);

/*
 * backend_find(name): NULL after a message that says what is there, and what
 * a missing one would need.
 */
const struct backend *backend_find(const char *name);

#endif
