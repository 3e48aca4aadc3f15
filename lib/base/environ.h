#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

#include <stddef.h>

/*
 * environ_name(option, buf):
 * Write the variable of an option, such as "VT_SAVE_EVERY" for "save-every", to
 * ${buf}.  Return ${buf}.
 */
const char *environ_name(const char *option, char buf[80]);

/*
 * environ_check(own, n):
 * Warn of each variable VT_* that no command reads, probably a typing error,
 * and of an invalid value of VT_ISA.  ${own}[n] are the options of this command
 * that are settings.
 */
void environ_check(const char *const *own, size_t n);

#endif
