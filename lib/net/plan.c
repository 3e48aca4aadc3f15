/* Binds a graph to a shape, and runs it. */
#include <stdlib.h>
#include <string.h>

#include "backend/staging_buffer.h"
#include "base/fail.h"
#include "base/huge.h"
#include "base/mem.h"
#include "net/capture_cache.h"
#include "net/plan.h"
#include "net/poison.h"
#include "net/prefetch.h"

/*
 * Set the mark of each task.  The parameters of the last ops are final first.
 * From the mark to the end, they belong to tasks whose backward pass is done.
 */
static void
plan_set_marks(struct plan *p)
{
	size_t mark = p->graph->elements;
	int k = p->n - 1;		/* ops k + 1 to n - 1 are done */

	for (int i = p->n - 1; i >= 0; i--) {
		for (; k >= 0 && (p->task[k].fused_into >= i ||
		    p->graph->op[k].nparam == 0); k--)
			if (p->graph->op[k].nparam > 0)
				mark = p->graph->param[p->graph->op[k].param].
				    offset;
		p->buffers[i].final_from = mark;
	}
}

/*
 * Decide which outputs have a gradient buffer, and which tasks add to one.  The
 * first writer in backward order overwrites, all others add.
 */
static void
plan_set_gradients(struct plan *p)
{
	/* A task that does the work of a trained one needs a backward pass. */
	for (int i = 0; i < p->n; i++)
		p->task[p->task[i].fused_into].no_grad &= p->task[i].no_grad;
	for (int time = p->n - 1; time >= 0; time--)
		for (int i = p->n - 1; i >= 0; i--) {
			struct task *t = &p->task[i];

			for (int j = 0; j < t->op->nin && t->fused_into == time;
			    j++) {
				int from = t->op->in[j];

				if (!t->needs_input_grad[j] ||
				    p->task[from].fused_into == time)
					continue;
				t->accumulate[j] = p->buffers[from].has_dy;
				p->buffers[from].has_dy = 1;
			}
		}
}

static int
plan_is_trained(const struct graph *g, const struct op *op)
{
	int trained = 0;

	for (int k = 0; k < op->nparam; k++)
		trained |= !g->param[op->param + k].frozen;
	return trained;
}

/* Initialize task ${i}, unfused. */
static int
plan_set_task(struct plan *p, int i, const struct dims *out)
{
	struct task *t = &p->task[i];
	const struct op *op = &p->graph->op[i];

	*t = (struct task){ .device = p->device, .op = op, .index = i,
		.training = p->training, .peers = p->peers,
		.repeats = p->repeats, .out = out[i],
		.needs_weight_grad = p->training && plan_is_trained(p->graph,
		op),
		.fused_into = i, .materialized = 1, .alias_of = i,
		.impl = p->device->ops[op->kind] };
	/*
	 * Pixels need no gradient.  Neither do outputs that depend only on
	 * pixels and frozen parameters.
	 */
	t->no_grad = !t->needs_weight_grad;
	for (int j = 0; j < op->nin; j++) {
		t->in[j] = out[op->in[j]];
		t->needs_input_grad[j] = !p->task[op->in[j]].no_grad;
		t->no_grad &= !t->needs_input_grad[j];
	}
	if (t->impl == NULL)
		return fail("%s: the %s back end cannot run %s", p->graph->name,
		    p->device->backend->name, op->name);
	t->reads = t->impl->reads;
	return 0;
}

struct plan *
plan_new(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use)
{
	return plan_new_part(g, d, input, use, NULL);
}

