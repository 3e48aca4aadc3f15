/* Agree on the end of a loop that each rank runs at its own pace. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/mem.h"
#include "train/loop/loop_end.h"

#define LOOP_ROUND 0.5		/* seconds */

/* The state of a rank that has no exit status. */
enum { LOOP_DONE = -1, LOOP_BUSY = 0 };

void
loop_end_open(struct loop_end *l, struct comm *c)
{
	size_t ranks = (size_t)c->size;

	*l = (struct loop_end){ .comm = c, .at = clock_seconds(),
		.state = xcalloc(ranks, sizeof(*l->state)),
		.start = xcalloc(ranks + 1, sizeof(*l->start)) };
	for (size_t r = 0; r <= ranks; r++)
		l->start[r] = r * sizeof(*l->state);
}

void
loop_end_close(struct loop_end *l)
{
	exchange_free(&l->round, l->comm);
	free(l->state);
	free(l->start);
}

/* Return the largest state of the last round. */
static int64_t
loop_end_worst(const struct loop_end *l)
{
	int64_t worst = LOOP_DONE;

	for (int r = 0; r < l->comm->size; r++)
		worst = l->state[r] > worst ? l->state[r] : worst;
	return worst;
}

int
loop_end_is(struct loop_end *l, int done, int *status)
{
	int64_t mine = *status != 0 ? *status : done ? LOOP_DONE : LOOP_BUSY;
	int64_t worst = LOOP_BUSY;

	while (worst == LOOP_BUSY) {
		int got = 1;

		if (!l->begun && mine == LOOP_BUSY &&
		    clock_seconds() - l->at < LOOP_ROUND)
			return 0;
		if (!l->begun) {
			l->state[l->comm->rank] = mine;
			if (comm_allgatherv_start(l->comm, &l->round, l->state,
			    l->start) != 0)
				got = -1;
		}
		if (got == 1)
			got = mine == LOOP_BUSY ? comm_test(&l->round) :
			    comm_wait(&l->round) == 0 ? 1 : -1;
		l->begun = got == 0;
		if (l->begun)
			return 0;
		l->at = clock_seconds();
		worst = got < 0 ? EXIT_RANKS : loop_end_worst(l);
	}
	*status = worst == LOOP_DONE ? 0 : (int)worst;
	return 1;
}
