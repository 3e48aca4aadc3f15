/* The live progress line. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/progress.h"

#define ON_TERMINAL 0.2		/* seconds between lines */
#define IN_A_LOG 10.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int active, terminal, shown;
static double last;

/* A message is about to be printed: make room for it. */
static void
erase(void)
{
	pthread_mutex_lock(&lock);
	if (shown)
		fputs("\r\033[K", stderr);
	shown = 0;
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
	fail_hook(active && terminal ? erase : NULL);
}

int
progress_due(void)
{
	return active &&
	    clock_seconds() - last >= (terminal ? ON_TERMINAL : IN_A_LOG);
}

static int
width(void)
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

	if (!progress_due())
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	last = clock_seconds();
	if (terminal) {
		fprintf(stderr, "\r%.*s\033[K", width() - 1, line);
		shown = 1;
	} else {
		fprintf(stderr, "%s: %s\n", program_name(), line);
	}
	pthread_mutex_unlock(&lock);
}

void
progress_end(void)
{
	erase();
	active = 0;
	fail_hook(NULL);
}
