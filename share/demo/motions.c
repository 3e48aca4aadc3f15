/*
 * motions: make the videos of the demo: camera moves over random still scenes,
 * in several codecs, containers, sizes and frame rates.
 *
 *	motions OUT TRAIN TEST SEED [demo|near|hard|mixed] [pairs]
 *
 * writes TRAIN videos of each class to OUT/train/CLASS/ and TEST to
 * OUT/test/CLASS/.  The classes are the 8 moves.  near shows everything at
 * twice the size, which is learned sooner.  hard has slow moves and noise.
 * mixed draws the difficulty of each video between that of demo and moves that
 * are hardly visible.  With pairs, the 64 classes are pairs of moves in the
 * first and the second half of the video: pan_left+zoom_in differs from
 * zoom_in+pan_left.
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
#include "encode.h"
#include "scene.h"

/* Codecs and containers; each has the same probability. */
static const struct motions_kind { const char *codec, *suffix; int quality; } kinds[] = {
	{ "libx264", "mp4", 80 }, { "mpeg4", "avi", 95 },
	{ "libx264", "mkv", 80 }, { "mjpeg", "mov", 90 },
	{ "mpeg2video", "mpg", 95 }, { "libvpx-vp9", "webm", 80 },
};

/* MPEG-2 supports only some rates; these are among them. */
static const struct fraction rates[] = {
	{ 24, 1 }, { 25, 1 }, { 30000, 1001 }, { 30, 1 }
};

static const int sizes[][2] = {
	{ 72, 72 }, { 96, 72 }, { 128, 72 }, { 80, 96 }, { 112, 84 }, { 144, 108 }
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct motions_job {
	const char *out;
	int train, test;
	int classes;			/* MOVES, or MOVES * MOVES pairs */
	uint64_t seed;
	const struct difficulty *difficulty, *hardest;	/* NULL: one difficulty */
	atomic_int failed;
};

/* Store the moves of the first and the second half of a class in ${move}. */
static void
motions_moves_of(const struct motions_job *j, int class, int move[2])
{
	move[0] = class % MOVES;
	move[1] = j->classes > MOVES ? class / MOVES : move[0];
}

/* Return the folder of a class.  The caller frees it. */
static char *
motions_folder_of(const struct motions_job *j, int class, int testing)
{
	const char *part = testing ? "test" : "train";
	int move[2];

	motions_moves_of(j, class, move);
	if (j->classes == MOVES)
		return xprintf("%s/%s/%s", j->out, part, move_names[move[0]]);
	return xprintf("%s/%s/%s+%s", j->out, part, move_names[move[0]],
	    move_names[move[1]]);
}

/*
 * Draw and write video ${number} of all videos.   Return 0, or nonzero after a
 * message.
 */
static int
motions_make_video(const struct motions_job *j, int number)
{
	int all = (j->train + j->test) * j->classes;
	int testing = number >= j->train * j->classes;
	int class = number % j->classes, move[2];
	struct rng r = rng_clip(j->seed ^ 0x766964656f, (uint64_t)number);
	const struct motions_kind *k = &kinds[rng_below(&r, COUNT(kinds))];
	const int *size = sizes[rng_below(&r, COUNT(sizes))];
	int frames = 16 + (int)rng_below(&r, 9), bad = 0;
	struct encoder_options o = { .codec = k->codec, .w = size[0],
		.h = size[1], .fps = rates[rng_below(&r, COUNT(rates))],
		.quality = k->quality };
	struct image *m = image_new(o.w, o.h, 3);
	char *dir = motions_folder_of(j, class, testing);
	char *path = xprintf("%s/%05d.%s", dir, testing ? all - number : number,
	    k->suffix);
	struct encoder *e = encoder_open(path, &o);
	struct difficulty d;
	struct scene *s;

	motions_moves_of(j, class, move);
	d = *j->difficulty;
	if (j->hardest != NULL)
		d = difficulty_between(&d, j->hardest, rng_uniform(&r));
	s = scene_new(j->seed, (uint32_t)number, move, o.w, o.h, &d);
	for (int f = 0; f < frames && e != NULL && !bad; f++) {
		scene_draw(s, f, frames, m->data);
		bad = encoder_add(e, m);
	}
	if (bad)
		encoder_drop(e);
	else
		bad = e == NULL || encoder_done(e) != 0;
	free(path);
	free(dir);
	scene_free(s);
	image_free(m);
	return bad;
}

static void
motions_make_part(int i, int thread, void *arg)
{
	struct motions_job *j = arg;

	(void)thread;
	if (!atomic_load(&j->failed) && motions_make_video(j, i) != 0)
		atomic_store(&j->failed, 1);
}

/* Apply the setting ${name}.  Return 0, or -1 if it is unknown. */
static int
motions_set(struct motions_job *j, const char *name)
{
	if (strcmp(name, "pairs") == 0)
		j->classes = MOVES * MOVES;
	else if (strcmp(name, "demo") == 0)
		j->difficulty = &difficulty_demo;
	else if (strcmp(name, "near") == 0)
		j->difficulty = &difficulty_near;
	else if (strcmp(name, "hard") == 0)
		j->difficulty = &difficulty_hard;
	else if (strcmp(name, "mixed") == 0)
		j->hardest = &difficulty_faint;
	else
		return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	struct motions_job j = { .classes = MOVES,
	    .difficulty = &difficulty_demo };
	struct pool *pool;
	int64_t n;

	program_start(argv[0]);
	if (argc < 5 || argc > 7)
		die(EXIT_USAGE, "wanted OUT TRAIN TEST SEED "
		    "[demo|near|hard|mixed] [pairs]");
	j.out = argv[1];
	j.train = text_int(argv[2], 1, 100000, &n) == 0 ? (int)n : -1;
	j.test = text_int(argv[3], 1, 10000, &n) == 0 ? (int)n : -1;
	if (j.train < 0 || j.test < 0 ||
	    text_int(argv[4], 0, INT64_MAX, &n) != 0)
		die(EXIT_USAGE, "wanted numbers of videos a class, and a seed");
	j.seed = (uint64_t)n;
	for (int i = 5; i < argc; i++)
		if (motions_set(&j, argv[i]) != 0)
			die(EXIT_USAGE, "%s: wanted demo, near, hard, mixed "
			    "or pairs", argv[i]);
	for (int class = 0; class < j.classes; class++)
		for (int t = 0; t < 2; t++) {
			char *dir = motions_folder_of(&j, class, t);

			if (file_make_dir(dir, NULL) != 0)
				return EXIT_FAILED;
			free(dir);
		}
	pool = pool_new(cpus());
	pool_run(pool, (j.train + j.test) * j.classes, motions_make_part, &j);
	pool_free(pool);
	return j.failed ? EXIT_FAILED : EXIT_DONE;
}
