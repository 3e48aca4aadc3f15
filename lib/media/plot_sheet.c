/* A sheet of thumbnails with captions. */
#include <stdlib.h>

#include "base/mem.h"
#include "media/plot.h"
#include "media/plot_style.h"

enum { GAP = 12 * UNIT, MARK = 14 * UNIT };

/* Right is a tick, wrong a cross, so that grey shows it too. */
static void
draw_mark(struct canvas *c, int x, int y, int mark)
{
	static const struct point tick[] = { { 0, .1 }, { .35, .45 },
		{ 1, -.45 } };
	static const struct point cross[] = { { .05, -.4 }, { .85, .4 },
		{ .05, .4 }, { .85, -.4 } };
	double r = MARK - 5 * UNIT, thick = 1.6 * UNIT;
	struct ink ink = mark == 1 ? (struct ink){ 0, 130, 90 } :
	    canvas_palette(1);
	struct point p[4];

	for (int i = 0; i < 4; i++) {
		struct point q = mark == 1 ? tick[i < 3 ? i : 2] : cross[i];

		p[i] = (struct point){ x + q.x * r, y + q.y * r };
	}
	if (mark == 1) {
		canvas_path(c, p, 3, thick, NULL, ink);
	} else {
		canvas_line(c, p[0], p[1], thick, ink);
		canvas_line(c, p[2], p[3], thick, ink);
	}
}

static void
draw_thumb(struct canvas *c, const struct plot_thumb *t, int x, int y,
    int w, int h, int zoom)
{
	int pw = t->m->w * zoom, ph = t->m->h * zoom, left = 0;

	/* A smaller picture stands in the middle of its place. */
	canvas_image(c, x + (w - pw) / 2, y + (h - ph) / 2, t->m, zoom);
	canvas_frame(c, x + (w - pw) / 2 - 1, y + (h - ph) / 2 - 1, pw + 2,
	    ph + 2, 1, rule);
	y += h + LINE / 2 + 2 * UNIT;
	if (t->mark != 0) {
		draw_mark(c, x, y, t->mark);
		left = MARK;
	}
	if (t->caption != NULL) {
		char *fit = canvas_text_fit(t->caption, UNIT, w - left);

		plot_text(c, x + left, y, fit, TEXT_LEFT, black);
		free(fit);
	}
	if (t->note != NULL) {
		char *fit = canvas_text_fit(t->note, UNIT, w);

		plot_text(c, x, y + LINE - 2 * UNIT, fit, TEXT_LEFT, grey);
		free(fit);
	}
}

struct image *
plot_sheet(const struct plot_sheet *s)
{
	int columns = s->columns < s->n ? s->columns : s->n, rows;
	int w = 1, h = 1, lines = 0, width, top;
	int head = s->title != NULL ? canvas_text_width(s->title, UNIT + 1) : 0;
	int note = s->note != NULL ? canvas_text_width(s->note, UNIT) : 0;
	struct canvas *c;

	columns = columns > 0 ? columns : 1;
	rows = (s->n + columns - 1) / columns;
	for (int i = 0; i < s->n; i++) {
		const struct plot_thumb *t = &s->thumb[i];
		int need = t->note != NULL ? 2 : t->caption != NULL ||
		    t->mark != 0;

		w = t->m->w * s->zoom > w ? t->m->w * s->zoom : w;
		h = t->m->h * s->zoom > h ? t->m->h * s->zoom : h;
		lines = need > lines ? need : lines;
	}
	width = columns * (w + GAP) - GAP;
	width = head > width ? head : width;
	width = note > width ? note : width;
	top = plot_head_height(s->title, s->note) + 4 * UNIT;
	c = canvas_new(width + 2 * MARGIN, top + rows * (h + lines * LINE +
	    GAP) - GAP + MARGIN, paper);
	plot_head(c, s->title, s->note);
	for (int i = 0; i < s->n; i++)
		draw_thumb(c, &s->thumb[i], MARGIN + i % columns * (w + GAP),
		    top + i / columns * (h + lines * LINE + GAP), w, h, s->zoom);
	return canvas_take(c);
}
