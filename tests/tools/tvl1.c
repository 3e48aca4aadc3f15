/*
 * tvl1 W H: read gray frames of W by H bytes from standard input.  Write the
 * motion between adjacent frames by tvl1_flow to standard output: W times H
 * floats in x, then in y.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/tvl1.h"

int
main(int argc, char **argv)
{
	int w = argc == 3 ? atoi(argv[1]) : 0, h = argc == 3 ? atoi(argv[2]) : 0;
	size_t n = (size_t)w * (size_t)h;
	uint8_t *frame[2] = { xmalloc(n), xmalloc(n) };
	float *motion = xcalloc(2 * n, sizeof(*motion));
	struct tvl1 *t = tvl1_new();

	if (n == 0 || fread(frame[0], 1, n, stdin) != n)
		return 1;
	for (int k = 1; fread(frame[k % 2], 1, n, stdin) == n; k++) {
		tvl1_flow(t, frame[(k + 1) % 2], frame[k % 2], w, h, motion,
		    motion + n);
		if (fwrite(motion, sizeof(*motion), 2 * n, stdout) != 2 * n)
			return 1;
	}
	tvl1_free(t);
	free(frame[0]);
	free(frame[1]);
	free(motion);
	return 0;
}
