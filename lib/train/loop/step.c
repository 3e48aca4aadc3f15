/*
 * A step of the training loop: run this rank's microbatches, reduce their
 * gradients during the last backward pass, update the weights.
 *
 * A rank that cannot continue (damaged clip, failed audit) still takes part in
 * every collective of the step.  The others learn its status from the joined
 * reports, and all leave the step at the same place with the same status.
 */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/stop.h"
#include "train/guard/audit.h"
#include "train/guard/corrupt.h"
#include "train/guard/not_finite.h"
#include "train/learn/grown_batch.h"
#include "train/learn/learners.h"
#include "train/loop/work.h"

static void *
step_take_gradient(struct trainer_work *w)
{
	assert(w->buffers.free > 0);
	return w->buffers.gradient[--w->buffers.free];
}

static void
step_give_gradient(struct trainer_work *w, const void *g)
{
	w->buffers.gradient[w->buffers.free++] = (void *)g;
}

/* Return the requests of this rank for the next step boundary, REQUEST_*
 * bits. */
static int
step_requests(const struct trainer *t)
{
	int request = stop_requested() ? REQUEST_STOP : 0;

	if (t->comm->rank == 0 && t->o.save_every > 0 &&
	    clock_seconds() - t->work->saving.at >= t->o.save_every)
		request |= REQUEST_SAVE;
	if (t->work->saving.saver != NULL &&
	    saver_gave_up(t->work->saving.saver))
		request |= REQUEST_END;
	return request;
}

/* Move the time spent in sums of synchronized BN from ${phase} to the
 * communication. */
static void
step_count_sums(struct trainer_work *w, double *phase)
{
	*phase -= w->spread.waited;
	w->log.time.comm += w->spread.waited;
	w->spread.waited = 0;
}

/*
 * Return 1 if this rank must not update before the reports are joined: one of
 * its ${count} microbatches from index ${first} could not be loaded or has a
 * damaged sample, and that may end the run.
 */
static int
step_is_deferred(const struct trainer *t, int first, int count)
{
	const struct microbatch_report *r = t->work->buffers.report + first;

	for (int i = 0; i < count; i++)
		if (r[i].status != 0 || r[i].bad != 0)
			return 1;
	return 0;
}

/*
 * Return the limit that a device applies to the loss of each microbatch and
 * head.  If no loss exceeds it, the loss of the step,
 *
 *	sum over heads of weight * mean over microbatches of loss,
 *
 * does not exceed --max-loss.  The factor 1 - 1e-6 covers the rounding of sums.
 * The limit is only sufficient: a step that exceeds it is decided by the host.
 */
static double
step_max_loss(const struct trainer *t)
{
	const struct graph *g = t->net->graph;
	double weights = 0;

	for (int h = 0; h < g->heads; h++)
		weights += fabs(g->op[g->head[h].loss].loss.weight);
	return t->o.max_loss > 0 && weights > 0 ? (1 - 1e-6) * t->o.max_loss /
	    weights : DBL_MAX;
}

/* If the device computes found_inf, write this rank's flag, which is
 * all-reduced with its gradient. */
static void
step_set_found_inf(struct trainer *t, int first, int count)
{
	struct trainer_work *w = t->work;
	float *lost = bucket_found_inf(w->bucket);
	int silent = step_is_deferred(t, first, count);

	if (lost != NULL)
		device_flag_losses(t->net->device, lost, w->buffers.outcome,
		    silent ? 0 : (size_t)(count * t->net->graph->heads),
		    step_max_loss(t), silent);
}

/* Fill in the report of microbatch ${i} of the step, except its losses. */
static void
step_report_microbatch(struct trainer *t, int i, int status)
{
	const struct microbatch *mb = t->work->feeder.mb;
	struct microbatch_report *r = &t->work->buffers.report[i];

	if (mb != NULL)
		corrupt_found(t->work->corrupt, t, t->state.step + 1, mb);
	r->bad = mb != NULL ? mb->bads : 0;
	r->squares = 0;
	r->status = status;
	r->request = step_requests(t);
}

