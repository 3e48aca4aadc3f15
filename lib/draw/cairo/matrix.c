/* Draw a confusion matrix: cells, names and the color key. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "draw/cairo/matrix.h"
#include "draw/scale.h"

enum { WIDEST = 1240, LARGEST = 46, LONGEST = 230 };

/* ---- values ---- */

/* Return the sum of row ${r}. */
static double
plot_matrix_row_sum(const struct plot_matrix *m, int r)
{
	double sum = 0;

	for (int k = 0; k < m->n; k++)
		sum += m->count[(size_t)r * (size_t)m->n + (size_t)k];
	return sum;
}

static double
plot_matrix_value(const struct matrix_layout *l, int row, int column)
{
	double count = l->m->count[(size_t)row * (size_t)l->m->n +
	    (size_t)column];

	return !l->m->percent ? count : l->sum[row] > 0 ?
	    100 * count / l->sum[row] : 0;
}

/*
 * Round percentages so that a small value is not shown as 0, nor an incomplete
 * one as 100.
 */
static void
plot_matrix_value_text(const struct matrix_layout *l, int row, int column,
    char to[24])
{
	double v = plot_matrix_value(l, row, column);

	if (l->m->percent && v < .5)
		snprintf(to, 24, "<1");
	else if (l->m->percent && v < 100 && v >= 99.5)
		snprintf(to, 24, "99");
	else
		snprintf(to, 24, "%.0f", v);
}

struct color
matrix_color(double part, int diagonal)
{
	static const struct color scale[2][3] = {
		{ { .99, .88, .70 }, { .87, .39, .02 }, { .36, .10, .02 } },
		{ { .84, .91, .97 }, { .10, .45, .71 }, { .03, .15, .34 } } };
	const struct color *s = scale[diagonal != 0];
	/* The square root makes a few samples of many visible. */
	double t = sqrt(part);

	return t < .6 ? color_mix(s[0], s[1], t / .6) :
	    color_mix(s[1], s[2], (t - .6) / .4);
}

/* ---- layout ---- */

static double
plot_matrix_widest(struct page *p, const struct plot_matrix *m, double size)
{
	double width = 0;

	for (int i = 0; i < m->n; i++)
		width = fmax(width, page_text_width(p, m->name[i], size, 0));
	return width;
}

/*
 * Return the font size at which all numbers fit their cells; 0 if it would be
 * too small.
 */
static double
plot_matrix_number_size(struct page *p, const struct matrix_layout *l)
{
	double size = fmin(TEXT_SIZE, l->side * .4), largest = 0;
	char text[24];

	if (size < 6.5)
		return 0;
	for (int r = 0; r < l->m->n; r++)
		for (int k = 0; k < l->m->n; k++)
			if (plot_matrix_value(l, r, k) > 0) {
				plot_matrix_value_text(l, r, k, text);
				largest =
				    fmax(largest, page_text_width(p, text, size,
				    r == k));
			}
	if (largest > l->side - 3)
		size *= (l->side - 3) / largest;
	return size < 6.5 ? 0 : size;
}

static void
plot_matrix_arrange_names(struct page *p, struct matrix_layout *l)
{
	const double slant = M_SQRT1_2;
	double longest, n;
	char text[24];

	l->size = fmin(TEXT_SIZE, l->side - 1);
	snprintf(text, sizeof(text), "%.0f", l->sum_max);
	n = fmax(page_text_width(p, text, l->size, 0),
	    page_text_width(p, "N", l->size, 0));
	longest = fmin(plot_matrix_widest(p, l->m, l->size), LONGEST);
	l->names = longest;
	l->left = longest + 10 + n;
	if (longest <= l->side - 4) {
		l->turn = 0;
		l->below = l->size;
	} else if (l->side >= 16) {
		l->turn = 45;
		l->below = (longest + l->size) * slant;
		/* The first slanted name must not extend beyond the page. */
		l->left = fmax(l->left, longest * slant - l->side / 2 - 20);
	} else {
		l->turn = 90;
		l->below = longest;
	}
}

