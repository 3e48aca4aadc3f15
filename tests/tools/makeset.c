/*
 * makeset DIR CLIPS FRAMES WIDTH HEIGHT SEED: a packed set of camera moves
 * (share/demo/scene.c), labels i mod 8, without going through videos.
 */
#include "media/jpeg.h"

#include "../../share/demo/scene.h"
#include "../loader_set.h"

static int frames, width, height, drawn = -1;
static uint64_t seed;
static struct scene *scene;
static struct jpeg_encoder *encoder;

static int
frames_of(int sample)
{
	/* Not all of one length. */
	return frames + sample % 3;
}

static int
width_of(int sample)
{
	(void)sample;
	return width;
}

static int
height_of(int sample)
{
	(void)sample;
	return height;
}

static void
draw(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	if (sample != drawn) {
		scene_free(scene);
		scene = scene_new(seed, (uint32_t)sample, sample % MOVES, w, h,
		    &difficulty_demo);
		drawn = sample;
	}
	scene_draw(scene, frame, frames_of(sample), m->data);
	jpeg_encode_rgb(encoder, m, to);
	image_free(m);
}

int
main(int argc, char **argv)
{
	struct set s = { .ext = "jpg", .shards = 2, .classes = MOVES,
		.frames = frames_of, .width = width_of, .height = height_of,
		.frame = draw };
	int bad;

	if (argc != 7)
		return 2;
	s.dir = argv[1];
	s.samples = atoi(argv[2]);
	frames = atoi(argv[3]);
	width = atoi(argv[4]);
	height = atoi(argv[5]);
	seed = strtoull(argv[6], NULL, 10);
	encoder = jpeg_encoder_new(90);
	bad = file_make_dir(s.dir) != 0 || set_make(&s) != 0;
	scene_free(scene);
	jpeg_encoder_free(encoder);
	return bad;
}
