/* The head of a network: dropout, softmax, losses. */
#include <assert.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

/* ---- dropout: the microbatch has the global clip numbers ---- */

static void
cuda_run_dropout(struct task *t, int back)
{
	struct cuda *c = cuda_of(t);
	const struct flow f = cuda_flow_of(t, back);
	size_t n = cuda_count(&t->out);
	struct dropout a = { .from = f.from, .to = f.to, .clip = t->feed->clip,
		.n = n, .positions = dims_positions(&t->out),
		.c = (unsigned)t->out.c, .vectors =
		    (unsigned)cuda_padded(t->out.c) / cuda_lanes(c->type),
		.values = t->values,
		.index = (uint32_t)t->index, .rate = t->op->dropout.rate,
		.factor = (float)(1 / (1 - t->op->dropout.rate)),
		.accumulate = f.accumulate };
	struct launch k = CUDA_KERNEL(c, GPU_DROPOUT, cuda_pieces(n, THREADS *
	    cuda_lanes(c->type)), 1, a);

	if (!back && !t->training) {
		cuda_copy(c, f.to, f.from, cuda_bytes(c, f.out));
		return;
	}
	cuda_reads(&k, a.clip, (size_t)t->out.n * sizeof(*a.clip));
	cuda_reads(&k, a.values, sizeof(*a.values));
	cuda_flow_launch(c, &k, &f);
}

CUDA_PASSES(dropout, .reads = 0);

/* ---- softmax ---- */

/* Merged adjacent axes, from the last to the first. */
struct cuda_head_axes { int n; size_t size[3], stride[3]; };

static void
cuda_head_axes_put(struct cuda_head_axes *a, size_t size, size_t stride)
{
	assert(a->n < 3);
	a->size[a->n] = size;
	a->stride[a->n++] = stride;
}

/*
 * Merge adjacent axes of the output that are all reduced, or all kept.  Padding
 * separates the channels from the others.
 */
static void
cuda_softmax_axes(const struct task *t, struct cuda_head_axes *over,
    struct cuda_head_axes *kept)
{
	const struct dims *d = &t->out;
	const size_t size[5] = { (size_t)d->c, (size_t)d->w, (size_t)d->h,
		(size_t)d->t, (size_t)d->n };
	static const int bit[5] = { OVER_C, OVER_W, OVER_H, OVER_T, 0 };
	size_t all = 1;
	int before = -1;

	*over = *kept = (struct cuda_head_axes){ 0 };
	for (int i = 0; i < 5; all *= i == 0 ? (size_t)cuda_padded(d->c) :
	    size[i], i++) {
		int is = (t->op->softmax.axes & bit[i]) != 0;
		struct cuda_head_axes *a = is ? over : kept;

		if (size[i] == 1)
			continue;
		if (is == before && a->size[a->n - 1] *
		    a->stride[a->n - 1] == all)
			a->size[a->n - 1] *= size[i];
		else
			cuda_head_axes_put(a, size[i], all);
		before = is;
	}
}

/* The kernel supports three merged axes over which it reduces, and three
 * others. */
static struct softmax
cuda_softmax_of(const struct task *t)
{
	struct cuda_head_axes over, kept;
	struct softmax a = { .groups = 1 };
	size_t members = 1;

	cuda_softmax_axes(t, &over, &kept);
	while (over.n < 3)
		cuda_head_axes_put(&over, 1, 0);
	while (kept.n < 3)
		cuda_head_axes_put(&kept, 1, 0);
	for (int i = 0; i < 3; i++) {
		members *= over.size[i];
		a.groups *= kept.size[i];
		a.member_stride[2 - i] = over.stride[i];
		a.group_stride[2 - i] = kept.stride[i];
	}
	for (int i = 0; i < 2; i++) {
		a.member_size[1 - i] = (unsigned)over.size[i];
		a.group_size[1 - i] = (unsigned)kept.size[i];
	}
	assert(members < (size_t)1 << 31);
	a.members = (unsigned)members;
	a.near = over.stride[0] == 1;
	/*
	 * Use more threads per group while each has at least four members.
	 * Adjacent threads of a group may fill a block.  If the members are not
	 * contiguous, 32 groups share a block, so that adjacent threads read
	 * adjacent memory.
	 */
	for (a.lanes = 1; a.lanes < (a.near ? THREADS : THREADS / 32) &&
	    (size_t)a.lanes * 8 <= members; a.lanes *= 2)
		;
	return a;
}

