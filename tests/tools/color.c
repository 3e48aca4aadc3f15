/*
 * color: apply color_apply to pictures, for tests/parity/pictures.py.
 * Standard input repeats a line "op value side" and [side][side][3] bytes.
 * Standard output gets the resulting bytes of each picture.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "clip/color.h"

int
main(void)
{
	int op, side;
	double v;

	while (scanf("%d %lf %d", &op, &v, &side) == 3 && getchar() == '\n') {
		size_t n = 3 * (size_t)side * (size_t)side;
		uint8_t *picture = xmalloc(n), *buffer = xmalloc(n);

		if (fread(picture, 1, n, stdin) != n)
			return 1;
		color_apply((enum color_op)op, v, side, picture, buffer);
		if (fwrite(picture, 1, n, stdout) != n)
			return 1;
		free(picture);
		free(buffer);
	}
	return feof(stdin) ? 0 : 1;
}
