/*
 * The plans and buffers of a trainer, the division of batches among ranks, and
 * the printed plan of a run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/watch.h"
#include "train/guard/rank_status.h"
#include "train/guard/audit.h"
#include "train/guard/corrupt.h"
#include "train/learn/grown_batch.h"
#include "train/learn/learners.h"
#include "train/loop/memory.h"
#include "train/loop/work.h"

struct step_split
work_parts(const struct trainer *t, const struct cell *c)
{
	return cell_parts(c, t->comm->size, t->loading.spread);
}

int
work_microbatches_of(const struct trainer *t, int microbatches, int rank,
    int *first)
{
	return split_parts(microbatches, (int)t->o.learners.n, rank,
	    t->comm->size, first);
}

/* Check that a rank's part of a BN group has an even number of clips, if clips
 * are mixed: both clips of a pair must be on one rank. */
static int
work_check_mixing(const struct trainer *t, const struct cell *c)
{
	struct step_split p = work_parts(t, c);

	if (p.span == 1 || p.clips % 2 == 0 ||
	    !transforms_mix_clips(&t->loading.transforms))
		return 0;
	return fail("%s: %d ranks share a BN group of %d clips, %d each: clips "
	    "that are mixed would lie on two of them (wanted an even number "
	    "each, or no --mixup and --cutmix)", t->schedule->path, p.span,
	    c->group, p.clips);
}

/* Check that cell ${c} gives every rank at least one whole BN group, or an
 * equal part of one.  Return 0, or -1 after a message. */
static int
work_check_cell(const struct trainer *t, const struct cell *c)
{
	int groups = c->batch / c->group, ranks = t->comm->size;
	int spread = t->loading.spread;

	if (t->o.learners.n > 0)
		return learners_fit(t, c);
	if (grown_batch_wanted(t) && grown_batch_fit(t, c) != 0)
		return -1;
	if (work_parts(t, c).n >= ranks)
		return work_check_mixing(t, c);
	if (spread && ranks % groups == 0)
		return fail("%s: %d ranks for %d BN groups of %d clips: %d "
		    "clips cannot be shared equally by %d ranks (vt-schedule "
		    "--bn-size)", t->schedule->path, ranks, groups, c->group,
		    c->group, ranks / groups);
	return fail("%s: a batch of %d clips in BN groups of %d makes %d "
	    "microbatches, too few for %d ranks%s; start %d ranks, or choose a "
	    "larger batch or smaller groups (vt-schedule --bn-size)%s",
	    t->schedule->path, c->batch, c->group, groups, ranks,
	    spread ? ", which are not a multiple of it" : "", groups,
	    spread ? "" : ", or --deterministic=fast, which can spread a group "
	    "over ranks");
}

int
work_buffers(const struct trainer *t, int microbatches, int rank)
{
	int learners = (int)t->o.learners.n;
	int ranks = learners > 0 ? 1 : t->comm->size, largest = 0, first, count;
	struct tree tree = { 0 };
	struct tree_sum sums[TREE_MAX];

	/* A rank sums the gradients of a learner before it runs the next one,
	 * so count those of one learner. */
	if (learners > 0)
		microbatches /= learners;
	count = split(microbatches, learners > 0 ? 0 : rank, ranks, &first);
	tree.leaves = microbatches;
	/* With a free order each rank sums its gradients in its own tree, as
	 * bucket_tree does. */
	if (sums_any_order(&t->sums) != NULL) {
		tree.leaves = count;
		first = 0;
	}
	for (int i = first; i < first + count; i++) {
		largest = tree.n + 1 > largest ? tree.n + 1 : largest;
		tree_push(&tree, (struct subtree){ 0, i, NULL }, sums);
	}
	return largest;
}

static const struct cell *
work_last_cell(const struct schedule *s)
{
	const struct stage *last = &s->stage[s->stages - 1];

	return &last->cell[last->cells - 1];
}

/*
 * Choose the clips to measure before a validation, in groups as in the last
 * stage.  If ranks share a group, one rank may lack the memory for a whole
 * group.  PRECISE_AUTO then uses the rank's part of a group, or 4 clips if the
 * part is smaller.
 */
