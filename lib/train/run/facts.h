#ifndef TRAIN_RUN_FACTS_H
#define TRAIN_RUN_FACTS_H

/*
 * What is compared between ranks, and with a checkpoint when resuming, as text:
 * a line each, "name = value", where an option is called as it is typed,
 * --name, which nothing else is.
 */

#include "base/mem.h"

/*
 * What there is to compare.  The texts are the owner's; NULL: not known, and
 * not compared.
 */
struct identity {
	const char *program;		/* hash of the executable file */
	const char *build;		/* "vt 0.2.0+86a0a4f12345" */
	const char *results;		/* VERSION_RESULTS */
	const char *isa;		/* "avx512" */
	const char *library;		/* "oneDNN 2.6.3", or "none" */
	const char *precision;		/* "fp32", "bf16 by AMX" */
	const char *choices;		/* of the back end's: how many, and a hash */
	const char *network;		/* its text */
	const char *checkpoint;		/* hash of the file that is evaluated */
	const char *classes;		/* hash of their names */
	const char *data, *val;		/* identities of the datasets */
	const char *schedule;		/* a hash of it */
	const char *flips;		/* hash of what classes become then */
	const char *order;		/* of sums */
	const char *settings;		/* as options_config(NULL) has them */
};

enum { FACT_RANKS = 1, FACT_RESUME = 2 };	/* what is compared when */

#define FACT_NAME 96			/* room for a name */

/* facts_of(x, when): the facts of ${x}, the caller's to free. */
char *facts_of(const struct identity *x, int when);

/*
 * fact_name(at, name): the name that the line at ${at} begins with; 0 if it
 * sets nothing.  fact_next(at): the line after it.
 */
int fact_name(const char *at, char name[FACT_NAME]);
const char *fact_next(const char *at);

/* fact_value(facts, name): the caller's to free; NULL: unset. */
char *fact_value(const char *facts, const char *name);

/* fact_before(name): what a setting was before it had a name, NULL: its default. */
const char *fact_before(const char *name);

/* fact_hint(name): what helps where it differs, or NULL. */
const char *fact_hint(const char *name);

/* fact_plain(name): as messages and --override call it. */
const char *fact_plain(const char *name);

/*
 * facts_recipe(): the settings in force that weights depend on, as a
 * configuration file, which checkpoints keep; the caller's to free.
 */
char *facts_recipe(void);

/*
 * facts_may_override(name): 1 if --override may name it: something that is
 * compared when resuming.  facts_overrides(b): append all such names, ", "
 * between.
 */
int facts_may_override(const char *name);
void facts_overrides(struct buffer *b);

#endif