static void
plot_matrix_arrange(struct page *p, const struct plot_matrix *m,
    struct matrix_layout *l)
{
	*l = (struct matrix_layout){ .m = m };
	/* Cells are as large as the page allows, in steps of a half unit. */
	l->side = fmin(LARGEST, fmax(.5, floor(2. * WIDEST / m->n) / 2));
	l->sum = xcalloc((size_t)m->n, sizeof(*l->sum));
	for (int r = 0; r < m->n; r++) {
		l->sum[r] = plot_matrix_row_sum(m, r);
		l->sum_max = fmax(l->sum_max, l->sum[r]);
	}
	l->max = m->percent ? 100 : 0;
	for (int r = 0; r < m->n && !m->percent; r++)
		for (int k = 0; k < m->n; k++)
			l->max = fmax(l->max, plot_matrix_value(l, r, k));
	if (l->max <= 0)
		l->max = 1;
	l->number = plot_matrix_number_size(p, l);
	if (l->side >= 7) {
		plot_matrix_arrange_names(p, l);
	} else {		/* only the pairs are named */
		l->size = TEXT_SIZE - 1;
		l->names = LONGEST * .8;
		l->left = l->below = l->names + MATRIX_LEADER;
	}
	l->w = l->side * m->n;
	l->x = ceil(PAGE_MARGIN + PAGE_LINE + l->left + 8);
	l->y = page_head_height(m->title, m->note) + 20;
	l->key = l->x + l->w + 26;
	l->right = l->key + 70;
	if (l->number == 0 && m->pairs > 0)
		l->right = l->key + MATRIX_LIST;
	l->bottom = l->y + l->w + 8 + l->below + 14 + PAGE_LINE;
	if (l->number == 0 && m->pairs > 0)
		l->bottom = fmax(l->bottom, matrix_list_bottom(l));
	l->bottom = fmax(l->bottom, l->y + MATRIX_KEY_TOP +
	    MATRIX_KEY + 18 + 2 * PAGE_LINE);
}

/* ---- drawing ---- */

static void
plot_matrix_draw_cells(struct page *p, const struct matrix_layout *l)
{
	struct text_style s = { l->number, TEXT_MIDDLE, .color = color_black };
	cairo_t *c = page_cairo(p);
	char text[24];

	cairo_set_antialias(c, CAIRO_ANTIALIAS_NONE);
	for (int r = 0; r < l->m->n; r++)
		for (int k = 0; k < l->m->n; k++)
			if (plot_matrix_value(l, r, k) > 0)
				page_fill(p, l->x + k * l->side, l->y + r *
				    l->side, l->side, l->side, matrix_color(
				    plot_matrix_value(l, r, k) / l->max,
				    r == k));
	/* Draw a grid only if it does not hide the cells. */
	for (int i = 1; l->side >= 7 && i < l->m->n; i++) {
		page_fill(p, l->x, l->y + i * l->side, l->w, .5, color_faint);
		page_fill(p, l->x + i * l->side, l->y, .5, l->w, color_faint);
	}
	cairo_set_antialias(c, CAIRO_ANTIALIAS_DEFAULT);
	page_frame(p, l->x, l->y, l->w, l->w, .5, color_rule);
	for (int r = 0; l->number > 0 && r < l->m->n; r++)
		for (int k = 0; k < l->m->n; k++) {
			double v = plot_matrix_value(l, r, k);

			if (v == 0)
				continue;
			plot_matrix_value_text(l, r, k, text);
			s.color = color_dark(matrix_color(v / l->max, r == k)) ?
			    color_paper : color_black;
			s.bold = r == k;
			page_text(p, l->x + (k + .5) * l->side,
			    l->y + (r + .5) * l->side, text, &s);
		}
}

