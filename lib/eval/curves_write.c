/* Write curves of runs to a file, as a table or a picture. */
#include <math.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "draw/plot.h"
#include "eval/curves.h"

static int
curves_is_table(const char *path)
{
	return text_ends(path, ".tsv");
}

/*
 * Check that curves can be written to ${path}: a table if its name ends in
 * .tsv, otherwise a picture (draw/plot.h).  Return 0, or -1 after a message.
 */
static int
curves_ready(const char *path)
{
	return curves_is_table(path) ? 0 : plot_ready(path);
}

/* ---- a table ---- */

/*
 * Return the cells of a stage, such as "8x4x112,16x4x80".  The caller frees it.
 */
static char *
curves_cells_text(const struct stage *g)
{
	struct buffer b = { 0 };

	for (int i = 0; i < g->cells; i++)
		buffer_printf(&b, "%s%dx%dx%d", i > 0 ? "," : "",
		    g->cell[i].batch, g->cell[i].frames, g->cell[i].crop);
	return b.data;
}

/* Append a tab, and ${v} if it is finite. */
static void
curves_add_cell(struct buffer *b, double v)
{
	char text[32];

	buffer_printf(b, "\t%s", isfinite(v) ? text_real_write(text, v) : "");
}

/*
 * Return the stage of the steps that lead up to ${epoch}.  At a boundary
 * between stages, this is the earlier stage.
 */
static const struct stage *
curves_stage_until(const struct schedule *s, double epoch)
{
	return schedule_stage(s, (int)fmax(ceil(epoch) - 1, 0));
}

static void
curves_add_series(struct buffer *b, const struct curves_line *l, int of)
{
	static const char *const series[] = { "loss", "top1", "map",
		"val_loss" };
	const struct schedule *schedule = curves_schedule(l);
	char *name = table_escape(l->name);

	for (size_t k = 0; k < l->series[of].n; k++) {
		const struct curves_point *p = &l->series[of].at[k];
		char *cells = schedule == NULL ? xstrdup("") :
		    curves_cells_text(curves_stage_until(schedule, p->epoch));

		buffer_printf(b, "%s\t%s", name, series[of]);
		curves_add_cell(b, p->epoch);
		curves_add_cell(b, p->seconds);
		curves_add_cell(b, p->value);
		curves_add_cell(b, p->error);
		buffer_printf(b, "\t%zu\t%s\n", l->runs, cells);
		free(cells);
	}
	free(name);
}

/* The line "reached": where the runs of a curve reach the target. */
static void
curves_add_reach(struct buffer *b, const struct curves_line *l, int of,
    double target)
{
	struct curves_reach r = curves_reach(l, of, target);
	char *name = table_escape(l->name);

	buffer_printf(b, "%s\treached", name);
	curves_add_cell(b, r.runs > 0 ? r.epoch : NAN);
	curves_add_cell(b, r.runs > 0 ? r.seconds : NAN);
	curves_add_cell(b, target);
	buffer_printf(b, "\t\t%zu\t\n", r.runs);
	free(name);
}

static void
curves_add_batches(struct buffer *b, const struct curves_line *l, int of)
{
	size_t n;
	struct curves_batch *batch = curves_batches(l, of, &n);
	char *name = table_escape(l->name);

	for (size_t i = 0; i < n; i++) {
		buffer_printf(b, "%s\t%d", name, batch[i].batch);
		curves_add_cell(b, batch[i].lr);
		curves_add_cell(b, batch[i].steps);
		curves_add_cell(b, batch[i].seconds);
		buffer_printf(b, "\t%s", of == HISTORY_MAP ? "map" : "top1");
		curves_add_cell(b, batch[i].value);
		curves_add_cell(b, batch[i].error);
		buffer_printf(b, "\t%zu\n", batch[i].runs);
	}
	free(name);
	free(batch);
}

static void
curves_add_times(struct buffer *b, const struct curves *c)
{
	buffer_text(b, "#curve\tseries\tepoch\tseconds\tvalue\terror\truns\t"
	    "cells\n");
	for (size_t i = 0; i < c->n; i++)
		for (int of = 0; of < HISTORY_SERIES; of++)
			curves_add_series(b, &c->line[i], of);
	for (size_t i = 0; i < c->n && c->target > 0; i++)
		curves_add_reach(b, &c->line[i], curves_accuracy(c),
		    c->target);
}

static int
curves_write_table(const struct curves *c, const char *path)
{
	struct buffer b = { 0 };
	int bad;

	if (c->over == CURVES_TIME) {
		curves_add_times(&b, c);
	} else {
		buffer_text(&b, "#curve\tbatch\tlr\tsteps\tseconds\tseries\t"
		    "value\terror\truns\n");
		for (size_t i = 0; i < c->n; i++)
			curves_add_batches(&b, &c->line[i], curves_accuracy(c));
	}
	bad = commit_bytes(path, b.data, b.n);
	buffer_free(&b);
	return bad;
}

/*
 * Write the curves to ${path} as a table or a picture, and commit the file.
 * Return 0, or -1 after a message.
 */
static int
curves_write(const struct curves *c, const char *path)
{
	if (curves_is_table(path))
		return curves_write_table(c, path);
	return c->over == CURVES_BATCH ? curves_draw_batches(c, path) :
	    curves_draw(c, path);
}

int
curves_run(const struct option_list *files, const struct option_list *runs,
    int over, double target)
{
	struct curves c = { .over = over, .target = target };
	int status = 0;

	for (size_t i = 0; i < files->n && status == 0; i++)
		if (curves_ready(files->item[i]) != 0)
			status = EXIT_USAGE;
		else if (commit_possible(files->item[i]) != 0)
			status = EXIT_FAILED;
	if (status == 0)
		status = curves_read(&c, runs);
	for (size_t i = 0; i < files->n && status == 0; i++)
		if (curves_write(&c, files->item[i]) != 0)
			status = EXIT_FAILED;
	curves_free(&c);
	return status;
}
