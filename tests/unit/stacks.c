/*
 * Clips that stack several frames, optical flow and differences of RGB frames:
 * each channel equals the frame that it shows, filled alone with the same crop.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "data/microbatches.h"

#include "jpeg_rgb.h"
#include "loader_set.h"
#include "tap.h"

enum { SIDE = 20, T = 3, W = 48, H = 36 };

static int jpeg;

static int frames_of(int i) { return i == 0 ? 2 : 9 + i; }
static int width_of(int i) { return (void)i, W; }
static int height_of(int i) { return (void)i, H; }

static void
picture(int channels, int v, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, channels);

	for (int i = 0; i < w * h * channels; i++)
		m->data[i] = (uint8_t)((i * 7 + i / (w * channels) * 13 +
		    v * 61) % 256);
	if (jpeg)
		jpeg_encode_rgb(95, m, to);
	else
		png_encode(m, to);
	image_free(m);
}

static void
frame(int sample, int f, int w, int h, struct buffer *to)
{
	picture(3, sample + 5 * f, w, h, to);
}

static void
flow(int sample, int f, int axis, int w, int h, struct buffer *to)
{
	picture(1, sample + 3 * f + axis, w, h, to);
}

static const char *const tags[] = { "rgb", "x", "y", NULL };

/* ---- one clip ---- */

/* A clip of frames ${number}, with the crop that the test uses. */
static struct clip_request
request(int *number, int t, int flip)
{
	return (struct clip_request){ .t = t, .side = SIDE, .frame = number,
		.crop = { 4, 2, 30, 29.5, flip, RESIZE_ANTIALIAS } };
}

/* Fill frame ${f} alone from the stored stream ${stream}. */
static void
alone(struct filler *f, const struct dataset *d, uint32_t sample, int stream,
    int number, int flip, uint8_t *to)
{
	struct frame_source s = frame_source_sample(d, sample, stream);
	struct clip_request r = request(&number, 1, flip);
	struct clip_out out = { .bytes = to };

	if (clip_fill(f, &s, &r, &out) != 0)
		diag("%s", filler_error(f));
}

static int
last(const struct dataset *d, uint32_t sample, int number)
{
	int n = dataset_sample(d, sample).frames;

	return number < n ? number : n - 1;
}

/* Return the number of wrong values of a clip of flow. */
static long
wrong_flow(struct filler *f, const struct dataset *d, uint32_t sample,
    const struct clip_request *r, const uint8_t *clip, int c)
{
	static uint8_t want[3 * SIDE * SIDE];
	long wrong = 0;

	for (int k = 0; k < r->t; k++)
		for (int i = 0; i < c; i++) {
			alone(f, d, sample, 1 + i % 2, last(d, sample,
			    r->frame[k] + i / 2), r->crop.flip, want);
			for (int p = 0; p < SIDE * SIDE; p++) {
				int v = want[3 * p];

				if (i % 2 == 0 && r->crop.flip)
					v = 255 - v;
				wrong += clip[(k * SIDE * SIDE + p) * c + i] != v;
			}
		}
	return wrong;
}

static long
wrong_differences(struct filler *f, const struct dataset *d, uint32_t sample,
    const struct clip_request *r, const uint8_t *clip, int c)
{
	static uint8_t a[3 * SIDE * SIDE], b[3 * SIDE * SIDE];
	long wrong = 0;

	for (int k = 0; k < r->t; k++)
		for (int j = 0; j < c / 3; j++) {
			alone(f, d, sample, 0, last(d, sample, r->frame[k] + j),
			    r->crop.flip, a);
			alone(f, d, sample, 0, last(d, sample,
			    r->frame[k] + j + 1), r->crop.flip, b);
			for (int i = 0; i < 3 * SIDE * SIDE; i++) {
				int v = b[i] - a[i] + 128;

				v = v < 0 ? 0 : v > 255 ? 255 : v;
				wrong += clip[(k * SIDE * SIDE + i / 3) * c +
				    3 * j + i % 3] != v;
			}
		}
	return wrong;
}

