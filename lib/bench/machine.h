#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/* What a figure depends on besides the program: the machine and libraries. */

enum { FACTS = 8 };			/* at most */

struct fact { const char *key; char value[512]; };

/* machine_facts(f): into ${f}[FACTS], in the order of their keys; how many. */
int machine_facts(struct fact *f);

#endif
