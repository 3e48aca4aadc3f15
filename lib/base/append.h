#ifndef BASE_APPEND_H
#define BASE_APPEND_H

#include <stddef.h>

#include "base/mem.h"

/*
 * A file that grows while other processes read it, such as a log.  Data that
 * cannot be written remain in memory, and the next addition retries them.  A
 * disk that was full for a while therefore costs nothing.  The first failure of
 * a series is a warning.  One thread at a time may use a struct append.
 */
struct append {
	char *path;
	int fd;				/* -1: not open */
	struct buffer left;		/* data not written yet */
	int failing;			/* the failure was reported */
};

/*
 * append_open(a, path, flags):
 * Open ${path} for writing at its end, with additional ${flags} of open(2).
 * Return 0, or -1 after a message.  Call append_close in either case.
 */
int append_open(struct append *a, const char *path, int flags);

/*
 * append_add(a, data, n):
 * Write the bytes left by earlier calls and these ${n} bytes.  Do nothing if
 * ${a} is not open.  Warn if the disk refuses them.
 */
void append_add(struct append *a, const void *data, size_t n);

/*
 * append_close(a):
 * Close the file and free the bytes left.  Return 0, or -1 after a message if
 * some bytes were not written.  A struct append of zeros is allowed: nothing
 * happens.
 */
int append_close(struct append *a);

#endif
