#ifndef EVAL_PACKED_H
#define EVAL_PACKED_H

/* A packed dataset is scored, and what came of it is written. */

#include "base/options.h"
#include "eval/chosen.h"
#include "eval/output.h"
#include "eval/results.h"

/* What is written beside the answer; NULL and no items: nothing. */
struct packed_files {
	const char *scores, *per_class, *sheet;
	struct option_list matrix;
	struct matrix_options matrix_options;
	int sheet_samples, sheet_wrong;
};

struct packed {
	const char *path;
	struct model *model;
	struct packed_files files;
	struct view_options views;
	struct dataset *data;
	struct evaluation e;
};

/* What it starts with. */
struct packed_start {
	const char *network, *device;
	int threads;
	enum precision precision;
	const struct chosen *views;
	const char *output;		/* the answer's; NULL: standard output */
};

/*
 * packed_prepare(p, how, comm):
 * Read and start the network ${p}->model, open the dataset ${p}->path, and
 * refuse what can be refused: ranks that do not have the same, data without
 * what the network looks at, classes that are not those of the network, no
 * labels or no room where the files need them, views that cannot be.  0, or an
 * exit status that all ranks share, after a message; packed_close and
 * model_close in any case.
 */
int packed_prepare(struct packed *p, const struct packed_start *how,
    struct comm *comm);

/* packed_open(p): the dataset alone, of the network that has been read. */
int packed_open(struct packed *p);
void packed_close(struct packed *p);

/*
 * packed_write(p, json, output): p->e is there: write the files, then the
 * answer.  0, or an exit status after a message.
 */
int packed_write(const struct packed *p, int json, struct output *output);

#endif
