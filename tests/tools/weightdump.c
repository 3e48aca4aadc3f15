/*
 * weightdump FILE [VALUES]: the tensors of a file of weights, a line each:
 * name, type and shape; and all their numbers as floats, one tensor after the
 * other, into the file VALUES.  Exit 1 if it cannot be read, 4 if it is no
 * file of weights.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "weights/weights.h"

int
main(int argc, char **argv)
{
	struct weights w;
	FILE *values = NULL;
	int bad;

	program_start(argv[0]);
	if (argc < 2 || argc > 3)
		errx(EXIT_USAGE, "usage: weightdump FILE [VALUES]");
	if ((bad = weights_open(argv[1], &w)) != 0)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (argc == 3 && (values = fopen(argv[2], "w")) == NULL)
		err(EXIT_FAILED, "%s", argv[2]);
	for (size_t i = 0; i < w.tensors; i++) {
		const struct weight *t = &w.tensor[i];

		printf("%s\t%s\t", t->name, dtype_name(t->type));
		for (int k = 0; k < t->ndim; k++)
			printf("%s%lld", k > 0 ? "x" : "",
			    (long long)t->dim[k]);
		putchar('\n');
		if (values != NULL) {
			float *x = xcalloc(t->count, sizeof(*x));

			weights_floats(t, x);
			if (fwrite(x, sizeof(*x), t->count, values) !=
			    t->count)
				err(EXIT_FAILED, "%s", argv[2]);
			free(x);
		}
	}
	if (values != NULL && fclose(values) != 0)
		err(EXIT_FAILED, "%s", argv[2]);
	weights_close(&w);
	return EXIT_DONE;
}
