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
#include "bench/cases.h"

enum { COMPUTE, INPUT, NETWORK, COSTS };
static const char *const costs[COSTS] = { "compute", "input", "network" };
static const char *const choices[COSTS] = { "compute", "input", "gradients" };

/* ---- one network ---- */

/* Print the sizes and the rate of a network, and begin its ${line}. */
static void
guidelines_print_sizes(const struct predict *p, const char *prefix,
    struct buffer *line)
{
	double parameters = (double)p->profile->parameters;
	double gradients =
	    (double)wire_bytes(&wires[p->in->sums.comm_dtype], sizeof(float),
	    p->profile->elements);
	double clips = 0, flops = 0, input = 0, seconds = 0;

	for (size_t i = 0; i < p->phases; i++) {
		const struct predict_phase *f = &p->phase[i];
		const struct bench_shape *s = &f->cell->shape;
		double n = (double)f->steps * (f->batch > 0 ? f->batch : s->n);

		clips += n;
		flops += n * f->cell->flops;
		input += n * (3.0 * s->t * s->side * s->side);
		seconds += n * (f->cell->step[STEP_MEDIAN] / s->n);
	}
	flops /= clips;
	input /= clips;
	seconds /= clips;
	bench_value(p->b, flops, "FLOP", "of a clip, forward", "%s/flops",
	    prefix);
	bench_value(p->b, parameters, "parameters", NULL, "%s/parameters",
	    prefix);
	bench_value(p->b, input, "bytes", "of a clip, decoded RGB", "%s/input",
	    prefix);
	bench_value(p->b, gradients, "bytes", "of a rank and step",
	    "%s/gradients", prefix);
	bench_value(p->b, 1 / seconds, "clips/s", "of one rank alone",
	    "%s/clips", prefix);
	buffer_printf(line, "%-16s %7.1f %8.2f %9.2f %9.1f %8.3g",
	    p->profile->net, flops / 1e9, parameters / 1e6, input / 1e6,
	    gradients / 1e6, 1 / seconds);
}

/* Write the seconds of a mean step that each cost alone takes. */
static void
guidelines_alone(const struct predict *p, double alone[COSTS])
{
	const struct step_lists *s = &p->lists;
	double steps = 0;

	for (int k = 0; k < COSTS; k++)
		alone[k] = 0;
	for (size_t i = 0; i < p->phases; i++) {
		const struct predict_phase *f = &p->phase[i];
		double weight = (double)f->steps, clips = f->batch > 0 ?
		    (double)f->batch / s->ranks : f->cell->shape.n;
		double rate = cluster_loader(&p->cluster, f->cell, s);

		steps += weight;
		alone[COMPUTE] += weight * f->part[CLUSTER_COMPUTE];
		if (rate > 0)
			alone[INPUT] += weight * clips / rate;
	}
	alone[COMPUTE] /= steps;
	alone[INPUT] /= steps;
	for (int k = 0; k < STEP_PARTS; k++)
		alone[NETWORK] += p->seconds[k] * (double)step_lists_times(s,
		    (enum step_part)k);
}

/* Print the rows of a network on one number of ranks; extend its line. */
static void
guidelines_print(struct predict *p, void *line)
{
	double alone[COSTS], efficiency = predict_efficiency(p,
	    figure_median(&p->rate));
	int max = 0;

	guidelines_alone(p, alone);
	for (int k = 0; k < COSTS; k++)
		max = alone[k] > alone[max] ? k : max;
	for (int k = 0; k < COSTS; k++)
		bench_value(p->b, alone[k], "s", k == max ?
		    "the longest of the three" : NULL, "%s/%s", p->prefix,
		    costs[k]);
	bench_row(p->b, &p->step, "s", "predicted", "%s/step", p->prefix);
	bench_value(p->b, efficiency, "share", NULL, "%s/efficiency",
	    p->prefix);
	buffer_printf(line, " %6.3f", efficiency);
}

