/*
 * modes LABEL...: print what the table of lib/train/modes.c allows for the
 * modes LABEL, named as in modes.h.  Each line has one case:
 *
 *	refused  SET  MESSAGE	every mode and pair that is refused
 *	run      SET  MODES	sets that together have every other pair
 *
 * SET has commas between its modes.  @ stands for a value in MESSAGE.  MODES,
 * and the lines that may follow, are the output of vt-train -n -v for the set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "train/modes.h"

#define NAME(name, text) #name,
static const char *const modes_name[MODES] = { MODE_LIST(NAME) };

#define ON(name) ((uint64_t)1 << MODE_##name)

/* Modes that are set by the options of another mode. */
static const struct { enum mode mode; uint64_t with; } modes_implied[] = {
	{ MODE_SYNC_BN, ON(FAST) | ON(RANKS) },
	{ MODE_LEARNERS, ON(LEARNER_SETTING) },
	{ MODE_ONE_LEARNER, ON(LEARNERS) },
	{ MODE_NOISE, ON(LEARNER_SETTING) },
};

/* Modes without which a mode is refused. */
static const struct { enum mode mode; uint64_t with; } modes_required[] = {
	{ MODE_INIT_PARTIAL, ON(INIT) },
	{ MODE_TRUST_CLIP, ON(TRUST_RATIO) },
	{ MODE_USE_EMA, ON(EMA) },
	{ MODE_ALLREDUCE, ON(FAST) },
	{ MODE_ALLREDUCE_TABLE, ON(FAST) },
	{ MODE_COMM_16, ON(FAST) },
	{ MODE_LEARNER_SETTING, ON(LEARNERS) },
	{ MODE_GROWTH_SETTING, ON(GROWTH) },
	{ MODE_TIME, ON(DRY_RUN) },
	{ MODE_REPLAY_STEPS, ON(REPLAY) },
};

static uint64_t
modes_bit(int mode)
{
	return (uint64_t)1 << mode;
}

/* Refused because of a number, not by the table: each rank has whole
 * learners. */
#define NUMBERS (ON(ONE_LEARNER) | ON(RANKS))

/* Return the modes that are on if the options of ${set} are given. */
static uint64_t
modes_given(uint64_t set)
{
	for (size_t i = 0; i < sizeof(modes_implied) / sizeof(modes_implied[0]);
	    i++)
		if (set & modes_bit(modes_implied[i].mode))
			set |= modes_implied[i].with;
	return set;
}

/* Return ${set} with the modes that it implies or requires. */
static uint64_t
modes_whole(uint64_t set)
{
	uint64_t before;

	do {
		before = set;
		set = modes_given(set);
		for (size_t i = 0; i < sizeof(modes_required) /
		    sizeof(modes_required[0]); i++)
			if (set & modes_bit(modes_required[i].mode))
				set |= modes_required[i].with;
	} while (set != before);
	return set;
}

static struct modes
modes_of(uint64_t set)
{
	struct modes m = { .on = set };

	/* The modes of a run without options. */
	if (!(set & ON(TRUST_RATIO)))
		m.on |= ON(SGD);
	m.on |= set & ON(FAST) ? ON(AUTOTUNE) : ON(SHARDED);
	for (int i = 0; i < MODES; i++)
		m.value[i] = "@";
	return m;
}

static char *
modes_refusal(uint64_t set)
{
	struct modes m = modes_of(set);

	return modes_refused(&m);
}

static void
modes_put_set(const char *what, uint64_t set)
{
	const char *between = "";

	printf("%s\t", what);
	for (int i = 0; i < MODES; i++)
		if (set & modes_bit(i)) {
			printf("%s%s", between, modes_name[i]);
			between = ",";
		}
	printf("\t");
}

/* Return 1 and print a line if ${set} is refused. */
static int
modes_say_refused(uint64_t set)
{
	char *why = modes_refusal(set);

	if (why == NULL)
		return 0;
	modes_put_set("refused", set);
	puts(why);
	free(why);
	return 1;
}

static void
modes_say_run(uint64_t set)
{
	struct modes m = modes_of(set);

	modes_put_set("run", set);
	modes_print(&m, stdout);
}

/* Modes that inspect a run and take no step. */
#define POOL_POLLS (ON(DRY_RUN) | ON(TIME) | ON(PARITY))

/* Return the modes whose pair with mode ${i} a run of ${set} tests.  A run
 * without steps tests no pairs of other modes. */
static uint64_t
modes_tried(uint64_t set, int i)
{
	return !(set & modes_bit(i)) ? 0 : !(set & POOL_POLLS) ||
	    (modes_bit(i) & POOL_POLLS) ? set : set & POOL_POLLS;
}

/* Return the number of pairs that ${set} tests and that are not in ${done}. */
static int
modes_new_pairs(uint64_t set, const uint64_t *done)
{
	int n = 0;

	for (int i = 0; i < MODES; i++)
		n += __builtin_popcountll(modes_tried(set, i) & ~done[i]);
	return n;
}

/* Return a set that contains ${set}, with modes added as long as they test new
 * pairs. */
static uint64_t
modes_grow(uint64_t set, uint64_t all, const uint64_t *done)
{
	if (!(set & POOL_POLLS))
		all &= ~POOL_POLLS;
	for (;;) {
		int largest = modes_new_pairs(set, done), mode = -1;

		for (int i = 0; i < MODES; i++) {
			uint64_t with = modes_whole(set | modes_bit(i));
			char *why = modes_refusal(with);
			int n = modes_new_pairs(with, done);

			if (why == NULL && (all & modes_bit(i)) &&
			    (with & NUMBERS) != NUMBERS &&
			    (with & ~all) == 0 && n > largest) {
				largest = n;
				mode = i;
			}
			free(why);
		}
		if (mode < 0)
			return set;
		set = modes_whole(set | modes_bit(mode));
	}
}

int
main(int argc, char **argv)
{
	uint64_t all = 0, done[MODES] = { 0 };

	program_start(argv[0]);
	for (int a = 1; a < argc; a++) {
		int i = 0;

		while (i < MODES && strcmp(modes_name[i], argv[a]) != 0)
			i++;
		if (i == MODES)
			die(2, "%s: no such mode", argv[a]);
		all |= modes_bit(i);
	}
	for (int i = 0; i < MODES; i++)
		if (all & modes_bit(i))
			modes_say_refused(modes_given(modes_bit(i)));
	for (int i = 0; i < MODES; i++)
		for (int k = 0; k < i; k++) {
			uint64_t set = modes_whole(modes_bit(i) | modes_bit(k));

			if ((set & ~all) == 0 && !modes_say_refused(set) &&
			    (set & NUMBERS) != NUMBERS &&
			    !(done[i] & modes_bit(k))) {
				set = modes_grow(set, all, done);
				modes_say_run(set);
				for (int n = 0; n < MODES; n++)
					done[n] |= modes_tried(set, n);
			}
		}
	return 0;
}
