#ifndef BACKEND_PARAMETERS_H
#define BACKEND_PARAMETERS_H

/*
 * What a device does to parameters, to their gradients and to what is kept
 * beside them: sums, sums of squares, steps of optimisers, and the verdict on
 * whether a step is to be made.  All of them are flat buffers of elements, in
 * memory of the device (backend/backend.h).
 */

#include <stddef.h>
#include <stdint.h>

struct device;
struct outcome;

/* Elements of a flat buffer. */
struct interval { size_t at, n; };

/*
 * The elements of one parameter that a rank owns, as a row of a table, so that
 * a device has one thing to do for all parameters, and not as many as there
 * are.  What differs from step to step is no part of the table: a device that
 * is apart has it in its own memory, and is sent it again when it is another.
 */
struct portion {
	size_t at, n;			/* elements of weights and gradients */
	size_t held;			/* the first, of what is only kept of
					 * elements that are owned */
	size_t of;			/* number of the parameter */
	double factor[2];		/* on learning rate and decay; or, of
					 * what is tracked, on rate and scale */
};

/*
 * The structures below have a list of ${portions} portions, and their buffers
 * begin with element 0; or none, and then they are about ${n} elements as they
 * lie, of no factor.
 *
 * ${scale} 0: the scale of the verdict that is obeyed.
 */

/* How the ratio of a layer goes into a step: with the learning rate; with what is
 * added to the momentum; or with that, and the learning rate, too. */
enum ratio_use { RATIO_RATE, RATIO_GRADIENT, RATIO_STEP };

/*
 * A step of stochastic gradient descent: with d = scale g + decay w and
 * m = momentum m + d, w -= lr m, or with Nesterov lr (d + momentum m).
 */
struct update {
	void *w, *m;			/* weights and momentum; m NULL: there
					 * is none, m = d; m is of what is held */
	const void *g;			/* gradient */
	size_t n;
	double lr, momentum, decay;
	double scale;			/* the gradient is multiplied by it */
	int nesterov;
	enum ratio_use use;
	const double *ratio;		/* [parameters], of the device's; NULL:
					 * all are 1 */
	const struct portion *portion;
	size_t portions;
};

/*
 * Moments of a gradient, and the direction that follows from them (Kingma and
 * Ba 2015, algorithm 1): with d = scale g, m += (1 - beta1) (d - m) and
 * v += (1 - beta2) (d^2 - v),
 * g = m / rest1 / (sqrt(v / rest2) + eps) + decay w.
 */
struct moments {
	const void *w;			/* weights */
	void *m, *v;			/* mean and mean square of gradients, of
					 * what is held */
	void *g;			/* the gradient becomes the direction */
	size_t n;
	double beta1, beta2, eps, decay, scale;
	double rest1, rest2;		/* 1 - beta^t after t steps */
	const struct portion *portion;
	size_t portions;
};

/* What is above ${most} / ${scale} becomes that, and what is below minus that. */
struct clamp {
	void *x;
	size_t n;
	double most, scale;
	const struct portion *portion;
	size_t portions;
};

/* w += rate (x scale - w): running statistics, and averages. */
struct track {
	void *w;			/* of what is held */
	const void *x;
	size_t n;
	double rate, scale;
	const struct portion *portion;
	size_t portions;
};

/*
 * sum += x, n elements; from any thread, also during other work.  ${device}
 * is a struct device, of any type so that the exchange can be given it.
 */
void device_add(void *device, void *sum, const void *x, size_t n);

void device_update(struct device *d, const struct update *u);
void device_moments(struct device *d, const struct moments *m);
void device_clamp(struct device *d, const struct clamp *c);
void device_track(struct device *d, const struct track *t);

/*
 * Sums of squares: ${sum}[i] of the elements of ${part}[i], for each of
 * ${parts}, in an order fixed by its length alone.  Into host memory.
 */
void device_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts);

/* ---- what a device finds out by itself, so that nobody waits in between ---- */

/* Sums of squares as those of device_squares, of which each parameter has some,
 * are added up in their order; the order decides the bits. */
struct addends {
	const struct interval *part;
	size_t parts;
	const size_t *first;		/* [params + 1] of each parameter */
	size_t params;
};

/* Whether a step is to be made; or what is not finite.  VERDICT_LOSS: or what a
 * rank would rather look at first. */
enum verdict_kind { VERDICT_STEP, VERDICT_LOSS, VERDICT_GRADIENT,
    VERDICT_STATISTICS };
struct verdict {
	int32_t what;
	int32_t statistics;		/* these are finite */
	double norm;			/* of all trained gradients */
	double scale;			/* what the gradient is multiplied by in
					 * the update */
};

enum judged { JUDGED_NOT, JUDGED_TRAINED, JUDGED_STATISTICS };
struct judgement {
	const void *g;			/* the gradient */
	struct addends of;
	const char *kind;		/* [params] enum judged */
	double scale;			/* of the gradient and its norm */
	double clip;			/* the largest norm; 0: any */
	const struct outcome *outcome;	/* of the device's: losses, none of which
					 * may be beyond ${most}, nor NaN */
	size_t outcomes;
	double most;
	const float *lost;		/* of the device's: must be 0; NULL:
					 * there is nothing of the kind */
};

/*
 * The ratio of a layer, by how much longer or shorter its step is than without,
 * from the norms of its weights w and of its mean gradient, or direction, d;
 * train/optim/optimizer.c has the sources.  Formulas: backend/formulas.h.
 */
enum ratio_kind { RATIO_NONE, RATIO_LARS, RATIO_LAMB };
struct ratio_rule {
	enum ratio_kind kind;
	double trust;			/* LARS' coefficient */
	int clip;			/* no ratio enlarges a step */
};

/* A parameter: its factors on learning rate and decay; has 0: its ratio is 1. */
struct layer { double factor[2]; size_t has; };

struct ratios {
	const void *w, *d;
	struct addends of;
	const struct layer *layer;	/* [params] */
	struct ratio_rule rule;
	double lr, decay, scale;	/* scale: of d; 0: as above */
	double *ratio;			/* [params] written, of the device's */
};

/*
 * device_judges(d): it can do these.
 * device_judge(d, v, j): into ${v}, of the device's memory; nobody waits.
 * device_obey(d, v): from now on device_update, device_moments, device_clamp and
 * device_track do something only if ${v} is VERDICT_STEP then; NULL: always.
 * device_ratios(d, r): nobody waits.
 * device_lost(d, lost, o, n, most, other): ${*lost}, of the device's, becomes 1 if
 * one of the ${n} losses ${o} is beyond ${most} or NaN, or for an ${other} reason;
 * else 0.  Ranks add it up.
 */
int device_judges(const struct device *d);
void device_judge(struct device *d, struct verdict *v,
    const struct judgement *j);
void device_obey(struct device *d, const struct verdict *v);
void device_ratios(struct device *d, const struct ratios *r);
void device_lost(struct device *d, float *lost, const struct outcome *o,
    size_t n, double most, int other);

#endif
