/* Images in memory. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/image.h"

/* libswscale may read and write past the last pixel. */
static size_t
image_bytes_of(int w, int h, int c)
{
	return (size_t)w * (size_t)h * (size_t)c + 96;
}

struct image *
image_new(int w, int h, int c)
{
	struct image *m = xmalloc(sizeof(*m));

	assert(w > 0 && h > 0 && (c == 1 || c == 3));
	m->w = w;
	m->h = h;
	m->c = c;
	m->capacity = image_bytes_of(w, h, c);
	m->data = xcalloc(m->capacity, 1);
	return m;
}

void
image_reshape(struct image *m, int w, int h, int c)
{
	size_t bytes = image_bytes_of(w, h, c);

	if (bytes > m->capacity) {
		free(m->data);
		m->data = xmalloc(bytes);
		m->capacity = bytes;
	}
	m->w = w;
	m->h = h;
	m->c = c;
}

void
image_free(struct image *m)
{
	if (m == NULL)
		return;
	free(m->data);
	free(m);
}
