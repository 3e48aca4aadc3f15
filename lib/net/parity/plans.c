/* Compares the operators of a run with the back end ref, and prints a table. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "net/alike.h"
#include "net/parity/parity.h"
#include "net/parity/plans.h"

/*
 * Multiply-adds of a forward pass.  The distinct tasks of that many take the
 * reference one to two minutes.
 */
#define REFERENCE_MACS 5e9

/*
 * Return the shapes of the streams of ${p}, with few enough clips for the
 * reference.  The caller frees them.
 */
static struct dims *
train_parity_fewer_clips(const struct plan *p)
{
	size_t n = (size_t)p->graph->needs.streams;
	struct dims *d = xcalloc(n, sizeof(*d));
	int clips = p->input->n;

	while (clips > 1 && p->macs * clips / p->input->n > REFERENCE_MACS)
		clips = (clips + 1) / 2;
	memcpy(d, p->input, n * sizeof(*d));
	for (size_t i = 0; i < n; i++)
		d[i].n = clips;
	return d;
}

static void
train_parity_print_row(FILE *f, const struct plan *p, const struct parity *r)
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
train_parity_check_plan(const struct plan *p, struct net *x, struct net *key,
    FILE *f)
{
	enum precision precision = p->device->o.precision;
	const struct parity_options o = { .by_norm = precision !=
		PRECISION_FP32 };
	struct dims *d = train_parity_fewer_clips(p);
	struct plan *mine = net_plan(x, d, 1), *ref = net_plan(key, d, 1);
	struct parity *row = xcalloc((size_t)p->n, sizeof(*row));
	char shape[64];
	int n = -1, over = 0;

	fprintf(f, "# %s compared with ref at %s, %d of %d clips\n",
	    p->device->backend->name, dims_text(d, shape), d->n,
	    p->input->n);
	fprintf(f, "#task\toperators\talike\tin\tout\tforward\tdx\tdw\tworst\t"
	    "tolerance\n");
	if (mine != NULL && ref != NULL && net_reserve(x) == 0 &&
	    net_reserve(key) == 0)
		n = parity_run(x, mine, key, ref, &o, row);
	for (int i = 0; i < n; i++) {
		train_parity_print_row(f, mine, &row[i]);
		if (parity_worst(&row[i]) <= parity_tolerance(precision))
			continue;
		fail("%s at %s: differs from ref by %.2g (wanted at most %g)",
		    mine->task[row[i].task].op->name, shape,
		    parity_worst(&row[i]), parity_tolerance(precision));
		over = 1;
	}
	free(d);
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
			bad = train_parity_check_plan(p, x, key, f);
		status = bad != 0 ? bad : status;
	}
	net_free(x);
	net_free(key);
	device_close(exact);
	return status;
}
