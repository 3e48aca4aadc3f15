/*
 * weightdump FILE [VALUES]: print the tensors of a weight file, one line each:
 * name, type, shape and the hash of its values as floats.  Write the values,
 * one tensor after the other, to the file VALUES.  Exit with 1 if FILE cannot
 * be read, and with 4 if it is not a weight file.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "weights/weights.h"

int
main(int argc, char **argv)
{
	struct weights_file w;
	FILE *values = NULL;
	int bad;

	program_start(argv[0]);
	if (argc < 2 || argc > 3)
		errx(EXIT_USAGE, "usage: weightdump FILE [VALUES]");
	if ((bad = weights_open(argv[1], &w)) != 0)
		return bad == -3 ? EXIT_USAGE : bad == -2 ? EXIT_DAMAGE :
		    EXIT_FAILED;
	if (argc == 3 && (values = fopen(argv[2], "w")) == NULL)
		err(EXIT_FAILED, "%s", argv[2]);
	for (size_t i = 0; i < w.tensors; i++) {
		const struct weight *t = &w.tensor[i];
		char hash[33];
		float *x;

		printf("%s\t%s\t", t->name, dtype_name(t->type));
		for (int k = 0; k < t->ndim; k++)
			printf("%s%lld", k > 0 ? "x" : "",
			    (long long)t->dim[k]);
		x = xcalloc(t->count, sizeof(*x));
		weights_floats(t, x);
		printf("\t%s\n", hash128_text(hash128(x, t->count *
		    sizeof(*x)), hash));
		if (values != NULL && fwrite(x, sizeof(*x), t->count,
		    values) != t->count)
			err(EXIT_FAILED, "%s", argv[2]);
		free(x);
	}
	if (values != NULL && fclose(values) != 0)
		err(EXIT_FAILED, "%s", argv[2]);
	weights_close(&w);
	return EXIT_DONE;
}
