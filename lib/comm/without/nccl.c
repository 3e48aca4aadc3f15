/* A build without NCCL: no library sums between devices. */
#include "comm/fabric.h"

const struct fabric_calls *
fabric_library(const char *name)
{
	(void)name;
	return NULL;
}

const char *
fabric_version(void)
{
	return "none";
}
