#ifndef SHARD_MEMORY_H
#define SHARD_MEMORY_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shard/reader.h"

/*
 * shard_open_memory(data, n, d):
 * Like shard_open of a file that holds these ${n} bytes.  NULL after a damage
 * in ${d}.
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
