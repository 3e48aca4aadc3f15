#ifndef NET_ALIKE_H
#define NET_ALIKE_H

/* Which tasks of a plan are the same work. */

#include "net/plan.h"

/* task_alike(a, b): 1 if both ops are the same work on the same shapes. */
int task_alike(const struct task *a, const struct task *b);

/* plan_next(p, of, i): the first op after ${i} that task ${of} does; p->n:
 * there is none. */
int plan_next(const struct plan *p, int of, int i);

/* plan_alike(p, a, b): 1 if tasks ${a} and ${b}, with all that they do, are. */
int plan_alike(const struct plan *p, int a, int b);

/* plan_kinds(p, i, buf, size): the kinds of the ops that task ${i} does, as
 * bn+relu. */
void plan_kinds(const struct plan *p, int i, char *buf, size_t size);

#endif
