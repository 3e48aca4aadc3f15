/*
 * The layout of bf16 activations (half.h): reading and writing them, copies in
 * fp32, the channel ranges of a shift, and the table of operators.
 */
#include <string.h>

#include "backend/cpu/half/half.h"

size_t
half_bytes(const struct dims *d)
{
	if (!half_is(d))
		return cpu_floats(d) * sizeof(float);
	return (size_t)cpu_images(d) * half_image(d) * sizeof(bf16);
}

void
half_read(double *host, const struct dims *d, const void *x)
{
	size_t places = cpu_places(d);

	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < places; p++)
			for (int c = 0; c < d->c; c++)
				*host++ = half_is(d) ? (double)bf16_wide(
				    half_at(d, x, i, p)[c]) :
				    (double)*cpu_element(d, x, i, p, c);
}

void
half_write(void *x, const struct dims *d, const double *host)
{
	size_t places = cpu_places(d);

	memset(x, 0, half_bytes(d));
	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < places; p++)
			for (int c = 0; c < d->c; c++) {
				float v = (float)*host++;

				if (half_is(d))
					half_at(d, x, i, p)[c] = bf16_of(v);
				else
					*cpu_element(d, x, i, p, c) = v;
			}
}

/* ---- fp32 copies ---- */

struct half_layout_copy {
	struct task *t;
	const struct dims *d;
	float *planes;
	void *x;
	int more;
};

static void
half_layout_widen_image(int i, int thread, void *arg)
{
	const struct half_layout_copy *k = arg;
	const bf16 *x = half_at(k->d, k->x, i, 0);
	float *planes = cpu_plane(k->d, k->planes, i, 0);
	size_t places = cpu_places(k->d), channels = (size_t)k->d->c;

	(void)thread;
	if (!cpu_is_pixels(k->d)) {
		half_k(k->t)->planes(planes, x, places, half_row(k->d));
		return;
	}
	for (size_t c = 0; c < channels; c++)
		for (size_t p = 0; p < places; p++)
			planes[c * places + p] = bf16_wide(x[p * channels + c]);
}

static void
half_layout_narrow_image(int i, int thread, void *arg)
{
	const struct half_layout_copy *k = arg;
	bf16 *x = half_at(k->d, k->x, i, 0);
	const float *planes = cpu_plane(k->d, k->planes, i, 0);
	size_t places = cpu_places(k->d), channels = (size_t)k->d->c;

	(void)thread;
	if (!cpu_is_pixels(k->d)) {
		half_k(k->t)->rows(x, planes, places, half_row(k->d), k->more);
		return;
	}
	for (size_t c = 0; c < channels; c++)
		for (size_t p = 0; p < places; p++) {
			bf16 *to = &x[p * channels + c];
			float v = planes[c * places + p];

			*to = bf16_of(k->more ? v + bf16_wide(*to) : v);
		}
}

void
half_widen(struct task *t, const struct dims *d, float *planes, const void *x)
{
	struct half_layout_copy k = { t, d, planes, (void *)x, 0 };

	cpu_run(t, cpu_images(d), half_layout_widen_image, &k);
}

void
half_narrow(struct task *t, const struct dims *d, void *x,
    const float *planes, int more)
{
	struct half_layout_copy k = { t, d, (float *)planes, x, more };

	cpu_run(t, cpu_images(d), half_layout_narrow_image, &k);
}

/* ---- shifts ---- */

int
half_ranges(const struct task *shift, int row, struct half_range r[8])
{
	int n = 0, c = 0, channels = shift->out.c;

	while (c < row) {
		int by = c < channels ? op_shift(shift->op, channels, c) : 0;

		r[n] = (struct half_range){ c, c, by };
		while (c < row && (c < channels ? op_shift(shift->op, channels,
		    c) : 0) == by)
			c++;
		r[n++].to = c;
	}
	return n;
}

const struct op_impl *const half_ops[OP_KINDS] = {
#define OPERATOR(KIND, name, half) [OP_ ## KIND] = &half_ ## half,
#include "backend/ops.def"
};
