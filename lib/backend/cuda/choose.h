#ifndef BACKEND_CUDA_CHOOSE_H
#define BACKEND_CUDA_CHOOSE_H

/*
 * How a convolution is done is chosen once for each shape: as it was before, else,
 * if ways are to be tried, the fastest, of which it may be known which it is, or
 * by rule.  A pattern (driver.h) that has no way, or is slower than what would
 * take its place, or is not wanted, is done without; that is remembered, too.
 */

#include "backend/cuda/choices.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/norm.h"
#include "backend/tuning.h"

/* By the choice that is given; or some way, and the choice says which. */
enum by { BY_CHOICE, BY_RULE, BY_TRYING };

/* What a driver knows of ways; each function is given this structure. */
struct ways {
	struct driver *driver;
	struct choices *choices;
	int how;			/* enum tuning */
	void (*key)(const struct conv_shape *s, char key[KEY]);
	/* A plan without a way, and away with one; NULL: there can be none, after
	 * a message unless it is of a pattern. */
	struct conv_plan *(*open)(struct ways *w, const struct conv_shape *s);
	void (*close)(struct ways *w, struct conv_plan *p);
	/* It is done so from now on; -1: there is no such way, after a message if
	 * it is by rule or by trying, unless it is of a pattern. */
	int (*make)(struct ways *w, struct conv_plan *p, enum by by,
	    struct choice *c);
	/* struct stopwatch's (worth.h). */
	double (*norm)(struct ways *w, const struct conv_shape *s,
	    enum norm_part part);
};

/* choose_conv(w, s): the driver's conv_new. */
struct conv_plan *choose_conv(struct ways *w, const struct conv_shape *s);

#endif
