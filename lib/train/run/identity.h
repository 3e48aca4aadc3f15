#ifndef TRAIN_RUN_IDENTITY_H
#define TRAIN_RUN_IDENTITY_H

/*
 * The identity of a run: the facts that its ranks compare with each other, and
 * that a run compares with the checkpoint from which it resumes.  It is a text
 * with a line "name = value" for each fact.  Only options have names that begin
 * with "--".
 */

#include "base/mem.h"
#include "base/options.h"
#include "comm/comm.h"
#include "sched/schedule.h"
#include "train/run/resume.h"

/*
 * identity_add(b, name, value):
 * Append a fact.  A value of several lines, or of more than 200 bytes, is
 * replaced by its hash.  NULL appends nothing: the fact is unknown.
 *
 * identity_add_state(b, s), identity_add_options(b):
 * Append the facts in the state ${s}, or the options in force that ranks
 * compare.
 */
void identity_add(struct buffer *b, const char *name, const char *value);
void identity_add_state(struct buffer *b, const struct state *s);
void identity_add_options(struct buffer *b);

/* identity_value(text, name): return the value of ${name} in an identity or in
 * settings, NULL if absent.  Repeated values are separated by ", ".  The caller
 * frees it. */
char *identity_value(const char *text, const char *name);

/*
 * identity_check(c, mine):
 * Check that the identities ${mine} of all ranks are equal, and free ${mine}.
 * Return 0, or EXIT_RANKS on all ranks.  Rank 0 prints the first fact that
 * differs, and the ranks and hosts that have each value.
 *
 * identity_check_start(c):
 * Check in the same way that all ranks were started alike: program, build, ISA
 * and options.  Later collective calls depend on it.
 *
 * Collective: all ranks call them.
 */
int identity_check(struct comm *c, struct buffer *mine);
int identity_check_start(struct comm *c);

/*
 * identity_check_resume(r, now, schedule, samples, override):
 * Compare checkpoint ${r} with the run that would resume from it.  ${now} is
 * the state of that run, whose history is that of ${schedule} over ${samples}
 * samples up to the step of ${r}.  Facts named in ${override} may differ.  An
 * option that the checkpoint lacks had its default.
 * Return 0, or -1 after a message for each difference.
 */
int identity_check_resume(const struct resume *r, const struct state *now,
    const struct schedule *schedule, uint64_t samples,
    const struct option_list *override);

/* identity_may_override(name, names): return 1 if --override may name ${name}:
 * it is compared at a resume.  Append all such names to ${names}, separated by
 * ", ". */
int identity_may_override(const char *name, struct buffer *names);

#endif
