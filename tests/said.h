#ifndef SAID_H
#define SAID_H

/* Messages of the code under test, for tests that look at them. */

#include <stdio.h>

#include "base/fail.h"

struct said { struct error error, *before; char *to; size_t size; };

static inline struct said *
said_state(void)
{
	static _Thread_local struct said s;

	return &s;
}

/* said_now(): what this thread has said since said_begin. */
static inline char *
said_now(void)
{
	struct said *s = said_state();

	if (s->to != NULL)
		snprintf(s->to, s->size, "%s", s->error.text);
	return s->to;
}

/* said_end(): the same is in the buffer; from now on messages are printed. */
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

/* said_begin(to, size): keep errors and warnings of this thread for ${to}, until
 * said_end or the next said_begin. */
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
