#ifndef SHARD_MEMORY_H
#define SHARD_MEMORY_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shard/reader.h"

/*
 * shard_open_memory(data, n, d):
 * Open a file in memory that holds these ${n} bytes.  Return as shard_open
 * does: NULL on damage, which it describes in ${d}.
 */
static inline struct shard *
shard_open_memory(const void *data, size_t n, struct damage *d)
{
	int fd = memfd_create("shard", MFD_CLOEXEC);
	struct shard *s = NULL;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, n) == (ssize_t)n)
		s = shard_open(path, d);
	close(fd);
	return s;
}

#endif
