#ifndef GRAPH_OP_H
#define GRAPH_OP_H

/*
 * The operators a network is made of: what each one is called, what it takes,
 * the shape it gives, the parameters it owns and the work it is.  How they
 * are computed is the business of the back ends (backend/backend.h).
 *
 * Activations are logically [n][t][h][w][c]: clips, frames, rows, columns,
 * channels.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/feed.h"

enum op_kind {
	OP_INPUT,	/* a stream, normalised: (x / 255 - mean) / std */
	OP_CONV,	/* convolution over t, h, w */
	OP_BN,		/* batch normalisation over the clips of a leaf */
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
	OP_MUL,		/* the second may be one long over t, h or w */
	OP_CONCAT,	/* over channels */
	OP_FRAMES,	/* some of the frames: SlowFast's slow pathway */
	OP_BMM,		/* product of matrices, one a clip: places x channels */
	OP_SOFTMAX,	/* over some axes together */
	OP_LOSS,	/* of scores and a target, one number a clip */
	OP_KINDS
};

enum { OP_INPUTS = 16, OP_PARAMS = 5 };	/* at most */

/*
 * What a network may ask for; beyond these a number is a slip.  With them no
 * product of sizes overflows: that of a kernel fits an int, those of a tensor
 * or of all parameters are checked.
 */
enum {
	OP_WINDOW = 1024,		/* of a kernel, stride or padding */
	OP_STREAM = 256,		/* channels of an input */
	OP_CHANNELS = 1 << 20
};
#define DIMS_MOST ((size_t)1 << 40)	/* values in an output */
enum { OVER_T = 1, OVER_H = 2, OVER_W = 4, OVER_C = 8 };
enum { TRANSPOSE_A = 1, TRANSPOSE_B = 2 };

/* What a factor is divided by: 1, the channels of the input, or their root. */
enum per { PER_ONE, PER_CHANNELS, PER_ROOT };

enum loss_kind {
	LOSS_SOFTMAX,	/* cross-entropy of softmax: classes, or shares of them */
	LOSS_SIGMOID,	/* binary cross-entropy of sigmoid: sets of classes */
	LOSS_KINDS
};

struct op {
	enum op_kind kind;
	char name[64];
	int nin, in[OP_INPUTS];		/* indices of the producing ops */
	int k[3], s[3], p[3];		/* kernel, stride, padding: t, h, w */
	int planar;			/* k was given as h,w: 4-D weights */
	int out, groups;		/* channels; groups of a convolution */
	int bias;			/* a convolution adds a bias */
	int fold;			/* shift: 1/fold of the channels each way */
	int past;			/* shift: 1/fold, from the past only */
	int over;			/* softmax, avgpool: OVER_*; 0: windows */
	int cut;			/* avgpool: windows end at the edges */
	int step, first, spread;	/* frames: which, op_frame() */
	int transpose;			/* bmm: TRANSPOSE_* */
	double by;			/* scale: op_factor() */
	enum per per;
	int trained;			/* scale: a parameter, initially so */
	double rate;			/* dropout probability */
	double gamma;			/* bn: initial scale */
	double eps, momentum;		/* bn */
	int fixed;			/* bn: the running statistics serve in
					 * training, too; not of the .net */
	double std;			/* conv, linear: of the initial weights;
					 * NaN: the operator's own */
	int stream;			/* input: which, graph->needs.stream */
	double *mean, *sd;		/* input: [out], of [0, 1] */
	int target, head;		/* loss: which, graph->needs.target
					 * and graph->head */
	enum loss_kind loss;
	double weight;			/* loss: of it, among those of a graph */
	double smooth;			/* loss: label smoothing */
	int nparam, param;		/* nparam of them, from this index */
};

enum param_kind {
	PARAM_WEIGHT,	/* of a convolution or linear layer */
	PARAM_BIAS,
	PARAM_SCALE,	/* of a normalisation: gamma; of a scale */
	PARAM_OFFSET,	/* beta */
	PARAM_MEAN,	/* running statistics: tracked, not trained */
	PARAM_VAR,
	PARAM_BETWEEN	/* variance between the means of groups; only in
			 * training (graph_between) */
};

/*
 * A parameter.  Weights are [out][in / groups][t][h][w], without t where the
 * .net gave two numbers for k, as PyTorch lays them out; those of a linear
 * layer are [out][in].
 */
struct param {
	char name[80];			/* NAME.weight and so on */
	enum param_kind kind;
	int op;				/* the op that owns it */
	int head;			/* it belongs to the classifier */
	int frozen;			/* it is not changed in training, as all
					 * of its op's are not; not of the
					 * .net */
	int ndim, dim[5];
	size_t count;			/* elements; SIZE_MAX: too many */
	size_t offset;			/* place in the flat buffer */
	double std;			/* initial normal deviation, or 0: */
	double fill;			/* constant initial value */
};

struct op_type {
	const char *name;		/* in .net files */
	int min_in, max_in;
	const char *attributes;		/* " k s p " between blanks */
	/* Output shape; -1 after a message. */
	int (*infer)(const struct op *, const struct dims *in, struct dims *out);
	/*
	 * Output channels of those of the inputs; 0: known with a shape only,
	 * -1: more than OP_CHANNELS.  NULL: op->out, or those of the first
	 * input where that is 0.
	 */
	int (*channels)(const struct op *, const int *channels_in);
	/* Parameters owned, into p[OP_PARAMS]; how many. */
	int (*params)(const struct op *, int channels_in, struct param *p);
	/* Multiply-adds; NULL: none counted (norms, pools, activations). */
	double (*macs)(const struct op *, const struct dims *in,
	    const struct dims *out);
};

extern const struct op_type op_types[OP_KINDS];

/*
 * op_frame(op, frames, i): the frame of ${frames} that is number ${i} of the
 * output of an OP_FRAMES; op_frames(op, frames): how many there are.
 */
int op_frame(const struct op *op, int frames, int i);
int op_frames(const struct op *op, int frames);

/* op_factor(op, channels): what an OP_SCALE multiplies by, or begins with. */
double op_factor(const struct op *op, int channels);

/* op_shift(op, channels, c): which frame channel ${c} of an OP_SHIFT comes
 * from: 1 the next, -1 the one before, 0 its own. */
int op_shift(const struct op *op, int channels, int c);

size_t dims_count(const struct dims *d);
size_t dims_places(const struct dims *d);	/* of a clip: t * h * w */

/* dims_fit(d): 1 if there are 1 to DIMS_MOST values. */
int dims_fit(const struct dims *d);

/* dims_text(d, buf): "8x16x28x28x64" into ${buf} of 64 bytes. */
char *dims_text(const struct dims *d, char *buf);

#endif
