/* The live progress line. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/progress.h"

#define ON_TERMINAL 0.2		/* seconds between lines */
#define IN_A_LOG 10.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int active, terminal, ours, screen = -1;
static double last;

/*
 * One line a terminal: of the commands of a pipeline, and of whatever else
 * runs there, the one draws that has this lock.  It is free again when the
 * command ends, however it ends.  Opened anew, since locks belong to what was
 * opened; where that cannot be done, draw as if alone.
 */
static int
progress_take_terminal(void)
{
	if (screen < 0)
		screen = open("/dev/fd/2", O_RDONLY | O_NOCTTY | O_NONBLOCK |
		    O_CLOEXEC);
	return screen < 0 || flock(screen, LOCK_EX | LOCK_NB) == 0 ||
	    errno != EWOULDBLOCK;
}

static int
progress_is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

void
progress_clear(void)
{
	pthread_mutex_lock(&lock);
	/* The line may be another command's, which draws it again soon. */
	if (active && terminal)
		fputs("\r\033[K", stderr);
	pthread_mutex_unlock(&lock);
}

void
progress_start(enum progress_mode mode)
{
	const char *term = getenv("TERM");

	terminal = isatty(STDERR_FILENO) && term != NULL &&
	    strcmp(term, "dumb") != 0;
	active = mode == PROGRESS_ALWAYS || (mode == PROGRESS_AUTO && terminal);
	last = clock_seconds();
	/* What feeds a pipe knows how far the whole is.  It comes first: the
	 * reader asks for the terminal only once it has read something. */
	ours = active && terminal &&
	    (progress_is_pipe(STDOUT_FILENO) ||
	    !progress_is_pipe(STDIN_FILENO)) && progress_take_terminal();
	fail_hook(active && terminal ? progress_clear : NULL);
}

/* With the lock held. */
static int
progress_is_due(void)
{
	if (!active ||
	    clock_seconds() - last < (terminal ? ON_TERMINAL : IN_A_LOG))
		return 0;
	if (terminal && !ours && !(ours = progress_take_terminal()))
		last = clock_seconds();		/* ask again later */
	return !terminal || ours;
}

int
progress_due(void)
{
	int now;

	pthread_mutex_lock(&lock);
	now = progress_is_due();
	pthread_mutex_unlock(&lock);
	return now;
}

static int
progress_width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 20)
		return 80;
	return w.ws_col;
}

void
progress_line(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	if (progress_is_due()) {
		last = clock_seconds();
		if (terminal)
			fprintf(stderr, "\r%.*s\033[K", progress_width() - 1,
			    line);
		else
			fprintf(stderr, "%s: %s\n", program_name(), line);
	}
	pthread_mutex_unlock(&lock);
}

void
progress_end(void)
{
	pthread_mutex_lock(&lock);
	if (ours)
		fputs("\r\033[K", stderr);
	if (screen >= 0)
		close(screen);
	screen = -1;
	active = ours = 0;
	pthread_mutex_unlock(&lock);
	fail_hook(NULL);
}
