#ifndef TRAIN_WEIGHTS_FREEZE_H
#define TRAIN_WEIGHTS_FREEZE_H

/* Parts of a network that training leaves as they are. */

#include "base/options.h"
#include "graph/graph.h"

/*
 * freeze_apply(g, what): the operators of ${g} that ${what} lists are not trained,
 * and norms among them use their running statistics, which stay, too.  To be
 * called before plans are made, which leave out what nobody needs then.  An item
 * is a pattern of names (glob(7)); "backbone", all but the classifier; or
 * "partial-bn", all norms but the first (Wang et al. 2016, section 3.2).  -1
 * after a message if an item finds nothing to freeze, or all is frozen.
 */
int freeze_apply(struct graph *g, const struct option_list *what);

/* freeze_count(g): values that are frozen, without statistics. */
size_t freeze_count(const struct graph *g);

#endif
