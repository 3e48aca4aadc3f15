/*
 * Runs tasks of a plan and of a reference, forward and backward.
 *
 * Both plans follow the order of the reference, one op at a time, so that all
 * its inputs and outputs are alive in its arena.  A task of the compared plan
 * runs when the op that does it is due.  Both read the reference's activations:
 * before a task runs, they overwrite the compared plan's inputs.  Aliased
 * inputs have a layout that only the back end can write.  It has written those
 * itself, from the same inputs.  Output gradients are random.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/parity/job.h"
#include "net/poison.h"

static struct parity *
parity_result_of(struct parity_job *j, int of)
{
	return &j->result[j->group[of].like];
}


/*
 * Mark outputs of ReLU op ${k} that rounding may decide.  Only a ReLU whose
 * input is computed within its task can be affected.
 */
static void
parity_find_kinks(struct parity_job *j, int k)
{
	const struct task *t = &j->key.plan->task[k];
	const struct task *x = j->x.plan->task;
	size_t n = dims_count(&t->out);
	double close = j->o->by_norm ? 2e-2 : 1e-5, *v;
	int inner = t->op->nin > 0 &&
	    x[t->op->in[0]].fused_into == x[k].fused_into;

	if (!inner || (t->op->kind != OP_RELU && t->op->kind != OP_RELU6))
		return;
	v = parity_fetch(&j->key, &t->in[0], t->x[0]);
	close *= parity_largest(v, n);
	j->kink[k] = xcalloc(n, 1);
	for (size_t i = 0; i < n; i++)
		j->kink[k][i] = fabs(v[i]) < close ||
		    (t->op->kind == OP_RELU6 && fabs(v[i] - 6) < close);
	free(v);
}

/*
 * Propagate the marks through an op of the same task that moves elements.  The
 * reference's forward pass on the marks shows where they go.
 */
static void
parity_move_kinks(struct parity_job *j, int k)
{
	struct task *t = &j->key.plan->task[k];
	const struct task *x = j->x.plan->task;
	int from = t->op->nin == 1 ? t->op->in[0] : k;
	size_t n = dims_count(&t->out), m = dims_count(&t->in[0]);
	double *was, *v;

	if (from == k || x[from].fused_into != x[k].fused_into ||
	    j->kink[from] == NULL || j->kink[k] != NULL)
		return;
	was = parity_fetch(&j->key, &t->in[0], t->x[0]);
	v = xcalloc(m, sizeof(*v));
	for (size_t i = 0; i < m; i++)
		v[i] = j->kink[from][i];
	parity_put(&j->key, &t->in[0], t->x[0], v);
	free(v);
	task_forward(t);
	v = parity_fetch(&j->key, &t->out, t->y);
	j->kink[k] = xcalloc(n, 1);
	for (size_t i = 0; i < n; i++)
		j->kink[k][i] = v[i] != 0;
	parity_put(&j->key, &t->in[0], t->x[0], was);
	task_forward(t);
	free(was);
	free(v);
}

/* Save the reference's values of the inputs of op ${k} from other tasks. */
static void
parity_keep_inputs(struct parity_job *j, int k)
{
	const struct task *t = &j->key.plan->task[k];
	const struct task *x = j->x.plan->task;

	for (int i = 0; i < t->op->nin; i++) {
		int from = t->op->in[i];

		if (x[from].fused_into != x[k].fused_into &&
		    x[from].materialized)
			j->in[k * OP_INPUTS + i] =
			    parity_fetch(&j->key, &t->in[i], t->x[i]);
	}
}

/*
 * Run the forward pass of task ${of} on the reference's inputs, after filling
 * all memory that it must write with NaNs.
 */
static void
parity_run_forward(struct parity_job *j, int of)
{
	struct plan *p = j->x.plan;

	poison_forward(p, of);
	for (int k = j->group[of].first; k < p->n; k = plan_next(p, of, k)) {
		struct task *t = &p->task[k];

		for (int i = 0; i < t->op->nin; i++) {
			double **v = &j->in[k * OP_INPUTS + i];

			if (*v != NULL)
				parity_put(&j->x, &t->in[i], t->x[i], *v);
			free(*v);
			*v = NULL;
		}
	}
	task_forward(&p->task[of]);
}