static void
work_choose_measured(struct trainer *t)
{
	const struct cell *c = work_last_cell(t->schedule);
	struct trainer_work *w = t->work;
	int part = work_parts(t, c).clips, least = c->group < 4 ? c->group : 4;

	w->measure.clips = t->o.precise;
	w->measure.group = c->group;
	if (t->o.precise != PRECISE_AUTO)
		return;
	w->measure.group = part < least ? least : part;
	w->measure.clips = precise_choose(t->net->graph,
	    dataset_samples(t->train), c->batch, w->measure.group,
	    t->comm->size);
}

/* Bytes of four microbatches of ${n} clips. */
static size_t
work_loading_bytes(const struct graph *g, int n, int frames, int crop)
{
	struct dims *input = graph_inputs(g, n, frames, crop);
	size_t bytes = 0;

	for (int i = 0; i < g->needs.streams; i++)
		bytes += 4 * dims_count(&input[i]);
	free(input);
	return bytes;
}

/*
 * Let a validation, and the measurement before it, load clips in memory that
 * training would take otherwise: a quarter, or four microbatches if that is
 * less.
 */
static void
work_share_loading(struct trainer *t)
{
	struct view_options *v = &t->viewing;
	const struct graph *g = t->net->graph;
	const struct cell *c = work_last_cell(t->schedule);
	size_t all = t->loading.memory, some = 0, views = 0;

	if (t->work->measure.clips != 0)
		some = work_loading_bytes(g, t->work->measure.group, c->frames,
		    c->crop);
	if (t->val != NULL)
		views = work_loading_bytes(g, v->n, v->t, v->side);
	some = some > views ? some : views;
	if (some == 0)
		return;
	v->memory = some < all / 4 ? some : all / 4;
	t->loading.memory = all - v->memory;
}

/* Plan to measure clips of the shape of the last stage.  The shape of a
 * validation, which may change when a run is resumed, decides no statistic. */
static int
work_plan_precise(struct trainer *t)
{
	const struct cell *c = work_last_cell(t->schedule);
	const struct precise_options o = { .clips = t->work->measure.clips,
		.group = t->work->measure.group, .frames = c->frames,
		.crop = c->crop, .stride = t->viewing.stride,
		.memory = t->viewing.memory };

	if (t->work->measure.clips == 0)
		return 0;
	t->work->measure.precise = precise_new(t->net, t->train, t->comm, &o,
	    &t->loading);
	return t->work->measure.precise == NULL ? EXIT_USAGE : 0;
}

int
trainer_plan(struct trainer *t)
{
	struct trainer_work *w = t->work = xcalloc(1, sizeof(*w));

	if (cells_plan(t) != 0)
		return EXIT_USAGE;
	for (int i = 0; i < w->cells.n; i++) {
		int parts = w->cells.row[i].parts.n;

		if (parts > w->buffers.max_microbatches)
			w->buffers.max_microbatches = parts;
		w->progress.steps += w->cells.row[i].steps;
	}
	w->buffers.gradients = memory_buffers(t, t->comm->rank);
	if (t->val != NULL && evaluator_plan(t->net, &t->viewing) == NULL)
		return EXIT_USAGE;
	work_choose_measured(t);
	work_share_loading(t);
	if (work_plan_precise(t) != 0)
		return EXIT_USAGE;
	cells_add_validation(t);
	w->base = memory_measure(t);
	return 0;
}

int
trainer_check_ranks(const struct trainer *t, uint64_t step)
{
	const struct schedule *s = t->schedule;
	struct schedule_step at = schedule_seek(s, dataset_samples(t->train),
	    step);

	for (int i = at.stage; i < s->stages && at.cell != NULL; i++)
		for (int j = 0; j < s->stage[i].cells; j++)
			if (work_check_cell(t, &s->stage[i].cell[j]) != 0)
				return EXIT_USAGE;
	return 0;
}

char *
work_microbatches_text(const struct trainer *t, const struct cell *c,
char text[16])
{
	struct step_split p = work_parts(t, c);
	int first;

	if (p.span > 1)
		snprintf(text, 16, "1/%d", p.span);
	else
		snprintf(text, 16, "%d", work_microbatches_of(t, p.n, 0,
		    &first));
	return text;
}

