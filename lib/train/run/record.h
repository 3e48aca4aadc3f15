#ifndef TRAIN_RUN_RECORD_H
#define TRAIN_RUN_RECORD_H

#include "train/run/rundir.h"

/* What a run was started with, as it is kept beside its checkpoints. */
struct record {
	/* The texts of config, schedule.tsv, network.net and classes.txt. */
	const char *settings, *schedule, *network, *classes;
	const char *choices;		/* the back end's; NULL: it has none */
	/* For the log. */
	const char *build, *isa, *dataset, *model;
	const char *val;		/* identity of that dataset; NULL: none */
	const char *precision;		/* of activations */
	const char *device, *comm;	/* libraries, with their versions */
	char *const *argument;		/* the command line, to a NULL */
	size_t parameters;
	uint32_t samples;
	int ranks;
	uint64_t step;			/* that the run goes on after */
	int tensorboard;		/* its events are wanted */
};

/*
 * record_write(r, p): write those files into ${r}, begin its log anew or cut
 * it back to ${p}->step, and add the "start" line; begin a file of events, if
 * wanted.  -1 after a message.
 */
int record_write(struct rundir *r, const struct record *p);

#endif