int
work_microbatches(struct trainer *t, struct tree *tree, int leaf, int first,
    int count, struct tree_sum *reduced, int status)
{
	struct trainer_work *w = t->work;
	struct feeder *f = &w->feeder;
	const struct plan *p = cells_of(t, &w->at)->plan;
	struct tree_sum added[TREE_MAX];

	w->buffers.free = w->buffers.gradients;
	for (int i = 0; i < count; i++) {
		int reduces = reduced != NULL && i == count - 1, n;
		int looks = audit_looks(w->audit, t, first + i);
		int waits = looks || w->grown_batch != NULL;
		struct tree_sum *sums = reduces ? reduced : added;
		struct event *final = NULL;
		void *g = step_take_gradient(w);
		double start;

		if (status == 0)
			status = feeder_next(f);
		/* The ranks of a BN group must all compute or all skip the
		 * pass: each waits for the sums of the others. */
		status = sync_bn_agree(p->peers, status);
		start = clock_seconds();
		if (status == 0) {
			assert(f->mb->at.step == t->state.step);
			feeder_forward(f, g);
		}
		w->log.time.forward += clock_seconds() - start;
		step_count_sums(w, &w->log.time.forward);
		step_report_microbatch(t, first + i, status);
		start = clock_seconds();
		n = tree_push(tree, (struct subtree){ 0, leaf + i, g }, sums);
		if (reduces) {
			step_set_found_inf(t, first, count);
			final = bucket_begin(w->bucket, tree, sums, n);
		}
		/* An audited or measured backward pass does not record the
		 * event.  The reduction then starts in bucket_wait, after the
		 * gradient of this microbatch alone has been read. */
		if (status == 0)
			feeder_backward(f, waits ? NULL : final);
		if (status == 0 && waits)
			sync_bn_wait(p->peers);
		if (status == 0 && looks)
			audit_look(w->audit, t, g);
		if (status == 0 && w->grown_batch != NULL)
			w->buffers.report[first + i].squares =
			    grown_batch_squares(w->grown_batch, g);
		for (int k = 0; k < n && !reduces; k++) {
			device_add(t->net->device, sums[k].left, sums[k].right,
			    t->net->graph->elements);
			step_give_gradient(w, sums[k].right);
		}
		w->log.time.backward += clock_seconds() - start;
		step_count_sums(w, &w->log.time.backward);
		feeder_done(f);
	}
	return status;
}

/* Run this rank's microbatches and sum their gradients over all ranks. */
static void *
step_run_microbatches(struct trainer *t, int microbatches)
{
	struct trainer_work *w = t->work;
	int first;
	int count = work_microbatches_of(t, microbatches, t->comm->rank,
	    &first);
	int leaf = bucket_tree(w->bucket, &w->tree, microbatches);
	struct tree_sum sums[TREE_MAX];
	double busy, start;
	int status;
	void *sum;

	status = audit_begin(w->audit, t, w->buffers.gradient[0]);
	feeder_begin(&w->feeder, w->buffers.outcome,
	    optim_loss_scale(&t->optim));
	work_microbatches(t, &w->tree, leaf, first, count, sums, status);
	start = clock_seconds();
	sum = bucket_wait(w->bucket, &busy);
	w->log.time.comm += clock_seconds() - start;
	w->log.time.comm_busy += busy;
	return sum;
}

/*
 * Fetch the outcomes of this rank's microbatches from the device, in one copy
 * for the whole step, and store them in the reports:
 *
 *	loss = sum over heads of weight * loss of the head
 *	top1, top5, ranked: those of the first head
 */
static void
step_fetch_outcomes(struct trainer *t, int microbatches)
{
	struct trainer_work *w = t->work;
	const struct graph *g = t->net->graph;
	int first, count = work_microbatches_of(t, microbatches, t->comm->rank,
	    &first);
	const struct outcome *o = w->buffers.fetched;

	device_download(t->net->device, w->buffers.fetched, w->buffers.outcome,
	    (size_t)count * (size_t)g->heads * sizeof(*o));
	for (int i = first; i < first + count; i++, o += g->heads) {
		struct microbatch_report *r = &w->buffers.report[i];

		r->loss = 0;
		for (int h = 0; h < g->heads; h++)
			r->loss += g->op[g->head[h].loss].loss.weight *
			    o[h].loss;
		r->top1 = o[0].top1;
		r->top5 = o[0].top5;
		r->ranked = o[0].ranked;
	}
}

