#ifndef NET_ALIKE_H
#define NET_ALIKE_H

/*
 * Finds tasks of a plan that do the same work, so that one of them is measured
 * or compared for all.
 */

#include "net/plan.h"

/*
 * task_alike(a, b):
 * Return 1 if both ops do the same work on the same shapes.
 */
int task_alike(const struct task *a, const struct task *b);

/*
 * plan_next(p, of, i):
 * Return the first op after ${i} that task ${of} does, including itself; p->n
 * if there is none.
 */
int plan_next(const struct plan *p, int of, int i);

/*
 * plan_alike(p, a, b):
 * Return 1 if tasks ${a} and ${b}, with the tasks fused into them, do the same
 * work.
 */
int plan_alike(const struct plan *p, int a, int b);

/*
 * plan_kinds(p, i, buf, size):
 * Write the kinds of the ops that task ${i} does to ${buf}, as "bn+relu".
 */
void plan_kinds(const struct plan *p, int i, char *buf, size_t size);

#endif
