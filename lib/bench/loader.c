/*
 * The loader at work, one step after the other as fast as they come, and
 * libjpeg-turbo alone on the frames of the same steps, both on as many
 * threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "bench/cases.h"
#include "bench/stored.h"
#include "data/leaves.h"
#include "data/loader.h"

#define MEMORY ((size_t)512 << 20)	/* of pixels ahead, as vt-train's */
#define CHECKED 2			/* steps whose pixels are compared */
/*
 * Frames of a run, at least.  Leaves come in bursts, since a trainer that
 * waits sleeps; over fewer the rate would be that of the bursts.
 */
#define FRAMES 1024

/* Steps ${first} to ${first} + ${steps} - 1 of a schedule, ${each} a run. */
struct job {
	const struct load_options *o;
	const struct schedule *schedule;
	const char *name;
	uint64_t first, steps, each;
	int threads;
	struct loader *loader;
	struct loader_stats last;
	struct figure frames, clips;		/* a second */
	struct figure read, decode, resize;	/* us a frame, of a thread */
	struct stored stored;
	int whole;
	struct figure alone;			/* frames a second */
};

static struct loader_options
loading(int threads)
{
	return (struct loader_options){ .seed = 1, .threads = threads,
		.ranks = 1, .sampler = SAMPLER_TSM, .crop = CROP_MULTISCALE,
		.flip = 1, .memory = MEMORY };
}

static int
failed(int got)
{
	return got == -2 ? EXIT_DAMAGE : EXIT_FAILED;
}

/* Take all leaves of a run; 0, or an exit status. */
static int
take_steps(struct job *j, uint64_t *clips, uint64_t *frames)
{
	struct leaf *leaf;
	int got;

	*clips = *frames = 0;
	for (uint64_t step = 0; step < j->each;) {
		if ((got = loader_next(j->loader, &leaf)) != 1)
			return failed(got);
		*clips += (uint64_t)leaf->n;
		*frames += (uint64_t)leaf->n * (uint64_t)leaf->t;
		step += leaf->index == leaf->leaves - 1;
		loader_return(j->loader, leaf);
	}
	return 0;
}

static int
run(void *arg, int counts)
{
	struct job *j = arg;
	double start = clock_seconds(), seconds, us;
	uint64_t clips, frames;
	struct loader_stats s, *was = &j->last;
	int status = take_steps(j, &clips, &frames);

	if (status != 0)
		return status;
	seconds = clock_seconds() - start;
	s = loader_stats(j->loader);
	us = s.frames > was->frames ? 1e6 / (double)(s.frames - was->frames) :
	    0;
	if (counts) {
		figure_add(&j->frames, (double)frames / seconds);
		figure_add(&j->clips, (double)clips / seconds);
		figure_add(&j->read, (s.read - was->read) * us);
		figure_add(&j->decode, (s.decode - was->decode) * us);
		figure_add(&j->resize, (s.resize - was->resize) * us);
	}
	*was = s;
	return 0;
}

/* ---- libjpeg-turbo alone ---- */

/* The frames of the first run, as stored, with their crops. */
static int
gather(struct job *j)
{
	struct loader_options o = loading(1);
	struct leaves *l = leaves_of_steps(j->o->data, j->schedule, j->first,
	    &o);
	struct leaf leaf = { 0 };
	struct crop crop;
	size_t frames, bytes;
	int most, *frame, bad = 0;

	leaves_most(l, &most, &frames, &bytes);
	leaf.label = xcalloc((size_t)most, sizeof(*leaf.label));
	leaf.clip = xcalloc((size_t)most, sizeof(*leaf.clip));
	leaf.sample = xcalloc((size_t)most, sizeof(*leaf.sample));
	frame = xcalloc(frames, sizeof(*frame));
	while (bad == 0 && leaves_next(l, &leaf) &&
	    leaf.at.step < j->first + j->each)
		for (int i = 0; i < leaf.n && bad == 0; i++) {
			leaves_choose(l, &leaf, i, frame, &crop);
			bad = stored_add(&j->stored, j->o->data,
			    leaf.sample[i], frame, leaf.t, crop, leaf.w);
		}
	leaves_free(l);
	free(leaf.label);
	free(leaf.clip);
	free(leaf.sample);
	free(frame);
	return bad ? failed(bad) : 0;
}