/* Send the reports of all microbatches to all ranks. */
static int
step_share_reports(struct trainer *t, int microbatches)
{
	struct trainer_work *w = t->work;
	int size = t->comm->size;

	for (int r = 0, first; r < size; r++)
		w->buffers.report_offset[r + 1] =
		    w->buffers.report_offset[r] +
		    (size_t)work_microbatches_of(t, microbatches, r,
		    &first) * sizeof(*w->buffers.report);
	return comm_allgatherv(t->comm, w->buffers.report,
	    w->buffers.report_offset);
}

/*
 * Join the reports of all microbatches.  Losses and squares are summed in the
 * order of the summation tree, so that they have the same bits for any number
 * of ranks.  Gradients have a loss scale of ${scale}.
 */
static struct step_report
step_join_reports(struct trainer_work *w, int microbatches, double scale)
{
	struct step_report s = { 0 };

	for (int i = 0; i < microbatches; i++) {
		w->buffers.microbatch_loss[i] = w->buffers.report[i].loss;
		s.top1 += w->buffers.report[i].top1;
		s.top5 += w->buffers.report[i].top5;
		s.ranked += w->buffers.report[i].ranked;
		s.request |= w->buffers.report[i].request;
		s.bad += w->buffers.report[i].bad;
		if (w->buffers.report[i].status > s.status)
			s.status = w->buffers.report[i].status;
	}
	s.loss = exact_sum(w->buffers.microbatch_loss, microbatches) /
	    microbatches;
	for (int i = 0; i < microbatches; i++)
		w->buffers.microbatch_loss[i] = w->buffers.report[i].squares;
	s.squares = exact_sum(w->buffers.microbatch_loss, microbatches) /
	    (scale * scale);
	return s;
}

int
work_join_reports(struct trainer *t, int microbatches, struct step_report *s)
{
	double start = clock_seconds();

	step_fetch_outcomes(t, microbatches);
	work_sure(t, step_share_reports(t, microbatches));
	t->work->log.time.comm += clock_seconds() - start;
	*s = step_join_reports(t->work, microbatches,
	    optim_loss_scale(&t->optim));
	return s->status;
}

void
work_count(struct trainer *t, double loss)
{
	struct state *s = &t->state;

	corrupt_learn(t->work->corrupt, t);
	s->step++;
	s->clips += (uint64_t)t->work->at.cell->batch;
	s->epoch = (double)s->clips / dataset_samples(t->train);
	s->loss = s->step == 1 ? loss : 0.98 * s->loss + 0.02 * loss;
}

int
work_sure(const struct trainer *t, int result)
{
	if (result < 0)
		comm_abort(t->comm, EXIT_RANKS);
	return result;
}

int
work_diverged(const struct trainer *t, const char *what, double value)
{
	if (t->comm->rank == 0)
		fail("step %llu: %s %g: the run has diverged (a lower learning "
		    "rate, a longer warm-up or --clip-grad may help)",
		    (unsigned long long)t->state.step, what, value);
	return EXIT_DIVERGED;
}

/* Handle a step that is not finite: end the run, or count the step without an
 * update, as --on-nan says.  Return 0, or an exit status. */
static int
step_skip(struct trainer *t, struct step_report *s, const char *what,
    double value)
{
	int status = not_finite_step(t, s, what, value);

	if (status != 0)
		return status;
	t->work->saving.unsaved = 1;
	work_count(t, s->loss);
	return 0;
}

/*
 * Launch the update before the host knows the losses of the step, if the device
 * can check them.  Leave the launch to optim_finish, after the reports are
 * joined, in two cases:
 *
 * - An audit or a damaged sample may end the step.
 * - The found_inf flags of other ranks are not all-reduced with the gradient.
 *
 * The update of a batch that may grow begins in step_add_to_batch.
 */
