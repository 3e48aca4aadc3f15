/*
 * Both rules of resizing agree with outputs of Pillow and PyTorch and with the
 * exact formulas, on every instruction set.
 */
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "media/image.h"
#include "media/resize.h"

#include "tap.h"

static uint32_t state = 1;

/* The generator of tests/parity/resize.py. */
static uint8_t
noise(void)
{
	state = state * 1664525 + 1013904223;
	return (uint8_t)(state >> 8);
}

static int
between(int low, int high)
{
	return low + (noise() << 8 | noise()) % (high - low + 1);
}

static struct image *
noise_image(int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < w * h * 3; i++)
		m->data[i] = noise();
	return m;
}

/* ---- outputs of Pillow and PyTorch ---- */

/* Return the greatest difference of ${to} from bytes in hexadecimal. */
static int
worst(const uint8_t *to, size_t n, const char *hex)
{
	int largest = strlen(hex) == 2 * n ? 0 : 256;

	for (size_t i = 0; i < n && largest < 256; i++) {
		unsigned v = 0;

		sscanf(hex + 2 * i, "%2x", &v);
		if (abs((int)v - to[i]) > largest)
			largest = abs((int)v - to[i]);
	}
	return largest;
}

static void
test_golden(const char *name, int rule, int largest, const char *what)
{
	struct table *t = table_read(golden_path(name));
	struct resizer *z = resizer_new();
	int good = 0;

	for (size_t r = 0; r < t->rows; r++) {
		static const char *const column[] = { "seed", "from_w",
			"from_h", "x", "y", "w", "h", "cut", "to_w", "to_h" };
		int64_t v[10] = { 0 };
		struct image *m, *to;
		int off;

		for (int i = 0; i < 10; i++)
			table_int(t, r, column[i], 0, 1000, &v[i]);
		state = (uint32_t)v[0];
		m = noise_image((int)v[1], (int)v[2]);
		to = image_new((int)v[8], (int)v[9], 3);
		image_resize(z, &(struct resize_call){ rule | (v[7] ? RESIZE_CUT : 0), to->data, to->w,
		    to->h, m->data, m->w, m->h, (struct region){ (double)v[3],
		    (double)v[4], (double)v[5], (double)v[6] }, 0 });
		off = worst(to->data, 3 * (size_t)to->w * (size_t)to->h,
		    table_text(t, r, "pixels"));
		good += off <= largest;
		if (off > largest)
			diag("%s, line %d: off by %d", name, t->line[r], off);
		image_free(m);
		image_free(to);
	}
	ok(good == (int)t->rows && good > 20,
	    "%s (%d of %d images)", what, good,
	    (int)t->rows);
	resizer_free(z);
	table_free(t);
}

/* ---- the formula ---- */

/* Return the weight of pixel ${k} for output ${i}. */
static double
weight(double start, double scale, int i, int k)
{
	double reach = scale > 1 ? scale : 1;
	double x = fabs(k + 0.5 - (start + (i + 0.5) * scale)) / reach;

	return x < 1 ? 1 - x : 0;
}

/* Return an exact value, without rounding between the axes. */
static double
exact(const struct image *m, struct region r, int w, int h, int how, int i,
    int j, int c)
{
	double sum = 0, all = 0;
	int x0, x1, y0, y1;

	resize_inside(how, r.x, r.w, m->w, &x0, &x1);
	resize_inside(how, r.y, r.h, m->h, &y0, &y1);
	for (int y = y0; y < y1; y++)
		for (int x = x0; x < x1; x++) {
			double k = weight(r.x, r.w / w, i, x) *
			    weight(r.y, r.h / h, j, y);

			sum += k * m->data[(y * m->w + x) * 3 + c];
			all += k;
		}
	return sum / all;
}

/*
 * Resize by every function, with marked bytes around the output.  Return 1 if
 * the marks stay and all functions agree.  The result is in ${to}.
 */
