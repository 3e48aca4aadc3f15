/*
 * Divide planes into tiles, and find the tiles that have an element
 * (winograd_tiles.h).
 */
#include "backend/cpu/winograd_tiles.h"
#include "base/number.h"

enum { SIDE = 4, POINTS = 6 };

enum { ROW_END, INSIDE, COLUMN_END, CORNER, CLASSES };

/* Return n of the last tile in a side of ${n} outputs. */
static int
winograd_tiles_last_of(int n)
{
	return n % SIDE == 0 ? SIDE : n % SIDE == 3 ? 3 : 2;
}

int
winograd_tiles_of(int h, int w)
{
	return div_up(h, SIDE) * div_up(w, SIDE);
}

void
winograd_sort(struct winograd_tiles *t, int h, int w, int from, int to)
{
	int end = 0;

	t->n = to - from;
	t->last[0] = winograd_tiles_last_of(h);
	t->last[1] = winograd_tiles_last_of(w);
	for (int class = 0; class < CLASSES; class++) {
		t->begin[class] = end;
		for (int i = from; i < to; i++) {
			int tile = i % winograd_tiles_of(h, w);
			int wide = div_up(w, SIDE), row = tile / wide;
			int column = tile % wide;
			int ends_h = row == div_up(h, SIDE) - 1 &&
			    t->last[0] < SIDE;
			int ends_w = column == wide - 1 && t->last[1] < SIDE;

			if (class == (ends_h ? ends_w ? CORNER : COLUMN_END :
			    ends_w ? ROW_END : INSIDE))
				t->tile[end++] = (struct winograd_tile){
					i / winograd_tiles_of(h, w),
					{ row * SIDE, column * SIDE },
					{ ends_h ? t->last[0] : SIDE,
					    ends_w ? t->last[1] : SIDE } };
		}
	}
	t->begin[CLASSES] = end;
}

/* Return 1 if a tile of ${n} outputs does not need point ${i}. */
static int
winograd_tiles_is_spared(int i, int n)
{
	return (i == 4 && n < 4) || (i == 3 && n < 3);
}

int
winograd_range(const struct winograd_tiles *t, int e, int *from)
{
	int h = winograd_tiles_is_spared(e / POINTS, t->last[0]);
	int w = winograd_tiles_is_spared(e % POINTS, t->last[1]);

	*from = t->begin[w ? INSIDE : ROW_END];
	return t->begin[h ? COLUMN_END : w ? CORNER : CLASSES] - *from;
}
