#ifndef NET_PARITY_JOB_H
#define NET_PARITY_JOB_H

/*
 * A comparison at work: private to parity.c, pass.c and numbers.c.
 */

#include "net/alike.h"
#include "net/parity/parity.h"

/* One plan, bound. */
struct parity_side { struct net *net; struct plan *plan; void *dw; };

/* The gradient that a task gives to an op that is done by another task. */
struct edge { int from, added; double *got, *again, *want; };

/* A task and all that it does. */
struct parity_group {
	int first;			/* op of it */
	int like;			/* the first task that is the same work */
	int skip;			/* its outputs are made up */
	struct edge *edge;
	int edges;
};

struct parity_job {
	struct parity_side x, key;		/* what is compared, and the reference */
	const struct parity_options *o;
	int n;
	struct parity_group *group;		/* [n]; of tasks that run */
	struct parity *result;		/* [n] */
	double **in;			/* [n * OP_INPUTS] what the op is to read */
	double **inner;			/* [n] gradient from within its group */
	char **kink;			/* [n] outputs that either side of a ReLU
					 * may have */
};

/* ---- numbers ---- */

/* side_fetch(s, d, at): an activation, to be freed.  side_put: into it. */
double *side_fetch(const struct parity_side *s, const struct dims *d,
    const void *at);
void side_put(const struct parity_side *s, const struct dims *d, const void *at,
    const double *v);

/* side_settle: the same, and ${v} becomes what that memory holds of it, which
 * may be rounded. */
void side_settle(const struct parity_side *s, const struct dims *d,
    const void *at, double *v);
void side_poison(const struct parity_side *s, const void *at, size_t bytes);

/* parity_draw(d, stream): random values from -1 to 1, to be freed. */
double *parity_draw(const struct dims *d, int stream);
double parity_largest(const double *v, size_t n);

/* parity_compare: ${worst} becomes that of itself and of ${got} from ${want}. */
void parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n);

/* ---- passes ---- */

/* parity_forward, parity_backward: op ${k} of the reference, and what of the
 * other plan is done at its turn. */
void parity_forward(struct parity_job *j, int k);
void parity_backward(struct parity_job *j, int k);

#endif
