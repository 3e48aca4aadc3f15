#ifndef TRAIN_MODES_H
#define TRAIN_MODES_H

/*
 * The modes of a run, and which of them can be combined.  The modes are a set
 * of bits, derived from the options, the device and the ranks.  One table of
 * rules refuses combinations or makes a mode fall back.  Modes without a text
 * only refine others and are not printed.
 *
 * DEVICE_CHECK: the device checks whether a step is finite.  EARLY_UPDATE: it
 * updates the weights after its own check, before the host knows the losses.
 */

#include <stdint.h>
#include <stdio.h>

#define MODE_LIST(X) \
	X(FAST, "fast sums") \
	X(ALLREDUCE, "chosen all-reduce") \
	X(ALLREDUCE_TABLE, "all-reduce table") \
	X(COMM_16, "16-bit sums") \
	X(SHARDED, "sharded optimizer") \
	X(RANKS, "several ranks") \
	X(SYNC_BN, "synchronized BN") \
	X(FP64, "fp64") \
	X(HOST_ALLREDUCE, NULL) \
	X(DEVICE_SUMS, "device sums") \
	X(DEVICE_CHECK, "device check") \
	X(EARLY_UPDATE, "early update") \
	X(LEARNERS, "learners") \
	X(ONE_LEARNER, NULL) \
	X(LEARNER_SETTING, NULL) \
	X(NOISE, "noise scale") \
	X(GROWTH, "batch growth") \
	X(GROWTH_SETTING, NULL) \
	X(SGD, NULL) \
	X(NESTEROV, "Nesterov momentum") \
	X(TRUST_RATIO, "trust ratios") \
	X(TRUST_CLIP, "clipped trust ratios") \
	X(CLIP_GRAD, "gradient norm clipping") \
	X(CLIP_VALUE, "gradient element clipping") \
	X(DYNAMIC_SCALE, "dynamic loss scale") \
	X(EMA, "EMA") \
	X(USE_EMA, "validation of the EMA") \
	X(AGGREGATED_BN, "aggregated BN") \
	X(PRECISE_BN, "precise BN") \
	X(MIXING, "mixing") \
	X(BALANCE, "balanced classes") \
	X(CLASS_WEIGHT, "class weights") \
	X(FOCAL, "focal loss") \
	X(FOCAL_GAMMA, NULL) \
	X(FLIP_SWAP, "flip swap") \
	X(NO_FLIP, NULL) \
	X(AUDIT, "audit") \
	X(ON_NAN, "skipped steps") \
	X(ON_CORRUPT, "skipped samples") \
	X(AUTOTUNE, "autotuning") \
	X(INIT, "initial weights") \
	X(INIT_PARTIAL, NULL) \
	X(RESUME, "resume from a file") \
	X(REPLAY, "replay") \
	X(REPLAY_STEPS, NULL) \
	X(OUTPUT, NULL) \
	X(DRY_RUN, NULL) \
	X(TIME, NULL) \
	X(PARITY, "parity")

#define MODE_ENUM(name, text) MODE_##name,
enum mode { MODE_LIST(MODE_ENUM) MODES };
_Static_assert(MODES <= 64, "a set of modes is a uint64_t");

/* A set of modes.  Initialize it with zeros. */
struct modes {
	uint64_t on;			/* bit 1 << mode of each mode that is
					 * on */
	const char *value[MODES];	/* value of the option, for messages; or
					 * NULL */
};

/*
 * modes_put(m, mode, on, value): switch ${mode} on or off.  ${value} may be
 * NULL and must outlive ${m}.
 */
void modes_put(struct modes *m, enum mode mode, int on, const char *value);

/*
 * modes_has(m, mode): return 1 if ${mode} is on, whether or not it falls back.
 */
int modes_has(const struct modes *m, enum mode mode);

/* modes_refused(m): return the message of the first rule that refuses this
 * combination, NULL if none does.  The caller frees it. */
char *modes_refused(const struct modes *m);

/*
 * modes_in_effect(m, mode): return 1 if ${mode} is on and does not fall back.
 */
int modes_in_effect(const struct modes *m, enum mode mode);

/*
 * modes_fallback(m, mode): return a text that says what replaces ${mode},
 * NULL if ${mode} is in effect or off.  Do not free it.
 */
const char *modes_fallback(const struct modes *m, enum mode mode);

/*
 * modes_print(m, f): print the modes in effect to ${f}, and a line for each
 * that falls back.  For a dry run, print the modes of the run that it plans.
 */
void modes_print(const struct modes *m, FILE *f);

#endif