/* Print all rows of a network, and its line of the table of comments. */
static int
guidelines_network(struct predict *p)
{
	struct buffer line = { 0 };
	char prefix[100];
	int bad;

	snprintf(prefix, sizeof(prefix), "guidelines/%s", p->profile->net);
	guidelines_print_sizes(p, prefix, &line);
	bad = predict_walk(p, prefix, p->o->name[0], guidelines_print, &line);
	if (!bad)
		bench_remark(p->b, "%s", line.data);
	buffer_free(&line);
	return bad;
}

/* ---- one choice of another network ---- */

/* Take ${cost} of cell ${from} into cell ${c}, for the clips of ${c}. */
static void
guidelines_take(struct step_cell *c, const struct step_cell *from, int cost)
{
	double clips = (double)c->shape.n / from->shape.n;

	if (cost == INPUT)
		c->loader = from->loader;
	if (cost != COMPUTE)
		return;
	for (size_t i = 0; i < c->gradients; i++)
		c->gradient[i].ready *= from->backward * clips / c->backward;
	c->forward = from->forward * clips;
	c->backward = from->backward * clips;
	c->update = from->update;
	for (int i = 0; i < STEP_QUANTILES; i++)
		c->step[i] = from->step[i] * clips;
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

static void
guidelines_print_choice(struct predict *p, void *arg)
{
	(void)arg;
	bench_row(p->b, &p->rate, "clips/s", NULL, "%s/clips", p->prefix);
	bench_value(p->b, predict_efficiency(p, figure_median(&p->rate)),
	    "share", NULL, "%s/efficiency", p->prefix);
}

/* Print what ${cost} of ${from} changes in the first network. */
static int
guidelines_vary(const struct predict *from, int cost)
{
	struct predict p;
	char prefix[200];
	int bad = predict_open(&p, from->b, from->in,
	    from->o->profiles.item[0]);

	for (size_t i = 0; !bad && i < p.profile->cells; i++)
		guidelines_take(&p.profile->cell[i], &from->profile->cell[i],
		    cost);
	if (!bad && cost == NETWORK)
		guidelines_take_gradients(p.profile, from->profile);
	if (!bad) {
		snprintf(prefix, sizeof(prefix), "guidelines/%s/%s-of/%s",
		    p.profile->net, choices[cost], from->profile->net);
		bad = predict_walk(&p, prefix, p.o->name[0],
		    guidelines_print_choice, NULL);
	}
	predict_close(&p);
	return bad;
}

/* ---- the case ---- */

/* Print the head of the table of comments. */
static void
guidelines_begin(const struct predict *p)
{
	struct buffer line = { 0 };

	buffer_printf(&line, "%-16s %7s %8s %9s %9s %8s", "network", "GFLOP",
	    "M param", "input MB", "gradt MB", "clips/s");
	for (int i = 1; i < p->counts; i++)
		buffer_printf(&line, " %6d", p->ranks[i]);
	bench_remark(p->b, "The last columns are the efficiency at so many "
	    "ranks, relative to %d.", p->ranks[0]);
	bench_remark(p->b, "%s", line.data);
	buffer_free(&line);
}

static int
guidelines_run(struct bench *b, const struct bench_inputs *in)
{
	const struct predict_options *o = &in->predict;
	size_t n = o->profiles.n;
	struct predict *p = xcalloc(n, sizeof(*p));
	int bad = 0;

	/* Read all, so that a wrong one is found before the first row. */
	for (size_t i = 0; i < n && !bad; i++) {
		bad = predict_open(&p[i], b, in,
		    o->profiles.item[i]);
		if (!bad && p[i].profile->cells != p->profile->cells)
			bad = fail("%s: %zu shapes, %s: %zu (wanted the same "
			    "number)", p->profile->path, p->profile->cells,
			    p[i].profile->path, p[i].profile->cells);
	}
	if (!bad)
		guidelines_begin(p);
	for (size_t i = 0; i < n && !bad; i++)
		bad = guidelines_network(&p[i]);
	for (size_t i = 1; i < n && !bad; i++)
		for (int k = 0; k < COSTS && !bad; k++)
			bad = guidelines_vary(&p[i], k);
	for (size_t i = 0; i < n; i++)
		predict_close(&p[i]);
	free(p);
	return bad ? EXIT_USAGE : 0;
}

const struct bench_case bench_case_guidelines = { .run = guidelines_run };
