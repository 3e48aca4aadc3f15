/*
 * Host tables that kernels read, for example the owned shards.  A table equal
 * to one already on the device is not sent.  All steps use the same few tables,
 * so in the long run nothing is sent or allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/fail.h"
#include "base/mem.h"

enum { TABLES = 16 };			/* a step uses about half of them */

struct cuda_table {
	void *host;			/* copy of the bytes sent; NULL:
					 * unused */
	void *at;			/* device memory */
	size_t bytes, capacity;
	unsigned long used;		/* turn of the last use */
};

struct tables {
	struct cuda_table table[TABLES];
	unsigned long turn;
	void *draft;			/* the buffer of cuda_table_buffer */
	size_t capacity;
};

void
tables_free(struct cuda *c, struct tables *t)
{
	for (int i = 0; i < TABLES && t != NULL; i++) {
		free(t->table[i].host);
		if (t->table[i].at != NULL)
			c->driver->call->free(c->driver, t->table[i].at);
	}
	if (t != NULL)
		free(t->draft);
	free(t);
}

static struct tables *
cuda_tables_of(struct cuda *c)
{
	if (c->tables == NULL)
		c->tables = xcalloc(1, sizeof(*c->tables));
	return c->tables;
}

void *
cuda_table_buffer(struct cuda *c, size_t bytes)
{
	struct tables *t = cuda_tables_of(c);

	if (bytes > t->capacity) {
		t->draft = xrealloc(t->draft, bytes, 1);
		t->capacity = bytes;
	}
	return t->draft;
}

/*
 * Replace table ${t}.  Its readers are earlier on the same stream, and
 * device_free waits for them.
 */
static void
cuda_tables_send(struct cuda *c, struct cuda_table *t, const void *host,
    size_t bytes)
{
	if (bytes > t->capacity) {
		device_free(&c->device, t->at);
		if ((t->at = device_alloc(&c->device, bytes)) == NULL)
			die(1, "the device has failed");
		t->host = xrealloc(t->host, bytes, 1);
		t->capacity = bytes;
	}
	memcpy(t->host, host, bytes);
	t->bytes = bytes;
	cuda_send(c, t->at, host, bytes);
}

const void *
cuda_table(struct cuda *c, const void *host, size_t bytes)
{
	struct tables *all = cuda_tables_of(c);
	struct cuda_table *t = all->table, *old = t;

	for (int i = 0; i < TABLES; i++, t++) {
		if (t->bytes == bytes && t->host != NULL &&
		    memcmp(t->host, host, bytes) == 0)
			break;
		old = t->used < old->used ? t : old;
	}
	if (t == all->table + TABLES) {
		t = old;
		cuda_tables_send(c, t, host, bytes);
	}
	t->used = ++all->turn;
	return t->at;
}
