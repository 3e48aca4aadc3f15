#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include <stddef.h>

/*
 * huge_alloc(bytes):
 * Return ${bytes} bytes, at least 1, not initialized, aligned to 64; from 2 MiB,
 * aligned to 2 MiB, and the system is asked for huge pages.  They save page
 * faults, and misses of the TLB where memory is used once per step.  Return NULL
 * if memory is exhausted, without a message.  The caller frees the result with
 * free(3).  Any thread may call it.
 */
void *huge_alloc(size_t bytes);

/*
 * huge_poison:
 * Tests set it to 1, so that reads of memory that nobody wrote show.
 *
 * huge_undefine(p, bytes):
 * Declare the content of ${p} undefined.  If huge_poison is 1, fill it with
 * bytes 0xff, which are NaNs in fp64, fp32, bf16 and fp16; else do nothing.
 * huge_alloc does this with all memory that it returns.
 */
extern int huge_poison;
void huge_undefine(void *p, size_t bytes);

#endif
