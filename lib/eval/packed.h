#ifndef EVAL_PACKED_H
#define EVAL_PACKED_H

/* Score a packed dataset with a network, and write the results. */

#include "eval/view_overrides.h"
#include "eval/output.h"
#include "eval/results.h"

struct packed {
	const char *path;
	const char *run;		/* ${path} is the data that it validates
					 * on (eval/run_data.h); NULL: all of
					 * it */
	struct model *model;
	struct results_files files;
	struct view_options views;
	struct dataset *data;
	char **source;			/* paths of the samples, on rank 0 */
	struct evaluation e;
	struct protocol protocol;	/* of the evaluation; packed_prepare
					 * sets it on rank 0 */
};

/* How to open the network. */
struct packed_start {
	const char *network, *device;
	int threads;
	enum precision precision;
	const struct view_overrides *views;
	const char *output;		/* path of the main output; NULL:
					 * standard output */
};

/*
 * packed_prepare(p, how, comm):
 * Read and start the network p->model, open the dataset p->path, and reserve
 * memory.  Refuse ranks that differ, data without the streams that the network
 * reads, classes that differ from those of the network, missing labels, outputs
 * that cannot be written, and impossible views.
 * Collective: all ranks call it.  Return 0, or an exit status after a message,
 * the same on all ranks.  Call packed_close and model_close in both cases.
 */
int packed_prepare(struct packed *p, const struct packed_start *how,
    struct comm *comm);

/*
 * packed_open(p):
 * Open only the dataset p->path, for a network that has been read.  Return 0,
 * or an exit status after a message.
 */
int packed_open(struct packed *p);

/*
 * packed_close(p):
 * Free the dataset and the evaluation, and leave ${p} empty.
 */
void packed_close(struct packed *p);

/*
 * packed_write(p, json, output):
 * Write the files and then the main output for the evaluation p->e.  ${json}
 * selects JSON lines instead of a table.  Return 0, or an exit status after a
 * message.
 */
int packed_write(const struct packed *p, int json, struct output *output);

#endif