/* Return the number of groups in the smallest batch: each rank computes at
 * least one group. */
static int
work_max_ranks(const struct trainer *t)
{
	int largest = 0;

	if (t->o.learners.n > 0)
		return (int)t->o.learners.n;
	for (int i = 0; i < t->work->cells.n; i++) {
		const struct cell *c = t->work->cells.row[i].cell;

		if (largest == 0 || c->batch / c->group < largest)
			largest = c->batch / c->group;
	}
	return largest;
}

void
trainer_print_totals(const struct trainer *t, FILE *f)
{
	const struct graph *g = t->net->graph;
	const struct trainer_work *w = t->work;
	const struct cell *last = work_last_cell(t->schedule);
	uint64_t samples = dataset_samples(t->train), clips = 0;
	char host[64];
	double macs = 0;

	for (const struct planned_cell *r = w->cells.row, *end = r + w->cells.n;
	    r < end; r++) {
		clips += r->steps * (unsigned)r->cell->batch;
		/* A backward pass costs two forward passes. */
		macs += 3 * r->macs * (double)r->steps;
	}
	fprintf(f, "%-22s %s, %zu parameters, %d classes\n", "# network",
	    g->name, graph_parameters(g), g->head[0].classes);
	fprintf(f, "%-22s %s in %s on %d rank%s\n", "# back end",
	    t->net->device->backend->name, t->net->device->precision,
	    t->comm->size, t->comm->size > 1 ? "s" : "");
	fprintf(f, "%-22s %s\n", "# host", cpus_text(host));
	fprintf(f, "%-22s %" PRIu64 " samples, %d epochs\n", "# data", samples,
	    schedule_epochs(t->schedule));
	fprintf(f, "%-22s %" PRIu64 ", %" PRIu64 " clips\n", "# steps",
	    w->progress.steps, clips);
	if (t->state.step > 0)
		fprintf(f, "%-22s %" PRIu64 "\n", "# steps done",
		    t->state.step);
	fprintf(f, "%-22s %.4g TMACs\n", "# work", macs / 1e12);
	fprintf(f, "%-22s %d%s\n", "# ranks at most", work_max_ranks(t),
	    t->loading.spread ? ", or a multiple that shares BN groups" : "");
	if (sums_any_order(&t->sums) != NULL || t->sums.fabric != NULL)
		fprintf(f, "%-22s %s\n", "# all-reduce", t->sums.text);
	if (w->measure.precise != NULL)
		fprintf(f, "%-22s %d groups of %d clips, %dx%d\n",
		    "# precise BN", precise_groups(w->measure.precise),
		    w->measure.group, last->frames, last->crop);
	fprintf(f, "%-22s %d\n", "# loader threads", t->loading.threads);
	if (t->o.learners.n > 0)
		learners_print(t, f);
	else if (grown_batch_wanted(t))
		grown_batch_print(t, f);
	memory_print(t, f);
}

void
trainer_print_plan(const struct trainer *t, FILE *f)
{
	cells_print(t, f);
	trainer_print_totals(t, f);
}

void
trainer_explain(const struct trainer *t, FILE *f)
{
	const struct planned_cells *c = &t->work->cells;
	const struct plan *largest = NULL;

	for (int i = 0; i < c->n; i++)
		if (largest == NULL || c->row[i].plan->macs > largest->macs)
			largest = c->row[i].plan;
	if (largest != NULL)
		plan_explain(largest, f);
}

/* Allocate what may fail on one rank alone.  work_open then agrees on the
 * status before any rank connects. */
