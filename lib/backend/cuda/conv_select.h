#ifndef BACKEND_CUDA_CONV_SELECT_H
#define BACKEND_CUDA_CONV_SELECT_H

/*
 * Selection of the algorithm of a convolution, once for each shape.  The first
 * rule that applies decides: the selection recorded for this run; with
 * TUNE_MEASURE a known measurement, else timing; the heuristics of cuDNN. A
 * fused pattern (driver.h) runs unfused if it has no engine, if it is slower
 * (fusion_cost.h), or with TUNE_UNFUSED. The cache records this decision, too.
 */

#include "backend/cuda/conv_cache.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/norm.h"
#include "backend/tuning.h"

/*
 * How make selects: the given choice; the heuristics; timing.  The last two
 * store their selection in the choice.
 */
enum conv_select_rule { BY_CHOICE, BY_RULE, BY_TIMING };

/* The algorithms of a driver.  Each function is given this structure. */
struct conv_algorithms {
	struct driver *driver;
	struct conv_cache *choices;
	int how;			/* a sum of enum tuning */
	/* Write the cache key of ${s}. */
	void (*key)(const struct conv_shape *s, char key[CONV_KEY]);
	/*
	 * open: return a plan without an algorithm, or NULL, after a message
	 * unless ${s} is a fused pattern.
	 * close: free it.
	 */
	struct conv_plan *(*open)(struct conv_algorithms *w, const struct conv_shape *s);
	void (*close)(struct conv_algorithms *w, struct conv_plan *p);
	/*
	 * Select the algorithm of ${p}.  Return -1 if there is none, after a
	 * message only for a plain convolution by BY_RULE or BY_TIMING.
	 */
	int (*make)(struct conv_algorithms *w, struct conv_plan *p, enum conv_select_rule by,
	    struct choice *c);
	/* norm of struct stopwatch (fusion_cost.h). */
	double (*norm)(struct conv_algorithms *w, const struct conv_shape *s,
	    enum norm_part part);
};

/* conv_select(w, s): implement conv_new of struct driver_calls (driver.h). */
struct conv_plan *conv_select(struct conv_algorithms *w, const struct conv_shape *s);

#endif
