/*
 * motions: makes the demo's videos: camera moves over random still scenes, in
 * several codecs, containers, sizes and frame rates.
 *
 *	motions OUT TRAIN TEST SEED [demo|hard]
 *
 * writes TRAIN videos of each class below OUT/train/CLASS/ and TEST below
 * OUT/test/CLASS/.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/text.h"
#include "media/encode.h"
#include "scene.h"

/* What a video may be; each is drawn alike often. */
static const struct kind { const char *codec, *suffix; int quality; } kinds[] = {
	{ "libx264", "mp4", 80 }, { "mpeg4", "avi", 95 },
	{ "libx264", "mkv", 80 }, { "mjpeg", "mov", 90 },
	{ "mpeg2video", "mpg", 95 }, { "libvpx-vp9", "webm", 80 },
};

/* MPEG-2 knows only some rates; these are among them. */
static const struct fraction rates[] = {
	{ 24, 1 }, { 25, 1 }, { 30000, 1001 }, { 30, 1 }
};

static const int sizes[][2] = {
	{ 72, 72 }, { 96, 72 }, { 128, 72 }, { 80, 96 }, { 112, 84 }, { 144, 108 }
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct job {
	const char *out;
	int train, test;
	uint64_t seed;
	const struct difficulty *difficulty;
	atomic_int failed;
};

/* Draw and write video ${number} of the whole set. */
static int
make_video(const struct job *j, int number)
{
	int all = (j->train + j->test) * MOVES;
	int testing = number >= j->train * MOVES, move = number % MOVES;
	struct rng r = rng_clip(j->seed ^ 0x766964656f, (uint64_t)number);
	const struct kind *k = &kinds[rng_below(&r, COUNT(kinds))];
	const int *size = sizes[rng_below(&r, COUNT(sizes))];
	int frames = 16 + (int)rng_below(&r, 9), bad = 0;
	struct encoder_options o = { .codec = k->codec, .w = size[0],
		.h = size[1], .fps = rates[rng_below(&r, COUNT(rates))],
		.quality = k->quality };
	struct image *m = image_new(o.w, o.h, 3);
	struct scene *s = scene_new(j->seed, (uint32_t)number, move, o.w, o.h,
	    j->difficulty);
	char *path = xprintf("%s/%s/%s/%05d.%s", j->out, testing ? "test" :
	    "train", move_names[move], testing ? all - number : number,
	    k->suffix);
	struct encoder *e = encoder_open(path, &o);

	for (int f = 0; f < frames && e != NULL && !bad; f++) {
		scene_draw(s, f, frames, m->data);
		bad = encoder_add(e, m);
	}
	if (bad)
		encoder_drop(e);
	else
		bad = e == NULL || encoder_done(e) != 0;
	free(path);
	scene_free(s);
	image_free(m);
	return bad;
}

static void
make_part(int i, int thread, void *arg)
{
	struct job *j = arg;

	(void)thread;
	if (!atomic_load(&j->failed) && make_video(j, i) != 0)
		atomic_store(&j->failed, 1);
}

int
main(int argc, char **argv)
{
	struct job j = { .difficulty = &difficulty_demo };
	struct pool *pool;
	int64_t n;

	program_start(argv[0]);
	if (argc < 5 || argc > 6)
		die(EXIT_USAGE, "wanted OUT TRAIN TEST SEED [demo|hard]");
	j.out = argv[1];
	j.train = text_int(argv[2], 1, 100000, &n) == 0 ? (int)n : -1;
	j.test = text_int(argv[3], 1, 10000, &n) == 0 ? (int)n : -1;
	if (j.train < 0 || j.test < 0 ||
	    text_int(argv[4], 0, INT64_MAX, &n) != 0)
		die(EXIT_USAGE, "wanted numbers of videos a class, and a seed");
	j.seed = (uint64_t)n;
	if (argc == 6 && strcmp(argv[5], "hard") == 0)
		j.difficulty = &difficulty_hard;
	for (int move = 0; move < MOVES; move++)
		for (int t = 0; t < 2; t++) {
			char *dir = xprintf("%s/%s/%s", j.out, t ? "test" :
			    "train", move_names[move]);

			if (file_make_dir(dir) != 0)
				return EXIT_FAILED;
			free(dir);
		}
	pool = pool_new(cpus());
	pool_run(pool, (j.train + j.test) * MOVES, make_part, &j);
	pool_free(pool);
	return j.failed ? EXIT_FAILED : EXIT_DONE;
}
