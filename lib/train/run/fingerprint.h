#ifndef TRAIN_RUN_FINGERPRINT_H
#define TRAIN_RUN_FINGERPRINT_H

/*
 * The fingerprint of a run as text: the facts that are compared between ranks,
 * and with a checkpoint when resuming.  Each fact is a line "name = value".
 * Only options have names that begin with "--".
 */

#include "base/mem.h"

/* The fingerprint of a run.  The texts belong to the owner of the struct.
 * NULL: unknown, and not compared. */
struct fingerprint {
	const char *program;		/* hash of the executable file */
	const char *build;		/* "vt 0.2.0+86a0a4f12345" */
	const char *results;		/* VERSION_RESULTS */
	const char *isa;		/* "avx512" */
	const char *library;		/* "oneDNN 2.6.3", or "none" */
	const char *precision;		/* "fp32", "bf16 by AMX" */
	const char *choices;		/* stamp of the chosen algorithms */
	const char *network;		/* text of the .net file */
	const char *checkpoint;		/* hash of the evaluated file */
	const char *classes;		/* hash of the class names */
	const char *data, *val;		/* dataset_id of both datasets */
	const char *schedule;		/* a hash of it */
	const char *flips;		/* hash of the table of --flip-swap */
	const char *class_weights;	/* hash of the weights of
					 * --class-weight */
	const char *order;		/* version of the summation order */
	const char *settings;		/* a configuration file */
};

/* The comparisons of facts. */
enum { FINGERPRINT_RANKS = 1, FINGERPRINT_RESUME = 2 };

#define FINGERPRINT_NAME 96			/* bytes of a name, at most */

/* fingerprint_text(x, when): return the facts of ${x} that are not free in the
 * comparison ${when}, FINGERPRINT_*, as text.  The caller frees it. */
char *fingerprint_text(const struct fingerprint *x, int when);

/* fingerprint_name(at, name): copy the name of the fact on the line at ${at} to
 * ${name}.  Return 1, or 0 if the line is a comment or no fact. */
int fingerprint_name(const char *at, char name[FINGERPRINT_NAME]);

/* fingerprint_next(at): return the beginning of the next line, or the end of
 * the text. */
const char *fingerprint_next(const char *at);

/* fingerprint_value(fingerprint, name): return the value of a fact in the text
 * ${fingerprint}, NULL if absent.  The caller frees it. */
char *fingerprint_value(const char *fingerprint, const char *name);

/* fingerprint_hint(name): return advice for ranks or runs that differ in
 * ${name}, NULL if there is none.  Do not free it. */
const char *fingerprint_hint(const char *name);

/* fingerprint_option_name(name): return ${name} without "--", as in messages
 * and --override.  The result points into ${name}. */
const char *fingerprint_option_name(const char *name);

/*
 * fingerprint_recipe():
 * Return the current settings that affect the weights, as a configuration file,
 * which checkpoints store.  The caller frees it.
 */
char *fingerprint_recipe(void);

/* fingerprint_may_override(name): return 1 if --override may name ${name}: it
 * is compared when resuming. */
int fingerprint_may_override(const char *name);

/* fingerprint_overrides(b): append all such names to ${b}, separated by
 * ", ". */
void fingerprint_overrides(struct buffer *b);

#endif
