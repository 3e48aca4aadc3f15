#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/*
 * Shared libraries that a build can use and a machine may lack: they are opened
 * when something needs them, so that what does not need them starts without.
 */

#include <stddef.h>

#include "base/fail.h"

/* A function of a library: its address is written to ${to}, a pointer to it. */
struct library_entry { const char *name; void *to; };

/* library_open(file, who, e, n, why): open ${file}, which ${who} needs, and write
 * the address of each of ${n} entries; NULL after a message (error_set).
 * library_close: NULL is fine. */
void *library_open(const char *file, const char *who,
    const struct library_entry *e, size_t n, struct error *why);
void library_close(void *library);

/* library_keep(file): others open ${file} and close it, over and over: from now on
 * it stays.  Where there is none, nothing happens. */
void library_keep(const char *file);

#endif
