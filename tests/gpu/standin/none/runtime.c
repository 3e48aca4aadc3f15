/* The CUDA runtime's functions for builds without CUDA: each reports that there
 * is none. */
#include "backend/cuda/driver.h"
#include "base/fail.h"

struct driver *
runtime_open(int ordinal)
{
	return fail_null("no CUDA device %d: this build has none", ordinal);
}

const char *
runtime_library(void)
{
	return "none";
}

const char *
runtime_devices(void)
{
	return "none here";
}

int
runtime_uuids(unsigned char (*uuid)[DEVICE_UUID], int max)
{
	(void)uuid, (void)max;
	return 0;
}

struct driver *
runtime_open_described(const char *json)
{
	(void)json;
	return fail_null("there is no cuDNN in this build");
}
