/* A matrix as a heat map with its numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "media/plot.h"
#include "media/plot_style.h"
#include "media/scale.h"

enum {
	LARGEST = 52 * UNIT,		/* side of a cell */
	WIDEST = 700 * UNIT,		/* side of the matrix */
	LONGEST = 150 * UNIT,		/* name at a side */
	BAR = 14 * UNIT			/* width of the key */
};

/* Where things are. */
struct layout {
	int side;			/* of a cell */
	int x, y, w, h;			/* the matrix */
	int names;			/* 1 if there is room for them */
	int left, below;		/* room for names or numbers there */
	int key;			/* room for the key's numbers */
	double max;
};

static void
cell_text(const struct plot_heat *h, double v, char to[32])
{
	snprintf(to, 32, "%.*f", h->digits, v);
}

/* The longest of ${name}, in pixels, cut at LONGEST. */
static int
longest(const char *const *name, int n)
{
	int most = 0;

	for (int i = 0; i < n; i++) {
		int w = canvas_text_width(name[i], UNIT);

		most = w > most ? w : most;
	}
	return most < LONGEST ? most : LONGEST;
}

static struct layout
arrange(const struct plot_heat *h)
{
	struct layout l = { .max = h->max };
	int n = h->rows > h->columns ? h->rows : h->columns;
	char text[32];

	for (int i = 0; h->max == 0 && i < h->rows * h->columns; i++)
		l.max = fmax(l.max, h->value[i]);
	if (l.max <= 0)
		l.max = 1;
	cell_text(h, l.max, text);
	l.key = canvas_text_width(text, UNIT);
	l.side = WIDEST / n;
	l.side = l.side > LARGEST ? LARGEST : l.side > UNIT ? l.side : UNIT;
	l.names = l.side >= LINE && h->row != NULL && h->column != NULL;
	l.left = l.names ? longest(h->row, h->rows) : 30 * UNIT;
	l.below = l.names ? longest(h->column, h->columns) : LINE;
	l.w = l.side * h->columns;
	l.h = l.side * h->rows;
	l.x = MARGIN + LINE + l.left + 6 * UNIT;
	l.y = plot_head_height(h->title, h->note) + 8 * UNIT;
	return l;
}

static void
draw_cells(struct canvas *c, const struct plot_heat *h, const struct layout *l)
{
	struct text_style s = { UNIT, TEXT_MIDDLE, 0, 0, black };

	for (int r = 0; r < h->rows; r++)
		for (int k = 0; k < h->columns; k++) {
			double v = h->value[r * h->columns + k];
			struct ink ink = canvas_heat(v / l->max);
			int x = l->x + k * l->side, y = l->y + r * l->side;
			char text[32];

			canvas_fill(c, x, y, l->side, l->side, ink);
			cell_text(h, v, text);
			if (v == 0 || canvas_text_width(text, UNIT) >
			    l->side - 4 * UNIT)
				continue;
			s.ink = canvas_dark(ink) ? paper : black;
			s.bold = r == k;
			canvas_text(c, x + l->side / 2, y + l->side / 2, text, &s);
		}
	/* A grid where it does not hide the cells. */
	for (int r = 0; l->side >= 8 * UNIT && r <= h->rows; r++)
		canvas_fill(c, l->x, l->y + r * l->side, l->w, 1, rule);
	for (int k = 0; l->side >= 8 * UNIT && k <= h->columns; k++)
		canvas_fill(c, l->x + k * l->side, l->y, 1, l->h, rule);
	canvas_frame(c, l->x - UNIT, l->y - UNIT, l->w + 2 * UNIT,
	    l->h + 2 * UNIT, UNIT, rule);
}

