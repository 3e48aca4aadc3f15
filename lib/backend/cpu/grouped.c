/*
 * Convolutions in groups (grouped.h): how the work is split into jobs, and the
 * rows of positions of each.
 */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/grouped.h"
#include "backend/cpu/grouped_kernels.h"

enum { PARTS = 8 };		/* parts of a weight gradient, at most */

/* Return the shape of the output: y, or dx for a data gradient. */
static const struct dims *
grouped_output_dims(const struct grouped *g, int back)
{
	return back ? &g->x : &g->y;
}

/* Return the input channels of each output channel. */
static int
grouped_each_of(const struct grouped *g, int back)
{
	return (back ? g->y.c : g->x.c) / g->groups;
}

static size_t
grouped_taps_of(const struct grouped *g)
{
	return (size_t)(g->k[0] * g->k[1] * g->k[2]);
}

int
grouped_blocks(const struct grouped *g)
{
	return cpu_blocks(grouped_output_dims(g, g->back)->c);
}

/* Floats of the packed weights of a block: [tap][each][L]. */
static size_t
grouped_block_of(const struct grouped *g)
{
	return grouped_taps_of(g) * (size_t)(grouped_each_of(g, g->back) *
	    cpu_lanes());
}

size_t
grouped_weights(const struct grouped *g)
{
	return grouped_block_of(g) * (size_t)grouped_blocks(g) * sizeof(float);
}

/*
 * Scratch holds the channel offsets of struct grouped_row, and the gradient of
 * one image.
 */
size_t
grouped_scratch(const struct grouped *g)
{
	int each = grouped_each_of(g, 0) > grouped_each_of(g, 1) ?
	    grouped_each_of(g, 0) : grouped_each_of(g, 1);

	return (size_t)(each * LANES_MAX) * sizeof(int) +
	    grouped_block_of(g) * sizeof(float);
}

/*
 * Return the offset of tap 0 in the graph's weights, between output channel
 * ${c} and its input channel ${j}.
 */
static size_t
grouped_outer_at(const struct grouped *g, int c, int j)
{
	int in = g->x.c / g->groups, out = g->y.c / g->groups;
	int o = g->back ? c / in * out + j : c, i = g->back ? c % in : j;

	return (size_t)(o * in + i) * grouped_taps_of(g);
}

void
grouped_pack(const void *state, int block, const struct conv_buffers *o)
{
	const struct grouped *g = state;
	int lanes = cpu_lanes(), first = block * lanes;
	int each = grouped_each_of(g, g->back);
	int end = grouped_output_dims(g, g->back)->c - first;
	float *to = (float *)o->w + grouped_block_of(g) * (size_t)block;

	for (size_t tap = 0; tap < grouped_taps_of(g); tap++)
		for (int j = 0; j < each; j++)
			for (int c = 0; c < lanes; c++)
				*to++ = c < end ? o->weights[grouped_outer_at(g,
				    first + c, j) + tap] : 0;
}

/*
 * Describe a row of the kernel for an output block.  The input begins ${*at}
 * floats after the start of the image.
 */
static struct grouped_row
grouped_row_of(const struct grouped *g, int block, int *from, size_t *at)
{
	const struct dims *in = grouped_output_dims(g, !g->back);
	int lanes = cpu_lanes(), each = grouped_each_of(g, g->back);
	int mine = grouped_output_dims(g, g->back)->c, of = mine / g->groups;
	struct grouped_row r = { .k = g->k[2], .s = g->s[2], .p = g->p[2],
		.x_w = g->x.w, .y_w = g->y.w, .each = each };

	*at = cpu_positions(in) * (size_t)(lanes * block);
	if (each == 1 && of == 1)
		return r;
	*at = 0;
	r.from = from;
	for (int j = 0; j < each; j++)
		for (int i = 0; i < lanes; i++) {
			int c = block * lanes + i;

			c = (c < mine ? c : mine - 1) / of * each + j;
			*from++ = c / lanes * (int)cpu_positions(in) * lanes +
			    c % lanes;
		}
	return r;
}

/*
 * A function to run for each row of the kernel and the matching rows of x and
 * y, whose offsets it receives.
 */
struct grouped_visit {
	const struct grouped *g;
	const struct grouped_kernels *kernels;
	struct grouped_row row;
	const float *x, *y, *w;		/* a clip; a block of the weights */
	float *to;
	size_t step;			/* floats of a row of the kernel */
	void (*run)(const struct grouped_visit *v, size_t x, size_t y,
	    size_t w);
};

/* Call v->run for all kernel rows that frame ${f} of y uses. */
static void
grouped_visit_frame(const struct grouped_visit *v, int f)
{
	const struct grouped *g = v->g;
	size_t lanes = (size_t)cpu_lanes();

	for (int h = 0; h < g->y.h; h++) {
		size_t y = cpu_blocked_image(&g->y) * (size_t)f +
		    (size_t)(h * g->y.w) * lanes;

		for (int i = 0; i < g->k[0] * g->k[1]; i++) {
			int t = f * g->s[0] - g->p[0] + i / g->k[1];
			int at = h * g->s[1] - g->p[1] + i % g->k[1];

			if (t >= 0 && t < g->x.t && at >= 0 && at < g->x.h)
				v->run(v, cpu_blocked_image(&g->x) * (size_t)t +
				    (size_t)(at * g->x.w) * lanes, y,
				    v->step * (size_t)i);
		}
	}
}

