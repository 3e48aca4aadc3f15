/* Which library sums between devices: the one place where it is chosen by #if. */
#include "comm/fabric.h"
#include "comm/nccl/nccl.h"

#ifdef VT_HAVE_NCCL

const struct fabric_calls *
fabric_library(void)
{
	return &nccl_calls;
}

const char *
fabric_version(void)
{
	return nccl_version();
}

#else

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

#endif
