#ifndef MEDIA_CANVAS_H
#define MEDIA_CANVAS_H

/*
 * Drawing on an RGB picture.  Pixel (x, y) covers x to x + 1 and y to y + 1,
 * from the top left; a line of width 1 along y = 0.5 fills the first row.  The
 * same calls give the same pixels on every machine: only sums, products,
 * quotients and square roots of doubles decide them.
 */

#include "media/image.h"

struct ink { uint8_t r, g, b; };

/* Everything outside left <= x < right, top <= y < bottom stays untouched. */
struct canvas {
	struct image *m;
	int left, top, right, bottom;
};

struct point { double x, y; };

/*
 * canvas_new(w, h, paper): a canvas over a new picture of that colour.
 * canvas_take(c): end the canvas; its picture is the caller's.
 */
struct canvas *canvas_new(int w, int h, struct ink paper);
struct image *canvas_take(struct canvas *c);

/* canvas_clip(c, x, y, w, h): draw only there; w = 0: everywhere again. */
void canvas_clip(struct canvas *c, int x, int y, int w, int h);

/*
 * Colours.  canvas_palette(i) is number i mod 7 of a palette that people with
 * any colour vision can tell apart (Okabe and Ito, "Color Universal Design",
 * 2008, without its yellow, which is too pale for lines); their grey values
 * differ, but lines should differ in dashes too.  canvas_heat(v) is a scale
 * from white over blue to nearly black, ever darker, for v from 0 to 1.
 * canvas_mix(a, b, t) lies ${t} of the way from ${a} to ${b}.
 */
struct ink canvas_palette(int i);
struct ink canvas_heat(double v);
struct ink canvas_mix(struct ink a, struct ink b, double t);

/* canvas_dark(i): 1 if white text reads better on it than black. */
int canvas_dark(struct ink i);

/* Filled and outlined rectangles, in whole pixels; ${thick} lies inside. */
void canvas_fill(struct canvas *c, int x, int y, int w, int h, struct ink ink);
void canvas_frame(struct canvas *c, int x, int y, int w, int h, int thick,
    struct ink ink);

/* canvas_line(c, a, b, width, ink): with round ends, antialiased. */
void canvas_line(struct canvas *c, struct point a, struct point b,
    double width, struct ink ink);

/*
 * canvas_path(c, p, n, width, dash, ink):
 * Lines from point to point.  ${dash} is how far to draw, to leave, to draw...
 * in pixels, ended by 0 and begun again; NULL draws all.  Dashes run on around
 * corners.
 */
void canvas_path(struct canvas *c, const struct point *p, int n, double width,
    const double *dash, struct ink ink);

/* canvas_dash(i, scale, dash): dashes number i mod 7, 0 is unbroken, for lines
 * of width ${scale}; NULL or ${dash}, which has room for them. */
const double *canvas_dash(int i, double scale, double dash[8]);

/*
 * canvas_area(c, p, n, ink): the inside (even-odd) of a polygon, antialiased.
 */
void canvas_area(struct canvas *c, const struct point *p, int n,
    struct ink ink);

/* canvas_mark(c, at, size, kind, ink): disc, square, diamond, triangle, cross,
 * plus or ring for ${kind} mod 7, about ${size} pixels across. */
void canvas_mark(struct canvas *c, struct point at, double size, int kind,
    struct ink ink);

/* canvas_image(c, x, y, m, zoom): a picture, each pixel ${zoom} wide. */
void canvas_image(struct canvas *c, int x, int y, const struct image *m,
    int zoom);

/*
 * Text.  ${size} enlarges the font of 6 x 13 pixels, with smooth curves from 2
 * on.  (x, y) is where the text is held: at the left, middle or right of its
 * width, as ${hold} says, and at the middle of the height of its capitals.
 * Turned text reads upwards, and all this turns with it.
 */
enum text_hold { TEXT_LEFT, TEXT_MIDDLE, TEXT_RIGHT };

struct text_style {
	int size;
	enum text_hold hold;
	int bold, turned;
	struct ink ink;
};

void canvas_text(struct canvas *c, int x, int y, const char *text,
    const struct text_style *style);

/* canvas_text_width(text, size): of ${text}, in pixels. */
int canvas_text_width(const char *text, int size);

/* canvas_text_fit(text, size, width): ${text} cut to ${width} pixels, with
 * "..." if it had to be; the caller's to free. */
char *canvas_text_fit(const char *text, int size, int width);

#endif
