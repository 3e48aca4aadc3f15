/*
 * sleepstep PROFILE BxTxS ALGORITHM BUCKET RANKS_PER_HOST STEPS: run training
 * steps under mpirun whose computation is a sleep for the times of PROFILE, and
 * whose messages are those that vt-bench cluster predicts. Print the seconds of
 * the fastest step.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/step_lists.h"
#include "bench/step_profile.h"
#include "comm/comm.h"

enum { BUFFERS = 8 };

static struct comm *comm;
static struct collective list[STEP_PARTS];	/* of this rank */
static void *buffer[BUFFERS];
static size_t bytes[BUFFERS];

static void
sleepstep_until(double time)
{
	double left = time - clock_seconds();
	struct timespec t = { (time_t)left, (long)(1e9 * (left - floor(left))) };

	if (left > 0)
		while (nanosleep(&t, &t) != 0 && errno == EINTR)
			;
}

/* Make room for ${n} bytes at ${a}. */
static void
sleepstep_reserve(struct address a, size_t n)
{
	if (a.buffer < 0 || a.buffer >= BUFFERS)
		exit(fail("a list uses buffer %d", a.buffer) != 0);
	if (a.at + n > bytes[a.buffer])
		bytes[a.buffer] = a.at + n;
}

/* Make the lists of this rank, and the buffers for all of them. */
static int
sleepstep_lists(const struct step_lists *s)
{
	struct collective *all = xcalloc((size_t)s->ranks, sizeof(*all));

	for (int p = 0; p < STEP_PARTS; p++) {
		if (step_lists_times(s, (enum step_part)p) == 0)
			continue;
		if (step_lists_make(s, (enum step_part)p, all) != 0)
			return -1;
		list[p] = all[comm->rank];
		all[comm->rank] = (struct collective){ 0 };
		for (int r = 0; r < s->ranks; r++)
			collective_free(&all[r]);
		for (size_t i = 0; i < list[p].n; i++) {
			struct collective_op *o = &list[p].op[i];
			size_t n = o->kind == COLLECTIVE_SEND ||
			    o->kind == COLLECTIVE_RECEIVE ? o->n :
			    o->n * sizeof(double);

			sleepstep_reserve(o->to, n);
			sleepstep_reserve(o->from, n);
		}
	}
	for (int k = 0; k < BUFFERS; k++)
		buffer[k] = xcalloc(bytes[k] + 1, 1);
	free(all);
	return 0;
}

static int
sleepstep_run(enum step_part part)
{
	return collective_run(comm, &list[part], &(struct collective_memory){
	    .buffer = buffer, .elem = sizeof(float), .add = wire_sum });
}

/* One step; the order is that of cluster_step. */
static int
sleepstep_step(const struct step_cell *cell, const struct step_lists *s)
{
	double start = clock_seconds() + cell->forward, ready = 0;
	size_t from = step_lists_times(s, STEP_SUM) * s->bucket;
	size_t at = s->elements, k = 0;
	enum step_part part = STEP_LAST_SUM;
	int bad;

	for (;;) {
		while (at > from && k < cell->gradients) {
			const struct step_gradient *g = &cell->gradient[k++];

			at -= g->elements < at ? g->elements : at;
			ready = g->ready > ready ? g->ready : ready;
		}
		sleepstep_until(start + ready);
		if ((bad = sleepstep_run(part)) != 0 || from == 0)
			break;
		part = STEP_SUM;
		from -= s->bucket;
	}
	sleepstep_until(start + cell->backward);
	sleepstep_until(clock_seconds() + cell->update /
	    (s->kind == NULL ? s->ranks : 1));
	for (int p = STEP_LAST_SUM + 1; p < STEP_PARTS && !bad; p++)
		if (step_lists_times(s, (enum step_part)p) > 0)
			bad = sleepstep_run((enum step_part)p);
	return bad;
}

int
main(int argc, char **argv)
{
	struct step_profile *profile;
	struct step_cell *cell;
	struct bench_shape shape;
	struct step_lists s = { .wire = &wires[WIRE_FP32] };
	double least = INFINITY;

	program_start(argv[0]);
	if (argc != 7 || shape_parse(argv[2], &shape) != 0 ||
	    (comm = comm_open(&argc, &argv, 600)) == NULL ||
	    (profile = step_profile_read(argv[1])) == NULL ||
	    (cell = step_profile_cell(profile, &shape)) == NULL)
		return EXIT_USAGE;
	step_lists_buckets(&s, profile->elements, (size_t)atol(argv[4]));
	s.kind = algorithm_find(argv[3]);
	s.ranks = s.microbatches = comm->size;
	s.ranks_per_host = atoi(argv[5]);
	if (sleepstep_lists(&s) != 0)
		return EXIT_USAGE;
	/* The first step, which connects the ranks, does not count. */
	for (int i = 0; i <= atoi(argv[6]); i++) {
		double start, seconds;
		int64_t ns;

		if (comm_barrier(comm) != 0)
			return EXIT_RANKS;
		start = clock_seconds();
		if (sleepstep_step(cell, &s) != 0)
			return EXIT_RANKS;
		ns = (int64_t)(1e9 * (clock_seconds() - start));
		if (comm_max(comm, &ns) != 0)
			return EXIT_RANKS;
		seconds = (double)ns / 1e9;
		least = i > 0 && seconds < least ? seconds : least;
	}
	if (comm->rank == 0)
		printf("%.6f\n", least);
	for (int p = 0; p < STEP_PARTS; p++)
		collective_free(&list[p]);
	for (int k = 0; k < BUFFERS; k++)
		free(buffer[k]);
	step_profile_free(profile);
	comm_close(comm);
	return stdout_done() != 0 ? EXIT_FAILED : 0;
}
