/*
 * Compare networks by the three costs of "Training Kinetics in 15 Minutes"
 * (Lin, Gan and Han 2019): computation, input and gradients.
 *
 * A step of one rank takes, for each cost alone,
 *
 *	compute = forward and backward passes, update
 *	input   = clips / (clips per second of the loader on a rank's cores)
 *	network = sum over the exchanges of the step
 *
 * The predicted step overlaps them.  To vary one choice, a step of the first
 * network takes one of the three from another network, for the same clips.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/prediction.h"

enum choice { CHOICE_COMPUTE, CHOICE_INPUT, CHOICE_GRADIENTS, CHOICES };
static const char *const choices[CHOICES] = { "compute", "input",
	"gradients" };
static const char *const bounds[] = { "compute", "input", "network" };

struct guidelines_job {
	struct bench *b;
	const struct predict_options *o;
	int count[PREDICT_COUNTS], counts;
	char text[4096];		/* a line of the summary */
	size_t used;
};

/* ---- one network ---- */

/* Return the mean of ${value} over the clips of the phases. */
static double
guidelines_mean(const struct prediction *p,
    double (*value)(const struct prediction_phase *phase))
{
	double sum = 0, clips = 0;

	for (size_t i = 0; i < p->phases; i++) {
		const struct prediction_phase *f = &p->phase[i];
		double n = (double)f->steps * (f->batch > 0 ? f->batch :
		    f->cell->shape.n);

		sum += n * value(f);
		clips += n;
	}
	return sum / clips;
}

static double
guidelines_flops(const struct prediction_phase *f)
{
	return f->cell->flops;
}

static double
guidelines_input(const struct prediction_phase *f)
{
	const struct bench_shape *s = &f->cell->shape;

	return 3.0 * s->t * s->side * s->side;
}

static double
guidelines_seconds(const struct prediction_phase *f)
{
	return f->cell->step[STEP_MEDIAN] / f->cell->shape.n;
}

/* Print the sizes and the rate of a network. */
static void
guidelines_print_sizes(struct guidelines_job *j, const struct prediction *p)
{
	const char *net = p->profile->net;
	double parameters = (double)p->profile->parameters;
	double flops = guidelines_mean(p, guidelines_flops);
	double input = guidelines_mean(p, guidelines_input);
	double gradients = (double)wire_bytes(p->wire, sizeof(float),
	    p->profile->elements);
	double rate = 1 / guidelines_mean(p, guidelines_seconds);

	bench_value(j->b, flops, "FLOP", "of a clip, forward",
	    "guidelines/%s/flops", net);
	bench_value(j->b, parameters, "parameters", NULL,
	    "guidelines/%s/parameters", net);
	bench_value(j->b, input, "bytes", "of a clip, decoded RGB",
	    "guidelines/%s/input", net);
	bench_value(j->b, gradients, "bytes", "of a rank and step",
	    "guidelines/%s/gradients", net);
	bench_value(j->b, rate, "clips/s", "of one rank alone",
	    "guidelines/%s/clips", net);
	j->used = (size_t)snprintf(j->text, sizeof(j->text),
	    "%-16s %7.1f %8.2f %9.2f %9.1f %8.3g", net, flops / 1e9,
	    parameters / 1e6, input / 1e6, gradients / 1e6, rate);
}

/*
 * Write the seconds of a mean step that each cost alone takes to ${alone}[3].
 */
static void
guidelines_alone(const struct prediction *p, double *alone)
{
	const struct step_lists *s = &p->lists;
	int local = s->ranks < s->ranks_per_host ? s->ranks : s->ranks_per_host;
	double cores = p->cluster.v[CORES] / local, steps = 0;

	alone[0] = alone[1] = alone[2] = 0;
	for (size_t i = 0; i < p->phases; i++) {
		const struct prediction_phase *f = &p->phase[i];
		double weight = (double)f->steps, clips = f->batch > 0 ?
		    (double)f->batch / s->ranks : f->cell->shape.n;

		steps += weight;
		alone[0] += weight * f->part[CLUSTER_COMPUTE];
		if (f->cell->loader > 0 && cores > 0)
			alone[1] += weight * clips / (f->cell->loader * cores);
	}
	alone[0] /= steps;
	alone[1] /= steps;
	for (int k = 0; k < STEP_PARTS; k++)
		alone[2] += p->seconds[k] * (double)step_lists_times(s,
		    (enum step_part)k);
}

/* Print the rows of a network for each number of ranks. */
static int
guidelines_print_ranks(struct guidelines_job *j, struct prediction *p,
    const char *name)
{
	double base;

	if (prediction_simulate(p, name, j->o->base) != 0)
		return -1;
	base = figure_median(&p->rate) / j->o->base;
	for (int i = 0; i < j->counts; i++) {
		double alone[3], efficiency;
		char prefix[160];
		int most = 0;

		if (prediction_simulate(p, name, j->count[i]) != 0)
			return -1;
		guidelines_alone(p, alone);
		for (int k = 0; k < 3; k++)
			most = alone[k] > alone[most] ? k : most;
		snprintf(prefix, sizeof(prefix), "guidelines/%s/%s/%d",
		    p->profile->net, name, j->count[i]);
		for (int k = 0; k < 3; k++)
			bench_value(j->b, alone[k], "s", k == most ?
			    "the longest of the three" : NULL, "%s/%s", prefix,
			    bounds[k]);
		efficiency = figure_median(&p->rate) / j->count[i] / base;
		bench_row(j->b, &p->step, "s", "predicted", "%s/step", prefix);
		bench_value(j->b, efficiency, "share", NULL, "%s/efficiency",
		    prefix);
		if (j->used < sizeof(j->text))
			j->used += (size_t)snprintf(j->text + j->used,
			    sizeof(j->text) - j->used, " %6.3f", efficiency);
	}
	bench_remark(j->b, "%s", j->text);
	return 0;
}

