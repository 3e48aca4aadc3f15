/* Images in memory. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"

struct image *
image_new(int w, int h, int c)
{
	struct image *m = xmalloc(sizeof(*m));

	assert(w > 0 && h > 0 && (c == 1 || c == 3));
	m->w = w;
	m->h = h;
	m->c = c;
	/* libswscale reads a little past the end. */
	m->data = xcalloc((size_t)w * (size_t)h * (size_t)c + 64, 1);
	return m;
}

void
image_free(struct image *m)
{
	if (m == NULL)
		return;
	free(m->data);
	free(m);
}
