/* Simulate training runs on a cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench/prediction.h"

enum { DRAWN = 100 };			/* steps of a phase and seed; their mean
					 * is that of all */

/* ---- phases ---- */

static int
prediction_add(struct prediction *p, const struct bench_shape *s, int batch,
    uint64_t steps)
{
	struct step_cell *cell = step_profile_cell(p->profile, s);

	if (cell == NULL)
		return -1;
	for (size_t i = 0; i < p->phases; i++)
		if (p->phase[i].cell == cell && p->phase[i].batch == batch) {
			p->phase[i].steps += steps;
			return 0;
		}
	p->phase = array_reserve(p->phase, p->phases, &p->cap,
	    sizeof(*p->phase));
	p->phase[p->phases++] = (struct prediction_phase){ .batch = batch,
		.steps = steps, .cell = cell };
	return 0;
}

static int
prediction_add_schedule(struct prediction *p, const struct schedule *s,
    uint64_t samples)
{
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	int bad = 0;

	schedule_count(s, samples, steps);
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells && !bad; k++) {
			const struct cell *c = &s->stage[i].cell[k];
			struct bench_shape shape = { c->group, c->frames,
				c->crop };

			if (steps[i][k] > 0)
				bad = prediction_add(p, &shape, c->batch,
				    steps[i][k]);
		}
	free(steps);
	if (!bad && p->phases == 0)
		return fail("the schedule has no steps with %llu samples",
		    (unsigned long long)samples);
	return bad;
}

static int
prediction_add_all(struct prediction *p)
{
	const struct predict_options *o = p->o;
	int bad = 0;

	if (o->schedule != NULL)
		return prediction_add_schedule(p, o->schedule,
		    (uint64_t)o->samples);
	for (size_t i = 0; o->shapes != NULL && i < o->shapes->n && !bad; i++)
		bad = prediction_add(p, &o->shapes->item[i], 0, 1);
	for (size_t i = 0; o->shapes == NULL && i < p->profile->cells; i++)
		prediction_add(p, &p->profile->cell[i].shape, 0, 1);
	return bad;
}

/* ---- numbers of ranks ---- */

/* Return the microbatches of a step of ${phase} on ${ranks} ranks. */
static int
prediction_microbatches(const struct prediction_phase *phase, int ranks)
{
	int n = phase->cell->shape.n;

	return phase->batch > 0 ? (phase->batch + n - 1) / n : ranks;
}

/* Check that each step has a microbatch for each of ${ranks} ranks. */
static int
prediction_check(const struct prediction *p, int ranks)
{
	for (size_t i = 0; i < p->phases; i++) {
		int n = prediction_microbatches(&p->phase[i], ranks);

		if (n < ranks)
			return fail("%d ranks, but a batch of %d clips has %d "
			    "microbatches of %d clips", ranks,
			    p->phase[i].batch, n, p->phase[i].cell->shape.n);
	}
	return 0;
}

static int
prediction_set_ranks(struct prediction *p)
{
	const struct predict_options *o = p->o;
	int per_host = (int)p->cluster.v[RANKS_PER_HOST];
	int hosts = (int)p->cluster.v[HOSTS], bad;

	if (o->counts == 0 && hosts > PREDICT_RANKS / per_host)
		return fail("%d hosts of %d ranks (wanted at most %d ranks in "
		    "all, or --ranks)", hosts, per_host, PREDICT_RANKS);
	memcpy(p->ranks, o->ranks, sizeof(p->ranks));
	p->counts = o->counts;
	if (o->counts == 0) {
		for (int h = 1; h < hosts; h *= 2)
			p->ranks[p->counts++] = h * per_host;
		p->ranks[p->counts++] = hosts * per_host;
	}
	bad = prediction_check(p, (int)o->base);
	for (int i = 0; i < p->counts && !bad; i++)
		bad = prediction_check(p, p->ranks[i]);
	return bad;
}

int
prediction_open(struct prediction *p, struct bench *b,
    const struct predict_options *o, const char *profile)
{
	double *v = p->cluster.v;

	*p = (struct prediction){ .b = b, .o = o };
	if (cluster_read(&p->cluster, o->links) != 0)
		return -1;
	if (o->hosts > 0)
		v[HOSTS] = (double)o->hosts;
	if (o->ranks_per_host > 0)
		v[RANKS_PER_HOST] = (double)o->ranks_per_host;
	for (size_t i = 0; i < o->settings.n; i++)
		if (cluster_set(&p->cluster, o->settings.item[i]) != 0)
			return -1;
	if (cluster_check(&p->cluster, o->links) != 0 ||
	    (p->profile = step_profile_read(profile)) == NULL ||
	    prediction_add_all(p) != 0)
		return -1;
	return prediction_set_ranks(p);
}

