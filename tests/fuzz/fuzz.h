#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

/*
 * Fuzz targets, one file each.  A target takes any bytes, hands them to one of
 * vt's readers and aborts if a promise of that reader is broken; memory and
 * undefined behaviour are the business of the sanitizers.
 *
 * make check replays the corpus of each target (tests/commands/fuzz.sh); make fuzz
 * lets libFuzzer look for more.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"

#include "../said.h"

/* Take ${size} bytes; 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are made, for their own bugs, but not shown. */
#define FUZZ_QUIET() do { \
	static char said_[4096]; \
	said_begin(said_, sizeof(said_)); \
	program_quiet(1); \
} while (0)

/* A promise of the code under test. */
#define MUST(promise) do { \
	if (!(promise)) { \
		fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
		    #promise); \
		abort(); \
	} \
} while (0)

/* The bytes as text with a zero byte behind it, the caller's to free. */
__attribute__((unused)) static char *
fuzz_text(const uint8_t *data, size_t size)
{
	return xstrndup((const char *)data, size);
}

/* The path of a file that holds the bytes, until the next call. */
__attribute__((unused)) static const char *
fuzz_file(const void *data, size_t size)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	MUST(fd >= 0 && ftruncate(fd, 0) == 0 &&
	    pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

#endif
