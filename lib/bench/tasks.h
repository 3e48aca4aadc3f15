#ifndef BENCH_TASKS_H
#define BENCH_TASKS_H

/* The tasks of a plan: their work, their memory traffic and their time. */

#include "backend/backend.h"

/*
 * task_work(t, backward):
 * Return the floating-point operations of a pass of a convolution or a linear
 * layer, two per multiply-add; 0 for other operators.  The backward pass counts
 * one pass for the weights and one for each input whose gradient is needed.
 */
double task_work(const struct task *t, int backward);

/*
 * task_traffic(t, backward):
 * Return the minimum number of bytes of activations that a pass reads and
 * writes: forward x and y; backward dy, what the pass reads of x and y, and dx,
 * twice if it is accumulated.
 */
double task_traffic(const struct task *t, int backward);

/*
 * task_seconds(t, pass):
 * Run ${pass}, which is task_forward, task_backward or task_recompute, and
 * return the seconds until the device has finished it.
 */
double task_seconds(struct task *t, void (*pass)(struct task *));

/*
 * task_text(t, buf, size):
 * Write the kind, shapes and attributes of ${t} to ${buf}, and the algorithms
 * that the back end chose, such as "conv 1x3x3 stride 1 ...: engine 12".
 */
void task_text(const struct task *t, char *buf, size_t size);

#endif