static void
cuda_run_softmax(struct task *t, int back)
{
	struct cuda *c = cuda_of(t);
	const struct flow f = cuda_flow_of(t, back);
	struct softmax a = cuda_softmax_of(t);
	struct launch k = CUDA_KERNEL(c, back ? GPU_SOFTMAX_BACK : GPU_SOFTMAX,
	    cuda_pieces(a.groups, (size_t)(THREADS / a.lanes)), 1, a);

	a.from = f.from;
	a.y = back ? t->y : NULL;
	a.to = f.to;
	a.accumulate = f.accumulate;
	if (!a.accumulate)
		cuda_clear_padding(c, a.to, f.out);
	cuda_reads(&k, a.y, cuda_bytes(c, &t->out));
	cuda_flow_launch(c, &k, &f);
}

CUDA_PASSES(softmax, .reads = READS_Y);

/* ---- loss ---- */

/* Scratch memory: the loss and the rank of each clip. */
static size_t
cuda_loss_scratch(const struct task *t)
{
	return (size_t)t->in[0].n * (sizeof(double) + sizeof(int));
}

static struct loss
cuda_loss_of(const struct task *t)
{
	const struct target *target = &t->feed->target[t->op->loss.target];
	int n = t->in[0].n;

	return (struct loss){ .x = t->x[0], .y = t->y, .dx = t->dx[0],
		.label = target->label, .share = target->soft,
		.weight = target->weight,
		.class_weight = t->op->loss.kind == LOSS_SOFTMAX ?
		    target->class_weight : NULL, .target = target->kind,
		.kind = t->op->loss.kind, .clips = (unsigned)n,
		.classes = (unsigned)t->in[0].c,
		.pitch = (unsigned)cuda_padded(t->in[0].c),
		.smooth = t->op->loss.smooth,
		.gamma = t->op->loss.focus,
		.factor = t->op->loss.weight, .values = t->values,
		.value = t->scratch,
		.rank = (int *)((double *)t->scratch + n),
		.outcome = t->feed->outcome == NULL ? NULL :
		    t->feed->outcome + t->op->loss.head,
		.accumulate = t->accumulate[0] };
}

/* Declare what both passes read. */
static void
cuda_loss_reads(const struct task *t, struct launch *k, const struct loss *a)
{
	cuda_reads(k, a->x, cuda_bytes(cuda_of(t), &t->in[0]));
	if (a->target == TARGET_CLASS)
		cuda_reads(k, a->label, a->clips * sizeof(int));
	else
		cuda_reads(k, a->share, (size_t)a->clips * a->classes *
		    sizeof(float));
	cuda_reads(k, a->weight, a->clips * sizeof(float));
	cuda_reads(k, a->class_weight, a->classes * sizeof(float));
}

static void
cuda_loss_forward(struct task *t)
{
	struct cuda *c = cuda_of(t);
	struct loss a = cuda_loss_of(t);
	struct launch k = CUDA_KERNEL(c, GPU_LOSS, a.clips, 1, a);

	cuda_loss_reads(t, &k, &a);
	cuda_writes(&k, a.y, cuda_bytes(c, &t->out));
	cuda_writes(&k, a.value, cuda_loss_scratch(t));
	cuda_launch(c, &k);
	if (a.outcome == NULL)
		return;
	k = CUDA_KERNEL(c, GPU_LOSS_OUTCOME, 1, 1, a);
	cuda_reads(&k, a.value, cuda_loss_scratch(t));
	cuda_writes(&k, a.outcome, sizeof(*a.outcome));
	cuda_launch(c, &k);
}

static void
cuda_loss_backward(struct task *t)
{
	struct cuda *c = cuda_of(t);
	struct loss a = cuda_loss_of(t);
	struct launch k = CUDA_KERNEL(c, GPU_LOSS_BACK, a.clips, 1, a);

	if (a.dx == NULL)
		return;
	cuda_loss_reads(t, &k, &a);
	cuda_reads(&k, a.values, sizeof(*a.values));
	cuda_touches(&k, a.dx, cuda_bytes(c, &t->in[0]), a.accumulate);
	cuda_launch(c, &k);
}

const struct op_impl cuda_loss = { .forward = cuda_loss_forward,
	.backward = cuda_loss_backward, .scratch = cuda_loss_scratch,
	.reads = READS_X };
