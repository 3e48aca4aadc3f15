/*
 * Videos: frame rates, resampling in time, colors, JPEG frames and gaps follow
 * their definitions, and videos written with many encoders read back.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "media/fps.h"
#include "media/jpeg.h"
#include "media/plane.h"
#include "media/video.h"
#include "../../share/demo/encode.h"
#include "said.h"
#include "tap.h"

/* For builds with the leak sanitizer: libx265 3.5 itself leaks. */
const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
	return "leak:libx265";
}

static char dir[] = "/tmp/vt-video.XXXXXX";

/* ---- frame rates ---- */

static void
test_parse(void)
{
	static const struct { const char *text; int num, den; } good[] = {
		{ "25", 25, 1 }, { "29.97", 2997, 100 }, { "12.50", 25, 2 },
		{ "30000/1001", 30000, 1001 }, { "50/2", 25, 1 },
		{ "0.5", 1, 2 }, { "1000", 1000, 1 },
	};
	static const char *const bad[] = { "", "0", "-5", "1001", "x", "3x",
		"1/0", "/2", "2/", "1.", ".5", "1e3", " 1", "1.1234567",
		"99999999999999999999" };
	struct fraction f;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(fps_parse(good[i].text, &f) == 0 && f.num == good[i].num &&
		    f.den == good[i].den,
		    "fps_parse: rate %s is %d/%d", good[i].text,
		    good[i].num, good[i].den);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(fps_parse(bad[i], &f) != 0,
		    "fps_parse: \"%s\" is refused", bad[i]);
}

static void
check_find(const char *what, const int64_t *t, size_t n, struct fraction tick,
    struct fraction hint, int constant, struct fraction want)
{
	struct fraction got;
	int r = fps_find(t, n, tick, &hint, 1, &got);

	if (!ok(r == constant && got.num == want.num && got.den == want.den,
	    "%s: %s %d/%d", what, constant ? "constant" : "mean", want.num,
	    want.den))
		diag("got %s %d/%d", r ? "constant" : "mean", got.num, got.den);
}

static void
test_find(void)
{
	struct fraction ms = { 1, 1000 }, none = { 0, 0 }, f25 = { 25, 1 };
	struct fraction ntsc = { 30000, 1001 }, frame = { 1, 25 };
	int64_t t[1000];

	for (int i = 0; i < 1000; i++)
		t[i] = i;
	check_find("fps_find: ticks of one frame", t, 1000, frame, f25, 1, f25);
	check_find("fps_find: no hint", t, 1000, frame, none, 1, f25);
	t[999]++;
	check_find("fps_find: one frame dropped near the end",
	    t, 1000, frame, f25, 0,
	    (struct fraction){ 999, 40 });
	for (int i = 0; i < 1000; i++)
		t[i] = (int64_t)(i * 1001 / 30.0 + 0.5);
	check_find("fps_find: NTSC in milliseconds",
	    t, 1000, ms, ntsc, 1, ntsc);
	check_find("fps_find: NTSC without a hint", t, 1000, ms, none, 1, ntsc);
	check_find("fps_find: a wrong hint",
	    t, 1000, ms, (struct fraction){ 30, 1 }, 1,
	    ntsc);
	for (int i = 0; i < 90; i++)
		t[i] = i < 45 ? i * 33 : 45 * 33 + (i - 45) * 83;
	check_find("fps_find: two rates", t, 90, ms, f25, 0,
	    (struct fraction){ 89000, 5137 });
	check_find("fps_find: one frame", t, 1, ms, f25, 1, f25);
	check_find("fps_find: one frame with an absurd rate", t, 1, ms,
	    (struct fraction){ 90000, 1 }, 1, none);
	for (int i = 0; i < 5; i++)
		t[i] = i;
	check_find("fps_find: frames at the same time",
	    t, 5, (struct fraction){ 1, 1000000 },
	    none, 0, none);
	t[0] = 0;
	t[1] = INT64_MAX / 5;
	check_find("fps_find: frames an age apart", t, 2,
	    (struct fraction){ INT32_MAX, 1 }, none, 0, none);
	is(fps_100us(t[1], (struct fraction){ INT32_MAX, 1 }), INT64_MAX,
	    "fps_100us: an age is clamped");
	is(fps_100us(1001, (struct fraction){ 1, 30000 }), 334,
	    "fps_100us: 33.37 ms is 334 tenths");
	is(fps_100us(1, (struct fraction){ 1, 20000 }), 1,
	    "fps_100us: halves round up");
	is(fps_100us((int64_t)1 << 40, (struct fraction){ 1, 90000 }),
	    122167958642ll, "fps_100us: a long time is exact");
}

