#ifndef GRAPH_OP_H
#define GRAPH_OP_H

/*
 * The operators of a network: their attributes, inputs, output shape,
 * parameters and multiply-adds.  The back ends compute them
 * (backend/backend.h).
 *
 * Activations are logically [n][t][h][w][c]: clips, frames, rows, columns,
 * channels.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/feed.h"

enum op_kind {
	OP_INPUT,	/* a stream, normalized: (x / 255 - mean) / std */
	OP_CONV,	/* convolution over t, h, w */
	OP_BN,		/* batch normalization over the clips of a microbatch */
	OP_RELU,
	OP_ADD,
	OP_SHIFT,	/* temporal shift, Lin et al. 2019 */
	OP_MAXPOOL,
	OP_AVGPOOL,	/* mean over whole axes, or over windows */
	OP_DROPOUT,
	OP_LINEAR,
	OP_RELU6,
	OP_SIGMOID,
	OP_SWISH,	/* x sigmoid(x) */
	OP_SCALE,	/* by a constant or a trained number */
	OP_MUL,		/* b may have length 1 in t, h or w: broadcast */
	OP_CONCAT,	/* over channels */
	OP_FRAMES,	/* selected frames: SlowFast's slow pathway */
	OP_BMM,		/* GEMM, one per clip: positions x channels */
	OP_SOFTMAX,	/* over some axes jointly */
	OP_LOSS,	/* of scores and a target, one number a clip */
	OP_KINDS
};

enum { OP_INPUTS = 16, OP_PARAMS = 5 };	/* maxima */

/*
 * Limits of a network.  Larger values are refused as mistakes.  Within these
 * limits the product of a kernel's sizes fits an int.  The sizes of a tensor
 * and of all parameters are checked separately, so no product overflows.
 */
enum {
	OP_WINDOW = 1024,		/* of a kernel, stride or padding */
	OP_STREAM = 256,		/* channels of an input */
	OP_CHANNELS = 1 << 20		/* channels of an output */
};
#define DIMS_MAX ((size_t)1 << 40)	/* maximum of values in an output */
enum { OVER_T = 1, OVER_H = 2, OVER_W = 4, OVER_C = 8 };
enum { TRANSPOSE_A = 1, TRANSPOSE_B = 2 };

/* Divisor of a factor: 1, the channels of the input, or their square root. */
enum per { PER_ONE, PER_CHANNELS, PER_ROOT };

enum loss_kind {
	LOSS_SOFTMAX,	/* cross-entropy or focal loss of softmax: one class, or
			 * shares of classes */
	LOSS_SIGMOID,	/* binary cross-entropy of sigmoid: sets of classes */
	LOSS_KINDS
};

/* The exponent of focal losses: the best of Lin et al. 2017 (table 1b), and the
 * maximum. */
#define FOCUS_DEFAULT 2
#define FOCUS_MAX 10

/* Numbers, one for each channel. */
struct reals {
	int n;
	double *v;			/* [n] */
};

/* A factor: ${by} divided as ${per} says. */
struct factor {
	double by;			/* NaN: missing */
	enum per per;
};

/* The attributes of the kinds that have some of their own. */
struct op_input {
	int stream;		/* index, graph->needs.stream */
	struct reals mean, sd;	/* of pixels in 0 to 1 */
};

struct op_conv {
	int groups;
	int bias;		/* add a bias */
	double std;		/* as in op_linear */
};

struct op_linear {
	/*
	 * Deviation of the initial weights.  NaN: the default
	 * of the operator.
	 */
	double std;
};

struct op_bn {
	double gamma;		/* initial scale */
	double eps, momentum;
	/*
	 * Normalize with running statistics in training, too.
	 * Set by the caller, not by the .net file.
	 */
	int fixed;
};

struct op_shift {
	int fold;		/* 1/fold channels each way */
	int past;		/* 1/fold, from the past only */
};

struct op_avgpool {
	int axes;		/* OVER_*; 0: windows */
	int exclude_pad;	/* from the mean */
};

struct op_dropout {
	double rate;		/* probability */
};

struct op_scale {
	struct factor factor;	/* see op_factor() */
	int trained;		/* by the initial factor */
};

struct op_frames {
	int step, first, spread;	/* see op_frame() */
};

struct op_bmm {
	int transpose;		/* TRANSPOSE_* */
};

struct op_softmax {
	int axes;		/* OVER_* */
};

struct op_loss {
	int target;		/* index, graph->needs.target */
	int head;		/* index, graph->head */
	enum loss_kind kind;
	double weight;		/* in the sum of losses */
	double smooth;		/* label smoothing */
	/*
	 * Gamma of the focal softmax loss.  0: cross-entropy.
	 */
	double focus;
};

