/* Draw predicted efficiency and time over ranks. */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/predict.h"
#include "draw/plot.h"

/* Return a series of ${n} points of ${curve}; ${time} selects the panel. */
static struct plot_series
predict_plot_series(const char *name, int style, const double *x, int n,
    const struct predict_curve *curve, int time, double *values)
{
	for (int i = 0; i < n; i++)
		for (int q = 0; q < 3; q++)
			values[q * n + i] = time ? curve[i].time[q] :
			    curve[i].efficiency[q];
	return (struct plot_series){ .name = name, .n = n, .x = x,
		.y = values + n, .low = values, .high = values + 2 * n,
		.style = style, .marks = 1 };
}

int
predict_plot(const struct predict_options *o, const char *const *name,
    size_t names, const int *count, int n, const struct predict_curve *curve)
{
	struct plot_series *series = xcalloc(2 * names, sizeof(*series));
	double *values = xcalloc(6 * names * (size_t)n, sizeof(*values));
	double *x = xcalloc((size_t)n, sizeof(*x));
	struct plot_panel panel[2] = {
		{ .y = { "efficiency", 0, 1, 0 }, .n = (int)names },
		{ .y = { o->schedule != NULL ? "time of the run, s" :
		    "time of a step, s", 0, 0, 10 }, .n = (int)names } };
	struct plot p = { .title = "Predicted runs", .note = "Median of 20 "
		"seeds; shaded: P10 to P90", .w = 640, .h = 560,
		.x = { "ranks", 0, 0, 2 }, .panel = panel, .panels = 2 };
	double least = curve[0].time[1], most = least;
	int bad;

	for (int i = 0; i < n; i++) {
		double t = curve[i].time[1];

		x[i] = count[i];
		least = t < least ? t : least;
		most = t > most ? t : most;
	}
	/* A logarithmic axis needs a decade for its labels. */
	if (most < 10 * least)
		panel[1].y.log = 0;
	for (int k = 0; k < 2; k++) {
		panel[k].series = series + (size_t)k * names;
		for (size_t i = 0; i < names; i++)
			series[(size_t)k * names + i] = predict_plot_series(
			    name[i], (int)i, x, n, &curve[i * (size_t)n], k,
			    values + ((size_t)k * names + i) * 3 * (size_t)n);
	}
	bad = plot_draw(&p, o->plot);
	free(series);
	free(values);
	free(x);
	return bad;
}
