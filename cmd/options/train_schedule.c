/* Make the schedule of a run from its recipe and its data. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "rule.h"
#include "train_schedule.h"

/*
 * The rule, for what neither recipe nor user gives.  It is for a few hundred to
 * a few thousand videos on one machine.  Published recipes give all numbers.
 *
 *	frames	8, or fewer if half of the videos have fewer
 *	crop	7/8 of the median short side, in steps of 16, from 32 to 112
 *	batch	8 clips, or the largest power of two below the samples
 *	epochs	as many as show 10,000 clips, or 120 of each class if that is
 *		more, from 12 to 100
 *
 * A warm-up takes a quarter of the epochs at most.
 */
enum { FRAMES = 8, CROP_STEP = 16, CROP_MIN = 32, CROP_MAX = 112, BATCH = 8,
	CLIPS = 10000, CLASS_CLIPS = 120, EPOCHS_MIN = 12, EPOCHS_MAX = 100 };

/* The numbers of the recipe.  Those that are 0 follow from the rule. */
static struct rule rule = RULE_SETTINGS;
static const struct option_row rows[] = { OPTION_RULE(rule), OPTION_END };

static int
train_schedule_by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Set ${*frames} and ${*side} to the medians of the samples. */
static void
train_schedule_measure(const struct dataset *d, int *frames, int *side)
{
	uint32_t n = dataset_samples(d);
	int *value = xcalloc(2 * (size_t)n, sizeof(*value));

	for (uint32_t i = 0; i < n; i++) {
		struct sample m = dataset_sample(d, i);

		value[i] = m.frames;
		value[n + i] = m.width < m.height ? m.width : m.height;
	}
	qsort(value, n, sizeof(*value), train_schedule_by_value);
	qsort(value + n, n, sizeof(*value), train_schedule_by_value);
	*frames = value[n / 2];
	*side = value[n + n / 2];
	free(value);
}

/* Set the numbers that are 0. */
static void
train_schedule_apply(const struct dataset *d, struct rule *r)
{
	uint32_t n = dataset_samples(d);
	int64_t classes = dataset_classes(d), clips;
	int frames, side;

	train_schedule_measure(d, &frames, &side);
	if (r->frames == 0)
		r->frames = frames < FRAMES ? frames : FRAMES;
	if (r->crop == 0) {
		r->crop = side * 7 / 8 / CROP_STEP * CROP_STEP;
		r->crop = r->crop < CROP_MIN ? CROP_MIN :
		    r->crop > CROP_MAX ? CROP_MAX : r->crop;
	}
	for (int b = BATCH; r->batch == 0; b /= 2)
		r->batch = b < (int64_t)n || b == 1 ? b : 0;
	if (r->epochs == 0) {
		clips = CLASS_CLIPS * classes > CLIPS ? CLASS_CLIPS * classes :
		    CLIPS;
		r->epochs = (clips + n - 1) / n;
		r->epochs = r->epochs < EPOCHS_MIN ? EPOCHS_MIN :
		    r->epochs > EPOCHS_MAX ? EPOCHS_MAX : r->epochs;
	}
}

char *
train_schedule_text(const struct dataset *d, const void *how, int says)
{
	const struct train_schedule *given = how;
	struct rule r;
	struct schedule *s;
	char *text;

	rule = (struct rule)RULE_SETTINGS;
	rule.frames = rule.crop = rule.batch = rule.epochs = 0;
	options_recipe_of("schedule", rows);
	r = rule;
	r.frames = given->frames > 0 ? given->frames : r.frames;
	r.crop = given->crop > 0 ? given->crop : r.crop;
	r.batch = given->batch > 0 ? given->batch : r.batch;
	r.epochs = given->epochs > 0 ? given->epochs : r.epochs;
	r.lr = given->lr > 0 ? given->lr : r.lr;
	train_schedule_apply(d, &r);
	if (r.warmup_epochs > r.epochs / 4.0)
		r.warmup_epochs = r.epochs / 4.0;
	if ((s = rule_schedule(&r)) == NULL)
		return NULL;
	if (says)
		note("the schedule: vt-schedule --recipe=%s --batch=%d --frames=%d "
		    "--crop=%d --lr=%g --epochs=%d --warmup-epochs=%g",
		    options_recipe_name(), (int)r.batch, (int)r.frames,
		    (int)r.crop, r.lr, (int)r.epochs, r.warmup_epochs);
	text = schedule_text(s);
	schedule_free(s);
	return text;
}
