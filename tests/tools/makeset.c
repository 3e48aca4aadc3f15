/*
 * makeset DIR CLIPS FRAMES WIDTH HEIGHT SEED [NAME=N]...: make a packed set of
 * camera moves (share/demo/scene.c) without videos, with labels i mod 8.  With
 * png=1 the set has one crop of each clip as PNG: frames first, first + step,
 * ... of FRAMES, columns x to x + window - 1 of WIDTH, mirrored with mirror=1.
 * So the frames that a clip or a crop of the whole set shows make a set of
 * their own.  With flow=1 samples have the streams x and y, with flow=2 rgb, x
 * and y.  Displacements are not those of the frames: they show the class.
 */
#include "media/png.h"

#include "../../share/demo/scene.h"
#include "../jpeg_rgb.h"
#include "../loader_set.h"

static struct scene *scene;
static int frames, width, height, drawn = -1;
static uint64_t seed;

static struct option { const char *name; int value; } option[] = {
	{ "classes", MOVES }, { "letter", 'a' },	/* letter of the
							 * first class */
	{ "blank", 0 },			/* every so many samples have no
					 * label */
	{ "rare", 0 },			/* one of so many samples is of another
					 * class than the first */
	{ "sets", 0 },			/* label intervals, see spans_of */
	{ "png", 0 }, { "first", 0 }, { "step", 1 }, { "x", 0 },
	{ "window", 0 }, { "mirror", 0 }, { "flow", 0 }
};
enum { CLASSES, LETTER, BLANK, RARE, SETS, PNG, FIRST, STEP, X, WINDOW, MIRROR,
	FLOW, OPTIONS };
#define OPT(o) (option[o].value)

static int
frames_of(int sample)
{
	/* The lengths differ, unless frames are chosen. */
	return OPT(PNG) ? (frames - OPT(FIRST) - 1) / OPT(STEP) + 1 :
	    frames + sample % 3;
}

static int
width_of(int sample)
{
	(void)sample;
	return OPT(WINDOW) ? OPT(WINDOW) : width;
}

static int
height_of(int sample)
{
	(void)sample;
	return height;
}

static int
label_of(int sample)
{
	if (OPT(BLANK) && sample % OPT(BLANK) == 0)
		return -1;
	if (OPT(RARE))
		return sample % OPT(RARE) > 0 ? 0 : 1 + sample / OPT(RARE) %
		    (OPT(CLASSES) - 1);
	return sample % OPT(CLASSES);
}

/*
 * Every sample has its own class in all frames.  Each second one has another
 * class in the first half, too.  Each fifth has no class, and each seventh has
 * a label but no intervals.
 */
static int
spans_of(int sample, int n, struct label_interval *to)
{
	if (!OPT(SETS) || sample % 7 == 3 || label_of(sample) < 0)
		return -1;
	if (sample % 5 == 4)
		return 0;
	to[0] = (struct label_interval){ sample % OPT(CLASSES), 0, n - 1 };
	to[1] = (struct label_interval){ (sample * 3 + 1) % OPT(CLASSES), 0, n / 2 - 1 };
	return 1 + sample % 2;
}

static void
cut(const struct image *from, struct image *to)
{
	for (int y = 0; y < to->h; y++)
		for (int x = 0; x < to->w; x++)
			memcpy(to->data + 3 * (y * to->w + x), from->data +
			    3 * (y * from->w + OPT(X) + (OPT(MIRROR) ?
			    to->w - 1 - x : x)), 3);
}

static void
draw(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(width, h, 3), *part = image_new(w, h, 3);

	if (sample != drawn) {
		const int move[2] = { sample % MOVES, sample % MOVES };

		scene_free(scene);
		scene = scene_new(seed, (uint32_t)sample, move, width, h,
		    &difficulty_demo);
		drawn = sample;
	}
	if (OPT(PNG)) {
		scene_draw(scene, OPT(FIRST) + frame * OPT(STEP), frames,
		    m->data);
		cut(m, part);
		png_encode(part, to);
	} else {
		scene_draw(scene, frame, frames_of(sample), m->data);
		jpeg_encode_rgb(90, m, to);
	}
	image_free(m);
	image_free(part);
}

/*
 * Draw a field that points into the direction of the class, with waves that
 * differ by sample, frame and axis.
 */
static void
draw_flow(int sample, int frame, int axis, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 1);
	int class = sample % OPT(CLASSES), sign = class / 2 % 2 ? -1 : 1;
	int mean = axis == class % 2 ? sign * (10 + 20 * (class / 4)) : 0;

	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			m->data[y * w + x] = (uint8_t)(128 + mean + ((x * (1 +
			    axis) + y * (2 - axis) + 5 * frame + 11 * sample) %
			    24) - 12);
	if (OPT(PNG))
		png_encode(m, to);
	else
		jpeg_encode_rgb(90, m, to);
	image_free(m);
}

static int
set_option(const char *text)
{
	size_t n = strcspn(text, "=");

	for (int o = 0; o < OPTIONS; o++)
		if (strlen(option[o].name) == n && text[n] == '=' &&
		    strncmp(text, option[o].name, n) == 0) {
			OPT(o) = atoi(text + n + 1);
			return 0;
		}
	fprintf(stderr, "makeset: %s: unknown option\n", text);
	return -1;
}

int
main(int argc, char **argv)
{
	struct set s = { .ext = "jpg", .shards = 2, .frames = frames_of,
		.width = width_of, .height = height_of, .label = label_of,
		.spans = spans_of, .frame = draw, .flow = draw_flow };
	static const char *const both[] = { "rgb", "x", "y", NULL };
	int bad = 0;

	if (argc < 7)
		return 2;
	s.dir = argv[1];
	s.samples = atoi(argv[2]);
	frames = atoi(argv[3]);
	width = atoi(argv[4]);
	height = atoi(argv[5]);
	seed = strtoull(argv[6], NULL, 10);
	for (int i = 7; i < argc; i++)
		if (set_option(argv[i]) != 0)
			return 2;
	s.classes = OPT(CLASSES);
	s.letter = OPT(LETTER);
	if (OPT(PNG))
		s.ext = "png";
	if (OPT(FLOW))
		s.tags = OPT(FLOW) == 2 ? both : both + 1;
	bad = file_make_dir(s.dir, NULL) != 0 || set_make(&s) != 0;
	scene_free(scene);
	return bad;
}
