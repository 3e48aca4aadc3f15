/*
 * The bytes of a stream: blocks of a file or pipe, and their hash.
 *
 * The hash covers the bytes before the end marker.  Every block except the last
 * is full, and its size is a multiple of USTAR_BLOCK, so no header spans two
 * blocks.  When the header of the end marker is parsed, its block is therefore
 * still in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"
#include "shard/stream_input.h"

#define BLOCK (256 << 10)		/* a multiple of USTAR_BLOCK */

int
stream_input_open(struct stream_input *in, const char *path,
    const struct stream_limits *limits)
{
	*in = (struct stream_input){ .idle = limits->idle,
		.arg = limits->arg };
	in->fd = path == NULL ? dup(STDIN_FILENO) :
	    open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return -1;
	(void)fcntl(in->fd, F_SETPIPE_SZ, 1 << 20);	/* fails on files */
	in->hash = hasher_new();
	in->block = xmalloc(BLOCK);
	return 0;
}

void
stream_input_close(struct stream_input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	hasher_free(in->hash);
	free(in->block);
}

/* Read once.  Return 0 at the end, or -1 with errno.  poll with a timeout
 * ensures that a signal is noticed within a second even if no input arrives. */
static ssize_t
stream_input_some(struct stream_input *in, char *to, size_t n)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	for (;;) {
		ssize_t k;

		if (stop_signal() != 0) {
			in->stopped = 1;
			errno = EINTR;
			return -1;
		}
		if (poll(&p, 1, 1000) <= 0) {
			if (in->idle != NULL)
				in->idle(in->arg);
			continue;
		}
		k = read(in->fd, to, n);
		if (k >= 0 || (errno != EINTR && errno != EAGAIN))
			return k;
	}
}

int
stream_input_next(struct stream_input *in)
{
	stream_input_hash_to(in, in->total);
	in->filled = 0;
	while (!in->eof && in->filled < BLOCK) {
		ssize_t n = stream_input_some(in, in->block + in->filled,
		    BLOCK - in->filled);

		if (n < 0)
			return -1;
		in->eof = n == 0;
		in->filled += (size_t)n;
	}
	if (in->total == 0)
		memcpy(in->first, in->block, in->filled < sizeof(in->first) ?
		    in->filled : sizeof(in->first));
	in->total += in->filled;
	return 0;
}

void
stream_input_hash_from(struct stream_input *in, uint64_t from)
{
	hasher_reset(in->hash);
	in->hashed = from;
}

int
stream_input_hash_to(struct stream_input *in, uint64_t to)
{
	uint64_t start = in->total - in->filled;

	if (to < in->hashed || in->hashed < start || to > in->total)
		return -1;
	hasher_add(in->hash, in->block + (in->hashed - start), to - in->hashed);
	in->hashed = to;
	return 0;
}
