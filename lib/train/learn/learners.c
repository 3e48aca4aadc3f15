/* Learners and their steps. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "train/learn/learners_run.h"
#include "train/learn/noise.h"
#include "train/learn/round.h"

int
learners_fit(const struct trainer *t, const struct cell *c)
{
	int n = (int)t->o.learners.n, microbatches = c->batch / c->group;

	if (n < t->comm->size)
		return fail("%d learner%s on %d ranks: a rank has whole "
		    "learners (wanted --learners=%d or more, or %d rank%s)", n,
		    n > 1 ? "s" : "", t->comm->size, t->comm->size, n,
		    n > 1 ? "s" : "");
	if (microbatches % n != 0)
		return fail("%s: a batch of %d clips in BN groups of %d "
		    "makes %d microbatches, which %d learners cannot share "
		    "evenly (--learners)", t->schedule->path, c->batch,
		    c->group, microbatches, n);
	return 0;
}

/* Return 1 if a learner may add the gradients of several steps. */
static int
learners_gathers(const struct trainer *t)
{
	return round_grows(&t->o.learners) || t->state.grown > 1;
}

size_t
learners_bytes(const struct trainer *t, int rank, size_t each)
{
	int n = (int)t->o.learners.n, first;

	if (learners_gathers(t))
		each += t->net->graph->elements * t->net->device->elem;
	return n > 0 ? (size_t)split(n, rank, t->comm->size, &first) * each : 0;
}

void
learners_print(const struct trainer *t, FILE *f)
{
	const struct learner_settings *o = &t->o.learners;
	int first;

	fprintf(f, "%-22s %d, averaged every %lld step%s, %d on rank 0\n",
	    "# learners", (int)o->n, (long long)o->every, o->every > 1 ? "s" :
	    "", split((int)o->n, 0, t->comm->size, &first));
	if (round_grows(o))
		fprintf(f, "%-22s up to %lld times\n", "# the batch grows",
		    (long long)o->grow);
}

int
learners_measure(const struct trainer *t)
{
	return t->o.learners.noise || round_grows(&t->o.learners);
}

/* ---- learners of a rank ---- */

struct learners *
learners_open(const struct trainer *t)
{
	struct learners *l = xcalloc(1, sizeof(*l));
	size_t elem = t->net->device->elem;

	l->n = (int)t->o.learners.n;
	l->mean = t->net->w;
	l->slots = t->optim.slots.n;
	exact_open(&l->exact, t->comm, elem, host_staging_add, t->net->device,
	    t->share.bucket);
	host_staging_open(&l->staging, t->net->device, t->share.bucket);
	l->held = exact_leaves(&l->exact, l->n, &l->first);
	l->buffer = xcalloc(2 * LEARNERS_CHUNK, sizeof(*l->buffer));
	l->moved = xcalloc((size_t)l->n, sizeof(*l->moved));
	l->moved_at = xcalloc((size_t)t->comm->size + 1,
	    sizeof(*l->moved_at));
	l->learner = xcalloc((size_t)l->held, sizeof(*l->learner));
	l->vector = xcalloc((size_t)l->held, sizeof(*l->vector));
	for (int k = 0; k < l->held; k++) {
		struct learner *x = &l->learner[k];
		size_t bytes = t->share.elements * elem;

		optim_like(&x->optim, &t->optim);
		if ((x->w = device_alloc(t->net->device, bytes)) == NULL ||
		    optim_open(&x->optim, t->net, NULL) != 0 ||
		    (learners_gathers(t) &&
		    (x->sum = device_alloc(t->net->device, bytes)) == NULL)) {
			learners_close(l, t);
			return NULL;
		}
	}
	return l;
}

void
learners_close(struct learners *l, const struct trainer *t)
{
	if (l == NULL)
		return;
	for (int k = 0; k < l->held && l->learner[k].w != NULL; k++) {
		optim_close(&l->learner[k].optim);
		device_free(t->net->device, l->learner[k].sum);
		device_free(t->net->device, l->learner[k].w);
	}
	exact_close(&l->exact);
	host_staging_close(&l->staging);
	free(l->learner);
	free(l->vector);
	free(l->moved);
	free(l->moved_at);
	free(l->buffer);
	free(l);
}

/* ---- a step ---- */

