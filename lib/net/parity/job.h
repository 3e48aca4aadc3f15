#ifndef NET_PARITY_JOB_H
#define NET_PARITY_JOB_H

/* The state of a comparison; private to parity.c, pass.c and numbers.c. */

#include "net/alike.h"
#include "net/parity/parity.h"

/* A network and plan that are compared, with bound gradients. */
struct parity_side { struct net *net; struct plan *plan; void *dw; };

/*
 * The input gradient that a group passes to op ${from} outside of it: of the
 * compared side, of its second run, and of the reference.  ${added} is 1 if
 * the group adds to it.
 */
struct parity_edge { int from, added; double *got, *again, *want; };

/* A task and all tasks fused into it. */
struct parity_group {
	int first;			/* its first op */
	int like;			/* first task that does the same work */
	int skip;			/* 1: not run, random outputs instead */
	struct parity_edge *edge;
	int edges;
};

struct parity_job {
	struct parity_side x, key;		/* compared, reference */
	const struct parity_options *o;
	int n;
	struct parity_group *group;	/* [n], for tasks that run */
	struct parity *result;		/* [n] */
	double **in;			/* [n * OP_INPUTS] reference inputs */
	double **inner;			/* [n] gradient from within the group */
	/*
	 * [n] Marks output elements whose ReLU rounding may decide either way.
	 */
	char **kink;
};


/*
 * parity_fetch(s, d, at):
 * Return a copy of the activation of shape ${d} at ${at}.  The caller frees it.
 *
 * parity_put(s, d, at, v):
 * Write ${v} to the activation.
 */
double *parity_fetch(const struct parity_side *s, const struct dims *d,
    const void *at);
void parity_put(const struct parity_side *s, const struct dims *d,
    const void *at, const double *v);

/*
 * parity_resolve(s, d, at, v):
 * Write ${v} to the activation, then set ${v} to the stored, rounded values.
 */
void parity_resolve(const struct parity_side *s, const struct dims *d,
    const void *at, double *v);

/*
 * parity_draw(d, stream):
 * Return random values of shape ${d} in [-1, 1).  The caller frees them.
 *
 * parity_largest(v, n):
 * Return the largest magnitude of ${v}[n].
 */
double *parity_draw(const struct dims *d, int stream);
double parity_largest(const double *v, size_t n);

/*
 * parity_compare(j, worst, got, want, n):
 * Raise ${*worst} to the relative difference of ${got} from ${want}, by the
 * options of ${j}.
 */
void parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n);


/*
 * parity_forward(j, k), parity_backward(j, k):
 * Run op ${k} of the reference, and the compared plan's tasks that are due
 * then.  Call it for all ops in order; backward in reverse.
 */
void parity_forward(struct parity_job *j, int k);
void parity_backward(struct parity_job *j, int k);

#endif
