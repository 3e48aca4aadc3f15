/* Plan a run without starting it, and print the plan. */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/share.h"
#include "base/text.h"
#include "comm/cores.h"
#include "train/loop/check.h"
#include "train/loop/estimate.h"
#include "train/loop/level_costs.h"
#include "train/loop/memory.h"
#include "train/loop/session.h"
#include "train/loop/work.h"

/*
 * Check that rank ${rank} needs at most ${largest} bytes.  Otherwise name the
 * cell that needs most, and return EXIT_USAGE.
 */
static int
check_memory(const struct trainer *t, int rank, size_t largest)
{
	struct memory m = memory_plan(t, rank);
	size_t sum = memory_limited(t, &m), worst = 0;
	const struct planned_cells *p = &t->work->cells;
	const struct planned_cell *at = p->row;
	char a[32], b[32], c[32];

	if (sum <= largest)
		return 0;
	for (int i = 0; i < p->n; i++) {
		struct memory one = memory_cell(t, rank, &p->row[i]);

		if (memory_limited(t, &one) <= worst)
			continue;
		worst = memory_limited(t, &one);
		at = &p->row[i];
	}
	fail("%s: rank %d of %d needs %s (--memory=%s), most of all in stage "
	    "%d, cycle %d, whose activations take %s: choose a smaller "
	    "--bn-size, fewer frames or a smaller crop", t->schedule->path,
	    rank, t->comm->size, text_bytes(a, (double)sum),
	    text_bytes(b, (double)largest), at->stage, at->cycle_position,
	    text_bytes(c, (double)at->plan->arena));
	return EXIT_USAGE;
}

int
check_schedule(const struct check_options *o, FILE *f)
{
	static struct session s;
	struct settings set = o->set;
	const struct session_use use = { .planned = o->planned,
		.ranks = o->ranks, .plan_only = !o->time };
	struct comm *comm = comm_self();
	struct estimate e = { 0 };
	/* as on one host */
	int share = cores_threads(comm) / o->ranks, status;

	if (set.threads == 0)
		set.threads = share > 0 ? share : 1;
	modes_put(&set.modes, MODE_FAST, set.sums.deterministic == FAST, NULL);
	status = session_open(&s, comm, &set, &use);
	if (status == 0)
		status = trainer_check_ranks(&s.t, 0);
	for (int r = 0; r < o->ranks && status == 0 && o->memory > 0; r++)
		status = check_memory(&s.t, r, o->memory);
	/* Assume that each rank has a processor for each of its threads. */
	if (status == 0 && o->time && estimate_measure(&s.t, (int)set.threads,
	    &e))
		status = EXIT_FAILED;
	if (status == 0) {
		trainer_print_plan(&s.t, f);
		status = level_costs_print(&s.t, f);
		if (status == 0 && o->time)
			estimate_print(&s.t, &e, f);
	}
	session_close(&s);
	comm_free(comm);
	return status;
}

/* Return the multiply-adds of the network for a clip of cell ${c}. */
static double
check_macs(const struct cell *c, void *network)
{
	struct dims *input = graph_inputs(network, 1, c->frames, c->crop);
	double n = graph_macs(network, input);

	free(input);
	return n;
}

struct graph *
check_network(const char *model, struct cost *cost)
{
	enum { CLASSES = 400 };		/* the head's cost is negligible */
	char *path = share_find("models", model, ".net");
	struct graph *g = path != NULL ? graph_read(path, CLASSES) : NULL;

	*cost = (struct cost){ check_macs, g, "multiply-adds of the network" };
	free(path);
	return g;
}
