/* A small rasteriser: enough for plots, and the same pixels everywhere. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "media/canvas.h"
#include "media/font.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

struct canvas *
canvas_new(int w, int h, struct ink paper)
{
	struct canvas *c = xcalloc(1, sizeof(*c));

	c->m = image_new(w, h, 3);
	canvas_clip(c, 0, 0, 0, 0);
	canvas_fill(c, 0, 0, w, h, paper);
	return c;
}

struct image *
canvas_take(struct canvas *c)
{
	struct image *m = c->m;

	free(c);
	return m;
}

static int
min(int a, int b)
{
	return a < b ? a : b;
}

static int
max(int a, int b)
{
	return a > b ? a : b;
}

/* The whole pixel that holds ${v}, or the end of ${low} to ${high} near it. */
static int
pixel(double v, int low, int high)
{
	return v <= low ? low : v >= high ? high : (int)v;
}

void
canvas_clip(struct canvas *c, int x, int y, int w, int h)
{
	c->left = w > 0 ? max(x, 0) : 0;
	c->top = w > 0 ? max(y, 0) : 0;
	c->right = w > 0 ? min(x + w, c->m->w) : c->m->w;
	c->bottom = w > 0 ? min(y + h, c->m->h) : c->m->h;
}

/* ---- colours ---- */

struct ink
canvas_palette(int i)
{
	static const struct ink colour[] = { { 0, 114, 178 }, { 213, 94, 0 },
		{ 0, 158, 115 }, { 204, 121, 167 }, { 60, 60, 60 },
		{ 230, 159, 0 }, { 86, 180, 233 } };

	return colour[i % LENGTH(colour)];
}

struct ink
canvas_mix(struct ink a, struct ink b, double t)
{
	return (struct ink){ (uint8_t)(a.r + (b.r - a.r) * t + 0.5),
		(uint8_t)(a.g + (b.g - a.g) * t + 0.5),
		(uint8_t)(a.b + (b.b - a.b) * t + 0.5) };
}

struct ink
canvas_heat(double v)
{
	static const struct ink stop[] = { { 255, 255, 255 }, { 214, 230, 242 },
		{ 149, 196, 224 }, { 66, 139, 193 }, { 12, 77, 145 },
		{ 6, 31, 75 } };
	double at = (v > 0 ? v < 1 ? v : 1 : 0) * (LENGTH(stop) - 1);
	int i = min((int)at, LENGTH(stop) - 2);

	return canvas_mix(stop[i], stop[i + 1], at - i);
}

int
canvas_dark(struct ink i)
{
	return 299 * i.r + 587 * i.g + 114 * i.b < 140 * 1000;
}

/* Let ${ink} cover ${cover} of 255 of a pixel. */
static void
blend(struct canvas *c, int x, int y, struct ink ink, int cover)
{
	uint8_t *p;

	if (x < c->left || x >= c->right || y < c->top || y >= c->bottom)
		return;
	p = c->m->data + ((size_t)y * (size_t)c->m->w + (size_t)x) * 3;
	p[0] = (uint8_t)((p[0] * (255 - cover) + ink.r * cover + 127) / 255);
	p[1] = (uint8_t)((p[1] * (255 - cover) + ink.g * cover + 127) / 255);
	p[2] = (uint8_t)((p[2] * (255 - cover) + ink.b * cover + 127) / 255);
}

/* ---- rectangles ---- */

void
canvas_fill(struct canvas *c, int x, int y, int w, int h, struct ink ink)
{
	int right = min(x + w, c->right), bottom = min(y + h, c->bottom);

	for (int j = max(y, c->top); j < bottom; j++)
		for (int i = max(x, c->left); i < right; i++)
			blend(c, i, j, ink, 255);
}

void
canvas_frame(struct canvas *c, int x, int y, int w, int h, int thick,
    struct ink ink)
{
	canvas_fill(c, x, y, w, thick, ink);
	canvas_fill(c, x, y + h - thick, w, thick, ink);
	canvas_fill(c, x, y + thick, thick, h - 2 * thick, ink);
	canvas_fill(c, x + w - thick, y + thick, thick, h - 2 * thick, ink);
}

/* ---- lines ---- */

/* How far ${x}, ${y} is from the line from ${a} to ${b}. */
static double
distance(double x, double y, struct point a, struct point b)
{
	double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
	double t = length > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length : 0;

	t = t < 0 ? 0 : t > 1 ? 1 : t;
	dx = a.x + t * dx - x;
	dy = a.y + t * dy - y;
	return sqrt(dx * dx + dy * dy);
}

/* Where the line from ${a} to ${b} is at height ${y}, held within its ends. */
static double
cross(struct point a, struct point b, double y)
{
	double t = (y - a.y) / (b.y - a.y);

	return a.x + (t < 0 ? 0 : t > 1 ? 1 : t) * (b.x - a.x);
}

