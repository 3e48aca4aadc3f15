#ifndef TRAIN_LOOP_MEMORY_H
#define TRAIN_LOOP_MEMORY_H

/*
 * Compute the memory of a run before its first step: the peak of each rank, by
 * item.  The peak is a validation while a checkpoint is being written.
 * All functions need a trainer after trainer_plan.
 */

#include <stddef.h>
#include <stdio.h>

struct planned_cell;
struct trainer;

enum {
	MEMORY_BASE,			/* program, libraries, dataset index */
	MEMORY_PARAMETERS,
	MEMORY_OPTIMIZER,		/* optimizer state that the rank owns */
	MEMORY_GRADIENTS,
	MEMORY_ACTIVATIONS,
	MEMORY_LOADER, MEMORY_VALIDATION,	/* prefetched clips */
	MEMORY_SCORES,			/* of a validation, on every rank */
	MEMORY_SNAPSHOT,		/* rank 0: copy for a checkpoint */
	MEMORY_LEARNERS,		/* their weights, optimizer state */
	MEMORY_COMM,		/* receive and staging buffers */
	MEMORY_ITEMS
};

/* Bytes of each item. */
struct memory { size_t item[MEMORY_ITEMS]; };

/* memory_buffers(t, rank): return the maximal number of gradient buffers that
 * ${rank} holds at once in any cell. */
int memory_buffers(const struct trainer *t, int rank);

/* memory_plan(t, rank): return the peak of ${rank}, over all cells of the
 * schedule.  MEMORY_BASE is that of the calling rank. */
struct memory memory_plan(const struct trainer *t, int rank);

/* memory_cell(t, rank, c): return the peak of ${rank} if the schedule consisted
 * of cell ${c} alone. */
struct memory memory_cell(const struct trainer *t, int rank,
    const struct planned_cell *c);

/*
 * memory_host(t, m): return the bytes of ${m} in host memory.
 * memory_device(t, m): return those in device memory; 0 if the device uses host
 * memory.
 * memory_limited(t, m): return those in the scarcer memory: that of a discrete
 * device, otherwise that of the host.
 */
size_t memory_host(const struct trainer *t, const struct memory *m);
size_t memory_device(const struct trainer *t, const struct memory *m);
size_t memory_limited(const struct trainer *t, const struct memory *m);

/* memory_print(t, f): print to ${f} a line for each item of rank 0, and the sum
 * of each rank; of more than 64 ranks, the smallest and the largest sum. */
void memory_print(const struct trainer *t, FILE *f);

/*
 * memory_fits(t):
 * Check that every host has the memory for its ranks, and every device for its
 * rank.  Return 0, or an exit status that is the same on all ranks.  The lowest
 * rank of a host without enough memory prints the message.
 * Collective: all ranks call it.
 */
int memory_fits(const struct trainer *t);

/*
 * memory_measure(t):
 * Return MEMORY_BASE: the resident memory of this process except parameters and
 * optimizer state, plus a constant for pages touched later.  Call it when all
 * plans exist and no large buffer is allocated.
 */
size_t memory_measure(const struct trainer *t);

#endif
