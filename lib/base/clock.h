#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* clock_seconds(): monotonic time in seconds; only differences mean much. */
double clock_seconds(void);

/* clock_sleep(seconds): at least that long, unless a signal comes. */
void clock_sleep(double seconds);

/* clock_text(buf, seconds): "1:02:03" or "4.2 s" into ${buf} of 32 bytes. */
char *clock_text(char *buf, double seconds);

/* clock_wall(): seconds since 1970 in UTC, as the system has them: for logs. */
double clock_wall(void);

/* clock_utc(buf): "2026-11-21T23:26:07Z" into ${buf} of 32 bytes: for logs. */
char *clock_utc(char *buf);

#endif
