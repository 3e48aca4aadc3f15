/*
 * Memory with two mappings: device addresses, which nobody may access, and
 * private addresses that the stand-in uses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "own.h"

enum { PAGE = 4096, GARBAGE = 0xff };	/* NaNs as numbers */

int
memory_open(struct memory *m, size_t bytes)
{
	*m = (struct memory){ .bytes = (bytes + PAGE - 1) / PAGE * PAGE + PAGE };
	m->fd = memfd_create("standin", MFD_CLOEXEC);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)m->bytes) != 0)
		return fail_errno("stand-in: %zu bytes of memory", m->bytes);
	m->far = mmap(NULL, m->bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE,
	    m->fd, 0);
	m->near = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_NORESERVE, m->fd, 0);
	if (m->far == MAP_FAILED || m->near == MAP_FAILED)
		return fail_errno("stand-in: %zu bytes of addresses", m->bytes);
	return 0;
}

void
memory_close(struct memory *m)
{
	for (size_t i = 0; i < m->rooms; i++)
		if (m->buffer[i].host)
			free(m->buffer[i].at);
	free(m->buffer);
	munmap(m->far, m->bytes);
	munmap(m->near, m->bytes);
	close(m->fd);
}

static void *
add(struct memory *m, struct room new)
{
	size_t i;

	m->buffer = array_reserve(m->buffer, m->rooms, &m->cap, sizeof(*m->buffer));
	for (i = m->rooms++; i > 0 && m->buffer[i - 1].at > new.at; i--)
		m->buffer[i] = m->buffer[i - 1];
	m->buffer[i] = new;
	return new.at;
}

/*
 * Return the first address from ${at} for ${bytes}.  Pages at multiples of 4 GiB
 * are not given out: a small int and the padding after it in a kernel's
 * arguments can look like an address there (translate in guard.c).
 */
static char *
place(char *at, size_t bytes)
{
	const uintptr_t step = (uintptr_t)1 << 32, from = (uintptr_t)at;
	uintptr_t next = (from + step - 1) / step * step;

	return bytes < step && next - from < bytes ? (char *)next + PAGE : at;
}

/* Each allocation has its own pages, followed by an unused one. */
void *
memory_alloc(struct memory *m, size_t bytes)
{
	size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
	char *at = place(m->far, whole);

	for (size_t i = 0; i < m->rooms; i++) {
		const struct room *r = &m->buffer[i];

		if (r->host || r->at - at >= (ptrdiff_t)whole)
			continue;
		if (r->at >= at)
			at = place(r->at + (r->bytes + PAGE - 1) / PAGE *
			    PAGE + PAGE, whole);
	}
	if (whole < bytes || (size_t)(m->far + m->bytes - at) < whole)
		return NULL;
	memset(m->near + (at - m->far), GARBAGE, bytes);
	return add(m, (struct room){ at, bytes, 0 });
}

void *
memory_alloc_host(struct memory *m, size_t bytes)
{
	void *p;

	if (posix_memalign(&p, 256, bytes > 0 ? bytes : 1) != 0)
		return NULL;
	memset(p, GARBAGE, bytes);
	return add(m, (struct room){ p, bytes, 1 });
}

int
memory_free(struct memory *m, void *p, int host)
{
	size_t i = 0;

	while (i < m->rooms && m->buffer[i].at != (char *)p)
		i++;
	if (i == m->rooms || m->buffer[i].host != host)
		return -1;
	if (host)
		free(p);
	else	/* release the pages */
		madvise(memory_near(m, p), (m->buffer[i].bytes + PAGE - 1) /
		    PAGE * PAGE, MADV_REMOVE);
	m->rooms--;
	memmove(m->buffer + i, m->buffer + i + 1, (m->rooms - i) *
	    sizeof(*m->buffer));
	return 0;
}

const struct room *
memory_find(const struct memory *m, const void *p)
{
	const char *at = p;

	for (size_t i = 0; i < m->rooms; i++)
		if (at >= m->buffer[i].at &&
		    at < m->buffer[i].at + m->buffer[i].bytes)
			return &m->buffer[i];
	return NULL;
}

void *
memory_near(const struct memory *m, const void *p)
{
	const char *at = p;

	return at >= m->far && at < m->far + m->bytes ?
	    m->near + (at - m->far) : (char *)at;
}
