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

/* ---- one network ---- */

/* Print the sizes and the rate of a network, and begin its ${line}. */
static void
guidelines_print_sizes(const struct prediction *p, struct buffer *line)
{
	const char *net = p->profile->net;
	double parameters = (double)p->profile->parameters;
	double gradients = (double)wire_bytes(p->o->wire, sizeof(float),
	    p->profile->elements);
	double clips = 0, flops = 0, input = 0, seconds = 0;

	for (size_t i = 0; i < p->phases; i++) {
		const struct prediction_phase *f = &p->phase[i];
		const struct bench_shape *s = &f->cell->shape;
		double n = (double)f->steps * (f->batch > 0 ? f->batch : s->n);

		clips += n;
		flops += n * f->cell->flops;
		input += n * (3.0 * s->t * s->side * s->side);
		seconds += n * (f->cell->step[STEP_MEDIAN] / s->n);
	}
	bench_value(p->b, flops / clips, "FLOP", "of a clip, forward",
	    "guidelines/%s/flops", net);
	bench_value(p->b, parameters, "parameters", NULL,
	    "guidelines/%s/parameters", net);
	bench_value(p->b, input / clips, "bytes", "of a clip, decoded RGB",
	    "guidelines/%s/input", net);
	bench_value(p->b, gradients, "bytes", "of a rank and step",
	    "guidelines/%s/gradients", net);
	bench_value(p->b, 1 / (seconds / clips), "clips/s",
	    "of one rank alone", "guidelines/%s/clips", net);
	buffer_printf(line, "%-16s %7.1f %8.2f %9.2f %9.1f %8.3g", net,
	    flops / clips / 1e9, parameters / 1e6, input / clips / 1e6,
	    gradients / 1e6, 1 / (seconds / clips));
}

/*
 * Write the seconds of a mean step that each cost alone takes to ${alone}[3].
 */
static void
guidelines_alone(const struct prediction *p, double *alone)
{
	const struct step_lists *s = &p->lists;
	double steps = 0;

	alone[0] = alone[1] = alone[2] = 0;
	for (size_t i = 0; i < p->phases; i++) {
		const struct prediction_phase *f = &p->phase[i];
		double weight = (double)f->steps, clips = f->batch > 0 ?
		    (double)f->batch / s->ranks : f->cell->shape.n;
		double rate = cluster_loader(&p->cluster, f->cell, s);

		steps += weight;
		alone[0] += weight * f->part[CLUSTER_COMPUTE];
		if (rate > 0)
			alone[1] += weight * clips / rate;
	}
	alone[0] /= steps;
	alone[1] /= steps;
	for (int k = 0; k < STEP_PARTS; k++)
		alone[2] += p->seconds[k] * (double)step_lists_times(s,
		    (enum step_part)k);
}

/* Print the rows of a network on one number of ranks; extend its line. */
static void
guidelines_print(struct prediction *p, void *line)
{
	double alone[3], efficiency = prediction_efficiency(p,
	    figure_median(&p->rate));
	int most = 0;

	guidelines_alone(p, alone);
	for (int k = 0; k < 3; k++)
		most = alone[k] > alone[most] ? k : most;
	for (int k = 0; k < 3; k++)
		bench_value(p->b, alone[k], "s", k == most ?
		    "the longest of the three" : NULL, "%s/%s", p->prefix,
		    bounds[k]);
	bench_row(p->b, &p->step, "s", "predicted", "%s/step", p->prefix);
	bench_value(p->b, efficiency, "share", NULL, "%s/efficiency",
	    p->prefix);
	buffer_printf(line, " %6.3f", efficiency);
}

/* Print all rows of a network, and its line of the table of comments. */
static int
guidelines_network(struct prediction *p)
{
	struct buffer line = { 0 };
	char prefix[100];
	int bad;

	snprintf(prefix, sizeof(prefix), "guidelines/%s", p->profile->net);
	guidelines_print_sizes(p, &line);
	bad = prediction_walk(p, prefix, p->o->name[0], guidelines_print,
	    &line);
	if (!bad)
		bench_remark(p->b, "%s", line.data);
	buffer_free(&line);
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

static void
guidelines_print_choice(struct prediction *p, void *arg)
{
	(void)arg;
	bench_row(p->b, &p->rate, "clips/s", NULL, "%s/clips", p->prefix);
	bench_value(p->b, prediction_efficiency(p, figure_median(&p->rate)),
	    "share", NULL, "%s/efficiency", p->prefix);
}

/* Print what ${choice} of ${from} changes in the first network. */
static int
guidelines_vary(const struct prediction *from, enum choice choice)
{
	struct prediction p;
	char prefix[200];
	int bad = prediction_open(&p, from->b, from->o,
	    from->o->profiles.item[0]);

	for (size_t i = 0; !bad && i < p.profile->cells; i++)
		guidelines_take(&p.profile->cell[i], &from->profile->cell[i],
		    choice);
	if (!bad && choice == CHOICE_GRADIENTS)
		guidelines_take_gradients(p.profile, from->profile);
	if (!bad) {
		snprintf(prefix, sizeof(prefix), "guidelines/%s/%s-of/%s",
		    p.profile->net, choices[choice], from->profile->net);
		bad = prediction_walk(&p, prefix, p.o->name[0],
		    guidelines_print_choice, NULL);
	}
	prediction_close(&p);
	return bad;
}

/* ---- the case ---- */

/* Open network ${i} of ${p}; it has as many shapes as the first. */
static int
guidelines_open(struct prediction *p, size_t i, struct bench *b,
    const struct predict_options *o)
{
	if (prediction_open(&p[i], b, o, o->profiles.item[i]) != 0)
		return -1;
	if (p[i].profile->cells != p->profile->cells)
		return fail("%s: %zu shapes, %s: %zu (wanted the same "
		    "number)", p->profile->path, p->profile->cells,
		    p[i].profile->path, p[i].profile->cells);
	return 0;
}

/* Print the head of the table of comments. */
static void
guidelines_begin(const struct prediction *p)
{
	struct buffer line = { 0 };

	buffer_printf(&line, "%-16s %7s %8s %9s %9s %8s", "network", "GFLOP",
	    "M param", "input MB", "gradt MB", "clips/s");
	for (int i = 0; i < p->counts; i++)
		buffer_printf(&line, " %6d", p->ranks[i]);
	bench_remark(p->b, "The last columns are the efficiency at so many "
	    "ranks, relative to %d.", (int)p->o->base);
	bench_remark(p->b, "%s", line.data);
	buffer_free(&line);
}

int
bench_guidelines(struct bench *b, const struct predict_options *o)
{
	size_t n = o->profiles.n;
	struct prediction *p = xcalloc(n, sizeof(*p));
	int bad = 0;

	/* Read all, so that a wrong one is found before the first row. */
	for (size_t i = 0; i < n && !bad; i++)
		bad = guidelines_open(p, i, b, o);
	if (!bad)
		guidelines_begin(p);
	for (size_t i = 0; i < n && !bad; i++)
		bad = guidelines_network(&p[i]);
	for (size_t i = 1; i < n && !bad; i++)
		for (int k = 0; k < CHOICES && !bad; k++)
			bad = guidelines_vary(&p[i], (enum choice)k);
	for (size_t i = 0; i < n; i++)
		prediction_close(&p[i]);
	free(p);
	return bad ? EXIT_USAGE : 0;
}
