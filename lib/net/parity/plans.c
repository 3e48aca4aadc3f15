/* Compares the operators of a run with the back end ref, and prints a table. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "net/alike.h"
#include "net/parity/parity.h"
#include "net/parity/plans.h"

/*
 * Multiply-adds of forward passes whose forward and backward passes take the
 * loops of ref a second, on one core of a Zen 4 with AVX2.
 */
#define REFERENCE_RATE 6e8

/*
 * Return the multiply-adds of the distinct tasks of ${p}, which ref computes.
 */
static double
parity_plans_macs(const struct plan *p)
{
	double macs = 0;

	for (int i = 0; i < p->n; i++) {
		int like = 0;

		if (p->task[i].fused_into != i)
			continue;
		while (p->task[like].fused_into != like ||
		    !plan_alike(p, like, i))
			like++;
		for (int k = plan_next(p, i, -1); k < p->n && like == i;
		    k = plan_next(p, i, k)) {
			const struct task *t = &p->task[k];
			const struct op_type *type = &op_types[t->op->kind];

			if (type->macs != NULL)
				macs += type->macs(t->op, t->in, &t->out);
		}
	}
	return macs;
}

static void
parity_plans_print_row(FILE *f, const struct plan *p, const struct parity *r)
{
	const struct task *run = &p->task[r->task];
	const struct task *first = &p->task[plan_next(p, r->task, -1)];
	char kinds[128], in[64], out[64];

	plan_kinds(p, r->task, kinds, sizeof(kinds));
	fprintf(f, "%s\t%s\t%d\t%s\t%s\t%.2g\t%.2g\t%.2g\t%.2g\t%g\n",
	    run->op->name, kinds, r->like,
	    dims_text(first->op->nin > 0 ? &first->in[0] : p->input, in),
	    dims_text(&run->out, out), r->forward, r->dx, r->dw,
	    parity_worst(r), parity_tolerance(p->device->o.precision));
	fflush(f);
}

/* Compare one plan.  Return 0 or an exit status. */
static int
parity_plans_check(const struct plan *p, struct net *x, struct net *key,
    FILE *f)
{
	enum precision precision = p->device->o.precision;
	const struct parity_options o = { .by_norm = precision !=
		PRECISION_FP32 };
	struct plan *mine = net_plan(x, p->input, 1);
	struct plan *ref = net_plan(key, p->input, 1);
	struct parity *row = xcalloc((size_t)p->n, sizeof(*row));
	char shape[64], time[32];
	int n = -1, over = 0;

	fprintf(f, "# %s compared with ref at %s\n",
	    p->device->backend->name, dims_text(p->input, shape));
	fprintf(f, "#task\toperators\talike\tin\tout\tforward\tdx\tdw\tworst\t"
	    "tolerance\n");
	if (mine != NULL && ref != NULL && net_reserve(x) == 0 &&
	    net_reserve(key) == 0) {
		double macs = parity_plans_macs(mine);

		fflush(f);
		note("%s: %.3g GMACs by the loops of ref, at least %s", shape,
		    macs / 1e9, clock_text(time, macs / REFERENCE_RATE));
		n = parity_run(x, mine, key, ref, &o, row);
	}
	for (int i = 0; i < n; i++) {
		parity_plans_print_row(f, mine, &row[i]);
		if (parity_worst(&row[i]) <= parity_tolerance(precision))
			continue;
		fail("%s at %s: differs from ref by %.2g (wanted at most %g)",
		    mine->task[row[i].task].op->name, shape,
		    parity_worst(&row[i]), parity_tolerance(precision));
		over = 1;
	}
	free(row);
	return n < 0 || over ? EXIT_FAILED : 0;
}

int
parity_plans(const struct net *net, uint64_t seed, FILE *f)
{
	const struct backend *ref = backend_find("ref");
	struct device *exact = ref == NULL ? NULL : device_open(ref,
	    &(struct device_options){ .threads = 1,
		.precision = net->device->o.precision });
	struct net *x = net_new(net->graph, net->device);
	struct net *key = exact == NULL ? NULL : net_new(net->graph, exact);
	int status = x == NULL || key == NULL ? EXIT_FAILED : 0;

	for (size_t i = 0; i < net->plans && x != NULL && key != NULL; i++) {
		const struct plan *p = net->plan[i];
		int bad = 0;

		x->repeats = net->repeats;
		net_init(x, seed);
		net_init(key, seed);
		if (p->training)
			bad = parity_plans_check(p, x, key, f);
		status = bad != 0 ? bad : status;
	}
	net_free(x);
	net_free(key);
	device_close(exact);
	return status;
}
