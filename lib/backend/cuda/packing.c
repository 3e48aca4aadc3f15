/*
 * Packed weights of convolutions: in the layout and type that kernels take.
 *
 * One launch packs the weights of all convolutions of a plan.  A launch for
 * each would take an estimated 2 to 4 us, 52 times per step in tsm_r50.
 *
 * In a graph, one launch also converts all gradients back: nobody can read them
 * before the graph ends or records an event (graph.c).  Without a graph each
 * gradient is converted at once, because tasks may then be run one by one.
 */
#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "base/mem.h"

/* ---- launches ---- */

void
packing_run(struct cuda *c, int kernel, struct weights_table *a)
{
	struct launch k = CUDA_KERNEL(c, kernel, a->first[a->rows], 1, *a);

	for (unsigned i = 0; i < a->rows; i++) {
		const struct weights_packing *w = &a->row[i];
		size_t plain = (size_t)w->out * w->in * w->taps * sizeof(float);
		size_t packed = (size_t)(a->first[i + 1] - a->first[i]) /
		    w->pieces * w->taps * w->pitch * cuda_size(c->type);
		int packs = kernel == GPU_WEIGHTS_PACK;

		cuda_reads(&k, w->from, packs ? plain : packed);
		cuda_writes(&k, w->to, packs ? packed : plain);
	}
	cuda_launch(c, &k);
	a->rows = 0;
}

/* Append the weights of ${t} to the table.  If it is full, run it first. */
static void
packing_add(struct weights_table *a, int kernel, const struct task *t,
    const void *from, void *to)
{
	struct packed_shape s = conv_packed(t);
	int depth = depthwise_is(t->op, &t->in[0]);
	struct weights_packing w = { .from = from, .to = to,
		.out = depth ? 1 : (unsigned)t->out.c,
		.in = (unsigned)(depth ? t->out.c : t->in[0].c /
		    t->op->conv.groups),
		.taps = conv_taps(t->op), .pitch = (unsigned)s.in,
		.each = (unsigned)(depth ? 1 : s.groups > 1 ? t->out.c :
		    t->out.c / t->op->conv.groups) };

	if (a->rows == WEIGHTS_ROWS)
		packing_run(cuda_of(t), kernel, a);
	w.some = WEIGHTS / w.taps < w.pitch ? WEIGHTS / w.taps : w.pitch;
	w.pieces = w.some > 0 ? cuda_pieces(w.pitch, w.some) :
	    cuda_pieces((size_t)w.pitch * w.taps, THREADS);
	a->first[a->rows + 1] = a->first[a->rows] + (unsigned)s.out * w.pieces;
	a->row[a->rows++] = w;
}

/* ---- tasks ---- */

void
packing_group(struct task *task, int n)
{
	struct packing *first = NULL;

	for (int i = 0; i < n; i++) {
		struct packing *p;

		if (task[i].op->kind != OP_CONV)
			continue;
		p = conv_packing(&task[i]);
		if (first == NULL) {
			first = p;
			p->member = xcalloc((size_t)(n - i),
			    sizeof(*p->member));
		} else {
			p->led = 1;
			first->member[first->members++] = &task[i];
		}
	}
}

void
packing_renew(struct task *t)
{
	const struct packing *p = t->priv;
	struct weights_table a = { .rows = 0 };

	if (p->led || !t->weights_changed)
		return;
	packing_add(&a, GPU_WEIGHTS_PACK, t, t->w[0], t->packed_weights);
	for (int i = 0; i < p->members; i++)
		packing_add(&a, GPU_WEIGHTS_PACK, p->member[i],
		    p->member[i]->w[0], p->member[i]->packed_weights);
	packing_run(cuda_of(t), GPU_WEIGHTS_PACK, &a);
}

void
packing_return(struct task *t, const void *dw)
{
	struct cuda *c = cuda_of(t);
	struct weights_table one = { .rows = 0 }, *a = packing_returns(c);

	packing_add(a != NULL ? a : &one, GPU_WEIGHTS_RETURN, t, dw, t->dw[0]);
	packing_run(c, GPU_WEIGHTS_RETURN, &one);
}
