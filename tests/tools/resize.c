/*
 * resize: apply image_resize to pictures, for tests/parity/resize.py.  Standard
 * input repeats a line "how from_w from_h x y w h to_w to_h flip" and
 * [from_h][from_w][3] bytes.  Standard output gets the [to_h][to_w][3] bytes of
 * each picture.
 */
#include <stdio.h>
#include <stdlib.h>

#include "media/image.h"

int
main(void)
{
	struct resizer *z = resizer_new();
	int how, from_w, from_h, to_w, to_h, flip;
	struct region r;

	while (scanf("%d %d %d %lf %lf %lf %lf %d %d %d", &how, &from_w,
	    &from_h, &r.x, &r.y, &r.w, &r.h, &to_w, &to_h, &flip) == 10 &&
	    getchar() == '\n') {
		struct image *from = image_new(from_w, from_h, 3);
		struct image *to = image_new(to_w, to_h, 3);
		size_t in = 3 * (size_t)from_w * (size_t)from_h;
		size_t out = 3 * (size_t)to_w * (size_t)to_h;

		if (fread(from->data, 1, in, stdin) != in)
			return 1;
		image_resize(z, &(struct resize_call){ how, to->data, to_w, to_h, from->data, from_w,
		    from_h, r, flip });
		if (fwrite(to->data, 1, out, stdout) != out)
			return 1;
		image_free(from);
		image_free(to);
	}
	resizer_free(z);
	return feof(stdin) ? 0 : 1;
}
