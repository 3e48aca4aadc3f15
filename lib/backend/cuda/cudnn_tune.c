/*
 * Select the fastest algorithm for a convolution by timing candidates on the
 * device.  Also time the kernels of norms that a fused pattern replaces
 * (fusion_cost.h).  Operands are not zero, because kernels may run faster on
 * zeros.  Results are discarded.
 *
 * A round is REPEATS launches between two events.  Memory fills before them
 * keep the device busy until all launches are queued.  The time therefore
 * excludes the 5 to 15 us that the host takes for a launch.  Operands that
 * would stay in the L2 cache have several copies, which successive launches use
 * in turn.
 */
#include <stdlib.h>

#include "backend/cuda/cudnn_plan.h"
#include "backend/cuda/fusion_cost.h"
#include "base/fail.h"
#include "base/number.h"

enum { TRIED = 12, ROUNDS = 5, REPEATS = 10, ALIGN = 256 };

/* Bytes and number of the fills: each takes at least 50 us at 5 TB/s.  COPIED
 * is the size of all copies together: three times the L2 cache of an H200. */
#define FILL	((size_t)256 << 20)
enum { FILLS = 6 };
#define COPIED	((size_t)150 << 20)

/*
 * The fixture of a measurement.  With a plan: x, w, y, workspace and fused
 * operands.  Without one: a kernel of ${norm} with x, its saved memory, dy or
 * y, its scratch memory, and its scale and offset.
 */
struct cudnn_tune_fixture {
	struct conv_plan *p;
	struct task norm;
	enum norm_part part;
	size_t workspace;		/* grows to the largest so far */
	cudaStream_t stream;
	cudaEvent_t begun, done;
	void *at[6];			/* operands; the last is the fills'
					 * target */
	size_t copies;			/* of each operand; the workspace
					 * has one */
	struct conv_operands beside;
};

static void
cudnn_tune_fixture_close(struct cudnn_tune_fixture *g)
{
	for (int i = 0; i < 6; i++)
		cudaFree(g->at[i]);
	if (g->begun != NULL)
		cudaEventDestroy(g->begun);
	if (g->done != NULL)
		cudaEventDestroy(g->done);
	if (g->stream != NULL)
		cudaStreamDestroy(g->stream);
	cudaGetLastError();
}

/* Return the bytes of one float per channel, aligned. */
static size_t
cudnn_tune_row_bytes(const struct conv_shape *s)
{
	int c = s->in > s->out ? s->in : s->out;

	return round_up((size_t)c * sizeof(float), ALIGN);
}

/* Point the convolution's fused operands into the buffer at ${at}: nine rows of
 * channels, then one tensor. */
static void
cudnn_tune_set_operands(struct cudnn_tune_fixture *g, char *at)
{
	size_t row = cudnn_tune_row_bytes(&g->p->s);

	g->beside = (struct conv_operands){ at, at + row,
		(const float *)(at + 2 * row), (const float *)(at + 3 * row),
		at + 9 * row, (float *)(at + 4 * row), (float *)(at + 6 * row) };
}

/* Return the bytes of operand ${i}. */
static size_t
cudnn_tune_bytes_of(const struct cudnn_tune_fixture *g, int i)
{
	const struct conv_plan *p = g->p;
	const struct task *t = &g->norm;

	if (p == NULL)
		return i == 0 || i == 2 ? cuda_bytes(cuda_of(t), &t->out) :
		    i == 1 ? cuda_norm_memory_bytes(t, 0) : i == 3 ? 1 :
		    2 * (size_t)t->out.c * sizeof(float);
	if (i < 3)
		return conv_bytes(&p->s, i);
	return i == 3 || p->s.fusion == CONV_UNFUSED ? 1 : 9 *
	    cudnn_tune_row_bytes(&p->s) + conv_bytes(&p->s, 0);
}

/*
 * Allocate and fill operand ${i}.  Bytes 0x3c are small numbers in each storage
 * type.
 */
static int
cudnn_tune_fill_new(struct cudnn_tune_fixture *g, int i, size_t bytes)
{
	return cudaMalloc(&g->at[i], bytes) == cudaSuccess &&
	    cudaMemsetAsync(g->at[i], 0x3c, bytes, g->stream) == cudaSuccess ?
	    0 : -1;
}

static int
cudnn_tune_fixture_open(struct cudnn_tune_fixture *g)
{
	size_t all = 0;

	if (cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking) !=
	    cudaSuccess || cudaEventCreate(&g->begun) != cudaSuccess ||
	    cudaEventCreate(&g->done) != cudaSuccess)
		return -1;
	for (int i = 0; i < 5; i++)
		all += i != 3 ? round_up(cudnn_tune_bytes_of(g, i), ALIGN) : 0;
	g->copies = COPIED / all + 1 < REPEATS ? COPIED / all + 1 : REPEATS;
	for (int i = 0; i < 5; i++)
		if (cudnn_tune_fill_new(g, i, i == 3 ? 1 : g->copies *
		    round_up(cudnn_tune_bytes_of(g, i), ALIGN)) != 0)
			return -1;
	return cudnn_tune_fill_new(g, 5, FILL);
}

/*
 * Grow the workspace, if the present plan or kernel needs more.  Return 0, or
 * -1 if memory is exhausted.
 */
