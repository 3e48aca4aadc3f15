/*
 * Checks a network: bits for all numbers of threads, each task with ref, and the
 * whole network with ref64.
 *
 * A network may be near a kink, such as a ReLU of nearly 0.  So a difference
 * counts only if it shows with three sets of clips and weights.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/huge.h"
#include "base/mem.h"

#include "fuzz/networks/job.h"

/* Sets of clips and weights; all must show a difference. */
enum { TRIES = 3 };

#define MAX_MACS 4e7

const struct check_limits check_limits[] = {
	[PRECISION_FP32] = { 0x1p-19, 24, 2e-5 },
	[PRECISION_BF16] = { 0x1p-8, 4, 1e-2 },
	[PRECISION_FP16] = { 0x1p-11, 4, 3e-3 },
};

const char *const check_names[CHECK_KINDS] = { "nothing", "crash", "refusal",
	"task", "whole", "threads", "recompute", "test", "microbatch" };

int
check_found(struct check_job *j, enum check_fault kind, const char *where,
    const char *fmt, ...)
{
	va_list ap;

	j->c->state = CHECK_FOUND;
	j->c->kind = kind;
	snprintf(j->c->where, sizeof(j->c->where), "%s", where);
	va_start(ap, fmt);
	vsnprintf(j->c->text, sizeof(j->c->text), fmt, ap);
	va_end(ap);
	return 1;
}

/*
 * Return the number of bns of at most 8 values a channel.  The gradient of their
 * input cancels, and what rounding leaves of it grows by up to 1 / sqrt(eps), 316
 * times, in each of them.  The noise of ref64 does not show that of several.
 */
static int
check_small_bns(const struct check_job *j)
{
	struct dims *out = xcalloc((size_t)j->g->nop, sizeof(*out));
	int n = 0;

	if (graph_shapes(j->g, j->in, out, NULL) == 0)
		for (int i = 0; i < j->g->nop; i++)
			n += j->g->op[i].kind == OP_BN &&
			    dims_count(&out[i]) <= 8 * (size_t)out[i].c;
	free(out);
	return n;
}

/* Run all checks on the clips and weights of ${j}. */
static int
check_data(struct check_job *j)
{
	struct check_reference k = { 0 };
	struct check_numbers x = check_numbers_of(j);
	double *single = xcalloc(x.scores, sizeof(*single));
	int found;

	j->c->vague = 0;
	found = check_threads(j, &x, single);
	if (found || j->c->state == CHECK_REFUSED ||
	    check_make_reference(j, &k) != 0)
		goto out;
	/* fp16 has no larger values than 65504. */
	j->c->vague = j->c->precision == PRECISION_FP16 && k.largest > 3e4;
	if (!j->c->vague)
		found = check_tasks(j);
	j->c->vague |= check_small_bns(j) > 2;
	if (!found && !j->c->vague)
		found = check_whole(j, &x, &k, single);
out:
	check_free_reference(&k);
	free(x.v);
	free(single);
	return found;
}

/* Return 1 if ${kind} does not depend on values, so that one set shows it. */
static int
check_is_exact(enum check_fault kind)
{
	return kind == CHECK_CRASH || kind == CHECK_REFUSAL ||
	    kind == CHECK_THREADS || kind == CHECK_RECOMPUTE;
}

/* Return the shapes of the second step: a frame or a column more. */
static struct dims *
check_next_shape(const struct check_job *j)
{
	int which = (int)(j->n->seed % 4);
	struct dims *out = xcalloc((size_t)j->g->nop, sizeof(*out));
	struct dims *next = graph_inputs(j->g, j->n->clips + (which == 3),
	    j->n->frames + (which == 1), j->n->side + (which == 2));

	if (graph_shapes(j->g, next, out, NULL) != 0) {
		free(next);
		next = graph_inputs(j->g, j->n->clips, j->n->frames, j->n->side);
	}
	free(out);
	return next;
}

void
check_net(const struct random_net *n, struct check *c)
{
	struct check_job j = { .c = c, .n = n };
	struct error said = { { 0 } }, *before = fail_into(&said);
	struct device *d;
	int exact = 0;

	/* Values that nobody wrote are NaNs, in small memory, too. */
	mallopt(M_PERTURB, 165);
	huge_poison = 1;
	if (c->isa[0] != '\0')
		setenv("VT_ISA", c->isa, 1);
	else
		unsetenv("VT_ISA");
	c->worst = 0;
	c->text[0] = c->where[0] = '\0';
	c->kind = CHECK_NOTHING;
	j.g = random_net_graph(n);
	if (j.g != NULL) {
		j.in = graph_inputs(j.g, n->clips, n->frames, n->side);
		j.w = xcalloc(j.g->elements, sizeof(*j.w));
	}
	if (j.g == NULL || graph_macs(j.g, j.in) < 0 ||
	    graph_macs(j.g, j.in) > MAX_MACS) {
		fail_into(before);
		snprintf(c->text, sizeof(c->text), "%.390s", said.text);
		c->state = CHECK_INVALID;
		return;
	}
	j.next = check_next_shape(&j);
	d = check_open(c, 1, 0);
	fail_into(before);
	if (d == NULL) {
		c->state = CHECK_ABSENT;
		return;
	}
	device_close(d);
	for (int data = 0; data < TRIES && !exact; data++) {
		check_draw(&j, data);
		c->state = CHECK_DIED;
		if (!check_data(&j)) {
			c->state = c->state == CHECK_REFUSED ? CHECK_REFUSED :
			    CHECK_FINE;
			c->kind = CHECK_NOTHING;
			c->where[0] = '\0';
			return;
		}
		exact = check_is_exact(c->kind);
	}
}
