/* A trainer's plans and buffers, and the forecast of a run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/memory.h"
#include "train/work.h"

/* A cell must give every rank a whole number of groups, at least one. */
static int
check_cell(const struct trainer *t, const struct cell *c)
{
	int microbatches = c->batch / c->group;

	if (microbatches >= t->comm->size)
		return 0;
	return fail("%s: a batch of %d clips in BN groups of %d makes %d microbatches, "
	    "too few for %d ranks; start %d ranks, or choose a larger batch or "
	    "smaller groups (vt-schedule --bn-size)", t->schedule->path,
	    c->batch, c->group, microbatches, t->comm->size, microbatches);
}

int
work_buffers(const struct trainer *t, int microbatches, int rank)
{
	int most = 0, first, count = split(microbatches, rank, t->comm->size,
	    &first);
	struct tree tree = { .leaves = microbatches };
	struct tree_sum sums[TREE_MOST];

	/* A tree of its own, as bucket_tree has it. */
	if (sums_free(&t->sums) != NULL) {
		tree.leaves = count;
		first = 0;
	}
	for (int i = first; i < first + count; i++) {
		most = tree.n + 1 > most ? tree.n + 1 : most;
		tree_push(&tree, (struct subtree){ 0, i, NULL }, sums);
	}
	return most;
}

/*
 * Clips of a validation are loaded in memory that training would take
 * otherwise: a quarter, or four microbatches if that is less.
 */
static void
share_loading(struct trainer *t)
{
	struct view_options *v = &t->viewing;
	const struct graph *g = t->net->graph;
	struct dims *input;
	size_t all = t->loading.memory, some = 0;

	if (t->val == NULL)
		return;
	input = graph_inputs(g, v->n, v->t, v->side);
	for (int i = 0; i < g->needs.streams; i++)
		some += 4 * dims_count(&input[i]);
	free(input);
	v->memory = some < all / 4 ? some : all / 4;
	t->loading.memory = all - v->memory;
}

int
trainer_plan(struct trainer *t)
{
	struct trainer_work *w = t->work = xcalloc(1, sizeof(*w));
	const struct schedule *s = t->schedule;

	for (int i = 0; i < s->stages; i++)
		for (int j = 0; j < s->stage[i].cells; j++) {
			const struct cell *c = &s->stage[i].cell[j];

			t->net->repeats |= c->batch / c->group > t->comm->size;
		}
	w->plan = xcalloc((size_t)s->stages, sizeof(*w->plan));
	for (int i = 0; i < s->stages; i++)
		for (int j = 0; j < s->stage[i].cells; j++) {
			const struct cell *c = &s->stage[i].cell[j];
			int microbatches = c->batch / c->group, n;
			struct dims *input;

			if (check_cell(t, c) != 0)
				return EXIT_USAGE;
			input = graph_inputs(t->net->graph, c->group,
			    c->frames, c->crop);
			w->plan[i][j] = net_plan(t->net, input, 1);
			free(input);
			if (w->plan[i][j] == NULL)
				return EXIT_USAGE;
			n = work_buffers(t, microbatches, t->comm->rank);
			w->gradients = n > w->gradients ? n : w->gradients;
			if (microbatches > w->most_microbatches)
				w->most_microbatches = microbatches;
		}
	if (t->val != NULL && evaluate_plan(t->net, &t->viewing) == NULL)
		return EXIT_USAGE;
	w->steps = schedule_steps(s, dataset_samples(t->train));
	share_loading(t);
	w->base = memory_measure(t);
	return 0;
}

/* Multiply-adds of a step's forward pass, over all ranks. */
static double
step_macs(const struct trainer *t, const struct schedule_step *at)
{
	return t->work->plan[at->stage][at->turn]->macs *
	    (at->cell->batch / at->cell->group);
}

/* One line a cell: its shape, and how the ranks share it. */
static void
print_cells(const struct trainer *t, FILE *f)
{
	const struct schedule *s = t->schedule;

	fprintf(f, "#stage\tepoch_begin\tepoch_end\tbatch\tframes\tcrop\tbn\t"
	    "microbatches\t"
	    "microbatches_per_rank\tGmacs_per_clip\tarena_bytes\n");
	for (int i = 0; i < s->stages; i++)
		for (int j = 0; j < s->stage[i].cells; j++) {
			const struct cell *c = &s->stage[i].cell[j];
			const struct plan *p = t->work->plan[i][j];
			int microbatches = c->batch / c->group, first;

			fprintf(f, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.4g\t"
			    "%zu\n", i, s->stage[i].epoch_begin, s->stage[i].epoch_end,
			    c->batch, c->frames, c->crop, c->group, microbatches,
			    split(microbatches, 0, t->comm->size, &first),
			    p->macs / c->group / 1e9, p->arena);
		}
}