/*
 * Return for each output frame the input frame that is displayed, as digits.
 * Valid until the next call.
 */
static const char *
shown(const int64_t *t, int n, int64_t end, struct fraction tick,
    struct fraction rate)
{
	static char text[64];
	int64_t k = 0;
	int at = 0;

	for (int i = 0; i < n; i++)
		for (; fps_shows(k, rate, t[i], i + 1 < n ? t[i + 1] : end,
		    tick); k++)
			text[at++] = (char)('0' + i);
	text[at] = '\0';
	return text;
}

static void
test_resample(void)
{
	static const int64_t even[] = { 0, 1, 2, 3, 4, 5 };
	static const int64_t vfr[] = { 0, 100, 300, 400, 1000 };
	struct fraction tick = { 1, 30 }, ms = { 1, 1000 };
	int64_t last = -1, k = 0;
	int drift = 0;

	is_text(shown(even, 6, 6, tick, (struct fraction){ 30, 1 }), "012345",
	    "resample: the same rate keeps every frame");
	is_text(shown(even, 6, 6, tick, (struct fraction){ 15, 1 }), "024",
	    "resample: half the rate takes every second frame");
	is_text(shown(even, 6, 6, tick, (struct fraction){ 60, 1 }),
	    "001122334455",
	    "resample: twice the rate repeats; ties go to the earlier frame");
	is_text(shown(even, 6, 6, tick, (struct fraction){ 20, 1 }), "0134",
	    "resample: 20 of 30: 0, 1.5 (tie), 3, 4.5 (tie)");
	is_text(shown(vfr, 5, 1100, ms, (struct fraction){ 10, 1 }),
	    "01123333444",
	    "resample: a variable rate takes the nearest frame in time");
	is_text(shown(vfr, 5, 1040, ms, (struct fraction){ 1, 1 }), "04",
	    "resample: one frame per second");
	/* An hour of NTSC at 30: frame k is within half a frame. */
	for (int64_t i = 0; i < 107892; i++)
		for (; fps_shows(k, (struct fraction){ 30, 1 }, i * 1001,
		    (i + 1) * 1001, (struct fraction){ 1, 30000 }); k++) {
			double off = (double)k / 30 - (double)i * 1001 / 30000;

			drift |= fabs(off) > 0.5 * 1001 / 30000 + 1e-9;
			last = i;
		}
	is(k, 108000, "resample: an hour at 29.97 is 108000 frames at 30");
	ok(!drift && last == 107891, "resample: an hour has no drift");
}

/* ---- planes ---- */

/* The definitions, in double, pixel by pixel. */
static double
jfif(struct plane_color c, int y, int b, int r, int which)
{
	double kg = 1 - c.kr - c.kb;
	double l = c.full ? y / 255.0 : (y - 16) / 219.0;
	double cb = (b - 128) / (c.full ? 255.0 : 224.0);
	double cr = (r - 128) / (c.full ? 255.0 : 224.0);
	double red = l + 2 * (1 - c.kr) * cr, blue = l + 2 * (1 - c.kb) * cb;
	double green = (l - c.kr * red - c.kb * blue) / kg;
	double luma = 0.299 * red + 0.587 * green + 0.114 * blue, v;

	v = which == 0 ? 255 * luma : which == 1 ? 128 + 255 * (blue - luma) /
	    1.772 : 128 + 255 * (red - luma) / 1.402;
	return v < 0 ? 0 : v > 255 ? 255 : v;
}

static void
fill(struct planes *p, unsigned seed)
{
	for (int i = 0; i < 3; i++)
		for (int y = 0; y < (i > 0 ? (p->h + 1) / 2 : p->h); y++)
			for (int x = 0; x < p->stride[i]; x++) {
				seed = seed * 1103515245 + 12345;
				p->plane[i][y * p->stride[i] + x] =
				    (uint8_t)(seed >> 16);
			}
}

