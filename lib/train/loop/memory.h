#ifndef TRAIN_LOOP_MEMORY_H
#define TRAIN_LOOP_MEMORY_H

/*
 * The memory of a run, known before its first step: what a rank needs, by
 * name, at the moment when it needs most: a validation while a checkpoint is
 * written.
 */

#include <stddef.h>
#include <stdio.h>

struct trainer;

enum {
	MEMORY_BASE,			/* program, libraries, index of the data */
	MEMORY_PARAMETERS,
	MEMORY_SLOTS,			/* of this rank: momentum */
	MEMORY_GRADIENTS,
	MEMORY_ACTIVATIONS,
	MEMORY_LOADER, MEMORY_VALIDATION,	/* clips loaded ahead */
	MEMORY_SCORES,			/* of the validation, on every rank */
	MEMORY_SNAPSHOT,		/* rank 0: a checkpoint on its way */
	MEMORY_LEARNERS,		/* weights and slots of each */
	MEMORY_EXCHANGE,		/* received from other ranks */
	MEMORY_ITEMS
};

/* Bytes of each; planned by trainer_plan. */
struct memory { size_t item[MEMORY_ITEMS]; };

/* memory_plan(t, rank): what ${rank} needs; the base is taken to be this
 * rank's. */
struct memory memory_plan(const struct trainer *t, int rank);
/* memory_cell(t, rank, stage, turn): the same, were that cell all the schedule. */
struct memory memory_cell(const struct trainer *t, int rank, int stage,
    int turn);

/* memory_sum(t, m): what it is in memory of the host's; memory_apart: of the
 * device's, if that has its own. */
size_t memory_sum(const struct trainer *t, const struct memory *m);
size_t memory_apart(const struct trainer *t, const struct memory *m);

/* memory_print(t, f): a line for each item, and what each rank needs. */
void memory_print(const struct trainer *t, FILE *f);

/*
 * memory_fits(t): all ranks ask: can every host hold its ranks, and every device
 * its own?  0, or an exit
 * status that they share, after a message of the first rank of such a host.
 */
int memory_fits(const struct trainer *t);

/* memory_measure(t): the base, when all is planned but little is allocated. */
size_t memory_measure(const struct trainer *t);

#endif