static int
guidelines_print(struct guidelines_job *j, const char *profile)
{
	struct prediction p;
	int bad = prediction_open(&p, j->o, profile);

	if (!bad) {
		guidelines_print_sizes(j, &p);
		bad = guidelines_print_ranks(j, &p, j->o->name[0]);
	}
	prediction_close(&p);
	return bad;
}

/* ---- one choice of another network ---- */

/* Take ${choice} of cell ${from} into cell ${c}, for the clips of ${c}. */
static void
guidelines_take(struct step_cell *c, const struct step_cell *from,
    enum choice choice)
{
	double clips = (double)c->shape.n / from->shape.n;

	if (choice == CHOICE_COMPUTE) {
		double ready = from->backward * clips / c->backward;

		for (size_t i = 0; i < c->gradients; i++)
			c->gradient[i].ready *= ready;
		c->forward = from->forward * clips;
		c->backward = from->backward * clips;
		c->update = from->update;
		for (int i = 0; i < STEP_QUANTILES; i++)
			c->step[i] = from->step[i] * clips;
	} else if (choice == CHOICE_INPUT)
		c->loader = from->loader;
}

/* Give the gradients of ${p} the elements of ${from} in all. */
static void
guidelines_take_gradients(struct step_profile *p,
    const struct step_profile *from)
{
	double factor = (double)from->elements / (double)p->elements;

	for (size_t i = 0; i < p->cells; i++) {
		struct step_cell *c = &p->cell[i];
		size_t left = from->elements;

		for (size_t k = 0; k < c->gradients; k++) {
			struct step_gradient *g = &c->gradient[k];

			g->elements = k + 1 == c->gradients ? left :
			    (size_t)((double)g->elements * factor);
			left -= g->elements;
		}
	}
	p->elements = from->elements;
}

/* Print what ${choice} of the profile ${other} changes in the first network. */
static int
guidelines_vary(struct guidelines_job *j, const char *other, enum choice choice)
{
	struct prediction p, from = { 0 };
	const char *name = j->o->name[0];
	double base = 0;
	int bad = prediction_open(&p, j->o, j->o->profile[0]) != 0 ||
	    prediction_open(&from, j->o, other) != 0;

	for (size_t i = 0; !bad && i < p.profile->cells; i++)
		guidelines_take(&p.profile->cell[i], &from.profile->cell[i],
		    choice);
	if (!bad && choice == CHOICE_GRADIENTS)
		guidelines_take_gradients(p.profile, from.profile);
	bad = bad || prediction_simulate(&p, name, j->o->base) != 0;
	if (!bad)
		base = figure_median(&p.rate) / j->o->base;
	for (int i = 0; !bad && i < j->counts; i++) {
		char prefix[256];

		if ((bad = prediction_simulate(&p, name, j->count[i])) != 0)
			break;
		snprintf(prefix, sizeof(prefix), "guidelines/%s/%s-of/%s/%s/%d",
		    p.profile->net, choices[choice], from.profile->net, name,
		    j->count[i]);
		bench_row(j->b, &p.rate, "clips/s", NULL, "%s/clips", prefix);
		bench_value(j->b, figure_median(&p.rate) / j->count[i] / base,
		    "share", NULL, "%s/efficiency", prefix);
	}
	prediction_close(&p);
	prediction_close(&from);
	return bad;
}

/* ---- the case ---- */

/* Read all profiles, so that a wrong one is found before the first row. */
static int
guidelines_check(struct guidelines_job *j)
{
	size_t cells = 0;
	int bad = 0;

	for (size_t i = 0; i < j->o->profiles && !bad; i++) {
		struct prediction p;

		bad = prediction_open(&p, j->o, j->o->profile[i]) != 0 ||
		    (j->counts = prediction_counts(&p, j->o, j->count)) < 0;
		if (!bad && i > 0 && p.profile->cells != cells)
			bad = fail("%s: %zu shapes, %s: %zu (wanted the same "
			    "number)", j->o->profile[0], cells,
			    p.profile->path, p.profile->cells) != 0;
		cells = !bad ? p.profile->cells : 0;
		prediction_close(&p);
	}
	return bad;
}

/* Begin the summary. */
static void
guidelines_begin(struct guidelines_job *j)
{
	j->used = (size_t)snprintf(j->text, sizeof(j->text),
	    "%-16s %7s %8s %9s %9s %8s", "network", "GFLOP", "M param",
	    "input MB", "gradt MB", "clips/s");
	for (int i = 0; i < j->counts && j->used < sizeof(j->text); i++)
		j->used += (size_t)snprintf(j->text + j->used,
		    sizeof(j->text) - j->used, " %6d", j->count[i]);
	bench_remark(j->b, "The last columns are the efficiency at so many "
	    "ranks, relative to %d.", j->o->base);
	bench_remark(j->b, "%s", j->text);
}

int
bench_guidelines(struct bench *b, const struct predict_options *o)
{
	struct guidelines_job j = { .b = b, .o = o };
	int bad = guidelines_check(&j);

	if (!bad)
		guidelines_begin(&j);
	for (size_t i = 0; i < o->profiles && !bad; i++)
		bad = guidelines_print(&j, o->profile[i]);
	for (size_t i = 1; i < o->profiles && !bad; i++)
		for (int k = 0; k < CHOICES && !bad; k++)
			bad = guidelines_vary(&j, o->profile[i],
			    (enum choice)k);
	return bad ? EXIT_USAGE : 0;
}
