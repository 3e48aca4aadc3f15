#ifndef BACKEND_CUDA_CUDNN_PLAN_H
#define BACKEND_CUDA_CUDNN_PLAN_H

/*
 * Convolution plans of cuDNN.  An engine and its knobs determine a plan, so
 * they are what the algorithm cache stores (conv_cache.h).
 */

#include "backend/cuda/conv_cache.h"
#include "backend/cuda/cudnn_graph.h"

struct conv_plan {
	struct conv_shape s;
	char key[CONV_KEY];			/* the shape as text */
	struct cudnn_builder *m;		/* owns graph and plan */
	int kept;				/* descriptors of m that are the
						 * graph */
	cudnnBackendDescriptor_t graph, plan;
	struct engine_config choice;
	size_t workspace;
	struct cudnn_builder *binds;		/* owns pack; NULL before the
						 * first run */
	cudnnBackendDescriptor_t pack;	/* variant pack: tensors bound to
					 * memory */
	void *bound[4];			/* addresses in pack: x, w, y,
					 * workspace */
};

/*
 * cudnn_plan_of_choice(w, p, c):
 * Finish p->plan for the engine and knobs of ${c}.  Return -1 without a message
 * if cuDNN refuses them.
 *
 * cudnn_plan_candidates(w, p, c, largest):
 * Store the first ${largest} usable suggestions in ${c}.  Return their number.
 * If all need more than 256 MiB of workspace, store only the first one.
 *
 * Both are functions of struct conv_algorithms, and do not use ${w}.
 */
int cudnn_plan_of_choice(struct conv_algorithms *w, struct conv_plan *p,
    const struct engine_config *c);
int cudnn_plan_candidates(struct conv_algorithms *w, struct conv_plan *p,
    struct engine_config *c, int largest);

/*
 * cudnn_plan_run(p, s, at):
 * Submit the plan to stream ${s} with x, w, y and the workspace at ${at}.
 * Return NULL, or the reason why cuDNN refused it.  The text is valid until the
 * next call.
 */
const char *cudnn_plan_run(struct conv_plan *p, cudaStream_t s,
    void *const at[4]);

#endif
