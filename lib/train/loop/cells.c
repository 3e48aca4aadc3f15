/* The plan of a run as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/mem.h"
#include "base/number.h"
#include "train/loop/cells.h"
#include "train/loop/memory.h"
#include "train/loop/work.h"

/* Add a row for each cell of the schedule, without plans. */
static void
cells_add(const struct trainer *t, struct planned_cells *c)
{
	const struct schedule *s = t->schedule;
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));

	schedule_count(s, dataset_samples(t->train), steps);
	c->row = xcalloc((size_t)s->stages * SCHEDULE_CYCLE + 2,
	    sizeof(*c->row));
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++)
			c->row[c->n++] = (struct planned_cell){ .stage = i,
				.cycle_position = k, .steps = steps[i][k],
				.cell = &s->stage[i].cell[k],
				.parts = work_parts(t, &s->stage[i].cell[k]) };
	free(steps);
}

int
cells_plan(struct trainer *t)
{
	struct planned_cells *c = &t->work->cells;
	int learners = (int)t->o.learners.n;

	cells_add(t, c);
	/* Packing the weights pays only if several passes of a step use
	 * them. */
	for (int i = 0; i < c->n; i++)
		t->net->repeats |= c->row[i].parts.n > (learners > 0 ?
		    learners : t->comm->size);
	for (struct planned_cell *r = c->row; r < c->row + c->n; r++) {
		struct dims *input = graph_inputs(t->net->graph, r->parts.clips,
		    r->cell->frames, r->cell->crop);

		r->plan = net_plan_part(t->net, input,
		    sync_bn_group(&t->work->spread, r->parts.span));
		free(input);
		if (r->plan == NULL)
			return EXIT_USAGE;
		r->macs = r->plan->macs * r->parts.n;
	}
	c->all = c->n;
	return 0;
}

void
cells_add_validation(struct trainer *t)
{
	struct planned_cells *c = &t->work->cells;
	struct precise *p = t->work->measure.precise;
	const struct view_options *v = &t->viewing;
	uint32_t ranks = (uint32_t)t->comm->size;

	if (t->val != NULL) {
		uint32_t n = dataset_samples(t->val);

		c->row[c->all++] = (struct planned_cell){ PLANNED_VIEWS,
			.plan = evaluator_plan(t->net, v),
			.steps = (uint64_t)ceil((double)n * v->clips *
			    v->crops / ranks / v->n),
			.loader = loader_views_bytes(t->val, (uint32_t)
			    (((uint64_t)n + ranks - 1) / ranks), v) };
	}
	if (p != NULL)
		c->row[c->all++] = (struct planned_cell){ PLANNED_STATISTICS,
			.plan = precise_plan(p), .loader = precise_bytes(p),
			.steps = (unsigned)div_up(precise_groups(p),
			    t->comm->size) * (t->optim.ema > 0 ? 2u : 1u),
			.next = t->work->progress.steps - 1 };
}

void
cells_free(struct planned_cells *c)
{
	free(c->row);
	*c = (struct planned_cells){ 0 };
}

struct planned_cell *
cells_find(const struct planned_cells *c, int stage, int cycle_position)
{
	struct planned_cell *r = c->row;

	while (r->stage != stage)
		r++;
	return r + cycle_position;
}

const struct planned_cell *
cells_of(const struct trainer *t, const struct schedule_step *at)
{
	return cells_find(&t->work->cells, at->stage, at->cycle_position);
}

int
cells_validations(const struct trainer *t)
{
	double left = schedule_epochs(t->schedule) - t->state.epoch;

	if (left <= 0)
		return 0;
	if (t->val == NULL)
		return t->work->measure.precise != NULL;
	return t->o.val_every > 0 ? (int)ceil(left / t->o.val_every - 1e-9) : 1;
}

void
cells_seek(struct trainer *t)
{
	const struct planned_cells *c = &t->work->cells;
	uint64_t samples = dataset_samples(t->train);

	for (struct planned_cell *r = c->row; r < c->row + c->all; r++)
		r->left = r->kind == PLANNED_CELL ? 0 : r->steps *
		    (unsigned)cells_validations(t);
	for (struct schedule_step at = schedule_seek(t->schedule, samples,
	    t->state.step); at.cell != NULL;
	    at = schedule_next(t->schedule, samples, &at)) {
		struct planned_cell *r = cells_find(c, at.stage,
		    at.cycle_position);

		if (r->left++ == 0)
			r->next = at.step;
	}
}

/* Print a row.  ${all} is the work of the run in multiply-adds. */
static void
cells_print_row(const struct trainer *t, const struct planned_cell *r,
    double all, FILE *f)
{
	const struct stage *g = &t->schedule->stage[r->stage];
	const struct cell *c = r->cell;
	struct memory m = memory_cell(t, 0, r);
	char run[16] = "", momentum[16] = "-", share[16];

	if (c->run > 0)
		snprintf(run, sizeof(run), "/%d", c->run);
	if (g->sets_momentum)
		snprintf(momentum, sizeof(momentum), "%.6g", g->momentum);
	fprintf(f, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d%s\t%d\t%s\t%.6g\t%.6g\t%s\t"
	    "%" PRIu64 "\t%" PRIu64 "\t%.4g\t%.2f\t%zu\t%zu\n", r->stage,
	    g->epoch_begin, g->epoch_end, r->cycle_position, c->batch,
	    c->frames, c->crop, c->group, run, c->batch / c->group,
	    work_microbatches_text(t, c, share),
	    lr_at(g->lr, g->pieces, g->epoch_begin),
	    lr_at(g->lr, g->pieces, g->epoch_end), momentum, r->steps,
	    r->steps * (unsigned)c->batch,
	    r->plan->macs / r->plan->input->n / 1e9,
	    100 * r->macs * (double)r->steps / all, memory_limited(t, &m),
	    r->plan->arena);
}

void
cells_print(const struct trainer *t, FILE *f)
{
	const struct planned_cells *c = &t->work->cells;
	double all = 0;

	for (int i = 0; i < c->n; i++)
		all += c->row[i].macs * (double)c->row[i].steps;
	fprintf(f, "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\t"
	    "crop\tbn\tgroups\tgroups_of_rank_0\tlr_begin\tlr_end\t"
	    "momentum\tsteps\tsamples\tGmacs_per_clip\twork_percent\t"
	    "memory_bytes\tactivation_bytes\n");
	for (int i = 0; i < c->n; i++)
		cells_print_row(t, &c->row[i], all, f);
}
