/*
 * Fault injection: flip one bit, to test that the audit detects it.
 * tests/build.mk links vt-train with --wrap for these calls.  The environment
 * variable VT_FLIP_BIT selects the bit.  STEP:RANK:MICROBATCH flips it in that
 * rank's first computation of the microbatch's gradient, and STEP:RANK:w in the
 * rank's weights after the update.  Steps count from 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/guard/audit.h"

struct audit *__real_audit_open(const struct trainer *t);
struct audit *__wrap_audit_open(const struct trainer *t);
int __real_audit_looks(const struct audit *a, const struct trainer *t, int index);
int __wrap_audit_looks(const struct audit *a, const struct trainer *t, int index);
void __real_audit_look(struct audit *a, struct trainer *t, void *g);
void __wrap_audit_look(struct audit *a, struct trainer *t, void *g);
int __real_optim_step(struct optim *o, struct net *n, void *g, double scale,
    double lr, double *norm);
int __wrap_optim_step(struct optim *o, struct net *n, void *g, double scale,
    double lr, double *norm);
int __real_optim_finish(struct optim *o, double *norm);
int __wrap_optim_finish(struct optim *o, double *norm);

static struct drill {
	const struct trainer *t;	/* the trainer of the run */
	uint64_t step;			/* 0: flip nothing */
	int rank, index;		/* index -1: the weights */
	int flips, looks;		/* results of audit_looks for
					 * audit_look */
} drill;

/* Read VT_FLIP_BIT.  Return 0, or -1 after a message. */
static int
drill_read(struct drill *d)
{
	const char *text = getenv("VT_FLIP_BIT");
	unsigned long long step;
	int end = 0, n;

	if (text == NULL)
		return 0;
	n = sscanf(text, "%llu:%d:%n%d%n", &step, &d->rank, &end, &d->index,
	    &end);
	if (n == 2 && end > 0 && strcmp(text + end, "w") == 0)
		d->index = -1;
	else if (n != 3 || text[end] != '\0' || d->index < 0)
		return fail("VT_FLIP_BIT=%s (wanted STEP:RANK:MICROBATCH or "
		    "STEP:RANK:w)", text_quote(text));
	d->step = step;
	return 0;
}

/* Return whether this rank must flip the bit in the current step. */
static int
drill_due(const struct drill *d, int index)
{
	return d->step == d->t->state.step + 1 && d->rank == d->t->comm->rank &&
	    d->index == index;
}

/*
 * Flip an upper mantissa bit of the first value of a middle parameter.  The
 * change is large enough to change the weights.
 */
static void
drill_flip(const struct drill *d, void *flat)
{
	const struct net *net = d->t->net;
	const struct graph *g = net->graph;
	size_t elem = net->device->elem;
	int p = g->nparam / 2;
	char what[40] = "weights";
	unsigned char byte;
	char *at;

	while (p < g->nparam - 1 && g->param[p].frozen)
		p++;
	at = (char *)flat + g->param[p].offset * elem + elem - 2;
	device_download(net->device, &byte, at, 1);
	byte ^= 1;
	device_upload(net->device, at, &byte, 1);
	if (d->index >= 0)
		snprintf(what, sizeof(what), "gradient of microbatch %d",
		    d->index);
	warning("a drill: in step %llu one bit of %s in the %s of rank %d is "
	    "flipped", (unsigned long long)d->step, g->param[p].name, what,
	    d->rank);
}

struct audit *
__wrap_audit_open(const struct trainer *t)
{
	drill = (struct drill){ .t = t };
	return drill_read(&drill) == 0 ? __real_audit_open(t) : NULL;
}

int
__wrap_audit_looks(const struct audit *a, const struct trainer *t, int index)
{
	drill.flips = drill_due(&drill, index);
	drill.looks = __real_audit_looks(a, t, index);
	return drill.flips || drill.looks;
}

void
__wrap_audit_look(struct audit *a, struct trainer *t, void *g)
{
	if (drill.flips)
		drill_flip(&drill, g);
	if (drill.looks)
		__real_audit_look(a, t, g);
}

/* After an update of the run's own weights, flip the bit if it is due.  Return
 * ${bad}. */
static int
updated(const struct net *n, int bad)
{
	if (bad == 0 && drill.t != NULL && n == drill.t->net && drill_due(&drill, -1))
		drill_flip(&drill, n->w);
	return bad;
}

int
__wrap_optim_step(struct optim *o, struct net *n, void *g, double scale, double lr,
    double *norm)
{
	return updated(n, __real_optim_step(o, n, g, scale, lr, norm));
}

int
__wrap_optim_finish(struct optim *o, double *norm)
{
	return updated(o->update.n, __real_optim_finish(o, norm));
}
