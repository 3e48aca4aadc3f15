/*
 * For programs linked with --wrap=device_open: opening ref gives the cuda back
 * end on the stand-in.  STANDIN_FASTEST is the engine that timing finds on rank
 * 0; each other rank finds another one.  STANDIN_ALLOCS is the number of
 * allocations of device memory that succeed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "standin.h"

struct device *__real_device_open(const struct backend *b,
    const struct device_options *o);
struct device *__wrap_device_open(const struct backend *b,
    const struct device_options *o);

static struct driver_calls calls;
static const struct driver_calls *real;
static long left;			/* remaining allocations */

static void *
alloc(struct driver *d, size_t bytes)
{
	return left-- > 0 ? real->alloc(d, bytes) :
	    fail_null("stand-in: no memory for %zu bytes", bytes);
}

static void
limit_allocs(struct driver *d, const char *n)
{
	left = atol(n);
	real = d->call;
	calls = *real;
	calls.alloc = alloc;
	d->call = &calls;
}

struct device *
__wrap_device_open(const struct backend *b, const struct device_options *o)
{
	const char *fastest = getenv("STANDIN_FASTEST");
	const char *allocs = getenv("STANDIN_ALLOCS");
	struct device *d;
	int size;

	if (strcmp(b->name, "ref") != 0)
		return __real_device_open(b, o);
	d = __real_device_open(standin_backend(STANDIN_LATE), o);
	if (d != NULL && fastest != NULL)
		standin_fastest(standin_of(d), atoi(fastest) +
		    launch_rank(&size));
	if (d != NULL && allocs != NULL)
		limit_allocs(standin_of(d), allocs);
	return d;
}