static void
test_color(const char *what, struct plane_color c)
{
	struct plane_buffer a = { 0 }, b = { 0 };
	struct planes *from = plane_buffer_resize(&a, 67, 35);
	struct planes *to = plane_buffer_resize(&b, 67, 35);
	double worst = 0;

	fill(from, 1);
	plane_to_jfif(to, from, c);
	for (int y = 0; y < from->h; y++)
		for (int x = 0; x < from->w; x++) {
			int at = y * from->stride[0] + x;
			int chroma = y / 2 * from->stride[1] + x / 2;

			for (int i = 0; i < 3; i++) {
				double want = jfif(c, from->plane[0][at],
				    from->plane[1][chroma],
				    from->plane[2][chroma], i);
				int got = to->plane[i][i > 0 ? chroma : at];

				worst = fmax(worst, fabs(got - want));
			}
		}
	near(worst, 0, 0.6, what);
	plane_to_jfif(from, from, c);
	ok(memcmp(from->plane[0], to->plane[0], 67) == 0 &&
	    memcmp(from->plane[2], to->plane[2], 34) == 0, "%s, in place",
	    what);
	plane_buffer_free(&a);
	plane_buffer_free(&b);
}

/* Every instruction set of this machine gives the same bytes. */
static void
test_isa(void)
{
	struct plane_factors f = { 9539, -152624, 974, 1883, 9441, -1036, -676,
		9380 };
	uint8_t from[3][512], base[3][512], got[3][512];
	int32_t add[1024], add_got[1024];

	for (int i = 0; i < 512; i++)
		for (int k = 0; k < 3; k++)
			from[k][i] = (uint8_t)(i * 7 + k * 91 + i * i);
	plane_chroma_row_base(base[1], base[2], from[1], from[2], add, 256, &f);
	plane_luma_row_base(base[0], from[0], add, 511, &f);
#if defined(__x86_64__)
	for (enum isa i = ISA_AVX2; i <= ISA_AVX512; i++) {
		if (i > isa_best()) {
			skip(isa_name(i), "this processor lacks it");
			continue;
		}
		if (i == ISA_AVX2) {
			plane_chroma_row_avx2(got[1], got[2], from[1], from[2],
			    add_got, 256, &f);
			plane_luma_row_avx2(got[0], from[0], add_got, 511, &f);
		} else {
			plane_chroma_row_avx512(got[1], got[2], from[1],
			    from[2], add_got, 256, &f);
			plane_luma_row_avx512(got[0], from[0], add_got, 511,
			    &f);
		}
		ok(memcmp(got[0], base[0], 511) == 0 &&
		    memcmp(got[1], base[1], 256) == 0 &&
		    memcmp(got[2], base[2], 256) == 0,
		    "%s: the same bytes as the base",
		    isa_name(i));
	}
#endif
	(void)got, (void)add_got;
}

static void
test_turn(int swap, int mirror, int flip)
{
	enum { W = 37, H = 21 };
	uint8_t from[W * H * 3], to[W * H * 3];
	struct plane_turn t = { swap, mirror, flip };
	int w = swap ? H : W, h = swap ? W : H, wrong = 0;

	for (int i = 0; i < W * H * 3; i++)
		from[i] = (uint8_t)(i * 31 + i / 256);
	plane_turn_bytes(to, 3 * w, w, h, from, 3 * W, 3, t);
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			int u = mirror ? w - 1 - x : x;
			int v = flip ? h - 1 - y : y;
			int sx = swap ? v : u, sy = swap ? u : v;

			wrong += memcmp(to + 3 * (y * w + x),
			    from + 3 * (sy * W + sx), 3) != 0;
		}
	is(wrong, 0, swap ? "plane_turn moves every pixel, with axes swapped" :
	    "plane_turn moves every pixel");
}

/* ---- JPEG ---- */

/* Read width and height from the frame header of a JPEG file. */
static int
jpeg_header(const struct buffer *b, int *w, int *h)
{
	const uint8_t *p = (const uint8_t *)b->data;

	for (size_t i = 2; i + 9 < b->n; i += 2u + (p[i + 2] << 8 | p[i + 3]))
		if (p[i] == 0xff && p[i + 1] == 0xc0) {
			*h = p[i + 5] << 8 | p[i + 6];
			*w = p[i + 7] << 8 | p[i + 8];
			return p[i + 11] == 0x22 ? 0 : -1;	/* 4:2:0 */
		}
	return -1;
}

