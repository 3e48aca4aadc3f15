/*
 * Benchmark the loader at full speed, and libjpeg-turbo alone on the frames of
 * its first steps, with the same number of threads.
 *
 * Each run measures both, so that other load on the machine affects both.  The
 * loader is idle while libjpeg-turbo runs, because all its microbatches are
 * full then.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/cases.h"
#include "bench/stored.h"
#include "data/microbatches.h"
#include "data/loader.h"

/*
 * Minimum number of frames per run.  Microbatches arrive in bursts, because a
 * waiting trainer sleeps; with fewer frames the rate would be that of a burst.
 */
#define FRAMES 1024
#define AHEAD 8				/* microbatches that are full when it is
					 * idle */
#define CHECKED 2			/* steps whose pixels are compared */

struct bench_loader_job {
	const struct dataset *data;
	struct schedule *schedule;
	const char *name;		/* in row names */
	struct pool *pool;		/* for libjpeg-turbo; size of the
					 * loader's */
	const struct loader_options *made;	/* how clips are made */
	struct loader *loader;
	uint64_t steps;			/* per run */
	struct stored stored;		/* frames of one run; empty if not
					 * JPEG */
	struct figure frames, clips;	/* per second */
	struct figure read, decode, resize;	/* us per frame on one thread */
	struct figure alone[2];		/* frames per second: crops, whole
					 * frames */
};

/*
 * Return loader options with memory for AHEAD microbatches of the largest size.
 */
static struct loader_options
bench_loader_options(const struct bench_loader_job *j, int threads)
{
	struct loader_options o = *j->made;
	struct microbatches *l;

	o.seed = 1;
	o.threads = threads;
	o.ranks = 1;
	l = microbatches_of_steps(j->data, j->schedule, 0, &o);

	o.memory = AHEAD * microbatches_max(l).bytes;
	microbatches_free(l);
	return o;
}

static int
bench_loader_status(int got)
{
	return got == 0 ? EXIT_FAILED : exit_of(got);
}

/* ---- a run ---- */

/*
 * Take at least ${steps} whole steps and ${microbatches} microbatches.  Add up
 * their clips and frames.
 */
static int
bench_loader_take(struct bench_loader_job *j, uint64_t steps, int microbatches,
    double *clips, double *frames)
{
	*clips = *frames = 0;
	for (;;) {
		struct microbatch *mb;
		int got, end;

		if ((got = loader_next(j->loader, &mb)) != 1)
			return bench_loader_status(got);
		*clips += mb->n;
		*frames += (double)mb->n * mb->stream->t;
		end = mb->index == mb->microbatches - 1;
		steps -= end && steps > 0;
		microbatches -= microbatches > 0;
		loader_return(j->loader, mb);
		if (end && steps == 0 && microbatches == 0)
			return 0;
	}
}

/* Wait, at most about 1 s, until the loader has nothing left to do. */
static void
bench_loader_close_idle(struct bench_loader_job *j)
{
	for (int i = 0; i < 1000; i++) {
		if (loader_stats(j->loader).ready >= AHEAD)
			return;
		clock_sleep(1e-3);
	}
}

static int
bench_loader_run_once(struct bench_loader_job *j, int counts)
{
	struct loader_stats was, is;
	double start, seconds, clips, frames, us;
	/*
	 * Before timing, take the AHEAD microbatches that were loaded in
	 * advance.
	 */
	int status = bench_loader_take(j, 0, AHEAD, &clips, &frames);

	if (status != 0)
		return status;
	was = loader_stats(j->loader);
	start = clock_seconds();
	status = bench_loader_take(j, j->steps, 0, &clips, &frames);
	seconds = clock_seconds() - start;
	is = loader_stats(j->loader);
	if (status != 0 || !counts)
		return status;
	us = 1e6 / (double)(is.frames > was.frames ? is.frames - was.frames :
	    1);
	figure_add(&j->frames, frames / seconds);
	figure_add(&j->clips, clips / seconds);
	figure_add(&j->read, (is.read - was.read) * us);
	figure_add(&j->decode, (is.decode - was.decode) * us);
	figure_add(&j->resize, (is.resize - was.resize) * us);
	return 0;
}

static int
bench_loader_run(void *arg, int counts)
{
	struct bench_loader_job *j = arg;
	int status = bench_loader_run_once(j, counts);

	if (status != 0 || j->stored.n == 0)
		return status;
	bench_loader_close_idle(j);
	for (int whole = 0; whole < 2; whole++) {
		double start = clock_seconds();

		if (stored_decode(&j->stored, whole) != 0)
			return EXIT_DAMAGE;
		if (counts)
			figure_add(&j->alone[whole], (double)j->stored.n /
			    (clock_seconds() - start));
	}
	return 0;
}

/* ---- frames for libjpeg-turbo ---- */