static void
grouped_run_forward(const struct grouped_visit *v, size_t x, size_t y, size_t w)
{
	v->kernels->forward(&v->row, v->x + x, v->w + w, v->to + y);
}

static void
grouped_run_back(const struct grouped_visit *v, size_t x, size_t y, size_t w)
{
	v->kernels->back(&v->row, v->y + y, v->w + w, v->to + x);
}

static void
grouped_run_gradient(const struct grouped_visit *v, size_t x, size_t y,
    size_t w)
{
	v->kernels->gradient(&v->row, v->x + x, v->y + y, v->to + w);
}

/* ---- forward and data gradients: a job is a block of a clip ---- */

int
grouped_jobs(const struct grouped *g)
{
	return g->x.n * grouped_blocks(g);
}

/* Initialize a frame of the output block: with the bias or with zeros. */
static void
grouped_begin(const struct dims *d, int block, const float *bias, float *to)
{
	int lanes = cpu_lanes(), first = block * lanes;

	if (bias == NULL) {
		memset(to, 0, cpu_positions(d) * (size_t)lanes * sizeof(*to));
		return;
	}
	for (size_t p = 0; p < cpu_positions(d); p++)
		for (int c = 0; c < lanes; c++)
			*to++ = first + c < d->c ? bias[first + c] : 0;
}

void
grouped_run(const void *state, int job, const struct conv_buffers *o)
{
	const struct grouped *g = state;
	const struct dims *d = grouped_output_dims(g, g->back),
	    *from = grouped_output_dims(g, !g->back);
	int blocks = grouped_blocks(g), clip = job / blocks;
	int block = job % blocks;
	size_t at;
	struct grouped_visit v = { .g = g, .kernels = grouped_kernels_pick(),
		.row = grouped_row_of(g, block, o->scratch, &at),
		.w = (const float *)o->w + grouped_block_of(g) * (size_t)block,
		.run = g->back ? grouped_run_back : grouped_run_forward };

	v.step = (size_t)(g->k[2] * v.row.each * cpu_lanes());
	v.x = v.y = (const float *)o->in + cpu_blocked_image(from) *
	    (size_t)(clip * from->t) + at;
	v.to = (float *)o->out + cpu_blocked_image(d) * (size_t)(clip * d->t) +
	    cpu_positions(d) * (size_t)(block * cpu_lanes());
	for (int f = 0; f < d->t && !o->more; f++)
		grouped_begin(d, block, o->bias,
		    v.to + cpu_blocked_image(d) * (size_t)f);
	for (int f = 0; f < g->y.t; f++)
		grouped_visit_frame(&v, f);
}

/* ---- weight gradients: a job is a block of some frames ---- */

int
grouped_parts(const struct grouped *g)
{
	assert(cpu_images(&g->y) > 0);
	return cpu_images(&g->y) < PARTS ? cpu_images(&g->y) : PARTS;
}

/* Each image is summed by itself first, so that float sums stay short. */
void
grouped_gradient(const void *state, int job, const struct conv_buffers *o)
{
	const struct grouped *g = state;
	int blocks = grouped_blocks(g), part = job / blocks;
	int block = job % blocks, images = cpu_images(&g->y);
	size_t n = grouped_block_of(g), at, y_at = cpu_positions(&g->y) *
	    (size_t)(block * cpu_lanes());
	struct grouped_visit v = { .g = g, .kernels = grouped_kernels_pick(),
		.row = grouped_row_of(g, block, o->scratch, &at),
		.run = grouped_run_gradient };
	float *sum = o->parts + n * (size_t)job;

	v.step = (size_t)(g->k[2] * v.row.each * cpu_lanes());
	v.to = (float *)((int *)o->scratch + grouped_each_of(g, 0) * LANES_MAX);
	memset(sum, 0, n * sizeof(*sum));
	for (int i = (int)((long)images * part / grouped_parts(g));
	    i < (int)((long)images * (part + 1) / grouped_parts(g)); i++) {
		size_t clip = (size_t)(i / g->y.t);

		v.x = (const float *)o->in + cpu_blocked_image(&g->x) *
		    (clip * (size_t)g->x.t) + at;
		v.y = (const float *)o->dy + cpu_blocked_image(&g->y) *
		    (clip * (size_t)g->y.t) + y_at;
		memset(v.to, 0, n * sizeof(*v.to));
		grouped_visit_frame(&v, i % g->y.t);
		for (size_t k = 0; k < n; k++)
			sum[k] += v.to[k];
	}
}

void
grouped_add(const void *state, int block, const struct conv_buffers *o)
{
	const struct grouped *g = state;
	int lanes = cpu_lanes(), first = block * lanes, end = g->y.c - first;
	int blocks = grouped_blocks(g), each = grouped_each_of(g, 0);
	size_t n = grouped_block_of(g);
	const float *sums = o->parts + n * (size_t)block;
	float *dw = o->out;

	for (size_t tap = 0; tap < grouped_taps_of(g); tap++)
		for (int j = 0; j < each; j++)
			for (int c = 0; c < lanes; c++, sums++) {
				float sum = sums[0];

				for (int i = 1; i < grouped_parts(g); i++)
					sum += sums[n * (size_t)(i * blocks)];
				if (c < end)
					dw[grouped_outer_at(g, first + c, j) +
					    tap] = sum;
			}
}
