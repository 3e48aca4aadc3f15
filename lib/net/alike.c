/* Finds tasks of a plan that do the same work. */
#include <stdio.h>
#include <string.h>

#include "graph/attribute.h"
#include "net/alike.h"

int
task_alike(const struct task *a, const struct task *b)
{
	return attribute_equal(a->op, b->op) &&
	    memcmp(a->in, b->in, sizeof(a->in)) == 0 &&
	    memcmp(&a->out, &b->out, sizeof(a->out)) == 0 &&
	    memcmp(a->needs_input_grad, b->needs_input_grad,
	    sizeof(a->needs_input_grad)) == 0 &&
	    a->needs_weight_grad == b->needs_weight_grad &&
	    memcmp(a->accumulate, b->accumulate, sizeof(a->accumulate)) == 0;
}

int
plan_next(const struct plan *p, int of, int i)
{
	do
		i++;
	while (i < p->n && p->task[i].fused_into != of);
	return i;
}

int
plan_alike(const struct plan *p, int a, int b)
{
	int i = plan_next(p, a, -1), k = plan_next(p, b, -1);

	for (; i < p->n && k < p->n; i = plan_next(p, a, i), k = plan_next(p, b,
	    k))
		if (!task_alike(&p->task[i], &p->task[k]) ||
		    p->task[i].materialized != p->task[k].materialized ||
		    (p->task[i].alias_of == i) != (p->task[k].alias_of == k) ||
		    p->buffers[i].has_dy != p->buffers[k].has_dy)
			return 0;
	return i == k || (i >= p->n && k >= p->n);
}

void
plan_kinds(const struct plan *p, int i, char *buf, size_t size)
{
	size_t at = 0;

	*buf = '\0';
	for (int k = plan_next(p, i, -1); k < p->n && at < size;
	    k = plan_next(p, i, k)) {
		const char *name = op_types[p->task[k].op->kind].name;

		at += (size_t)snprintf(buf + at, size - at, "%s%s",
		    at > 0 ? "+" : "", name != NULL ? name : "loss");
	}
}
