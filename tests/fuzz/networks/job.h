#ifndef TESTS_FUZZ_NETWORKS_JOB_H
#define TESTS_FUZZ_NETWORKS_JOB_H

/* The state of a check; private to the files that check.h names. */

#include "net/net.h"

#include "fuzz/networks/check.h"

/* Runs of the reference with noise. */
enum { NOISES = 3 };

/*
 * The noise of a precision, the multiple of its effect that is allowed, and the
 * difference that is always allowed.
 */
struct check_limits { double noise, times, floor; };
extern const struct check_limits check_limits[];

/* A network in its checks. */
struct check_job {
	struct check *c;
	const struct random_net *n;
	struct graph *g;
	struct dims *in, *next;		/* shapes of the streams in step 1 and
					 * 2 */
	int data;			/* number of the clips and weights */
	double *w;			/* [g->elements] initial weights */
	struct feed feed, later;	/* of steps 1 and 2 */
};

/*
 * Results of a training microbatch and of a test: scores of the test, scores and
 * losses of the first head in training, then gradients and statistics.
 */
struct check_numbers { size_t scores, clips, n; double *v; };

/* Results of ref64, and of runs of it with noise. */
struct check_reference {
	struct check_numbers want, noisy[NOISES];
	double largest;			/* of all outputs */
};

/* check_found(j, kind, where, fmt, ...): record a fault.  Return 1. */
int check_found(struct check_job *j, enum check_fault kind, const char *where,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* check_draw(j, data): draw clips and weights number ${data}. */
void check_draw(struct check_job *j, int data);

/*
 * check_open(c, threads, recompute):
 * Open the device that ${c} checks.  Return NULL if it is not here.
 *
 * check_put_weights(j, n, noisy):
 * Set the weights of ${n} to the initial ones, with noise if ${noisy}.
 */
struct device *check_open(const struct check *c, int threads, size_t recompute);
void check_put_weights(const struct check_job *j, struct net *n, int noisy);

/*
 * check_numbers_of(j): return zeros.  The caller frees ${v}.
 *
 * check_read_losses(p, losses): copy the losses of the first head.
 *
 * check_make_reference(j, k):
 * Compute ${k}.  Return 0, or -1 after a message.  check_free_reference frees
 * it, also if it was not computed.
 */
struct check_numbers check_numbers_of(const struct check_job *j);
void check_read_losses(const struct plan *p, double *losses);
int check_make_reference(struct check_job *j, struct check_reference *k);
void check_free_reference(struct check_reference *k);

/*
 * Each check returns 1 if it has found a fault.
 *
 * check_threads(j, x, single): compare bits over threads, recomputation and
 * shapes.  Write the numbers of one thread to ${x}, and the test scores of clips
 * in microbatches of their own to ${single}.
 *
 * check_tasks(j): compare each task with ref.
 *
 * check_whole(j, x, k, single): compare ${x} and ${single} with ${k}.
 */
int check_threads(struct check_job *j, struct check_numbers *x, double *single);
int check_tasks(struct check_job *j);
int check_whole(struct check_job *j, const struct check_numbers *x,
    const struct check_reference *k, const double *single);

#endif
