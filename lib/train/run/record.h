#ifndef TRAIN_RUN_RECORD_H
#define TRAIN_RUN_RECORD_H

/* Record in the run directory how the run was started. */

#include "train/run/rundir.h"

/* The tables of videos that are not packed. */
#define VIDEOS_DATA "data.tsv"
#define VIDEOS_VAL "val.tsv"

struct record {
	/* The texts of config, schedule.tsv, network.net and classes.txt. */
	const char *settings, *schedule, *network, *classes;
	const char *choices;		/* text of choices.tsv; NULL: none */
	const char *videos[2];		/* texts of data.tsv and val.tsv; NULL:
					 * none */
	/* Values of the "start" line of the log. */
	const char *build, *isa, *dataset, *model;
	const char *val;		/* its dataset_id; NULL: none */
	const char *precision;		/* of activations */
	const char *device, *comm;	/* libraries, with their versions */
	char *const *argument;		/* the command line, up to a NULL */
	size_t parameters;
	uint32_t samples;
	int ranks;
	uint64_t step;			/* resume after this step; 0: begin */
	double decoding;		/* seconds to decode each video once; 0:
					 * packed */
	int tensorboard;		/* also open an event file */
};

/*
 * record_write(r, p):
 * Write those files into ${r}.  Open its log, truncated after the lines of
 * ${p}->step, and add the "start" line.  Open an event file if it is wanted.
 * Return 0, or -1 after a message.
 */
int record_write(struct rundir *r, const struct record *p);

#endif
