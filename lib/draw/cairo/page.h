#ifndef DRAW_CAIRO_PAGE_H
#define DRAW_CAIRO_PAGE_H

/*
 * A picture that is being drawn, for the files of this folder only.  Lengths
 * are in units of 1/96 inch from the top left; a PNG has PAGE_SCALE pixels a
 * unit, so what should be crisp lies on halves.
 *
 *	struct page *p = page_new();
 *	... page_text_width(p, ...) to find out how large it must be ...
 *	if (page_size(p, w, h, path, title) == 0)
 *		... draw ...
 *	return page_done(p);		frees it; 0 or -1
 */

#include <cairo.h>

#include "media/image.h"

enum { PAGE_SCALE = 2, PAGE_MARGIN = 16, PAGE_LINE = 17 };

struct page;
struct ink { double r, g, b; };
struct point { double x, y; };

extern const struct ink ink_black, ink_grey, ink_rule, ink_faint, ink_paper;
extern const struct ink ink_right, ink_wrong;

struct page *page_new(void);
int page_size(struct page *p, double w, double h, const char *path,
    const char *title);
int page_done(struct page *p);

/* page_cairo(p): for what has no function here; from page_size on. */
cairo_t *page_cairo(struct page *p);

/*
 * ink_palette(i) is number i mod 7 of a palette that people with any colour
 * vision can tell apart (Okabe and Ito, "Color Universal Design", 2008, without
 * its yellow, too pale for lines).  ink_mix(a, b, t) lies ${t} of the way from
 * ${a} to ${b}.  ink_dark(i): 1 if white text reads better on it than black.
 */
struct ink ink_palette(int i);
struct ink ink_mix(struct ink a, struct ink b, double t);
int ink_dark(struct ink i);

void page_ink(struct page *p, struct ink ink);
void page_fill(struct page *p, double x, double y, double w, double h,
    struct ink ink);
/* page_frame: the outline of a rectangle, outside of it. */
void page_frame(struct page *p, double x, double y, double w, double h,
    double thick, struct ink ink);
void page_line(struct page *p, struct point a, struct point b, double width,
    struct ink ink);

/*
 * page_path(p, at, n, width, style, ink): lines from point to point with dashes
 * number ${style} mod 7; 0 is unbroken.
 */
void page_path(struct page *p, const struct point *at, int n, double width,
    int style, struct ink ink);

/* page_area(p, at, n, ink, part): a polygon that covers ${part} of what is
 * below it.  page_dot: a filled circle. */
void page_area(struct page *p, const struct point *at, int n, struct ink ink,
    double part);
void page_dot(struct page *p, struct point at, double radius, struct ink ink);

/* page_image(p, x, y, m): a pixel of ${m} is a pixel of a PNG. */
void page_image(struct page *p, double x, double y, const struct image *m);

/*
 * Text.  (x, y) is where it is held: at the left, middle or right of its width,
 * and at the middle of the height of its capitals.  ${turn} is anticlockwise,
 * in degrees, around that place.
 */
enum text_hold { TEXT_LEFT, TEXT_MIDDLE, TEXT_RIGHT };

struct text_style {
	double size;
	enum text_hold hold;
	int bold;
	double turn;
	struct ink ink;
};

enum { TEXT_SIZE = 11, TITLE_SIZE = 15 };

void page_text(struct page *p, double x, double y, const char *text,
    const struct text_style *s);
/* page_word: in the ordinary size. */
void page_word(struct page *p, double x, double y, const char *text,
    enum text_hold hold, struct ink ink);

/* page_text_width(p, text, size, bold): in units. */
double page_text_width(struct page *p, const char *text, double size, int bold);

/*
 * page_path_fit(p, path, size, width):
 * Shorten ${path} to ${width} at font size ${size}.  Remove folders from its
 * front, then characters, and put an ellipsis in their place: paths differ at
 * their ends.  The caller frees the result.
 */
char *page_path_fit(struct page *p, const char *path, double size,
    double width);

/* page_text_fit(p, text, size, bold, width): ${text} cut to ${width}, with an
 * ellipsis if it had to be; the caller's to free. */
char *page_text_fit(struct page *p, const char *text, double size, int bold,
    double width);

/* page_head_height(title, note), page_head_width, page_head: the lines above a
 * picture, where they are given. */
double page_head_height(const char *title, const char *note);
double page_head_width(struct page *p, const char *title, const char *note);
void page_head(struct page *p, double w, const char *title, const char *note);

#endif
