#ifndef BACKEND_CUDA_CUDNN_PLAN_H
#define BACKEND_CUDA_CUDNN_PLAN_H

/*
 * Convolution plans of cuDNN.  An engine and its knobs determine a plan, so
 * they are what the algorithm cache stores (conv_cache.h).
 */

#include "backend/cuda/conv_cache.h"
#include "backend/cuda/cudnn_graph.h"
#include "backend/cuda/norm.h"

struct conv_plan {
	struct conv_shape s;
	char key[CONV_KEY];			/* the shape as text */
	struct cudnn_builder *m;		/* owns graph and plan */
	cudnnBackendDescriptor_t graph, plan;
	struct choice choice;
	size_t workspace;
	struct cudnn_builder *binds;		/* owns pack; NULL before the first
					 * run */
	cudnnBackendDescriptor_t pack;	/* variant pack: tensors bound to
					 * memory */
	void *bound[BINDS + 1];		/* addresses in pack: operands in the
					 * order of graph_bind_list, then
					 * workspace */
};

/*
 * plan_by_rule(p):
 * Select the first usable suggestion of cuDNN's heuristics and finish p->plan.
 * Return -1 if there is none, after a message unless ${p} is of a fused
 * pattern.
 *
 * plan_of_choice(p, c):
 * Finish p->plan for the engine and knobs of ${c}.  Return -1 without a message
 * if cuDNN refuses them.
 *
 * plan_candidates(p, c, largest):
 * Store the first ${largest} usable suggestions in ${c}.  Return their number.
 * If all need more than 256 MiB of workspace, store only the first one.
 */
int plan_by_rule(struct conv_plan *p);
int plan_of_choice(struct conv_plan *p, const struct choice *c);
int plan_candidates(struct conv_plan *p, struct choice *c, int largest);

/*
 * plan_by_timing(p):
 * Select the fastest candidate by timing on the device.  Otherwise like
 * plan_by_rule.
 *
 * norm_by_timing(r, s, part):
 * Return the measured seconds of one kernel of a norm, or 0 (norm of struct
 * stopwatch, fusion_cost.h).
 */
int plan_by_timing(struct conv_plan *p);
double norm_by_timing(struct runtime *r, const struct conv_shape *s,
    enum norm_part part);

/*
 * plan_run(p, s, at, beside):
 * Submit the plan to stream ${s} with x, w, y and the workspace at ${at}.
 * Return NULL, or the reason why cuDNN refused it.  The text is valid until the
 * next call.
 */
const char *plan_run(struct conv_plan *p, cudaStream_t s, void *const at[4],
    const struct conv_operands *beside);

#endif
