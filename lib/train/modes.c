/* The table of modes that cannot be combined. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "train/modes.h"

/*
 * A rule applies if ${mode} is on with all of ${with} and none of ${without}.
 * Modes that no rule names together can be combined.  ${why} is the message of
 * a refusal, in which %s is the value of ${mode}, or the text of a fallback.
 * The first rule that applies decides.  A mode that falls back is off for the
 * rules after it.
 */
struct mode_rule {
	enum mode mode;
	uint64_t with, without;
	enum { REFUSED, FALLS_BACK } what;
	const char *why;
};

#define ON(name) ((uint64_t)1 << MODE_##name)

static const struct mode_rule rules[] = {
	{ MODE_RESUME, ON(INIT), 0, REFUSED, "--init and --resume=%s: a run "
	    "begins from weights or continues a checkpoint (wanted one of "
	    "them)" },
	{ MODE_INIT_PARTIAL, 0, ON(INIT), REFUSED,
	    "--init-partial without --init=FILE" },
	{ MODE_NESTEROV, 0, ON(SGD), REFUSED,
	    "--nesterov and --optimizer=%s (it is for sgd)" },
	{ MODE_TRUST_CLIP, 0, ON(TRUST_RATIO), REFUSED, "--trust-clip and "
	    "--optimizer=%s (it is for lars, lars-outside and lamb)" },
	{ MODE_CLIP_GRAD, ON(CLIP_VALUE), 0, REFUSED,
	    "--clip-grad and --clip-value (wanted one of them)" },
	{ MODE_USE_EMA, 0, ON(EMA), REFUSED,
	    "--use-ema without --ema=DECAY: there is no average" },
	{ MODE_FOCAL_GAMMA, 0, ON(FOCAL), REFUSED, "--focal-gamma without "
	    "--loss=focal (a loss line of the network has gamma=)" },
	{ MODE_FLIP_SWAP, ON(NO_FLIP), 0, REFUSED,
	    "--flip-swap and --no-flip (wanted one of them)" },

	/* The exact sum prescribes its algorithm and dtype. */
	{ MODE_ALLREDUCE, 0, ON(FAST), REFUSED,
	    "--allreduce=%s is for --deterministic=fast (it is exact)" },
	{ MODE_ALLREDUCE_TABLE, 0, ON(FAST), REFUSED,
	    "--allreduce-table=%s is for --deterministic=fast (it is exact)" },
	{ MODE_COMM_16, 0, ON(FAST), REFUSED,
	    "--comm-dtype=%s is for --deterministic=fast (it is exact)" },
	{ MODE_COMM_16, ON(FP64), 0, REFUSED,
	    "--comm-dtype=%s is for gradients in fp32" },

	{ MODE_LEARNER_SETTING, 0, ON(LEARNERS), REFUSED,
	    "--%s without --learners=N" },
	{ MODE_NOISE, ON(ONE_LEARNER), 0, REFUSED, "--noise-scale of one "
	    "learner: it compares learners (wanted --learners=2 or more)" },
	{ MODE_GROWTH, ON(ONE_LEARNER), 0, REFUSED, "--batch-growth-max of one "
	    "learner: it compares learners (wanted --learners=2 or more)" },
	{ MODE_GROWTH_SETTING, 0, ON(GROWTH), REFUSED,
	    "--%s without --batch-growth-max=M" },
	/* Without learners, steps count only when their batch is complete. */
#define WHOLE_BATCHES "--batch-growth-max cannot be with --on-nan=skip or " \
	"--on-corrupt=skip: steps count only in whole batches"
	{ MODE_GROWTH, ON(ON_NAN), ON(LEARNERS), REFUSED, WHOLE_BATCHES },
	{ MODE_GROWTH, ON(ON_CORRUPT), ON(LEARNERS), REFUSED, WHOLE_BATCHES },
	{ MODE_GROWTH, ON(FAST), ON(LEARNERS), REFUSED, "--batch-growth-max "
	    "decides by norms in a fixed order (wanted "
	    "--deterministic=exact)" },

	{ MODE_TIME, 0, ON(DRY_RUN), REFUSED, "--time without --dry-run" },
	{ MODE_PARITY, ON(DRY_RUN), 0, REFUSED,
	    "--parity and --dry-run (wanted one of them)" },

	/* Both compare bits, which only the exact sum reproduces. */
	{ MODE_AUDIT, ON(FAST), 0, REFUSED,
	    "--audit is for --deterministic=exact (it is fast)" },
	{ MODE_REPLAY, ON(FAST), 0, REFUSED,
	    "--replay is for --deterministic=exact (it is fast)" },

	/*
	 * Ranks agree on learners only at averages, so no single step of a
	 * learner can be compared, skipped or rescaled.
	 */
#define NOT_OF_LEARNERS "--learners cannot be with --audit, --on-nan=skip or " \
	"--on-corrupt=skip"
	{ MODE_LEARNERS, ON(AUDIT), 0, REFUSED, NOT_OF_LEARNERS },
	{ MODE_LEARNERS, ON(ON_NAN), 0, REFUSED, NOT_OF_LEARNERS },
	{ MODE_LEARNERS, ON(ON_CORRUPT), 0, REFUSED, NOT_OF_LEARNERS },
	{ MODE_LEARNERS, ON(FAST), 0, REFUSED, "--learners: their mean is a "
	    "sum in a fixed order (wanted --deterministic=exact)" },
	{ MODE_LEARNERS, ON(DYNAMIC_SCALE), 0, REFUSED, "--learners: each "
	    "would have its own dynamic loss scale (wanted a number for "
	    "--loss-scale)" },

	{ MODE_REPLAY_STEPS, 0, ON(REPLAY), REFUSED,
	    "--replay-steps without --replay=RUN" },
#define REPLAY_COMPARES "--replay only compares (wanted no --output, " \
	"--dry-run or --parity)"
	{ MODE_REPLAY, ON(OUTPUT), 0, REFUSED, REPLAY_COMPARES },
	{ MODE_REPLAY, ON(DRY_RUN), 0, REFUSED, REPLAY_COMPARES },
	{ MODE_REPLAY, ON(PARITY), 0, REFUSED, REPLAY_COMPARES },

	{ MODE_AUTOTUNE, ON(DRY_RUN), 0, FALLS_BACK,
	    "algorithms by rule, as a dry run times none" },
	{ MODE_AUTOTUNE, ON(PARITY), 0, FALLS_BACK,
	    "algorithms by rule, as a comparison times none" },
	{ MODE_AUTOTUNE, ON(REPLAY), 0, FALLS_BACK,
	    "the algorithms of the run that is replayed" },
	{ MODE_DEVICE_SUMS, ON(LEARNERS), 0, FALLS_BACK,
	    "sums on the host, between learners" },
	{ MODE_DEVICE_SUMS, ON(FP64), 0, FALLS_BACK,
	    "sums on the host, as devices sum only fp32" },
	{ MODE_DEVICE_SUMS, ON(HOST_ALLREDUCE), 0, FALLS_BACK,
	    "sums on the host, by the algorithm of --allreduce" },
	{ MODE_DEVICE_CHECK, ON(RANKS) | ON(SHARDED), 0, FALLS_BACK,
	    "a check on the host, as each rank has a part of the gradient" },
#define UPDATE_WAITS "an update when the losses of all ranks are known"
	{ MODE_EARLY_UPDATE, ON(GROWTH), 0, FALLS_BACK,
	    "an update when the batch is complete" },
	{ MODE_EARLY_UPDATE, ON(RANKS), ON(DEVICE_CHECK), FALLS_BACK,
	    UPDATE_WAITS },
	{ MODE_EARLY_UPDATE, ON(RANKS), ON(DEVICE_SUMS), FALLS_BACK,
	    UPDATE_WAITS },
};

