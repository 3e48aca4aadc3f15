#ifndef BASE_STOP_H
#define BASE_STOP_H

/*
 * Signals ask a command to stop.  The handler only sets a flag; the command
 * looks at it where it can stop cleanly.
 */

/*
 * stop_handle(): from now on SIGINT, SIGTERM, SIGHUP and SIGUSR1 set the flag.
 * A second one of the same kind, but for SIGUSR1, ends the process at once.
 */
void stop_handle(void);

/* stop_say(line): what the first SIGINT writes to standard error, for work
 * that goes on for a while after it; ${line} stays the caller's. */
void stop_say(const char *line);

int stop_signal(void);			/* the signal that came, 0: none */

/* stop_again(): end by the signal that came, as if it had not been caught. */
void stop_again(void);

#endif