static void
draw_names(struct canvas *c, const struct plot_heat *h, const struct layout *l)
{
	struct text_style up = { UNIT, TEXT_RIGHT, 0, 1, black };

	for (int r = 0; r < h->rows; r++) {
		char *fit = canvas_text_fit(h->row[r], UNIT, l->left);

		plot_text(c, l->x - 6 * UNIT, l->y + r * l->side + l->side / 2,
		    fit, TEXT_RIGHT, black);
		free(fit);
	}
	for (int k = 0; k < h->columns; k++) {
		char *fit = canvas_text_fit(h->column[k], UNIT, l->below);

		canvas_text(c, l->x + k * l->side + l->side / 2,
		    l->y + l->h + 6 * UNIT, fit, &up);
		free(fit);
	}
}

/* Too many for names: numbers, from 0. */
static void
draw_numbers(struct canvas *c, const struct plot_heat *h,
    const struct layout *l)
{
	struct tick tick[SCALE_TICKS];
	struct scale s = { 0, h->rows, 0 };
	int n = scale_ticks(&s, 10, tick);

	for (int i = 0; i < n; i++)
		if (tick[i].value < h->rows)
			plot_text(c, l->x - 6 * UNIT, l->y + l->side / 2 +
			    (int)tick[i].value * l->side, tick[i].text,
			    TEXT_RIGHT, grey);
	s.max = h->columns;
	n = scale_ticks(&s, 10, tick);
	for (int i = 0; i < n; i++)
		if (tick[i].value < h->columns)
			plot_text(c, l->x + l->side / 2 + (int)tick[i].value *
			    l->side, l->y + l->h + 10 * UNIT, tick[i].text,
			    TEXT_MIDDLE, grey);
}

static void
draw_key(struct canvas *c, const struct plot_heat *h, const struct layout *l)
{
	struct tick tick[SCALE_TICKS];
	struct scale s = { 0, l->max, 0 };
	int x = l->x + l->w + 14 * UNIT, tall = l->h < 160 * UNIT ? l->h :
	    160 * UNIT, n = scale_ticks(&s, tall / (24 * UNIT) + 1, tick);

	for (int y = 0; y < tall; y++)
		canvas_fill(c, x, l->y + y, BAR, 1,
		    canvas_heat(1 - (y + 0.5) / tall));
	canvas_frame(c, x, l->y, BAR, tall, 1, rule);
	for (int i = 0; i < n; i++)
		plot_text(c, x + BAR + 5 * UNIT, l->y + (int)((1 -
		    scale_place(&s, tick[i].value)) * tall), tick[i].text,
		    TEXT_LEFT, grey);
	if (h->unit != NULL)
		plot_text(c, x, l->y + tall + LINE, h->unit, TEXT_LEFT, black);
}

struct image *
plot_heat(const struct plot_heat *h)
{
	struct layout l = arrange(h);
	struct text_style up = { UNIT, TEXT_MIDDLE, 1, 1, black };
	struct text_style across = { UNIT, TEXT_MIDDLE, 1, 0, black };
	int unit = h->unit != NULL ? canvas_text_width(h->unit, UNIT) : 0;
	int key = BAR + 5 * UNIT + l.key > unit ? BAR + 5 * UNIT + l.key : unit;
	int bottom = l.y + l.h + 6 * UNIT + l.below + 14 * UNIT;
	int head = h->title != NULL ? canvas_text_width(h->title, UNIT + 1) : 0;
	int note = h->note != NULL ? canvas_text_width(h->note, UNIT) : 0;
	int right = l.x + l.w + 14 * UNIT + key;
	struct canvas *c;

	head = MARGIN + (head > note ? head : note);
	c = canvas_new((head > right ? head : right) + MARGIN, bottom + MARGIN,
	    paper);
	plot_head(c, h->title, h->note);
	draw_cells(c, h, &l);
	if (l.names)
		draw_names(c, h, &l);
	else
		draw_numbers(c, h, &l);
	draw_key(c, h, &l);
	if (h->row_label != NULL)
		canvas_text(c, MARGIN + 6 * UNIT, l.y + l.h / 2, h->row_label,
		    &up);
	if (h->column_label != NULL)
		canvas_text(c, l.x + l.w / 2, bottom, h->column_label, &across);
	return canvas_take(c);
}
