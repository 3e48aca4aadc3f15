#ifndef COMM_NCCL_NCCL_H
#define COMM_NCCL_NCCL_H

#include "comm/fabric.h"

extern const struct fabric_calls nccl_calls;

/* nccl_version(): of the library that is loaded: "NCCL 2.28.9". */
const char *nccl_version(void);

#endif
