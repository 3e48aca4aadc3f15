#ifndef BASE_RAM_H
#define BASE_RAM_H

#include <stddef.h>

/* ram_resident(): Return the resident set size in bytes, 0 if unknown. */
size_t ram_resident(void);

/*
 * ram_peak():
 * Return the maximum resident set size of this program in bytes, 0 if unknown.
 * It does not include the program that this process ran before, as ru_maxrss of
 * getrusage(2) does.
 */
size_t ram_peak(void);

/*
 * ram_resident_of(p, bytes):
 * Return the number of bytes of the mapping [p, p + bytes) that are resident,
 * by mincore(2), in whole pages but at most ${bytes}.  Return 0 if unknown.
 */
size_t ram_resident_of(const void *p, size_t bytes);

/*
 * ram_available():
 * Return the bytes that can be allocated without swapping, or SIZE_MAX if
 * unknown.  It is the minimum of the kernel's estimate and of the limits of
 * this process's control groups (version 2).
 */
size_t ram_available(void);

#endif
