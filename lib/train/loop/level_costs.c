/* Measure frames of a set at its levels, for the plan of a run. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "clip/cover.h"
#include "train/loop/level_costs.h"
#include "train/loop/work.h"

enum { SAMPLES = 64, FRAMES = 4, RUNS = 3 };

/* The cost of a frame at one level. */
struct level_cost { double bytes, seconds; };

/* The set to measure by ${f}, and the file to print to. */
struct level_costs {
	const struct trainer *t;
	struct filler *f;
	struct level_list list;
	FILE *to;
};

/* Read FRAMES frames of sample ${i}, spread over it, with the crop of clip
 * ${clip} at ${side} pixels.  Return 0, or an exit status after a message. */
static int
level_costs_clip(const struct level_costs *c, uint32_t i, uint64_t clip,
    int side, int level, struct clip_out *out)
{
	const struct trainer *t = c->t;
	struct frame_source s = frame_source_sample(t->train, i, 0);
	int frame[FRAMES], status;
	struct clip_request r = { .t = FRAMES, .side = side, .frame = frame,
		.level = level, .crop = crop_train(&t->loading.crop, s.width,
		s.height, side, rng_clip(t->loading.seed, clip)) };

	for (int k = 0; k < FRAMES; k++)
		frame[k] = (int)((int64_t)s.frames * k / FRAMES);
	if ((status = clip_fill(c->f, &s, &r, out)) == 0)
		return 0;
	fail("%s", filler_error(c->f));
	return exit_of(status);
}

/* Set ${*cost} to the mean over frames of SAMPLES samples.  The time is that of
 * the fastest of RUNS passes over them. */
static int
level_costs_measure(const struct level_costs *c, int side, int level,
    struct level_cost *cost)
{
	uint64_t samples = dataset_samples(c->t->train);
	uint64_t n = samples < SAMPLES ? samples : SAMPLES;
	uint8_t *pixels = xcalloc(3 * FRAMES, (size_t)side * (size_t)side);
	int status = 0;

	*cost = (struct level_cost){ 0 };
	for (int run = 0; run < RUNS && status == 0; run++) {
		struct clip_out out = { .bytes = pixels };
		double seconds, frames;

		for (uint64_t i = 0; i < n && status == 0; i++)
			status = level_costs_clip(c, (uint32_t)(i * samples /
			    n), i, side, level, &out);
		frames = (double)out.cost.frames;
		seconds = (out.cost.read + out.cost.decode + out.cost.resize) /
		    frames;
		if (run == 0 || seconds < cost->seconds)
			cost->seconds = seconds;
		cost->bytes = (double)out.cost.bytes / frames;
	}
	free(pixels);
	return status;
}

static double
level_costs_frames(const struct dataset *d)
{
	double frames = 0;

	for (uint32_t i = 0; i < dataset_samples(d); i++)
		frames += dataset_sample(d, i).frames;
	return frames;
}

static int
level_costs_print_bytes(const struct level_costs *c)
{
	double frames = level_costs_frames(c->t->train), first = 0;
	int side = c->t->schedule->stage[0].cell[0].crop, status;

	for (int i = 0; i < c->list.n; i++) {
		struct level_cost of;
		char label[32], a[32], b[32];

		if ((status = level_costs_measure(c, side, i, &of)) != 0)
			return status;
		if (i == 0) {
			first = of.bytes;
			continue;
		}
		snprintf(label, sizeof(label), "# level s%d",
		    c->list.level[i].side);
		fprintf(c->to, "%-22s adds about %s to %s (%.0f %%)\n", label,
		    text_bytes(a, frames * of.bytes),
		    text_bytes(b, frames * first), 100 * of.bytes / first);
	}
	return 0;
}

/* Return the frames of all steps with crops of ${side} pixels. */
static double
level_costs_loaded(const struct planned_cells *c, int side)
{
	double frames = 0;

	for (const struct planned_cell *r = c->row; r < c->row + c->n; r++)
		if (r->cell->crop == side)
			frames += (double)r->steps * r->cell->batch *
			    r->cell->frames;
	return frames;
}

/* Print the row of crops of ${side} pixels, and add their loading times at the
 * largest level and at the chosen one to ${sum}. */
static int
level_costs_print_crop(const struct level_costs *c, int side, double frames,
    double sum[2])
{
	int level = cover_train(&c->list, &c->t->loading.crop, side);
	struct level_cost largest, of;
	char label[32];
	int status;

	status = level_costs_measure(c, side, 0, &largest);
	of = largest;
	if (status == 0 && level > 0)
		status = level_costs_measure(c, side, level, &of);
	if (status != 0)
		return status;
	sum[0] += frames * largest.seconds;
	sum[1] += frames * of.seconds;
	snprintf(label, sizeof(label), "# crop %d", side);
	if (level == 0)
		fprintf(c->to, "%-22s the largest level, %.0f us a frame\n",
		    label, 1e6 * of.seconds);
	else
		fprintf(c->to, "%-22s level s%d, %.0f us a frame (%.0f us from "
		    "the largest)\n", label, c->list.level[level].side,
		    1e6 * of.seconds, 1e6 * largest.seconds);
	return 0;
}

static int
level_costs_print_times(const struct level_costs *c)
{
	const struct planned_cells *cells = &c->t->work->cells;
	double sum[2] = { 0 };
	int status = 0, last = SCHEDULE_CROP + 1;
	char a[32], b[32];

	/* Each crop size once, from the largest to the smallest. */
	while (status == 0) {
		int side = 0;

		for (int i = 0; i < cells->n; i++) {
			int crop = cells->row[i].cell->crop;

			if (crop < last && crop > side)
				side = crop;
		}
		if (side == 0)
			break;
		status = level_costs_print_crop(c, side,
		    level_costs_loaded(cells, side), sum);
		last = side;
	}
	if (status != 0)
		return status;
	clock_text(a, sum[0] - sum[1]);
	clock_text(b, sum[0]);
	fprintf(c->to, "%-22s about %s of %s of loading on one core (%.0f "
	    "%%)\n", "# levels save", a, b,
	    sum[0] > 0 ? 100 * (1 - sum[1] / sum[0]) : 0);
	return 0;
}

int
level_costs_print(const struct trainer *t, FILE *to)
{
	struct level_costs c = { .t = t, .list = dataset_levels(t->train),
		.to = to };
	int status;

	if (c.list.n < 2 || dataset_samples(t->train) == 0)
		return 0;
	c.f = filler_new(NULL);
	status = level_costs_print_bytes(&c);
	if (status == 0)
		status = level_costs_print_times(&c);
	filler_free(c.f);
	return status;
}
