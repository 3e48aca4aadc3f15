#ifndef BENCH_SHAPE_H
#define BENCH_SHAPE_H

/* The shape of a batch: n clips of t frames of side x side pixels. */

#include "graph/op.h"
#include "sched/schedule.h"

struct bench_shape { int n, t, side; };

struct shape_list { struct bench_shape *item; size_t n, cap; };

/*
 * shape_parse(text, s):
 * Parse ${text}, such as "2x8x224".  Return 0, or -1 without a message.
 */
int shape_parse(const char *text, struct bench_shape *s);

/*
 * shape_text(s, buf):
 * Print ${s}, such as "2x8x224", to ${buf}, at least 40 bytes.  Return ${buf}.
 */
char *shape_text(const struct bench_shape *s, char *buf);

/* shape_cell(s): Return a cell of this shape with one BN group. */
struct cell shape_cell(const struct bench_shape *s);

/*
 * shape_schedule(cell, n):
 * Return a schedule that visits ${n} cells in turn for SCHEDULE_EPOCHS epochs,
 * longer than any benchmark.  Return NULL after a message.  The caller frees
 * it.
 */
struct schedule *shape_schedule(const struct cell *cell, int n);

#endif