static int
bench_loader_stacks(const struct bench_loader_job *j)
{
	const struct input_spec *needs = j->made->needs;

	for (int i = 0; i < needs->streams; i++)
		if (stream_unit(needs->stream[i].name) != 0)
			return 1;
	return 0;
}

/* Collect the stored frames of a run, with their crops. */
static int
bench_loader_gather(struct bench_loader_job *j)
{
	struct loader_options o = bench_loader_options(j, 1);
	struct microbatches *l = microbatches_of_steps(j->data, j->schedule, 0,
	    &o);
	struct microbatch mb = { 0 };
	struct clip_request r = { 0 };
	struct microbatch_max largest = microbatches_max(l);
	int bad = 0;

	microbatches_open(l, &mb, largest.clips);
	r.frame = xcalloc((size_t)largest.t, sizeof(*r.frame));
	while (bad == 0 && microbatches_next(l, &mb) && mb.at.step < j->steps)
		for (int i = 0; i < mb.n && bad == 0; i++) {
			struct frame_source s = frame_source_sample(j->data,
			    mb.sample[i], 0);

			microbatches_choose(l, &mb, i, &s, &r);
			bad = stored_add(&j->stored, j->data, mb.sample[i], &r);
		}
	microbatches_free(l);
	microbatch_close(&mb);
	free(r.frame);
	return bad ? bench_loader_status(bad) : 0;
}

/* ---- checking ---- */

static int
bench_loader_same(const struct microbatch *x, const struct microbatch *y,
    int streams)
{
	size_t n = (size_t)x->n;
	int same = x->n == y->n &&
	    memcmp(x->clip, y->clip, n * sizeof(*x->clip)) == 0 &&
	    (x->target->label == NULL || memcmp(x->target->label,
	    y->target->label, n * sizeof(int)) == 0);

	for (int k = 0; k < streams && same; k++) {
		const struct stream *a = &x->stream[k], *b = &y->stream[k];

		same = a->t == b->t && a->h == b->h && a->w == b->w &&
		    memcmp(a->bytes, b->bytes, n * (size_t)a->t * (size_t)a->h *
		    (size_t)a->w * (size_t)a->c) == 0;
	}
	return same;
}

/* Check that several threads load the same microbatches as one thread. */
static int
bench_loader_compare(struct bench *b, struct bench_loader_job *j,
    struct loader *many, struct loader *one)
{
	struct microbatch *x, *y;
	int got;

	for (;;) {
		if ((got = loader_next(many, &x)) != 1 ||
		    (got = loader_next(one, &y)) != 1)
			return bench_loader_status(got);
		if (x->at.step >= CHECKED)
			return 0;
		if (!bench_loader_same(x, y, j->made->needs->streams)) {
			bench_wrong(b, "loader/%s: step "
			    "%" PRIu64 ", microbatch %d: other clips or pixels "
			    "than one thread loads", j->name, x->at.step,
			    x->index);
			return 0;
		}
		loader_return(many, x);
		loader_return(one, y);
	}
}

static int
bench_loader_check(struct bench *b, struct bench_loader_job *j)
{
	struct loader_options o1 = bench_loader_options(j, 1);
	struct loader_options on = bench_loader_options(j,
	    b->threads > 1 ? b->threads : 2);
	struct loader *one = loader_new(j->data, j->schedule, 0, &o1);
	struct loader *many = loader_new(j->data, j->schedule, 0, &on);
	int status = bench_loader_compare(b, j, many, one);

	loader_free(one);
	loader_free(many);
	return status;
}

/* ---- rows ---- */

static void
bench_loader_print_alone(struct bench *b, struct bench_loader_job *j, int whole,
    const char *note)
{
	const char *what = whole ? "jpeg" : "jpeg-crops";
	struct figure ratio = { 0 };

	bench_row(b, &j->alone[whole], "frames/s", note, "loader/%s/%s",
	    j->name, what);
	for (size_t i = 0; i < j->frames.n; i++)
		figure_add(&ratio, j->frames.v[i] / j->alone[whole].v[i]);
	bench_row(b, &ratio, "times", "the loader's frames/s to these",
	    "loader/%s/%s/ratio", j->name, what);
	figure_free(&ratio);
}

