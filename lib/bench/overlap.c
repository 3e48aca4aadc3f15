/* Measure how much of a collective overlaps with a computation. */
#include <pthread.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "bench/overlap.h"

struct overlap_work { struct overlap *h; int bad; };

static void *
overlap_thread(void *arg)
{
	struct overlap_work *w = arg;

	w->bad = w->h->exchange(w->h->arg);
	return NULL;
}

/*
 * Compute for about 20 us per unit: dependent additions, which only the
 * processor limits.
 */
static void
overlap_compute(struct overlap *h, double units)
{
	for (double k = 0; k < units; k++) {
		double x = h->kept;

		for (int i = 0; i < 20000; i++)
			x = x * 0.5 + 1;
		h->kept = x;
	}
}

/* Replace ${*seconds} by the maximum over all ranks. */
static int
overlap_slowest(struct comm *c, double *seconds)
{
	int64_t ns = (int64_t)(1e9 * *seconds);
	int bad = comm_max(c, &ns);

	*seconds = (double)ns / 1e9;
	return bad;
}

static int
overlap_alone(struct overlap *h, int computing, double units, double *seconds)
{
	double start;
	int bad = comm_barrier(h->comm);

	start = clock_seconds();
	if (computing)
		overlap_compute(h, units);
	else
		bad |= h->exchange(h->arg);
	*seconds = clock_seconds() - start;
	return bad != 0 || overlap_slowest(h->comm, seconds) != 0 ? -1 : 0;
}

static int
overlap_together(struct overlap *h, double units, double *seconds)
{
	struct overlap_work w = { h, 0 };
	pthread_t thread;
	double start;

	if (comm_barrier(h->comm) != 0)
		return -1;
	start = clock_seconds();
	/*
	 * While it waits, the collective must leave the processor to this
	 * thread.
	 */
	comm_set_overlap(h->comm, 1);
	if (pthread_create(&thread, NULL, overlap_thread, &w) != 0) {
		comm_set_overlap(h->comm, 0);
		return fail("cannot start a thread");
	}
	overlap_compute(h, units);
	comm_set_overlap(h->comm, 0);
	pthread_join(thread, NULL);
	*seconds = clock_seconds() - start;
	return w.bad != 0 || overlap_slowest(h->comm, seconds) != 0 ? -1 : 0;
}

/*
 * Find the seconds of one unit on the slowest rank, so that all ranks compute
 * the same number of units.
 */
static int
overlap_calibrate(struct overlap *h)
{
	double units = 1, seconds = 0;

	for (; seconds < 0.02; units *= 2)
		if (overlap_alone(h, 1, units, &seconds) != 0)
			return -1;
	h->each = seconds / (units / 2);
	return 0;
}

int
overlap_run(struct overlap *h, int counts)
{
	double computing, exchanging, both = 0, units;

	if (h->each == 0 && overlap_calibrate(h) != 0)
		return EXIT_RANKS;
	if (overlap_alone(h, 0, 0, &exchanging) != 0)
		return EXIT_RANKS;
	units = exchanging / h->each;
	if (overlap_alone(h, 1, units, &computing) != 0 ||
	    overlap_together(h, units, &both) != 0)
		return EXIT_RANKS;
	if (counts)
		figure_add(&h->share, (computing + exchanging - both) /
		    exchanging);
	return 0;
}