static void
one(const struct dataset *d, const char *what, uint32_t sample, int *number,
    int t, int c, int flip)
{
	struct filler *f = filler_new(NULL);
	struct clip_request r = request(number, t, flip);

	for (int kind = 0; kind < 2; kind++) {
		struct stream_spec spec = { .c = kind ? 3 * c / 2 : c };
		uint8_t *to = xcalloc((size_t)(t * SIDE * SIDE),
		    (size_t)spec.c);
		struct frame_source s[2];
		struct clip_out out = { .bytes = to };
		int stored[2], n, status;

		strcpy(spec.name, kind ? STREAM_RGBDIFF : STREAM_FLOW);
		n = fill_find_sources(dataset_streams(d), spec.name,
		    stored);
		for (int i = 0; i < n; i++)
			s[i] = frame_source_sample(d, sample, stored[i]);
		status = clips_fill_stream(f, &spec, s, &r, &out, 1);
		ok(status == 0 && n == 2 - kind, "%s, %s%s: filled", spec.name,
		    what, flip ? ", mirrored" : "");
		is((kind ? wrong_differences : wrong_flow)(f, d, sample, &r,
		    to, spec.c), 0, "every channel is the frame it shows");
		free(to);
	}
	filler_free(f);
}

static void
clips(const struct dataset *d)
{
	for (int flip = 0; flip < 2; flip++) {
		one(d, "stacks apart", 5, (int[]){ 0, 4, 8 }, 3, 4, flip);
		one(d, "stacks that overlap", 4, (int[]){ 1, 2, 4 }, 3, 6, flip);
		one(d, "the end of the video", 3, (int[]){ 7, 9, 11 }, 3, 10,
		    flip);
		one(d, "frames out of order", 3, (int[]){ 5, 0, 5 }, 3, 4, flip);
		one(d, "a video shorter than the stack", 0, (int[]){ 0, 0, 1 },
		    3, 20, flip);
		one(d, "one pair", 2, (int[]){ 3 }, 1, 2, flip);
	}
}

/* ---- the loader ---- */

static const struct input_spec joint = {
	.streams = 3, .targets = 1,
	.stream = (struct stream_spec[]){ { "rgb", 3 }, { "flow", 8 },
	    { "rgbdiff", 6 } },
	.target = (struct target_spec[]){ { "class", 3, 1 } },
};

/* Load three steps with ${threads} threads, and return the hash of all bytes. */
static struct hash128
load(const struct dataset *d, const struct schedule *s, int threads)
{
	struct loader_options o = { .seed = 4, .ranks = 1, .threads = threads,
		.memory = 1 << 20, .needs = &joint, .crop = crop_defaults };
	struct loader *l = loader_new(d, s, 0, &o);
	struct buffer all = { 0 };
	struct microbatch *mb;
	struct hash128 h;

	while (loader_next(l, &mb) == 1) {
		for (int k = 0; k < joint.streams; k++) {
			const struct stream *p = &mb->stream[k];

			buffer_add(&all, p->bytes, (size_t)(mb->n * p->t *
			    p->h * p->w * p->c));
		}
		loader_return(l, mb);
	}
	loader_free(l);
	h = hash128(all.data, all.n);
	buffer_free(&all);
	return h;
}

static void
loader(const struct dataset *d)
{
	struct table *t = table_parse("test", "#stage\tepoch_begin\tepoch_end\tcycle\tbatch"
	    "\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t2\t0\t4\t3\t20\t2\t0.1\t0\t0\n");
	struct schedule *s = schedule_from_table(t);
	struct hash128 h = load(d, s, 1), other;

	for (int threads = 2; threads < 5; threads++) {
		other = load(d, s, threads);
		ok(memcmp(&h, &other, sizeof(h)) == 0,
		    "%d threads load the same bytes", threads);
	}
	schedule_free(s);
	table_free(t);
}

/* A stack begins where it fits into the video, as far as there is such a frame. */
static void
fits(void)
{
	struct view_options v = { .sampler = SAMPLER_TSM, .clips = 1, .crops = 1,
		.t = T, .side = SIDE, .needs = &joint };
	int frame[T], wrong = 0;
	struct clip_request r = { .frame = frame };

	for (int frames = 1; frames < 40; frames++) {
		struct frame_source s = { .frames = frames, .width = W,
			.height = H };

		microbatch_choose_view(&v, 0, &s, &r);
		for (int k = 0; k < T; k++)
			wrong += frame[k] < 0 || frame[k] > (frames > 4 ?
			    frames - 4 : 0);
	}
	is(wrong, 0, "stacks of 4 frames begin at frames 0 to n - 4");
}

int
main(void)
{
	struct set set = { .dir = "set", .shards = 1, .samples = 6,
		.frames = frames_of, .width = width_of, .height = height_of,
		.frame = frame, .tags = tags, .flow = flow };

	for (jpeg = 0; jpeg < 2; jpeg++) {
		char root[] = "/tmp/vt-stacks.XXXXXX";
		struct dataset *d;

		set.ext = jpeg ? "jpg" : "png";
		d = set_open(&set, root);
		clips(d);
		loader(d);
		set_close(d, root);
	}
	fits();
	return done();
}
