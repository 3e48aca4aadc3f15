/*
 * Benchmark frames of a packed set: decode whole frames, and decode training
 * crops for each side, on the same frames.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/cases.h"
#include "bench/stored.h"

#define CHECKED 32		/* frames whose pixels are compared */

struct bench_pictures_job {
	struct stored s;
	int whole;
	struct figure seconds;
};

static int
bench_pictures_run(void *arg, int counts)
{
	struct bench_pictures_job *j = arg;
	double start = clock_seconds();

	if (stored_decode(&j->s, j->whole) != 0)
		return EXIT_DAMAGE;
	if (counts)
		figure_add(&j->seconds, clock_seconds() - start);
	return 0;
}

/*
 * Choose ${images} frames, spread over the samples, with training crops for
 * ${side}.
 */
static int
bench_pictures_choose(struct stored *s, const struct dataset *d, int images,
    int side)
{
	uint64_t samples = dataset_samples(d);

	stored_clear(s);
	for (int i = 0; i < images; i++) {
		uint32_t k = (uint32_t)((uint64_t)i * samples /
		    (uint64_t)images);
		struct sample m = dataset_sample(d, k);
		int frame = i % m.frames, bad;
		struct clip_request r = { .t = 1, .side = side, .frame = &frame,
			.crop = crop_train(&crop_defaults, m.width, m.height,
			side, rng_clip(1, (uint64_t)i)) };

		bad = stored_add(s, d, k, &r);
		if (bad != 0)
			return exit_of(bad);
	}
	return 0;
}

/* Check that a decoded crop has the pixels of the whole frame. */
static int
bench_pictures_check(struct bench *b, struct stored *s, int side)
{
	size_t n = 3 * (size_t)side * (size_t)side;
	uint8_t *part = xmalloc(n), *whole = xmalloc(n);
	int status = 0;

	for (size_t i = 0; i < s->n && i < CHECKED && status == 0; i++) {
		if (stored_compare(s, i, part, whole) != 0) {
			status = EXIT_DAMAGE;
			break;
		}
		if (memcmp(part, whole, n) == 0)
			continue;
		bench_wrong(b, "%s: frame %d at side %d: other pixels than the "
		    "whole frame has", s->frame[i].sample.key,
		    s->frame[i].number, side);
		break;
	}
	free(part);
	free(whole);
	return status;
}

/* Decode the frames, whole or in part, and time them in j->seconds. */
static int
bench_pictures_repeat(const struct bench *b, struct bench_pictures_job *j,
    int whole)
{
	figure_free(&j->seconds);
	j->whole = whole;
	return bench_repeat(b, bench_pictures_run, j);
}

static int
bench_pictures_measure_full(struct bench *b, struct bench_pictures_job *j,
    double *seconds)
{
	char note[80];
	int status = bench_pictures_repeat(b, j, 1);

	snprintf(note, sizeof(note), "%zu frames, %.0f bytes each", j->s.n,
	    (double)j->s.data.n / (double)j->s.n);
	*seconds = figure_median(&j->seconds);
	if (status == 0)
		bench_rate(b, &j->seconds, (double)j->s.n, "frames/s", note,
		    "decode/jpeg/full");
	return status;
}

static int
bench_pictures_measure_crops(struct bench *b, struct bench_pictures_job *j,
    int side, double full)
{
	int status = bench_pictures_repeat(b, j, 0);

	if (status != 0)
		return status;
	bench_rate(b, &j->seconds, (double)j->s.n, "frames/s",
	    "the crops of training", "decode/jpeg/%d", side);
	bench_value(b, full / figure_median(&j->seconds), "times",
	    "as fast as full", "decode/jpeg/%d/ratio", side);
	return b->check ? bench_pictures_check(b, &j->s, side) : 0;
}

int
bench_pictures(struct bench *b, const struct bench_inputs *o)
{
	struct pool *p;
	struct bench_pictures_job j = { .whole = 0 };
	double full = 0;
	int status = 0;

	if (!stored_is_jpeg(o->data)) {
		fail("%s: frames are %s (wanted jpg)",
		    text_quote(dataset_path(o->data)), dataset_ext(o->data, 0));
		return EXIT_FAILED;
	}
	p = pool_new(b->threads);
	stored_open(&j.s, p);
	for (size_t i = 0; i < o->shapes.n && status == 0; i++) {
		int side = o->shapes.item[i].side;

		status = bench_pictures_choose(&j.s, o->data,
		    (int)o->images, side);
		/* Whole frames do not depend on the side: measure them once. */
		if (status == 0 && i == 0)
			status = bench_pictures_measure_full(b, &j, &full);
		if (status == 0)
			status = bench_pictures_measure_crops(b, &j, side,
			    full);
	}
	figure_free(&j.seconds);
	stored_close(&j.s);
	pool_free(p);
	return status;
}
