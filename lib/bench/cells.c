/*
 * Measure steps on the microbatch shapes of a schedule, alternating in one
 * process, and compare their cost with their multiply-adds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "bench/profile.h"

/* A distinct microbatch shape of the schedule. */
struct bench_cells_shaped {
	struct bench_shape shape;
	double macs;			/* forward, per clip */
	struct figure seconds, cost;
};

struct bench_cells_job {
	struct bench *b;
	const struct bench_inputs *o;
	struct fixture fixture;
	struct bench_cells_shaped *cell;
	size_t n, cap;
	size_t full;			/* index of the cell with the most work
					 * per clip */
};

static void
bench_cells_add_cell(struct bench_cells_job *j, const struct cell *c)
{
	struct bench_shape s = { c->group, c->frames, c->crop };
	struct dims *input;

	for (size_t i = 0; i < j->n; i++)
		if (j->cell[i].shape.n == s.n && j->cell[i].shape.t == s.t &&
		    j->cell[i].shape.side == s.side)
			return;
	j->cell = array_reserve(j->cell, j->n, &j->cap, sizeof(*j->cell));
	input = graph_inputs(j->o->graph, s.n, s.t, s.side);
	j->cell[j->n] = (struct bench_cells_shaped){ .shape = s,
		.macs = graph_macs(j->o->graph, input) / s.n };
	free(input);
	if (j->cell[j->n].macs > j->cell[j->full].macs)
		j->full = j->n;
	j->n++;
}

/* Run a step on cell ${i}.  Return its seconds, or -1 after a message. */
static double
bench_cells_step(struct bench_cells_job *j, size_t i)
{
	char name[160], text[40];
	double seconds[2];

	snprintf(name, sizeof(name), "step/%s/%s", j->o->graph->name,
	    shape_text(&j->cell[i].shape, text));
	return fixture_shape(&j->fixture, &j->cell[i].shape) != 0 ||
	    profile_step(j->b, &j->fixture, name, seconds) != 0 ? -1 :
	    seconds[0] + seconds[1];
}

/* Return the seconds per clip and multiply-add. */
static double
bench_cells_nominal(const struct bench_cells_shaped *c, double seconds)
{
	return seconds / c->shape.n / c->macs;
}

static int
bench_cells_run(void *arg, int counts)
{
	struct bench_cells_job *j = arg;
	double *seconds = xcalloc(j->n, sizeof(*seconds));
	int status = 0;

	/*
	 * Visit all cells in each run, so that other load on the machine
	 * affects them equally.
	 */
	for (size_t i = 0; i < j->n && status == 0; i++)
		if ((seconds[i] = bench_cells_step(j, i)) < 0)
			status = EXIT_FAILED;
	for (size_t i = 0; i < j->n && status == 0 && counts; i++) {
		figure_add(&j->cell[i].seconds, seconds[i]);
		figure_add(&j->cell[i].cost, bench_cells_nominal(&j->cell[i],
		    seconds[i]) / bench_cells_nominal(&j->cell[j->full],
		    seconds[j->full]));
	}
	free(seconds);
	return status;
}

static void
bench_cells_print(struct bench_cells_job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct bench_cells_shaped *c = &j->cell[i];
		char prefix[160], text[40], note[80];

		snprintf(prefix, sizeof(prefix), "step/%s/%s",
		    j->o->graph->name, shape_text(&c->shape, text));
		snprintf(note, sizeof(note), "%.4g GMACs a clip",
		    c->macs / 1e9);
		bench_row(j->b, &c->seconds, "s", note, "%s/step", prefix);
		bench_rate(j->b, &c->seconds, c->shape.n, "clips/s", NULL,
		    "%s/clips", prefix);
		bench_row(j->b, &c->cost, "times",
		    i == j->full ? "this is the full cell" : NULL,
		    "%s/cost", prefix);
	}
}

int
bench_cells(struct bench *b, const struct bench_inputs *o)
{
	struct bench_cells_job j = { .b = b, .o = o };
	int status, wrong = b->wrong;

	for (const struct cell *c = NULL;
	    (c = schedule_cell(o->schedule, c)) != NULL;)
		bench_cells_add_cell(&j, c);
	status = fixture_open(&j.fixture, o->graph, o->device,
	    &j.cell[j.full].shape) != 0 ||
	    fixture_open_optim(&j.fixture) != 0 ? EXIT_FAILED :
	    bench_repeat(b, bench_cells_run, &j);
	if (status == 0)
		bench_cells_print(&j);
	for (size_t i = 0; i < j.n; i++) {
		figure_free(&j.cell[i].seconds);
		figure_free(&j.cell[i].cost);
	}
	free(j.cell);
	fixture_close(&j.fixture);
	return b->wrong > wrong ? 0 : status;
}
