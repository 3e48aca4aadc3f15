#ifndef GRAPH_SHAPE_H
#define GRAPH_SHAPE_H

/*
 * For the table of operators (op.c): output shapes by kind, -1 after a message
 * if the inputs do not fit, and output channels; struct op_type's infer and
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

int channels_concat(const struct op *op, const int *in);
int channels_bmm(const struct op *op, const int *in);

#endif
