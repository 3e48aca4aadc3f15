/*
 * The cuda back end on the stand-in, or on a real GPU with STANDIN=no.  With
 * STANDIN=gpu it is on the stand-in, but tests take it for a real GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "own.h"

extern const struct backend backend_cuda;

static struct device *
open_on(enum standin_when when, struct device_options *o)
{
	return cuda_open_on(standin_open(&(struct standin_options){
		.when = when, .twice = when == STANDIN_AT_ONCE }), o);
}

static struct device *
at_once(struct device_options *o)
{
	return open_on(STANDIN_AT_ONCE, o);
}

static struct device *
late(struct device_options *o)
{
	return open_on(STANDIN_LATE, o);
}

static struct device *
others(struct device_options *o)
{
	return open_on(STANDIN_OTHERS, o);
}

static int
device_set(const char *to)
{
	const char *set = getenv("STANDIN");

	return set != NULL && strcmp(set, to) == 0;
}

int
standin_pretends(void)
{
	return device_set("gpu");
}

int
standin_absent(void)
{
	return device_set("no") || standin_pretends();
}

int
standin_at_most(int n, int max)
{
	return standin_pretends() && n > max ? max : n;
}

int
standin_whens(void)
{
	return standin_absent() ? 1 : STANDIN_WHENS;
}

static struct backend table[STANDIN_WHENS];

static void
fill(void)
{
	static struct device *(*const open[])(struct device_options *) = {
		at_once, late, others };
	static const char *const name[] = { "standin", "standin, late",
		"standin, others first" };

	for (int i = 0; i < STANDIN_WHENS; i++) {
		table[i] = backend_cuda;
		if (!standin_absent())
			table[i].name = name[i];
		if (!standin_absent() || standin_pretends())
			table[i].open = open[i];
	}
}

const struct backend *
standin_backend(enum standin_when when)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill);
	return &table[when];
}

struct driver *
standin_of(struct device *d)
{
	return ((struct cuda *)d)->driver;
}
