/*
 * Clips resized by the cuda back end, without a GPU: the bytes equal those of
 * image_resize.  The cases are both interpolation rules; regions of whole and
 * of fractional pixels, shrunk, stretched and mirrored; frames of other sizes,
 * repeated frames, and frames that the host resizes because the buffer is
 * full.  Clips that a loader sends raw equal those that it resizes itself.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "data/loader.h"
#include "media/jpeg.h"
#include "media/png.h"
#include "media/raw.h"

#include "gpu/standin/standin.h"
#include "jpeg_rgb.h"
#include "loader_set.h"
#include "tap.h"

enum { CLIPS = 70, FRAMES = 5, MAX = 61, WIDEST = 97 };

static struct rng rng = { 5, 1, 0, RNG_CLIP };

static int
between(int low, int high)
{
	return low + (int)rng_below(&rng, (uint32_t)(high - low + 1));
}

static double
within(double low, double high)
{
	return low + rng_uniform(&rng) * (high - low);
}

static struct image *
noise(int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)rng_below(&rng, 256);
	return m;
}

/* the properties of a set of clips */
struct kind {
	const char *say;
	int rule;
	int side, low, high;		/* the output side; bounds of the
					 * frames' widths and heights */
	int whole;			/* regions of whole pixels */
	size_t capacity;			/* bytes for a raw clip; 0: decoded_clip_bytes */
};

/* Return a random region of a frame, which may extend up to 0.4 pixels beyond
 * it. */
static struct region
part(const struct kind *k, const struct image *m)
{
	struct region r = { within(-0.4, m->w * 0.5), within(-0.4, m->h * 0.5),
		0, 0 };

	r.w = within(0.6, m->w - r.x + 0.4);
	r.h = within(0.6, m->h - r.y + 0.4);
	if (k->capacity)			/* most of the frame, which exceeds
					 * the buffer */
		return (struct region){ 0.3, 0.7, m->w - 1.1, m->h - 1.9 };
	if (k->whole) {
		r = (struct region){ between(0, m->w - 1), between(0, m->h - 1),
			0, 0 };
		r.w = between(1, m->w - (int)r.x);
		r.h = between(1, m->h - (int)r.y);
	}
	return r;
}

struct lot {
	uint8_t *raw, *want, *got;
	size_t at[CLIPS + 1], size;	/* bytes of a resized clip */
	int here;			/* frames that the host resized */
};

/* Write one raw clip to ${to}, and the expected pixels to ${want}. */
static size_t
make_clip(const struct kind *k, struct lot *lot, struct resizer *z,
    struct raw_clip *c, uint8_t *to, uint8_t *want)
{
	size_t frame = lot->size / FRAMES;
	struct image *m = noise(between(k->low, k->high),
	    between(k->low, k->high));
	struct region r = part(k, m);
	int flip = between(0, 1), how = k->rule | (between(0, 1) ? RESIZE_CUT :
	    0);

	raw_begin(c, to, k->capacity ? k->capacity : decoded_clip_bytes(FRAMES, k->side, k->high,
	    k->high), FRAMES, k->side);
	for (int i = 0; i < FRAMES; i++, want += frame) {
		int kind = i == 0 ? 0 : between(0, 9);

		if (kind == 9) {
			raw_repeat(c);
			memcpy(want, want - frame, frame);
			continue;
		}
		/* New pixels of the same size, and sometimes of another. */
		for (int p = 0; p < 3 * m->w * m->h; p++)
			m->data[p] = (uint8_t)rng_below(&rng, 256);
		if (kind == 8) {
			image_free(m);
			m = noise(between(k->low, k->high),
			    between(k->low, k->high));
			r = part(k, m);
			how ^= RESIZE_CUT;
		}
		image_resize(z, how, want, k->side, k->side, m->data, m->w,
		    m->h, r, flip);
		raw_add(c, z, how, m, r, flip);
		lot->here += ((struct decoded_frame *)(void *)to)[i].across == 0;
	}
	image_free(m);
	return raw_used(c);
}

