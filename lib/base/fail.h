#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include <stddef.h>

/*
 * Messages on standard error.  The function that detects an error reports it
 * and returns in one statement:
 *
 *	if (n != want)
 *		return fail("%s: %zu bytes (wanted %zu)", path, n, want);
 *
 * A line is "PROGRAM: SEVERITY: MESSAGE".  One write(2) prints it, so lines of
 * several threads do not mix.  A message names the file, the place, the value
 * that was found and the value that was wanted.  Any thread may call these
 * functions unless a comment says otherwise.
 */

/*
 * program_name():
 * Return the base name given to program_start, or "vt" before that.
 */
const char *program_name(void);

/*
 * program_start(argv0):
 * Set the program name for messages.  Call it first, before other threads
 * exist.  ${argv0} must remain valid.  It also ignores SIGXFSZ, so that a file
 * size limit becomes an ordinary write error, and stops ignoring SIGCHLD, so
 * that waitpid returns the status of children.
 */
void program_start(const char *argv0);

/* program_rank(rank, size): Prefix messages with "[rank] " if ${size} > 1. */
void program_rank(int rank, int size);

/*
 * program_quiet(level):
 * Omit warnings and notes from level 1, and errors from level 2.
 */
void program_quiet(int level);

/* fail(fmt, ...): Print an error.  Return -1. */
#define fail(...) error_set(NULL, __VA_ARGS__)

/* fail_errno(fmt, ...): As fail, followed by ": " and strerror(errno). */
#define fail_errno(...) error_errno(NULL, __VA_ARGS__)

/* fail_null(fmt, ...): As fail, but return NULL. */
#define fail_null(...) (fail(__VA_ARGS__), NULL)

/* program_verbose(level): Print details if ${level} is at least 1. */
void program_verbose(int level);

/*
 * warning(fmt, ...), note(fmt, ...), detail(fmt, ...):
 * Print a message and continue.  Only rank 0 prints notes and details.  Details
 * are notes that only -v shows.
 */
void warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * die(status, fmt, ...):
 * Print an error and exit with ${status}.
 */
_Noreturn void die(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * die_hook(end):
 * Make die call ${end}(status) before it exits, so that one rank can end the
 * others.  NULL removes the hook.
 */
void die_hook(void (*end)(int status));

/*
 * fail_hold():
 * From now on, store the errors and warnings of all threads instead of printing
 * them, for ranks that would all print the same lines.  fail_flush, die and
 * exit(3) print the stored lines.
 */
void fail_hold(void);

/* fail_flush(): Stop storing messages, and print those stored. */
void fail_flush(void);

/*
 * fail_held():
 * Take the stored messages: lines such as "error: MESSAGE".  NULL if there are
 * none.  The caller frees them.
 */
char *fail_held(void);

/*
 * fail_say(who, line):
 * Print ${line}, which begins with a severity, as "PROGRAM: [${who}] ${line}".
 * If ${who} is "", omit the brackets.
 */
void fail_say(const char *who, const char *line);

/*
 * An error message that a callee returns.  The caller may drop it or add what
 * only it knows.  Functions with a struct error argument print the message if
 * it is NULL.  Initialize it with { 0 }.
 */
struct error { char text[1024]; };

/*
 * error_set(e, fmt, ...):
 * Add a message to ${e}, after "; " if it has one.  If ${e} is NULL, print the
 * message as fail does.  Return -1.
 * error_errno(e, fmt, ...):
 * As error_set, followed by ": " and strerror(errno).
 */
int error_set(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int error_errno(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * fail_into(e):
 * From now on, add the errors and warnings of this thread to ${e}; NULL prints
 * them again.  Return the previous destination, which the caller restores, so
 * that calls nest.
 *
 * Prefer a callee that takes a struct error.  This call is for messages that
 * arise many calls below, in functions whose other callers print them: reading
 * a video or a folder of frames (ingest/extract.c).
 */
struct error *fail_into(struct error *e);

/*
 * fail_hook(before):
 * Call ${before} before each printed message, so that it can clear a live
 * progress line.  NULL removes the hook.  ${before} must be safe in any thread.
 */
void fail_hook(void (*before)(void));

#endif