/* Compare stored output ${k}, which both sides have computed. */
static void
parity_check_output(struct parity_job *j, int k)
{
	const struct task *t = &j->x.plan->task[k];
	const struct task *key = &j->key.plan->task[k];
	struct parity *r = parity_result_of(j, t->fused_into);
	double *got, *want;

	if (j->group[t->fused_into].skip) {
		got = parity_draw(&t->out, k);
		parity_resolve(&j->key, &t->out, key->y, got);
		parity_put(&j->x, &t->out, t->y, got);
		free(got);
		return;
	}
	got = parity_fetch(&j->x, &t->out, t->y);
	want = parity_fetch(&j->key, &t->out, key->y);
	parity_compare(j, &r->forward, got, want, dims_count(&t->out));
	free(got);
	free(want);
}

void
parity_forward(struct parity_job *j, int k)
{
	const struct task *x = j->x.plan->task;
	const struct parity_group *g = &j->group[x[k].fused_into];

	if (!g->skip) {
		parity_keep_inputs(j, k);
		parity_find_kinks(j, k);
		task_forward(&j->key.plan->task[k]);
		parity_move_kinks(j, k);
	}
	if (x[k].fused_into == k && !g->skip)
		parity_run_forward(j, k);
	for (int i = 0; i < j->n; i++)
		/*
		 * An output is complete on both sides once its op has run in
		 * the reference and its task in the compared plan.
		 */
		if (x[i].materialized &&
		    (i > x[i].fused_into ? i : x[i].fused_into) == k)
			parity_check_output(j, i);
}


/* Return the random gradient of op ${k}'s output, 0 at marked elements. */
static double *
parity_draw_dy(const struct parity_job *j, int k)
{
	const struct dims *d = &j->x.plan->task[k].out;
	double *v = parity_draw(d, j->n + k);

	for (size_t i = 0; j->kink[k] != NULL && i < dims_count(d); i++)
		if (j->kink[k][i])
			v[i] = 0;
	return v;
}

static void *
parity_dx_of(const struct parity_job *j, int of, int from)
{
	const struct plan *p = j->x.plan;

	for (int k = plan_next(p, of, -1); k < p->n; k = plan_next(p, of, k))
		for (int i = 0; i < p->task[k].op->nin; i++)
			if (p->task[k].op->in[i] == from)
				return p->task[k].dx[i];
	return NULL;
}

/*
 * Run the backward pass of task ${of}.  Gradients that it adds to are 0 in the
 * first run.  In the second (${again}) they hold values as large as those that
 * the first run added.
 */
static void
parity_run_backward(struct parity_job *j, int of, int again)
{
	struct plan *p = j->x.plan;
	struct parity_group *g = &j->group[of];
	double **held = xcalloc((size_t)g->edges + 1, sizeof(*held));

	poison_backward(p, of);
	for (int e = 0; e < g->edges; e++) {
		struct parity_edge *d = &g->edge[e];
		const struct dims *out = &p->task[d->from].out;
		size_t n = dims_count(out);
		double size = again ? parity_largest(d->got, n) : 0;

		if (!d->added)
			continue;
		held[e] = parity_draw(out, 2 * j->n + d->from);
		for (size_t i = 0; i < n; i++)
			held[e][i] *= size;
		parity_resolve(&j->x, out, parity_dx_of(j, of, d->from),
		    held[e]);
	}
	for (int k = g->first; k < p->n; k = plan_next(p, of, k)) {
		struct task *t = &p->task[k];

		if (t->dy != NULL) {
			double *dy = parity_draw_dy(j, k);

			parity_put(&j->x, &t->out, t->dy, dy);
			free(dy);
		}
	}
	task_backward(&p->task[of]);
	for (int e = 0; e < g->edges; e++) {
		struct parity_edge *d = &g->edge[e];
		const struct dims *out = &p->task[d->from].out;
		double *v = parity_fetch(&j->x, out,
		    parity_dx_of(j, of, d->from));

		for (size_t i = 0; held[e] != NULL && i < dims_count(out); i++)
			v[i] -= held[e][i];
		*(again ? &d->again : &d->got) = v;
		free(held[e]);
	}
	free(held);
}

