#ifndef BACKEND_ALGORITHM_CACHE_H
#define BACKEND_ALGORITHM_CACHE_H

/*
 * The algorithm cache of the user (device_algorithms_text): the results of
 * autotuning, kept between processes in vt/choices.tsv below XDG_CACHE_HOME or
 * ~/.cache. No result depends on the file. Without it, algorithms are measured
 * again.
 */

#include "backend/backend.h"

/*
 * algorithm_cache_load(d):
 * Add the choices of the file to ${d}.  Warn if the file cannot be read or is
 * not such a table.  Do nothing if there is no file, or if neither folder is
 * set.
 *
 * algorithm_cache_save(d):
 * Write the choices that ${d} knows to the file, if they differ.  Keep choices
 * that another process has written since.  Warn if the file cannot be written.
 * Do nothing unless ${d} was the last device of algorithm_cache_load.  net_plan
 * calls it after each plan, so that a program that is killed loses the
 * measurements of one shape at most.
 *
 * Both do nothing on a device that has no algorithms to select.
 */
void algorithm_cache_load(struct device *d);
void algorithm_cache_save(struct device *d);

#endif
