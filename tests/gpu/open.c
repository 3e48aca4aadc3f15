/*
 * For programs that are linked with --wrap=device_open: whatever opens ref gets
 * the cuda back end on the stand-in.  STANDIN_FASTEST is the engine that timing
 * finds on rank 0; on each other rank it is another.  With STANDIN_SLOW patterns are
 * slower than what is plain.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "standin.h"

struct device *__real_device_open(const struct backend *b,
    const struct device_options *o);
struct device *__wrap_device_open(const struct backend *b,
    const struct device_options *o);

struct device *
__wrap_device_open(const struct backend *b, const struct device_options *o)
{
	const char *fastest = getenv("STANDIN_FASTEST");
	struct device *d;
	int size;

	if (strcmp(b->name, "ref") != 0)
		return __real_device_open(b, o);
	d = __real_device_open(standin_backend(STANDIN_LATE), o);
	if (d != NULL && fastest != NULL)
		standin_fastest(standin_of(d), atoi(fastest) +
		    launch_rank(&size));
	if (d != NULL)
		standin_slow(standin_of(d), getenv("STANDIN_SLOW") != NULL);
	return d;
}
