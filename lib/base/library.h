#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/*
 * Shared libraries that a build supports and a machine may lack.  They are
 * opened on demand, so that a command that does not use them runs without them.
 */

#include <stddef.h>

#include "base/fail.h"

/* A function of a library; its address is written to the pointer at ${to}. */
struct library_entry { const char *name; void *to; };

/*
 * library_open(file, who, e, n, why):
 * Open the library ${file} and write the addresses of its ${n} functions ${e}.
 * ${who} names the feature that needs it, for messages.  Return NULL with a
 * message in ${why} (error_set).  It stays open until the process ends.
 */
void *library_open(const char *file, const char *who,
    const struct library_entry *e, size_t n, struct error *why);

/*
 * library_pin(file):
 * Load ${file} and keep it loaded until the process ends.  Otherwise other code
 * may load and unload it repeatedly.  Do nothing if it does not exist.
 */
void library_pin(const char *file);

#endif
