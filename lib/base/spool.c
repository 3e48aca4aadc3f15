/* Items in memory, then in an unnamed temporary file.  Only the tail of the
 * sequence is in memory; spilling moves the whole tail to the end of the
 * file. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/spool.h"
#include "base/text.h"

#define SMALL (1 << 20)		/* a smaller tail is not worth a write */

struct spool_item { uint64_t at; size_t n; };

struct spool {
	struct spool_item *item;
	size_t items, cap;
	struct buffer tail;		/* items that are not in the file */
	uint64_t in_file;		/* bytes in the file */
	struct spool_budget *budget;
	int fd;				/* -1: no file yet */
	int failed;			/* 1: the file could not be written */
	char *scratch;			/* buffer for an item read back */
	size_t scratch_size;
	struct spool *next;		/* in the list of kept spools */
};

void
spool_budget_open(struct spool_budget *b, size_t limit)
{
	*b = (struct spool_budget){ .limit = limit };
	pthread_mutex_init(&b->lock, NULL);
}

static void
spool_destroy(struct spool *s)
{
	buffer_free(&s->tail);
	free(s->scratch);
	free(s->item);
	free(s);
}

void
spool_budget_close(struct spool_budget *b)
{
	for (struct spool *s = b->kept, *next; s != NULL; s = next) {
		next = s->next;
		spool_destroy(s);
	}
	pthread_mutex_destroy(&b->lock);
	*b = (struct spool_budget){ 0 };
}

/* Reuse a kept spool if there is one. */
struct spool *
spool_new(struct spool_budget *b, size_t items)
{
	struct spool *s;

	pthread_mutex_lock(&b->lock);
	if ((s = b->kept) != NULL) {
		b->kept = s->next;
		b->kept_bytes -= s->tail.cap;
	}
	pthread_mutex_unlock(&b->lock);
	if (s == NULL) {
		s = xcalloc(1, sizeof(*s));
		s->budget = b;
		s->fd = -1;
	}
	s->failed = 0;
	if (items > s->cap) {
		s->item = xrealloc(s->item, items, sizeof(*s->item));
		s->cap = items;
	}
	return s;
}

/* Keep the spool for reuse if its capacity and the bytes in use fit the
 * limit. */
void
spool_free(struct spool *s)
{
	struct spool_budget *b;
	int keep;

	if (s == NULL)
		return;
	b = s->budget;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	atomic_fetch_sub(&b->used, s->tail.n);
	s->tail.n = s->items = 0;
	s->in_file = 0;
	pthread_mutex_lock(&b->lock);
	keep = b->kept_bytes + s->tail.cap + atomic_load(&b->used) <= b->limit;
	if (keep) {
		s->next = b->kept;
		b->kept = s;
		b->kept_bytes += s->tail.cap;
	}
	pthread_mutex_unlock(&b->lock);
	if (!keep)
		spool_destroy(s);
}

static const char *
spool_directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir != NULL && *dir != '\0' ? dir : "/var/tmp";
}

/* Open a file without a name.  Not every file system supports O_TMPFILE;
 * there, create a named file and unlink it at once. */
static int
spool_open_file(void)
{
	char *name;
	int fd = open(spool_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	name = path_join(spool_directory(), "vt-XXXXXX");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	else
		fail_errno("%s: cannot make a temporary file",
		    text_quote(spool_directory()));
	free(name);
	return fd;
}

/* Move the tail to the file and return its memory to the budget. */
static int
spool_spill(struct spool *s)
{
	if (s->fd < 0 && (s->fd = spool_open_file()) < 0)
		return -1;
	if (file_write(s->fd, spool_directory(), s->tail.data,
	    s->tail.n) != 0) {
		/* The tail stays in memory; the next try writes all of it. */
		lseek(s->fd, (off_t)s->in_file, SEEK_SET);
		return -1;
	}
	s->in_file += s->tail.n;
	atomic_fetch_sub(&s->budget->used, s->tail.n);
	buffer_free(&s->tail);
	return 0;
}

/* The budget counts bytes in memory only.  A spool that alone exceeds it
 * still keeps up to SMALL bytes. */
int
spool_add(struct spool *s, const void *data, size_t n)
{
	size_t used = atomic_fetch_add(&s->budget->used, n) + n;

	s->item = array_reserve(s->item, s->items, &s->cap, sizeof(*s->item));
	s->item[s->items++] = (struct spool_item){ s->in_file + s->tail.n, n };
	buffer_add(&s->tail, data, n);
	if (used > s->budget->limit && s->tail.n >= SMALL &&
	    spool_spill(s) != 0) {
		s->failed = 1;
		return -1;
	}
	return 0;
}

int
spool_failed(const struct spool *s)
{
	return s->failed;
}

size_t
spool_count(const struct spool *s)
{
	return s->items;
}

size_t
spool_size(const struct spool *s, size_t i)
{
	assert(i < s->items);
	return s->item[i].n;
}

const void *
spool_get(struct spool *s, size_t i, size_t *n, struct error *e)
{
	const struct spool_item *t = &s->item[i];

	assert(i < s->items);
	*n = t->n;
	/* The tail begins where the file ends. */
	if (t->at >= s->in_file)
		return s->tail.data + (t->at - s->in_file);
	if (t->n > s->scratch_size) {
		s->scratch = xrealloc(s->scratch, t->n, 1);
		s->scratch_size = t->n;
	}
	if (file_pread(s->fd, spool_directory(), s->scratch, t->n, t->at,
	    e) != 0)
		return NULL;
	return s->scratch;
}
