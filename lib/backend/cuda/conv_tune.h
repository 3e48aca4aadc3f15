#ifndef BACKEND_CUDA_CONV_TUNE_H
#define BACKEND_CUDA_CONV_TUNE_H

/* Selection of the fastest algorithm of a convolution by timing. */

#include "backend/cuda/conv_select.h"

/*
 * conv_tune(w, p, s, c):
 * Select the fastest algorithm for the plan ${p} of shape ${s}, and store it
 * with its seconds in ${*c}.  Leave out algorithms whose results are wrong or
 * differ between two runs, and name them in a detail message.  Return -1 if
 * there is none or if memory is exhausted.
 *
 * conv_tune_norm(w, s, part):
 * Return the measured seconds of one kernel of a norm, or 0 (norm of struct
 * fusion_times, fusion_cost.h).
 */
int conv_tune(struct conv_algorithms *w, struct conv_plan *p,
    const struct conv_shape *s, struct engine_config *c);
double conv_tune_norm(struct conv_algorithms *w, const struct conv_shape *s,
    enum norm_part part);

#endif
