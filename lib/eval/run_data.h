#ifndef EVAL_RUN_DATA_H
#define EVAL_RUN_DATA_H

/* The data that a run validates on. */

#include "shard/dataset.h"

/*
 * run_data_find(run):
 * Return the path of the packed set with the validation data of the directory
 * ${run}, which the caller frees.  Return NULL after a message if the run names
 * none.
 *
 * run_data_open(path, run, bad):
 * Open that set, or its part that ${run} holds out.  Return NULL after a
 * message, with ${*bad} as dataset_open.
 */
char *run_data_find(const char *run);
struct dataset *run_data_open(const char *path, const char *run, int *bad);

#endif
