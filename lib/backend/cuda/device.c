/*
 * The cuda back end: opening, side streams, memory and copies, and its function
 * table (struct backend).
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/fail.h"
#include "base/mem.h"

/* ---- work on the stream ---- */

void
cuda_reads(struct launch *k, const void *at, size_t bytes)
{
	struct access *a = &k->access;

	if (at == NULL || bytes == 0)
		return;
	if (a->reads == SPANS)
		die(1, "cuda: kernel %d reads too many ranges", k->kernel);
	a->read[a->reads++] = (struct span){ at, bytes };
}

void
cuda_writes(struct launch *k, void *at, size_t bytes)
{
	struct access *a = &k->access;

	if (at == NULL || bytes == 0)
		return;
	if (a->writes == SPANS)
		die(1, "cuda: kernel %d writes too many ranges", k->kernel);
	a->write[a->writes++] = (struct span){ at, bytes };
}

void
cuda_launch(struct cuda *c, const struct launch *k)
{
	if (k->grid[0] > 0 && k->grid[1] > 0)
		c->driver->call->launch(c->driver, c->stream, k);
}

void
cuda_copy(struct cuda *c, void *to, const void *from, size_t bytes)
{
	c->driver->call->copy(c->driver, c->stream, to, from, bytes);
}

/* Set device memory to 0 on the compute stream. */
static void
cuda_clear(struct cuda *c, void *to, size_t bytes)
{
	c->driver->call->fill(c->driver, c->stream, to, 0, bytes);
}

void
cuda_clear_padding(struct cuda *c, void *x, const struct dims *d)
{
	if (d->c % 8 != 0)
		cuda_clear(c, x, cuda_bytes(c, d));
}

void
cuda_wait(struct cuda *c)
{
	if (c->driver->call->wait(c->driver, c->stream) != 0)
		die(1, "the device has failed");
}

/* ---- opening ---- */

/* Free the stream, and the memory that its calls use. */
static void
cuda_stream_close(struct cuda *c)
{
	if (c->squares_buffer != NULL)
		c->driver->call->free(c->driver, c->squares_buffer);
	tables_free(c, c->tables);
	staging_free(c, c->staging);
	if (c->stream != NULL)
		c->driver->call->stream_free(c->driver, c->stream);
}

static void
cuda_device_close(struct device *d)
{
	struct cuda *c = (struct cuda *)d;

	cuda_stream_close(c);
	c->driver->call->close(c->driver);
	free(c);
}

struct device *
cuda_open_on(struct driver *driver, struct device_options *o)
{
	static const enum gpu_type type[] = { [PRECISION_FP32] = GPU_F32,
		[PRECISION_BF16] = GPU_BF16, [PRECISION_FP16] = GPU_F16 };
	struct cuda *c = xcalloc(1, sizeof(*c));

	c->driver = driver;
	c->type = type[o->precision];
	if ((c->stream = driver->call->stream_new(driver, 0)) == NULL ||
	    (c->staging = staging_new(c)) == NULL) {
		cuda_device_close(&c->device);
		return NULL;
	}
	return &c->device;
}

static struct device *
cuda_device_open(struct device_options *o)
{
	struct driver *driver = o->ordinal < 0 ? runtime_open_described(NULL) :
	    runtime_open(o->ordinal);

	if (o->ordinal < 0 && driver != NULL)
		note("--device=cuda: no CUDA device is here, so this is the "
		    "plan for an H100");
	return driver != NULL ? cuda_open_on(driver, o) : NULL;
}

/* ---- side streams: a stream and staging buffers for another thread ---- */

/* Free a side stream.  The driver belongs to its device. */
static void
cuda_side_stream_free(struct device *d, struct device *side_stream)
{
	struct cuda *c = (struct cuda *)side_stream;

	(void)d;
	if (c->stream != NULL)
		cuda_wait(c);
	cuda_stream_close(c);
	free(c);
}