static int
resized(uint8_t *to, int w, int h, const struct image *m, struct region r,
    int how, int flip)
{
	size_t n = (size_t)w * (size_t)h * 3;
	uint8_t *buffer = xmalloc(n + 64);
	int good = 1, many;
	const struct resize_code *code = resize_codes(&many);

	for (int k = 0; k < many; k++) {
		struct resizer *z = resizer_new();

		memset(buffer, 0x5a, n + 64);
		resize_by(&code[k], z, &(struct resize_call){ how, buffer + 32, w,
			h, m->data, m->w, m->h, r, flip });
		resizer_free(z);
		for (size_t i = 0; i < 32; i++)
			good &= buffer[i] == 0x5a && buffer[n + 32 + i] == 0x5a;
		good &= k == 0 || memcmp(to, buffer + 32, n) == 0;
		memcpy(to, buffer + 32, n);
	}
	free(buffer);
	return good;
}

/* ---- the bilinear formula ---- */

static double
clamped(const struct image *m, int x, int y, int c)
{
	x = x < 0 ? 0 : x >= m->w ? m->w - 1 : x;
	y = y < 0 ? 0 : y >= m->h ? m->h - 1 : y;
	return m->data[(y * m->w + x) * 3 + c];
}

/*
 * Return the bilinear value at (x, y), where pixel centers have integer
 * coordinates.
 */
static double
bilinear(const struct image *m, double x, double y, int c)
{
	double fx, fy;
	int ix, iy;

	x = x < 0 ? 0 : x > m->w - 1 ? m->w - 1 : x;
	y = y < 0 ? 0 : y > m->h - 1 ? m->h - 1 : y;
	ix = (int)floor(x);
	iy = (int)floor(y);
	fx = x - ix;
	fy = y - iy;
	return (1 - fy) * ((1 - fx) * clamped(m, ix, iy, c) +
	    fx * clamped(m, ix + 1, iy, c)) +
	    fy * ((1 - fx) * clamped(m, ix, iy + 1, c) +
	    fx * clamped(m, ix + 1, iy + 1, c));
}

/* Return the greatest difference from the rounded exact value. */
static int
bilinear_worst(const struct image *m, const uint8_t *to, int w, int h, struct region r,
    int flip)
{
	int largest = 0;

	for (int j = 0; j < h; j++)
		for (int i = 0; i < w; i++)
			for (int c = 0; c < 3; c++) {
				int k = flip ? w - 1 - i : i;
				double v = bilinear(m, r.x + (k + 0.5) * r.w / w -
				    0.5, r.y + (j + 0.5) * r.h / h - 0.5, c);
				int e = abs(to[(j * w + i) * 3 + c] -
				    (int)floor(v + 0.5));

				largest = e > largest ? e : largest;
			}
	return largest;
}

static void
test_bilinear(void)
{
	static uint8_t to[300 * 300 * 3];
	int many, largest = 0, agree = 1;

	resize_codes(&many);
	for (int k = 0; k < 400; k++) {
		struct image *m = noise_image(between(1, 90), between(1, 60));
		int w = between(1, 70), h = between(1, 50), flip = k & 1, e;
		/*
		 * Integer and fractional regions, inside and outside of the
		 * image.
		 */
		struct region r = { between(-20, 60) / (k % 3 + 1.0),
			between(-20, 40) / (k % 3 + 1.0),
			between(1, 90) / (k % 5 + 1.0),
			between(1, 60) / (k % 5 + 1.0) };

		agree &= resized(to, w, h, m, r, RESIZE_BILINEAR, flip);
		e = bilinear_worst(m, to, w, h, r, flip);
		if (e > 1)
			diag("%dx%d, region %g %g %g %g to %dx%d: off by %d",
			    m->w, m->h, r.x, r.y, r.w, r.h, w, h, e);
		largest = e > largest ? e : largest;
		image_free(m);
	}
	ok(agree, "the %d copies of bilinear resize agree and write only their output",
	    many);
	ok(largest <= 1, "bilinear resize is within 1 of the exact value (%d)", largest);
}

