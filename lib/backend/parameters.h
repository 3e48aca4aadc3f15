#ifndef BACKEND_PARAMETERS_H
#define BACKEND_PARAMETERS_H

/*
 * Operations of a device on parameters, their gradients and the optimizer
 * state: sums, sums of squares, optimizer updates, and the found_inf check,
 * which skips a step that is not finite (torch.amp.GradScaler).  All operands
 * are flat buffers of elements in device memory (backend/backend.h), unless a
 * comment says otherwise.
 */

#include <stddef.h>
#include <stdint.h>

struct device;
struct outcome;

/* Elements of a flat buffer: ${n} from ${at}. */
struct interval { size_t at, n; };

/*
 * The elements of one parameter that a rank owns (an owned shard), as a row of
 * a table.  With the table a device updates all parameters in one kernel
 * launch.  The table holds nothing that changes between steps: a discrete
 * device keeps a copy and uploads it only if it differs.
 */
struct owned_shard {
	size_t at, n;			/* elements of weights and gradients */
	/*
	 * First element in buffers that exist for owned elements only: the
	 * optimizer state.
	 */
	size_t state_at;
	size_t param;			/* number of the parameter */
	/*
	 * The learning rate of the update is multiplied by factor[0], its decay
	 * by factor[1].  In struct track they multiply rate and scale.
	 */
	double factor[2];
};

/*
 * The structures below have a list of ${shards} portions, whose offsets count
 * from element 0 of the buffers.  If ${shards} is 0, they apply to ${n}
 * elements without factors.
 *
 * ${scale} 0 means: use the scale of the verdict that device_step_guard has
 * set.
 */

/*
 * Factor that a layer's trust ratio multiplies: the learning rate; the gradient
 * with its decay, before the momentum; or the gradient together with the
 * learning rate.
 */
enum ratio_use { RATIO_RATE, RATIO_GRADIENT, RATIO_STEP };

/*
 * SGD with momentum.  With d = scale g + decay w:
 *
 *	m = momentum m + d
 *	w -= lr m, or with Nesterov lr (d + momentum m)
 */
struct update {
	/*
	 * w: weights.  m: momentum of the owned elements, or NULL for an
	 * update without momentum, in which m = d.
	 */
	void *w, *m;
	const void *g;			/* gradient */
	size_t n;
	double lr, momentum, decay;
	double scale;			/* multiplies the gradient */
	int nesterov;
	enum ratio_use use;
	const double *ratio;		/* [parameters] trust ratios; NULL: 1 */
	const struct owned_shard *shard;
	size_t shards;
};

/*
 * Moments of a gradient and the resulting direction (Kingma and Ba 2015, Adam,
 * algorithm 1).  With d = scale g:
 *
 *	m += (1 - beta1) (d - m)
 *	v += (1 - beta2) (d^2 - v)
 *	g = m / bias_correction1 / (sqrt(v / bias_correction2) + eps) +
 *	    decay w
 */
struct moments {
	const void *w;			/* weights */
	/* Mean of the gradients and of their squares, for held elements. */
	void *m, *v;
	void *g;			/* gradient; becomes the direction */
	size_t n;
	double beta1, beta2, eps, decay, scale;
	/* bias_correction1 and 2: 1 - beta^t in step t. */
	double bias_correction1, bias_correction2;
	const struct owned_shard *shard;
	size_t shards;
};

/* Limit x to the range -most / scale to most / scale. */
struct clamp {
	void *x;
	size_t n;
	double max, scale;
	const struct owned_shard *shard;
	size_t shards;
};

/* w += rate (scale x - w): running statistics, and averages of weights. */
struct track {
	void *w;			/* held elements */
	const void *x;
	size_t n;
	double rate, scale;
	const struct owned_shard *shard;
	size_t shards;
};

/*
 * device_add(device, sum, x, n):
 * Add ${n} elements: sum += x, in stream order.  Any thread may call it, also
 * during other work.  ${device} is a struct device; the type lets the
 * collectives call it.
 */
void device_add(void *device, void *sum, const void *x, size_t n);

/*
 * device_update(d, u): execute the SGD update ${u}.
 *
 * device_moments(d, m): compute the Adam direction of ${m}.
 *
 * device_clamp(d, c): limit the elements of ${c}.
 *
 * device_track(d, t): update the moving averages of ${t}.
 *
 * Each works in stream order, and copies its tables before it returns.
 */
void device_update(struct device *d, const struct update *u);
void device_moments(struct device *d, const struct moments *m);
void device_clamp(struct device *d, const struct clamp *c);
void device_track(struct device *d, const struct track *t);

/*
 * A group of struct backend: its part of the functions above, and
 * device_squares.
 */
struct param_ops {
	/* 1 if update, moments, clamp and track take lists of shards. */
	int takes_shards;
	void (*add)(struct device *d, void *sum, const void *x, size_t n);
	void (*update)(struct device *d, const struct update *u);
	void (*moments)(struct device *d, const struct moments *m);
	void (*clamp)(struct device *d, const struct clamp *c);
	void (*track)(struct device *d, const struct track *t);
	/*
	 * Store the sum of squares of the elements of ${part}[i] in ${sum}[i],
	 * [parts] in host memory.  The order of the additions depends only on
	 * the length of a part.  The sums are complete on return.
	 */
	void (*squares)(struct device *d, double *sum, const void *x,
	    const struct interval *part, size_t parts);
};