/* Collect the input gradients of one op of the reference. */
static void
parity_collect(struct parity_job *j, int k)
{
	struct task *t = &j->key.plan->task[k];
	const struct task *x = j->x.plan->task;
	struct parity_group *g = &j->group[x[k].fused_into];

	for (int i = 0; i < t->op->nin; i++) {
		int from = t->op->in[i], e = 0, seen = 0;
		double **sum, *v;

		for (int m = 0; m < i; m++)
			seen |= t->op->in[m] == from;
		if (t->dx[i] == NULL || seen)
			continue;
		while (e < g->edges && g->edge[e].from != from)
			e++;
		sum = e < g->edges ? &g->edge[e].want : &j->inner[from];
		v = parity_fetch(&j->key, &t->in[i], t->dx[i]);
		for (size_t m = 0; *sum != NULL && m < dims_count(&t->in[i]);
		    m++)
			v[m] += (*sum)[m];
		free(*sum);
		*sum = v;
	}
}

/*
 * Run the backward pass of op ${k} of the reference, and collect its input
 * gradients.
 */
static void
parity_run_key(struct parity_job *j, int k)
{
	struct task *t = &j->key.plan->task[k];
	size_t n = dims_count(&t->out);

	if (t->dy != NULL) {
		/*
		 * Gradients from other tasks are random; those from within the
		 * group are added.
		 */
		double *dy = j->x.plan->buffers[k].has_dy ?
		    parity_draw_dy(j, k) : xcalloc(n, sizeof(*dy));

		for (size_t i = 0; j->inner[k] != NULL && i < n; i++)
			dy[i] += j->inner[k][i];
		parity_put(&j->key, &t->out, t->dy, dy);
		free(dy);
		free(j->inner[k]);
		j->inner[k] = NULL;
	}
	for (int i = 0; i < t->op->nin; i++)
		/* Add to 0, so that dx is the share of this op alone. */
		if (t->dx[i] != NULL && t->accumulate[i]) {
			double *zero = xcalloc(dims_count(&t->in[i]),
			    sizeof(*zero));

			parity_put(&j->key, &t->in[i], t->dx[i], zero);
			free(zero);
		}
	task_backward(t);
	parity_collect(j, k);
}

static void
parity_check_parameters(struct parity_job *j, int k)
{
	const struct task *t = &j->x.plan->task[k];
	const struct task *key = &j->key.plan->task[k];

	for (int i = 0; i < t->op->nparam && t->needs_weight_grad; i++) {
		size_t n = j->x.plan->graph->param[t->op->param + i].count;
		double *got = xcalloc(n, sizeof(*got));
		double *want = xcalloc(n, sizeof(*want));

		device_get(t->device, got, t->dw[i], n);
		device_get(key->device, want, key->dw[i], n);
		parity_compare(j, &parity_result_of(j, t->fused_into)->dw, got,
		    want, n);
		free(got);
		free(want);
	}
}

/* Compare all gradients of task ${of}, which both sides have computed. */
static void
parity_check_gradients(struct parity_job *j, int of)
{
	const struct plan *p = j->x.plan;
	struct parity_group *g = &j->group[of];
	struct parity *r = parity_result_of(j, of);

	for (int e = 0; e < g->edges; e++) {
		struct parity_edge *d = &g->edge[e];
		size_t n = dims_count(&p->task[d->from].out);

		parity_compare(j, &r->dx, d->got, d->want, n);
		if (d->again != NULL)
			parity_compare(j, &r->dx, d->again, d->want, n);
		free(d->got);
		free(d->again);
		free(d->want);
		d->got = d->again = d->want = NULL;
	}
	for (int k = g->first; k < p->n; k = plan_next(p, of, k))
		parity_check_parameters(j, k);
}

void
parity_backward(struct parity_job *j, int k)
{
	const struct task *x = j->x.plan->task;
	int of = x[k].fused_into, adds = 0;
	struct parity_group *g = &j->group[of];

	for (int m = plan_next_recompute(j->x.plan, k, -1); m < j->n;
	    m = plan_next_recompute(j->x.plan, k, m))
		task_recompute(&j->x.plan->task[m]);
	if (g->skip)
		return;
	if (of == k) {
		for (int e = 0; e < g->edges; e++)
			adds |= g->edge[e].added;
		parity_run_backward(j, of, 0);
		if (adds)
			parity_run_backward(j, of, 1);
	}
	parity_run_key(j, k);
	if (k == g->first)
		parity_check_gradients(j, of);
}