static void
prediction_clear(struct prediction *p)
{
	figure_free(&p->step);
	figure_free(&p->rate);
	figure_free(&p->time);
	p->failures = 0;
	for (size_t i = 0; i < p->phases; i++)
		memset(p->phase[i].part, 0, sizeof(p->phase[i].part));
}

void
prediction_close(struct prediction *p)
{
	prediction_clear(p);
	free(p->phase);
	step_profile_free(p->profile);
}

/* ---- one number of ranks ---- */

static double
prediction_draw(void *arg)
{
	/* A draw of 24 bits is 0 in one of 16 million cases; avoid that. */
	return rng_uniform(arg) + 0x1p-25;
}

/* Simulate seed ${seed}; add to the figures and to the parts of phases. */
static void
prediction_seed(struct prediction *p, uint64_t seed)
{
	struct rng r = rng_clip(seed, (uint64_t)p->lists.ranks);
	double skew = prediction_draw(&r), work = 0, clips = 0, steps = 0;
	int failures;

	for (size_t i = 0; i < p->phases; i++) {
		struct prediction_phase *phase = &p->phase[i];
		double all = 0;

		p->lists.microbatches = prediction_microbatches(phase,
		    p->lists.ranks);
		for (int k = 0; k < DRAWN; k++) {
			double part[CLUSTER_PARTS];

			cluster_step(&p->cluster, phase->cell, &p->lists,
			    p->seconds, cluster_delay(&p->cluster, phase->cell,
			    p->lists.ranks, prediction_draw(&r), skew), part);
			for (int m = 0; m < CLUSTER_PARTS; m++) {
				all += part[m] / DRAWN;
				phase->part[m] += part[m] / DRAWN /
				    PREDICT_SEEDS;
			}
		}
		work += all * (double)phase->steps;
		steps += (double)phase->steps;
		clips += (double)phase->steps * p->lists.microbatches *
		    phase->cell->shape.n;
	}
	figure_add(&p->step, work / steps);
	figure_add(&p->rate, clips / work);
	figure_add(&p->time, cluster_run(&p->cluster, p->lists.ranks, work,
	    prediction_draw, &r, &failures));
	p->failures += failures;
}

/*
 * Simulate all seeds on ${ranks} ranks with the algorithm ${name}; set the
 * results of ${p} but its base and prefix.
 */
static int
prediction_simulate(struct prediction *p, const char *name, int ranks)
{
	int columns, rows;
	const struct algorithm *kind = algorithm_parse(name, &columns, &rows);

	/* The messages of reports depend on the microbatches of a step; those
	 * of the first phase stand for all. */
	p->lists = (struct step_lists){ .kind = kind, .wire = p->o->wire,
		.ranks = ranks, .columns = columns * rows == ranks ? columns :
		    0, .ranks_per_host = (int)p->cluster.v[RANKS_PER_HOST],
		.microbatches = prediction_microbatches(&p->phase[0], ranks) };
	step_lists_buckets(&p->lists, p->profile->elements,
	    (size_t)p->cluster.v[BUCKET]);
	prediction_clear(p);
	if (cluster_exchanges(&p->cluster, &p->lists, p->seconds) != 0)
		return -1;
	for (int seed = 1; seed <= PREDICT_SEEDS; seed++)
		prediction_seed(p, (uint64_t)seed);
	return 0;
}

int
prediction_walk(struct prediction *p, const char *prefix, const char *name,
    void (*print)(struct prediction *p, void *arg), void *arg)
{
	int base = (int)p->o->base;

	if (prediction_simulate(p, name, base) != 0)
		return -1;
	p->base = figure_median(&p->rate) / base;
	for (int i = 0; i < p->counts; i++) {
		if (prediction_simulate(p, name, p->ranks[i]) != 0)
			return -1;
		snprintf(p->prefix, sizeof(p->prefix), "%s/%s/%d", prefix,
		    name, p->ranks[i]);
		print(p, arg);
	}
	return 0;
}

double
prediction_efficiency(const struct prediction *p, double rate)
{
	return rate / p->lists.ranks / p->base;
}
