#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

/* The shape of a batch: n clips of t frames of side by side pixels. */

#include "graph/op.h"
#include "sched/schedule.h"

struct bench_shape { int n, t, side; };

struct shape_list { struct bench_shape *item; size_t n, cap; };

/* shape_parse(text, s): "2x8x224"; -1 without a message if it is not one. */
int shape_parse(const char *text, struct bench_shape *s);

/* shape_text(s, buf): "2x8x224" into ${buf} of 40 bytes; return ${buf}. */
char *shape_text(const struct bench_shape *s, char *buf);

/* shape_cell(s): a batch of that shape in one BN group. */
struct cell shape_cell(const struct bench_shape *s);

/*
 * shape_schedule(cell, n): a schedule that visits ${n} cells in turn, without
 * end for the purposes of a benchmark.  NULL after a message.
 */
struct schedule *shape_schedule(const struct cell *cell, int n);

#endif
