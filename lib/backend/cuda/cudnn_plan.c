/*
 * Convolution plans of cuDNN: filters and builds the suggestions of its
 * heuristics.
 */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cudnn_plan.h"
#include "base/fail.h"

/*
 * Limit of the workspace if any plan keeps it.  The smallest of cuDNN's first
 * suggestions need 0; those that convert the layout need the size of the
 * tensors.
 */
#define WORKSPACE_MAX	((int64_t)256 << 20)
enum { SUGGESTIONS = 100 };

/*
 * Build a plan with the description of the device, if it has no handle
 * (runtime_open_described) or if cuDNN refuses plans with the handle.
 */
static void
cudnn_plan_set_device(struct cudnn_builder *m, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t described)
{
	if (!m->r->with_handle)
		cudnn_builder_set_part(m, d, described, m->r->device_props);
}

/* ---- engines and knobs ---- */

/* Read the engine and knobs of a configuration into ${c}. */
static void
cudnn_plan_choice_of(struct cudnn_builder *m, cudnnBackendDescriptor_t config,
    struct engine_config *c)
{
	cudnnBackendDescriptor_t knob[CONV_KNOBS], engine;
	int64_t n;

	*c = (struct engine_config){ .engine = -1 };
	engine = cudnn_builder_create(m, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnn_builder_get(m, config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
	cudnn_builder_get(m, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    CUDNN_TYPE_INT64, 1, &c->engine);
	for (int i = 0; i < CONV_KNOBS; i++)
		knob[i] = cudnn_builder_create(m,
		    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	n = cudnn_builder_get(m, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, CONV_KNOBS, knob);
	for (int i = 0; i < n; i++) {
		cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)0;

		cudnn_builder_get(m, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
		    CUDNN_TYPE_KNOB_TYPE, 1, &type);
		c->knob[i] = (int64_t)type;
		cudnn_builder_get(m, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
		    CUDNN_TYPE_INT64, 1, &c->value[i]);
	}
	c->knobs = (int)n;
}

/* Return the configuration of the engine and knobs of ${c}. */
static cudnnBackendDescriptor_t
cudnn_plan_config_of(struct conv_plan *p, const struct engine_config *c)
{
	struct cudnn_builder *m = p->m;
	cudnnBackendDescriptor_t engine, knob[CONV_KNOBS], config;

	engine = cudnn_builder_create(m, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnn_builder_set_part(m, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
	    p->graph);
	cudnn_builder_set_int(m, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    c->engine);
	cudnn_plan_set_device(m, engine, CUDNN_ATTR_ENGINE_DEVICEPROP);
	cudnn_builder_finish(m, engine);
	for (int i = 0; i < c->knobs; i++) {
		cudnnBackendKnobType_t type =
		    (cudnnBackendKnobType_t)c->knob[i];

		knob[i] = cudnn_builder_create(m,
		    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
		cudnn_builder_set(m, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
		    CUDNN_TYPE_KNOB_TYPE, 1, &type);
		cudnn_builder_set_int(m, knob[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, c->value[i]);
		cudnn_builder_finish(m, knob[i]);
	}
	config = cudnn_builder_create(m, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	cudnn_builder_set_part(m, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	if (c->knobs > 0)
		cudnn_builder_set(m, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, c->knobs, knob);
	cudnn_builder_finish(m, config);
	return config;
}

/*
 * Return 1 if an engine may be used, by the notes that it declares.  Sums must
 * be fp32 and in one order.  Winograd and FFT transforms lose precision.  fp32
 * operands must not be rounded to TF32, so fp32 excludes tensor cores.  Engines
 * that are compiled at run time take seconds each, and none is needed.
 */
static int
cudnn_plan_may_be_used(struct cudnn_builder *m, cudnnBackendDescriptor_t config,
    const struct conv_shape *s)
{
	cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
	cudnnBackendBehaviorNote_t does[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
	cudnnBackendDescriptor_t engine;
	int64_t n;

	engine = cudnn_builder_create(m, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnn_builder_get(m, config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
	n = cudnn_builder_get(m, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, note);
	for (int i = 0; i < n; i++)
		switch (note[i]) {
		case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
		case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
		case CUDNN_NUMERICAL_NOTE_FFT:
		case CUDNN_NUMERICAL_NOTE_WINOGRAD:
			return 0;
		case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
		case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
			if (s->type == GPU_F32)
				return 0;
			break;
		default:
			break;
		}
	n = cudnn_builder_get(m, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
	    CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, does);
	for (int i = 0; i < n; i++)
		if (does[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
			return 0;
	return 1;
}

/* ---- plans ---- */

/*
 * Finish p->plan with a configuration.  Return -1 if cuDNN refuses it or if it
 * needs a workspace above ${largest}; 0: no limit.
 */
static int
cudnn_plan_finish(struct conv_plan *p, cudnnBackendDescriptor_t config,
    int64_t largest)
{
	struct cudnn_builder *m = p->m;
	int64_t bytes = 0;

	p->plan = cudnn_builder_create(m,
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	if (m->r->with_handle)
		cudnn_builder_set(m, p->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
		    CUDNN_TYPE_HANDLE, 1, &m->r->handle);
	cudnn_plan_set_device(m, p->plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
	cudnn_builder_set_part(m, p->plan,
	    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	cudnn_builder_finish(m, p->plan);
	cudnn_builder_get(m, p->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
	    CUDNN_TYPE_INT64, 1, &bytes);
	if (m->wrong || (largest > 0 && bytes > largest))
		return -1;
	p->workspace = (size_t)bytes;
	return 0;
}

int
cudnn_plan_of_choice(struct conv_algorithms *w, struct conv_plan *p,
    const struct engine_config *c)
{
	(void)w;
	cudnn_builder_drop(p->m, p->kept);
	if (cudnn_plan_finish(p, cudnn_plan_config_of(p, c), 0) != 0) {
		cudnn_builder_drop(p->m, p->kept);
		return -1;
	}
	p->choice = *c;
	return 0;
}

/*
 * Store the suggestions of one heuristic mode in c[SUGGESTIONS].  Return their
 * number.
 */
static int
cudnn_plan_suggestions(struct conv_plan *p, cudnnBackendHeurMode_t mode,
    cudnnBackendDescriptor_t *c)
{
	struct cudnn_builder *m = p->m;
	cudnnBackendDescriptor_t h = cudnn_builder_create(m,
	    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	int64_t n;

	cudnn_builder_set_part(m, h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
	    p->graph);
	cudnn_builder_set(m, h, CUDNN_ATTR_ENGINEHEUR_MODE,
	    CUDNN_TYPE_HEUR_MODE, 1, &mode);
	cudnn_plan_set_device(m, h, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
	cudnn_builder_finish(m, h);
	n = cudnn_builder_get(m, h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, NULL);
	n = n > SUGGESTIONS ? SUGGESTIONS : n;
	for (int i = 0; i < n; i++)
		c[i] = cudnn_builder_create(m,
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	return n == 0 ? 0 : (int)cudnn_builder_get(m, h,
	    CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, c);
}

/*
 * Store up to ${largest} usable suggestions in ${c}, best first, whose
 * workspace is at most ${bound}; 0: no limit. Return their number.
 */
static int
cudnn_plan_search(struct conv_plan *p, int64_t bound, struct engine_config *c,
    int largest)
{
	static const cudnnBackendHeurMode_t mode[] = { CUDNN_HEUR_MODE_A,
		CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK };
	cudnnBackendDescriptor_t config[SUGGESTIONS];
	int found = 0, kept = p->m->n;

	for (size_t k = 0; k < sizeof(mode) / sizeof(mode[0]); k++) {
		int n = cudnn_plan_suggestions(p, mode[k], config),
		    all = p->m->n;

		for (int i = 0; i < n && found < largest; i++) {
			if (cudnn_plan_may_be_used(p->m, config[i], &p->s) &&
			    cudnn_plan_finish(p, config[i], bound) == 0)
				cudnn_plan_choice_of(p->m, config[i],
				    &c[found++]);
			cudnn_builder_drop(p->m, all);
		}
		cudnn_builder_drop(p->m, kept);
		if (found == largest)
			break;
	}
	return found;
}

int
cudnn_plan_candidates(struct conv_algorithms *w, struct conv_plan *p,
    struct engine_config *c, int largest)
{
	int n = cudnn_plan_search(p, WORKSPACE_MAX, c, largest);

	(void)w;
	return n > 0 ? n : cudnn_plan_search(p, 0, c, 1);
}
