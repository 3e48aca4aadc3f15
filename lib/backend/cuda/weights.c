/*
 * Packed weights of convolutions: in the order and the type that kernels take.
 *
 * One launch packs those of all convolutions of a plan: one for each took 2 to 4 us,
 * 52 times a step in tsm_r50.  Gradients return one by one, because a plan
 * says after each task which of them are final.
 */
#include <stdlib.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "base/mem.h"

/* ---- launches ---- */

static size_t
count(const struct weights *w)
{
	return (size_t)w->out * w->in * w->taps;
}

static void
run(struct cuda *c, int kernel, const struct weights_table *a)
{
	struct launch k = CUDA_KERNEL(c, kernel, a->first[a->rows], 1, *a);

	for (unsigned i = 0; i < a->rows; i++) {
		const struct weights *w = &a->row[i];
		size_t plain = count(w) * sizeof(float);
		size_t packed = count(w) * cuda_size(c->type);
		int packs = kernel == GPU_WEIGHTS_PACK;

		cuda_reads(&k, w->from, packs ? plain : packed);
		cuda_writes(&k, w->to, packs ? packed : plain);
	}
	cuda_launch(c, &k);
}

/* Append the weights of ${t}, from ${from} to ${to}. */
static void
add_row(struct weights_table *a, const struct task *t, const void *from,
    void *to)
{
	int depth = depth_is(t->op, &t->in[0]);
	struct weights w = { .from = from, .to = to,
		.out = depth ? 1 : (unsigned)t->out.c,
		.in = (unsigned)(depth ? t->out.c : t->in[0].c / t->op->groups),
		.taps = conv_taps(t->op) };

	w.some = WEIGHTS / w.taps < w.in ? WEIGHTS / w.taps : w.in;
	w.pieces = w.some > 0 ? cuda_pieces(w.in, w.some) :
	    cuda_pieces((size_t)w.in * w.taps, THREADS);
	a->first[a->rows + 1] = a->first[a->rows] + w.out * w.pieces;
	a->row[a->rows++] = w;
}

/* ---- of tasks ---- */

void
weights_group(struct task *task, int n)
{
	struct packing *first = NULL;

	for (int i = 0; i < n; i++) {
		struct packing *p;

		if (task[i].op->kind != OP_CONV)
			continue;
		p = conv_packing(&task[i]);
		if (first == NULL) {
			first = p;
			p->member = xcalloc((size_t)(n - i), sizeof(*p->member));
		} else if (!stem_is(&task[i])) {
			p->led = 1;
			first->member[first->members++] = &task[i];
		}
	}
}

/* Pack the weights of ${t}, and of those that it leads. */
void
weights_pack(struct task *t)
{
	const struct packing *p = t->priv;
	struct cuda *c = cuda_of(t);
	struct weights_table a = { .rows = 0 };

	if (p->led || !t->renew)
		return;
	if (stem_is(t))
		stem_turn(t, 0, t->w[0], t->kept);
	else
		add_row(&a, t, t->w[0], t->kept);
	for (int i = 0; i < p->members; i++) {
		if (a.rows == WEIGHTS_ROWS) {
			run(c, GPU_WEIGHTS_PACK, &a);
			a.rows = 0;
		}
		add_row(&a, p->member[i], p->member[i]->w[0],
		    p->member[i]->kept);
	}
	if (a.rows > 0)
		run(c, GPU_WEIGHTS_PACK, &a);
}

void
weights_return(struct task *t, const void *dw)
{
	struct weights_table a = { .rows = 0 };

	if (stem_is(t)) {
		stem_turn(t, 1, dw, t->dw[0]);
		return;
	}
	add_row(&a, t, dw, t->dw[0]);
	run(cuda_of(t), GPU_WEIGHTS_RETURN, &a);
}
