/* Draw colors, lines and images on a page. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "draw/cairo/page.h"

struct color
color_palette(int i)
{
	static const struct color palette[] = { { 0, .447, .698 },
		{ .835, .369, 0 }, { 0, .62, .451 }, { .8, .475, .655 },
		{ .337, .706, .914 }, { .902, .624, 0 }, { .2, .2, .2 } };

	return palette[i % 7];
}

struct color
color_mix(struct color a, struct color b, double t)
{
	return (struct color){ a.r + t * (b.r - a.r), a.g + t * (b.g - a.g),
		a.b + t * (b.b - a.b) };
}

int
color_dark(struct color i)
{
	/* Luma by ITU-R BT.601. */
	return .299 * i.r + .587 * i.g + .114 * i.b < .47;
}

void
page_color(struct page *p, struct color color)
{
	cairo_set_source_rgb(page_cairo(p), color.r, color.g, color.b);
}

void
page_fill(struct page *p, double x, double y, double w, double h,
    struct color color)
{
	page_color(p, color);
	cairo_rectangle(page_cairo(p), x, y, w, h);
	cairo_fill(page_cairo(p));
}

void
page_frame(struct page *p, double x, double y, double w, double h,
    double thick, struct color color)
{
	cairo_t *c = page_cairo(p);

	page_color(p, color);
	cairo_set_line_width(c, thick);
	cairo_rectangle(c, x - thick / 2, y - thick / 2, w + thick, h + thick);
	cairo_stroke(c);
}

void
page_line(struct page *p, struct point a, struct point b, double width,
    struct color color)
{
	page_path(p, (struct point[]){ a, b }, 2, width, 0, color);
}

void
page_path(struct page *p, const struct point *at, int n, double width,
    int style, struct color color)
{
	/* Lengths of dashes and gaps, in line widths; 0 ends the list. */
	static const double dashes[7][7] = { { 0 }, { 5, 2.5, 0 },
		{ 1.2, 2.2, 0 }, { 7, 2.5, 1.2, 2.5, 0 }, { 9, 4, 0 },
		{ 5, 2, 1.2, 2, 1.2, 2, 0 }, { 2.5, 2.5, 0 } };
	const double *dash = dashes[style % 7];
	cairo_t *c = page_cairo(p);
	double scaled[7];
	int k = 0;

	for (; dash[k] > 0; k++)
		scaled[k] = dash[k] * width;
	cairo_set_dash(c, scaled, k, 0);
	cairo_set_line_cap(c, k > 0 ? CAIRO_LINE_CAP_BUTT :
	    CAIRO_LINE_CAP_ROUND);
	cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
	cairo_set_line_width(c, width);
	page_color(p, color);
	cairo_new_path(c);
	for (int i = 0; i < n; i++)
		cairo_line_to(c, at[i].x, at[i].y);
	cairo_stroke(c);
	cairo_set_dash(c, NULL, 0, 0);
}

void
page_area(struct page *p, const struct point *at, int n, struct color color,
    double part)
{
	cairo_t *c = page_cairo(p);

	cairo_new_path(c);
	for (int i = 0; i < n; i++)
		cairo_line_to(c, at[i].x, at[i].y);
	cairo_close_path(c);
	cairo_set_source_rgba(c, color.r, color.g, color.b, part);
	cairo_fill(c);
}

void
page_dot(struct page *p, struct point at, double radius, struct color color)
{
	page_color(p, color);
	cairo_new_path(page_cairo(p));
	cairo_arc(page_cairo(p), at.x, at.y, radius, 0, 2 * M_PI);
	cairo_fill(page_cairo(p));
}

void
page_image(struct page *p, double x, double y, const struct image *m)
{
	cairo_t *c = page_cairo(p);
	cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
	    m->w, m->h);
	unsigned char *data = cairo_image_surface_get_data(s);
	size_t stride = (size_t)cairo_image_surface_get_stride(s);
	const uint8_t *v = m->data;

	for (int i = 0; data != NULL && i < m->h; i++)
		for (int k = 0; k < m->w; k++, v += m->c) {
			uint32_t to = (uint32_t)(m->c == 3 ? v[0] << 16 |
			    /*
			     * CAIRO_FORMAT_RGB24 is 0x00RRGGBB in native byte
			     * order.
			     */
			    v[1] << 8 | v[2] : v[0] * 0x10101);

			memcpy(data + (size_t)i * stride + (size_t)k * 4, &to,
			    4);
		}
	cairo_surface_mark_dirty(s);
	cairo_save(c);
	cairo_translate(c, x, y);
	cairo_scale(c, 1. / PAGE_SCALE, 1. / PAGE_SCALE);
	cairo_set_source_surface(c, s, 0, 0);
	/* One pixel is one pixel: do not interpolate. */
	cairo_pattern_set_filter(cairo_get_source(c), CAIRO_FILTER_NEAREST);
	cairo_rectangle(c, 0, 0, m->w, m->h);
	cairo_fill(c);
	cairo_restore(c);
	cairo_surface_destroy(s);
}
