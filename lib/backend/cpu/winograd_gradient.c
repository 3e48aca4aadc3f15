/*
 * Winograd's algorithm for weight gradients (winograd.h), one range of channels
 * at a time.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/outer_kernels.h"
#include "backend/cpu/winograd.h"
#include "backend/cpu/winograd_kernels.h"
#include "backend/cpu/winograd_tiles.h"
#include "base/number.h"

/*
 * Channels of a range, and tiles at a time.  These are 36 matrices of x, dy
 * and sums, 16 KiB each: 1.8 MB, which fit L2.  Larger ranges would need fewer
 * transforms, and more tiles fewer loads of the sums.
 */
enum { WINDOW = 64, TILES = 64, PARTS = 8 };

static int
winograd_gradient_windows(int channels)
{
	return div_up(channels, WINDOW);
}

static int
winograd_gradient_parts(const struct winograd *g)
{
	int parts = PARTS / (winograd_gradient_windows(g->in) *
	    winograd_gradient_windows(g->out));
	int largest = div_up(winograd_tiles(g), TILES);

	parts = parts < largest ? parts : largest;
	return parts > 1 ? parts : 1;
}

/* Floats of the sums of one input by one output block. */
static size_t
winograd_gradient_cell(void)
{
	return (size_t)(WINOGRAD_ELEMENTS * cpu_lanes() * cpu_lanes());
}

static size_t
winograd_gradient_part_floats(const struct winograd *g)
{
	return winograd_gradient_cell() * (size_t)(cpu_blocks(g->in) *
	    cpu_blocks(g->out));
}

size_t
winograd_gradient_bytes(const struct winograd *g)
{
	int parts = winograd_gradient_parts(g);

	return parts > 1 ? winograd_gradient_part_floats(g) * sizeof(float) *
	    (size_t)parts : 0;
}

/*
 * Floats from one element to the next, a cache line more than needed.  With
 * powers of two, all 36 elements would compete for a few sets of the cache.
 */
static size_t
winograd_gradient_step(void)
{
	return (size_t)(TILES * WINDOW + cpu_lanes());
}

size_t
winograd_gradient_scratch(const struct winograd *g)
{
	size_t sums = winograd_gradient_parts(g) > 1 ? 0 : (size_t)WINDOW *
	    WINDOW;

	return WINOGRAD_ELEMENTS * (2 * winograd_gradient_step() + sums) *
	    sizeof(float);
}

int
winograd_gradient_jobs(const struct winograd *g)
{
	return winograd_gradient_parts(g) * winograd_gradient_windows(g->in) *
	    winograd_gradient_windows(g->out);
}

int
winograd_gradient_sums(const struct winograd *g)
{
	return winograd_gradient_parts(g) > 1 ? cpu_blocks(g->in) *
	    cpu_blocks(g->out) : 0;
}

/* Transform the sums of one input by one output block and write them to dw. */
static void
winograd_gradient_put(const struct winograd *g, float *dw,
    const float *m, int in, int out)
{
	const struct winograd_kernels *k = winograd_kernels_pick();
	float w[9 * LANES_MAX] __attribute__((aligned(64)));
	int lanes = cpu_lanes();

	for (int o = 0; o < lanes && out * lanes + o < g->out; o++) {
		float *to = dw + 9 * ((size_t)(out * lanes + o) *
		    (size_t)g->in + (size_t)(in * lanes));

		k->gradient_out(w, m + o * lanes, (size_t)(lanes * lanes));
		for (int i = 0; i < lanes && in * lanes + i < g->in; i++)
			for (int t = 0; t < 9; t++)
				*to++ = w[t * lanes + i];
	}
}

void
winograd_gradient_run(const void *state, int job,
    const struct conv_buffers *buffers)
{
	const struct winograd *g = state;
	const struct outer_kernels *k = outer_kernels_pick();
	int lanes = cpu_lanes(), n = winograd_gradient_parts(g);
	int part = job / (winograd_gradient_windows(g->in) *
	    winograd_gradient_windows(g->out));
	int some = WINDOW / lanes;		/* blocks of a range */
	int in = job % winograd_gradient_windows(g->in) * some,
	    ins = cpu_blocks(g->in) - in;
	int out = job /
	    winograd_gradient_windows(g->in) %
	    winograd_gradient_windows(g->out) * some;
	int outs = cpu_blocks(g->out) - out, all = cpu_blocks(g->in);
	int from = (int)((long)winograd_tiles(g) * part / n);
	int to = (int)((long)winograd_tiles(g) * (part + 1) / n);
	int calls = div_up(to - from, TILES);
	float *v = buffers->scratch, *z = v + WINOGRAD_ELEMENTS *
	    winograd_gradient_step();
	float *sums = z + WINOGRAD_ELEMENTS * winograd_gradient_step();
	size_t square = (size_t)(lanes * lanes), step =
	    winograd_gradient_step();

	ins = ins < some ? ins : some;
	outs = outs < some ? outs : some;
	if (n > 1)
		sums = buffers->parts + winograd_gradient_part_floats(g) *
		    (size_t)part + winograd_gradient_cell() *
		    (size_t)(out * all + in);
	else
		all = ins;
	for (int c = 0; c < calls; c++) {
		int a = from + (int)((long)(to - from) * c / calls);
		int b = from + (int)((long)(to - from) * (c + 1) / calls);
		struct outer_range w = { .images = 1, .rows = 1,
			.x = { 0, 0, (size_t)lanes },
			.y = { 0, 0, (size_t)lanes } };
		struct winograd_tiles t;

		winograd_sort(&t, g->out_h, g->out_w, a, b);
		winograd_transform(g, &t, &(struct winograd_input){
		    buffers->in, 0, in, ins, TILES, step }, v);
		winograd_transform(g, &t, &(struct winograd_input){
		    buffers->dy, 1, out, outs, TILES, step }, z);
		for (int j = 0; j < WINOGRAD_ELEMENTS * outs * ins; j++) {
			int e = j / ins / outs, o = j / ins % outs, i = j % ins;
			int at;

			w.cols = winograd_range(&t, e, &at);
			k->sum(sums + winograd_gradient_cell() *
			    (size_t)(o * all + i) + square * (size_t)e,
			    v + winograd_gradient_step() * (size_t)e +
			    (TILES * i + at) * lanes,
			    z + winograd_gradient_step() * (size_t)e +
			    (TILES * o + at) * lanes, &w, c > 0, NULL, NULL);
		}
	}
	for (int j = 0; n == 1 && j < ins * outs; j++)
		winograd_gradient_put(g, buffers->out, sums +
		    winograd_gradient_cell() * (size_t)j, in + j % ins,
		    out + j / ins);
}

void
winograd_gradient_add(const void *state, int job,
    const struct conv_buffers *o)
{
	const struct winograd *g = state;
	float *sum = o->parts + winograd_gradient_cell() * (size_t)job;

	for (int i = 1; i < winograd_gradient_parts(g); i++)
		kernels_pick()->add(sum, sum,
		    sum + winograd_gradient_part_floats(g) * (size_t)i,
		    winograd_gradient_cell());
	winograd_gradient_put(g, o->out, sum, job % cpu_blocks(g->in),
	    job / cpu_blocks(g->in));
}