static void
test_jpeg(void)
{
	static const int size[][2] = { { 1, 1 }, { 2, 2 }, { 7, 9 }, { 8, 8 },
		{ 16, 16 }, { 17, 15 }, { 340, 256 }, { 341, 255 } };
	struct jpeg_encoder *e = jpeg_encoder_new(90);
	struct buffer b = { 0 }, c = { 0 };
	struct plane_buffer a = { 0 };
	char why[200];
	int w = 0, h = 0, r;

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		struct planes *p = plane_buffer_resize(&a, size[i][0], size[i][1]);
		const uint8_t *const *from = (const uint8_t *const *)p->plane;

		fill(p, 5);
		b.n = c.n = 0;
		r = jpeg_encode_planes(e, from, p->stride, p->w, p->h, &b);
		ok(r == 0 && jpeg_header(&b, &w, &h) == 0 && w == p->w &&
		    h == p->h, "JPEG of %dx%d, 4:2:0", p->w, p->h);
		/* Bytes after the frame's columns must not matter. */
		for (int y = 0; y < p->h; y++)
			memset(p->plane[0] + y * p->stride[0] + p->w, 99,
			    (size_t)(p->stride[0] - p->w));
		jpeg_encode_planes(e, from, p->stride, p->w, p->h, &c);
		ok(b.n == c.n && memcmp(b.data, c.data, b.n) == 0,
		    "JPEG: bytes beyond the frame change nothing");
	}
	b.n = 0;
	buffer_text(&b, "before");
	r = jpeg_encode_planes(e, (const uint8_t *const *)a.p.plane, a.p.stride,
	    16, 8, &b);
	ok(r == 0 && memcmp(b.data, "before\377\330", 8) == 0,
	    "JPEG: the file is appended to the buffer");
	b.n = 6;
	said_begin(why, sizeof(why));
	r = jpeg_encode_planes(e, (const uint8_t *const *)a.p.plane,
	    a.p.stride, 70000, 10, &b);
	said_end();
	ok(r == -1 && b.n == 6 && strstr(why, "70000x10") != NULL,
	    "JPEG: a frame that is too wide is refused: %s", why);
	buffer_free(&b);
	buffer_free(&c);
	plane_buffer_free(&a);
	jpeg_encoder_free(e);
}

/* ---- gaps ---- */

/*
 * Return the gaps in ${n} frames ${step} hundredths of a millisecond apart,
 * rounded to milliseconds.  Frames marked by x in ${without} are missing.
 */
static size_t
gaps(size_t n, int64_t step, const char *without, size_t *first)
{
	struct video_frame f[64];
	struct fraction ms = { 1, 1000 };
	size_t k = 0, marks = strlen(without);

	for (size_t i = 0; i < n; i++) {
		int64_t at = ((int64_t)i * step + 50) / 100;

		if (i >= marks || without[i] != 'x')
			f[k++] = (struct video_frame){ at, at + step / 100 };
	}
	return fps_gaps(f, k, ms, first);
}

static void
test_gaps(void)
{
	struct video_frame odd[8] = { { 0, 40 }, { 40, 80 }, { 80, 120 },
		{ 200, 240 }, { 240, 280 }, { 400, 440 }, { 800, 840 },
		{ 840, 880 } };
	struct video_frame held[12], late[40];
	struct fraction ms = { 1, 1000 };
	size_t first = 99;

	is((long long)gaps(40, 3333, "", &first), 0,
	    "gaps: 30 per second has none");
	is((long long)gaps(40, 3333, "       x", &first), 1,
	    "gaps: one missing frame is found");
	is((long long)first, 6,
	    "gaps: the first gap is where the frame is missing");
	is((long long)gaps(40, 1667, "  xx     x", &first), 2,
	    "gaps: two in 60 per second, in milliseconds");
	is((long long)gaps(40, 834, "       x", &first), 1,
	    "gaps: one in 120 per second, in milliseconds");
	is((long long)gaps(6, 4000, "  x", &first), 1,
	    "gaps: one in five frames");
	is((long long)gaps(30, 4000, "x", &first), 0,
	    "gaps: a later beginning is none");
	is((long long)fps_gaps(odd, 8, ms, &first), 0,
	    "gaps: a variable rate has none");
	for (int i = 0; i < 12; i++)
		held[i] = (struct video_frame){ i * 40 + (i > 6) * 80,
			i * 40 + 40 + (i > 5) * 80 };
	is((long long)fps_gaps(held, 12, ms, &first), 0,
	    "gaps: a frame of longer declared duration is none");
	/* The times of frames 12 to 14 are one frame too late. */
	for (int i = 0; i < 40; i++) {
		int64_t at = i * 40 + (i >= 12 && i < 15) * 40 - (i == 14) * 39;

		late[i] = (struct video_frame){ at, at + 40 };
	}
	is((long long)fps_gaps(late, 40, ms, &first), 0,
	    "gaps: late times that later frames make up for are none");
	for (int i = 15; i < 40; i++)
		late[i].time += 80;
	is((long long)fps_gaps(late, 40, ms, &first), 1,
	    "gaps: a missing frame after late times is found");
}