static void
bench_loader_print(struct bench *b, struct bench_loader_job *j,
    const struct cell *cell)
{
	char note[120];

	snprintf(note, sizeof(note), "%dx%dx%d in microbatches of %d, %d "
	    "thread%s", cell->batch, cell->frames, cell->crop, cell->group,
	    b->threads, b->threads > 1 ? "s" : "");
	bench_row(b, &j->frames, "frames/s", note, "loader/%s/frames", j->name);
	bench_row(b, &j->clips, "clips/s", NULL, "loader/%s/clips", j->name);
	bench_row(b, &j->read, "us", "a frame, on one thread",
	    "loader/%s/read", j->name);
	bench_row(b, &j->decode, "us", "a frame, on one thread",
	    "loader/%s/decode", j->name);
	bench_row(b, &j->resize, "us", "a frame, on one thread",
	    "loader/%s/resize", j->name);
	if (j->stored.n == 0) {
		if (stored_is_jpeg(j->data))
			bench_remark(b, "clips of stacks: no rows for "
			    "libjpeg-turbo alone");
		else
			bench_remark(b, "frames are %s: no JPEG to compare "
			    "with", dataset_ext(j->data, 0));
		return;
	}
	bench_loader_print_alone(b, j, 1, "libjpeg-turbo alone, whole frames");
	bench_loader_print_alone(b, j, 0,
	    "libjpeg-turbo alone, the same crops");
}

/* ---- the case ---- */

static void
bench_loader_close_job(struct bench_loader_job *j)
{
	struct figure *f[] = { &j->frames, &j->clips, &j->read, &j->decode,
		&j->resize, &j->alone[0], &j->alone[1] };

	for (size_t i = 0; i < sizeof(f) / sizeof(f[0]); i++)
		figure_free(f[i]);
	stored_close(&j->stored);
	pool_free(j->pool);
	schedule_free(j->schedule);
}

/* Measure ${n} cells that are visited in turn. */
static int
bench_loader_measure(struct bench *b, const struct bench_inputs *in,
    const struct loader_options *made, const struct cell *cell, int n,
    const char *name)
{
	const struct dataset *d = in->data;
	struct bench_loader_job j = { .data = d, .name = name, .made = made,
		.pool = pool_new(b->threads),
		.schedule = shape_schedule(cell, n) };
	uint64_t frames = (uint64_t)cell->batch * (uint64_t)cell->frames;
	struct loader_options o;
	int status = 0;

	if (j.schedule == NULL) {
		bench_loader_close_job(&j);
		return EXIT_USAGE;
	}
	j.steps = (FRAMES + frames - 1) / frames;
	stored_open(&j.stored, j.pool);
	if (stored_is_jpeg(d) && !bench_loader_stacks(&j))
		status = bench_loader_gather(&j);
	if (status == 0) {
		o = bench_loader_options(&j, b->threads);
		j.loader = loader_new(d, j.schedule, 0, &o);
		status = bench_repeat(b, bench_loader_run, &j);
		loader_free(j.loader);
	}
	if (status == 0)
		bench_loader_print(b, &j, cell);
	if (status == 0 && b->check)
		status = bench_loader_check(b, &j);
	if (status == 0 && in->sheet != NULL) {
		o = bench_loader_options(&j, b->threads);
		status = bench_sheet(d, j.schedule, &o, in->sheet);
	}
	bench_loader_close_job(&j);
	return status;
}

static int
bench_loader(struct bench *b, const struct bench_inputs *in)
{
	/* Mixed clips have soft labels over all classes. */
	struct target_spec target = { TARGET_DEFAULT,
		dataset_classes(in->data), 1 << TARGET_CLASS |
		1 << TARGET_SOFT };
	struct input_spec needs = in->graph != NULL ? in->graph->needs :
	    input_spec_default;
	struct loader_options o = { .needs = &needs };
	const struct schedule *s = in->schedule;
	char name[40];
	int status = 0;

	clip_settings_apply(&in->clips, &o);
	needs.target = &target;
	needs.targets = 1;
	if (loader_check_streams(dataset_streams(in->data),
	    text_quote(dataset_path(in->data)), &needs, "loader") != 0 ||
	    loader_check_transforms(&needs, &o.transforms, "loader") != 0)
		return EXIT_USAGE;
	for (int i = 0; s != NULL && i < s->stages && status == 0; i++) {
		snprintf(name, sizeof(name), "stage%d", i);
		status = bench_loader_measure(b, in, &o, s->stage[i].cell,
		    s->stage[i].cells, name);
	}
	for (size_t i = 0; s == NULL && i < in->shapes.n && status == 0; i++) {
		struct cell c = shape_cell(&in->shapes.item[i]);

		status = bench_loader_measure(b, in, &o, &c, 1,
		    shape_text(&in->shapes.item[i], name));
	}
	return status;
}

static void
bench_loader_require(const struct bench_inputs *in)
{
	if (in->data_path == NULL)
		options_wrong("no dataset (wanted --data=DIR)");
	for (size_t i = 0; (in->clips.mixup > 0 || in->clips.cutmix > 0) &&
	    in->schedule_path == NULL && i < in->shapes.n; i++)
		if (in->shapes.item[i].n < 2)
			options_wrong("--mixup, --cutmix: a shape of 1 clip "
			    "(wanted at least 2)");
}

const struct bench_case bench_case_loader = { .run = bench_loader,
	.check = bench_loader_require, .shapes = "8x8x224",
	.graph = BENCH_GRAPH_GIVEN };