static struct device *
cuda_side_stream_new(struct device *d)
{
	struct cuda *c = xmalloc(sizeof(*c));

	*c = *(struct cuda *)d;
	c->is_side_stream = 1;
	c->staging = NULL;
	c->tables = NULL;
	c->squares_buffer = NULL;
	c->squares_bytes = 0;
	if ((c->stream = c->driver->call->stream_new(c->driver, 1)) == NULL ||
	    (c->staging = staging_new(c)) == NULL) {
		cuda_side_stream_free(d, &c->device);
		return NULL;
	}
	return &c->device;
}

static void *
cuda_device_stream(struct device *d)
{
	struct cuda *c = (struct cuda *)d;

	return c->driver->call->stream_native == NULL ? NULL :
	    c->driver->call->stream_native(c->driver, c->stream);
}

/* ---- memory ---- */

static void *
cuda_device_alloc(struct device *d, size_t bytes)
{
	struct cuda *c = (struct cuda *)d;
	void *p = c->driver->call->alloc(c->driver, bytes > 0 ? bytes : 1);

	if (p != NULL) {
		/* The memory must be zero for all streams, so wait. */
		cuda_clear(c, p, bytes);
		cuda_wait(c);
	}
	return p;
}

static void
cuda_device_free_memory(struct device *d, void *p)
{
	struct cuda *c = (struct cuda *)d;

	cuda_wait(c);
	c->driver->call->free(c->driver, p);
}

static size_t
cuda_device_available(struct device *d)
{
	struct driver *driver = ((struct cuda *)d)->driver;

	return driver->call->available == NULL ? SIZE_MAX :
	    driver->call->available(driver);
}

static void *
cuda_device_alloc_host(struct device *d, size_t bytes)
{
	struct driver *driver = ((struct cuda *)d)->driver;

	return driver->call->alloc_host(driver, bytes > 0 ? bytes : 1);
}

static void
cuda_device_free_host(struct device *d, void *p)
{
	struct driver *driver = ((struct cuda *)d)->driver;

	driver->call->free_host(driver, p);
}

/*
 * Work of the compute stream may use ${w} at once.  It does not wait for a side
 * stream, so an upload on a side stream waits here.
 */
static void
cuda_device_upload(struct device *d, void *w, const void *host, size_t bytes)
{
	struct cuda *c = (struct cuda *)d;

	cuda_send(c, w, host, bytes);
	if (c->is_side_stream)
		cuda_wait(c);
}

static void
cuda_device_download(struct device *d, void *host, const void *w, size_t bytes)
{
	cuda_receive((struct cuda *)d, host, w, bytes);
}

static void
cuda_device_copy(struct device *d, void *to, const void *from, size_t bytes)
{
	cuda_copy((struct cuda *)d, to, from, bytes);
}

static const struct op_impl *const ops[OP_KINDS] = {
#define OPERATOR(KIND, name, cpu, bf16) [OP_ ## KIND] = &cuda_ ## name,
#include "backend/ops.def"
};

static const struct memory_ops cuda_memory = {
	.alloc = cuda_device_alloc, .free = cuda_device_free_memory,
	.available = cuda_device_available,
	.alloc_host = cuda_device_alloc_host,
	.free_host = cuda_device_free_host, .put = cuda_put, .get = cuda_get,
	.upload = cuda_device_upload, .download = cuda_device_download,
	.copy = cuda_device_copy, .upload_async = cuda_device_copy,
};

static const struct stream_ops cuda_stream = {
	.side_stream = cuda_side_stream_new, .side_stream_free =
	    cuda_side_stream_free,
	.native = cuda_device_stream, .narrow = cuda_narrow,
	.widen = cuda_widen, .sum_rows = cuda_sum_rows,
};

static const struct ordinal_ops cuda_ordinal = {
	.names = runtime_devices, .uuids = runtime_uuids,
};

const struct backend backend_cuda = {
	.name = "cuda", .elem = sizeof(float), .discrete = 1,
	.open = cuda_device_open, .close = cuda_device_close,
	.memory = &cuda_memory, .event = &cuda_event, .layout = &cuda_layout,
	.param = &cuda_param, .check = &cuda_check,
	.stream = &cuda_stream, .graph = &cuda_graph, .tuning = &cuda_tuning,
	.ordinal = &cuda_ordinal, .fabric = cuda_fabric,
	.library = runtime_library, .ops = ops,
	.fuse = cuda_fuse,
};