/* ---- written and read back ---- */

/* Draw a gray ramp whose brightness tells the frame. */
static void
paint(struct image *m, int frame)
{
	for (int i = 0; i < m->w * m->h; i++) {
		m->data[3 * i] = (uint8_t)(40 + 10 * frame);
		m->data[3 * i + 1] = (uint8_t)(40 + 10 * frame);
		m->data[3 * i + 2] = (uint8_t)(40 + 10 * frame + i % m->w / 2);
	}
}

static int
write_video(const char *path, const char *codec, int frames)
{
	struct encoder_options o = { codec, 64, 48, { 25, 2 }, 90, 6 };
	struct encoder *e = encoder_open(path, &o);
	struct image *m = image_new(64, 48, 3);
	int r = e == NULL ? -1 : 0;

	for (int i = 0; i < frames && r == 0; i++) {
		paint(m, i);
		r = encoder_add(e, m);
	}
	image_free(m);
	if (r == 0)
		return encoder_done(e);
	encoder_drop(e);
	return -1;
}

static void
read_video(const char *path, const char *codec, int frames)
{
	struct video_limits limits = { 1 << 20 };
	int fd = open(path, O_RDONLY), n = 0, wrong = 0;
	struct video *v = video_open(fd, path, &limits);
	const struct video_account *a;
	struct video_frame f;
	int64_t t[64];
	struct fraction rate = { 0, 0 };

	if (!ok(v != NULL, "%s: opens", codec)) {
		close(fd);
		return;
	}
	while (n < 64 && video_next(v, &f) == 1) {
		const struct planes *p = video_planes(v, 32, 24);
		const struct image *m = video_rgb(v, 64, 48);

		wrong += p == NULL || m == NULL ||
		    abs(p->plane[0][p->stride[0] * 12 + 4] - 40 - 10 * n) > 4 ||
		    abs(m->data[3 * (64 * 24 + 8)] - 40 - 10 * n) > 4;
		t[n++] = f.time;
	}
	a = video_account(v);
	is(n, frames, "all frames are read back");
	is(wrong, 0, "frames are in order and have their brightness");
	ok(a->frames == frames && !a->truncated && a->damage == 0,
	    "the account has all frames and no damage%s%s",
	    *a->message ? ": " : "", a->message);
	ok(fps_find(t, (size_t)n, video_info(v)->tick, video_info(v)->rate, 2,
	    &rate) == 1 && rate.num == 25 && rate.den == 2,
	    "the rate is 25/2 (%d/%d)", rate.num, rate.den);
	near(a->decoded, frames / 12.5, 0.09, "the decoded duration is right");
	video_free(v);
	close(fd);
}

static void
test_round_trip(const char *codec, const char *extension)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s.%s", dir, codec, extension);
	if (!encoder_known(codec)) {
		skip(codec, "this FFmpeg has no such encoder");
		return;
	}
	if (ok(write_video(path, codec, 20) == 0, "%s: is written to %s", codec,
	    extension))
		read_video(path, codec, 20);
	unlink(path);
}

/* Draw a moving square on a static background. */
static void
paint_motion(struct image *m, int video, int frame)
{
	int side = m->h / 3, left = (frame * (2 + video % 3)) % (m->w - side);
	int top = (frame * (1 + video % 2)) % (m->h - side);

	for (int y = 0; y < m->h; y++)
		for (int x = 0; x < m->w; x++) {
			int inside = x >= left && x < left + side &&
			    y >= top && y < top + side;
			int v = inside ? 7 * (x - left) + 5 * (y - top) :
			    (x * x / 7 + y * (13 + video)) % 90;
			uint8_t *to = m->data + 3 * ((size_t)y *
			    (size_t)m->w + (size_t)x);

			to[0] = (uint8_t)(v + (inside ? 90 : 40));
			to[1] = (uint8_t)(v + 60);
			to[2] = (uint8_t)(v + video * 11);
		}
}