static void
plot_matrix_draw_names(struct page *p, const struct matrix_layout *l)
{
	struct text_style s = { l->size, TEXT_RIGHT, .color = color_gray };
	char text[24];

	page_text(p, l->x - 6, l->y - 8, "N", &s);
	for (int r = 0; r < l->m->n; r++) {
		double y = l->y + (r + .5) * l->side;

		snprintf(text, sizeof(text), "%.0f", l->sum[r]);
		s.color = color_gray;
		s.width = 0;
		page_text(p, l->x - 6, y, text, &s);
		s.color = color_black;
		s.width = l->names + 1;
		page_text(p, l->x - (l->left - l->names) - 6, y, l->m->name[r],
		    &s);
	}
	s.width = l->turn == 0 ? l->side : l->names + 1;
	s.turn = l->turn;
	s.hold = l->turn == 0 ? TEXT_MIDDLE : TEXT_RIGHT;
	for (int k = 0; k < l->m->n; k++)
		page_text(p, l->x + (k + .5) * l->side + (l->turn == 45 ?
		    l->size / 3 : 0), l->y + l->w + 6 + (l->turn == 0 ?
		    l->size / 2 : l->turn == 45 ? 2 : 0), l->m->name[k], &s);
}

/* Draw the color key: both color scales from none to all, with values. */
static void
plot_matrix_draw_key(struct page *p, const struct matrix_layout *l)
{
	static const double share[] = { 0, 5, 20, 50, 100 };
	const struct plot_matrix *m = l->m;
	struct scale s = { 0, l->max, 0, 0 };
	struct tick tick[SCALE_TICKS];
	int n = m->percent ? 5 : scale_ticks(&s, 5, tick);
	double top = l->y + MATRIX_KEY_TOP;

	page_word(p, l->key, l->y, m->percent ? "% of N" : "samples",
	    TEXT_LEFT, color_gray);
	cairo_set_antialias(page_cairo(p), CAIRO_ANTIALIAS_NONE);
	for (int y = 0; y < MATRIX_KEY; y++) {
		double part = 1 - (y + .5) / MATRIX_KEY;

		for (int i = 0; i < 2; i++)
			page_fill(p, l->key + i * 15, top + y, 14, 1,
			    matrix_color(part * part, i == 0));
	}
	cairo_set_antialias(page_cairo(p), CAIRO_ANTIALIAS_DEFAULT);
	for (int i = 0; i < n; i++) {
		double v = m->percent ? share[i] : tick[i].value;
		char *text = m->percent ? xprintf("%.0f", v) :
		    xstrdup(tick[i].text);

		page_word(p, l->key + 35, top + (1 - sqrt(v / l->max)) *
		    MATRIX_KEY, text, TEXT_LEFT, color_gray);
		free(text);
	}
	for (int i = 0; i < 2; i++) {
		double y = top + MATRIX_KEY + 18 + i * PAGE_LINE;

		page_fill(p, l->key, y - 5, 10, 10, matrix_color(.36, i == 0));
		page_word(p, l->key + 15, y, i == 0 ? "right" : "wrong",
		    TEXT_LEFT, color_black);
	}
}

int
plot_matrix(const struct plot_matrix *m, const char *path)
{
	struct text_style bold = { TEXT_SIZE, TEXT_MIDDLE, .bold = 1,
		.color = color_black };
	struct page *p;
	struct matrix_layout l;
	double w;

	if (m->n < 1 || m->n > PLOT_CLASSES)
		return fail("%s: a matrix of %d classes (pictures have room "
		    "for 1 to %d)", text_quote(path), m->n, PLOT_CLASSES);
	if ((p = page_new()) == NULL)
		return -1;
	plot_matrix_arrange(p, m, &l);
	w = fmax(l.right + PAGE_MARGIN, page_head_width(p, m->title, m->note));
	if (page_size(p, w, l.bottom + PAGE_MARGIN, path, m->title) == 0) {
		page_head(p, w, m->title, m->note);
		plot_matrix_draw_cells(p, &l);
		if (l.side >= 7)
			plot_matrix_draw_names(p, &l);
		else
			matrix_leaders(p, &l);
		plot_matrix_draw_key(p, &l);
		if (l.number == 0 && m->pairs > 0)
			matrix_list(p, &l);
		page_text(p, l.x + l.w / 2, l.y + l.w + 8 + l.below + 14,
		    m->column_label, &bold);
		bold.turn = 90;
		page_text(p, PAGE_MARGIN + 5, l.y + l.w / 2, m->row_label,
		    &bold);
	}
	free(l.sum);
	return page_done(p);
}
