#ifndef STANDIN_LINK_H
#define STANDIN_LINK_H

/*
 * The parts of a struct fabric_calls that tests with stand-ins share.  The ranks
 * are threads; ${link_comm} connects the calling thread's rank with the others.
 * The stream's handle that the fabric receives is a struct link_native, which
 * belongs to the thread that asked for it.
 */
#include <string.h>

#include "comm/comm.h"

#include "standin.h"

struct link_native { struct driver *driver; struct gpu_stream *stream; };
__attribute__((unused)) static _Thread_local struct comm *link_comm;

/* Set as stream_native of struct driver_calls. */
__attribute__((unused)) static void *
link_stream_native(struct driver *d, struct gpu_stream *s)
{
	/* A thread uses fewer streams at once. */
	static _Thread_local struct link_native native[8];
	static _Thread_local unsigned next;
	struct link_native *n = NULL;

	for (int i = 0; i < 8; i++)
		if (native[i].driver == d && native[i].stream == s)
			n = &native[i];
	if (n == NULL)
		n = &native[next++ % 8];
	*n = (struct link_native){ d, s };
	return n;
}

__attribute__((unused)) static int
link_id(void *id)
{
	memset(id, 1, 1);
	return 0;
}

__attribute__((unused)) static int
link_ready(void *link)
{
	(void)link;
	return 1;
}

__attribute__((unused)) static int
link_idle(void *stream)
{
	const struct link_native *s = stream;

	return s->driver->call->wait(s->driver, s->stream) == 0 ? 1 : -1;
}

__attribute__((unused)) static int
link_finish(void *link)
{
	(void)link;
	return 0;
}

#endif
