#ifndef BACKEND_CUDA_CONV_SELECT_H
#define BACKEND_CUDA_CONV_SELECT_H

/*
 * Selection of the algorithm of a convolution, once for each shape.  The first
 * rule that applies decides: the selection recorded for this run; if
 * algorithms are measured, a known measurement, else timing; the heuristics of
 * cuDNN.
 */

#include "backend/cuda/conv_cache.h"
#include "backend/cuda/driver.h"

/* The algorithms of a driver.  Each function is given this structure. */
struct conv_algorithms {
	struct driver *driver;
	struct conv_cache *choices;
	int measures;			/* 1: time algorithms of new shapes */
	/* Write the cache key of ${s}. */
	void (*key)(const struct conv_shape *s, char key[CONV_KEY]);
	/*
	 * open: return a plan without an algorithm, or NULL after a message.
	 * close: free it.
	 */
	struct conv_plan *(*open)(struct conv_algorithms *w,
	    const struct conv_shape *s);
	void (*close)(struct conv_algorithms *w, struct conv_plan *p);
	/*
	 * candidates: store at most ${max} usable algorithms of ${p} in ${c},
	 * best first by the heuristics of the driver.  Return their number.
	 * use: select algorithm ${c} for ${p}.  Return -1 without a message if
	 * the driver refuses it.
	 */
	int (*candidates)(struct conv_algorithms *w, struct conv_plan *p,
	    struct engine_config *c, int max);
	int (*use)(struct conv_algorithms *w, struct conv_plan *p,
	    const struct engine_config *c);
	/*
	 * For timing (conv_tune.c).
	 * run: submit ${p} with x, w, y and workspace at ${at}.  Return -1
	 * without a message if the driver refuses it.
	 * seconds: return the seconds that the device takes for what
	 * work(arg) submits to ${stream}, or -1 if it fails.  NULL: no
	 * device, and nothing is measured.
	 * busy: bytes of a fill that takes the device longer than the host
	 * takes for a few launches; 0: launches take the host no time.
	 */
	int (*run)(struct conv_algorithms *w, struct conv_plan *p,
	    struct gpu_stream *stream, void *const at[4]);
	double (*seconds)(struct conv_algorithms *w, struct gpu_stream *stream,
	    int (*work)(void *arg), void *arg);
	size_t busy;
	/* conv_tune; a test may have another. */
	int (*tune)(struct conv_algorithms *w, struct conv_plan *p,
	    const struct conv_shape *s, struct engine_config *c);
};

/* conv_select(w, s): implement conv_new of struct driver_calls (driver.h). */
struct conv_plan *conv_select(struct conv_algorithms *w,
    const struct conv_shape *s);

/*
 * conv_tune(w, p, s, c):
 * Select the fastest algorithm for the plan ${p} of shape ${s}, and store it
 * with its seconds in ${*c}.  Leave out algorithms whose results are wrong or
 * differ between two runs, and name them in a detail message.  Return -1 if
 * there is none or if memory is exhausted.
 */
int conv_tune(struct conv_algorithms *w, struct conv_plan *p,
    const struct conv_shape *s, struct engine_config *c);

/*
 * conv_select_bytes(s, which): return the bytes of x, w or y for ${which} 0, 1
 * or 2.
 */
size_t conv_select_bytes(const struct conv_shape *s, int which);

#endif