struct plan *
plan_new_part(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use, const struct peers *peers)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	size_t n = (size_t)g->nop;
	struct dims *out = xcalloc(n, sizeof(*out));

	p->graph = g;
	p->device = d;
	p->input = xcalloc((size_t)g->needs.streams, sizeof(*p->input));
	memcpy(p->input, input, (size_t)g->needs.streams * sizeof(*p->input));
	p->training = use != PLAN_TEST;
	p->peers = peers;
	p->repeats = use != PLAN_ONCE;
	p->weights_changed = 1;
	p->n = g->nop;
	p->task = xcalloc(n, sizeof(*p->task));
	p->buffers = xcalloc(n, sizeof(*p->buffers));
	p->staging = staging_buffer_new(d, &g->needs, input, g->heads);
	p->captures = capture_cache_new();
	if (graph_shapes(g, input, out, &p->macs) != 0)
		goto err;
	for (int i = 0; i < p->n; i++)
		if (plan_set_task(p, i, out) != 0)
			goto err;
	if (d->backend->fuse != NULL)
		d->backend->fuse(d, p->task, p->n);
	plan_set_gradients(p);
	for (int i = 0; i < p->n; i++) {
		struct task *t = &p->task[i];

		if (t->fused_into == i && t->impl->prepare != NULL &&
		    t->impl->prepare(t) != 0)
			goto err;
	}
	plan_lay_out(p);
	plan_set_marks(p);
	free(out);
	return p;
err:
	free(out);
	plan_free(p);
	return NULL;
}

void
plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < p->n; i++)
		task_release(&p->task[i]);
	capture_cache_free(p->captures, p->device);
	staging_buffer_free(p->staging);
	free(p->input);
	free(p->task);
	free(p->buffers);
	free(p);
}

/*
 * Return the address of element ${i} of a flat buffer, or NULL if it is NULL.
 */
static void *
plan_element(const struct plan *p, const void *flat, size_t i)
{
	return flat == NULL ? NULL : (char *)flat + i * p->device->elem;
}

static void
plan_bind_arena(struct plan *p, char *a)
{
	for (int i = 0; i < p->n; i++) {
		const struct plan_buffers *at = &p->buffers[i];
		struct task *t = &p->task[i];

		t->y = a + at->y;
		t->dy = at->has_dy ? a + at->dy : NULL;
		t->saved = a + at->saved;
		t->packed_weights = a + at->packed;
		t->scratch = a + at->scratch;
		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			at = &p->buffers[from];
			t->x[j] = a + p->buffers[p->task[from].alias_of].y;
			t->dx[j] = t->needs_input_grad[j] && at->has_dy ?
			    a + at->dy : NULL;
		}
	}
}

static void
plan_bind_parameters(struct plan *p, const void *w, void *dw)
{
	const struct graph *g = p->graph;

	for (int i = 0; i < p->n; i++) {
		struct task *t = &p->task[i];

		for (int j = 0; j < t->op->nparam; j++) {
			size_t at = g->param[t->op->param + j].offset;

			t->w[j] = plan_element(p, w, at);
			t->dw[j] = t->needs_weight_grad ? plan_element(p, dw,
			    at) : NULL;
		}
	}
}

void
plan_bind(struct plan *p, void *arena, const void *w, void *dw)
{
	if (p->base != arena)
		plan_bind_arena(p, arena);
	if (p->w != w || p->dw != dw)
		plan_bind_parameters(p, w, dw);
	p->base = arena;
	p->w = w;
	p->dw = dw;
}


void
plan_feed(struct plan *p, const struct feed *feed)
{
	const struct feed_values *values;
	const void *uploaded = p->staging == NULL ? NULL :
	    prefetch_take(p->prefetch, feed);
	const struct feed *here = staging_buffer_load(p->staging,
	    (char *)p->base + p->staging_at, uploaded, feed, &values);

	if (uploaded != NULL)
		prefetch_taken(p->prefetch);
	for (int i = 0; i < p->n; i++) {
		p->task[i].feed = here;
		p->task[i].values = values;
	}
}

/*
 * Run a pass through the graph cache if possible.  That needs a discrete
 * device, where a captured pass finds each microbatch in the staging buffer.  A
 * pass with peers can be captured only if their sums run on the device.
 */
