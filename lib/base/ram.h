#ifndef BASE_RAM_H
#define BASE_RAM_H

#include <stddef.h>

/* ram_resident(): bytes of this process that are in memory; 0: not known. */
size_t ram_resident(void);

/* ram_peak(): the most that it has been; 0: not known. */
size_t ram_peak(void);

/* ram_resident_of(p, bytes): how many of those at ${p} are. */
size_t ram_resident_of(const void *p, size_t bytes);

/*
 * ram_available(): bytes that could still be allocated without swapping, by
 * the kernel's estimate and by the limits of the control groups (version 2)
 * that this process is in; SIZE_MAX: not known.
 */
size_t ram_available(void);

#endif