void
canvas_line(struct canvas *c, struct point a, struct point b, double width,
    struct ink ink)
{
	double half = width / 2, reach = half + 1;
	int end = pixel(fmax(a.y, b.y) + reach + 1, c->top, c->bottom);

	for (int y = pixel(fmin(a.y, b.y) - reach, c->top, c->bottom); y < end;
	    y++) {
		double x0 = a.x, x1 = b.x;
		int right;

		/* Only what the line comes near in this row. */
		if (a.y != b.y) {
			x0 = cross(a, b, y - reach);
			x1 = cross(a, b, y + 1 + reach);
		}
		right = pixel(fmax(x0, x1) + reach + 1, c->left, c->right);
		for (int x = pixel(fmin(x0, x1) - reach, c->left, c->right);
		    x < right; x++) {
			double cover = half + 0.5 -
			    distance(x + 0.5, y + 0.5, a, b);

			if (cover > 0)
				blend(c, x, y, ink, cover < 1 ?
				    (int)(cover * 255 + 0.5) : 255);
		}
	}
}

const double *
canvas_dash(int i, double scale, double dash[8])
{
	/* Round ends add half a width at each end of a dash. */
	static const double pattern[][6] = { { 0 }, { 6, 4, 0 }, { 1.5, 2.7, 0 },
		{ 7, 3, 1, 3, 0 }, { 10, 3, 0 }, { 3, 3, 0 }, { 1, 5, 0 } };
	const double *p = pattern[i % LENGTH(pattern)];
	int n = 0;

	if (p[0] == 0)
		return NULL;
	for (; p[n] > 0; n++)
		dash[n] = p[n] * scale;
	dash[n] = 0;
	return dash;
}

/* From ${from} to ${to} along the line from ${a} to ${b}, in pixels. */
static void
draw_part(struct canvas *c, struct point a, struct point b, double length,
    double from, double to, double width, struct ink ink)
{
	double dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;

	canvas_line(c, (struct point){ a.x + dx * from, a.y + dy * from },
	    (struct point){ a.x + dx * to, a.y + dy * to }, width, ink);
}

void
canvas_path(struct canvas *c, const struct point *p, int n, double width,
    const double *dash, struct ink ink)
{
	int k = 0;			/* which part of the dashes, */
	double left = dash != NULL ? dash[0] : 0;	/* and what is left */

	for (int i = 0; i + 1 < n; i++) {
		double dx = p[i + 1].x - p[i].x, dy = p[i + 1].y - p[i].y;
		double length = sqrt(dx * dx + dy * dy), at = 0;

		if (dash == NULL) {
			canvas_line(c, p[i], p[i + 1], width, ink);
			continue;
		}
		for (; at + left < length; left = dash[k]) {
			if (k % 2 == 0)
				draw_part(c, p[i], p[i + 1], length, at,
				    at + left, width, ink);
			at += left;
			k = dash[k + 1] > 0 ? k + 1 : 0;
		}
		if (k % 2 == 0 && length > at)
			draw_part(c, p[i], p[i + 1], length, at, length, width,
			    ink);
		left -= length - at;
	}
}

/* ---- areas and marks ---- */

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Add to cover[x] how much of each pixel lies between ${x0} and ${x1}. */
static void
add_span(const struct canvas *c, double x0, double x1, double *cover)
{
	for (int x = pixel(x0, c->left, c->right); x < c->right && x < x1; x++)
		cover[x] += fmin(x1, x + 1) - fmax(x0, x);
}

/* Rows are cut into four; along a row, coverage is exact. */
void
canvas_area(struct canvas *c, const struct point *p, int n, struct ink ink)
{
	enum { CUTS = 4 };
	double *at = xcalloc((size_t)n, sizeof(*at));
	double *cover = xcalloc((size_t)c->m->w, sizeof(*cover));
	double high = c->bottom, low = c->top;
	int end;

	for (int i = 0; i < n; i++) {
		high = fmin(high, p[i].y);
		low = fmax(low, p[i].y);
	}
	end = pixel(low + 1, c->top, c->bottom);
	for (int y = pixel(high, c->top, c->bottom); y < end; y++) {
		memset(cover, 0, (size_t)c->m->w * sizeof(*cover));
		for (int k = 0; k < CUTS; k++) {
			double h = y + (k + 0.5) / CUTS;
			int found = 0;

			for (int i = 0; i < n; i++) {
				struct point a = p[i], b = p[(i + 1) % n];

				if ((a.y <= h) != (b.y <= h))
					at[found++] = cross(a, b, h);
			}
			qsort(at, (size_t)found, sizeof(*at), compare);
			for (int i = 0; i + 1 < found; i += 2)
				add_span(c, at[i], at[i + 1], cover);
		}
		for (int x = c->left; x < c->right; x++)
			if (cover[x] > 0)
				blend(c, x, y, ink, (int)(fmin(cover[x] / CUTS,
				    1) * 255 + 0.5));
	}
	free(at);
	free(cover);
}

