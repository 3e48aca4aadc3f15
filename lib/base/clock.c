/* Time: monotonic for measurements and timeouts, since it never jumps;
 * wall-clock time for logs only. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"

double
clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double
clock_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void
clock_sleep(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

char *
clock_text(char *buf, double seconds)
{
	long s = lrint(seconds);

	if (seconds < 59.95)	/* which rounds to 60.0 */
		snprintf(buf, 32, "%.1f s", seconds);
	else if (s < 3600)
		snprintf(buf, 32, "%ld:%02ld", s / 60, s % 60);
	else
		snprintf(buf, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60,
		    s % 60);
	return buf;
}

double
clock_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *
clock_utc(char *buf)
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return buf;
}
