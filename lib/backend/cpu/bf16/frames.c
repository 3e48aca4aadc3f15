/* The operators input and shift in bf16. */
#include <string.h>

#include "backend/cpu/bf16/bf16.h"

/* ---- input: y = (x / 255 - mean) / sd of bytes, by a table ---- */

static int
bf16_input_prepare(struct task *t)
{
	if (bf16_is(&t->out))
		return 0;
	t->impl = &bf16_fallback;
	return t->impl->prepare(t);
}

static void
bf16_input_image(struct task *t, int i)
{
	size_t positions = cpu_positions(&t->out), channels = (size_t)t->out.c;
	size_t row = (size_t)bf16_row(&t->out);
	const uint8_t *from = t->feed->stream[t->op->input.stream].bytes +
	    (size_t)i * positions * channels;
	const bf16 *value = t->scratch;		/* [channels][256] */
	bf16 *to = bf16_at(&t->out, t->y, i, 0);

	if (row > channels)
		memset(to, 0, positions * row * sizeof(*to));
	for (size_t p = 0; p < positions; p++, to += row, from += channels)
		for (size_t c = 0; c < channels; c++)
			to[c] = value[c * 256 + from[c]];
}

static size_t
bf16_input_scratch(const struct task *t)
{
	return (size_t)t->out.c * 256 * sizeof(bf16);
}

static void
bf16_input_forward(struct task *t)
{
	bf16 *value = t->scratch;

	for (int c = 0; c < t->out.c; c++)
		for (int v = 0; v < 256; v++)
			value[c * 256 + v] = bf16_of((float)((v / 255.0 -
			    t->op->input.mean.v[c]) / t->op->input.sd.v[c]));
	cpu_run_task(t, cpu_images(&t->out), bf16_input_image);
}

const struct op_impl bf16_input = {
	.prepare = bf16_input_prepare, .scratch = bf16_input_scratch,
	.forward = bf16_input_forward,
};

/* ---- shift: the temporal shift of TSM, over whole positions ---- */

static int
bf16_shift_prepare(struct task *t)
{
	if (bf16_is(&t->out))
		return cpu_blocked(t);
	t->impl = &bf16_fallback;
	return t->impl->prepare(t);
}

/*
 * Fill image ${i} of ${to} from the frames of ${from}.  ${sign} is 1 for
 * activations and -1 for their gradients, which move back.
 */
static void
bf16_frames_move(struct task *t, const void *from, void *to, int i, int sign,
    int more)
{
	const struct dims *d = &t->out;
	size_t row = (size_t)bf16_row(d), positions = cpu_positions(d);
	int frame = i % d->t;
	struct cpu_shift_range r[8];
	int n = cpu_shift_ranges(t, (int)row, r);

	for (int k = 0; k < n; k++) {
		int at = frame + sign * r[k].by;
		size_t wide = (size_t)(r[k].to - r[k].from);
		const bf16 *x = bf16_at(d, from, i + sign * r[k].by, 0) +
		    r[k].from;
		bf16 *y = bf16_at(d, to, i, 0) + r[k].from;

		for (size_t p = 0; p < positions; p++, x += row, y += row)
			if (at < 0 || at >= d->t) {
				if (!more)
					memset(y, 0, wide * sizeof(*y));
			} else if (more) {
				bf16_k(t)->add(y, y, x, wide);
			} else {
				memcpy(y, x, wide * sizeof(*y));
			}
	}
}

static void
bf16_shift_image(struct task *t, int i)
{
	bf16_frames_move(t, t->x[0], t->y, i, 1, 0);
}

static void
bf16_shift_forward(struct task *t)
{
	cpu_run_task(t, cpu_images(&t->out), bf16_shift_image);
}

static void
bf16_shift_back_image(struct task *t, int i)
{
	bf16_frames_move(t, t->dy, t->dx[0], i, -1, t->accumulate[0]);
}

static void
bf16_shift_backward(struct task *t)
{
	if (t->dx[0] != NULL)
		cpu_run_task(t, cpu_images(&t->out), bf16_shift_back_image);
}

const struct op_impl bf16_shift = {
	.prepare = bf16_shift_prepare, .forward = bf16_shift_forward,
	.backward = bf16_shift_backward,
};
