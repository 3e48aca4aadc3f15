#ifndef BENCH_TASKS_H
#define BENCH_TASKS_H

/* The operators of a network, as its plan runs them: what they do and move. */

#include "backend/backend.h"

/*
 * task_work(t, backward): floating-point operations of a pass of a
 * convolution or a linear layer, two for a multiply-add; backward is a pass
 * for the weights and one for the input, if that is wanted.  0 for others.
 */
double task_work(const struct task *t, int backward);

/*
 * task_traffic(t, backward): the bytes of activations that a pass must at
 * least read and write, each once: x and y; or dy, what the pass reads of x and y,
 * and dx, twice where it is added to.
 */
double task_traffic(const struct task *t, int backward);

/* task_seconds(t, pass): of task_forward, task_backward or task_remake, until the
 * device has done it. */
double task_seconds(struct task *t, void (*pass)(struct task *));

/* task_text(t, buf, size): write kind, shapes and attributes of ${t}, and the
 * algorithms that the back end chose for it, as "conv 1x3x3 stride 1 ...: engine 12". */
void task_text(const struct task *t, char *buf, size_t size);

#endif
