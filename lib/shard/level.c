/* Tags and sizes of the levels of a sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shard/level.h"

int
level_of_tag(const char *tag)
{
	size_t digits = *tag == 's' ? strspn(tag + 1, "0123456789") : 0;

	return digits >= 1 && digits <= 4 && tag[1] != '0' &&
	    tag[1 + digits] == '\0' ? atoi(tag + 1) : 0;
}

struct level_list
level_list_of(const struct stream_list *l)
{
	struct level_list list = { 0 };

	if (l->n < 1 || strcmp(l->kind[0].tag, STREAM_UNTAGGED) != 0)
		return list;
	for (int i = 0; i < l->n; i++) {
		int side = level_of_tag(l->kind[i].tag);

		if (i > 0 && side == 0)
			continue;
		list.level[list.n].stream = i;
		list.level[list.n++].side = side;
	}
	return list;
}

int
level_even(double v)
{
	int n = 2 * (int)floor(v / 2 + 0.5);

	return n < 2 ? 2 : n;
}

void
level_size(int side, int w, int h, int *to_w, int *to_h)
{
	int shorter = w < h ? w : h;
	double scale = (double)side / shorter;

	*to_w = w;
	*to_h = h;
	if (side == 0 || side >= shorter)
		return;
	*to_w = w == shorter ? side : level_even(w * scale);
	*to_h = h == shorter ? side : level_even(h * scale);
}
