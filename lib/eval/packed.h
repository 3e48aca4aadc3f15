#ifndef EVAL_PACKED_H
#define EVAL_PACKED_H

/* A packed dataset is scored, and what came of it is written. */

#include "base/options.h"
#include "eval/model.h"
#include "eval/output.h"
#include "eval/results.h"

/* What is written beside the answer; NULL and no items: nothing. */
struct packed_files {
	const char *scores, *per_class, *sheet;
	struct option_list matrix;
	struct matrix_options matrix_options;
	int sheet_samples, sheet_wrong;
};

/* packed_files_check(f): can they be made under these names?  Ends the program
 * if not, before any work. */
void packed_files_check(const struct packed_files *f);

struct packed {
	const char *path;
	const struct model *model;
	struct packed_files files;
	struct view_options views;
	struct dataset *data;
	struct evaluation e;
};

/*
 * packed_open(p): open the dataset ${p}->path, which must have what the network
 * looks at.
 * packed_agree(p, comm): the network has been started: all ranks have opened the
 * same.
 * packed_check(p, rank, output): its classes must be those of the network, it
 * must have the labels, and there must be the room, that the files need;
 * ${output} is the answer's, NULL for none.
 * 0, or an exit status after a message; packed_close in any case.
 */
int packed_open(struct packed *p);
int packed_agree(const struct packed *p, struct comm *comm);
int packed_check(const struct packed *p, int rank, const char *output);
void packed_close(struct packed *p);

/*
 * packed_write(p, json, output): p->e is there: write the files, then the
 * answer.  0, or an exit status after a message.
 */
int packed_write(const struct packed *p, int json, struct output *output);

#endif
