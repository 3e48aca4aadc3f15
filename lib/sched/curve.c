/* Curves of a schedule over its epochs, for plots. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sched/curve.h"

static void
curve_add_point(struct curve *c, double x, double y)
{
	c->x = array_reserve(c->x, c->n, &c->x_cap, sizeof(*c->x));
	c->y = array_reserve(c->y, c->n, &c->y_cap, sizeof(*c->y));
	c->x[c->n] = x;
	c->y[c->n++] = y;
}

static int
curve_number(const struct cell *c, enum curve_of what)
{
	return what == CURVE_CROP ? c->crop : what == CURVE_FRAMES ? c->frames :
	    c->batch;
}

int
curve_count(const struct schedule *s, enum curve_of what)
{
	int largest = 1, differ = 0;

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];

		largest = g->cells > largest ? g->cells : largest;
		for (int k = 1; k < g->cells; k++)
			differ |= curve_number(&g->cell[k], what) !=
			    curve_number(&g->cell[0], what);
	}
	return differ ? largest : 1;
}

struct curve
curve_cell(const struct schedule *s, enum curve_of what, int turn)
{
	struct curve c = { 0 };

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double y = turn < g->cells ? curve_number(&g->cell[turn],
		    what) : NAN;

		/* A stage is a horizontal line. */
		curve_add_point(&c, g->epoch_begin, y);
		curve_add_point(&c, g->epoch_end, y);
	}
	return c;
}

struct curve
curve_lr(const struct schedule *s)
{
	struct curve c = { 0 };

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double first = g->epoch_begin;

		for (int k = 0; k < g->pieces; k++) {
			const struct lr_piece *p = &g->lr[k];
			double last = fmin(p->until, g->epoch_end);
			int parts = p->kind == LR_FLAT ? 1 : 100;

			for (int j = 0; j <= parts; j++) {
				double x = first + j * (last - first) / parts;

				curve_add_point(&c, x, lr_at(p, 1, x));
			}
			first = last;
		}
	}
	return c;
}

double
curve_max(const struct curve *c)
{
	double largest = 0;

	for (size_t i = 0; i < c->n; i++)
		largest = c->y[i] > largest ? c->y[i] : largest;
	return largest;
}

void
curve_free(struct curve *c)
{
	free(c->x);
	free(c->y);
	*c = (struct curve){ 0 };
}
