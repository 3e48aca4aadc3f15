/*
 * Draw the worst pairs of a confusion matrix whose classes cannot all be named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cairo/matrix.h"

enum { PAIR = 36, HEAD = 22 };

static double
matrix_pairs_list_top(const struct matrix_layout *l)
{
	return l->y + MATRIX_KEY_TOP + MATRIX_KEY + 18 + 2 * PAGE_LINE + 24;
}

double
matrix_list_bottom(const struct matrix_layout *l)
{
	return matrix_pairs_list_top(l) + HEAD + l->m->pairs * PAIR;
}

void
matrix_list(struct page *p, const struct matrix_layout *l)
{
	struct text_style s = { TEXT_SIZE, TEXT_LEFT, .bold = 1,
		.color = color_black };
	const struct plot_matrix *m = l->m;
	double y = matrix_pairs_list_top(l), right = l->key + MATRIX_LIST;

	page_text(p, l->key, y, m->pair_label, &s);
	s.bold = 0;
	y += HEAD;
	for (int i = 0; i < m->pairs; i++, y += PAIR) {
		struct plot_pair q = m->pair[i];
		double count = m->count[(size_t)q.row * (size_t)m->n +
		    (size_t)q.column];
		char text[64];

		snprintf(text, sizeof(text), "%d", i + 1);
		page_word(p, l->key + 14, y, text, TEXT_RIGHT, color_gray);
		snprintf(text, sizeof(text), "%.0f of %.0f", count,
		    l->sum[q.row]);
		page_word(p, right, y, text, TEXT_RIGHT, color_gray);
		s.width = right - l->key - 20 - 8 - page_text_width(p, text,
		    TEXT_SIZE, 0);
		page_text(p, l->key + 20, y, m->name[q.row], &s);
		snprintf(text, sizeof(text), "%.0f %%", 100 * count /
		    fmax(l->sum[q.row], 1));
		page_word(p, right, y + 14, text, TEXT_RIGHT, color_gray);
		page_word(p, l->key + 20, y + 14, "\xe2\x86\x92", TEXT_LEFT,
		    color_gray);
		s.width = right - l->key - 35 - 8 - page_text_width(p, text,
		    TEXT_SIZE, 0);
		page_text(p, l->key + 35, y + 14, m->name[q.column], &s);
	}
}

static int
matrix_pairs_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Write the rows or the columns of the pairs to ${to}, sorted and without
 * duplicates.  Return their number.
 */
static int
matrix_pairs_sides(const struct plot_matrix *m, int columns, int to[PLOT_PAIRS])
{
	int n = 0, kept = 0;

	for (int i = 0; i < m->pairs && i < PLOT_PAIRS; i++)
		to[n++] = columns ? m->pair[i].column : m->pair[i].row;
	qsort(to, (size_t)n, sizeof(*to), matrix_pairs_by_number);
	for (int i = 0; i < n; i++)
		if (i == 0 || to[i] != to[kept - 1])
			to[kept++] = to[i];
	return kept;
}

/*
 * Move names at ${at}, which ascends, at least ${gap} apart and into 0 to
 * ${end}.  Take the mean of pushing all down and of pushing all up: it keeps
 * the distances and moves each name little.
 */
static void
matrix_pairs_spread(double *at, int n, double gap, double end)
{
	double up[PLOT_PAIRS];

	memcpy(up, at, (size_t)n * sizeof(*at));
	for (int i = 1; i < n; i++) {
		int k = n - 1 - i;

		at[i] = fmax(at[i], at[i - 1] + gap);
		up[k] = fmin(up[k], up[k + 1] - gap);
	}
	for (int i = 0; i < n; i++)
		at[i] = fmax((at[i] + up[i]) / 2, i * gap);
	for (int i = 1; i < n; i++)
		at[i] = fmax(at[i], at[i - 1] + gap);
	for (int i = 0; i < n; i++)
		at[n - 1 - i] = fmin(at[n - 1 - i], end - i * gap);
}

void
matrix_leaders(struct page *p, const struct matrix_layout *l)
{
	struct text_style s = { l->size, TEXT_RIGHT, .color = color_black,
		.width = l->names };
	double at[PLOT_PAIRS];
	int class[PLOT_PAIRS];

	for (int columns = 0; columns < 2; columns++) {
		int n = matrix_pairs_sides(l->m, columns, class);

		/* The ideal position of a name is next to its row or column. */
		for (int i = 0; i < n; i++)
			at[i] = (class[i] + .5) * l->side;
		matrix_pairs_spread(at, n, l->size + 3, l->w);
		s.turn = columns ? 90 : 0;
		for (int i = 0; i < n; i++) {
			double true = (class[i] + .5) * l->side;
			struct point from = { l->x - MATRIX_LEADER + 2,
				l->y + at[i] };
			struct point mid = { l->x - 6, l->y + true };
			struct point to = { l->x - 1, l->y + true };

			if (columns) {
				from = (struct point){ l->x + at[i],
					l->y + l->w + MATRIX_LEADER - 2 };
				mid = (struct point){ l->x + true,
					l->y + l->w + 6 };
				to = (struct point){ l->x + true,
					l->y + l->w + 1 };
			}
			page_path(p, (struct point[]){ from, mid, to }, 3, .5,
			    0, color_rule);
			page_text(p, from.x - (columns ? 0 : 3), from.y +
			    (columns ? 3 : 0), l->m->name[class[i]], &s);
		}
	}
}