static void
test(struct device *d, const struct kind *k)
{
	struct lot lot = { .size = FRAMES * 3 * (size_t)k->side *
		(size_t)k->side };
	size_t capacity = k->capacity ? k->capacity : decoded_clip_bytes(FRAMES, k->side, k->high,
	    k->high);
	struct resizer *z = resizer_new();
	struct raw_clip *c = raw_new();
	uint8_t *from, *to;
	int off = 0, over = 0;

	lot.raw = device_alloc_host(d, CLIPS * capacity);
	lot.want = xmalloc(CLIPS * lot.size);
	lot.got = xmalloc(CLIPS * lot.size);
	from = device_alloc(d, CLIPS * capacity);
	to = device_alloc(d, CLIPS * lot.size);
	for (int i = 0; i < CLIPS; i++) {
		size_t n = make_clip(k, &lot, z, c, lot.raw + lot.at[i],
		    lot.want + (size_t)i * lot.size);

		over += n > capacity || n % 16 != 0;
		lot.at[i + 1] = lot.at[i] + n;
	}
	device_upload_async(d, from, lot.raw, lot.at[CLIPS]);
	device_resize(d, to, from, lot.at, CLIPS, FRAMES, k->side);
	device_download(d, lot.got, to, CLIPS * lot.size);
	for (size_t i = 0; i < CLIPS * lot.size; i++)
		off += lot.got[i] != lot.want[i];
	ok(off == 0, "%s: the bytes equal those of "
	    "image_resize (%d differ)", k->say, off);
	is(over, 0, "no raw clip exceeds its buffer");
	if (k->capacity)
		ok(lot.here > CLIPS && lot.here < CLIPS * FRAMES,
		    "the host resizes some frames because the buffer is full "
		    "(%d)", lot.here);
	else if (k->high <= 2 * k->side)
		is(lot.here, 0, "the host resizes no frame");
	device_free(d, from);
	device_free(d, to);
	device_free_host(d, lot.raw);
	free(lot.want);
	free(lot.got);
	raw_free(c);
	resizer_free(z);
}

/* ---- a loader ---- */

enum { SAMPLES = 9 };

static int frames_of(int i) { return i % 4 == 3 ? 1 : 3 + i * 5 % 17; }
static int width_of(int i) { return i % 3 == 1 ? 71 : 171; }
static int height_of(int i) { return i % 3 == 1 ? 200 : 129; }

static struct image *
picture(int sample, int frame, int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)((i * (sample + 3) + frame * 41) % 251);
	return m;
}

static void
png_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = picture(sample, frame, w, h);

	png_encode(m, to);
	image_free(m);
}

static void
jpeg_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = picture(sample, frame, w, h);

	jpeg_encode_rgb(80, m, to);
	image_free(m);
}

/* Resize one raw clip from a copy of its used bytes, so that a read beyond them
 * is detected. */
static void
resize_clip(struct device *d, const struct stream *s, int i, uint8_t *to)
{
	size_t at[2] = { 0, s->decoded->used[i] };
	size_t size = 3 * (size_t)s->t * (size_t)s->h * (size_t)s->w;
	void *from = device_alloc(d, at[1]), *out = device_alloc(d, size);

	device_upload(d, from, s->bytes + (size_t)i * s->decoded->each, at[1]);
	device_resize(d, out, from, at, 1, s->t, s->w);
	device_download(d, to, out, size);
	device_free(d, from);
	device_free(d, out);
}

