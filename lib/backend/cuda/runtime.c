/*
 * The driver on the CUDA runtime: memory, streams, events, copies, kernels.
 * Errors of asynchronous calls are recorded and reported by the next wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cudnn_plan.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/runtime.h"
#include "base/fail.h"
#include "base/mem.h"

static struct runtime *
runtime_of(struct driver *d)
{
	return (struct runtime *)d;
}

void
runtime_record_error(struct runtime *r, const char *what, const char *why)
{
	char *to;

	pthread_mutex_lock(&r->lock);
	to = r->captures && pthread_equal(r->capturer, pthread_self()) ?
	    r->capture_error : r->error;
	if (to[0] == '\0')
		snprintf(to, sizeof(r->error), "%s (device %d): %s: %s",
		    r->name, r->ordinal, what, why);
	pthread_mutex_unlock(&r->lock);
}

void
runtime_check(struct runtime *r, const char *what, cudaError_t e)
{
	if (e != cudaSuccess)
		runtime_record_error(r, what, cudaGetErrorString(e));
}

struct runtime *
runtime_make_current(struct driver *d)
{
	struct runtime *r = runtime_of(d);

	runtime_check(r, "selecting the device", cudaSetDevice(r->ordinal));
	return r;
}

/*
 * Record ${e}, the result of a wait.  If an error has been recorded, report it
 * and return -1.
 */
static int
runtime_waited(struct runtime *r, cudaError_t e)
{
	runtime_check(r, "waiting", e);
	pthread_mutex_lock(&r->lock);
	if (r->error[0] != '\0')
		fail("%s", r->error);
	pthread_mutex_unlock(&r->lock);
	return r->error[0] != '\0' ? -1 : 0;
}

/* ---- memory ---- */

static void *
runtime_alloc(struct driver *d, size_t bytes)
{
	struct runtime *r = runtime_make_current(d);
	void *p = NULL;
	size_t left = 0, all = 0;
	cudaError_t e = cudaMalloc(&p, bytes);

	if (e == cudaSuccess)
		return p;
	cudaGetLastError();		/* clear it: it is not an error of
					 * submitted work */
	cudaMemGetInfo(&left, &all);
	return fail_null("%s (device %d): %zu bytes refused, %zu of %zu are "
	    "free: %s", r->name, r->ordinal, bytes, left, all,
	    cudaGetErrorString(e));
}

static size_t
runtime_available(struct driver *d)
{
	size_t left = 0, all = 0;

	runtime_make_current(d);
	return cudaMemGetInfo(&left, &all) == cudaSuccess ? left : SIZE_MAX;
}

static void *
runtime_alloc_host(struct driver *d, size_t bytes)
{
	void *p = NULL;
	cudaError_t e;

	runtime_make_current(d);
	/* Portable: pinned for all devices of the process. */
	e = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
	if (e == cudaSuccess)
		return p;
	cudaGetLastError();
	return fail_null("%zu bytes of pinned memory refused: %s", bytes,
	    cudaGetErrorString(e));
}

/* ---- streams and events ---- */

static struct gpu_stream *
runtime_stream_new(struct driver *d, int urgent)
{
	struct runtime *r = runtime_make_current(d);
	struct gpu_stream *s = xcalloc(1, sizeof(*s));
	int least = 0, largest = 0;
	cudaError_t e;

	/*
	 * A higher priority lets the blocks of a side stream start before those
	 * that the compute stream has queued.
	 */
	cudaDeviceGetStreamPriorityRange(&least, &largest);
	e = cudaStreamCreateWithPriority(&s->at, cudaStreamNonBlocking,
	    urgent ? largest : least);
	if (e == cudaSuccess)
		return s;
	free(s);
	return fail_null("%s (device %d): creating a stream: %s", r->name,
	    r->ordinal, cudaGetErrorString(e));
}

static void
runtime_stream_free(struct driver *d, struct gpu_stream *s)
{
	runtime_check(runtime_make_current(d), "freeing a stream",
	    cudaStreamDestroy(s->at));
	free(s);
}

static void *
runtime_stream_native(struct driver *d, struct gpu_stream *s)
{
	(void)d;
	return s->at;
}

