/*
 * Compares each task with ref.  Some tasks cancel, so that rounding exceeds the
 * tolerance of --parity.  Then a ref64 with noise measures how far noise moves
 * the result, and a few times that is allowed.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/alike.h"
#include "net/parity/parity.h"

#include "fuzz/networks/job.h"
#include "fuzz/networks/noisy.h"

/*
 * Compare plan ${p} of ${x} with ${key}.  Return rows, the number of which is
 * ${*n}.
 */
static struct parity *
check_parity(struct check_job *j, struct net *x, struct plan *p,
    struct device *key, int *n)
{
	struct net *like = net_new(j->g, key);
	struct plan *q = net_plan(like, j->in, 1);
	struct parity_options o = { j->c->precision != PRECISION_FP32 };
	struct parity *row = xcalloc((size_t)j->g->nop, sizeof(*row));

	*n = -1;
	if (q != NULL && net_reserve(like) == 0) {
		check_put_weights(j, like, 0);
		*n = parity_run(x, p, like, q, &o, row);
	}
	net_free(like);
	return row;
}

/*
 * Return 1 if the difference ${off} of a result is not caused by conditioning.
 * ${noisy} is the difference from a reference with noise.
 */
static int
check_is_wrong(const struct check_job *j, double off, double noisy)
{
	double effect = fabs(noisy - off);

	return off > parity_tolerance(j->c->precision) &&
	    !(off <= check_limits[j->c->precision].times * effect);
}

static int
check_rows(struct check_job *j, struct net *x, struct plan *p,
    struct device *key)
{
	double tolerance = parity_tolerance(j->c->precision), most = 0;
	struct noisy noisy = { .d = NULL };
	struct parity *row, *like = NULL;
	int n, found = 0;
	char kinds[80];

	row = check_parity(j, x, p, key, &n);
	for (int i = 0; i < n && !found; i++) {
		if (parity_worst(&row[i]) <= tolerance) {
			most = fmax(most, parity_worst(&row[i]) / tolerance);
			continue;
		}
		if (like == NULL) {
			noisy_open(&noisy);
			noisy_set(check_limits[j->c->precision].noise, 0);
			like = check_parity(j, x, p, noisy.d, &n);
		}
		if (!check_is_wrong(j, row[i].forward, like[i].forward) &&
		    !check_is_wrong(j, row[i].dx, like[i].dx) &&
		    !check_is_wrong(j, row[i].dw, like[i].dw))
			continue;
		plan_kinds(p, row[i].task, kinds, sizeof(kinds));
		found = check_found(j, CHECK_TASK, kinds,
		    "%s (%s) differs from ref: forward %.2g, dx %.2g, dw %.2g "
		    "(wanted at most %g; with noise %.2g, %.2g, %.2g)",
		    p->task[row[i].task].op->name, kinds, row[i].forward,
		    row[i].dx, row[i].dw, tolerance, like[i].forward,
		    like[i].dx, like[i].dw);
	}
	free(row);
	free(like);
	device_close(noisy.d);
	j->c->worst = fmax(j->c->worst, most);
	return found;
}

int
check_tasks(struct check_job *j)
{
	struct device *d = check_open(j->c, 1 + (int)(j->n->seed % 3), 0);
	struct device *key = device_open(backend_find("ref"),
	    &(struct device_options){ .threads = 1,
	    .precision = j->c->precision });
	struct net *x = net_new(j->g, d);
	struct plan *p;
	int found = 0;

	x->repeats = j->n->repeats;
	if ((p = net_plan(x, j->in, 1)) != NULL && net_reserve(x) == 0) {
		check_put_weights(j, x, 0);
		found = check_rows(j, x, p, key);
	}
	net_free(x);
	device_close(d);
	device_close(key);
	return found;
}
