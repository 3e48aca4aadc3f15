#ifndef SAID_H
#define SAID_H

/* Capture messages of the code under test, so that a test can compare them. */

#include <stdio.h>

#include "base/fail.h"

struct said { struct error error, *before; char *to; size_t size; };

static inline struct said *
said_state(void)
{
	static _Thread_local struct said s;

	return &s;
}

/*
 * said_now():
 * Return the messages of this thread since said_begin.  The text is in the
 * buffer of said_begin.  NULL if nothing is captured.
 */
static inline char *
said_now(void)
{
	struct said *s = said_state();

	if (s->to != NULL)
		snprintf(s->to, s->size, "%s", s->error.text);
	return s->to;
}

/*
 * said_end():
 * Copy the messages into the buffer and stop capturing.  Later messages are
 * printed.  Do nothing if nothing is captured.
 */
static inline void
said_end(void)
{
	struct said *s = said_state();

	if (s->to == NULL)
		return;
	said_now();
	fail_into(s->before);
	s->to = NULL;
}

/*
 * said_begin(to, size):
 * Capture errors and warnings of this thread until said_end or the next
 * said_begin. said_now and said_end copy them to ${to}, at most ${size} bytes.
 */
static inline void
said_begin(char *to, size_t size)
{
	struct said *s = said_state();

	said_end();
	s->to = to;
	s->size = size;
	to[0] = s->error.text[0] = '\0';
	s->before = fail_into(&s->error);
}

#endif
