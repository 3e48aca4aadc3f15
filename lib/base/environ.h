#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

#include <stddef.h>

/* environ_name(option, buf): "VT_SAVE_EVERY" for "save-every"; return buf. */
const char *environ_name(const char *option, char buf[80]);

/*
 * environ_check(own, n):
 * Warn of each variable VT_* that no command reads, which is a slip of the
 * hand, and of a value of VT_ISA that means nothing.  ${own}[n] are the options
 * of this command that are settings.
 */
void environ_check(const char *const *own, size_t n);

#endif
