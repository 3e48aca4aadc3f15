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

void
device_free(struct device *d, void *p)
{
	if (p != NULL)
		d->backend->memory->free(d, p);
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

char *
device_algorithms_text(struct device *d, enum choices_kind which)
{
	return d->backend->tuning != NULL ?
	    d->backend->tuning->choices(d, which) : NULL;
}

int
device_algorithms_read(struct device *d, enum choices_kind which,
    const char *what, const char *text, struct error *e)
{
	return d->backend->tuning != NULL ?
	    d->backend->tuning->choose(d, which, what, text, e) : 0;
}

void
device_tune(struct device *d, int measures)
{
	if (d->backend->tuning != NULL)
		d->backend->tuning->tune(d, measures);
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
	t->impl->forward(t);
}

void
task_backward(struct task *t)
{
	if (t->impl->backward != NULL && !t->no_grad)
		t->impl->backward(t);
}

void
task_recompute(struct task *t)
{
	t->impl->recompute(t);
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

void
device_event_free(struct device *d, struct event *e)
{
	if (e != NULL)
		d->backend->event->free(e);
}

int
device_capture(struct device *d)
{
	return d->backend->graph != NULL && d->backend->graph->capture(d) == 0;
}

void
device_graph_free(struct device *d, struct captured_graph *r)
{
	if (r != NULL)
		d->backend->graph->free(d, r);
}