static void
test_formula(void)
{
	static uint8_t to[80 * 60 * 3];
	double largest = 0;
	int agree = 1, many;

	resize_codes(&many);
	for (int k = 0; k < 150; k++) {
		struct image *m = noise_image(between(1, 90), between(1, 60));
		int w = between(1, 70), h = between(1, 50), flip = k & 1;
		int how = RESIZE_ANTIALIAS | (k & 2 ? RESIZE_CUT : 0);
		double part = k % 3 + 1;
		/* Integer and fractional regions within the image. */
		struct region r = { between(0, m->w - 1) / part,
			between(0, m->h - 1) / part, 0, 0 };

		r.w = between(1, m->w - (int)ceil(r.x)) / part;
		r.h = between(1, m->h - (int)ceil(r.y)) / part;
		agree &= resized(to, w, h, m, r, how, flip);
		for (int p = 0; p < 60; p++) {
			int i = between(0, w - 1), j = between(0, h - 1);
			int c = p % 3;
			double off = fabs(to[(j * w + (flip ? w - 1 - i : i)) *
			    3 + c] - exact(m, r, w, h, how, i, j, c));

			largest = off > largest ? off : largest;
		}
		image_free(m);
	}
	ok(agree,
	    "the %d copies of resize agree and write only their output", many);
	/* Half a level in each of the two passes. */
	ok(largest <= 1.001,
	    "antialiased resize is the formula, rounded twice (%.3f)", largest);
}

/* Resize as a loader does, and shrink by up to 4. */
static void
test_sizes(void)
{
	static uint8_t to[230 * 230 * 3];
	int many, agree = 0, tried = 0;

	resize_codes(&many);
	for (int k = 0; k < 40; k++) {
		struct image *m = noise_image(between(200, 400),
			between(120, 260));
		int by = 1 + k % 4;

		for (int i = 0; i < 6; i++, tried++) {
			int w = i == 0 ? 224 : between(100, 230);
			int h = i == 1 ? 224 : between(60, 230);
			int how = RESIZE_ANTIALIAS | (i & 1 ? RESIZE_CUT : 0);
			struct region r = { between(0, 20) / 2.0,
				between(0, 20) / 2.0, 0, 0 };

			r.w = i == 2 ? w : between(80, m->w - 10);
			r.h = i == 3 ? h : between(60, m->h - 10);
			agree += resized(to, w / by, h / by, m, r, how, i & 2);
		}
		image_free(m);
	}
	ok(agree == tried, "the %d copies agree at the sizes of a loader "
	    "(%d of %d)", many, agree, tried);
}

/* Resize the crops of TSM's rule, whose weights have words. */
static void
test_words(void)
{
	static uint8_t to[224 * 224 * 3];
	static const int size[] = { 256, 224, 192, 168 };
	int many, agree = 0;

	resize_codes(&many);
	for (int k = 0; k < 16; k++) {
		struct image *m = noise_image(between(256, 400), 256);
		int w = size[k / 4], h = size[k % 4];
		struct region r = { between(0, m->w - w), between(0, m->h - h),
			w, h };

		agree += resized(to, 224, 224, m, r, RESIZE_ANTIALIAS, 0);
		agree += resized(to, 224, 224, m, r, RESIZE_ANTIALIAS, 1);
		agree += resized(to, 112, 224, m, r, RESIZE_ANTIALIAS, 0);
		image_free(m);
	}
	ok(agree == 48, "the %d copies agree on the crops of TSM's rule "
	    "(%d of 48)", many, agree);
}

static void
test_same(int how, const char *rule)
{
	static uint8_t to[101 * 77 * 3], back[101 * 77 * 3];
	struct image *m = noise_image(101, 77);
	struct region all = { 0, 0, 101, 77 }, part = { 13, 9, 64, 41 };
	int same, mirrored = 1;

	same = resized(to, 101, 77, m, all, how, 0) &&
	    memcmp(to, m->data, 101 * 77 * 3) == 0;
	ok(same, "%s: an image resized to its own size is unchanged", rule);
	resized(to, 64, 41, m, part, how, 0);
	for (int y = 0; y < 41; y++)
		same &= memcmp(to + y * 64 * 3,
		    m->data + ((y + 9) * 101 + 13) * 3, 64 * 3) == 0;
	ok(same, "%s: a region resized to its own size is unchanged", rule);
	for (int w = 1; w < 70; w++) {
		mirrored &= resized(to, w, 41, m, part, how, 0) &&
		    resized(back, w, 41, m, part, how, 1);
		for (int i = 0; i < w * 41; i++)
			mirrored &= memcmp(to + 3 * i, back +
			    3 * (i / w * w + w - 1 - i % w), 3) == 0;
	}
	ok(mirrored, "%s: a flipped resize mirrors the unflipped one", rule);
	/* A constant survives all weights: nothing drifts or overflows. */
	for (int v = 0; v < 256; v++) {
		memset(m->data, v, 101 * 77 * 3);
		resized(to, 83, 3, m, (struct region){ 1.3, 0.7, 71.1, 60.7 },
		    how, v & 1);
		for (int i = 0; i < 83 * 3 * 3; i++)
			same &= to[i] == v;
	}
	ok(same, "%s: a constant image stays constant", rule);
	image_free(m);
}

