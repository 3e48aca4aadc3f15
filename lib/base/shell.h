#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include <stddef.h>
#include <sys/types.h>

#include "base/fail.h"

/*
 * A command of the user that runs beside this program.  Standard output of the
 * command is a pipe to this program.  One thread at a time may use a struct
 * shell.
 */
struct shell;

/*
 * shell_start(text):
 * Run ${text} by "sh -c" in a process group of its own, with an empty standard
 * input and the standard error of this program.  Return NULL after a message.
 * End it with shell_end.
 */
struct shell *shell_start(const char *text);

/*
 * shell_read(s, to, n, seconds):
 * Read at most ${n} bytes of the command's output into ${to}.  Wait at most
 * ${seconds} for them.  Return the number of bytes, 0 at the end of the output,
 * or -1 with errno and without a message.  errno EAGAIN: no output yet.
 */
ssize_t shell_read(struct shell *s, void *to, size_t n, double seconds);

/*
 * shell_exited(s):
 * Return 1 if the command has ended, 0 if it still runs.
 */
int shell_exited(struct shell *s);

/*
 * shell_end(s, e):
 * Kill the command if it still runs, and the rest of its process group in any
 * case.  Free ${s}.
 * NULL does nothing.  Return 0 if the command exited with status 0, otherwise
 * -1 with a message such as "exit status 3" in ${e}, which may not be NULL.
 */
int shell_end(struct shell *s, struct error *e);

#endif
