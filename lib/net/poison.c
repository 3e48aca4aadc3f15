/* Fills the memory that a task must write with NaNs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/alike.h"
#include "net/poison.h"

void
poison_fill(struct device *d, void *at, size_t bytes)
{
	void *nans = xmalloc(bytes + 1);

	memset(nans, 0xff, bytes);
	device_upload(d, at, nans, bytes);
	free(nans);
}

static void
poison_bytes_of(size_t (*bytes)(const struct task *), const struct task *t,
    void *at)
{
	if (bytes != NULL)
		poison_fill(t->device, at, bytes(t));
}

static void
poison_output(const struct task *t)
{
	poison_fill(t->device, t->y, device_bytes(t->device, &t->out));
}

/*
 * Poison gradients of the parameters of ${t}.  The forward pass writes the
 * ${statistics} among them, the backward pass the others.
 */
static void
poison_parameters(const struct plan *p, const struct task *t, int statistics)
{
	for (int j = 0; j < t->op->nparam; j++) {
		const struct param *w = &p->graph->param[t->op->param + j];

		if (t->dw[j] != NULL && (w->kind >= PARAM_MEAN) == statistics)
			poison_fill(p->device, t->dw[j],
			    w->count * p->device->elem);
	}
}

void
poison_packed_weights(const struct plan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->task[i].fused_into == i)
			poison_bytes_of(p->task[i].impl->packed_bytes,
			    &p->task[i], p->task[i].packed_weights);
}

void
poison_forward(const struct plan *p, int i)
{
	const struct task *t = &p->task[i];

	for (int k = plan_next(p, i, -1); k < p->n; k = plan_next(p, i, k)) {
		if (p->task[k].materialized)
			poison_output(&p->task[k]);
		poison_parameters(p, &p->task[k], 1);
	}
	poison_bytes_of(t->impl->saved, t, t->saved);
	poison_bytes_of(t->impl->scratch, t, t->scratch);
}

void
poison_backward(const struct plan *p, int i)
{
	const struct task *t = &p->task[i];

	if (t->no_grad)
		return;
	for (int k = plan_next(p, i, -1); k < p->n; k = plan_next(p, i, k)) {
		const struct task *of = &p->task[k];

		for (int j = 0; j < of->op->nin; j++)
			if (of->dx[j] != NULL && !of->accumulate[j] &&
			    p->task[of->op->in[j]].fused_into != i)
				poison_fill(p->device, of->dx[j],
				    device_bytes(p->device, &of->in[j]));
		poison_parameters(p, of, 0);
	}
	poison_bytes_of(t->impl->scratch, t, t->scratch);
}

void
poison_recompute(const struct plan *p, int i)
{
	const struct task *t = &p->task[i];

	for (int k = plan_next(p, i, -1); k < p->n; k = plan_next(p, i, k))
		if (p->task[k].materialized && p->task[k].recompute)
			poison_output(&p->task[k]);
	poison_bytes_of(t->impl->scratch, t, t->scratch);
}
