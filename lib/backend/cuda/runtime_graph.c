/* CUDA Graphs: capture, launch, and events recorded inside a graph. */
#include <stdlib.h>

#include "backend/cuda/runtime.h"
#include "base/fail.h"
#include "base/mem.h"

struct gpu_graph { cudaGraphExec_t at; };

/* Capture the calls of this thread only.  If CUDA refuses, print a detail
 * message, not an error: the caller then launches the kernels one by one. */
int
runtime_capture(struct driver *d, struct gpu_stream *s)
{
	struct runtime *r = runtime_make_current(d);
	cudaError_t e = cudaStreamBeginCapture(s->at,
	    cudaStreamCaptureModeThreadLocal);

	if (e != cudaSuccess) {
		detail("%s (device %d): no CUDA graph captured: %s", r->name,
		    r->ordinal, cudaGetErrorString(e));
		return -1;
	}
	pthread_mutex_lock(&r->lock);
	r->captures = 1;
	r->capturer = pthread_self();
	r->capture_error[0] = '\0';
	pthread_mutex_unlock(&r->lock);
	return 0;
}

/*
 * End the capture.  An error while capturing loses the graph only; the caller
 * then submits the work without a graph.
 */
struct gpu_graph *
runtime_captured(struct driver *d, struct gpu_stream *s)
{
	struct runtime *r = runtime_make_current(d);
	struct gpu_graph *g = xcalloc(1, sizeof(*g));
	cudaGraph_t graph = NULL;
	cudaError_t e = cudaStreamEndCapture(s->at, &graph);

	pthread_mutex_lock(&r->lock);
	r->captures = 0;
	pthread_mutex_unlock(&r->lock);
	if (e == cudaSuccess && r->capture_error[0] == '\0')
		e = cudaGraphInstantiate(&g->at, graph, 0);
	if (graph != NULL)
		cudaGraphDestroy(graph);
	if (e == cudaSuccess && r->capture_error[0] == '\0')
		return g;
	cudaGetLastError();		/* clear it: it is not an error of
					 * submitted work */
	free(g);
	if (r->capture_error[0] != '\0')
		detail("%s: no CUDA graph captured", r->capture_error);
	else
		detail("%s (device %d): no CUDA graph captured: %s", r->name,
		    r->ordinal, cudaGetErrorString(e));
	return NULL;
}

void
runtime_record_inside(struct driver *d, struct gpu_event *v,
    struct gpu_stream *s)
{
	runtime_check(runtime_make_current(d), "recording an event",
	    cudaEventRecordWithFlags(v->at, s->at, cudaEventRecordExternal));
}

void
runtime_graph_run(struct driver *d, struct gpu_stream *s, struct gpu_graph *g)
{
	runtime_check(runtime_make_current(d), "a graph", cudaGraphLaunch(g->at,
	    s->at));
}

void
runtime_graph_free(struct driver *d, struct gpu_graph *g)
{
	runtime_check(runtime_make_current(d), "freeing a graph",
	    cudaGraphExecDestroy(g->at));
	free(g);
}
