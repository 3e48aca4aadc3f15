#ifndef BACKEND_CHOICE_CACHE_H
#define BACKEND_CHOICE_CACHE_H

/*
 * The choices that were found by trying (backend/tuning.h), kept from process to
 * process in vt/choices.tsv below XDG_CACHE_HOME or ~/.cache.  No result depends
 * on the file: without it, the choices are found again.
 */

#include "backend/backend.h"

/*
 * choice_cache_load(d): make the choices of the file known to ${d}.  Warn if the file
 * cannot be read or is not such a table.  Do nothing if there is no file, or no
 * folder for it.
 *
 * choice_cache_save(d): write what ${d} knows to the file, if that differs.  Choices
 * that another process has written since are kept.  Warn if it cannot be written.
 * Both do nothing on a device that has no choices to make.
 */
void choice_cache_load(struct device *d);
void choice_cache_save(struct device *d);

#endif