/*
 * Add the gradients of ${count} microbatches to those of earlier steps.  Return
 * the sum.
 */
static void *
learners_gather(const struct trainer *t, struct learner *x, void *sum,
    int count)
{
	size_t elements = t->net->graph->elements;

	x->count += count;
	if (t->state.grown == 1)
		return sum;
	if (x->count == count)
		learners_copy(t->net, x->sum, sum, elements);
	else
		device_add(t->net->device, x->sum, sum, elements);
	return x->sum;
}

/* Update learner ${k}.  Return 0, or EXIT_DIVERGED after a message. */
static int
learners_update_learner(struct learners *l, struct trainer *t, int k, void *sum,
    double *norm)
{
	const struct schedule_step *at = &t->work->at;
	struct optim *o = &l->learner[k].optim;
	double start = clock_seconds();
	int bad;

	if (at->momentum >= 0)
		o->set.momentum = at->momentum;
	bad = optim_step(o, t->net, sum, 1.0 / l->learner[k].count, at->lr,
	    norm);
	l->learner[k].count = 0;
	t->work->log.time.update += clock_seconds() - start;
	if (!bad)
		return 0;
	fail("step %llu: learner %d: %s not finite: the run has diverged (a "
	    "lower learning rate, a longer warm-up or --clip-grad may help)",
	    (unsigned long long)t->state.step, l->first + k,
	    bad == OPTIM_STATISTICS ? "a mean or variance of its batch "
	    "normalization is" : "the gradient's norm is");
	return EXIT_DIVERGED;
}

/* Take a step of each learner of this rank. */
static void
learners_run_all(struct learners *l, struct trainer *t, int count)
{
	struct trainer_work *w = t->work;
	size_t heads = (size_t)t->net->graph->heads;
	int status = 0, updates = round_due(&l->round, t, 1);

	for (int k = 0; k < l->held; k++) {
		int from = k * count, first = l->first * count + from;
		struct tree tree = { .leaves = count };
		double other;
		void *sum;

		t->net->w = l->learner[k].w;
		feeder_begin(&w->feeder, w->buffers.outcome + (size_t)from *
		    heads, optim_loss_scale(&t->optim));
		status = work_microbatches(t, &tree, 0, first, count, NULL,
		    status);
		sum = learners_gather(t, &l->learner[k], tree.part[0].data,
		    count);
		if (status == 0 && updates)
			status = learners_update_learner(l, t, k, sum, k == 0 ?
			    &l->norm : &other);
		/*
		 * work_join_reports takes the worst status of all reports; a
		 * learner's is in its last one.
		 */
		w->buffers.report[first + count - 1].status = status;
	}
	l->updates += updates;
	t->net->w = l->mean;
}

/* Log the noise scale and decide about the batch. */
static void
learners_learn_noise(const struct learners *l, struct trainer *t)
{
	struct noise n = noise_of(l);

	noise_log(l, t, &n);
	if (round_grows(&t->o.learners))
		round_grow(t, l->updates * n.apart / l->n, n.gradient);
}

int
learners_step(struct learners *l, struct trainer *t, struct step_report *s)
{
	const struct cell *c = t->work->at.cell;
	int microbatches = c->batch / c->group;
	double start;

	if (round_begin(&l->round, t)) {
		start = clock_seconds();
		l->updates = 0;
		work_sure(t, average_load(l, t));
		t->work->log.time.comm += clock_seconds() - start;
	}
	learners_run_all(l, t, microbatches / l->n);
	if (work_join_reports(t, microbatches, s) != 0)
		return round_fall_back(&l->round, t, s->status);
	s->norm = l->norm;
	if (!isfinite(s->loss) || (t->o.max_loss > 0 && s->loss >
	    t->o.max_loss))
		return round_fall_back(&l->round, t, work_diverged(t,
		    "the loss is", s->loss));
	round_step(&l->round, s, round_due(&l->round, t,
	    t->o.learners.every));
	work_count(t, s->loss);
	if (s->not_averaged)
		return 0;
	start = clock_seconds();
	work_sure(t, average_store(l, t));
	t->work->log.time.comm += clock_seconds() - start;
	if (learners_measure(t))
		learners_learn_noise(l, t);
	t->work->saving.unsaved = 1;
	return 0;
}
