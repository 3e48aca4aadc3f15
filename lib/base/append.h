#ifndef BASE_APPEND_H
#define BASE_APPEND_H

#include <stddef.h>

#include "base/mem.h"

/*
 * A file that grows while a program runs, read by others meanwhile.  What cannot
 * be written is a warning, once; it is kept, and tried again with the next
 * piece, so that a disk that was full for a while costs nothing.  One thread at
 * a time.
 */
struct append {
	char *path;
	int fd;				/* -1: not open */
	struct buffer left;		/* what could not be written yet */
	int failing;			/* and was reported */
};

/* append_open(a, path, flags): for writing at its end, with further ${flags} of
 * open(2); -1 after a message, and append_close all the same. */
int append_open(struct append *a, const char *path, int flags);

/* append_add(a, data, n): nothing if it is not open. */
void append_add(struct append *a, const void *data, size_t n);

/* append_close(a): -1 after a message if something could not be written; leaves
 * one that is not open. */
int append_close(struct append *a);

#endif
