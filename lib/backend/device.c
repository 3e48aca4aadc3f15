/* Dispatches the functions device_* and task_* to the tables of a back end. */
#include "backend/backend.h"

struct device *
device_open(const struct backend *b, const struct device_options *o)
{
	static const char *const name[] = { [PRECISION_FP32] = "fp32",
		[PRECISION_BF16] = "bf16", [PRECISION_FP16] = "fp16" };
	struct device_options got = *o;
	struct device *d = b->open(&got);

	if (d != NULL) {
		d->backend = b;
		d->elem = b->elem;
		d->o = got;
		/*
		 * A back end sets these only if they differ from device to
		 * device.
		 */
		if (d->ops == NULL)
			d->ops = b->ops;
		if (d->precision == NULL)
			d->precision = name[got.precision];
	}
	return d;
}

void
device_close(struct device *d)
{
	if (d != NULL)
		d->backend->close(d);
}

void *
device_alloc(struct device *d, size_t bytes)
{
	return d->backend->memory->alloc(d, bytes);
}

void
device_free(struct device *d, void *p)
{
	if (p != NULL)
		d->backend->memory->free(d, p);
}

size_t
device_available(struct device *d)
{
	return d->backend->memory->available(d);
}

void *
device_alloc_host(struct device *d, size_t bytes)
{
	return d->backend->memory->alloc_host(d, bytes);
}

void
device_free_host(struct device *d, void *p)
{
	if (p != NULL)
		d->backend->memory->free_host(d, p);
}

struct device *
device_side_stream(struct device *d)
{
	/*
	 * Without streams all work is synchronous, and ${d} can serve as its
	 * own.
	 */
	return d->backend->stream != NULL ? d->backend->stream->side_stream(d) :
	d;
}

void
device_side_stream_free(struct device *d, struct device *side_stream)
{
	if (side_stream != NULL && side_stream != d)
		d->backend->stream->side_stream_free(d, side_stream);
}

void *
device_stream(struct device *d)
{
	return d->backend->stream != NULL ? d->backend->stream->native(d) :
	    NULL;
}

void
device_narrow(struct device *d, void *to, const void *x, size_t n,
    enum precision as, double scale)
{
	d->backend->stream->narrow(d, to, x, n, as, scale);
}

void
device_widen(struct device *d, void *x, const void *from, size_t n,
    enum precision as, double scale)
{
	d->backend->stream->widen(d, x, from, n, as, scale);
}

void
device_sum_rows(struct device *d, double *sum, const double *row, int rows,
    size_t n)
{
	d->backend->stream->sum_rows(d, sum, row, rows, n);
}

char *
device_algorithms_text(struct device *d, enum choices_kind which)
{
	return d->backend->tuning != NULL ?
	    d->backend->tuning->choices(d, which) : NULL;
}

int
device_algorithms_read(struct device *d, enum choices_kind which,
    const char *what, const char *text)
{
	return d->backend->tuning != NULL ?
	    d->backend->tuning->choose(d, which, what, text) : 0;
}

void
device_tune(struct device *d, int how)
{
	if (d->backend->tuning != NULL)
		d->backend->tuning->tune(d, how);
}

void
device_put(struct device *d, void *w, const double *host, size_t n)
{
	d->backend->memory->put(d, w, host, n);
}

void
device_get(struct device *d, double *host, const void *w, size_t n)
{
	d->backend->memory->get(d, host, w, n);
}

void
device_upload(struct device *d, void *w, const void *host, size_t bytes)
{
	d->backend->memory->upload(d, w, host, bytes);
}

void
device_download(struct device *d, void *host, const void *w, size_t bytes)
{
	d->backend->memory->download(d, host, w, bytes);
}

void
device_upload_async(struct device *d, void *to, const void *host, size_t bytes)
{
	d->backend->memory->upload_async(d, to, host, bytes);
}

void
device_copy(struct device *d, void *to, const void *from, size_t bytes)
{
	d->backend->memory->copy(d, to, from, bytes);
}

size_t
device_bytes(const struct device *d, const struct dims *shape)
{
	return d->backend->layout->bytes(d, shape);
}

void
device_read(struct device *d, double *host, const struct dims *shape,
    const void *activation)
{
	d->backend->layout->read(d, host, shape, activation);
}

void
device_write(struct device *d, void *activation, const struct dims *shape,
    const double *host)
{
	d->backend->layout->write(d, activation, shape, host);
}

const struct op_impl *
task_impl(const struct task *t)
{
	return t->impl;
}

int
task_reads(const struct task *t)
{
	int reads = t->reads & (READS_X | READS_Y);

	if (t->no_grad)
		return 0;
	/* READS_X_DW needs x for the gradient of the weights only. */
	return t->needs_weight_grad && (t->reads & READS_X_DW) ?
	    reads | READS_X : reads;
}

void
task_forward(struct task *t)
{
	task_impl(t)->forward(t);
}

void
task_backward(struct task *t)
{
	if (task_impl(t)->backward != NULL && !t->no_grad)
		task_impl(t)->backward(t);
}

void
task_recompute(struct task *t)
{
	task_impl(t)->recompute(t);
}

void
task_release(struct task *t)
{
	/*
	 * plan_free also passes tasks that a failed plan_new has not reached.
	 */
	if (t->op != NULL && t->fused_into == t->index && t->impl != NULL &&
	    t->impl->release != NULL)
		t->impl->release(t);
}

struct event *
device_event_new(struct device *d, size_t step)
{
	return d->backend->event->create(d, step);
}

void
device_event_free(struct device *d, struct event *e)
{
	if (e != NULL)
		d->backend->event->free(e);
}

void
device_event_record(struct device *d, struct event *e, size_t from)
{
	d->backend->event->record(d, e, from);
}

void
device_event_wait(struct device *d, struct event *e, size_t from)
{
	d->backend->event->wait(e, from);
}

void
device_event_follow(struct device *d, struct event *e, size_t from)
{
	d->backend->event->follow(d, e, from);
}

int
device_capture(struct device *d)
{
	return d->backend->graph != NULL && d->backend->graph->capture(d) == 0;
}

struct captured_graph *
device_capture_end(struct device *d)
{
	return d->backend->graph->capture_end(d);
}

void
device_graph_launch(struct device *d, struct captured_graph *r)
{
	d->backend->graph->launch(d, r);
}

void
device_graph_free(struct device *d, struct captured_graph *r)
{
	if (r != NULL)
		d->backend->graph->free(d, r);
}
