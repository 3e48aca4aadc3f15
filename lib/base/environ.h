#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

/*
 * environ_check():
 * Warn of each variable VT_* that nothing reads, probably a typing error, and
 * of an invalid value of VT_ISA.
 */
void environ_check(void);

#endif
