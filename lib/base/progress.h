#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

/*
 * One live line on standard error while a command works.  On a terminal it is
 * rewritten at most five times a second, and cleared before each message.
 * Otherwise nothing is printed, unless PROGRESS_ALWAYS requests it: then a
 * whole line every 10 seconds, for the logs of batch systems.
 *
 * A terminal shows one such line.  In a pipeline of several commands the first
 * command draws.  The others draw after it has ended.
 *
 * Any thread may call progress_due, progress_line and progress_clear.
 */
enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/*
 * progress_start(mode):
 * Begin progress lines.  Call it before other threads report progress.
 */
void progress_start(enum progress_mode mode);

/*
 * progress_due():
 * Return 1 if progress_line would print something now, 0 otherwise.
 */
int progress_due(void);

/*
 * progress_line(fmt, ...):
 * Show this line if one is due.  Lines longer than the terminal's width are
 * truncated.
 */
void progress_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * progress_clear():
 * Clear the line on the terminal, even if another command drew it.  The next
 * progress_line draws it again.  Call it before printing on standard output;
 * messages (base/fail.h) call it themselves.
 */
void progress_clear(void);

/*
 * progress_end():
 * Clear the line, draw no more, and let another command draw.
 */
void progress_end(void);

#endif
