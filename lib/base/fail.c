/* Messages: one line each, printed by one write(2). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

#define LINE 2048

static const char *name = "vt";
static int my_rank, ranks = 1, quiet, verbose;
static void (*_Atomic before_message)(void);	/* called by any thread */
/* set by die_hook */
static void (*end_others)(int status);
static _Thread_local struct error *destination;	/* NULL: print */

const char *
program_name(void)
{
	return name;
}

/*
 * If a standard descriptor is closed, the next open(2) returns its number, and
 * results or messages would go into that file.  Open /dev/null in its place, in
 * the wrong direction, so that use of the descriptor remains an error.
 */
static void
fail_occupy_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void
program_start(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	name = slash != NULL ? slash + 1 : argv0;
	fail_occupy_descriptors();
	signal(SIGXFSZ, SIG_IGN);
	/*
	 * A parent may have ignored SIGCHLD.  Then waitpid returns no status.
	 */
	signal(SIGCHLD, SIG_DFL);
}

void
program_rank(int rank, int size)
{
	my_rank = rank;
	ranks = size;
}

void
program_quiet(int level)
{
	quiet = level;
}

void
program_verbose(int level)
{
	verbose = level;
}

struct error *
fail_into(struct error *e)
{
	struct error *before = destination;

	destination = e;
	return before;
}

void
fail_hook(void (*before)(void))
{
	before_message = before;
}

/*
 * Texts come from files, and some characters control a terminal or end a line.
 * Replace each byte of such characters in ${s} by '?'.
 */
static void
fail_clean(char *s)
{
	for (int n; *s != '\0'; s += n) {
		n = text_displayable(s);
		if (n == 0 && *s != '\t')
			*s = '?';
		n = n > 0 ? n : 1;
	}
}

/* Add a message to ${e}, after "; ", and truncate it if necessary. */
static void
error_add(struct error *e, const char *fmt, va_list ap)
{
	size_t at = strlen(e->text);

	if (at > 0 && at + 2 < sizeof(e->text)) {
		strcpy(e->text + at, "; ");
		at += 2;
	}
	vsnprintf(e->text + at, sizeof(e->text) - at, fmt, ap);
	fail_clean(e->text + at);
}

/* Print "PROGRAM: [WHO] TEXT".  One write(2) keeps the lines of different
 * threads and processes apart. */
static void
fail_write(const char *who, const char *text)
{
	void (*before)(void) = before_message;
	char line[LINE + 2];
	int at;
	ssize_t n;

	if (before != NULL)
		before();
	at = snprintf(line, LINE, *who ? "%s: [%s] %s" : "%s: %s%s", name, who,
	    text);
	at = at < LINE - 1 ? at : LINE - 1;
	fail_clean(line);
	line[at++] = '\n';
	do
		n = write(STDERR_FILENO, line, (size_t)at);
	while (n < 0 && errno == EINTR);
}

/* Print as this rank; a single process has no rank prefix. */
static void
fail_write_rank(const char *text)
{
	char who[16] = "";

	if (ranks > 1)
		snprintf(who, sizeof(who), "%d", my_rank);
	fail_write(who, text);
}

static void
fail_format(char line[LINE], const char *severity, const char *fmt, va_list ap)
{
	size_t at = (size_t)snprintf(line, LINE, "%s: ", severity);

	vsnprintf(line + at, LINE - at, fmt, ap);
}

static void
fail_print(const char *severity, const char *fmt, va_list ap)
{
	char line[LINE];

	fail_format(line, severity, fmt, ap);
	fail_write_rank(line);
}

/* ---- stored messages (fail_hold) ---- */

static struct {
	pthread_mutex_t lock;
	int on;
	char *text;			/* lines, NULL: none */
	size_t n;
} held = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Store the line if fail_hold is in force.  Return 1 if so, 0 otherwise.  Use
 * realloc, because xrealloc would call die, and die prints a message. */
static int
fail_defer(char *line)
{
	char *more = NULL;
	int on;

	pthread_mutex_lock(&held.lock);
	if ((on = held.on) != 0)
		more = realloc(held.text, held.n + strlen(line) + 2);
	if (more != NULL) {
		fail_clean(line);
		held.text = more;
		held.n += (size_t)sprintf(more + held.n, "%s\n", line);
	}
	pthread_mutex_unlock(&held.lock);
	return on;
}

char *
fail_held(void)
{
	char *text;

	pthread_mutex_lock(&held.lock);
	text = held.text;
	held.text = NULL;
	held.n = 0;
	pthread_mutex_unlock(&held.lock);
	return text;
}

void
fail_hold(void)
{
	static int once;

	if (!once)
		once = atexit(fail_flush) == 0;
	pthread_mutex_lock(&held.lock);
	held.on = 1;
	pthread_mutex_unlock(&held.lock);
}

void
fail_flush(void)
{
	char *text, *line, *next;

	pthread_mutex_lock(&held.lock);
	held.on = 0;
	pthread_mutex_unlock(&held.lock);
	next = text = fail_held();
	while ((line = strsep(&next, "\n")) != NULL && *line != '\0')
		fail_write_rank(line);
	free(text);
}

void
fail_say(const char *who, const char *line)
{
	fail_write(who, line);
}

/*
 * Add the message to ${e} or to the destination of this thread.  If both are
 * NULL, store or print it, unless program_quiet omits messages of ${level}.
 * Preserve errno for callers that check it after the message.
 */
static void
fail_report(struct error *e, int level, const char *severity, const char *fmt,
    va_list ap)
{
	int saved = errno;
	char line[LINE];

	if (e == NULL)
		e = destination;
	if (e != NULL) {
		error_add(e, fmt, ap);
	} else if (quiet < level) {
		fail_format(line, severity, fmt, ap);
		if (!fail_defer(line))
			fail_write_rank(line);
	}
	errno = saved;
}

int
error_set(struct error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail_report(e, 2, "error", fmt, ap);
	va_end(ap);
	return -1;
}

int
error_errno(struct error *e, const char *fmt, ...)
{
	char text[LINE], buffer[128];
	/* GNU strerror_r.  Call it before vsnprintf, which may change errno. */
	const char *why = strerror_r(errno, buffer, sizeof(buffer));
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(e, "%s: %s", text, why);
}

void
warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail_report(NULL, 1, "warning", fmt, ap);
	va_end(ap);
}

void
note(const char *fmt, ...)
{
	va_list ap;

	if (quiet >= 1 || my_rank != 0)
		return;
	va_start(ap, fmt);
	fail_print("note", fmt, ap);
	va_end(ap);
}

void
detail(const char *fmt, ...)
{
	va_list ap;

	if (verbose < 1 || quiet >= 1 || my_rank != 0)
		return;
	va_start(ap, fmt);
	fail_print("note", fmt, ap);
	va_end(ap);
}

void
die_hook(void (*end)(int status))
{
	end_others = end;
}

_Noreturn void
die(int status, const char *fmt, ...)
{
	va_list ap;

	fail_flush();
	va_start(ap, fmt);
	if (quiet < 2)
		fail_print("error", fmt, ap);
	va_end(ap);
	if (end_others != NULL)
		end_others(status);
	exit(status);
}