static void
step_launch_update(struct trainer *t, void *sum, int microbatches)
{
	struct trainer_work *w = t->work;
	int first, count = work_microbatches_of(t, microbatches, t->comm->rank,
	    &first);
	const struct losses losses = { w->buffers.outcome, (size_t)(count *
	    t->net->graph->heads), step_max_loss(t),
	    bucket_found_inf(w->bucket) };
	int waits = audit_due(w->audit) || step_is_deferred(t, first, count) ||
	    (t->comm->size > 1 && !modes_in_effect(&t->o.modes,
	    MODE_EARLY_UPDATE));

	if (w->grown_batch != NULL)
		return;
	assert(waits || t->comm->size == 1 || losses.found_inf != NULL);
	optim_begin(&t->optim, t->net, sum, 1.0 / microbatches, w->at.lr,
	    waits ? NULL : &losses);
}

/* Add the gradient of a step to that of a batch that may grow.  Return 1 if the
 * update is due, and begin it. */
static int
step_add_to_batch(struct trainer *t, void *sum, int microbatches,
    const struct step_report *s)
{
	struct trainer_work *w = t->work;
	double scale;

	sum = grown_batch_add(w->grown_batch, t, sum, microbatches, s, &scale);
	if (sum == NULL)
		return 0;
	optim_begin(&t->optim, t->net, sum, scale, w->at.lr, NULL);
	return 1;
}

/* Make a step without learners. */
static int
step_make(struct trainer *t, struct step_report *s)
{
	struct trainer_work *w = t->work;
	int microbatches = work_parts(t, w->at.cell).n, bad;
	double start, waited;
	void *sum;

	sum = step_run_microbatches(t, microbatches);
	if (sum == NULL)
		comm_abort(t->comm, EXIT_RANKS);
	if (w->at.momentum >= 0)
		t->optim.set.momentum = w->at.momentum;
	start = clock_seconds();
	step_launch_update(t, sum, microbatches);
	w->log.time.update += clock_seconds() - start;
	start = clock_seconds();
	work_sure(t, bucket_done(w->bucket));
	waited = clock_seconds() - start;
	w->log.time.comm += waited;
	w->log.time.comm_busy += waited;
	if (work_join_reports(t, microbatches, s) != 0)
		return s->status;
	if (s->bad > 0 && (bad = work_sure(t, corrupt_share(w->corrupt, t,
	    t->state.step + 1))) != 0)
		return bad;
	/* Before the update: wrong gradients must not reach the weights. */
	if ((bad = work_sure(t, audit_end(w->audit, t))) != 0)
		return bad;
	if (!isfinite(s->loss) || (t->o.max_loss > 0 &&
	    s->loss > t->o.max_loss))
		return step_skip(t, s, "the loss is", s->loss);
	start = clock_seconds();
	if (w->grown_batch != NULL &&
	    !step_add_to_batch(t, sum, microbatches, s)) {
		work_count(t, s->loss);
		return 0;
	}
	if ((bad = optim_finish(&t->optim, &s->norm)) == OPTIM_LOST)
		comm_abort(t->comm, EXIT_RANKS);
	/* A dynamic loss scale overflows now and then.  Such a step counts, and
	 * the next one has a lower scale. */
	s->skipped = bad == OPTIM_SKIPPED;
	if (bad == OPTIM_STATISTICS)
		return step_skip(t, s, "a mean or variance of its batch "
		    "normalizations is", INFINITY);
	if (bad && !s->skipped)
		return step_skip(t, s, "the gradient's norm is", s->norm);
	if (s->skipped && t->comm->rank == 0)
		detail("step %llu: the gradient's norm is %g: no update, and "
		    "the loss is scaled by %g from now on", (unsigned long long)
		    t->state.step, s->norm, optim_loss_scale(&t->optim));
	w->log.time.update += clock_seconds() - start - t->optim.waited;
	w->log.time.comm += t->optim.waited;
	w->saving.unsaved = 1;
	work_count(t, s->loss);
	return 0;
}

int
work_step(struct trainer *t, struct step_report *s)
{
	struct trainer_work *w = t->work;

	if (w->learners != NULL)
		return learners_step(w->learners, t, s);
	if (w->grown_batch == NULL)
		return step_make(t, s);
	grown_batch_begin(w->grown_batch, t);
	return grown_batch_end(w->grown_batch, t, s, step_make(t, s));
}
