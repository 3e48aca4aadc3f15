#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include <stddef.h>

/*
 * huge_alloc(bytes):
 * Return ${bytes} bytes, at least 1, not initialized, aligned to 64; from 2
 * MiB, aligned to 2 MiB, and the system is asked for huge pages.  They save
 * page faults, and misses of the TLB where memory is used once per step.
 * Return NULL if memory is exhausted, without a message.  The caller frees the
 * result with free(3).  Any thread may call it.
 *
 * huge_poison:
 * Tests set it to 1, so that reads of memory that nobody wrote show: huge_alloc
 * then fills what it returns with bytes 0xff, NaNs in fp64, fp32, bf16 and
 * fp16, and plans do so before each task (net/poison.h).
 */
void *huge_alloc(size_t bytes);
extern int huge_poison;

#endif
