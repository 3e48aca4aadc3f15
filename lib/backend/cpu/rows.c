/* Copies of activations as rows: [n][t][h][w][c], the layout of backend/ref. */
#include "backend/cpu/cpu.h"

/*
 * One part of a copy is POSITIONS positions of an image with all of their
 * channels.  It then reads or writes whole rows, and about 1 KiB of each block.
 */
enum { POSITIONS = 16 };

struct cpu_rows {
	const struct dims *d;
	float *x, *rows;
	int write, more;		/* 1: to ${x}; 1: add to it */
};

static size_t
cpu_rows_parts(const struct dims *d)
{
	return (cpu_positions(d) + POSITIONS - 1) / POSITIONS;
}

/* Copy ${channels} of ${n} positions.  Clear the lanes beyond the last. */
static void
cpu_rows_block(const struct cpu_rows *k, float *x, float *row, size_t n,
    int channels, int lanes)
{
	for (size_t p = 0; p < n; p++, x += lanes, row += k->d->c) {
		for (int m = 0; m < channels && !k->write; m++)
			row[m] = x[m];
		for (int m = 0; m < channels && k->write; m++)
			x[m] = row[m] + (k->more ? x[m] : 0);
		for (int m = channels; m < lanes && k->write && !k->more; m++)
			x[m] = 0;
	}
}

static void
cpu_rows_part(int i, int thread, void *arg)
{
	const struct cpu_rows *k = arg;
	const struct dims *d = k->d;
	size_t hw = cpu_positions(d), parts = cpu_rows_parts(d);
	size_t from = (size_t)i % parts * POSITIONS, image = (size_t)i / parts;
	/* In the pixel layout a block is one channel. */
	int lanes = (int)cpu_step(d);

	(void)thread;
	for (int c = 0; c < d->c; c += lanes)
		cpu_rows_block(k, cpu_element(d, k->x, (int)image, from, c),
		    k->rows + (image * hw + from) * (size_t)d->c + c,
		    hw - from < POSITIONS ? hw - from : POSITIONS,
		    d->c - c < lanes ? d->c - c : lanes, lanes);
}

void
cpu_rows_read(const struct task *t, const struct dims *d, float *rows,
    const void *x)
{
	struct cpu_rows k = { d, (float *)x, rows, 0, 0 };

	cpu_run(t, cpu_images(d) * (int)cpu_rows_parts(d), cpu_rows_part, &k);
}

void
cpu_rows_write(const struct task *t, const struct dims *d, void *x,
    const float *rows, int more)
{
	struct cpu_rows k = { d, x, (float *)rows, 1, more };

	cpu_run(t, cpu_images(d) * (int)cpu_rows_parts(d), cpu_rows_part, &k);
}