static int
cudnn_tune_grow_workspace(struct cudnn_tune_fixture *g)
{
	size_t bytes = g->p != NULL ? g->p->workspace :
	    cuda_norm_memory_bytes(&g->norm, 1);

	if (bytes <= g->workspace)
		return 0;
	cudaFree(g->at[3]);
	g->at[3] = NULL;
	g->workspace = bytes;
	if (cudnn_tune_fill_new(g, 3, g->workspace) == 0)
		return 0;
	cudaGetLastError();		/* clear it: it is not an error of a
					 * plan */
	g->workspace = 0;
	return -1;
}

/* Launch the kernel of a norm on the operands ${at}. */
static void
cudnn_tune_launch_norm(struct cudnn_tune_fixture *g, void *const at[5])
{
	struct task *t = &g->norm;

	t->x[0] = at[0];
	t->saved = at[1];
	t->y = at[2];
	t->dy = at[2];
	t->scratch = at[3];
	t->w[0] = at[4];
	t->w[1] = (float *)at[4] + t->out.c;
	cuda_norm_part(t, g->part);
}

/* Launch number ${k}, on a copy of the operands. */
static int
cudnn_tune_launch(struct cudnn_tune_fixture *g, size_t k)
{
	void *at[5];

	for (int i = 0; i < 5; i++)
		at[i] = (char *)g->at[i] + (i == 3 ? 0 : k % g->copies *
		    round_up(cudnn_tune_bytes_of(g, i), ALIGN));
	if (g->p == NULL) {
		cudnn_tune_launch_norm(g, at);
		return 0;
	}
	cudnn_tune_set_operands(g, at[4]);
	return plan_run(g->p, g->stream, at, &g->beside) == NULL ? 0 : -1;
}

static int
cudnn_tune_compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Queue the fills and the launches of a round.  Return 0, or -1 if a launch
 * fails. */
static int
cudnn_tune_launch_all(struct cudnn_tune_fixture *g)
{
	for (int i = 0; i < FILLS; i++)
		if (cudaMemsetAsync(g->at[5], 0x3c, FILL, g->stream) !=
		    cudaSuccess)
			return -1;
	cudaEventRecord(g->begun, g->stream);
	for (size_t k = 0; k < REPEATS; k++)
		if (cudnn_tune_launch(g, k) != 0)
			return -1;
	return 0;
}

/* Return the seconds of one launch: the median of ROUNDS rounds after one
 * warm-up launch.  Return -1 if a launch fails. */
static double
cudnn_tune_seconds_of(struct cudnn_tune_fixture *g)
{
	float ms[ROUNDS];
	int n = cudnn_tune_grow_workspace(g) == 0 && cudnn_tune_launch(g, 0) == 0 ?
	    0 : ROUNDS + 1;

	for (; n < ROUNDS; n++) {
		if (cudnn_tune_launch_all(g) != 0 ||
		    cudaEventRecord(g->done, g->stream) != cudaSuccess ||
		    cudaEventSynchronize(g->done) != cudaSuccess ||
		    cudaEventElapsedTime(&ms[n], g->begun, g->done) !=
		    cudaSuccess)
			break;
	}
	if (n != ROUNDS)
		return -1;
	qsort(ms, ROUNDS, sizeof(ms[0]), cudnn_tune_compare);
	return ms[ROUNDS / 2] * 1e-3 / REPEATS;
}

/* The shape of x, or of y if ${of} is 2. */
static struct dims
cudnn_tune_dims_of(const struct conv_shape *s, int of)
{
	const int *extent = of == 2 ? s->to : s->from;

	return (struct dims){ s->n, s->dims == 3 ? extent[0] : 1,
		extent[s->dims - 2], extent[s->dims - 1],
		of == 2 ? s->out : s->in };
}

double
norm_by_timing(struct runtime *r, const struct conv_shape *s,
    enum norm_part part)
{
	struct gpu_stream stream;
	struct cuda c = { .driver = &r->driver, .stream = &stream,
		.type = s->type };
	struct cudnn_tune_fixture g = { .norm = { .device = &c.device, .materialized = 1,
		.out = cudnn_tune_dims_of(s, part == PART_SUMS ? 2 : 0) },
		.part = part };
	double seconds = -1;

	runtime_make_current(&r->driver);
	if (cudnn_tune_fixture_open(&g) == 0) {
		stream.at = g.stream;
		seconds = cudnn_tune_seconds_of(&g);
	}
	cudnn_tune_fixture_close(&g);
	return seconds > 0 ? seconds : 0;
}

int
plan_by_timing(struct conv_plan *p)
{
	struct choice c[TRIED];
	struct cudnn_tune_fixture g = { .p = p };
	int n = plan_candidates(p, c, TRIED), best = -1, kept = p->m->n;

	n = cudnn_tune_fixture_open(&g) == 0 ? n : 0;
	for (int i = 0; i < n; i++) {
		/* A kernel that faults makes the device unusable.  This is then
		 * the last line before the error message. */
		detail("%s: trying cuDNN's engine %lld", p->key,
		    (long long)c[i].engine);
		if (plan_of_choice(p, &c[i]) == 0)
			c[i].seconds = cudnn_tune_seconds_of(&g);
		cudnn_builder_drop(p->m, kept);
		if (c[i].seconds > 0 && (best < 0 ||
		    c[i].seconds < c[best].seconds))
			best = i;
	}
	cudnn_tune_fixture_close(&g);
	if (best < 0)
		return plan_by_rule(p);
	return plan_of_choice(p, &c[best]);
}
