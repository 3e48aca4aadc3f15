#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/* The machine and the libraries that a figure depends on. */

enum { FACTS = 8 };			/* maximum number */

/* A property of the machine; ${key} is static. */
struct fact { const char *key; char value[512]; };

/*
 * machine_facts(f):
 * Fill ${f}[FACTS], sorted by key, and return the number of facts.
 */
int machine_facts(struct fact *f);

#endif
