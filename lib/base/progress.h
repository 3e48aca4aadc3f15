#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

/*
 * One live line on standard error while a command works: rewritten at most
 * five times a second on a terminal, and taken off before any message.  Off a
 * terminal nothing is shown, unless asked for, and then a whole line every 10
 * seconds, for the logs of batch systems.
 */
enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

void progress_start(enum progress_mode mode);

/* progress_due(): 1 if progress_line would show something now. */
int progress_due(void);
void progress_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_end(void);		/* take the line off */

#endif
