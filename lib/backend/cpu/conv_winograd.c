/* Convolutions by Winograd's algorithm: the choice, and the cut into jobs. */
#include "backend/cpu/conv_winograd.h"

enum { TAPS = 9 };

/*
 * Winograd's algorithm where it pays: on 3x3 of stride 1 from 32 channels to
 * 32 or more, where places fill 9 of 16 of their 4 x 4 tiles, and are enough
 * for the weights' transform, 17 ns for a pair of channels.  Effective GF/s
 * of one thread on 16 images, ours, direct, oneDNN's in calls of 4 images:
 * 64 channels of 56 x 56 320, 149, 221; 128 of 28 x 28 333, 112, 231; 256 of
 * 14 x 14 259, 161, 153; 512 of 7 x 7 203, 173, 68, with 4 ms of transform to
 * 13 of work; 64 of 6 x 6, 64 images, 183 beside 146 by oneDNN, backward 155
 * beside 138; but 16 of 24 x 24 93 beside 121.  Weight gradients, loaded, ours
 * and oneDNN's: 212, 173; 198, 184; 156, 136; of 7 x 7 161, 67 direct: half the
 * places are enough.  Its error, some 1e-6 relative, is that of the direct sum.
 *
 * In bf16, all three passes of 16 images on two threads of a Zen 4, ms, ours
 * and oneDNN 2.6's by avx512_bf16: 64 channels of 56 x 56 20.9, 27.9; 128 of
 * 28 x 28 19.0, 26.0; 256 of 14 x 14 22.8, 26.4; 512 of 7 x 7 27.0, 33.6.
 */
int
conv_winograd_fits(const struct task *t, enum conv_pass pass)
{
	const struct op *op = t->op;
	int tiles = div_up(t->out.h, 4) * div_up(t->out.w, 4);
	size_t places = cpu_places(&t->out);

	return op->k[0] == 1 && op->s[0] == 1 && op->p[0] == 0 &&
	    op->k[1] == 3 && op->k[2] == 3 && op->s[1] == 1 && op->s[2] == 1 &&
	    op->groups == 1 && t->in[0].c >= 32 && t->out.c >= 32 &&
	    op->p[1] <= 2 && op->p[2] <= 2 && places >= (size_t)tiles * 9 &&
	    places * (size_t)cpu_images(&t->out) >=
	    (pass == CONV_WEIGHTS ? 512 : 1024);
}

static struct winograd
forward_of(const struct task *t, int bf16)
{
	return (struct winograd){ .bf16 = bf16, .images = cpu_images(&t->out),
		.in = t->in[0].c, .in_h = t->in[0].h, .in_w = t->in[0].w,
		.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
		.p = { t->op->p[1], t->op->p[2] },
		.in_step = TAPS, .out_step = TAPS * t->in[0].c };
}

/* The data gradient: from y to x, with the taps turned round. */
static struct winograd
data_of(const struct task *t, int bf16)
{
	return (struct winograd){ .bf16 = bf16, .images = cpu_images(&t->out),
		.in = t->out.c, .in_h = t->out.h, .in_w = t->out.w,
		.out = t->in[0].c, .out_h = t->in[0].h, .out_w = t->in[0].w,
		.p = { 2 - t->op->p[1], 2 - t->op->p[2] }, .turned = 1,
		.in_step = TAPS * t->in[0].c, .out_step = TAPS };
}

void
conv_winograd_make(struct conv_winograd *w, const struct task *t,
    enum conv_pass pass, int bf16)
{
	if (pass == CONV_WEIGHTS) {
		w->gradient = (struct winograd_gradient){ .bf16 = bf16,
			.images = cpu_images(&t->out), .in = t->in[0].c,
			.in_h = t->in[0].h, .in_w = t->in[0].w,
			.out = t->out.c, .out_h = t->out.h, .out_w = t->out.w,
			.p = { t->op->p[1], t->op->p[2] } };
		w->weights = cpu_pages(winograd_gradient_bytes(&w->gradient));
		w->scratch = winograd_gradient_scratch(&w->gradient);
		return;
	}
	w->g = pass == CONV_DATA ? data_of(t, bf16) : forward_of(t, bf16);
	w->tiles = winograd_call_tiles(&w->g, pool_threads(cpu_of(t)->pool));
	w->weights = cpu_pages(winograd_weights(&w->g));
	w->scratch = winograd_scratch(&w->g, w->tiles);
}

/* What the jobs of a pass share. */
struct job {
	const struct conv_winograd *w;
	const struct task *t;
	const void *from;
	void *to, *inner;
	int more;
	char *scratch;
	size_t step;
};

static void
order(int i, int thread, void *arg)
{
	const struct job *j = arg;

	(void)thread;
	winograd_order(&j->w->g, i, j->t->w[0], j->inner);
}

void
conv_winograd_order(const struct conv_winograd *w, const struct task *t,
    void *inner)
{
	struct job j = { .w = w, .t = t, .inner = inner };

	cpu_run(t, winograd_slices(&w->g), order, &j);
}

static void
run(int i, int thread, void *arg)
{
	const struct job *j = arg;
	const struct winograd *g = &j->w->g;
	int from = i * j->w->tiles, all = winograd_tiles(g);
	int to = from + j->w->tiles < all ? from + j->w->tiles : all;

	winograd_run(g, from, to, j->from, j->inner,
	    j->t->op->bias && !g->turned ? j->t->w[1] : NULL, j->to, j->more,
	    j->scratch + j->step * (size_t)thread);
}

void
conv_winograd_run(const struct conv_winograd *w, const struct task *t,
    const void *from, void *to, const void *inner, int more, char *scratch,
    size_t step)
{
	struct job j = { .w = w, .t = t, .from = from, .to = to,
		.inner = (void *)inner, .more = more, .scratch = scratch,
		.step = step };

	cpu_run(t, div_up(winograd_tiles(&w->g), w->tiles), run, &j);
}

static void
gradient(int i, int thread, void *arg)
{
	const struct job *j = arg;

	winograd_gradient_run(&j->w->gradient, i, j->t->x[0], j->t->dy,
	    j->t->dw[0], j->inner, j->scratch + j->step * (size_t)thread);
}

static void
add(int i, int thread, void *arg)
{
	const struct job *j = arg;

	(void)thread;
	winograd_gradient_add(&j->w->gradient, i, j->t->dw[0], j->inner);
}

void
conv_winograd_gradient(const struct conv_winograd *w, const struct task *t,
    float *parts, char *scratch, size_t step)
{
	struct job j = { .w = w, .t = t, .inner = parts, .scratch = scratch,
		.step = step };

	cpu_run(t, winograd_gradient_jobs(&w->gradient), gradient, &j);
	cpu_run(t, winograd_gradient_sums(&w->gradient), add, &j);
}