static int
run_alone(void *arg, int counts)
{
	struct job *j = arg;
	double start = clock_seconds();

	if (stored_decode(&j->stored, j->whole) != 0)
		return EXIT_DAMAGE;
	if (counts)
		figure_add(&j->alone, (double)j->stored.n /
		    (clock_seconds() - start));
	return 0;
}

static int
measure_alone(struct bench *b, struct job *j, int whole, const char *what,
    const char *note)
{
	int status;

	j->whole = whole;
	figure_free(&j->alone);
	if ((status = bench_repeat(b, run_alone, j)) != 0)
		return status;
	bench_row(b, &j->alone, "frames/s", note, "loader/%s/%s", j->name,
	    what);
	bench_value(b, figure_median(&j->frames) / figure_median(&j->alone),
	    "times", "the loader's frames/s to these", "loader/%s/%s/ratio",
	    j->name, what);
	return 0;
}

static int
measure_jpeg(struct bench *b, struct job *j)
{
	struct pool *p;
	int status;

	if (!stored_is_jpeg(j->o->data)) {
		bench_remark(b, "pictures are %s: no JPEG to compare with",
		    dataset_ext(j->o->data, 0));
		return 0;
	}
	p = pool_new(j->threads);
	stored_open(&j->stored, p);
	status = gather(j);
	if (status == 0)
		status = measure_alone(b, j, 1, "jpeg",
		    "libjpeg-turbo alone, whole pictures");
	if (status == 0)
		status = measure_alone(b, j, 0, "jpeg-crops",
		    "libjpeg-turbo alone, the same crops");
	stored_close(&j->stored);
	pool_free(p);
	return status;
}

/* ---- checking ---- */

static int
same(const struct leaf *x, const struct leaf *y)
{
	size_t n = (size_t)x->n;
	size_t bytes = 3 * n * (size_t)x->t * (size_t)x->h * (size_t)x->w;

	return x->n == y->n && x->t == y->t && x->h == y->h && x->w == y->w &&
	    memcmp(x->clip, y->clip, n * sizeof(*x->clip)) == 0 &&
	    memcmp(x->label, y->label, n * sizeof(*x->label)) == 0 &&
	    memcmp(x->pixels, y->pixels, bytes) == 0;
}

/* Leaf after leaf, several threads must load what one does. */
static int
compare(struct bench *b, struct job *j, struct loader *many, struct loader *one)
{
	struct leaf *x, *y;
	int got;

	for (;;) {
		if ((got = loader_next(many, &x)) != 1 ||
		    (got = loader_next(one, &y)) != 1)
			return got < 0 ? failed(got) : 0;
		if (x->at.step >= j->first + j->steps ||
		    x->at.step >= j->first + CHECKED)
			return 0;
		bench_spoil(b, x->pixels, 1);
		if (!same(x, y)) {
			bench_wrong(b, "loader/%s: step %" PRIu64 ", leaf %d: "
			    "other clips or pixels than one thread loads",
			    j->name, x->at.step, x->index);
			return 0;
		}
		loader_return(many, x);
		loader_return(one, y);
	}
}

static int
check(struct bench *b, struct job *j)
{
	int threads = j->threads > 1 ? j->threads : 2;
	struct loader_options o1 = loading(1), on = loading(threads);
	struct loader *one = loader_new(j->o->data, j->schedule, j->first, &o1);
	struct loader *many = loader_new(j->o->data, j->schedule, j->first,
	    &on);
	int status = compare(b, j, many, one);

	loader_free(one);
	loader_free(many);
	return status;
}

/* ---- rows ---- */

