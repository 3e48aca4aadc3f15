/* The operators that are frozen, by their names. */
#include <fnmatch.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/weights/freeze.h"

static int
freeze_is_first_norm(const struct graph *g, const struct op *op)
{
	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN)
			return op == &g->op[i];
	return 0;
}

static int
freeze_wanted(const struct graph *g, const struct op *op, const char *what)
{
	if (strcmp(what, "partial-bn") == 0)
		return op->kind == OP_BN && !freeze_is_first_norm(g, op);
	if (strcmp(what, "backbone") == 0)
		return !g->param[op->param].head;
	return fnmatch(what, op->name, 0) == 0;
}

static void
freeze_op(struct graph *g, struct op *op)
{
	if (op->kind == OP_BN)
		op->bn.fixed = 1;
	for (int k = 0; k < op->nparam; k++)
		g->param[op->param + k].frozen = 1;
}

size_t
freeze_count(const struct graph *g)
{
	size_t n = 0;

	for (int k = 0; k < g->nparam; k++)
		if (g->param[k].frozen && g->param[k].kind < PARAM_MEAN)
			n += g->param[k].count;
	return n;
}

int
freeze_apply(struct graph *g, const struct option_list *what)
{
	for (size_t i = 0; i < what->n; i++) {
		int found = 0;

		for (int k = 0; k < g->nop; k++)
			if (g->op[k].nparam > 0 &&
			    freeze_wanted(g, &g->op[k], what->item[i])) {
				freeze_op(g, &g->op[k]);
				found = 1;
			}
		if (!found)
			return fail("--freeze=%s: %s has no operator of this "
			    "name with parameters (wanted backbone, "
			    "partial-bn, or a pattern like 'layer1.*')",
			    text_quote(what->item[i]), g->name);
	}
	if (what->n > 0 && freeze_count(g) == graph_parameters(g))
		return fail("--freeze: all of %s is frozen: nothing is left to "
		    "train", g->name);
	return 0;
}
