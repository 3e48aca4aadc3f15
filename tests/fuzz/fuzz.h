#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

/*
 * Fuzz targets, one file each.  A target passes arbitrary bytes to one of vt's
 * readers and aborts if a property of that reader does not hold.  Sanitizers
 * detect memory errors and undefined behavior.
 *
 * make check replays the corpus of each target (tests/commands/fuzz.sh); make
 * fuzz lets libFuzzer search for more inputs.
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

/* Run the target on ${size} bytes.  Return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Format messages, to detect errors in them, but do not print them. */
#define FUZZ_QUIET() do { \
	static char said_[4096]; \
	said_begin(said_, sizeof(said_)); \
	program_quiet(1); \
} while (0)

/* Abort unless a property of the code under test holds. */
#define MUST(promise) do { \
	if (!(promise)) { \
		fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
		    #promise); \
		abort(); \
	} \
} while (0)

/* Return the bytes as a string.  The caller frees it. */
__attribute__((unused)) static char *
fuzz_text(const uint8_t *data, size_t size)
{
	return xstrndup((const char *)data, size);
}

/* Return the path of a file with these bytes.  Valid until the next call. */
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
