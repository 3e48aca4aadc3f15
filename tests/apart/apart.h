#ifndef TESTS_APART_H
#define TESTS_APART_H

/* apart_here(p): where the test finds what the device gave away as ${p}. */
void *apart_here(const void *p);

#endif
