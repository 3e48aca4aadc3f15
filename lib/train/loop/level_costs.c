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

/* Read FRAMES frames of sample ${i}, spread over it, with the crop of clip
 * ${clip} at ${side} pixels.  Return 0, or an exit status after a message. */
static int
level_costs_clip(const struct trainer *t, struct filler *f, uint32_t i,
    uint64_t clip, int side, int level, struct clip_out *out)
{
	struct frame_source s = frame_source_sample(t->train, i, 0);
	int frame[FRAMES], status;
	struct clip_request r = { .t = FRAMES, .side = side, .frame = frame,
		.level = level, .crop = crop_train(&t->loading.crop, s.width,
		s.height, side, rng_clip(t->loading.seed, clip)) };

	for (int k = 0; k < FRAMES; k++)
		frame[k] = (int)((int64_t)s.frames * k / FRAMES);
	if ((status = clip_fill(f, &s, &r, out)) == 0)
		return 0;
	fail("%s", filler_error(f));
	return status == -2 ? EXIT_DAMAGE : EXIT_FAILED;
}

/* Set ${c} to the mean over frames of SAMPLES samples.  The time is that of the
 * fastest of RUNS passes over them. */
static int
level_costs_measure(const struct trainer *t, struct filler *f, int side,
    int level, struct level_cost *c)
{
	uint64_t samples = dataset_samples(t->train);
	uint64_t n = samples < SAMPLES ? samples : SAMPLES;
	uint8_t *pixels = xcalloc(3 * FRAMES, (size_t)side * (size_t)side);
	int status = 0;

	*c = (struct level_cost){ 0 };
	for (int run = 0; run < RUNS && status == 0; run++) {
		struct clip_out out = { .bytes = pixels };
		double seconds, frames;

		for (uint64_t i = 0; i < n && status == 0; i++)
			status = level_costs_clip(t, f, (uint32_t)(i * samples /
			    n), i, side, level, &out);
		frames = (double)out.cost.frames;
		seconds = (out.cost.read + out.cost.decode + out.cost.resize) /
		    frames;
		if (run == 0 || seconds < c->seconds)
			c->seconds = seconds;
		c->bytes = (double)out.cost.bytes / frames;
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
level_costs_print_bytes(const struct trainer *t, struct filler *f,
    const struct level_list *l, FILE *to)
{
	double frames = level_costs_frames(t->train), first = 0;
	int side = t->schedule->stage[0].cell[0].crop, status;

	for (int i = 0; i < l->n; i++) {
		struct level_cost c;
		char label[32], a[32], b[32];

		if ((status = level_costs_measure(t, f, side, i, &c)) != 0)
			return status;
		if (i == 0) {
			first = c.bytes;
			continue;
		}
		snprintf(label, sizeof(label), "# level s%d", l->level[i].side);
		fprintf(to, "%-22s adds about %s to %s (%.0f %%)\n", label,
		    text_bytes(a, frames * c.bytes),
		    text_bytes(b, frames * first), 100 * c.bytes / first);
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
level_costs_print_crop(const struct trainer *t, struct filler *f,
    const struct level_list *l, int side, double frames, double sum[2],
    FILE *to)
{
	int level = cover_train(l, &t->loading.crop, side);
	struct level_cost largest, c;
	char label[32];
	int status;

	status = level_costs_measure(t, f, side, 0, &largest);
	c = largest;
	if (status == 0 && level > 0)
		status = level_costs_measure(t, f, side, level, &c);
	if (status != 0)
		return status;
	sum[0] += frames * largest.seconds;
	sum[1] += frames * c.seconds;
	snprintf(label, sizeof(label), "# crop %d", side);
	if (level == 0)
		fprintf(to, "%-22s the largest level, %.0f us a frame\n", label,
		    1e6 * c.seconds);
	else
		fprintf(to, "%-22s level s%d, %.0f us a frame (%.0f us from "
		    "the largest)\n", label, l->level[level].side,
		    1e6 * c.seconds, 1e6 * largest.seconds);
	return 0;
}

static int
level_costs_print_times(const struct trainer *t, struct filler *f,
    const struct level_list *l, FILE *to)
{
	const struct planned_cells *c = &t->work->cells;
	double sum[2] = { 0 };
	int status = 0, last = SCHEDULE_CROP + 1;
	char a[32], b[32];

	/* Each crop size once, from the largest to the smallest. */
	while (status == 0) {
		int side = 0;

		for (int i = 0; i < c->n; i++) {
			int crop = c->row[i].cell->crop;

			if (crop < last && crop > side)
				side = crop;
		}
		if (side == 0)
			break;
		status = level_costs_print_crop(t, f, l, side,
		    level_costs_loaded(c, side), sum, to);
		last = side;
	}
	if (status != 0)
		return status;
	clock_text(a, sum[0] - sum[1]);
	clock_text(b, sum[0]);
	fprintf(to, "%-22s about %s of %s of loading on one core (%.0f %%)\n",
	    "# levels save", a, b, sum[0] > 0 ? 100 * (1 - sum[1] / sum[0]) :
	    0);
	return 0;
}

int
level_costs_print(const struct trainer *t, FILE *to)
{
	struct level_list l = dataset_levels(t->train);
	struct filler *f;
	int status;

	if (l.n < 2 || dataset_samples(t->train) == 0)
		return 0;
	f = filler_new(NULL);
	status = level_costs_print_bytes(t, f, &l, to);
	if (status == 0)
		status = level_costs_print_times(t, f, &l, to);
	filler_free(f);
	return status;
}
