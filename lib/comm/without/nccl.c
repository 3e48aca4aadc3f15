/* A build without NCCL: no library sums between devices. */
#include "comm/fabric.h"

const struct fabric_calls *
fabric_library(void)
{
	return NULL;
}

const char *
fabric_version(void)
{
	return "none";
}
