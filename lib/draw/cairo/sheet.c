/* Draw a contact sheet: frames of clips with captions below them. */
#include <math.h>

#include "draw/cairo/page.h"
#include "draw/plot.h"

enum { GAP = 14, MARK = 15, FRAMED = 6 };

/*
 * Draw a tick for right and a cross for wrong: the shapes differ without
 * color.
 */
static void
plot_sheet_draw_mark(struct page *p, double x, double y, enum plot_mark mark)
{
	struct color color = mark == PLOT_RIGHT ? color_right : color_wrong;

	if (mark == PLOT_RIGHT) {
		page_path(p, (struct point[]){ { x + .5, y + .5 },
		    { x + 3.5, y + 3.5 }, { x + 9.5, y - 4 } }, 3, 2, 0, color);
		return;
	}
	page_line(p, (struct point){ x + 1, y - 3.5 },
	    (struct point){ x + 8, y + 3.5 }, 2, color);
	page_line(p, (struct point){ x + 1, y + 3.5 },
	    (struct point){ x + 8, y - 3.5 }, 2, color);
}

static double
plot_sheet_wide(const struct image *m)
{
	return (double)m->w / PAGE_SCALE;
}

static double
plot_sheet_high(const struct image *m)
{
	return (double)m->h / PAGE_SCALE;
}

static void
plot_sheet_draw_clip(struct page *p, const struct plot_clip *c, double x,
    double y, double w, double h)
{
	double left = c->mark != PLOT_UNMARKED ? MARK : 0, right = 0;
	struct text_style s = { TEXT_SIZE, TEXT_LEFT, .bold = 1,
		.color = color_black };

	/* Center smaller frames in their cell. */
	page_image(p, x + floor((w - plot_sheet_wide(c->m)) / 2), y + floor((h -
	    plot_sheet_high(c->m)) / 2), c->m);
	y += h + FRAMED + TEXT_SIZE / 2.;
	if (c->mark != PLOT_UNMARKED)
		plot_sheet_draw_mark(p, x, y, c->mark);
	if (c->score != NULL) {
		page_word(p, x + w, y, c->score, TEXT_RIGHT, color_gray);
		right = page_text_width(p, c->score, TEXT_SIZE, 0) + 6;
	}
	s.width = w - left - right;
	if (c->caption != NULL)
		page_text(p, x + left, y, c->caption, &s);
	y += PAGE_LINE - 1;
	s.bold = 0;
	s.width = w - left;
	if (c->note != NULL) {
		page_text(p, x + left, y, c->note, &s);
		y += PAGE_LINE - 1;
	}
	s.color = color_gray;
	s.path = 1;
	if (c->path != NULL)
		page_text(p, x + left, y, c->path, &s);
}

int
plot_sheet(const struct plot_sheet *s, const char *path)
{
	struct page *p = page_new();
	int columns = s->columns < s->n ? s->columns : s->n, rows, lines = 1;
	double w = 1, h = 1, top, width, each;

	if (p == NULL)
		return -1;
	columns = columns > 0 ? columns : 1;
	rows = (s->n + columns - 1) / columns;
	for (int i = 0; i < s->n; i++) {
		const struct plot_clip *c = &s->clip[i];
		int need = 1 + (c->note != NULL) + (c->path != NULL);

		w = fmax(w, ceil(plot_sheet_wide(c->m)));
		h = fmax(h, ceil(plot_sheet_high(c->m)));
		lines = need > lines ? need : lines;
	}
	each = h + FRAMED + lines * (PAGE_LINE - 1) + GAP;
	width = fmax(columns * (w + GAP) - GAP + 2 * PAGE_MARGIN,
	    page_head_width(p, s->title, s->note));
	top = page_head_height(s->title, s->note) + 6;
	/* An empty sheet has no last gap to subtract. */
	if (page_size(p, width, top + fmax(rows, 0) * each - GAP + PAGE_MARGIN +
	    GAP * (s->n == 0), path, s->title) != 0)
		return page_done(p);
	page_head(p, ceil(width), s->title, s->note);
	for (int i = 0; i < s->n; i++)
		plot_sheet_draw_clip(p, &s->clip[i],
		    PAGE_MARGIN + i % columns * (w + GAP),
		    top + i / columns * each, w, h);
	return page_done(p);
}