static void
print(struct bench *b, const struct job *j, const char *note)
{
	bench_row(b, &j->frames, "frames/s", note, "loader/%s/frames", j->name);
	bench_row(b, &j->clips, "clips/s", NULL, "loader/%s/clips", j->name);
	bench_row(b, &j->read, "us", "a frame, on one thread",
	    "loader/%s/read", j->name);
	bench_row(b, &j->decode, "us", "a frame, on one thread",
	    "loader/%s/decode", j->name);
	bench_row(b, &j->resize, "us", "a frame, on one thread",
	    "loader/%s/resize", j->name);
}

/* A stage may have fewer steps than the runs that were asked for. */
static void
cut_runs(struct job *j, const struct cell *cell, struct bench *b)
{
	uint64_t frames = (uint64_t)cell->batch * (uint64_t)cell->frames;
	uint64_t runs = (uint64_t)(b->warmup + b->runs);

	j->each = (FRAMES + frames - 1) / frames;
	if (j->each * runs > j->steps)
		j->each = j->steps / runs > 0 ? j->steps / runs : 1;
	if ((uint64_t)b->warmup >= j->steps)
		b->warmup = (int)j->steps - 1;
	if ((uint64_t)(b->warmup + b->runs) > j->steps)
		b->runs = (int)j->steps - b->warmup;
}

/* ${j} says which steps; ${cell} is the first one's. */
static int
measure(struct bench *b, struct job *j, const struct cell *cell)
{
	struct loader_options o = loading(b->threads);
	struct bench some = *b;
	char note[120];
	int status;

	cut_runs(j, cell, &some);
	j->threads = b->threads;
	j->loader = loader_new(j->o->data, j->schedule, j->first, &o);
	status = bench_repeat(&some, run, j);
	loader_free(j->loader);
	snprintf(note, sizeof(note), "steps of %dx%dx%d in leaves of %d, %d "
	    "thread%s", cell->batch, cell->frames, cell->crop, cell->group,
	    b->threads, b->threads > 1 ? "s" : "");
	if (status == 0) {
		print(b, j, note);
		status = measure_jpeg(b, j);
	}
	if (status == 0 && b->check)
		status = check(b, j);
	figure_free(&j->frames);
	figure_free(&j->clips);
	figure_free(&j->read);
	figure_free(&j->decode);
	figure_free(&j->resize);
	figure_free(&j->alone);
	return status;
}

static int
measure_shape(struct bench *b, const struct load_options *o,
    const struct shape *shape)
{
	char name[40];
	struct job j = { .o = o, .name = shape_text(shape, name) };
	struct schedule *s = shape_schedule(shape);
	int status;

	if (s == NULL)
		return EXIT_USAGE;
	j.schedule = s;
	j.steps = schedule_steps(s, dataset_samples(o->data));
	status = measure(b, &j, &s->stage[0].cell[0]);
	schedule_free(s);
	return status;
}

/* Each stage of a schedule, from its first step on. */
static int
measure_stages(struct bench *b, const struct load_options *o)
{
	const struct schedule *s = o->schedule;
	uint64_t (*count)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*count));
	struct job j = { .o = o, .schedule = s };
	int status = 0;

	schedule_count(s, dataset_samples(o->data), count);
	for (int i = 0; i < s->stages && status == 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "stage%d", i);
		j.name = name;
		j.steps = 0;
		for (int k = 0; k < s->stage[i].cells; k++)
			j.steps += count[i][k];
		if (j.steps > 0)	/* a large batch may leap over it */
			status = measure(b, &j, &s->stage[i].cell[0]);
		j.first += j.steps;
		j.last = (struct loader_stats){ 0 };
	}
	free(count);
	return status;
}

int
bench_loader(struct bench *b, const struct load_options *o)
{
	int status = 0;

	if (o->schedule != NULL)
		return measure_stages(b, o);
	for (size_t i = 0; i < o->shapes->n && status == 0; i++)
		status = measure_shape(b, o, &o->shapes->item[i]);
	return status;
}
