#ifndef BACKEND_CPU_CONV_LIBRARY_H
#define BACKEND_CPU_CONV_LIBRARY_H

/*
 * A pass of a convolution by oneDNN: its calls, which by_library.c creates, and
 * the jobs of its phases (library.c).
 *
 * A kernel over time is a sum over its taps in time.  Frame by frame, each tap
 * is a convolution over h and w of the input frame that it reads.  The 3D
 * convolutions of oneDNN require time inside of the channel blocks, which no
 * other operator uses.
 */

#include "backend/cpu/conv/conv.h"

/*
 * A range of channels, and the convolution to or from it: of y in CONV_FORWARD,
 * of x in CONV_DATA.
 */
struct library_piece {
	struct dnnl_conv *conv;
	int channel, slices;
	size_t at, bytes;	/* weights of its first tap, offset; of a tap */
};

/*
 * The images of a job, or a window of rows of one image.  In a weight gradient
 * over time, the clips of a part.
 */
struct library_part {
	int first, images;
	int in_row, in_rows, out_row, out_rows;
	int top;		/* rows of padding above */
	int call;		/* number of the call (dnnl_conv_call) */
};

/* The state of a pass by oneDNN. */
struct library {
	int in, out, groups;		/* channels that oneDNN sees */
	int pieces, parts;
	struct library_piece *piece;
	struct library_part *part;
	size_t plain;			/* bytes of padded weights and bias; 0
					 * if nothing is padded */
	size_t weights;			/* bytes of all taps, packed */
	size_t scratch;			/* bytes of a call */
	int more;			/* call that adds to its output */
	int *tap;			/* [taps] calls of weight gradients over
					 * time */
};

/*
 * library_frames(p, tap, from):
 * Return how many output frames of a clip tap ${tap} contributes to, and store
 * the first in ${*from}.  Output frame f reads input frame f s - p + ${tap}.
 */
int library_frames(const struct cpu_conv_pass *p, int tap, int *from);

/* Output channels of a job of library_fill, floats of a job of library_add. */
enum { LIBRARY_ROWS = 16, LIBRARY_GRAIN = 16384 };

/*
 * Job ${i} of a phase (struct conv_phase), where ${state} is a struct library:
 *
 * library_fill			pad weights, or copy a gradient back
 * library_order		pack weights, or unpack a gradient: a slice
 * library_bias			copy the bias into a padded one; one job
 * library_images		images of a forward or data pass without time
 * library_frame_forward	output frame of a forward pass over time
 * library_frame_data		input frame of a data gradient over time
 * library_part			part of a weight gradient without time
 * library_part_tap		tap of a part of a weight gradient over time
 * library_add			add up the parts
 */
void library_fill(const void *state, int i, const struct conv_buffers *b);
void library_order(const void *state, int i, const struct conv_buffers *b);
void library_bias(const void *state, int i, const struct conv_buffers *b);
void library_images(const void *state, int i, const struct conv_buffers *b);
void library_frame_forward(const void *state, int i,
    const struct conv_buffers *b);
void library_frame_data(const void *state, int i,
    const struct conv_buffers *b);
void library_part(const void *state, int i, const struct conv_buffers *b);
void library_part_tap(const void *state, int i, const struct conv_buffers *b);
void library_add(const void *state, int i, const struct conv_buffers *b);

#endif
