/* Signals become a flag.  The handler calls only async-signal-safe
 * functions. */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stop.h"

/*
 * timeout(1) and some schedulers signal both a process and its group, so one
 * request arrives as two signals.  Two signals within this many seconds count
 * as one.
 */
#define STOP_REPEAT 0.2

static volatile sig_atomic_t which;
static struct timespec first;		/* arrival of the signal in ${which} */
static const char *said;		/* line for the first SIGINT */
static double end;			/* of stop_at */

static void
stop_on_signal(int number)
{
	struct timespec now;
	double since;

	clock_gettime(CLOCK_MONOTONIC, &now);
	since = (double)(now.tv_sec - first.tv_sec) +
	    1e-9 * (double)(now.tv_nsec - first.tv_nsec);
	if (which == number && number != SIGUSR1 && since > STOP_REPEAT) {
		signal(number, SIG_DFL);
		raise(number);		/* takes effect when the handler
					 * returns */
		return;
	}
	if (which == number)
		return;
	if (which == 0 && number == SIGINT && said != NULL)
		(void)!write(STDERR_FILENO, said, strlen(said));
	first = now;
	which = number;
}

void
stop_handle(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct sigaction a = { .sa_handler = stop_on_signal,
	    .sa_flags = SA_RESTART };

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
}

void
stop_message(const char *line)
{
	said = line;
}

int
stop_signal(void)
{
	return which;
}

void
stop_at(double when)
{
	end = when;
}

int
stop_requested(void)
{
	return which != 0 || (end > 0 && clock_seconds() >= end);
}

void
stop_reraise(void)
{
	if (which == 0)
		return;
	signal(which, SIG_DFL);
	raise(which);
}
