/* makeweights zip|legacy|safetensors|pickle: write a small weight file of that
 * format to standard output. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../weights_make.h"

int
main(int argc, char **argv)
{
	struct buffer b = { 0 };

	if (argc != 2)
		errx(2, "usage: makeweights zip|legacy|safetensors|pickle");
	make_file(&b, argv[1]);
	if (fwrite(b.data, 1, b.n, stdout) != b.n || fflush(stdout) != 0)
		err(1, "standard output");
	buffer_free(&b);
	return 0;
}
