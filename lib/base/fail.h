#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include <stddef.h>

/*
 * Messages for people, on standard error.  Whoever detects an error reports
 * it and fails in one statement:
 *
 *	if (n != want)
 *		return fail("%s: %zu bytes (wanted %zu)", path, n, want);
 *
 * A line is "PROGRAM: SEVERITY: MESSAGE", written at once, so that lines of
 * several threads do not mix.  A message names the file, the place, what was
 * found and what was wanted.
 */

/* program_name(): the base name given to program_start, "vt" before that. */
const char *program_name(void);

/*
 * program_start(argv0): remember the name for messages; call it first.  From
 * then on SIGXFSZ is ignored: a file size limit is an ordinary write error.
 */
void program_start(const char *argv0);

/* program_rank(rank, size): prefix messages with "[rank] " if size > 1. */
void program_rank(int rank, int size);

/* program_quiet(level): 1 drops warnings and notes, 2 errors too. */
void program_quiet(int level);

/* fail(fmt, ...): print an error.  Return -1. */
#define fail(...) error_set(NULL, __VA_ARGS__)

/* fail_errno(fmt, ...): as fail, followed by ": " and strerror(errno). */
#define fail_errno(...) error_errno(NULL, __VA_ARGS__)

/* fail_null(fmt, ...): as fail, for functions that return a pointer. */
#define fail_null(...) (fail(__VA_ARGS__), NULL)

/* program_verbose(level): from 1 on, details are printed. */
void program_verbose(int level);

/*
 * warning, note, detail: print and go on.  Notes and details come from rank 0
 * only; details, which are notes for those who asked for more, with -v.
 */
void warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* die(status, fmt, ...): print an error and exit with ${status}. */
_Noreturn void die(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * die_hook(end): die calls ${end}(status) before it exits, so that a rank takes
 * the others along; NULL: nothing.
 */
void die_hook(void (*end)(int status));

/*
 * fail_hold(): from now on errors and warnings of all threads are kept, until
 * fail_flush prints them; so does whatever ends the program.  For ranks that
 * would say the same thing at once: fail_held takes what is kept, lines such as
 * "error: MESSAGE", NULL if there is none, for the caller to free, and
 * fail_say prints such a line as said by ${who}.
 */
void fail_hold(void);
void fail_flush(void);
char *fail_held(void);
void fail_say(const char *who, const char *line);

/*
 * struct error: why a call failed, for a caller that drops the message or says
 * more than the callee knows.  Such a callee takes a struct error, which is NULL
 * if the message is to be printed.
 */
struct error { char text[1024]; };

/*
 * error_set(e, fmt, ...): add a message to ${e}, after "; " if it has one.  Print
 * it as fail() does if ${e} is NULL.  Return -1.
 * error_errno: the same, followed by ": " and strerror(errno).
 */
int error_set(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int error_errno(struct error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * fail_into(e):
 * Add the errors and warnings of this thread to ${e} from now on; NULL: print
 * them.  Return the previous destination, which the caller restores, so that
 * calls nest.
 *
 * Prefer a callee that takes a struct error.  This call is for messages that
 * arise many calls below, in functions whose other callers print them: a video
 * or a folder of frames being read (ingest/extract.c), a file or a checkpoint
 * being written (backend/choice_cache.c, train/run/saver.c), a checkpoint, a
 * schedule or a table of choices being read (train/run/best.c,
 * train/run/difference.c, backend/choice_cache.c), and steps being measured
 * (vt-train).
 */
struct error *fail_into(struct error *e);

/*
 * fail_hook(before): call ${before} ahead of each message, so that a live
 * progress line can be taken off the terminal first.  NULL: nothing.
 */
void fail_hook(void (*before)(void));

#endif