static struct gpu_event *
runtime_event_new(struct driver *d)
{
	struct runtime *r = runtime_make_current(d);
	struct gpu_event *v = xcalloc(1, sizeof(*v));
	/* A waiting thread sleeps, and leaves its core to others. */
	cudaError_t e = cudaEventCreateWithFlags(&v->at,
	    cudaEventDisableTiming | cudaEventBlockingSync);

	if (e == cudaSuccess)
		return v;
	free(v);
	return fail_null("%s (device %d): creating an event: %s", r->name,
	    r->ordinal, cudaGetErrorString(e));
}

static void
runtime_event_free(struct driver *d, struct gpu_event *v)
{
	runtime_check(runtime_make_current(d), "freeing an event",
	    cudaEventDestroy(v->at));
	free(v);
}

static int
runtime_wait_event(struct driver *d, struct gpu_event *v)
{
	struct runtime *r = runtime_make_current(d);

	return runtime_waited(r, cudaEventSynchronize(v->at));
}

static int
runtime_wait_stream(struct driver *d, struct gpu_stream *s)
{
	struct runtime *r = runtime_make_current(d);

	return runtime_waited(r, cudaStreamSynchronize(s->at));
}

/* ---- work ---- */

/* A call whose error is recorded; a row ends with ";". */
#define RUNTIME_CALL(name, what, call, ...) \
	static void \
	runtime_ ## name(struct driver *d, __VA_ARGS__) \
	{ \
		runtime_check(runtime_make_current(d), what, call); \
	} \
	struct runtime

RUNTIME_CALL(free_memory, "freeing memory", cudaFree(p), void *p);
RUNTIME_CALL(free_host, "freeing memory", cudaFreeHost(p), void *p);
RUNTIME_CALL(record, "recording an event", cudaEventRecord(v->at, s->at),
    struct gpu_event *v, struct gpu_stream *s);
RUNTIME_CALL(follow, "following an event", cudaStreamWaitEvent(s->at, v->at, 0),
    struct gpu_stream *s, struct gpu_event *v);
RUNTIME_CALL(copy, "a copy", cudaMemcpyAsync(to, from, bytes,
    cudaMemcpyDefault, s->at), struct gpu_stream *s, void *to,
    const void *from, size_t bytes);
RUNTIME_CALL(fill, "a fill", cudaMemsetAsync(to, byte, bytes, s->at),
    struct gpu_stream *s, void *to, int byte, size_t bytes);

static void
runtime_launch(struct driver *d, struct gpu_stream *s, const struct launch *l)
{
	const struct kernel *k = &cuda_kernels[l->kernel];
	const dim3 grid = { l->grid[0], l->grid[1], 1 };
	const dim3 block = { (unsigned)k->threads, 1, 1 };
	void *args[] = { (void *)l->args };

	if (l->bytes != k->bytes)
		die(1, "kernel %s: %zu bytes of arguments (wanted %zu)",
		    k->name, l->bytes, k->bytes);
	if (grid.x > 0 && grid.y > 0)
		runtime_check(runtime_make_current(d), k->name,
		    cudaLaunchKernel(k->code[l->type], grid, block, args, 0,
		    s->at));
}

/* ---- opening ---- */

