#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/*
 * clock_seconds():
 * Return monotonic time in seconds.  Only differences are meaningful.
 */
double clock_seconds(void);

/* clock_cpu(): Return the processor time of this thread in seconds. */
double clock_cpu(void);

/* clock_sleep(seconds): Sleep for ${seconds}, less if a signal arrives. */
void clock_sleep(double seconds);

/*
 * clock_text(buf, seconds):
 * Write a duration such as "1:02:03", "2:03" or "4.2 s" to ${buf} of 32 bytes.
 * Return ${buf}.
 */
char *clock_text(char *buf, double seconds);

/*
 * clock_wall():
 * Return the system time in seconds since 1970 (UTC), for logs.
 */
double clock_wall(void);

/*
 * clock_utc(buf):
 * Write the system time, such as "2026-11-21T23:26:07Z", to ${buf} of 32 bytes,
 * for logs.  Return ${buf}.
 */
char *clock_utc(char *buf);

#endif