static void
test_loader(struct device *d, const char *ext, void (*frame)(int sample,
    int frame, int w, int h, struct buffer *to), enum crop_rule rule,
    const struct schedule *s)
{
	char root[] = "/tmp/vt-gpu.XXXXXX";
	struct set set = { .dir = "set", .ext = ext, .shards = 1,
		.samples = SAMPLES, .frames = frames_of, .width = width_of,
		.height = height_of, .frame = frame };
	struct dataset *data = set_open(&set, root);
	struct loader_options o = { .seed = 3, .threads = 2, .ranks = 1,
		.crop = crop_defaults, .memory = 1 << 20, .raw = 1 };
	struct loader *raw, *plain;
	struct microbatch *a, *b;
	int clips = 0, off = 0, more, other;

	o.crop.rule = rule;
	raw = loader_new(data, s, 0, &o);
	o.raw = 0;
	plain = loader_new(data, s, 0, &o);
	while ((more = loader_next(raw, &a)) == 1 &&
	    (more = loader_next(plain, &b)) == 1) {
		const struct stream *x = a->stream, *y = b->stream;
		size_t size = 3 * (size_t)y->t * (size_t)y->h * (size_t)y->w;
		uint8_t *got = xmalloc(size);

		for (int i = 0; i < a->n; i++, clips++) {
			resize_clip(d, x, i, got);
			off += memcmp(got, y->bytes + (size_t)i * size, size) !=
			    0 || a->clip[i] != b->clip[i];
		}
		off += y->decoded != NULL;
		free(got);
		loader_return(raw, a);
		loader_return(plain, b);
	}
	loader_free(raw);
	loader_free(plain);
	ok(more == 0 && clips > 20 && off == 0, "%s, crop rule %d: raw clips "
	    "of a loader equal its resized clips (%d)", ext, (int)rule,
	    clips);
	o.raw = 1;
	more = loader_microbatch_max(data, s, 0, &o) > 3 * 16 * 16 * 4 * 2;
	o.transforms.erase = 0.1;
	raw = loader_new(data, s, 0, &o);
	other = loader_next(raw, &a) == 1 && a->stream->decoded == NULL;
	loader_free(raw);
	ok(more && other, "the loader sends no raw clips if an effect changes "
	    "pixels");
	set_close(data, root);
}

static void
test_loaders(struct device *d)
{
	struct table *rows = table_parse("test", "#stage\tfirst\tlast\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t2\t0\t6\t4\t16\t2\t0.01\t0\t0\n"
	    "1\t2\t4\t0\t4\t6\t37\t2\t0.01\t0\t0\n");
	struct schedule *s = schedule_from_table(rows);

	test_loader(d, "png", png_frame, CROP_MULTISCALE, s);
	test_loader(d, "jpg", jpeg_frame, CROP_MULTISCALE, s);
	test_loader(d, "jpg", jpeg_frame, CROP_JITTER, s);
	test_loader(d, "jpg", jpeg_frame, CROP_RESIZED, s);
	schedule_free(s);
	table_free(rows);
}

int
main(void)
{
	static const struct kind kinds[] = {
		{ "bilinear, shrunk", RESIZE_BILINEAR, 31, 40, 62, 0, 0 },
		{ "bilinear, stretched", RESIZE_BILINEAR, MAX, 1, 33, 0, 0 },
		{ "bilinear, whole pixels", RESIZE_BILINEAR, 32, 2, 64, 1, 0 },
		{ "bilinear, much shrunk", RESIZE_BILINEAR, 5, 1, WIDEST, 0, 0 },
		{ "antialiased, shrunk", RESIZE_ANTIALIAS, 31, 40, 62, 0, 0 },
		{ "antialiased, stretched", RESIZE_ANTIALIAS, MAX, 1, 33, 0, 0 },
		{ "antialiased, whole pixels", RESIZE_ANTIALIAS, 32, 2, 64, 1,
		    0 },
		{ "antialiased, much shrunk", RESIZE_ANTIALIAS, 5, 1, WIDEST, 0,
		    0 },
		{ "antialiased, little room", RESIZE_ANTIALIAS, 31, 40, 62, 0,
		    20 << 10 },
		{ "bilinear, little room", RESIZE_BILINEAR, 31, 40, 62, 0,
		    20 << 10 },
	};
	struct device *d = device_open(standin_backend(STANDIN_AT_ONCE),
	    &(struct device_options){ .threads = 1 });

	ok(device_resizes(d), "the device can resize clips");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		test(d, &kinds[i]);
	test_loaders(d);
	device_close(d);
	return done();
}