static void
runtime_close_driver(struct driver *d)
{
	struct runtime *r = runtime_of(d);

	cublas_close(r);
	cudnn_close(r);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* The calls of both drivers, for a device and for a description of one. */
#define HOST_CALLS \
	.close = runtime_close_driver, \
	.conv_new = cudnn_conv_new, .conv_free = cudnn_conv_free, \
	.conv_workspace = cudnn_conv_workspace, \
	.conv_describe = cudnn_conv_describe, \
	.gemm_new = cublas_gemm_new, .gemm_free = cublas_gemm_free, \
	.gemm_workspace = cublas_gemm_workspace

static const struct driver_calls calls = {
	.name = "cuda", HOST_CALLS, .alloc = runtime_alloc,
	.free = runtime_free_memory, .alloc_host = runtime_alloc_host,
	.free_host = runtime_free_host, .stream_new = runtime_stream_new,
	.stream_free = runtime_stream_free, .event_new = runtime_event_new,
	.event_free = runtime_event_free, .record = runtime_record,
	.follow = runtime_follow, .wait_event = runtime_wait_event,
	.wait = runtime_wait_stream, .copy = runtime_copy, .fill = runtime_fill,
	.launch = runtime_launch, .conv = cudnn_conv,
	.gemm = cublas_gemm, .capture = runtime_capture,
	.captured = runtime_captured, .record_inside = runtime_record_inside,
	.graph_run = runtime_graph_run, .graph_free = runtime_graph_free,
	.stream_native = runtime_stream_native, .available = runtime_available,
};

/*
 * Store the number of devices.  Return 0, or -1 after a message that says why
 * no device can be used.
 */
static int
runtime_count_devices(int *n)
{
	cudaError_t e = cudaGetDeviceCount(n);
	int version = 0;

	if (e == cudaSuccess && *n > 0)
		return 0;
	cudaDriverGetVersion(&version);
	if (e == cudaErrorInsufficientDriver && version > 0)
		return fail("--device cuda: the driver is for CUDA %d.%d "
		    "(wanted %d.%d or newer)", version / 1000,
		    version % 1000 / 10, CUDART_VERSION / 1000,
		    CUDART_VERSION % 1000 / 10);
	if (e == cudaSuccess || e == cudaErrorNoDevice ||
	    e == cudaErrorInsufficientDriver)
		return fail("--device cuda: this host has no CUDA device, "
		    "or no driver for it");
	return fail("--device cuda: %s", cudaGetErrorString(e));
}

/* The lowest major compute capability that the program supports: the first of
 * CUDA_ARCHS in the Makefile. */
enum { CAPABILITY = 8 };

struct driver *
runtime_open(int ordinal)
{
	struct cudaDeviceProp about;
	struct runtime *r;
	int n = 0;

	if (runtime_count_devices(&n) != 0)
		return NULL;
	if (ordinal >= n)
		return fail_null("--device=cuda:%d: this host has %d CUDA "
		    "device%s", ordinal, n, n == 1 ? "" : "s");
	r = xcalloc(1, sizeof(*r));
	r->driver.call = &calls;
	r->ordinal = ordinal;
	pthread_mutex_init(&r->lock, NULL);
	if (cudaGetDeviceProperties(&about, ordinal) == cudaSuccess) {
		snprintf(r->name, sizeof(r->name), "%s", about.name);
		if (about.major < CAPABILITY)
			runtime_record_error(r, "compute capability below 8.0",
			    "kernels require at least 8.0 (A100)");
	}
	runtime_check(r, "selecting the device", cudaSetDevice(ordinal));
	if (runtime_waited(r, cudaSuccess) != 0 || cudnn_open(r) != 0 ||
	    cublas_open(r) != 0) {
		runtime_close_driver(&r->driver);
		return NULL;
	}
	return &r->driver;
}

/* ---- a device that is described, for plans ---- */

/* The figures are those of NVIDIA's H100 data sheet, the field names those of
 * cuDNN. */
static const char runtime_h100[] = "{\"deviceName\":\"NVIDIA H100 80GB HBM3\","
    "\"deviceVer\":900,\"driverVer\":13000,\"cudaDeviceId\":0,"
    "\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1,"
    "\"multiProcessorCount\":132,\"warpSize\":32,\"regsPerBlock\":65536,"
    "\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,"
    "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,"
    "\"maxSharedMemoryPerBlock\":49152,"
    "\"maxSharedMemoryPerBlockOptin\":232448,"
    "\"reservedSharedMemoryPerBlock\":1024,"
    "\"maxGridSize\":[2147483647,65535,65535],"
    "\"maxBlockSize\":[1024,1024,64],\"totalGlobalMem\":85520809984,"
    "\"l2CacheSize\":52428800,\"smClockRateKHz\":1980000,"
    "\"memClockRateKHz\":2619000}";

/* Its memory is that of the host, in which a plan puts the weights. */
static void *
runtime_described_alloc(struct driver *d, size_t bytes)
{
	(void)d;
	return xmalloc(bytes);
}

static void
runtime_described_free(struct driver *d, void *p)
{
	(void)d;
	free(p);
}

static struct gpu_stream *
runtime_described_stream_new(struct driver *d, int urgent)
{
	(void)urgent;
	return runtime_described_alloc(d, sizeof(struct gpu_stream));
}

static void
runtime_described_stream_free(struct driver *d, struct gpu_stream *s)
{
	runtime_described_free(d, s);
}

static struct gpu_event *
runtime_described_event_new(struct driver *d)
{
	return runtime_described_alloc(d, sizeof(struct gpu_event));
}

static void
runtime_described_event_free(struct driver *d, struct gpu_event *e)
{
	runtime_described_free(d, e);
}

static void
runtime_described_record(struct driver *d, struct gpu_event *e,
    struct gpu_stream *s)
{
	(void)d, (void)e, (void)s;
}

static int
runtime_described_wait_event(struct driver *d, struct gpu_event *e)
{
	(void)d, (void)e;
	return 0;
}

static int
runtime_described_wait(struct driver *d, struct gpu_stream *s)
{
	(void)d, (void)s;
	return 0;
}

static void
runtime_described_copy(struct driver *d, struct gpu_stream *s, void *to,
    const void *from, size_t bytes)
{
	(void)d, (void)s;
	memcpy(to, from, bytes);
}

static void
runtime_described_fill(struct driver *d, struct gpu_stream *s, void *to,
    int byte, size_t bytes)
{
	(void)d, (void)s;
	memset(to, byte, bytes);
}

static const struct driver_calls described_calls = {
	.name = "described", HOST_CALLS,
	.alloc = runtime_described_alloc, .free = runtime_described_free,
	.alloc_host = runtime_described_alloc,
	.free_host = runtime_described_free,
	.stream_new = runtime_described_stream_new,
	.stream_free = runtime_described_stream_free,
	.event_new = runtime_described_event_new,
	.event_free = runtime_described_event_free,
	.record = runtime_described_record,
	.wait_event = runtime_described_wait_event,
	.wait = runtime_described_wait, .copy = runtime_described_copy,
	.fill = runtime_described_fill,
};

struct driver *
runtime_open_described(const char *json)
{
	struct runtime *r = xcalloc(1, sizeof(*r));

	r->driver.call = &described_calls;
	r->ordinal = -1;
	pthread_mutex_init(&r->lock, NULL);
	if (cudnn_describe(r, json != NULL ? json : runtime_h100) != 0) {
		runtime_close_driver(&r->driver);
		return NULL;
	}
	return &r->driver;
}

/* ---- versions and devices ---- */

/* Append ", NAME 9.19.0", or ", no NAME here". */
static void
runtime_add_version(char *text, size_t size, const char *name, int found,
    size_t v)
{
	size_t at = strlen(text);

	if (found)
		snprintf(text + at, size - at, ", %s %zu.%zu.%zu", name,
		    v / 10000, v % 10000 / 100, v % 100);
	else
		snprintf(text + at, size - at, ", no %s here", name);
}

const char *
runtime_library(void)
{
	static char text[96];		/* the same at each call */
	struct cudnn dnn = { 0 };
	struct cublas blas = { 0 };
	struct error unused = { "" };
	int found;

	snprintf(text, sizeof(text), "CUDA %d.%d", CUDART_VERSION / 1000,
	    CUDART_VERSION % 1000 / 10);
	found = cudnn_load(&dnn, &unused) == 0;
	runtime_add_version(text, sizeof(text), "cuDNN", found,
	    found ? dnn.cudnnGetVersion() : 0);
	found = cublas_load(&blas, &unused) == 0;
	runtime_add_version(text, sizeof(text), "cuBLASLt", found,
	    found ? blas.cublasLtGetVersion() : 0);
	return text;
}

int
runtime_uuids(unsigned char (*uuid)[DEVICE_UUID], int max)
{
	struct cudaDeviceProp about;
	int n = 0;

	if (cudaGetDeviceCount(&n) != cudaSuccess)
		return 0;
	n = n < max ? n : max;
	for (int i = 0; i < n; i++)
		if (cudaGetDeviceProperties(&about, i) == cudaSuccess)
			memcpy(uuid[i], about.uuid.bytes, DEVICE_UUID);
	return n;
}

const char *
runtime_devices(void)
{
	static char text[512];
	struct cudaDeviceProp about;
	size_t at = 0;
	int n = 0;

	if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0)
		return "none here";
	for (int i = 0; i < n && at < sizeof(text); i++)
		if (cudaGetDeviceProperties(&about, i) == cudaSuccess)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
			    "%s%s (%.0f GiB)", i > 0 ? ", " : "", about.name,
			    (double)about.totalGlobalMem / (1 << 30));
	return text;
}
