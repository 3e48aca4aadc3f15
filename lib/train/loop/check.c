/* Plan a run without starting it, and print the plan. */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/share.h"
#include "base/text.h"
#include "comm/cores.h"
#include "train/loop/check.h"
#include "train/loop/clips.h"
#include "train/loop/estimate.h"
#include "train/loop/level_costs.h"
#include "train/loop/memory.h"
#include "train/loop/session.h"
#include "train/loop/work.h"

/* Return the defaults of vt-train, with the values of ${o}. */
static struct session_options
check_defaults(const struct check_options *o)
{
	static const struct option_list none;
	const struct clip_settings clips = CLIP_SETTINGS;
	struct session_options s = {
		.loss = "softmax",
		.data = o->data, .planned = o->planned, .model = o->model, .schedule = o->schedule,
		.device = o->device, .precision = o->precision,
		.resume = "auto", .groups = "tsm", .freeze = &none,
		.override = &none, .given = { .momentum = o->momentum },
		.threads = o->threads, .ranks = o->ranks,
		.plan_only = !o->time,
		.keep = 3, .optimizer = optimizers,
		.optimizing = { .momentum = 0.9, .decay = 1e-4 },
		.loading = { .seed = 1, .threads = 2, .memory = 512 << 20 },
		.viewing = { .threads = 2, .validate = 1, .clips = 1,
			.crops = 1, .n = 8, .memory = 512 << 20 },
		.sums = { .deterministic = o->deterministic,
			.allreduce = "auto" },
		.trainer = { .best = BEST_TOP1, .log_every = 10,
			.precise = PRECISE_AUTO },
	};

	modes_put(&s.modes, MODE_FAST, o->deterministic == FAST, NULL);
	clips_set(&clips, &s.loading);
	return s;
}

/* Return the forward multiply-adds of ${steps} steps of cell ${k} of stage
 * ${i}. */
static double
check_cell_macs(const struct trainer *t, int i, int k, uint64_t steps)
{
	const struct cell *c = &t->schedule->stage[i].cell[k];

	return t->work->plan[i][k]->macs * work_parts(t, c).n *
	    (double)steps;
}

static double
check_all_macs(const struct trainer *t, uint64_t (*steps)[SCHEDULE_CYCLE])
{
	double sum = 0;

	for (int i = 0; i < t->schedule->stages; i++)
		for (int k = 0; k < t->schedule->stage[i].cells; k++)
			sum += check_cell_macs(t, i, k, steps[i][k]);
	return sum;
}

/* Return the bytes of the scarcer memory: that of a discrete device, otherwise
 * that of the host. */
static size_t
check_limited_bytes(const struct trainer *t, const struct memory *m)
{
	size_t apart = memory_device(t, m);

	return apart > 0 ? apart : memory_host(t, m);
}

/* Print the row of cell ${k} of stage ${i}.  ${all} is the work of the schedule
 * in multiply-adds. */
static void
check_print_cell(const struct trainer *t, int i, int k, uint64_t steps,
    double all, FILE *f)
{
	const struct stage *g = &t->schedule->stage[i];
	const struct cell *c = &g->cell[k];
	const struct plan *p = t->work->plan[i][k];
	struct memory m = memory_cell(t, 0, i, k);
	char run[16] = "", momentum[16] = "-", share[16];

	if (c->run > 0)
		snprintf(run, sizeof(run), "/%d", c->run);
	if (g->sets_momentum)
		snprintf(momentum, sizeof(momentum), "%.6g", g->momentum);
	fprintf(f, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d%s\t%d\t%s\t%.6g\t%.6g\t%s\t"
	    "%llu\t%llu\t%.4g\t%.2f\t%zu\n", i, g->epoch_begin, g->epoch_end, k,
	    c->batch, c->frames, c->crop, c->group, run,
	    c->batch / c->group, work_microbatches_text(t, c, share),
	    lr_at(g->lr, g->pieces, g->epoch_begin),
	    lr_at(g->lr, g->pieces, g->epoch_end), momentum,
	    (unsigned long long)steps, (unsigned long long)steps *
	    (unsigned)c->batch, p->macs / p->input->n / 1e9,
	    100 * check_cell_macs(t, i, k, steps) / all, check_limited_bytes(t, &m));
}

static void
check_print_cells(const struct trainer *t, FILE *f)
{
	const struct schedule *s = t->schedule;
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	double all;

	schedule_count(s, dataset_samples(t->train), steps);
	all = check_all_macs(t, steps);
	fprintf(f, "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop\t"
	    "bn\tgroups\tgroups_of_rank_0\tlr_begin\tlr_end\tmomentum\tsteps\t"
	    "samples\tGmacs_per_clip\twork_percent\tmemory_bytes\n");
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++)
			check_print_cell(t, i, k, steps[i][k], all, f);
	free(steps);
}

/* Check that rank ${rank} needs at most ${most} bytes.  Otherwise name the cell
 * that needs most, and return EXIT_USAGE. */
static int
check_memory(const struct trainer *t, int rank, size_t largest)
{
	struct memory m = memory_plan(t, rank);
	size_t sum = check_limited_bytes(t, &m), worst = 0;
	const struct schedule *s = t->schedule;
	char a[32], b[32], c[32];
	int stage = 0, turn = 0;

	if (sum <= largest)
		return 0;
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			struct memory one = memory_cell(t, rank, i, k);

			if (check_limited_bytes(t, &one) <= worst)
				continue;
			worst = check_limited_bytes(t, &one);
			stage = i;
			turn = k;
		}
	fail("%s: rank %d of %d needs %s (--memory=%s), most of all in stage %d, "
	    "cycle %d, whose activations take %s: choose a smaller --bn-size, "
	    "fewer frames or a smaller crop", s->path, rank, t->comm->size,
	    text_bytes(a, (double)sum), text_bytes(b, (double)largest), stage, turn,
	    text_bytes(c, (double)t->work->plan[stage][turn]->arena));
	return EXIT_USAGE;
}

int
check_schedule(const struct check_options *o, FILE *f)
{
	static struct session s;
	struct session_options so = check_defaults(o);
	struct comm *comm = comm_self();
	struct estimate e = { 0 };
	int share = cores_threads(comm) / o->ranks, status;	/* as on one host */

	if (so.threads == 0)
		so.threads = share > 0 ? share : 1;
	status = session_open(&s, comm, &so);

	if (status == 0)
		status = trainer_check_ranks(&s.t, 0);
	for (int r = 0; r < o->ranks && status == 0 && o->memory > 0; r++)
		status = check_memory(&s.t, r, o->memory);
	/* Assume that each rank has a processor for each of its threads. */
	if (status == 0 && o->time && estimate_measure(&s.t, so.threads, &e))
		status = EXIT_FAILED;
	if (status == 0) {
		check_print_cells(&s.t, f);
		trainer_print_totals(&s.t, f);
		status = level_costs_print(&s.t, f);
		if (status == 0 && o->time)
			estimate_print(&s.t, &e, f);
	}
	estimate_free(&e);
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