void
canvas_mark(struct canvas *c, struct point at, double size, int kind,
    struct ink ink)
{
	static const struct point square[] = { { -.88, -.88 }, { .88, -.88 },
		{ .88, .88 }, { -.88, .88 } };
	static const struct point diamond[] = { { 0, -1.2 }, { 1.2, 0 },
		{ 0, 1.2 }, { -1.2, 0 } };
	static const struct point triangle[] = { { 0, -1.15 }, { 1.1, .8 },
		{ -1.1, .8 } };
	static const struct point tilted[] = { { -.8, -.8 }, { .8, .8 },
		{ -.8, .8 }, { .8, -.8 } };
	static const struct point upright[] = { { 0, -1.1 }, { 0, 1.1 },
		{ -1.1, 0 }, { 1.1, 0 } };
	static const struct { const struct point *p; int n; } shape[] = {
		{ NULL, 0 }, { square, 4 }, { diamond, 4 }, { triangle, 3 },
		{ tilted, 4 }, { upright, 4 }, { NULL, 0 } };
	double r = size / 2;
	struct point q[4];

	kind %= LENGTH(shape);
	for (int i = 0; i < shape[kind].n; i++)
		q[i] = (struct point){ at.x + r * shape[kind].p[i].x,
			at.y + r * shape[kind].p[i].y };
	if (kind == 0) {
		canvas_line(c, at, at, size, ink);
	} else if (kind < 4) {
		canvas_area(c, q, shape[kind].n, ink);
	} else if (kind < 6) {
		canvas_line(c, q[0], q[1], size / 4, ink);
		canvas_line(c, q[2], q[3], size / 4, ink);
	} else {
		canvas_line(c, at, at, size, ink);
		canvas_line(c, at, at, size / 2, (struct ink){ 255, 255, 255 });
	}
}

/* ---- pictures and text ---- */

void
canvas_image(struct canvas *c, int x, int y, const struct image *m, int zoom)
{
	for (int j = 0; j < m->h; j++)
		for (int i = 0; i < m->w; i++) {
			const uint8_t *p = m->data + ((size_t)j * (size_t)m->w +
			    (size_t)i) * (size_t)m->c;

			canvas_fill(c, x + i * zoom, y + j * zoom, zoom, zoom,
			    (struct ink){ p[0], p[m->c / 3], p[m->c / 3 * 2] });
		}
}

/*
 * How much of 255 of pixel (x, y) of ${ch}, ${size} times enlarged, is inked.
 * The drawing is taken as a surface with a height at the middle of each of its
 * pixels, and cut at half height with a slope of one pixel: strokes keep their
 * width, and corners and diagonals become round.
 */
static int
coverage(char ch, int size, int x, int y)
{
	int u = 2 * x + 1 - size, v = 2 * y + 1 - size, whole = 2 * size;
	int i = (u + whole) / whole - 1, j = (v + whole) / whole - 1;
	int a = u - i * whole, b = v - j * whole;	/* past (i, j), of whole */
	int sum = (font_ink(ch, i, j) * (whole - a) +
	    font_ink(ch, i + 1, j) * a) * (whole - b) +
	    (font_ink(ch, i, j + 1) * (whole - a) +
	    font_ink(ch, i + 1, j + 1) * a) * b;
	int full = whole * whole;
	int cover = ((2 * sum - full) * size + full) * 255 / (2 * full);

	return min(max(cover, 0), 255);
}

int
canvas_text_width(const char *text, int size)
{
	/* The last column of a cell is blank. */
	return max((int)strlen(text) * FONT_WIDTH - 1, 0) * size;
}

char *
canvas_text_fit(const char *text, int size, int width)
{
	size_t most = (size_t)max(width / size + 1, 0) / FONT_WIDTH;
	size_t n = strlen(text);

	if (n <= most)
		return xstrdup(text);
	return xprintf("%.*s%.*s", (int)(most > 3 ? most - 3 : 0), text,
	    (int)most, "...");
}

void
canvas_text(struct canvas *c, int x, int y, const char *text,
    const struct text_style *s)
{
	int width = canvas_text_width(text, s->size);
	int along = -(int)s->hold * width / 2, smear = s->bold ?
	    max(s->size / 2, 1) : 0;
	int up = (FONT_TOP + FONT_BASE) * s->size / 2;

	for (const char *p = text; *p != '\0'; p++, along += FONT_WIDTH * s->size)
		for (int j = 0; j < FONT_HEIGHT * s->size; j++)
			for (int i = 0; i < FONT_WIDTH * s->size + smear; i++) {
				int cover = 0, a = along + i, b = j - up;

				for (int k = 0; k <= smear; k++)
					cover = max(cover, coverage(*p, s->size,
					    i - k, j));
				if (s->turned)
					blend(c, x + b, y - 1 - a, s->ink, cover);
				else
					blend(c, x + a, y + b, s->ink, cover);
			}
}