/*
 * An operator: what all kinds have, and the attributes of its own kind.  The
 * rows of graph/attribute.c describe the attributes.
 */
struct op {
	enum op_kind kind;
	char name[64];
	int nin, in[OP_INPUTS];		/* indices of the producing ops */
	int nparam, param;		/* how many; index of the first */
	int out;			/* channels; 0: those of the input */
	int k[3], s[3], p[3];		/* kernel, stride, padding: t, h, w */
	int planar;			/* k was given as h,w: 4-D weights */
	union {
		struct op_input input;
		struct op_conv conv;
		struct op_linear linear;
		struct op_bn bn;
		struct op_shift shift;
		struct op_avgpool avgpool;
		struct op_dropout dropout;
		struct op_scale scale;
		struct op_frames frames;
		struct op_bmm bmm;
		struct op_softmax softmax;
		struct op_loss loss;
	};
};

enum param_kind {
	PARAM_WEIGHT,	/* of a convolution or linear layer */
	PARAM_BIAS,
	PARAM_SCALE,	/* of a normalization: gamma; of a scale */
	PARAM_OFFSET,	/* of a normalization: beta */
	PARAM_MEAN,	/* running statistics: tracked, not trained */
	PARAM_VAR,
	/*
	 * Variance between the means of groups; only in training
	 * (graph_between).
	 */
	PARAM_BETWEEN
};

/*
 * A parameter.  Weights are [out][in / groups][t][h][w] as in PyTorch, without
 * t if k has two numbers in the .net file.  The weight of a linear layer is
 * [out][in].
 */
struct param {
	char name[80];			/* NAME.weight and so on */
	enum param_kind kind;
	int op;				/* the op that owns it */
	int head;			/* 1: it belongs to the classifier */
	/*
	 * 1: training does not change it, nor the op's other parameters.  Set
	 * by the caller, not by the .net file.
	 */
	int frozen;
	int ndim, dim[5];
	size_t count;			/* elements; SIZE_MAX: too many */
	size_t offset;			/* first element in the flat buffer */
	double std;			/* deviation of initial values, or 0 */
	double fill;			/* constant initial value if std is 0 */
};

/* A row of the table of operators. */
struct op_type {
	const char *name;		/* in .net files */
	int min_in, max_in;
	/* Compute the output shape.  Return 0, or -1 after a message. */
	int (*infer)(const struct op *, const struct dims *in,
	    struct dims *out);
	/*
	 * Return the output channels for those of the inputs.  Return 0 if they
	 * depend on the shape, or -1 if there are more than OP_CHANNELS.  NULL:
	 * op->out, or the channels of the first input if that is 0.
	 */
	int (*channels)(const struct op *, const int *channels_in);
	/*
	 * Write the parameters to p[OP_PARAMS] and return their number; NULL:
	 * none.
	 */
	int (*params)(const struct op *, int channels_in, struct param *p);
	/*
	 * Return the multiply-adds.  NULL: not counted (norms, pools,
	 * activations).
	 */
	double (*macs)(const struct op *, const struct dims *in,
	    const struct dims *out);
};

extern const struct op_type op_types[OP_KINDS];

/*
 * op_frames(op, frames):
 * Return the number of output frames of an OP_FRAMES with ${frames} input
 * frames.
 *
 * op_frame(op, frames, i):
 * Return the input frame that is output frame ${i}.
 */
int op_frame(const struct op *op, int frames, int i);
int op_frames(const struct op *op, int frames);

/*
 * op_factor(op, channels):
 * Return the factor of an OP_SCALE, or its initial value if it is trained.
 */
double op_factor(const struct op *op, int channels);

/*
 * op_shift(op, channels, c):
 * Return the distance of the frame that channel ${c} of an OP_SHIFT reads: 1
 * for the next, -1 for the previous, 0 for its own.
 */
int op_shift(const struct op *op, int channels, int c);

/*
 * dims_count(d): return the number of values.
 *
 * dims_positions(d): return the number of positions of a clip, t * h * w.
 */
size_t dims_count(const struct dims *d);
size_t dims_positions(const struct dims *d);

/* dims_fit(d): return 1 if there are 1 to DIMS_MAX values. */
int dims_fit(const struct dims *d);

/*
 * dims_text(d, buf): write "8x16x28x28x64" to ${buf}, 64 bytes, and return it.
 */
char *dims_text(const struct dims *d, char *buf);

#endif