#define device_squares(d, ...)	((d)->backend->param->squares(d, __VA_ARGS__))

/* ---- the found_inf check on the device, without a wait of the host ---- */

/*
 * Norm blocks: intervals whose sums of squares are added up, in order, to one
 * sum for each parameter.  The order determines the bits.
 */
struct block_sums {
	const struct interval *part;
	size_t parts;
	const size_t *first;		/* [params + 1] first block of each */
	size_t params;
};

/*
 * Result of the check: update, or skip the step because of a loss, the gradient
 * or the statistics.  STEP_CHECK_LOSS also means that a rank defers the step to
 * inspect it first.
 */
enum step_check_kind { STEP_CHECK_STEP, STEP_CHECK_LOSS, STEP_CHECK_GRADIENT,
    STEP_CHECK_STATISTICS };
struct step_check {
	int32_t kind;			/* enum step_check_kind */
	int32_t statistics;		/* 1 if the statistics are finite */
	double norm;			/* of all trained gradients */
	double scale;			/* multiplies the gradient in the
					 * update */
};

/*
 * Treatment of a parameter: ignore it, or check its gradient or its statistics.
 */
enum check_kind { CHECK_NONE, CHECK_TRAINED, CHECK_STATISTICS };
/* Arguments of the found_inf check. */
struct step_check_args {
	const void *g;			/* gradient, or statistics of the
					 * step */
	struct block_sums of;		/* blocks of all parameters */
	const char *kind;		/* [params] enum check_kind */
	double scale;			/* of the gradient and its norm */
	double clip;			/* maximal norm; 0: no limit */
	/*
	 * Losses in device memory, [outcomes].  The step is skipped if one
	 * exceeds ${max_loss} in magnitude or is NaN.
	 */
	const struct outcome *outcome;
	size_t outcomes;
	double max_loss;
	/*
	 * found_inf flag, all-reduced, in device memory.  The step is skipped
	 * if it is not 0.  NULL: not used.
	 */
	const float *found_inf;
};

/*
 * Trust ratio of a layer: factor of the length of its step, from the norm w of
 * its weights and the norm d of its mean gradient or direction.  Sources:
 * train/optim/optimizer.c.  Formulas: backend/formulas.h.
 */
enum ratio_kind { RATIO_NONE, RATIO_LARS, RATIO_LAMB };
struct ratio_rule {
	enum ratio_kind kind;
	double trust;			/* LARS coefficient */
	int clip;			/* 1: no ratio enlarges a step */
};

/*
 * A parameter: factors of learning rate and decay; ${has_ratio} 0: its ratio is
 * 1.
 */
struct layer { double factor[2]; size_t has_ratio; };

/*
 * Arguments of device_ratios: buffers of weights and of gradients or
 * directions.
 */
struct ratios {
	const void *w, *d;
	struct block_sums of;
	const struct layer *layer;	/* [params] */
	struct ratio_rule rule;
	double lr, decay, scale;	/* scale: of d; 0: of the verdict */
	double *ratio;			/* [params] result, in device memory */
};

/*
 * A device that decides by itself whether to skip a step: a group of struct
 * backend.  Its functions are asynchronous: the host does not wait for their
 * results.
 */
struct step_check_ops {
	/*
	 * Check a step by formula_step_check_of (backend/formulas.h) and write
	 * the result to ${v}, in device memory.
	 */
	void (*check)(struct device *d, struct step_check *v,
	    const struct step_check_args *j);
	/*
	 * Make later device_update, device_moments, device_clamp and
	 * device_track do nothing unless ${v}, in device memory, is
	 * STEP_CHECK_STEP when they run.  NULL: always execute them.
	 */
	void (*guard)(struct device *d, const struct step_check *v);
	/* Compute the trust ratios of ${r}. */
	void (*ratios)(struct device *d, const struct ratios *r);
	/*
	 * Set the found_inf flag ${*lost}, in device memory, to 1 or 0.  It is
	 * 1 if ${other} is not 0, or if one of the ${n} losses ${o} is NaN or
	 * exceeds ${largest} in magnitude.  The caller all-reduces it as a sum.
	 */
	void (*flag_losses)(struct device *d, float *lost,
	    const struct outcome *o, size_t n, double largest, int other);
};

/* The others only if device_has_step_check is 1. */
#define device_has_step_check(d) ((d)->backend->check != NULL)
#define device_step_check(d, ...) ((d)->backend->check->check(d, __VA_ARGS__))
#define device_step_guard(d, v)	((d)->backend->check->guard(d, v))
#define device_ratios(d, r)	((d)->backend->check->ratios(d, r))
#define device_flag_losses(d, ...) \
	((d)->backend->check->flag_losses(d, __VA_ARGS__))

#endif
