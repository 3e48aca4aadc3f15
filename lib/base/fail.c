/* Messages for people: one line each, written whole. */
#include <errno.h>
#include <fcntl.h>
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
static void (*before_message)(void), (*end_others)(int status);
static _Thread_local struct { char *buf; size_t size; } capture;

const char *
program_name(void)
{
	return name;
}

/*
 * If a standard descriptor is closed, the next file that is opened would get
 * its number, and results or messages would be written into it.  A descriptor
 * that can do nothing takes the place, so that using it is an error as before.
 */
static void
occupy_descriptors(void)
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
	occupy_descriptors();
	signal(SIGXFSZ, SIG_IGN);
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

void
fail_capture(char *buf, size_t size)
{
	capture.buf = buf;
	capture.size = size;
	if (buf != NULL && size > 0)
		buf[0] = '\0';
}

void
fail_hook(void (*before)(void))
{
	before_message = before;
}

/*
 * Names and texts come from files, and some characters do things to a terminal:
 * from ${s} on each byte of those becomes a '?', and a message is one line.
 */
static void
clean(char *s)
{
	for (int n; *s != '\0'; s += n) {
		n = text_shown(s);
		if (n == 0 && *s != '\t')
			*s = '?';
		n = n > 0 ? n : 1;
	}
}

/* Append the message to this thread's capture buffer. */
static void
keep(const char *fmt, va_list ap)
{
	size_t at = strlen(capture.buf);

	if (at > 0 && at + 2 < capture.size) {
		strcpy(capture.buf + at, "; ");
		at += 2;
	}
	if (at < capture.size) {
		vsnprintf(capture.buf + at, capture.size - at, fmt, ap);
		clean(capture.buf + at);
	}
}

/*
 * Add to line[LINE], which holds ${at} bytes; return the bytes it holds then.
 */
static size_t
add(char *line, size_t at, const char *fmt, va_list ap)
{
	int n = vsnprintf(line + at, LINE - at, fmt, ap);

	at += n < 0 ? 0 : (size_t)n;
	return at < LINE - 1 ? at : LINE - 1;
}

static void
say(const char *severity, const char *fmt, va_list ap)
{
	char line[LINE + 1];
	size_t at;
	ssize_t n;

	if (before_message != NULL)
		before_message();
	at = (size_t)snprintf(line, LINE, "%s: ", name);
	if (ranks > 1)
		at += (size_t)snprintf(line + at, LINE - at, "[%d] ", my_rank);
	at += (size_t)snprintf(line + at, LINE - at, "%s: ", severity);
	at = add(line, at, fmt, ap);
	clean(line);
	line[at++] = '\n';
	do
		n = write(STDERR_FILENO, line, at);
	while (n < 0 && errno == EINTR);
}

static void
report(const char *severity, const char *fmt, va_list ap)
{
	int saved = errno;

	if (capture.buf != NULL)
		keep(fmt, ap);
	else
		say(severity, fmt, ap);
	errno = saved;
}

int
fail(const char *fmt, ...)
{
	va_list ap;

	if (quiet >= 2 && capture.buf == NULL)
		return -1;
	va_start(ap, fmt);
	report("error", fmt, ap);
	va_end(ap);
	return -1;
}

int
fail_errno(const char *fmt, ...)
{
	char text[LINE], room[128];
	/* GNU's form; and before vsnprintf, which may change errno. */
	const char *why = strerror_r(errno, room, sizeof(room));
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fail("%s: %s", text, why);
}

void
warning(const char *fmt, ...)
{
	va_list ap;

	if (quiet >= 1 && capture.buf == NULL)
		return;
	va_start(ap, fmt);
	report("warning", fmt, ap);
	va_end(ap);
}

void
note(const char *fmt, ...)
{
	va_list ap;

	if (quiet >= 1 || my_rank != 0)
		return;
	va_start(ap, fmt);
	say("note", fmt, ap);
	va_end(ap);
}

void
detail(const char *fmt, ...)
{
	va_list ap;

	if (verbose < 1 || quiet >= 1 || my_rank != 0)
		return;
	va_start(ap, fmt);
	say("note", fmt, ap);
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

	va_start(ap, fmt);
	if (quiet < 2)
		say("error", fmt, ap);
	va_end(ap);
	if (end_others != NULL)
		end_others(status);
	exit(status);
}