static int
work_reserve(struct trainer *t)
{
	struct trainer_work *w = t->work;
	const struct net *n = t->net;
	size_t outcomes = (size_t)w->buffers.max_microbatches *
	    (size_t)n->graph->heads;

	if (net_reserve(t->net) != 0 || net_reserve_prefetch(t->net) != 0)
		return EXIT_FAILED;
	w->buffers.gradient = xcalloc((size_t)w->buffers.gradients,
	    sizeof(*w->buffers.gradient));
	for (int i = 0; i < w->buffers.gradients; i++) {
		w->buffers.gradient[i] = device_alloc(n->device,
		    n->graph->elements * n->device->elem);
		if (w->buffers.gradient[i] == NULL)
			return EXIT_FAILED;
	}
	w->buffers.report = xcalloc((size_t)w->buffers.max_microbatches,
	    sizeof(*w->buffers.report));
	w->buffers.report_offset = xcalloc((size_t)t->comm->size + 1,
	    sizeof(*w->buffers.report_offset));
	w->buffers.microbatch_loss =
	    xcalloc((size_t)w->buffers.max_microbatches, sizeof(double));
	w->buffers.outcome = device_alloc(n->device, outcomes *
	    sizeof(*w->buffers.outcome));
	if (w->buffers.outcome == NULL)
		return EXIT_FAILED;
	w->buffers.fetched = xcalloc(outcomes, sizeof(*w->buffers.fetched));
	if (t->o.learners.n > 0 && (w->learners = learners_open(t)) == NULL)
		return EXIT_FAILED;
	if (grown_batch_wanted(t) &&
	    (w->grown_batch = grown_batch_open(t)) == NULL)
		return EXIT_FAILED;
	if ((w->audit = audit_open(t)) == NULL)
		return EXIT_USAGE;
	if ((w->corrupt = corrupt_open(t)) == NULL)
		return EXIT_DAMAGE;
	t->loading.replaces |= corrupt_known(w->corrupt)->n > 0;
	w->feeder = (struct feeder){ .net = t->net, .cells = &w->cells,
		.watch = t->comm->watch };
	feeder_open(&w->feeder, t->train, t->schedule, t->state.step,
	    &t->loading);
	corrupt_apply(w->corrupt, w->feeder.loader);
	return 0;
}

/* Return the maximal number of channels of a normalization. */
static size_t
work_max_channels(const struct graph *g)
{
	size_t largest = 0;

	for (int i = 0; i < g->nparam; i++)
		if (g->param[i].kind == PARAM_MEAN &&
		    g->param[i].count > largest)
			largest = g->param[i].count;
	return largest;
}

int
work_open(struct trainer *t)
{
	struct trainer_work *w = t->work;
	const struct net *n = t->net;
	int status = comm_agree(t->comm, work_reserve(t));
	struct comm *c;

	if (status != 0)
		return status;
	if (sync_bn_open(&w->spread, t->comm, n->device, t->sums.fabric,
	    work_max_channels(n->graph)) != 0 ||
	    (c = comm_dup(t->comm, "waiting for the others' gradients")) ==
	    NULL)
		comm_abort(t->comm, EXIT_RANKS);
	w->bucket = bucket_open(c, &t->share, n->device,
	    sums_any_order(&t->sums), t->sums.fabric);
	allgather_by(t->optim.gather, bucket_reducer(w->bucket));
	cells_seek(t);
	for (int i = 0; i < w->cells.n; i++)
		w->progress.macs +=
		    w->cells.row[i].macs * (double)w->cells.row[i].left;
	watch_set_describe(t->comm->watch, rank_status_describe, t);
	w->saving.step = t->state.step;
	w->saving.unsaved = t->safe_step != t->state.step;
	return 0;
}

void
trainer_close(struct trainer *t)
{
	struct trainer_work *w = t->work;

	if (w == NULL)
		return;
	watch_set_describe(t->comm->watch, NULL, NULL);
	saver_free(w->saving.saver);
	precise_free(w->measure.precise);
	bucket_close(w->bucket);
	learners_close(w->learners, t);
	grown_batch_close(w->grown_batch, t);
	sync_bn_close(&w->spread);
	feeder_close(&w->feeder);
	audit_close(w->audit);
	corrupt_close(w->corrupt);
	for (int i = 0; i < w->buffers.gradients && w->buffers.gradient != NULL;
	    i++)
		device_free(t->net->device, w->buffers.gradient[i]);
	free(w->buffers.gradient);
	free(w->buffers.report);
	free(w->buffers.report_offset);
	free(w->buffers.microbatch_loss);
	device_free(t->net->device, w->buffers.outcome);
	free(w->buffers.fetched);
	cells_free(&w->cells);
	free(w);
	t->work = NULL;
}
