/* Device memory with two addresses: a public one that the host cannot access,
 * and a private one. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#include "discrete.h"

enum { PAGE = 4096 };
#define ALL ((size_t)1 << 36)		/* addresses; pages are allocated on
					 * use */

static struct memory {
	pthread_mutex_t lock;
	char *away, *here;		/* the public and the private mapping */
	size_t used;
	struct span { size_t at, bytes; } *piece;
	size_t pieces, cap;
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Noreturn void
discrete_stop(const char *what, const void *p)
{
	void *stack[32];
	int n = backtrace(stack, 32);

	fprintf(stderr, "discrete: %s: %p\n", what, p);
	fflush(stderr);
	backtrace_symbols_fd(stack, n, STDERR_FILENO);
	_exit(99);
}

static void
touched(int sig, siginfo_t *info, void *context)
{
	const char *p = info->si_addr;

	(void)sig, (void)context;
	discrete_stop(p >= memory.away && p < memory.away + ALL ? "the host touched "
	    "memory of the device" : "no such memory", p);
}

static void
map(void)
{
	struct sigaction action = { .sa_sigaction = touched,
		.sa_flags = SA_SIGINFO };
	int fd = memfd_create("discrete", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)ALL) != 0)
		discrete_stop("no memory", NULL);
	memory.here = mmap(NULL, ALL, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE, fd, 0);
	memory.away = mmap(NULL, ALL, PROT_NONE, MAP_SHARED | MAP_NORESERVE,
	    fd, 0);
	close(fd);
	if (memory.here == MAP_FAILED || memory.away == MAP_FAILED)
		discrete_stop("no memory", NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

int
discrete_is_away(const void *p)
{
	return (const char *)p >= memory.away && (const char *)p <
	    memory.away + ALL;
}

void *
discrete_here(const void *p)
{
	if (!discrete_is_away(p))
		discrete_stop("no memory of the device", p);
	return memory.here + ((const char *)p - memory.away);
}

void *
discrete_away(const void *p)
{
	return memory.away + ((const char *)p - memory.here);
}

void *
discrete_alloc(struct device *d, size_t bytes)
{
	struct span p = { 0, (bytes + PAGE) / PAGE * PAGE };

	(void)d;
	pthread_mutex_lock(&memory.lock);
	if (memory.away == NULL)
		map();
	if (memory.used + p.bytes > ALL)
		discrete_stop("no addresses left", NULL);
	p.at = memory.used;
	memory.used += p.bytes;
	memory.piece = array_reserve(memory.piece, memory.pieces, &memory.cap,
	    sizeof(p));
	memory.piece[memory.pieces++] = p;
	pthread_mutex_unlock(&memory.lock);
	return memory.away + p.at;
}

/* Addresses are not reused, so that each later access to freed memory is
 * detected. */
void
discrete_free(struct device *d, void *p)
{
	char *at = discrete_here(p);
	size_t i = 0;

	(void)d;
	pthread_mutex_lock(&memory.lock);
	while (i < memory.pieces && memory.here + memory.piece[i].at != at)
		i++;
	if (i == memory.pieces)
		discrete_stop("freed, and not allocated", p);
	madvise(at, memory.piece[i].bytes, MADV_REMOVE);
	mprotect(at, memory.piece[i].bytes, PROT_NONE);
	memory.piece[i] = memory.piece[--memory.pieces];
	pthread_mutex_unlock(&memory.lock);
}