static void
plan_run_pass(struct plan *p, struct capture_key key, void (*run)(void *arg),
    void *arg)
{
	if (p->staging == NULL || (p->peers != NULL &&
	    p->peers->agree == NULL)) {
		run(arg);
		return;
	}
	key.arena = p->base;
	key.w = p->w;
	key.dw = p->dw;
	key.feed_key = staging_buffer_key(p->staging, p->task[0].feed);
	capture_cache_run(p->captures, p->device, &key, p->peers, run, arg);
}

/* A captured pass cannot copy NaNs from the host. */
static int
plan_poisons(const struct plan *p)
{
	return huge_poison && !p->device->backend->discrete;
}

static void
plan_run_forward(void *arg)
{
	struct plan *p = arg;

	if (plan_poisons(p) && p->weights_changed)
		poison_packed_weights(p);
	for (int i = 0; i < p->n; i++) {
		p->task[i].weights_changed = p->weights_changed;
		if (p->task[i].fused_into != i)
			continue;
		if (plan_poisons(p))
			poison_forward(p, i);
		task_forward(&p->task[i]);
	}
}

void
plan_forward(struct plan *p, const struct feed *feed)
{
	plan_feed(p, feed);
	plan_run_pass(p, (struct capture_key){ .weights_changed =
		p->weights_changed },
	    plan_run_forward, p);
	staging_buffer_return_outcome(p->staging, feed);
	p->weights_changed = 1;
}

int
plan_next_recompute(const struct plan *p, int i, int k)
{
	do
		k++;
	while (k < p->n && p->buffers[k].recompute_before != i);
	return k;
}

struct plan_backward_job { struct plan *plan; struct event *final; };

/*
 * Run the tasks backward, recompute outputs before their first reader, and
 * record which gradients are final.
 */
static void
plan_run_backward(void *arg)
{
	const struct plan_backward_job *b = arg;
	struct plan *p = b->plan;
	size_t mark = p->graph->elements;

	for (int i = p->n - 1; i >= 0; i--) {
		for (int k = plan_next_recompute(p, i, -1); k < p->n;
		    k = plan_next_recompute(p, i, k)) {
			if (plan_poisons(p))
				poison_recompute(p, k);
			task_recompute(&p->task[k]);
		}
		if (p->task[i].fused_into == i) {
			if (plan_poisons(p))
				poison_backward(p, i);
			task_backward(&p->task[i]);
		}
		/* Record a mark only if this task has completed gradients. */
		if (b->final != NULL && p->buffers[i].final_from < mark)
			device_event_record(p->device, b->final,
			    mark = p->buffers[i].final_from);
	}
}

void
plan_backward(struct plan *p, struct event *final)
{
	struct plan_backward_job b = { p, final };

	plan_run_pass(p, (struct capture_key){ .backward = 1, .final = final },
	    plan_run_backward, &b);
}

/* Append the names of the ops that task ${i} does, in their order. */
static void
plan_name_ops(const struct plan *p, int i, struct buffer *b)
{
	for (int k = 0; k < p->n; k++)
		if (p->task[k].fused_into == i)
			buffer_printf(b, "%s%s", b->n > 0 ? " + " : "",
			    p->task[k].op->name);
}

void
plan_explain(const struct plan *p, FILE *f)
{
	char shape[64];

	fprintf(f, "# at %s a microbatch:\n", dims_text(p->input, shape));
	fprintf(f, "#task\tshape\tkept_bytes\tdone_by\n");
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];
		struct buffer b = { 0 };
		char made[200] = "";

		if (t->fused_into != i)
			continue;
		plan_name_ops(p, i, &b);
		if (t->impl->describe != NULL)
			t->impl->describe(t, made, sizeof(made));
		fprintf(f, "%s\t%s\t%zu\t%s", b.data, dims_text(&t->out, shape),
		    t->impl->saved != NULL && !t->no_grad ? t->impl->saved(t) :
		    0, made);
		if (p->buffers[i].recompute_before >= 0)
			fprintf(f, ", recomputed before the gradients of %s",
			    p->task[p->buffers[i].recompute_before].op->name);
		fputc('\n', f);
		buffer_free(&b);
	}
}
