#ifndef TRAIN_WEIGHTS_FREEZE_H
#define TRAIN_WEIGHTS_FREEZE_H

/* Parameters that training does not change. */

#include "base/options.h"
#include "graph/graph.h"

/*
 * freeze_apply(g, what):
 * Freeze the operators of ${g} that ${what} lists.  Frozen norms use their
 * running statistics, which do not change either.  Call it before plans are
 * made, because they omit gradients that nothing needs.  An item is a pattern
 * of names (glob(7)); "backbone", all but the classifier; or "partial-bn", all
 * norms but the first (Wang et al. 2016, section 3.2).
 * Return 0, or -1 after a message if an item matches no operator with
 * parameters, or if everything is frozen.
 */
int freeze_apply(struct graph *g, const struct option_list *what);

/*
 * freeze_count(g): return the number of frozen values, without running
 * statistics.
 */
size_t freeze_count(const struct graph *g);

#endif
