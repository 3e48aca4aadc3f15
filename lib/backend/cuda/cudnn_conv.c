/*
 * Convolutions by cuDNN: the functions of the driver, the cache key, and
 * execution.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/conv_select.h"
#include "backend/cuda/cudnn_plan.h"
#include "base/fail.h"
#include "base/mem.h"

/* ---- plans ---- */

static void
cudnn_conv_extents(char *text, size_t size, int dims, const int *v)
{
	if (dims == 3)
		snprintf(text, size, "%dx%dx%d", v[0], v[1], v[2]);
	else
		snprintf(text, size, "%dx%d", v[0], v[1]);
}

/*
 * Write the cache key: the shape as text, distinct for each shape.  It is a
 * column of choices.tsv, so its words must stay.
 */
static void
cudnn_conv_key(const struct conv_shape *s, char key[CONV_KEY])
{
	static const char *const pass[] = { [CONV_FORWARD] = "forward",
		[CONV_DATA] = "data", [CONV_WEIGHTS] = "weights" };
	static const char *const type[] = { [GPU_F32] = "fp32",
		[GPU_BF16] = "bf16", [GPU_F16] = "fp16" };
	const int *v[] = { s->from, s->kernel, s->stride, s->pad };
	char text[4][40];

	for (int i = 0; i < 4; i++)
		cudnn_conv_extents(text[i], sizeof(text[i]), s->dims, v[i]);
	snprintf(key, CONV_KEY, "%s%s %s %d of %s, %d to %d in %d, by %s "
	    "step %s pad %s", pass[s->pass], s->accumulate ? "+" : "",
	    type[s->type], s->n, text[0], s->in, s->out, s->groups, text[1],
	    text[2], text[3]);
}

/* Return a plan with the operation graph of ${s}, without an engine. */
static struct conv_plan *
cudnn_conv_open_plan(struct conv_algorithms *w, const struct conv_shape *s)
{
	struct conv_plan *p = xcalloc(1, sizeof(*p));

	p->s = *s;
	cudnn_conv_key(s, p->key);
	p->m = cudnn_builder_new((struct runtime *)w->driver);
	p->graph = cudnn_graph_of_conv(p->m, s);
	p->kept = p->m->n;
	if (!p->m->wrong)
		return p;
	fail("cuDNN refuses %s: %s", p->key, p->m->why);
	cudnn_conv_free(w->driver, p);
	return NULL;
}

static void
cudnn_conv_close_plan(struct conv_algorithms *w, struct conv_plan *p)
{
	cudnn_conv_free(w->driver, p);
}

static int
cudnn_conv_run(struct conv_algorithms *w, struct conv_plan *p,
    struct gpu_stream *s, void *const at[4])
{
	(void)w;
	return cudnn_plan_run(p, s->at, at) == NULL ? 0 : -1;
}

static double
cudnn_conv_seconds(struct conv_algorithms *w, struct gpu_stream *s,
    int (*work)(void *arg), void *arg)
{
	cudaEvent_t begun = NULL, done = NULL;
	float ms = 0;
	int bad = cudaEventCreate(&begun) != cudaSuccess ||
	    cudaEventCreate(&done) != cudaSuccess ||
	    cudaEventRecord(begun, s->at) != cudaSuccess || work(arg) != 0 ||
	    cudaEventRecord(done, s->at) != cudaSuccess ||
	    cudaEventSynchronize(done) != cudaSuccess ||
	    cudaEventElapsedTime(&ms, begun, done) != cudaSuccess;

	(void)w;
	if (begun != NULL)
		cudaEventDestroy(begun);
	if (done != NULL)
		cudaEventDestroy(done);
	return bad ? -1 : ms * 1e-3;
}

/* A fill of BUSY takes at least 50 us at 5 TB/s. */
#define BUSY	((size_t)256 << 20)

static void
cudnn_conv_set_ways(struct runtime *r)
{
	r->algorithms = (struct conv_algorithms){ .driver = &r->driver,
		.choices = conv_cache_new(r->dnn.cudnnGetVersion(), r->name),
		.key = cudnn_conv_key,
		.open = cudnn_conv_open_plan, .close = cudnn_conv_close_plan,
		.candidates = cudnn_plan_candidates,
		.use = cudnn_plan_of_choice,
		.run = cudnn_conv_run,
		.seconds = r->ordinal >= 0 ? cudnn_conv_seconds : NULL,
		.busy = BUSY, .tune = conv_tune };
	r->driver.algorithms = &r->algorithms;
}

struct conv_plan *
cudnn_conv_new(struct driver *d, const struct conv_shape *s)
{
	return conv_select(&((struct runtime *)d)->algorithms, s);
}

void
cudnn_conv_free(struct driver *d, struct conv_plan *p)
{
	(void)d;
	if (p != NULL) {
		cudnn_builder_free(p->binds);
		cudnn_builder_free(p->m);
	}
	free(p);
}

size_t
cudnn_conv_workspace(struct driver *d, const struct conv_plan *p)
{
	(void)d;
	return p->workspace;
}

void
cudnn_conv_describe(struct driver *d, const struct conv_plan *p, char *text,
    size_t size)
{
	(void)d;
	snprintf(text, size, "cuDNN engine %lld, workspace %.1f MiB",
	    (long long)p->choice.engine, (double)p->workspace / (1 << 20));
}

