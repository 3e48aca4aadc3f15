/*
 * The fastest way to do a convolution, by trying some of them on the device.
 * Their memory is not zero, so that no kernel is fast for that; what they make
 * is thrown away.
 */
#include <stdlib.h>

#include "backend/cuda/cudnn_plan.h"
#include "base/fail.h"

enum { TRIED = 12, ROUNDS = 5 };

/* What it works on: x, w, y and workspace. */
struct rig {
	cudaStream_t stream;
	cudaEvent_t begun, done;
	void *at[4];
};

static size_t
bytes_of(const struct conv_shape *s, int which)
{
	size_t n = s->type == GPU_F32 ? 4 : 2;

	if (which == 1)
		n *= (size_t)s->out * (size_t)(s->in / s->groups);
	else
		n *= (size_t)s->n * (size_t)(which == 0 ? s->in : s->out);
	for (int i = 0; i < s->dims; i++)
		n *= (size_t)(which == 0 ? s->from[i] : which == 1 ?
		    s->kernel[i] : s->to[i]);
	return n;
}

static void
rig_close(struct rig *g)
{
	for (int i = 0; i < 4; i++)
		cudaFree(g->at[i]);
	if (g->begun != NULL)
		cudaEventDestroy(g->begun);
	if (g->done != NULL)
		cudaEventDestroy(g->done);
	if (g->stream != NULL)
		cudaStreamDestroy(g->stream);
	cudaGetLastError();
}

/* 0x3c bytes are small numbers in each of the types. */
static int
rig_open(struct rig *g, const struct conv_shape *s, size_t workspace)
{
	*g = (struct rig){ 0 };
	if (cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking) !=
	    cudaSuccess || cudaEventCreate(&g->begun) != cudaSuccess ||
	    cudaEventCreate(&g->done) != cudaSuccess)
		return -1;
	for (int i = 0; i < 4; i++) {
		size_t bytes = i < 3 ? bytes_of(s, i) : workspace + 1;

		if (cudaMalloc(&g->at[i], bytes) != cudaSuccess ||
		    cudaMemsetAsync(g->at[i], 0x3c, bytes, g->stream) !=
		    cudaSuccess)
			return -1;
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The median of some rounds after one that does not count; -1: it fails. */
static double
seconds_of(struct conv_plan *p)
{
	struct rig g;
	float ms[ROUNDS];
	int n = rig_open(&g, &p->s, p->workspace) == 0 &&
	    plan_run(p, g.stream, g.at, NULL) == NULL ? 0 : ROUNDS + 1;

	for (; n < ROUNDS; n++) {
		cudaEventRecord(g.begun, g.stream);
		if (plan_run(p, g.stream, g.at, NULL) != NULL ||
		    cudaEventRecord(g.done, g.stream) != cudaSuccess ||
		    cudaEventSynchronize(g.done) != cudaSuccess ||
		    cudaEventElapsedTime(&ms[n], g.begun, g.done) !=
		    cudaSuccess)
			break;
	}
	rig_close(&g);
	if (n != ROUNDS)
		return -1;
	qsort(ms, ROUNDS, sizeof(ms[0]), compare);
	return ms[ROUNDS / 2] * 1e-3;
}

int
plan_by_timing(struct conv_plan *p)
{
	struct choice c[TRIED];
	int n = plan_candidates(p, c, TRIED), best = -1, kept = p->m->n;

	for (int i = 0; i < n; i++) {
		if (plan_of_choice(p, &c[i]) == 0)
			c[i].seconds = seconds_of(p);
		maker_drop(p->m, kept);
		if (c[i].seconds > 0 && (best < 0 ||
		    c[i].seconds < c[best].seconds))
			best = i;
	}
	if (best < 0)
		return plan_by_rule(p);
	return plan_of_choice(p, &c[best]);
}