/* RESIZE_CUT reads no pixel outside the region, under both rules. */
static void
test_cut(void)
{
	static uint8_t to[40 * 30 * 3], again[40 * 30 * 3];
	struct resizer *z = resizer_new();
	int same = 1, differs = 0;

	for (int k = 0; k < 200; k++) {
		struct image *m = noise_image(60, 50);
		int rule = k & 1 ? RESIZE_ANTIALIAS : RESIZE_BILINEAR;
		int x = between(1, 30), y = between(1, 20), w = between(3, 29);
		int h = between(3, 29), cut = k & 2 ? RESIZE_CUT : 0;
		struct region r = { x, y, w, h };

		image_resize(z, &(struct resize_call){ rule | cut, to, 40, 30,
			m->data, 60, 50, r, 0 });
		for (int i = 0; i < 60 * 50; i++)
			if (i % 60 < x || i % 60 >= x + w || i / 60 < y ||
			    i / 60 >= y + h)
				memset(m->data + 3 * i, 0, 3);
		image_resize(z, &(struct resize_call){ rule | cut, again, 40, 30,
			m->data, 60, 50, r, 0 });
		if (cut)
			same &= memcmp(to, again, sizeof(to)) == 0;
		else
			differs += memcmp(to, again, sizeof(to)) != 0;
		image_free(m);
	}
	ok(same, "pixels outside a cut region change nothing");
	ok(differs > 80, "pixels outside a region that is not cut change the "
	    "result (%d of 100)", differs);
	resizer_free(z);
}

/*
 * A resizer keeps the plan of the previous call.  Calls that each change one
 * parameter must give what a new resizer gives.
 */
static void
test_kept(void)
{
	static uint8_t to[48 * 48 * 3], again[48 * 48 * 3];
	struct image *m = noise_image(64, 64);
	struct resizer *kept = resizer_new();
	int v[9] = { 0, 0, 40, 30, 60, 5, 5, 40, 40 }, same = 0;

	for (int k = 0; k < 2000; k++) {
		/*
		 * Rule and cut, flip, size of the result, row length, place and
		 * size of the region.
		 */
		static const int low[9] = { 0, 0, 8, 8, 41, 0, 0, 20, 20 };
		static const int high[9] = { 3, 1, 48, 48, 64, 20, 20, 40, 40 };
		int i = between(0, 8);
		struct resizer *z = resizer_new();
		struct region r;
		size_t n;

		v[i] = between(low[i], high[i]);
		r = (struct region){ v[5] / 2.0, v[6] / 2.0, v[7], v[8] };
		n = 3 * (size_t)v[2] * (size_t)v[3];
		image_resize(kept, &(struct resize_call){ v[0], to, v[2], v[3],
			m->data, v[4], 64, r, v[1] });
		image_resize(z, &(struct resize_call){ v[0], again, v[2], v[3],
			m->data, v[4], 64, r, v[1] });
		same += memcmp(to, again, n) == 0;
		resizer_free(z);
	}
	ok(same == 2000,
	    "a plan kept from earlier calls changes nothing (%d of 2000)",
	    same);
	resizer_free(kept);
	image_free(m);
}

int
main(void)
{
	test_golden("resize_pillow.tsv", RESIZE_ANTIALIAS, 0,
	    "antialiased: equals Pillow");
	test_golden("resize_torch.tsv", RESIZE_BILINEAR, 1,
	    "bilinear: within 1 of PyTorch");
	test_bilinear();
	test_formula();
	test_sizes();
	test_words();
	test_same(RESIZE_BILINEAR, "bilinear");
	test_same(RESIZE_ANTIALIAS, "antialiased");
	test_cut();
	test_kept();
	return done();
}
