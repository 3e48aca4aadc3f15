/* Draw a schedule: shapes, batches and learning rate over the epochs. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/plot.h"
#include "sched/curve.h"
#include "sched/summary.h"

#include "schedule_draw.h"

/* Return a one-line summary of ${s}, which the caller frees. */
static char *
schedule_draw_note_of(const struct schedule *s)
{
	const struct cell *large = schedule_largest(s, &cost_input);
	double work = schedule_work(s), epochs = schedule_epochs(s);
	const char *plural = s->stages == 1 ? "" : "s";

	if (epochs / work < 1.005)
		return xprintf("%d stage%s at %dx%dx%d", s->stages, plural,
		    large->batch, large->frames, large->crop);
	return xprintf("%d stage%s, the work of %.3g epochs at %dx%dx%d, "
	    "%.3g %% of all at that shape", s->stages, plural, work,
	    large->batch, large->frames, large->crop, 100 * work / epochs);
}

int
schedule_draw(const struct schedule *s, const char *path)
{
	static const char *const turn[SCHEDULE_CYCLE] =
		{ "1st step of the cycle", "2nd", "3rd", "4th", "5th", "6th",
			"7th", "8th" };
	enum { PANELS = 4, LR = 3 };
	/* Crops and frames have linear axes from 0, batches a log axis of base
	 * 2, and learning rates one of base 10. */
	struct plot_panel panel[PANELS] = {
		{ .y = { "Crop, pixels", 0, 0, 0 } },
		{ .y = { "Frames", 0, 0, 0 } },
		{ .y = { "Batch, clips", 0, 0, 2 } },
		{ .y = { "Learning rate", 0, 0, 10 } } };
	struct plot_series series[PANELS][SCHEDULE_CYCLE];
	struct curve curve[PANELS][SCHEDULE_CYCLE] = { 0 };
	double *boundary = xcalloc((size_t)s->stages, sizeof(*boundary));
	int epochs = schedule_epochs(s);
	char *note = schedule_draw_note_of(s);
	char *title = xprintf("A schedule of %d epoch%s", epochs,
	    epochs == 1 ? "" : "s");
	int bad;

	for (int i = 0; i < PANELS; i++) {
		struct plot_panel *p = &panel[i];
		double least = INFINITY;

		p->series = series[i];
		p->n = i == LR ? 1 : curve_count(s, (enum curve_of)i);
		for (int k = 0; k < p->n; k++) {
			struct curve *c = &curve[i][k];

			*c = i == LR ? curve_lr(s) :
			    curve_cell(s, (enum curve_of)i, k);
			series[i][k] = (struct plot_series){ .name = p->n > 1 ?
			    turn[k] : NULL, .n = (int)c->n, .x = c->x,
			    .y = c->y, .style = k };
			for (size_t m = 0; m < c->n; m++)
				least = fmin(least, c->y[m]);
			if (p->y.log == 0)
				p->y.max = fmax(p->y.max, 1.1 * curve_max(c));
		}
		/* The axis of a constant has its tick only. */
		if (p->y.max <= 1.1 * least)
			p->y.max = 0;
	}
	for (int i = 0; i < s->stages; i++)
		boundary[i] = s->stage[i].epoch_begin;
	bad = plot_draw(&(struct plot){ .title = title, .note = note, .w = 900,
	    .h = 720, .x = { "epoch", 0, epochs, 0 }, .rule = boundary,
	    .rules = s->stages, .panel = panel, .panels = PANELS }, 1, path);
	for (int i = 0; i < PANELS; i++)
		for (int k = 0; k < panel[i].n; k++)
			curve_free(&curve[i][k]);
	free(boundary);
	free(title);
	free(note);
	return bad;
}
