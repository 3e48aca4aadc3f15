#ifndef DRAW_CAIRO_PAGE_H
#define DRAW_CAIRO_PAGE_H

/*
 * A picture while it is drawn; for the files of this folder only.  Lengths are
 * in units of 1/96 inch, from the top left.  A PNG has PAGE_SCALE pixels per
 * unit, so pixel-aligned edges lie on half units.
 *
 * 	if ((p = page_new()) == NULL)
 * 		return -1;
 * 	... page_text_width(p, ...) to find the size ...
 * 	if (page_size(p, w, h, path, title) == 0)
 * 		... draw ...
 * 	return page_done(p);		frees it; 0 or -1
 */

#include <cairo.h>

#include "media/image.h"

enum { PAGE_SCALE = 2, PAGE_MARGIN = 16, PAGE_LINE = 17 };

struct page;

/* A color: red, green and blue, 0 to 1. */
struct color { double r, g, b; };
struct point { double x, y; };

extern const struct color color_black, color_gray, color_rule, color_faint,
    color_paper;
extern const struct color color_right, color_wrong;

/*
 * page_new():
 * Return a page without a size.  Text can be measured, but nothing drawn.
 * page_done frees it.  Return NULL after a message if no font is installed.
 */
struct page *page_new(void);

/*
 * page_size(p, w, h, path, title):
 * Set the size and begin to draw on white.  ${path}, which must outlive the
 * page, selects PNG, SVG or PDF by its extension.  ${title} (NULL: none) goes
 * into the file's metadata.  Return 0, or -1 after a message.
 */
int page_size(struct page *p, double w, double h, const char *path,
    const char *title);

/*
 * page_done(p):
 * Write the file, if page_size succeeded, and free the page.  Return 0, or -1;
 * a message was printed here or by page_size.
 */
int page_done(struct page *p);

/*
 * page_cairo(p):
 * Return the cairo context, for operations without a function here.  NULL
 * before page_size.
 */
cairo_t *page_cairo(struct page *p);

/*
 * color_palette(i):
 * Return color ${i} mod 7 of a palette that is distinguishable with any color
 * vision.
 * Source: Okabe and Ito, "Color Universal Design", 2008; without its yellow,
 * which is too pale for lines.
 */
struct color color_palette(int i);

/* color_mix(a, b, t): Interpolate linearly: ${a} for ${t} = 0, ${b} for 1. */
struct color color_mix(struct color a, struct color b, double t);

/*
 * color_dark(i):
 * Return 1 if white text is easier to read on ${i} than black text.
 */
int color_dark(struct color i);

/* page_color(p, color): Set the color of the following cairo operations. */
void page_color(struct page *p, struct color color);

/* page_fill(p, x, y, w, h, color): Fill a rectangle. */
void page_fill(struct page *p, double x, double y, double w, double h,
    struct color color);
/*
 * page_frame(p, x, y, w, h, thick, color):
 * Draw a frame of width ${thick} around the outside of a rectangle.
 */
void page_frame(struct page *p, double x, double y, double w, double h,
    double thick, struct color color);

/* page_line(p, a, b, width, color): Draw a straight line. */
void page_line(struct page *p, struct point a, struct point b, double width,
    struct color color);

/*
 * page_path(p, at, n, width, style, color):
 * Draw lines through ${n} points, with dash pattern ${style} mod 7; 0 is solid.
 */
void page_path(struct page *p, const struct point *at, int n, double width,
    int style, struct color color);

/*
 * page_area(p, at, n, color, part):
 * Fill a polygon with opacity ${part}, 0 to 1.
 */
void page_area(struct page *p, const struct point *at, int n,
    struct color color, double part);

/* page_dot(p, at, radius, color): Fill a circle. */
void page_dot(struct page *p, struct point at, double radius,
    struct color color);

/*
 * page_image(p, x, y, m):
 * Draw image ${m}, 1 or 3 channels; one of its pixels is one pixel of a PNG.
 */
void page_image(struct page *p, double x, double y, const struct image *m);

/*
 * Text.  (x, y) is the anchor: at the left, middle or right of its width, and
 * at half the height of capital letters.  ${turn} rotates it counterclockwise
 * around the anchor, in degrees.
 */
enum text_hold { TEXT_LEFT, TEXT_MIDDLE, TEXT_RIGHT };

struct text_style {
	double size;
	enum text_hold hold;
	int bold;
	double turn;
	struct color color;
	double width;			/* shorten to this width; 0: never */
	int path;			/* 1: shorten it as a path */
};

enum { TEXT_SIZE = 11, TITLE_SIZE = 15 };

/*
 * page_text(p, x, y, text, s):
 * Draw ${text}.  Invalid characters become question marks.  If it is wider than
 * s->width, an ellipsis replaces characters in its middle, since names of
 * classes often differ at their ends; or folders and then characters at the
 * front of a path.
 */
void page_text(struct page *p, double x, double y, const char *text,
    const struct text_style *s);
/*
 * page_word(p, x, y, text, hold, color):
 * Draw ${text} in the regular font at TEXT_SIZE.
 */
void page_word(struct page *p, double x, double y, const char *text,
    enum text_hold hold, struct color color);

/*
 * page_text_width(p, text, size, bold):
 * Return the width of ${text} in page units.
 */
double page_text_width(struct page *p, const char *text, double size, int bold);

/*
 * page_head_height(title, note):
 * Return the height of the heading: the title and the note, each absent if
 * NULL, and the top margin.
 */
double page_head_height(const char *title, const char *note);

/*
 * page_head_width(p, title, note):
 * Return the page width that the heading needs.
 */
double page_head_width(struct page *p, const char *title, const char *note);

/* page_head(p, w, title, note): Draw the heading on a page of width ${w}. */
void page_head(struct page *p, double w, const char *title, const char *note);

#endif
