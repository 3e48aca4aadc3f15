#ifndef BASE_STOP_H
#define BASE_STOP_H

/*
 * Signals request a command to stop.  The handler only sets a flag; the command
 * tests it where it can stop cleanly.
 */

/*
 * stop_handle():
 * From now on, SIGINT, SIGTERM, SIGHUP and SIGUSR1 set the flag.  A second
 * signal of the same kind, except SIGUSR1, ends the process if it arrives more
 * than 0.2 s later.  Interrupted system calls are restarted.
 */
void stop_handle(void);

/*
 * stop_message(line):
 * Make the first SIGINT write ${line} to standard error, for work that
 * continues for a while after it.  ${line} must remain valid.
 */
void stop_message(const char *line);

/* stop_signal(): Return the number of the last signal, 0 if there was none. */
int stop_signal(void);

/*
 * stop_at(when): also request a stop at ${when}, in clock_seconds; 0: never.
 * stop_requested(): return 1 if a signal or that time requests a stop.
 */
void stop_at(double when);
int stop_requested(void);

/*
 * stop_reraise():
 * End the process by the signal that arrived, as if it had not been caught, so
 * that the parent sees the usual status.  Do nothing if none arrived.
 */
void stop_reraise(void);

#endif