void
trainer_print_plan(const struct trainer *t, FILE *f)
{
	const struct graph *g = t->net->graph;
	const struct trainer_work *w = t->work;
	uint64_t samples = dataset_samples(t->train), clips = 0;
	double macs = 0;

	for (struct schedule_step at = schedule_start(t->schedule, samples);
	    at.cell != NULL; at = schedule_next(t->schedule, samples, &at)) {
		clips += (uint64_t)at.cell->batch;
		macs += 3 * step_macs(t, &at);	/* backward is two forwards */
	}
	print_cells(t, f);
	fprintf(f, "%-22s %s, %zu parameters, %d classes\n", "# network",
	    g->name, graph_parameters(g), g->head[0].classes);
	fprintf(f, "%-22s %s in %s on %d rank%s\n", "# back end",
	    t->net->device->backend->name, t->net->device->precision, t->comm->size,
	    t->comm->size > 1 ? "s" : "");
	fprintf(f, "%-22s %" PRIu64 " samples, %d epochs\n", "# data", samples,
	    schedule_epochs(t->schedule));
	fprintf(f, "%-22s %" PRIu64 ", %" PRIu64 " clips\n", "# steps", w->steps,
	    clips);
	fprintf(f, "%-22s %.4g TMACs\n", "# work", macs / 1e12);
	if (sums_free(&t->sums) != NULL)
		fprintf(f, "%-22s %s\n", "# all-reduce", t->sums.text);
	memory_print(t, f);
}

void
trainer_explain(const struct trainer *t, FILE *f)
{
	const struct schedule *s = t->schedule;
	const struct plan *most = NULL;

	for (int i = 0; i < s->stages; i++)
		for (int j = 0; j < s->stage[i].cells; j++) {
			const struct plan *p = t->work->plan[i][j];

			if (most == NULL || p->macs > most->macs)
				most = p;
		}
	if (most != NULL)
		plan_explain(most, f);
}

/* What may fail on one rank alone. */
static int
reserve(struct trainer *t)
{
	struct trainer_work *w = t->work;
	const struct net *n = t->net;
	size_t outcomes = (size_t)w->most_microbatches *
	    (size_t)n->graph->heads;

	if (net_reserve(t->net) != 0)
		return EXIT_FAILED;
	w->gradient = xcalloc((size_t)w->gradients, sizeof(*w->gradient));
	for (int i = 0; i < w->gradients; i++) {
		w->gradient[i] = device_alloc(n->device, n->graph->elements *
		    n->device->elem);
		if (w->gradient[i] == NULL)
			return EXIT_FAILED;
	}
	w->report = xcalloc((size_t)w->most_microbatches, sizeof(*w->report));
	w->report_at = xcalloc((size_t)t->comm->size + 1,
	    sizeof(*w->report_at));
	w->microbatch_loss = xcalloc((size_t)w->most_microbatches, sizeof(double));
	w->outcome = device_alloc(n->device, outcomes *
	    sizeof(*w->outcome));
	if (w->outcome == NULL)
		return EXIT_FAILED;
	w->fetched = xcalloc(outcomes, sizeof(*w->fetched));
	w->loader = loader_new(t->train, t->schedule, t->state.step,
	    &t->loading);
	return 0;
}

int
work_open(struct trainer *t)
{
	struct trainer_work *w = t->work;
	const struct net *n = t->net;
	uint64_t samples = dataset_samples(t->train);
	int status = comm_agree(t->comm, reserve(t));
	struct comm *c;

	if (status != 0)
		return status;
	if ((c = comm_dup(t->comm, "waiting for the others' gradients")) == NULL)
		comm_abort(t->comm, EXIT_RANKS);
	w->bucket = bucket_open(c, &t->share, n->device,
	    sums_free(&t->sums));
	if (t->run != NULL)
		w->saver = saver_new(t->run, t->safe_step);
	for (struct schedule_step at = schedule_seek(t->schedule, samples,
	    t->state.step); at.cell != NULL;
	    at = schedule_next(t->schedule, samples, &at))
		w->macs += step_macs(t, &at);
	w->started = w->saved_at = w->logged_at = clock_seconds();
	w->saved_step = t->state.step;
	w->unsaved = t->safe_step != t->state.step;
	return 0;
}

void
work_account(struct trainer *t, const struct schedule_step *at)
{
	t->work->macs_done += step_macs(t, at);
}

void
trainer_close(struct trainer *t)
{
	struct trainer_work *w = t->work;

	if (w == NULL)
		return;
	saver_free(w->saver);
	bucket_close(w->bucket);
	loader_free(w->loader);
	for (int i = 0; i < w->gradients && w->gradient != NULL; i++)
		if (w->gradient[i] != NULL)
			device_free(t->net->device, w->gradient[i]);
	free(w->gradient);
	free(w->report);
	free(w->report_at);
	free(w->microbatch_loss);
	if (w->outcome != NULL)
		device_free(t->net->device, w->outcome);
	free(w->fetched);
	free(w->plan);
	free(w);
	t->work = NULL;
}
