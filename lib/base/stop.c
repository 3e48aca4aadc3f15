/* Signals become a flag. */
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/stop.h"

static volatile sig_atomic_t which;
static struct timespec first_interrupt;

static void
handle(int number)
{
	struct timespec now;

	if (number == SIGINT) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (which == SIGINT &&
		    now.tv_sec - first_interrupt.tv_sec < 5) {
			signal(SIGINT, SIG_DFL);
			raise(SIGINT);
			return;
		}
		first_interrupt = now;
	}
	which = number;
}

void
stop_handle(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
	struct sigaction a = { .sa_handler = handle, .sa_flags = SA_RESTART };

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
}

int
stop_signal(void)
{
	return which;
}

void
stop_again(void)
{
	if (which == 0)
		return;
	signal(which, SIG_DFL);
	raise(which);
}
