/* The live progress line, and the lock by which the commands on one terminal
 * take turns. */
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
/* screen: the terminal, opened for its lock; ours: we hold the lock */
static int active, terminal, ours, screen = -1;
static double last;

/*
 * Take the lock of the terminal; only its holder draws.  The kernel releases
 * the lock when the command ends in any way.  Open the terminal separately: a
 * flock belongs to the open file description, and standard error's is shared by
 * the whole pipeline.  If it cannot be opened or locked, draw as if alone.
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
	/* The line may belong to another command, which draws it again soon. */
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
	/*
	 * The first command of a pipeline knows the total amount of work.  It
	 * takes the lock here, and the others ask only when they have something
	 * to report, which is later.
	 */
	ours = active && terminal &&
	    (progress_is_pipe(STDOUT_FILENO) ||
	    !progress_is_pipe(STDIN_FILENO)) && progress_take_terminal();
	fail_hook(active && terminal ? progress_clear : NULL);
}

/* Return 1 if a line is due.  The caller holds ${lock}. */
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
