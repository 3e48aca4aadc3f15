#ifndef GRAPH_SHAPE_H
#define GRAPH_SHAPE_H

/*
 * Functions for the table of operators (op.c).
 *
 * shape_*(op, in, out): compute the output shape from those of the inputs; see
 * struct op_type's infer.  Return 0, or -1 after a message if the inputs do not
 * fit.
 *
 * channels_*(op, in): return the output channels; see struct op_type's
 * channels.
 */

#include "graph/op.h"

int shape_same(const struct op *op, const struct dims *in, struct dims *out);
int shape_window(const struct op *op, const struct dims *in, struct dims *out);
int shape_avgpool(const struct op *op, const struct dims *in,
    struct dims *out);
int shape_linear(const struct op *op, const struct dims *in, struct dims *out);
int shape_loss(const struct op *op, const struct dims *in, struct dims *out);
int shape_mul(const struct op *op, const struct dims *in, struct dims *out);
int shape_concat(const struct op *op, const struct dims *in, struct dims *out);
int shape_frames(const struct op *op, const struct dims *in, struct dims *out);
int shape_bmm(const struct op *op, const struct dims *in, struct dims *out);

int shape_channels_concat(const struct op *op, const int *in);
int shape_channels_bmm(const struct op *op, const int *in);

#endif
