/* Prints a plan as a table for the user. */
#include "base/mem.h"
#include "net/plan.h"

/* Append the names of the ops that task ${i} does, in their order. */
static void
explain_name_ops(const struct plan *p, int i, struct buffer *b)
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
		explain_name_ops(p, i, &b);
		if (t->impl->describe != NULL)
			t->impl->describe(t, made, sizeof(made));
		fprintf(f, "%s\t%s\t%zu\t%s", b.data, dims_text(&t->out, shape),
		    t->impl->saved != NULL && !t->no_grad ? t->impl->saved(t) :
		    0, made);
		if (p->recompute_before[i] >= 0)
			fprintf(f, ", recomputed before the gradients of %s",
			    p->task[p->recompute_before[i]].op->name);
		fputc('\n', f);
		buffer_free(&b);
	}
}
