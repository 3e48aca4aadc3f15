#ifndef BACKEND_CUDA_CHOOSE_H
#define BACKEND_CUDA_CHOOSE_H

/*
 * Selection of the algorithm of a convolution, once for each shape.  The first
 * rule that applies decides: the selection recorded for this run; with TUNE_TRY
 * a known measurement, else timing; the heuristics of cuDNN.  A fused pattern
 * (driver.h) runs unfused if it has no engine, if it is slower (worth.h), or
 * with TUNE_PLAIN.  The cache records this decision, too.
 */

#include "backend/cuda/choices.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/norm.h"
#include "backend/tuning.h"

/*
 * How make selects: the given choice; the heuristics; timing.  The last two
 * store their selection in the choice.
 */
enum by { BY_CHOICE, BY_RULE, BY_TRYING };

/* The algorithms of a driver.  Each function is given this structure. */
struct ways {
	struct driver *driver;
	struct choices *choices;
	int how;			/* a sum of enum tuning */
	/* Write the cache key of ${s}. */
	void (*key)(const struct conv_shape *s, char key[KEY]);
	/*
	 * open: return a plan without an algorithm, or NULL, after a message
	 * unless ${s} is a fused pattern.
	 * close: free it.
	 */
	struct conv_plan *(*open)(struct ways *w, const struct conv_shape *s);
	void (*close)(struct ways *w, struct conv_plan *p);
	/*
	 * Select the algorithm of ${p}.  Return -1 if there is none, after a
	 * message only for a plain convolution by BY_RULE or BY_TRYING.
	 */
	int (*make)(struct ways *w, struct conv_plan *p, enum by by,
	    struct choice *c);
	/* norm of struct stopwatch (worth.h). */
	double (*norm)(struct ways *w, const struct conv_shape *s,
	    enum norm_part part);
};

/* choose_conv(w, s): implement conv_new of struct driver_calls (driver.h). */
struct conv_plan *choose_conv(struct ways *w, const struct conv_shape *s);

#endif
