/*
 * The layout of bf16 activations (bf16.h): reading and writing them, copies in
 * fp32, the channel ranges of a shift, and the table of operators.
 */
#include <string.h>

#include "backend/cpu/bf16/bf16.h"

size_t
bf16_bytes(const struct dims *d)
{
	if (!bf16_is(d))
		return cpu_floats(d) * sizeof(float);
	return (size_t)cpu_images(d) * bf16_image(d) * sizeof(bf16);
}

void
bf16_read(double *host, const struct dims *d, const void *x)
{
	size_t positions = cpu_positions(d);

	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < positions; p++)
			for (int c = 0; c < d->c; c++)
				*host++ = (double)bf16_wide(bf16_at(d, x, i,
				    p)[c]);
}

void
bf16_write(void *x, const struct dims *d, const double *host)
{
	size_t positions = cpu_positions(d);

	memset(x, 0, bf16_bytes(d));
	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < positions; p++)
			for (int c = 0; c < d->c; c++)
				bf16_at(d, x, i, p)[c] = bf16_of((float)
				    *host++);
}

/* ---- fp32 copies ---- */

struct bf16_layout_copy {
	struct task *t;
	const struct dims *d;
	float *planes;
	void *x;
	int more;
};

static void
bf16_layout_widen_image(int i, int thread, void *arg)
{
	const struct bf16_layout_copy *k = arg;
	const bf16 *x = bf16_at(k->d, k->x, i, 0);
	float *planes = cpu_plane(k->d, k->planes, i, 0);
	size_t positions = cpu_positions(k->d), channels = (size_t)k->d->c;

	(void)thread;
	if (!cpu_is_pixels(k->d)) {
		bf16_k(k->t)->planes(planes, x, positions, bf16_row(k->d));
		return;
	}
	for (size_t c = 0; c < channels; c++)
		for (size_t p = 0; p < positions; p++)
			planes[c * positions + p] =
			    bf16_wide(x[p * channels + c]);
}

static void
bf16_layout_narrow_image(int i, int thread, void *arg)
{
	const struct bf16_layout_copy *k = arg;
	bf16 *x = bf16_at(k->d, k->x, i, 0);
	const float *planes = cpu_plane(k->d, k->planes, i, 0);
	size_t positions = cpu_positions(k->d), channels = (size_t)k->d->c;

	(void)thread;
	if (!cpu_is_pixels(k->d)) {
		bf16_k(k->t)->rows(x, planes, positions, bf16_row(k->d),
		    k->more);
		return;
	}
	for (size_t c = 0; c < channels; c++)
		for (size_t p = 0; p < positions; p++) {
			bf16 *to = &x[p * channels + c];
			float v = planes[c * positions + p];

			*to = bf16_of(k->more ? v + bf16_wide(*to) : v);
		}
}

void
bf16_widen(struct task *t, const struct dims *d, float *planes, const void *x)
{
	struct bf16_layout_copy k = { t, d, planes, (void *)x, 0 };

	cpu_run(t, cpu_images(d), bf16_layout_widen_image, &k);
}

void
bf16_narrow(struct task *t, const struct dims *d, void *x,
    const float *planes, int more)
{
	struct bf16_layout_copy k = { t, d, (float *)planes, x, more };

	cpu_run(t, cpu_images(d), bf16_layout_narrow_image, &k);
}

const struct op_impl *const bf16_ops[OP_KINDS] = {
#define OPERATOR(KIND, name, cpu, bf16) [OP_ ## KIND] = &bf16_ ## bf16,
#include "backend/ops.def"
};
