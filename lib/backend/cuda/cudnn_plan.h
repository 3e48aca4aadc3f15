#ifndef BACKEND_CUDA_CUDNN_PLAN_H
#define BACKEND_CUDA_CUDNN_PLAN_H

/*
 * How cuDNN does a convolution: an engine and its knobs.  These two make the
 * same plan again, so they are what is remembered (choices.h).
 */

#include "backend/cuda/choices.h"
#include "backend/cuda/cudnn_graph.h"
#include "backend/cuda/norm.h"

struct conv_plan {
	struct conv_shape s;
	char key[KEY];			/* the shape in words */
	struct maker *m;
	cudnnBackendDescriptor_t graph, plan;
	struct choice choice;
	size_t workspace;
	struct maker *binds;		/* of what follows; NULL: nothing yet */
	cudnnBackendDescriptor_t pack;	/* the tensors bound to memory */
	void *bound[BINDS + 1];		/* as pattern_binds has it, and workspace */
};


/*
 * plan_by_rule(p): the first of cuDNN's suggestions that may be used.
 * plan_of_choice(p, c): that one.  Both finish p->plan; -1 if there is none,
 * which only the second leaves unsaid, and both of a pattern.
 * plan_candidates(p, c, most): the first ${most} that may be used; how many.
 */
int plan_by_rule(struct conv_plan *p);
int plan_of_choice(struct conv_plan *p, const struct choice *c);
int plan_candidates(struct conv_plan *p, struct choice *c, int most);

/* plan_by_timing(p): the fastest of them, on the device; as plan_by_rule.
 * norm_by_timing(r, s, part): struct stopwatch's norm (worth.h). */
int plan_by_timing(struct conv_plan *p);
double norm_by_timing(struct runtime *r, const struct conv_shape *s,
    enum norm_part part);

/* plan_run(p, s, at, beside): with x, w, y and the workspace at ${at}; why it was
 * refused, or NULL. */
const char *plan_run(struct conv_plan *p, cudaStream_t s, void *const at[4],
    const struct conv_beside *beside);

#endif