/* Write video ${number} and append its bytes to ${b}. */
static int
write_motion(const char *codec, int number, struct buffer *b)
{
	static const int size[][2] = { { 72, 72 }, { 96, 72 }, { 128, 72 },
		{ 80, 96 }, { 112, 84 }, { 144, 108 } };
	const int *s = size[number % 6];
	struct encoder_options o = { codec, s[0], s[1], { 25, 1 }, 80, 0 };
	struct image *m = image_new(o.w, o.h, 3);
	struct encoder *e;
	char path[64];
	int bad;

	snprintf(path, sizeof(path), "%s/motion.mp4", dir);
	e = encoder_open(path, &o);
	bad = e == NULL;
	for (int i = 0; i < 20 && !bad; i++) {
		paint_motion(m, number, i);
		bad = encoder_add(e, m);
	}
	image_free(m);
	if (bad)
		encoder_drop(e);
	else
		bad = encoder_done(e);
	if (!bad)
		bad = file_read(path, b);
	unlink(path);
	return bad;
}

/*
 * The same frames must make the same file, whatever other work left in memory:
 * x264 reads some bytes that it has not written.
 */
static void
test_same_bytes(const char *codec)
{
	struct buffer b[2] = { { 0 }, { 0 } };
	int differ = 0, bad = 0;

	if (!encoder_known(codec)) {
		skip(codec, "this FFmpeg has no such encoder");
		return;
	}
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 2; k++) {
			b[k].n = 0;
			bad |= write_motion(codec, i, &b[k]);
		}
		differ += b[0].n != b[1].n ||
		    memcmp(b[0].data, b[1].data, b[0].n) != 0;
	}
	buffer_free(&b[0]);
	buffer_free(&b[1]);
	is(bad, 0, "videos are written twice");
	if (!ok(differ == 0, "%s: the same frames make the same bytes", codec))
		diag("%d videos differ", differ);
}

static void
test_encoder_errors(void)
{
	struct encoder_options o = { "libx264", 64, 48, { 25, 1 }, 75, 0 };
	char why[300], path[64];
	struct image *m = image_new(8, 8, 3);
	struct encoder *e;

	snprintf(path, sizeof(path), "%s/x.nothing", dir);
	said_begin(why, sizeof(why));
	ok(encoder_open(path, &o) == NULL && strstr(said_now(), "extension") != NULL,
	    "encoder: an unknown container is refused");
	snprintf(path, sizeof(path), "%s/x.mkv", dir);
	o.codec = "nosuch";
	said_begin(why, sizeof(why));
	ok(encoder_open(path, &o) == NULL && strstr(said_now(), "nosuch") != NULL,
	    "encoder: an unknown encoder is refused by name");
	o.codec = "mpeg4";
	said_begin(why, sizeof(why));
	e = encoder_open(path, &o);
	ok(e != NULL && encoder_add(e, m) != 0 && strstr(said_now(), "8x8") != NULL,
	    "encoder: a frame of another size is refused");
	encoder_drop(e);
	said_end();
	ok(access(path, F_OK) != 0, "encoder: a dropped video leaves no file");
	image_free(m);
}

int
main(void)
{
	static const char *const kind[][2] = { { "libx264", "mp4" },
		{ "libx264", "mkv" }, { "libx265", "mp4" }, { "mpeg4", "avi" },
		{ "mpeg2video", "ts" }, { "mjpeg", "mov" }, { "ffv1", "mkv" },
		{ "libvpx-vp9", "webm" }, { "wmv2", "asf" }, { "flv", "flv" } };

	program_start("video");
	test_parse();
	test_find();
	test_resample();
	test_color("BT.709, narrow",
	    (struct plane_color){ 0.2126, 0.0722, 0 });
	test_color("BT.709, full", (struct plane_color){ 0.2126, 0.0722, 1 });
	test_color("BT.601, narrow", (struct plane_color){ 0.299, 0.114, 0 });
	test_color("BT.2020, narrow",
	    (struct plane_color){ 0.2627, 0.0593, 0 });
	test_gaps();
	test_isa();
	for (int i = 0; i < 8; i++)
		test_turn(i & 1, i >> 1 & 1, i >> 2);
	test_jpeg();
	if (mkdtemp(dir) == NULL)
		return 1;
	fflush(stdout);
	if (encoder_known("mpeg4")) {
		for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
			test_round_trip(kind[i][0], kind[i][1]);
		test_same_bytes("libx264");
		test_same_bytes("mpeg4");
		test_encoder_errors();
	} else {
		skip("videos written and read back", "no FFmpeg in this build");
	}
	rmdir(dir);
	return done();
}