/* ---- opening ---- */

static int
cudnn_conv_open_library(struct runtime *r)
{
	if (cudnn_load(&r->dnn, NULL) != 0)
		return -1;
	cudnn_keep_compiler();
	cudnn_conv_set_ways(r);
	r->about_maker = cudnn_builder_new(r);
	r->device_props = cudnn_builder_create(r->about_maker,
	    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	return 0;
}

/* Return 0, or -1 after a message if cuDNN has refused to describe the
 * device. */
static int
cudnn_conv_described(const struct runtime *r)
{
	return r->about_maker->wrong ? fail("cuDNN %zu refuses a "
	    "description of the device (wanted 9.8 or later): %s",
	    r->dnn.cudnnGetVersion(), r->about_maker->why) : 0;
}

int
cudnn_describe(struct runtime *r, const char *json)
{
	/* The name is a column of choices.tsv. */
	snprintf(r->name, sizeof(r->name), "a device that is described");
	if (cudnn_conv_open_library(r) != 0)
		return -1;
	cudnn_builder_set(r->about_maker, r->device_props,
	    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    (int64_t)strlen(json), json);
	cudnn_builder_finish(r->about_maker, r->device_props);
	return cudnn_conv_described(r);
}

int
cudnn_choose_device(struct runtime *r)
{
	static const struct conv_shape small = { .type = GPU_F16, .dims = 2,
		.n = 1, .in = 8, .out = 8, .groups = 1, .from = { 8, 8 },
		.to = { 8, 8 }, .kernel = { 1, 1 }, .stride = { 1, 1 } };
	struct conv_plan p = { .s = small, .m = cudnn_builder_new(r) };
	struct engine_config c;

	r->with_handle = 1;
	p.graph = cudnn_graph_of_conv(p.m, &p.s);
	p.kept = p.m->n;
	if (p.m->wrong || cudnn_plan_candidates(NULL, &p, &c, 1) == 0 ||
	    cudnn_plan_of_choice(NULL, &p, &c) != 0) {
		r->with_handle = 0;
		detail("cuDNN refuses plans with its handle, so they are made "
		    "with a description of the device: %s", p.m->why);
	}
	cudnn_builder_free(p.m);
	return r->with_handle ? 0 : cudnn_conv_described(r);
}

int
cudnn_open(struct runtime *r)
{
	int32_t ordinal = r->ordinal;
	cudnnStatus_t s;

	if (cudnn_conv_open_library(r) != 0)
		return -1;
	s = r->dnn.cudnnCreate(&r->handle);
	if (s != CUDNN_STATUS_SUCCESS)
		return fail("%s (device %d): cuDNN: %s", r->name, r->ordinal,
		    r->dnn.cudnnGetErrorString(s));
	cudnn_builder_set(r->about_maker, r->device_props,
	    CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &ordinal);
	cudnn_builder_finish(r->about_maker, r->device_props);
	return cudnn_choose_device(r);
}

void
cudnn_close(struct runtime *r)
{
	cudnn_builder_free(r->about_maker);
	conv_cache_free(r->algorithms.choices);
	if (r->handle != NULL)
		r->dnn.cudnnDestroy(r->handle);
}

/* ---- running ---- */

/*
 * Bind the tensors to memory.  A plan has the same addresses at each step, so
 * the variant pack is made once.  Return NULL, or the reason of a failure.
 */
static const char *
cudnn_conv_bind(struct conv_plan *p, void *const at[4])
{
	static const int64_t uid[] = { UID_X, UID_W, UID_Y };

	if (p->pack != NULL && memcmp(p->bound, at, sizeof(p->bound)) == 0)
		return NULL;
	if (p->binds == NULL)
		p->binds = cudnn_builder_new(p->m->r);
	cudnn_builder_drop(p->binds, 0);
	p->pack = cudnn_builder_create(p->binds,
	    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	cudnn_builder_set(p->binds, p->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
	    CUDNN_TYPE_INT64, 3, uid);
	cudnn_builder_set(p->binds, p->pack,
	    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, at);
	cudnn_builder_set(p->binds, p->pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
	    CUDNN_TYPE_VOID_PTR, 1, &at[3]);
	cudnn_builder_finish(p->binds, p->pack);
	memcpy(p->bound, at, sizeof(p->bound));
	if (!p->binds->wrong)
		return NULL;
	p->pack = NULL;
	return p->binds->why;
}

const char *
cudnn_plan_run(struct conv_plan *p, cudaStream_t s, void *const at[4])
{
	struct runtime *r = p->m->r;
	const char *why = cudnn_conv_bind(p, at);
	cudnnStatus_t status;

	if (why != NULL)
		return why;
	status = r->dnn.cudnnSetStream(r->handle, s);
	if (status == CUDNN_STATUS_SUCCESS)
		status = r->dnn.cudnnBackendExecute(r->handle, p->plan,
		    p->pack);
	return status == CUDNN_STATUS_SUCCESS ? NULL :
	    r->dnn.cudnnGetErrorString(status);
}

void
cudnn_conv(struct driver *d, struct gpu_stream *s, const struct conv_plan *p,
    void *const at[4])
{
	/* Only the cached variant pack of the plan changes. */
	const char *why = cudnn_plan_run((struct conv_plan *)p, s->at, at);

	if (why != NULL)
		runtime_record_error((struct runtime *)d, p->key, why);
}