#define MODE_TEXT(name, text) [MODE_##name] = text,
static const char *const texts[MODES] = { MODE_LIST(MODE_TEXT) };

#define RULES (sizeof(rules) / sizeof(rules[0]))

static uint64_t
modes_bit(enum mode mode)
{
	return (uint64_t)1 << mode;
}

void
modes_put(struct modes *m, enum mode mode, int on, const char *value)
{
	m->on = on ? m->on | modes_bit(mode) : m->on & ~modes_bit(mode);
	m->value[mode] = value;
}

int
modes_has(const struct modes *m, enum mode mode)
{
	return (m->on & modes_bit(mode)) != 0;
}

static int
modes_applies(const struct mode_rule *r, int what, uint64_t on)
{
	return (int)r->what == what && (on & modes_bit(r->mode)) &&
	    (on & r->with) == r->with && !(on & r->without);
}

char *
modes_refused(const struct modes *m)
{
	const struct mode_rule *r = rules;
	const char *value;

	while (r < rules + RULES && !modes_applies(r, REFUSED, m->on))
		r++;
	if (r == rules + RULES)
		return NULL;
	if ((value = strstr(r->why, "%s")) == NULL)
		return xstrdup(r->why);
	return xprintf("%.*s%s%s", (int)(value - r->why), r->why,
	    text_quote(m->value[r->mode]), value + 2);
}

const char *
modes_fallback(const struct modes *m, enum mode mode)
{
	uint64_t on = m->on;

	for (const struct mode_rule *r = rules; r < rules + RULES; r++)
		if (modes_applies(r, FALLS_BACK, on)) {
			if (r->mode == mode)
				return r->why;
			on &= ~modes_bit(r->mode);
		}
	return NULL;
}

int
modes_in_effect(const struct modes *m, enum mode mode)
{
	return modes_has(m, mode) && modes_fallback(m, mode) == NULL;
}

void
modes_print(const struct modes *of, FILE *f)
{
	struct modes run = *of, *m = &run;
	const char *between = "";

	modes_put(m, MODE_DRY_RUN, 0, NULL);
	fprintf(f, "%-22s ", "# modes");
	for (int i = 0; i < MODES; i++)
		if (texts[i] != NULL && modes_in_effect(m, (enum mode)i)) {
			fprintf(f, "%s%s", between, texts[i]);
			between = ", ";
		}
	fprintf(f, "%s\n", *between == '\0' ? "none" : "");
	for (int i = 0; i < MODES; i++)
		if (modes_fallback(m, (enum mode)i) != NULL)
			fprintf(f, "%-22s %s: %s\n", "# falls back", texts[i],
			    modes_fallback(m, (enum mode)i));
}
