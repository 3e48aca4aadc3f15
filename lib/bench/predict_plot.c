/* Draw predicted efficiency and time over ranks. */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/predict.h"
#include "draw/plot.h"

/* Return a series of ${n} points of ${curve}; ${unit} is that of times, 0 for
 * efficiencies. */
static struct plot_series
predict_plot_series(const char *name, int style, const double *x, int n,
    const struct predict_curve *curve, double unit, double *values)
{
	for (int i = 0; i < n; i++)
		for (int q = 0; q < 3; q++)
			values[q * n + i] = unit > 0 ? curve[i].time[q] / unit :
			    curve[i].efficiency[q];
	return (struct plot_series){ .name = name, .n = n, .x = x,
		.y = values + n, .low = values, .high = values + 2 * n,
		.style = style, .marks = 1 };
}

int
predict_plot(const struct predict_options *o, int spreads,
    const int *count, int n, const struct predict_curve *curve)
{
	size_t names = o->names;
	struct plot_series *series = xcalloc(2 * names, sizeof(*series));
	double *values = xcalloc(6 * names * (size_t)n, sizeof(*values));
	double *x = xcalloc((size_t)n, sizeof(*x));
	struct plot_panel panel[2] = {
		{ .y = { "efficiency", 0, 1, 0 }, .n = (int)names },
		{ .y = { "time of a step, s", 0, 0, 10 }, .n = (int)names } };
	struct plot p = { .title = "Predicted runs", .note = spreads ?
		"Median of 20 seeds; shaded: P10 to P90" : "Median of 20 "
		"seeds; no jitter and no skew of ranks is assumed", .w = 640,
		    .h = 560,
		.x = { "ranks", 0, 0, 2 }, .panel = panel, .panels = 2 };
	double least = curve[0].time[1], most = least, unit[2] = { 0, 1 };
	int bad;

	for (int i = 0; i < n; i++) {
		double t = curve[i].time[1];

		x[i] = count[i];
		least = t < least ? t : least;
		most = t > most ? t : most;
	}
	if (o->schedule != NULL) {
		unit[1] = most < 600 ? 1 : most < 2 * 3600 ? 60 : 3600;
		panel[1].y.label = unit[1] == 1 ? "time of the run, s" :
		    unit[1] == 60 ? "time of the run, min" :
		    "time of the run, h";
	}
	/* A logarithmic axis needs a decade for its labels. */
	if (most < 10 * least)
		panel[1].y.log = 0;
	for (int k = 0; k < 2; k++) {
		panel[k].series = series + (size_t)k * names;
		for (size_t i = 0; i < names; i++) {
			size_t at = (size_t)k * names + i;

			series[at] = predict_plot_series(o->name[i], (int)i, x,
			    n, &curve[i * (size_t)n], unit[k],
			    values + at * 3 * (size_t)n);
			if (!spreads)
				series[at].low = series[at].high = NULL;
		}
	}
	bad = plot_draw(&p, o->plot);
	free(series);
	free(values);
	free(x);
	return bad;
}
