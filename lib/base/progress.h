#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

/*
 * One live line on standard error while a command works: rewritten at most
 * five times a second on a terminal, and taken off before any message.  Off a
 * terminal nothing is shown, unless asked for, and then a whole line every 10
 * seconds, for the logs of batch systems.
 *
 * A terminal shows one such line.  Of several commands at once, as in a
 * pipeline, the first of the pipeline draws, and the others when it has ended.
 */
enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

void progress_start(enum progress_mode mode);

/* progress_due(): 1 if progress_line would show something now. */
int progress_due(void);
void progress_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * progress_clear(): take the line off the terminal, whosoever it is; the next
 * progress_line draws it again.  For what is printed on standard output;
 * messages (base/fail.h) do so themselves.
 */
void progress_clear(void);

/* progress_end(): the work is done: take the line off, and draw no more. */
void progress_end(void);

#endif
